"""The engine's sources of bodies, by their field in upper case.

A shape is a function of its sizes, whose arguments are the fields of its block.
"""

from dataclasses import dataclass

from pydantic import Field

from weft.base.schema.quantities import Size
from weft.base.settings import REQUIRED, setting
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
    size: Size = Field(0.1, description="[m] largest edge length")

    def make(self, name: str) -> Body:
        """Build the box."""
        return box((self.width, self.height, self.depth), self.size, name)


@dataclass(frozen=True, kw_only=True)
class BodyMeshBlock(StageOptions):
    """A mesh from a file, or one that deforms, from numbered files."""

    file: str = setting(
        REQUIRED,
        f"{suffixes('read')}, relative to the scene file; USD and glTF move as the file says; "
        "also numbered files such as walk_*.obj, with fps; or an .npz with positions (frames, "
        "vertices, 3), faces, and times [s] or fps",
    )
    motion: str | None = setting(None, "a .pc2 file that moves its vertices")
    prim: str | None = setting(None, "USD or glTF file: path or name of the mesh; none: all meshes")
    scale: float | None = setting(
        None,
        "length of one unit of positions: 1 cm, 1 in; none: from the file (USD), otherwise 1 m",
        "m",
        above=0,
    )
    weld: bool | float | None = setting(
        None,
        "true: join vertices that coincide at all times; a length [m]: also join vertices within "
        "this distance",
        "m",
        above=0,
    )
    fps: float | None = setting(
        None, "frames per second; none: from the file, or a single shape", "1/s", above=0
    )
    start: float = setting(0.0, "time of the first frame", "s")
    hold: bool = setting(
        False, "stay at the last frame; false: the last frame must be at the end of the run"
    )


SPHERE = BodySource(shape_block(sphere), "a sphere")
PLATE = BodySource(shape_block(plate), "a level rectangle: a floor, a table")
PLANE = BodySource(shape_block(plane), "a level plane, of few faces")
CAPSULE = BodySource(shape_block(capsule), "a capsule: a limb")
CYLINDER = BodySource(shape_block(cylinder), "a cylinder with flat ends")
CONE = BodySource(shape_block(cone), "a cone, or a part of one")
DISK = BodySource(shape_block(disk), "a level disk without thickness")
BOX = BodySource(SolidBlock, "a box")
RING = BodySource(shape_block(ring), "a torus")
HEIGHT_FIELD = BodySource(HeightFieldBlock, "heights from a file")
DISTANCE_GRID = BodySource(DistanceGridBlock, "signed distances on a grid, from a file")
MESH = BodySource(
    BodyMeshBlock, "a mesh file, or frames of one", "a shape and the times of its frames"
)
