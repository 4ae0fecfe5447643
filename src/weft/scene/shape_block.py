"""Blocks of bodies in scene files: the arguments of the function that makes a shape."""

from collections.abc import Callable
from typing import ClassVar

from weft.base.schema.block import Block, block_with, fields_of
from weft.contact import Body


class ShapeBlock(Block):
    """Sizes of a body."""

    function: ClassVar[Callable[..., Body]]  # makes the body

    def make(self, name: str) -> Body:
        """Build the body."""
        return type(self).function(**dict(self), name=name)


def shape_block(function: Callable[..., Body]) -> type[ShapeBlock]:
    """Return the block of a shape.

    Args:
        function: makes the body from its sizes and its name; its docstring begins with ``Create``.
    """
    text = (function.__doc__ or "").split("\n\n")[0].removeprefix("Create ")
    title = f"{function.__name__.title()}Block"
    about = text[:1].upper() + text[1:]
    block: type[ShapeBlock] = block_with(title, ShapeBlock, fields_of(function), __doc__=about)
    block.function = function
    return block
