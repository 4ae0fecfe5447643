"""What a scene file may say about the bodies that cloth meets."""

from pydantic import Field, model_validator

from weft.pins import Path
from weft.scene.blocks import Block, Degrees, Given, Length, Point, Time


class SphereBlock(Block):
    """A sphere."""

    radius: Length = Field(gt=0, description="[m]")
    size: Length = Field(0.03, gt=0, description="[m] of its edges, about")


class PlateBlock(Block):
    """A level rectangle: a floor, or a table."""

    width: Length = Field(4.0, gt=0, description="[m] along x")
    depth: Length = Field(4.0, gt=0, description="[m] along z")
    size: Length = Field(0.2, gt=0, description="[m] of its edges, at most")


class CapsuleBlock(Block):
    """A cylinder with half spheres at both ends, along y."""

    radius: Length = Field(gt=0, description="[m]")
    length: Length = Field(gt=0, description="[m] between the half spheres")
    size: Length = Field(0.03, gt=0, description="[m] of its edges, about")


class SolidBlock(Block):
    """A box with sides along the axes."""

    width: Length = Field(gt=0, description="[m] along x")
    height: Length = Field(gt=0, description="[m] along y")
    depth: Length = Field(gt=0, description="[m] along z")
    size: Length = Field(0.1, gt=0, description="[m] of its edges, at most")


class RingBlock(Block):
    """A torus about the y axis."""

    radius: Length = Field(gt=0, description="[m] of the circle in its middle")
    thickness: Length = Field(gt=0, description="[m] radius of its cross section")
    size: Length = Field(0.02, gt=0, description="[m] of its edges, about")


class BodyMeshBlock(Block):
    """A mesh from a file, or one that deforms, from numbered files."""

    file: str = Field(
        description=".obj or .ply, relative to the scene file; with fps: numbered ones such as "
        "walk_*.obj, or an .npz with positions (frames, vertices, 3) and faces"
    )
    scale: Length = Field(1.0, gt=0, description="[m] length of one unit of positions: 1 cm, 1 in")
    fps: float | None = Field(None, gt=0, description="[1/s] frames a second; none: one shape")
    start: Time = Field(0.0, description="[s] time of the first frame")
    hold: bool = Field(False, description="stay at the last frame; else one at the end is needed")


SHAPES = ("sphere", "plate", "capsule", "box", "ring", "mesh")


class BodyBlock(Block):
    """Something that cloth does not pass through. Give one shape."""

    name: str = Field("", description="for messages and contact pairs")
    sphere: SphereBlock | None = Field(None, description="a sphere")
    plate: PlateBlock | None = Field(None, description="a level rectangle: a floor, a table")
    capsule: CapsuleBlock | None = Field(None, description="a capsule: a limb")
    box: SolidBlock | None = Field(None, description="a box")
    ring: RingBlock | None = Field(None, description="a torus")
    mesh: BodyMeshBlock | None = Field(None, description="a mesh file, or frames of one")
    thickness: Length | None = Field(
        None, ge=0, description="[m] kept from it; none: contact.thickness"
    )
    translation: Point = Field((0, 0, 0), description="[m] moved by, after rotation")
    rotation: tuple[Degrees, Degrees, Degrees] = Field(
        (0, 0, 0), description="[degrees] about x, y and z in turn"
    )
    path: Given[Path] | None = Field(None, description="a motion; none: it stands still")

    @model_validator(mode="after")
    def _one_shape(self) -> "BodyBlock":
        if sum(getattr(self, name) is not None for name in SHAPES) != 1:
            raise ValueError("give one of sphere, plate, capsule, box, ring and mesh")
        return self

    @property
    def shape(self) -> tuple[str, Block]:
        """Which shape, and its sizes."""
        return next((n, getattr(self, n)) for n in SHAPES if getattr(self, n) is not None)
