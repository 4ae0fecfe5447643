"""What the blocks of bodies in scene files have in common."""

import math
from abc import abstractmethod
from typing import ClassVar

from weft.contact import Body
from weft.scene.blocks import SceneBlock


class ShapeBlock(SceneBlock):
    """Sizes of a body."""

    most_vertices: ClassVar[float] = math.inf  # that the shape stops at, with longer edges
    most_faces: ClassVar[float] = math.inf

    @abstractmethod
    def make(self, name: str) -> Body:
        """The body."""

    @abstractmethod
    def vertices(self) -> float:
        """About how many its sizes ask for."""

    def count(self) -> float:
        """``vertices``; infinite where that is beyond float64."""
        try:
            return self.vertices()
        except OverflowError:
            return math.inf

    def frames(self) -> float:
        """About how many frames its motion is kept in."""
        return 0.0
