"""Schema of a scene file: one typed model per block, every field with unit, effect and default.

Quantities are numbers in SI units, or text with a unit (``"25 cm"``). Blocks of settings are read
from their dataclasses. ``weft explain`` prints all of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_origin

from pydantic import AfterValidator, Field, create_model, model_validator
from pydantic.fields import FieldInfo

from weft import extensions
from weft.base.schema.block import (
    Block,
    InBlock,
    block_at,
    block_in,
    block_with,
    field_of,
    fields_of,
    file_type,
    setting_in,
)
from weft.base.schema.quantities import (
    Degrees,
    Duration,
    Length,
    Point,
    Size,
    Time,
    Velocity,
)
from weft.base.settings import MATERIAL, ROOM, Setting, setting, settings_by_field
from weft.base.trees import Json
from weft.bodies.motion.pins import Path
from weft.energies.loads.pressure import Gas
from weft.energies.seams.sewing import Sewing
from weft.fabric.appearance import Appearance
from weft.integrators.base import StepSettings
from weft.scene.attachment_schema import AttachmentBlock
from weft.scene.body_schema import BodyBlock
from weft.scene.cloth_source import STAYS, ClothSource
from weft.scene.integrators import INTEGRATORS, Settings
from weft.scene.law import LawName
from weft.scene.scene import Scene
from weft.scene.selection import MOTION, PLACE, NamedBlock, SelectionBlock
from weft.scene.source_fields import chosen_source, fields_of_sources

_MESH = Setting(constant=STAYS)
_RELEASE = Setting(constant="this field is a time; until then pins move along their path")


class SplineBlock(Block):
    """Quadratic B-splines (Meng et al. 2025), for ``discretization: bspline``.

    A sheet's nx and ny are then its control points; panels, meshes and garments are fitted.
    """

    spans: tuple[int, int] | None = Field(
        None, description="knot spans of a fitted piece along warp and weft"
    )
    span_size: Size | None = Field(
        None, description="[m] length of a span, in place of spans; for all pieces and garments"
    )
    corners: list[int] | list[list[int]] | None = Field(
        None, description="four vertices of the border of every piece; none: weft finds them"
    )
    smooth: bool = Field(
        False, description="seams bend like the cloth beside them; false: they fold freely"
    )
    density: int = Field(1, ge=1, le=16, description="contact samples per span")
    rule: Literal["reduced", "alternating", "full", "2x2", "1x1"] = Field(
        "reduced",
        description=(
            "quadrature; alternating: method of Meng et al.; full: 3 x 3 points per span; "
            "1x1: one point, with modes without energy"
        ),
    )
    bending: Literal["plate", "mean"] = Field(
        "plate",
        description=(
            "plate: a strip bends with the fabric's rigidity; mean: Meng et al.'s mean "
            "curvature, which gives saddles no energy"
        ),
    )
    net: Literal["greville", "uniform"] = Field(
        "greville",
        description="control points of a sheet: equal spans, or equal distances of points",
    )


# fields of ClothBlock that rods do not have
OF_CLOTH_ALONE = {"discretization", "fabric", "fabrics", "paint", "rest_angles", "rest_shape"}
SOURCES: Mapping[str, ClothSource] = extensions.Registry("cloth sources")


class _Named(Block):
    name: str = Field("", description="for messages, pins and contact pairs; none: cloth 1, ...")
    thickness: Annotated[Length | Literal["fabric"] | None, Setting(constant=ROOM)] = Field(
        None,
        description="[m] distance that contact keeps, or `fabric`: thickness of the fabric; none: "
        "contact.thickness",
    )


class ClothBlock(create_model("_Sources", __base__=_Named, **fields_of_sources(SOURCES))):  # type: ignore[misc]
    """A cloth and where it starts. Give one source: ``sheet``, ``panel``, ``mesh``, ``rod``, or one
    of a plugin.
    """

    discretization: Literal["triangles", "bspline"] = Field(
        "triangles", description="triangles or splines (`docs/explanations/splines.md`)"
    )
    spline: Annotated[SplineBlock, _MESH] = Field(
        SplineBlock(), description="settings of discretization bspline"
    )
    fabric: str | Json = Field(
        "cotton",
        description="a preset (`weft fabrics`), a .yaml file, or fields with units: "
        "density, stretch, shear, bending, thickness, damping, limit, limit_shear, curve_warp, "
        "curve_weft, crease_yield, crease_hardening, crease_recovery, crease_lasting, yield, "
        "yield_hardening, bending_hysteresis, bending_slip, shear_hysteresis, shear_slip, arcsim "
        "(a material file of ARCSim), preset",
    )
    paint: dict[str, str] = Field(
        {},
        description=(
            "painted weights by name, in addition to the mesh file: an image in texture space "
            "(gray, 0 to 1), or an array (.npy) of one number for each vertex, relative to the "
            "scene file; for garments an image for each panel, with <PANEL> or <UDIM> for its "
            "name or number"
        ),
    )
    surface: InBlock[Appearance] | None = Field(
        None, description="appearance; for a garment it replaces the appearance in the pattern"
    )
    fabrics: dict[str, str | Json] = Field(
        {},
        description=(
            "by region of the mesh file (USD subsets, OBJ groups and materials, glTF "
            "materials, PLY numbers of faces), each like `fabric`, which holds for all other "
            "faces"
        ),
    )
    translation: Annotated[Point, PLACE] = Field(
        (0, 0, 0), description="[m] translation, after rotation"
    )
    rotation: Annotated[tuple[Degrees, Degrees, Degrees], PLACE] = Field(
        (0, 0, 0), description="[degrees] rotation about x, then y, then z"
    )
    rest_angles: Literal["flat", "as-given"] = Field(
        "flat",
        description="the shape without bending: flat, or as-given (the shape of the mesh file)",
    )
    rest_shape: str | None = Field(
        None,
        description=(
            "a mesh file with the same vertices, whose angles are the rest angles, in place "
            "of rest_angles; relative to the scene file"
        ),
    )

    @model_validator(mode="after")
    def _one_source(self) -> "ClothBlock":
        chosen_source(self, SOURCES)
        if self.rod and self.model_fields_set & OF_CLOTH_ALONE:
            raise ValueError(
                f"a rod has its own numbers, without {', '.join(sorted(OF_CLOTH_ALONE))}"
            )
        if self.fabrics and self.mesh is None:
            raise ValueError(
                "fabrics: regions are those of a mesh file; panels of a garment say their fabric "
                "in the pattern"
            )
        if self.fabrics and self.discretization == "bspline":
            raise ValueError(
                "fabrics: regions are of triangles; for splines cut the mesh, and use `cloths`"
            )
        fitted = self.discretization == "bspline" and self.sheet is None
        given = (self.spline.spans is not None) + (self.spline.span_size is not None)
        if fitted and given != 1:
            raise ValueError("fitted splines need exactly one of spline.spans and spline.span_size")
        if not fitted and given:
            raise ValueError("spline.spans and span_size are for fitted panels and meshes")
        if self.rest_shape is not None and "rest_angles" in self.model_fields_set:
            raise ValueError("give rest_angles or rest_shape, not both")
        if self.discretization == "bspline" and self.mesh and self.mesh.sewing:
            raise ValueError("mesh.sewing is only for triangles")
        if self.discretization == "triangles" and self.spline.model_fields_set:
            raise ValueError("spline needs `discretization: bspline`")
        check = self.source.check
        if check is not None:
            check(self)
        return self

    @property
    def source_name(self) -> str:
        """The name of the source."""
        return chosen_source(self, SOURCES)

    @property
    def source(self) -> ClothSource:
        """The source of the cloth: a sheet, a mesh file, a pattern, ..."""
        return SOURCES[self.source_name]


class PinBlock(SelectionBlock, NamedBlock):
    """Vertices that are held or moved. Selections add up; at least one is needed."""

    until: Annotated[Time | None, _RELEASE] = Field(
        None, description="[s] time of release; none: never"
    )
    path: Annotated[InBlock[Path] | None, MOTION] = Field(
        None, description="motion along a path; none: no motion"
    )


class LawBlock(Block):
    """The membrane's law, with the stiffness of the fabric (`docs/guides/choose-a-law.md`)."""

    name: LawName = Field(
        "baraff_witkin",
        description=(
            "arap: replaces the stretch terms; stvk_shear: fourth power of the shear; "
            "no_shear: stretch terms alone; stvk, neo_hookean: isotropic references; "
            "immediate_buckling: tension only (Choi & Ko), with the bending of `buckling`; "
            "measured: the fabric's curves; data_driven: its ARCSim tables"
        ),
    )
    warp: tuple[float, float] = Field((1, 0), description="direction of the warp in the material")
    weft: tuple[float, float] = Field(
        (0, 1), description="direction of the weft, at any angle to the warp"
    )


@dataclass(frozen=True)
class PressureBlock(Gas):
    """Pressure on the inside of a closed surface."""

    volume: float | None = setting(  # type: ignore[assignment]
        None,
        "volume at which a fixed amount of gas has this pressure; none: constant pressure",
        "m^3",
        above=0,
        keyframes=True,
    )

    def __post_init__(self) -> None:
        if self.volume is not None:
            super().__post_init__()

    def law(self) -> float | Gas:
        """Return the constant pressure [Pa], or the gas."""
        if self.volume is None:
            return self.pressure
        return Gas(self.pressure, self.volume, self.ambient)


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
    def _name_block(cls, value: object) -> object:
        if isinstance(value, str):
            return {value: {}}
        if not isinstance(value, dict) or len(value) != 1:
            raise ValueError("one name, or one name with its settings: {bdf2: {tolerance: 1 mm/s}}")
        return {name: {} if own is None else own for name, own in value.items()}

    def choice(self) -> ChosenIntegrator:
        """Return name and settings of the integrator."""
        (name,) = self.model_fields_set
        return ChosenIntegrator(name, getattr(self, name))


_CHOICES = {
    name: field_of(file_type(kind.settings) | None, None, Setting(kind.meaning))
    for name, kind in INTEGRATORS.items()
}
IntegratorBlock = block_with(
    "IntegratorBlock", _IntegratorBlock, _CHOICES, __doc__=_IntegratorBlock.__doc__
)


SCENE_TYPES: Mapping[str, object] = {  # fields of a scene that a file writes in another form
    "pins": (list[PinBlock], []),
    "attachments": (list[AttachmentBlock], []),
    "gravity_from": (tuple[Time, Time] | None, None),
    "velocity": tuple[Velocity, Velocity, Velocity],
    "integrator": (
        Annotated[IntegratorBlock, AfterValidator(_IntegratorBlock.choice)],
        ChosenIntegrator("backward_euler", StepSettings()),
    ),
    "law": LawBlock | None,
    "pressure": Annotated[InBlock[PressureBlock], AfterValidator(PressureBlock.law)] | None,
    "bodies": (list[BodyBlock], []),
}
_OF_RUN = Setting(constant="times of the run and of its frames")
_FABRIC = Setting(constant=MATERIAL)
_TEMPLATE = Setting(constant="how the file is read")


class _Cloths(Block):
    """Fields of a scene file that come first."""

    description: str = Field("", description="a description for readers")
    include: Annotated[str | list[str], _TEMPLATE] = Field(
        [],
        description=(
            "scene files, relative to this file, whose fields this file inherits; its own "
            "fields and later files replace them: blocks field by field, lists as a whole"
        ),
    )
    variables: Annotated[dict[str, Any], _TEMPLATE] = Field(
        {},
        description="names and values for ${name} in other values; a value of null: another file "
        "or --set gives the value",
    )
    cloth: Annotated[ClothBlock | None, _FABRIC] = Field(None, description="mesh, fabric and place")
    cloths: Annotated[list[ClothBlock], _FABRIC] = Field(
        [], description="several cloths, in place of `cloth`"
    )


def _fields_of_scene() -> Mapping[str, FieldInfo]:
    """Return the fields of ``Scene`` with their types in files."""
    fields, settings = dict(fields_of(Scene)), settings_by_field(Scene)
    for name, said in SCENE_TYPES.items():
        kind, default = said if isinstance(said, tuple) else (said, fields[name].default)
        fields[name] = field_of(Annotated[kind, settings[name]], default, settings[name])
    return fields


class SceneFile(block_with("_Scene", _Cloths, _fields_of_scene())):  # type: ignore[misc]
    """A scene."""

    seconds: Annotated[Duration, _OF_RUN] = Field(2.0, description="[s] length of the simulation")
    fps: Annotated[float, _OF_RUN] = Field(
        30.0, gt=0, le=10000, description="[1/s] frames per second on disk"
    )
    shot: Annotated[str | None, _OF_RUN] = Field(
        None,
        description=(
            "a USD file, relative to the scene file: it gives fps and seconds if the scene "
            "does not; its first frame is the time 0 of USD files"
        ),
    )
    preroll: Annotated[int, _OF_RUN] = Field(
        0,
        ge=0,
        description=(
            "frames before the first frame of the shot; in these frames USD bodies move from "
            "their rest pose to the first pose, or along their own samples"
        ),
    )
    start_state: Annotated[str | None, _OF_RUN] = Field(
        None,
        description=(
            "positions and velocities at the start: an .npz file with x [m] and v [m/s] of "
            "all points, like frames of runs; relative to the scene file"
        ),
    )
    sewing: InBlock[Sewing] | None = Field(
        None, description="how garments are sewn before the animation begins; none: the defaults"
    )

    @model_validator(mode="after")
    def _some_cloth(self) -> "SceneFile":
        if (self.cloth is None) == (len(self.cloths) == 0):
            raise ValueError("give `cloth`, or several `cloths`")
        if self.preroll and self.shot is None:
            raise ValueError("preroll needs shot, a USD file with the first frame")
        return self


def scene_block(names: Sequence[str]) -> type | None:
    """Return the block, or the dataclass of settings, at a path of field names; None if the path
    ends in a value.
    """
    return block_at(SceneFile, names)


def keyframes_at(loc: Sequence[str | int]) -> tuple[bool, str]:
    """Return whether the number at a path may have keyframes, and if not the reason.

    The reason is that of the field, or of the nearest block around it that has one.
    """
    model: type | None = SceneFile
    field, reason, last = FieldInfo(), "", 0
    for k, name in enumerate(loc):
        if isinstance(name, int):
            continue
        fields = {} if model is None else fields_of(model)
        if name not in fields:
            return False, reason
        field, last = fields[name], k
        reason = setting_in(field).constant or reason
        model = block_in(field.rebuild_annotation())
    if not setting_in(field).keyframes:
        return False, reason
    components = int(get_origin(field.annotation) is tuple)
    return last + 1 + components == len(loc), "give it for each component: [0, {keys: ...}, 0]"
