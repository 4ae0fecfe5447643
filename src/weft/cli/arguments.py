"""Arguments after ``weft``: an empty argument is refused by name.

It is a shell variable that is not set; as a path it would be the current folder.
"""

from collections.abc import Sequence
from typing import Any

from typer.core import TyperGroup

from weft.base.errors import WeftError


class CommandGroup(TyperGroup):
    """Commands whose arguments are checked before any of them is read."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """The arguments that are left for a command.

        Raises:
            WeftError: an empty one.
        """
        check_arguments(args)
        return super().parse_args(ctx, args)


def check_arguments(args: Sequence[str]) -> None:
    """Raise unless every argument says something; ``--out=`` says as little as ``--out ''``.

    Raises:
        WeftError: an empty one, named by what stands before it.
    """
    for before, text in zip(("weft", *args), args):
        name, equals, value = text.partition("=") if text.startswith("--") else (before, "=", text)
        if equals and not value.strip():
            raise WeftError(
                name if name.startswith("-") else f"the argument after {name}",
                got="nothing",
                expected="some text",
                hint="is a shell variable not set? The current folder is `.`",
            )
