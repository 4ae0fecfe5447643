"""All commands of ``weft``, and what ``weft --help`` shows of them."""

from typing import Annotated

import typer

from weft import extensions
from weft.cli.groups import CommandGroup, add_command

PANELS = {  # of the engine's commands; those of a plugin stand in a panel of its name
    "Simulate": "demo examples run play settle check explain fabrics",
    "Look and export": "view render quality export",
    "Trust": "doctor",
}

app = typer.Typer(
    name="weft",
    cls=CommandGroup,
    help="Simulate cloth: a scene in, frames and pictures out. Start with `weft demo`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _add_commands() -> None:
    """Add the engine's commands panel by panel, then those of plugins."""
    panels = {name: panel for panel, names in PANELS.items() for name in names.split()}
    for plugin in extensions.plugins().values():
        for name in plugin.entries.get("commands", ()):
            if " " not in name:
                panels.setdefault(name, plugin.name.capitalize())
    for name, panel in panels.items():
        add_command(app, name, panel)


_add_commands()


def _version(show: bool) -> None:
    if show:
        from weft import __version__

        typer.echo(f"weft {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Simulate cloth: a scene in, frames and pictures out. Start with `weft demo`."""
