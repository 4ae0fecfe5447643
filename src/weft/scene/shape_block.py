"""Blocks of bodies in scene files: the arguments of the function that makes a shape."""

import math
from collections.abc import Callable
from typing import Any, ClassVar

from pydantic import create_model

from weft.base.schema.block import Block, arguments_of
from weft.contact import Body


class ShapeBlock(Block):
    """Sizes of a body."""

    function: ClassVar[Callable[..., Body]]  # makes the body
    most_vertices: ClassVar[float] = math.inf  # bound of the shape, which then has longer edges
    most_faces: ClassVar[float] = math.inf

    def make(self, name: str) -> Body:
        """Build the body."""
        return type(self).function(**dict(self), name=name)

    def estimate(self) -> float:
        """Estimate the number of vertices from the sizes."""
        raise NotImplementedError

    def vertices(self) -> float:
        """Return the estimate, or infinity if it is too large for float64."""
        try:
            return self.estimate()
        except OverflowError:
            return math.inf

    def frames(self) -> float:
        """Estimate the number of frames of the body's motion."""
        return 0.0


def shape_block(
    function: Callable[..., Body],
    vertices: Callable[[Any], float],
    most_vertices: float = math.inf,
    most_faces: float = math.inf,
) -> type[ShapeBlock]:
    """Return the block of a shape.

    Args:
        function: makes the body from its sizes and its name; its docstring begins with ``Create``.
        vertices: estimates the number of vertices that a block's sizes ask for.
        most_vertices: that the function makes.
        most_faces: that the function makes.
    """
    text = (function.__doc__ or "").split("\n\n")[0].removeprefix("Create ")
    title = f"{function.__name__.title()}Block"
    block = create_model(
        title, __base__=ShapeBlock, __doc__=text[:1].upper() + text[1:], **arguments_of(function)
    )
    block.function = function
    block.estimate = vertices  # type: ignore[method-assign,assignment]
    block.most_vertices, block.most_faces = most_vertices, most_faces
    return block
