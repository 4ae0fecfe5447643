"""Classes of commands: groups that refuse empty arguments or have a default command, and commands
whose help lists the names that they take.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from weft import extensions
from weft.base.errors import PluginError, WeftError


def add_command(app: typer.Typer, entry: str, panel: str | None = None) -> None:
    """Add a registered command to an app: a function, or an app of its own.

    A command that cannot be imported is left out with a warning.

    Args:
        app: the app.
        entry: registered name of the command: its own, after that of its group, if it has one.
        panel: heading under which help lists it.
    """
    try:
        found = extensions.find("commands", entry)
    except PluginError as error:
        warnings.warn(f"{error}; the command is left out", stacklevel=2)
        return
    name = entry.split()[-1]
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name, rich_help_panel=panel)
    else:
        kind = getattr(found, "command_class", None)
        app.command(name, rich_help_panel=panel, cls=kind)(found)


class CommandGroup(TyperGroup):
    """Commands whose arguments are checked before any of them is read."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that arguments name.

        Raises:
            PluginError: a command of a plugin of weft that is not installed.
        """
        if args:
            extensions.check_installed(args[0])
        return super().resolve_command(ctx, args)

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
                hint="check that the shell variable is set; the current folder is `.`",
            )


class DefaultCommandGroup(TyperGroup):
    """Commands of which one, ``default``, may be left out before its arguments."""

    default: ClassVar[str]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Return the arguments that are left, with the default command if none is named.

        Raises:
            PluginError: a command of a plugin of weft that is not installed.
        """
        first = args[0] if args else ""
        bare = not args and not self.no_args_is_help
        if bare or (args and first not in self.commands and first not in ctx.help_option_names):
            extensions.check_installed(first)
            args = [self.default, *args]
        return super().parse_args(ctx, args)


def listing(
    *groups: tuple[str, Callable[[], Sequence[str]]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a command whose help ends with names, by group. They are looked up only then, so
    that other commands do not pay for it.

    Args:
        *groups: a heading, and a function that gives the names below it.
    """

    class Listing(TyperCommand):
        def format_help(self, ctx: Any, formatter: Any) -> None:
            paragraphs = [f"{head}: {', '.join(names())}" for head, names in groups]
            self.epilog = "\n\n".join(paragraphs)
            super().format_help(ctx, formatter)

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        function.command_class = Listing  # type: ignore[attr-defined]
        return function

    return decorate
