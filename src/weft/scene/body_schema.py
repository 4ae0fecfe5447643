"""Schema of the bodies of a scene file.

A shape is a function of its sizes, whose arguments are the fields of its block, and a line of
``SHAPES``.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, Strict, create_model, model_validator

from weft.base.schema.block import Block, FromBlock, block_of
from weft.base.schema.quantities import Degrees, Point, QuantityIn, Size, Thickness, Time
from weft.base.settings import ROOM, Setting
from weft.base.trees import Yaml
from weft.bodies.motion.pins import Path
from weft.bodies.rigid.settings import Rigid
from weft.contact import Body, box, capsule, cone, cylinder, disk, plane, plate, ring, sphere
from weft.io import SUFFIXES
from weft.io.surface import StageOptions
from weft.plugins.garments.scene.mannequin_schema import MannequinBlock
from weft.plugins.garments.scene.smpl_schema import SmplBlock
from weft.scene.field_schema import DistanceGridBlock, FieldBlock, HeightFieldBlock
from weft.scene.selection import MOTION, PLACE
from weft.scene.shape_block import ShapeBlock, shape_block


class SolidBlock(ShapeBlock):
    """A box with sides along the axes."""

    width: Size = Field(description="[m] along x")
    height: Size = Field(description="[m] along y")
    depth: Size = Field(description="[m] along z")
    size: Size = Field(0.1, description="[m] of its edges, at most")

    def make(self, name: str) -> Body:
        """Build the box."""
        return box((self.width, self.height, self.depth), self.size, name)


class BodyMeshBlock(block_of(StageOptions)):  # type: ignore[misc]
    """A mesh from a file, or one that deforms, from numbered files."""

    file: str = Field(
        description=f"{SUFFIXES}, relative to the scene file; USD and glTF move as they say; "
        "numbered ones such as walk_*.obj, with fps; or an .npz with positions (frames, vertices, "
        "3), faces, and times [s] or fps"
    )
    motion: str | None = Field(None, description="a .pc2 file that moves its vertices")
    prim: str | None = Field(
        None, description="of a USD or glTF file: which mesh, by path or name; none: all"
    )
    scale: Size | None = Field(
        None,
        description="[m] length of one unit of positions: 1 cm, 1 in; none: what the "
        "file says (USD), else 1 m",
    )
    weld: Annotated[bool, Strict()] | Size | None = Field(
        None,
        description="true: vertices that coincide at all times become one; a length [m]: also "
        "vertices that are so near",
    )
    fps: float | None = Field(
        None, gt=0, description="[1/s] frames a second; none: what the file says, or one shape"
    )
    start: Time = Field(0.0, description="[s] time of the first frame")
    hold: bool = Field(False, description="stay at the last frame; else one at the end is needed")


# Shapes of bodies: their block, what they are, and why they do not change in time.
_ARM = "links stay as they are; `joints` have keyframes"
_SHAPE = "a shape stays; it moves along bodies.path, or deforms as a mesh of frames"
SHAPES: Mapping[str, tuple[type[Block] | type[str], str, str]] = {
    "sphere": (shape_block(sphere), "a sphere", _SHAPE),
    "plate": (shape_block(plate), "a level rectangle: a floor, a table", _SHAPE),
    "plane": (shape_block(plane), "a level plane, of few faces", _SHAPE),
    "capsule": (shape_block(capsule), "a capsule: a limb", _SHAPE),
    "cylinder": (shape_block(cylinder), "a cylinder with flat ends", _SHAPE),
    "cone": (shape_block(cone), "a cone, or a part of one", _SHAPE),
    "disk": (shape_block(disk), "a level disk without thickness", _SHAPE),
    "box": (SolidBlock, "a box", _SHAPE),
    "ring": (shape_block(ring), "a torus", _SHAPE),
    "height_field": (HeightFieldBlock, "heights from a file", _SHAPE),
    "distance_grid": (DistanceGridBlock, "signed distances on a grid, from a file", _SHAPE),
    "mannequin": (
        MannequinBlock,
        "a person, who may move",
        "a figure stays who it is; it moves as its motion says",
    ),
    "smpl": (
        SmplBlock,
        "a person of a model in SMPL's layout, from files",
        "a person stays who they are; they move as the motion says",
    ),
    "urdf": (str, "a robot arm: a URDF file, relative to the scene file; its z is up", _ARM),
    "mjcf": (str, "a robot arm: an MJCF file, likewise", _ARM),
    "mesh": (BodyMeshBlock, "a mesh file, or frames of one", "a shape and the times of its frames"),
}


def _height_or_point(value: Yaml) -> Yaml:
    """Return a height, or the coordinates of a point, in meters."""
    read = QuantityIn("m")
    return [read(v) for v in value] if isinstance(value, list) else read(value)


class _Body(Block):
    name: str = Field("", description="for messages and contact pairs")


_FIELDS: Any = {
    name: (Annotated[block | None, Setting(constant=stays)], Field(None, description=meaning))
    for name, (block, meaning, stays) in SHAPES.items()
}


class BodyBlock(create_model("_Shapes", __base__=_Body, **_FIELDS)):  # type: ignore[misc]
    """A body that cloth does not pass through. Give one shape."""

    thickness: Annotated[Thickness | None, Setting(constant=ROOM)] = Field(
        None, description="[m] kept from it; none: contact.thickness"
    )
    translation: Annotated[Point, PLACE] = Field(
        (0, 0, 0), description="[m] moved by, after rotation"
    )
    rotation: Annotated[tuple[Degrees, Degrees, Degrees], PLACE] = Field(
        (0, 0, 0), description="[degrees] about x, y and z in turn"
    )
    path: Annotated[FromBlock[Path] | None, MOTION] = Field(
        None, description="a motion; none: it stands still"
    )
    landmarks: Annotated[
        dict[str, Annotated[float | Point, BeforeValidator(_height_or_point)]],
        Setting(constant="places on the body where it stands at the start"),
    ] = Field(
        {},
        description="of a person, stated instead of found: a height [m] above the floor of "
        "neck_back, bust, waist, hip or crotch, or a point of any (docs/mannequin.md)",
    )
    joints: Annotated[
        dict[str, Any], Setting(constant="a target has keys of its own: {keys: ...}")
    ] = Field(
        {},
        description="of an arm, by name: [rad or m] the target, or {keys, between, force} with "
        "keyframes, and of a slide the largest force [N] with which it closes",
    )
    size: Annotated[Size, Setting(constant=_ARM)] = Field(
        0.02, description="[m] of an arm: edges of primitive shapes, at most"
    )
    rigid: FromBlock[Rigid] | None = Field(
        None, description="forces and contact move it (docs/bodies.md); none: nothing does"
    )

    @model_validator(mode="after")
    def _one_shape(self) -> "BodyBlock":
        if sum(getattr(self, name) is not None for name in SHAPES) != 1:
            *first, last = SHAPES
            raise ValueError(f"give one of {', '.join(first)} and {last}")
        others = ("path", "rigid", "landmarks") if self.is_arm else ("joints", "size")
        if given := self.model_fields_set.intersection(others):
            whose = "an arm, which joints move" if self.is_arm else "another body than an arm"
            raise ValueError(f"{', '.join(given)} of {whose}")
        return self

    @property
    def is_arm(self) -> bool:
        """Whether the body is an arm, of which every link is a body of the scene."""
        return isinstance(self.shape[1], str)

    @property
    def shape(self) -> tuple[str, "ShapeBlock | FieldBlock | BodyMeshBlock | str"]:
        """The name of the shape, and its block."""
        return next((n, getattr(self, n)) for n in SHAPES if getattr(self, n) is not None)
