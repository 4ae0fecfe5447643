"""The engine's sources of bodies, by their field in upper case.

A shape is a function of its sizes, whose arguments are the fields of its block, with an estimate of
its vertices.
"""

import math
from typing import Annotated, Any, ClassVar

from pydantic import Field, Strict

from weft.base.schema.block import block_of
from weft.base.schema.quantities import Size, Time
from weft.contact import Body, box, capsule, cone, cylinder, disk, plane, plate, ring, sphere
from weft.io import suffixes
from weft.io.surface import StageOptions
from weft.scene.body_source import BodySource
from weft.scene.field_schema import DistanceGridBlock, HeightFieldBlock
from weft.scene.shape_block import ShapeBlock, shape_block


class SolidBlock(ShapeBlock):
    """A box with sides along the axes."""

    width: Size = Field(description="[m] along x")
    height: Size = Field(description="[m] along y")
    depth: Size = Field(description="[m] along z")
    size: Size = Field(0.1, description="[m] of its edges, at most")

    most_vertices: ClassVar[float] = 6 * 201 * 201
    most_faces: ClassVar[float] = 480_000

    def make(self, name: str) -> Body:
        """Build the box."""
        return box((self.width, self.height, self.depth), self.size, name)

    def estimate(self) -> float:
        """Estimate the vertices of six grids."""
        x, y, z = (1 + side / self.size for side in (self.width, self.height, self.depth))
        return 2 * (x * y + y * z + z * x)


class BodyMeshBlock(block_of(StageOptions)):  # type: ignore[misc]
    """A mesh from a file, or one that deforms, from numbered files."""

    file: str = Field(
        description=f"{suffixes('read')}, relative to the scene file; USD and glTF move as they "
        "say; numbered ones such as walk_*.obj, with fps; or an .npz with positions (frames, "
        "vertices, 3), faces, and times [s] or fps"
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


def _grid(block: Any) -> float:
    """Return the vertices of a plate."""
    return float((block.width / block.size + 1) * (block.depth / block.size + 1))


def _around(block: Any, radius: float, least: float, rings: float) -> float:
    """Return the vertices of rings of a radius, with at least so many in each."""
    return float(max(least, 2 * math.pi * radius / block.size) * rings)


def _cone(block: Any) -> float:
    """Return the vertices of a cone's side and both ends."""
    side = math.hypot(block.height, block.radius - block.top)
    rings = (block.radius + block.top + side) / block.size + 3
    return _around(block, max(block.radius, block.top), 8.0, rings)


SPHERE = BodySource(
    shape_block(
        sphere, lambda b: 10.0 * max(1.0, 1.05 * b.radius / b.size) ** 2, 10 * 4**7, 330_000
    ),
    "a sphere",
)
PLATE = BodySource(
    shape_block(plate, _grid, 501 * 501, 500_000), "a level rectangle: a floor, a table"
)
PLANE = BodySource(shape_block(plane, lambda b: 25.0, 25, 50), "a level plane, of few faces")
CAPSULE = BodySource(
    shape_block(
        capsule,
        lambda b: _around(b, b.radius, 6.0, (math.pi * b.radius + b.length) / b.size + 3),
    ),
    "a capsule: a limb",
)
CYLINDER = BodySource(
    shape_block(
        cylinder, lambda b: _around(b, b.radius, 8.0, (2 * b.radius + b.length) / b.size + 3)
    ),
    "a cylinder with flat ends",
)
CONE = BodySource(shape_block(cone, _cone), "a cone, or a part of one")
DISK = BodySource(
    shape_block(disk, lambda b: _around(b, b.radius, 8.0, b.radius / b.size + 1)),
    "a level disk without thickness",
)
BOX = BodySource(SolidBlock, "a box")
RING = BodySource(
    shape_block(
        ring,
        lambda b: _around(
            b, b.radius + b.thickness, 8.0, max(6.0, 2 * math.pi * b.thickness / b.size)
        ),
    ),
    "a torus",
)
HEIGHT_FIELD = BodySource(HeightFieldBlock, "heights from a file")
DISTANCE_GRID = BodySource(DistanceGridBlock, "signed distances on a grid, from a file")
MESH = BodySource(
    BodyMeshBlock, "a mesh file, or frames of one", "a shape and the times of its frames"
)
