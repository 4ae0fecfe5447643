"""Classes of commands: groups that refuse empty arguments or have a default command, and commands
whose help lists the names that they take.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from typer.core import TyperCommand, TyperGroup

from weft.base.errors import WeftError


class CommandGroup(TyperGroup):
    """Commands whose arguments are checked before any of them is read."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left for a command.

        Raises:
            WeftError: one is empty. It is a shell variable that is not set; as a path it would be
                the current folder.
        """
        check_arguments(args)
        return super().parse_args(ctx, args)


def check_arguments(args: Sequence[str]) -> None:
    """Check that every argument has some text; ``--out=`` has as little as ``--out ''``.

    Raises:
        WeftError: one is empty; it is named by what stands before it.
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


class DefaultCommandGroup(TyperGroup):
    """Commands of which one, ``default``, may be left out before its arguments."""

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left, with the default command if none is named."""
        first = args[0] if args else ""
        bare = not args and not self.no_args_is_help
        if bare or (args and first not in self.commands and first not in ctx.help_option_names):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def listing(*groups: tuple[str, Callable[[], Sequence[str]]]) -> type[TyperCommand]:
    """Return a command class that ends its help with names, by group. They are looked up only then,
    so that other commands do not pay for it.

    Args:
        *groups: a heading, and a function that gives the names below it.
    """

    class Listing(TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            paragraphs = [f"{head}: {', '.join(names())}" for head, names in groups]
            self.epilog = "\n\n".join(paragraphs)
            super().format_help(ctx, formatter)

    return Listing
