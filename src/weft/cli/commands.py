"""All commands of ``weft``, and what ``weft --help`` shows of them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from weft.cli import (
    check,
    demo,
    doctor,
    examples,
    explain,
    export,
    fabrics,
    play,
    quality,
    render,
    run,
    settle,
    view,
)
from weft.cli.groups import CommandGroup
from weft.plugins.garments.cli import grade, mannequin
from weft.plugins.lab.cli import dataset, sweep, validate

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
_COMMANDS: Mapping[str, Sequence[Callable[..., None]]] = {
    _SIMULATE: (
        demo.demo,
        examples.examples,
        run.run,
        play.play,
        settle.settle,
        check.check,
        explain.explain,
    ),
    _LOOK: (
        mannequin.mannequin,
        grade.grade,
        view.view,
        render.render,
        quality.quality,
        export.export,
        dataset.dataset,
    ),
    _TRUST: (doctor.doctor,),
}
for _panel, _functions in _COMMANDS.items():
    for _function in _functions:
        app.command(rich_help_panel=_panel)(_function)
app.command(rich_help_panel=_TRUST, cls=validate.Command)(validate.validate)
app.add_typer(sweep.app, name="sweep", rich_help_panel=_SIMULATE)
app.add_typer(fabrics.app, name="fabrics", rich_help_panel=_SIMULATE)


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
