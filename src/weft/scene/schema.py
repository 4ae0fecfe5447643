"""What a scene file may say: one typed model per block, every field with unit, effect and default.

Quantities are numbers in SI, or text with a unit (``"25 cm"``). ``weft explain`` prints this file.
"""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from weft.energies.condition import POWERS
from weft.scene.blocks import (
    Acceleration,
    Block,
    Degrees,
    Energy,
    Length,
    Pascal,
    PathBlock,
    Point,
    Speed,
    Tension,
    Time,
    Volume,
)
from weft.scene.contact_schema import BodyBlock, ContactBlock


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


class SplineBlock(Block):
    """Quadratic B-splines (Meng et al. 2025), for ``discretization: bspline``.

    A sheet's nx and ny are then its control points; panels and meshes are fitted.
    """

    spans: tuple[int, int] | None = Field(
        None, description="knot spans along warp and weft, of a fitted piece"
    )
    span_size: Length | None = Field(
        None, gt=0, description="[m] of a span, in place of spans; for meshes of any pieces"
    )
    corners: list[int] | list[list[int]] | None = Field(
        None, description="four vertices of the border (of every piece); none: found"
    )
    smooth: bool = Field(
        False, description="seams bend like the cloth beside them; false: they fold freely"
    )
    density: int = Field(1, ge=1, le=16, description="samples a span of what touches")
    rule: Literal["reduced", "alternating", "full", "2x2", "1x1"] = Field(
        "reduced",
        description="quadrature; alternating: Meng et al.'s; full: 3 x 3 a span; 1x1 has modes "
        "without energy",
    )
    bending: Literal["plate", "mean"] = Field(
        "plate",
        description="plate: a strip bends with the fabric's rigidity; mean: Meng et al.'s mean "
        "curvature, to which saddles cost nothing",
    )
    net: Literal["greville", "uniform"] = Field(
        "greville",
        description="control points of a sheet: spans all alike, or points equally far apart",
    )


class ClothBlock(Block):
    """What the cloth is, and where it starts. Give one of ``sheet``, ``panel`` and ``mesh``."""

    name: str = Field("", description="for messages, pins and contact pairs; none: cloth 1, ...")
    thickness: Length | Literal["fabric"] | None = Field(
        None, description="[m] kept in contact, or `fabric`: the fabric's; none: contact.thickness"
    )
    sheet: SheetBlock | None = Field(None, description="a rectangle")
    panel: PanelBlock | None = Field(None, description="a piece of any shape")
    mesh: MeshBlock | None = Field(None, description="a mesh file")
    discretization: Literal["triangles", "bspline"] = Field(
        "triangles", description="what it is made of (`docs/splines.md`)"
    )
    spline: SplineBlock = Field(SplineBlock(), description="how, with discretization bspline")
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
        fitted = self.discretization == "bspline" and self.sheet is None
        given = (self.spline.spans is not None) + (self.spline.span_size is not None)
        if fitted and given != 1:
            raise ValueError("fitted splines need spline.spans or spline.span_size, one of them")
        if not fitted and given:
            raise ValueError("spline.spans and span_size are for fitted panels and meshes")
        if self.discretization == "triangles" and self.spline.model_fields_set:
            raise ValueError("spline needs `discretization: bspline`")
        return self


class BoxBlock(Block):
    """Vertices that start between two corners."""

    low: Point = Field(description="[m] least x, y, z")
    high: Point = Field(description="[m] greatest x, y, z")


class PinBlock(Block):
    """Vertices that are held or moved. Selections add up; at least one is needed."""

    name: str = Field("", description="for messages")
    cloth: str | None = Field(None, description="of which cloth, where there are several")
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
    cloth: ClothBlock | None = Field(None, description="mesh, fabric and place")
    cloths: list[ClothBlock] = Field([], description="several, in place of `cloth`")
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
        description="the cloth does not pass through itself ({}: defaults); none: it does",
    )
    bodies: list[BodyBlock] = Field(
        [], description="what cloth does not pass through; `contact` says from how near on"
    )
    adaptive: AdaptiveBlock | None = Field(
        None, description="divide steps in which cloth stretches too fast ({}: defaults); none: off"
    )
    solver: SolverBlock = Field(SolverBlock(), description="accuracy of a step")

    @model_validator(mode="after")
    def _some_cloth(self) -> "SceneFile":
        if (self.cloth is None) == (len(self.cloths) == 0):
            raise ValueError("give cloth, or several cloths")
        return self
