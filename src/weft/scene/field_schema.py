"""Schema of bodies from numbers on a grid: heights, and signed distances."""

from abc import abstractmethod
from pathlib import Path

from pydantic import Field

from weft.base.schema.block import Block
from weft.base.schema.quantities import Length, Size
from weft.contact import Body, height_field, read_distance_grid, read_heights


class FieldBlock(Block):
    """A body from a file of numbers."""

    file: str = Field(description="the file, relative to the scene file")

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the body is made of."""
        return (self.file,)

    @abstractmethod
    def load(self, folder: Path, name: str) -> Body:
        """Load the body from a file in the scene's folder."""


class HeightFieldBlock(FieldBlock):
    """A ground that rises and falls: heights on a level rectangle about the origin."""

    file: str = Field(
        description="an image, black at `low` and white at `high`, or rows of numbers (.npy, .csv, "
        ".txt), 0 at `low` and 1 at `high`; the first row is at the back"
    )
    width: Size = Field(description="[m] along x")
    depth: Size = Field(description="[m] along z")
    low: Length = Field(0.0, description="[m] height of 0, or black")
    high: Length = Field(1.0, description="[m] height of 1, or white")
    base: Size | None = Field(
        None, description="[m] height of a flat bottom below the lowest place; none: open below"
    )

    def load(self, folder: Path, name: str) -> Body:
        """Load the ground."""
        heights = read_heights(folder / self.file, self.low, self.high, name)
        return height_field(heights, self.width, self.depth, self.base, name)


class DistanceGridBlock(FieldBlock):
    """The closed surface where signed distances on a grid are zero."""

    file: str = Field(
        description="an .npz with distance (nx,ny,nz) [m], negative inside and positive on the "
        "border, origin (3,) [m] and spacing [m] (one or three)"
    )

    def load(self, folder: Path, name: str) -> Body:
        """Load the body; its edges are about as long as the spacing."""
        return read_distance_grid(folder / self.file, name)
