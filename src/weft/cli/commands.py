"""All commands of ``weft``, and what ``weft --help`` shows of them."""

from typing import Annotated

import typer

from weft.cli import (
    check,
    dataset,
    demo,
    doctor,
    examples,
    explain,
    export,
    fabrics,
    mannequin,
    quality,
    render,
    run,
    settle,
    sweep,
    validate,
    view,
)
from weft.cli.arguments import CommandGroup

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
_SIMULATE, _LOOK, _TRUST = "Simulate", "Look and export", "Trust"
app.command("demo", rich_help_panel=_SIMULATE)(demo.demo)
app.command("examples", rich_help_panel=_SIMULATE)(examples.examples)
app.command("run", rich_help_panel=_SIMULATE)(run.run)
app.command("settle", rich_help_panel=_SIMULATE)(settle.settle)
app.add_typer(sweep.app, name="sweep", rich_help_panel=_SIMULATE)
app.command("check", rich_help_panel=_SIMULATE)(check.check)
app.command("explain", rich_help_panel=_SIMULATE)(explain.explain)
app.command("mannequin", rich_help_panel=_LOOK)(mannequin.mannequin)
app.add_typer(fabrics.app, name="fabrics", rich_help_panel=_SIMULATE)
app.command("view", rich_help_panel=_LOOK)(view.view)
app.command("render", rich_help_panel=_LOOK)(render.render)
app.command("quality", rich_help_panel=_LOOK)(quality.quality)
app.command("export", rich_help_panel=_LOOK)(export.export)
app.command("dataset", rich_help_panel=_LOOK)(dataset.dataset)
app.command("validate", rich_help_panel=_TRUST, cls=validate.Command)(validate.validate)
app.command("doctor", rich_help_panel=_TRUST)(doctor.doctor)


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
