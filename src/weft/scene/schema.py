"""What a scene file may say: one typed model per block, every field with unit, effect and default.

Quantities are numbers in SI, or text with a unit (``"25 cm"``). ``weft explain`` prints this file.
"""

import math
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from weft.energies.condition import POWERS
from weft.errors import WeftError
from weft.units import to_si


class _Quantity:
    """Validator and label of a field with a unit."""

    def __init__(self, unit: str) -> None:
        self.unit = unit

    def __call__(self, value: Any) -> float:
        try:
            return to_si(value, self.unit)
        except WeftError as error:
            hint = f"; {error.hint}" if error.hint else ""
            raise ValueError(f"{error.expected}{hint}") from None


_meter, _second, _degree = _Quantity("m"), _Quantity("s"), _Quantity("rad")


def _degrees(value: Any) -> float:
    """Degrees: a bare number is one, text has its unit."""
    return float(value) if not isinstance(value, str) else math.degrees(_degree(value))


Length = Annotated[float, BeforeValidator(_meter)]
Time = Annotated[float, BeforeValidator(_second)]
Degrees = Annotated[float, BeforeValidator(_degrees)]
Acceleration = Annotated[float, BeforeValidator(_Quantity("m/s^2"))]
Speed = Annotated[float, BeforeValidator(_Quantity("m/s"))]
Tension = Annotated[float, BeforeValidator(_Quantity("N/m"))]
Pascal = Annotated[float, BeforeValidator(_Quantity("Pa"))]
Volume = Annotated[float, BeforeValidator(_Quantity("m^3"))]
Energy = Annotated[float, BeforeValidator(_Quantity("J"))]
Point = tuple[Length, Length, Length]


class Block(BaseModel):
    """A block of a scene file: unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class SheetBlock(Block):
    """A rectangle that lies on y = 0, warp along x, "top" at the back."""

    nx: int = Field(32, ge=2, le=5000, description="vertices along the width (warp)")
    ny: int = Field(32, ge=2, le=5000, description="vertices along the height (weft)")
    width: Length = Field(1.0, gt=0, description="[m]")
    height: Length = Field(1.0, gt=0, description="[m]")
    pattern: Literal["regular", "alternating", "random"] = Field(
        "regular", description="direction of the diagonals; random also moves inner vertices"
    )
    seed: int = Field(0, ge=0, description="of the random pattern")


class MeshBlock(Block):
    """A mesh from a file."""

    file: str = Field(description=".obj or .ply, relative to the scene file")
    scale: Length = Field(1.0, gt=0, description="[m] length of one unit of positions: 1 cm, 1 in")
    uv_scale: Length | None = Field(
        None, gt=0, description="[m] length of one unit of texture coordinates; none: as scale"
    )
    warp: tuple[float, float, float] | None = Field(
        None, description="direction of the warp yarns, for a file without texture coordinates"
    )


class PanelBlock(Block):
    """A piece of any shape, of irregular, nearly equilateral triangles, on y = 0."""

    outline: list[tuple[Length, Length]] = Field(
        min_length=3, description="[m] corners of the piece, warp along the first coordinate"
    )
    holes: list[list[tuple[Length, Length]]] = Field([], description="[m] polygons inside it")
    size: Length = Field(0.02, gt=0, description="[m] edge length")
    seed: int = Field(0, ge=0, description="of the points inside")


class ClothBlock(Block):
    """What the cloth is, and where it starts. Give one of ``sheet``, ``panel`` and ``mesh``."""

    sheet: SheetBlock | None = Field(None, description="a rectangle")
    panel: PanelBlock | None = Field(None, description="a piece of any shape")
    mesh: MeshBlock | None = Field(None, description="a mesh file")
    fabric: str | dict[str, Any] = Field(
        "cotton",
        description="a preset (`weft fabrics`), a .yaml file, or fields with units: "
        "density, stretch, shear, bending, thickness, damping, preset",
    )
    translation: Point = Field((0, 0, 0), description="[m] moved by, after rotation")
    rotation: tuple[Degrees, Degrees, Degrees] = Field(
        (0, 0, 0), description="[degrees] about x, y and z in turn"
    )
    rest_angles: Literal["flat", "as-given"] = Field(
        "flat", description="the shape without bending: flat, or that of the mesh file"
    )

    @model_validator(mode="after")
    def _one_source(self) -> "ClothBlock":
        if sum(b is not None for b in (self.sheet, self.panel, self.mesh)) != 1:
            raise ValueError("give one of sheet, panel and mesh")
        return self


class BoxBlock(Block):
    """Vertices that start between two corners."""

    low: Point = Field(description="[m] least x, y, z")
    high: Point = Field(description="[m] greatest x, y, z")


class KeyframeBlock(Block):
    """Where a pin is at a time, relative to its start."""

    time: Time = Field(description="[s]")
    translation: Point = Field((0, 0, 0), description="[m]")
    rotation: Degrees = Field(0.0, description="[degrees] about the path's axis")


class PathBlock(Block):
    """A motion through keyframes; before the first the pin stays where it starts."""

    keyframes: list[KeyframeBlock] = Field(min_length=1, description="times must increase")
    interpolation: Literal["smooth", "linear"] = Field(
        "smooth", description="smooth: monotone cubic, no jump in velocity"
    )
    axis: tuple[float, float, float] = Field((0, 1, 0), description="direction of rotations")
    center: Point | None = Field(None, description="[m] of rotations; none: mean of the vertices")
    hold: bool = Field(
        False, description="stay at the last keyframe; else one at the end of the run is needed"
    )


class PinBlock(Block):
    """Vertices that are held or moved. Selections add up; at least one is needed."""

    name: str = Field("", description="for messages")
    corners: str | None = Field(None, description="top, bottom, left, right, all, top-left, ...")
    border: str | None = Field(None, description="top, bottom, left or right")
    group: str | None = Field(None, description="a group of the mesh file (OBJ g and o)")
    box: BoxBlock | None = Field(None, description="all vertices that start inside")
    vertices: list[int] | None = Field(None, description="ids, from 0")
    until: Time | None = Field(None, description="[s] time of release; none: for ever")
    path: PathBlock | None = Field(None, description="a motion; none: held still")

    @model_validator(mode="after")
    def _selects(self) -> "PinBlock":
        if all(v is None for v in (self.corners, self.border, self.group, self.box, self.vertices)):
            raise ValueError("select vertices: corners, border, group, box or vertices")
        return self


class ConditionsBlock(Block):
    """Baraff & Witkin's condition energies as Pritchard (2012) has them, in place of weft's law."""

    p: float = Field(
        0.5,
        description="of alpha = area^p: 1 (Baraff & Witkin), 0.75 (Freecloth) or 0.5 (finite "
        "elements, the only one that does not depend on the mesh)",
    )
    variant: Literal["body", "exact"] = Field(
        "body",
        description="body: shear w_u.w_v, bend with lengths held constant; exact: shear of the "
        "unit axes, bend differentiated in full",
    )
    bend: tuple[Energy, Energy] | None = Field(
        None, description="[J] k_bend of edges along warp and weft; none: the fabric's rigidity"
    )

    @field_validator("p")
    @classmethod
    def _power(cls, p: float) -> float:
        if p not in POWERS:
            raise ValueError("must be 1, 0.75 or 0.5")
        return p


class LawBlock(Block):
    """The membrane's law, with the stiffness of the fabric (`docs/choosing.md`)."""

    name: Literal[
        "baraff_witkin",
        "arap",
        "stvk_shear",
        "no_shear",
        "stvk",
        "neo_hookean",
        "immediate_buckling",
    ] = Field(
        "baraff_witkin",
        description="arap: in place of the stretch terms; stvk_shear: fourth power of the shear; "
        "no_shear: stretch terms alone; stvk, neo_hookean: isotropic references; "
        "immediate_buckling: tension only (Choi & Ko), with the bending of `buckling`",
    )
    warp: tuple[float, float] = Field((1, 0), description="direction of the warp in the material")
    weft: tuple[float, float] = Field((0, 1), description="direction of the weft, any angle to it")


class BucklingBlock(Block):
    """Bending by predicted buckled shapes (Choi & Ko 2003), in place of hinges."""

    compression: Tension | None = Field(
        None,
        gt=0,
        description="[N/m] of the spring with which a pair begins; none: the fabric's mean stretch",
    )
    calibrate: bool = Field(
        True, description="bend a strip of this mesh with the fabric's rigidity; false: k = D"
    )


class PressureBlock(Block):
    """Pressure on the inside of a closed surface."""

    pressure: Pascal = Field(description="[Pa] above that outside")
    volume: Volume | None = Field(
        None,
        gt=0,
        description="[m^3] at which a gas of fixed amount has this pressure; none: it is constant",
    )
    ambient: Pascal = Field(101325.0, ge=0, description="[Pa] outside, of a gas")


class ContactBlock(Block):
    """The cloth does not pass through itself, nor through bodies."""

    gap: Length = Field(
        1e-3, gt=0, description="[m] from which on it is pushed apart; less than the shortest edge"
    )
    thickness: Length = Field(0.0, ge=0, description="[m] that is kept in any case")
    friction: float = Field(0.0, ge=0, description="coefficient of cloth on cloth and on bodies")
    stick: Speed = Field(
        1e-3, gt=0, description="[m/s] of sliding below which friction grows smoothly from 0"
    )


class SphereBlock(Block):
    """A sphere."""

    radius: Length = Field(gt=0, description="[m]")
    size: Length = Field(0.03, gt=0, description="[m] of its edges, about")


class PlateBlock(Block):
    """A level rectangle: a floor, or a table."""

    width: Length = Field(4.0, gt=0, description="[m] along x")
    depth: Length = Field(4.0, gt=0, description="[m] along z")
    size: Length = Field(0.2, gt=0, description="[m] of its edges, at most")


class BodyBlock(Block):
    """Something that cloth does not pass through. Give one of ``sphere`` and ``plate``."""

    name: str = Field("", description="for messages")
    sphere: SphereBlock | None = Field(None, description="a sphere")
    plate: PlateBlock | None = Field(None, description="a level rectangle")
    translation: Point = Field((0, 0, 0), description="[m] moved by")
    path: PathBlock | None = Field(None, description="a motion; none: it stands still")

    @model_validator(mode="after")
    def _one_shape(self) -> "BodyBlock":
        if (self.sphere is None) == (self.plate is None):
            raise ValueError("give one of sphere and plate")
        return self


class AdaptiveBlock(Block):
    """Steps that are taken back and halved where cloth stretches too fast (Baraff & Witkin)."""

    limit: float = Field(0.1, gt=0, description="largest change of a fiber's stretch in a step")
    successes: int = Field(4, ge=1, description="steps that succeed before a longer one is tried")
    patience: float = Field(
        1.5, ge=1, description="factor on that number when the longer step fails at once"
    )
    most_successes: int = Field(40, ge=1, description="what that number is raised to at most")
    most_halvings: int = Field(8, ge=0, le=20, description="of the step that is asked for")


class SolverBlock(Block):
    """How accurately each step is solved."""

    tolerance: Speed = Field(
        1e-2,
        gt=0,
        description="[m/s] of the last Newton increment over the step; backward_euler and bdf2",
    )
    max_iterations: int = Field(100, ge=1, description="Newton iterations of a step")
    psd: Literal["projected", "gauss_newton", "exact"] | None = Field(
        None,
        description="which Hessian; exact may fail under compression. none: projected, or exact "
        "with baraff_witkin_1998 (and projected where that fails)",
    )
    linear: Literal["auto", "multigrid", "pcg", "pardiso", "splu"] = Field(
        "auto", description="linear solver; auto takes the fastest one for the size"
    )
    forcing: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="largest relative error of iterative linear solves; none: 0.5 (tightened as "
        "Newton converges), or 0.01 where a step is one solve",
    )
    stop: Literal["energy", "preconditioned"] = Field(
        "energy",
        description="norm of that error; preconditioned is Baraff & Witkin's r.P^-1 r, and for "
        "baraff_witkin_1998 only",
    )


class SceneFile(Block):
    """A scene."""

    description: str = Field("", description="what this is, for people")
    cloth: ClothBlock = Field(description="mesh, fabric and place")
    pins: list[PinBlock] = Field([], description="what is held or moved")
    gravity: tuple[Acceleration, Acceleration, Acceleration] = Field(
        (0, -9.81, 0), description="[m/s^2]"
    )
    damping: Time | None = Field(
        None, ge=0, description="[s] of stiffness-proportional damping; none: the fabric's"
    )
    velocity: tuple[Speed, Speed, Speed] = Field((0, 0, 0), description="[m/s] at the start")
    step: Time = Field(0.02, gt=0, description="[s] largest time step; frames divide evenly")
    seconds: Time = Field(2.0, gt=0, description="[s] length of the simulation")
    fps: float = Field(30.0, gt=0, le=10000, description="[1/s] frames per second on disk")
    integrator: Literal[
        "backward_euler", "bdf2", "bdf2_semi_implicit", "baraff_witkin_1998", "quasi_static"
    ] = Field(
        "backward_euler",
        description="backward_euler: every step to a tolerance; bdf2: the same of second order, "
        "livelier; bdf2_semi_implicit: Choi & Ko's, one linear solve a step; baraff_witkin_1998: "
        "one linear solve, damping of conditions; quasi_static: the equilibrium of every step",
    )
    law: LawBlock | None = Field(None, description="of the membrane; none: baraff_witkin")
    buckling: BucklingBlock | None = Field(
        None,
        description="bend by predicted buckled shapes ({}: defaults); none: hinges, or with law "
        "immediate_buckling the defaults",
    )
    pressure: PressureBlock | None = Field(None, description="inside a closed surface; none: none")
    conditions: ConditionsBlock | None = Field(
        None,
        description="condition energies of 1998; none: weft's law, or with baraff_witkin_1998 the "
        "conditions' defaults",
    )
    contact: ContactBlock | None = Field(
        None,
        description="the cloth does not pass through itself ({}: defaults); none: it does. With "
        "backward_euler, bdf2 and quasi_static",
    )
    bodies: list[BodyBlock] = Field(
        [], description="what cloth does not pass through; `contact` says from how near on"
    )
    adaptive: AdaptiveBlock | None = Field(
        None, description="divide steps in which cloth stretches too fast ({}: defaults); none: off"
    )
    solver: SolverBlock = Field(SolverBlock(), description="accuracy of a step")
