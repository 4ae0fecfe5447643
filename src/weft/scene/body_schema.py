"""Schema of the bodies of a scene file.

Each shape is one block: its sizes, the body that they make, and an estimate of its size.
"""

import math
from typing import Annotated, ClassVar

from pydantic import Field, model_validator

from weft.base.schema.block import Block, FromBlock
from weft.base.schema.quantities import Degrees, Length, Point, Size, Time
from weft.base.settings import ROOM, Setting
from weft.bodies.motion.pins import Path
from weft.bodies.rigid.settings import Rigid
from weft.contact import Body, box, capsule, plate, ring, sphere
from weft.io import SUFFIXES
from weft.scene.field_schema import DistanceGridBlock, FieldBlock, HeightFieldBlock
from weft.scene.mannequin_schema import MannequinBlock
from weft.scene.revolved_schema import ConeBlock, CylinderBlock, DiskBlock, PlaneBlock
from weft.scene.selection import MOTION, PLACE
from weft.scene.shape_block import ShapeBlock


class SphereBlock(ShapeBlock):
    """A sphere."""

    radius: Size = Field(gt=0, description="[m]")
    size: Size = Field(0.03, gt=0, description="[m] of its edges, about")

    most_vertices: ClassVar[float] = 10 * 4**7
    most_faces: ClassVar[float] = 330_000

    def make(self, name: str) -> Body:
        """Build the sphere."""
        return sphere(self.radius, self.size, name)

    def vertices(self) -> float:
        """Estimate the vertices of a subdivided icosahedron."""
        return 10.0 * max(1.0, 1.05 * self.radius / self.size) ** 2


class PlateBlock(ShapeBlock):
    """A level rectangle: a floor, or a table."""

    width: Size = Field(4.0, gt=0, description="[m] along x")
    depth: Size = Field(4.0, gt=0, description="[m] along z")
    size: Size = Field(0.2, gt=0, description="[m] of its edges, at most")

    most_vertices: ClassVar[float] = 501 * 501
    most_faces: ClassVar[float] = 500_000

    def make(self, name: str) -> Body:
        """Build the plate."""
        return plate(self.width, self.depth, self.size, name)

    def vertices(self) -> float:
        """Return the number of vertices of a grid."""
        return (self.width / self.size + 1) * (self.depth / self.size + 1)


class CapsuleBlock(ShapeBlock):
    """A cylinder with half spheres at both ends, along y."""

    radius: Size = Field(gt=0, description="[m]")
    length: Size = Field(gt=0, description="[m] between the half spheres")
    size: Size = Field(0.03, gt=0, description="[m] of its edges, about")

    def make(self, name: str) -> Body:
        """Build the capsule."""
        return capsule(self.radius, self.length, self.size, name)

    def vertices(self) -> float:
        """Estimate the vertices: those of a ring, times the rings along the axis."""
        around = max(6.0, 2 * math.pi * self.radius / self.size)
        return around * (math.pi * self.radius / self.size + self.length / self.size + 3)


class SolidBlock(ShapeBlock):
    """A box with sides along the axes."""

    width: Size = Field(gt=0, description="[m] along x")
    height: Size = Field(gt=0, description="[m] along y")
    depth: Size = Field(gt=0, description="[m] along z")
    size: Size = Field(0.1, gt=0, description="[m] of its edges, at most")

    most_vertices: ClassVar[float] = 6 * 201 * 201
    most_faces: ClassVar[float] = 480_000

    def make(self, name: str) -> Body:
        """Build the box."""
        return box((self.width, self.height, self.depth), self.size, name)

    def vertices(self) -> float:
        """Estimate the vertices of six grids."""
        x, y, z = (1 + side / self.size for side in (self.width, self.height, self.depth))
        return 2 * (x * y + y * z + z * x)


class RingBlock(ShapeBlock):
    """A torus about the y axis."""

    radius: Size = Field(gt=0, description="[m] of the circle in its middle")
    thickness: Size = Field(gt=0, description="[m] radius of its cross section")
    size: Size = Field(0.02, gt=0, description="[m] of its edges, about")

    def make(self, name: str) -> Body:
        """Build the ring."""
        return ring(self.radius, self.thickness, self.size, name)

    def vertices(self) -> float:
        """Estimate the vertices: those around the axis, times those of a cross section."""
        n = 2 * math.pi * (self.radius + self.thickness) / self.size
        return max(8.0, n) * max(6.0, 2 * math.pi * self.thickness / self.size)


class BodyMeshBlock(Block):
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
        gt=0,
        description="[m] length of one unit of positions: 1 cm, 1 in; none: what the "
        "file says (USD), else 1 m",
    )
    fps: float | None = Field(
        None, gt=0, description="[1/s] frames a second; none: what the file says, or one shape"
    )
    start: Time = Field(0.0, description="[s] time of the first frame")
    hold: bool = Field(False, description="stay at the last frame; else one at the end is needed")


# Fields of ``BodyBlock``: a new shape is its block above, a name here and a field below.
SHAPES = (
    "sphere",
    "plate",
    "plane",
    "capsule",
    "cylinder",
    "cone",
    "disk",
    "box",
    "ring",
    "height_field",
    "distance_grid",
    "mannequin",
    "mesh",
)

_SHAPE = Setting(
    constant="a shape stays; it moves along bodies.path, or deforms as a mesh of frames"
)
_FIGURE = Setting(constant="a figure stays who it is; it moves as its motion says")
_FRAMES = Setting(constant="a shape and the times of its frames")


class BodyBlock(Block):
    """A body that cloth does not pass through. Give one shape."""

    name: str = Field("", description="for messages and contact pairs")
    sphere: Annotated[SphereBlock | None, _SHAPE] = Field(None, description="a sphere")
    plate: Annotated[PlateBlock | None, _SHAPE] = Field(
        None, description="a level rectangle: a floor, a table"
    )
    plane: Annotated[PlaneBlock | None, _SHAPE] = Field(
        None, description="a level plane, of few faces"
    )
    capsule: Annotated[CapsuleBlock | None, _SHAPE] = Field(None, description="a capsule: a limb")
    cylinder: Annotated[CylinderBlock | None, _SHAPE] = Field(
        None, description="a cylinder with flat ends"
    )
    cone: Annotated[ConeBlock | None, _SHAPE] = Field(None, description="a cone, or a part of one")
    disk: Annotated[DiskBlock | None, _SHAPE] = Field(
        None, description="a level disk without thickness"
    )
    box: Annotated[SolidBlock | None, _SHAPE] = Field(None, description="a box")
    ring: Annotated[RingBlock | None, _SHAPE] = Field(None, description="a torus")
    height_field: Annotated[HeightFieldBlock | None, _SHAPE] = Field(
        None, description="heights from a file"
    )
    distance_grid: Annotated[DistanceGridBlock | None, _SHAPE] = Field(
        None, description="signed distances on a grid, from a file"
    )
    mannequin: Annotated[MannequinBlock | None, _FIGURE] = Field(
        None, description="a person, who may move"
    )
    mesh: Annotated[BodyMeshBlock | None, _FRAMES] = Field(
        None, description="a mesh file, or frames of one"
    )
    thickness: Annotated[Length | None, Setting(constant=ROOM)] = Field(
        None, ge=0, description="[m] kept from it; none: contact.thickness"
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
    rigid: FromBlock[Rigid] | None = Field(
        None, description="forces and contact move it (docs/bodies.md); none: nothing does"
    )

    @model_validator(mode="after")
    def _one_shape(self) -> "BodyBlock":
        if sum(getattr(self, name) is not None for name in SHAPES) != 1:
            raise ValueError(f"give one of {', '.join(SHAPES[:-1])} and {SHAPES[-1]}")
        return self

    @property
    def shape(self) -> tuple[str, "ShapeBlock | FieldBlock | BodyMeshBlock"]:
        """The name of the shape, and its block."""
        return next((n, getattr(self, n)) for n in SHAPES if getattr(self, n) is not None)
