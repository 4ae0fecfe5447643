"""Base class of the blocks of bodies in scene files."""

import math
from abc import abstractmethod
from typing import ClassVar

from weft.base.schema.block import Block
from weft.contact import Body


class ShapeBlock(Block):
    """Sizes of a body."""

    most_vertices: ClassVar[float] = math.inf  # bound of the shape, which then has longer edges
    most_faces: ClassVar[float] = math.inf

    @abstractmethod
    def make(self, name: str) -> Body:
        """Build the body."""

    @abstractmethod
    def vertices(self) -> float:
        """Estimate the number of vertices from the sizes."""

    def count(self) -> float:
        """Return ``vertices``, or infinity if the number is too large for float64."""
        try:
            return self.vertices()
        except OverflowError:
            return math.inf

    def frames(self) -> float:
        """Estimate the number of frames of the body's motion."""
        return 0.0
