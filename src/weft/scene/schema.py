"""Schema of a scene file: one typed model per block, every field with unit, effect and default.

Quantities are numbers in SI units, or text with a unit (``"25 cm"``). Blocks of settings are read
from their dataclasses (``blocks.block_of``). ``weft explain`` prints all of it.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, create_model, model_validator

from weft.base.schema.block import Block, BuiltField, Given, block_at, block_of
from weft.base.schema.quantities import (
    Acceleration,
    Degrees,
    Length,
    Point,
    Size,
    Speed,
    Time,
    Volume,
)
from weft.bodies.motion.pins import Path
from weft.contact.contact import SelfContact
from weft.energies.air.wind import Wind
from weft.energies.elastic.buckling_bending import BucklingForm
from weft.energies.elastic.condition import ConditionForm
from weft.energies.elastic.pressed_lines import Pressed
from weft.energies.loads.pressure import Gas
from weft.energies.seams.sewing import Sewing
from weft.integrators.adaptive import AdaptiveSettings
from weft.integrators.base import StepSettings
from weft.io import SUFFIXES
from weft.scene.attachment_schema import AttachmentBlock
from weft.scene.body_schema import BodyBlock
from weft.scene.elastic import BendingName
from weft.scene.integrators import INTEGRATORS, Settings
from weft.scene.law import LawName
from weft.scene.selection import NamedBlock, SelectionBlock


class SheetBlock(Block):
    """A rectangle that lies on y = 0, warp along x, "top" at the back."""

    nx: int = Field(32, ge=2, le=5000, description="vertices along the width (warp)")
    ny: int = Field(32, ge=2, le=5000, description="vertices along the height (weft)")
    width: Size = Field(1.0, gt=0, description="[m]")
    height: Size = Field(1.0, gt=0, description="[m]")
    pattern: Literal["regular", "alternating", "random"] = Field(
        "regular", description="direction of the diagonals; random also moves inner vertices"
    )
    seed: int = Field(0, ge=0, description="of the random pattern")


class MeshBlock(Block):
    """A mesh from a file."""

    file: str = Field(description=f"{SUFFIXES}, relative to the scene file")
    scale: Size | None = Field(
        None,
        gt=0,
        description="[m] length of one unit of positions: 1 cm, 1 in; none: what the "
        "file says (USD), else 1 m",
    )
    uv_scale: Size | None = Field(
        None, gt=0, description="[m] length of one unit of texture coordinates; none: as scale"
    )
    warp: tuple[float, float, float] | None = Field(
        None,
        description="direction of the warp yarns in space; the mesh is then its own rest shape, "
        "and texture coordinates of the file are left out",
    )
    prim: str | None = Field(
        None, description="of a USD or glTF file with several meshes: which, by path or name"
    )


class PanelBlock(Block):
    """A piece of any shape, of irregular, nearly equilateral triangles, on y = 0."""

    outline: list[tuple[Length, Length]] = Field(
        min_length=3, description="[m] corners of the piece, warp along the first coordinate"
    )
    holes: list[list[tuple[Length, Length]]] = Field([], description="[m] polygons inside it")
    size: Size = Field(0.02, gt=0, description="[m] edge length")
    seed: int = Field(0, ge=0, description="of the points inside")


class GarmentBlock(Block):
    """A garment cut from a flat pattern, sewn at the start of the run (`sewing`)."""

    pattern: str = Field(description="a pattern file (docs/garments.md), relative to the scene's")
    size: Size = Field(0.02, gt=0, description="[m] edge length")
    measures: dict[str, str | float] = Field(
        {}, description="in place of those that the pattern file drafts its panels from: 96 cm"
    )
    seed: int = Field(0, ge=0, description="of the points inside panels")


class SplineBlock(Block):
    """Quadratic B-splines (Meng et al. 2025), for ``discretization: bspline``.

    A sheet's nx and ny are then its control points; panels, meshes and garments are fitted.
    """

    spans: tuple[int, int] | None = Field(
        None, description="knot spans along warp and weft, of a fitted piece"
    )
    span_size: Size | None = Field(
        None, gt=0, description="[m] of a span, in place of spans; for any pieces, and garments"
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


OF_GARMENTS = {"span_size", "rule", "bending"}  # fields of SplineBlock that garments have, too
NOT_OF_GARMENTS = (
    "give span_size: corners are the pattern's, seams fold as it says, and what touches are the "
    "triangles of garment.size"
)


class ClothBlock(Block):
    """A cloth and where it starts. Give one of ``sheet``, ``panel``, ``mesh`` and ``garment``."""

    name: str = Field("", description="for messages, pins and contact pairs; none: cloth 1, ...")
    thickness: Length | Literal["fabric"] | None = Field(
        None, description="[m] kept in contact, or `fabric`: the fabric's; none: contact.thickness"
    )
    sheet: SheetBlock | None = Field(None, description="a rectangle")
    panel: PanelBlock | None = Field(None, description="a piece of any shape")
    mesh: MeshBlock | None = Field(None, description="a mesh file")
    garment: GarmentBlock | None = Field(None, description="panels of a pattern, sewn together")
    discretization: Literal["triangles", "bspline"] = Field(
        "triangles", description="what it is made of (`docs/splines.md`)"
    )
    spline: SplineBlock = Field(SplineBlock(), description="how, with discretization bspline")
    fabric: str | dict[str, Any] = Field(
        "cotton",
        description="a preset (`weft fabrics`), a .yaml file, or fields with units: "
        "density, stretch, shear, bending, thickness, damping, limit, limit_shear, curve_warp, "
        "curve_weft, crease_yield, crease_hardening, crease_recovery, crease_lasting, yield, "
        "yield_hardening, preset",
    )
    fabrics: dict[str, str | dict[str, Any]] = Field(
        {},
        description="by region of the mesh file (USD subsets, OBJ groups and materials, glTF "
        "materials, PLY numbers of faces), each as `fabric`, which is for faces in no region",
    )
    translation: Point = Field((0, 0, 0), description="[m] moved by, after rotation")
    rotation: tuple[Degrees, Degrees, Degrees] = Field(
        (0, 0, 0), description="[degrees] about x, y and z in turn"
    )
    rest_angles: Literal["flat", "as-given"] = Field(
        "flat", description="the shape without bending: flat, or that of the mesh file"
    )
    rest_shape: str | None = Field(
        None,
        description="a mesh file of the same vertices, whose angles are at rest, in place of "
        "rest_angles; relative to the scene file",
    )

    @model_validator(mode="after")
    def _one_source(self) -> "ClothBlock":
        sources = (self.sheet, self.panel, self.mesh, self.garment)
        if sum(b is not None for b in sources) != 1:
            raise ValueError("give one of sheet, panel, mesh and garment")
        if self.fabrics and self.mesh is None:
            raise ValueError(
                "fabrics: regions are those of a mesh file; panels of a garment say their fabric "
                "in the pattern"
            )
        if self.fabrics and self.discretization == "bspline":
            raise ValueError(
                "fabrics: regions are of triangles; for splines cut the mesh, and say `cloths`"
            )
        fitted = self.discretization == "bspline" and self.sheet is None
        given = (self.spline.spans is not None) + (self.spline.span_size is not None)
        if fitted and given != 1:
            raise ValueError("fitted splines need spline.spans or spline.span_size, one of them")
        if not fitted and given:
            raise ValueError("spline.spans and span_size are for fitted panels and meshes")
        if self.rest_shape is not None and "rest_angles" in self.model_fields_set:
            raise ValueError("give rest_angles or rest_shape")
        if self.discretization == "triangles" and self.spline.model_fields_set:
            raise ValueError("spline needs `discretization: bspline`")
        if fitted and self.garment is not None:
            more = self.spline.model_fields_set - OF_GARMENTS
            if more:
                raise ValueError(
                    f"spline.{', spline.'.join(sorted(more))}: of garments, {NOT_OF_GARMENTS}"
                )
        return self


class PinBlock(SelectionBlock, NamedBlock):
    """Vertices that are held or moved. Selections add up; at least one is needed."""

    until: Time | None = Field(None, description="[s] time of release; none: for ever")
    path: Given[Path] | None = Field(None, description="a motion; none: held still")


class LawBlock(Block):
    """The membrane's law, with the stiffness of the fabric (`docs/choosing.md`)."""

    name: LawName = Field(
        "baraff_witkin",
        description="arap: in place of the stretch terms; stvk_shear: fourth power of the shear; "
        "no_shear: stretch terms alone; stvk, neo_hookean: isotropic references; "
        "immediate_buckling: tension only (Choi & Ko), with the bending of `buckling`; measured: "
        "the fabric's curves",
    )
    warp: tuple[float, float] = Field((1, 0), description="direction of the warp in the material")
    weft: tuple[float, float] = Field((0, 1), description="direction of the weft, any angle to it")


class PressureBlock(block_of(Gas)):  # type: ignore[misc]
    """Pressure on the inside of a closed surface."""

    volume: Volume | None = Field(
        None,
        gt=0,
        description="[m^3] at which a gas of fixed amount has this pressure; none: it is constant",
    )

    def make(self) -> float | Gas:
        """Return the constant pressure [Pa], or the gas."""
        made: float | Gas = self.pressure if self.volume is None else super().make()
        return made


class WindBlock(block_of(Wind)):  # type: ignore[misc]
    """Air that flows past cloth, or stands still: lift and drag. Objects do not shelter what is
    behind them.
    """

    field: str | None = Field(
        None,
        description="an .npz of velocities on a grid (`docs/forces.md`), relative to the scene "
        "file, added to the rest; none: none",
    )

    def make(self) -> Wind:
        """Return the wind; its field is still the name of a file."""
        made: Wind = dataclasses.replace(super().make(), field=self.field)
        return made


@dataclass(frozen=True)
class ChosenIntegrator:
    """The name of an integrator, and its settings."""

    name: str
    settings: Settings

    def __str__(self) -> str:
        return self.name


class _IntegratorBlock(Block):
    """An integrator by name, or the settings of one integrator below its name."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {value: {}}
        if not isinstance(value, dict) or len(value) != 1:
            raise ValueError("one name, or one name with its settings: {bdf2: {tolerance: 1 mm/s}}")
        return {name: {} if own is None else own for name, own in value.items()}

    def make(self) -> ChosenIntegrator:
        """Return name and settings of the integrator."""
        (name,) = self.model_fields_set
        return ChosenIntegrator(name, getattr(self, name))


_CHOICES: Mapping[str, Any] = {
    name: (Annotated[kind.settings, BuiltField()] | None, Field(None, description=kind.meaning))
    for name, kind in INTEGRATORS.items()
}
IntegratorBlock = create_model(
    "IntegratorBlock", __base__=_IntegratorBlock, __doc__=_IntegratorBlock.__doc__, **_CHOICES
)


FieldName = Literal["strain", "stress", "curvature", "pressure", "air", "velocity"]


class SceneFile(Block):
    """A scene."""

    description: str = Field("", description="what this is, for people")
    cloth: ClothBlock | None = Field(None, description="mesh, fabric and place")
    cloths: list[ClothBlock] = Field([], description="several, in place of `cloth`")
    pins: list[PinBlock] = Field([], description="what is held or moved")
    attachments: list[AttachmentBlock] = Field(
        [], description="what is held by bodies, other cloth, ropes, springs and poles"
    )
    gravity: tuple[Acceleration, Acceleration, Acceleration] = Field(
        (0, -9.81, 0), description="[m/s^2]"
    )
    gravity_from: tuple[Time, Time] | None = Field(
        None,
        description="[s] two times between which gravity grows; none: it is there from the start, "
        "or with garments once seams are closed",
    )
    damping: Time | None = Field(
        None, ge=0, description="[s] of stiffness-proportional damping; none: the fabric's"
    )
    velocity: tuple[Speed, Speed, Speed] = Field((0, 0, 0), description="[m/s] at the start")
    step: Time = Field(0.02, gt=0, description="[s] largest time step; frames divide evenly")
    seconds: Time = Field(2.0, gt=0, description="[s] length of the simulation")
    fps: float = Field(30.0, gt=0, le=10000, description="[1/s] frames per second on disk")
    integrator: Annotated[ChosenIntegrator, BuiltField(IntegratorBlock)] = Field(
        ChosenIntegrator("backward_euler", StepSettings()),
        description="a name, or {name: {settings}}; "
        + "; ".join(f"{name}: {kind.meaning}" for name, kind in INTEGRATORS.items()),
    )
    law: LawBlock | None = Field(
        None, description="of the membrane; none: the fabric's curves, or baraff_witkin"
    )
    bending: BendingName | None = Field(
        None,
        description="energy of triangles that bend; quadratic: for cloth that is flat at rest and "
        "hardly stretches; none: pairs with `buckling` or law immediate_buckling, else hinges",
    )
    buckling: Given[BucklingForm] | None = Field(
        None,
        description="bend by predicted buckled shapes ({}: defaults); none: hinges, or with law "
        "immediate_buckling the defaults",
    )
    pressure: Annotated[float | Gas, BuiltField(PressureBlock)] | None = Field(
        None, description="inside a closed surface; none: none"
    )
    wind: Annotated[Wind, BuiltField(WindBlock)] | None = Field(
        None, description="lift and drag of the air ({}: still air); none: there is no air"
    )
    pressed: list[Given[Pressed]] = Field(
        [], description="lines with angles that are pressed in: pleats, creases"
    )
    conditions: Given[ConditionForm] | None = Field(
        None,
        description="condition energies of 1998; none: weft's law, or with baraff_witkin_1998 the "
        "conditions' defaults",
    )
    contact: Given[SelfContact] | None = Field(
        None, description="the cloth does not pass through itself ({}: defaults); none: it does"
    )
    bodies: list[BodyBlock] = Field(
        [], description="what cloth does not pass through; `contact` says from how near on"
    )
    sewing: Given[Sewing] | None = Field(
        None, description="how garments are sewn before the animation begins; none: the defaults"
    )
    record: list[FieldName] = Field(
        [], description="what every frame keeps besides positions and velocities, for exports"
    )
    adaptive: Given[AdaptiveSettings] | None = Field(
        None, description="divide steps in which cloth stretches too fast ({}: defaults); none: off"
    )

    @model_validator(mode="after")
    def _some_cloth(self) -> "SceneFile":
        if (self.cloth is None) == (len(self.cloths) == 0):
            raise ValueError("give cloth, or several cloths")
        return self


def scene_block(names: Sequence[str]) -> type[BaseModel] | None:
    """Return the block at a path of field names; None if the path ends in a value."""
    return block_at(SceneFile, names)
