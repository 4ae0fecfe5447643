"""Commands whose ``--help`` lists the names that they take."""

from collections.abc import Callable, Sequence
from typing import Any

from typer.core import TyperCommand


def listing(*groups: tuple[str, Callable[[], Sequence[str]]]) -> type[TyperCommand]:
    """A command class that ends its help with names, by group; they are looked up only then, so
    that other commands do not pay for it.

    Args:
        *groups: a heading, and a function that gives the names below it.
    """

    class Listing(TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            paragraphs = [f"{head}: {', '.join(names())}" for head, names in groups]
            self.epilog = "\n\n".join(paragraphs)
            super().format_help(ctx, formatter)

    return Listing
