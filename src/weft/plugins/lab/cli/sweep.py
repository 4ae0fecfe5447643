"""``weft sweep``: many samples of a scene, on this machine or on others."""

import shlex
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from weft.base.terminal import new_console
from weft.cli.groups import DefaultCommandGroup
from weft.cli.options import AsJson, Quiet, SweepPath, new_table, notes, print_json, say

SweepYaml = Annotated[Path, typer.Argument(help="A sweep file.", metavar="SWEEP.yaml")]
Out = Annotated[Path | None, typer.Option(help="Folder of the sweep.", metavar="DIR")]
Samples = Annotated[
    int | None,
    typer.Option(
        help="Number of samples, in place of the file's; a larger number extends a sweep.",
        min=1,
    ),
]


class SweepGroup(DefaultCommandGroup):
    """``weft sweep FILE`` is ``weft sweep run FILE``."""

    default = "run"


app = typer.Typer(
    cls=SweepGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run a sweep file: `weft sweep SWEEP.yaml`. Look at one: status, pictures.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("run")
def run(
    sweep: SweepYaml,
    out: Out = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Number of samples that run at the same time.", min=1, show_default="all cores"
        ),
    ] = None,
    samples: Samples = None,
    retry: Annotated[bool, typer.Option("--retry", help="Run failed samples again, too.")] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Run all samples of a sweep that have not finished.

    Every sample has its own folder below the folder of the sweep. Run the same command again to
    continue after a stop. Samples run in processes of this machine. For other machines: `weft
    sweep plan`, or `weft.sweep(file, executor=...)` in Python.
    """
    from weft.plugins.lab.sweep.bar import sweep_bar
    from weft.plugins.lab.sweep.file import read_sweep
    from weft.plugins.lab.sweep.runner import run_sweep
    from weft.plugins.lab.sweep.status import counts
    from weft.plugins.lab.sweep.tasks import Hooks

    file = read_sweep(sweep, samples)
    silent = nullcontext(Hooks(note=notes(silent=False)))
    with silent if quiet or json else sweep_bar() as hooks:
        try:
            folder = run_sweep(file, out=out, workers=workers, retry=retry, hooks=hooks)
        except KeyboardInterrupt:
            say(
                f"stopped; finished samples are on disk. Continue with: weft sweep {sweep}",
                error=True,
            )
            raise typer.Exit(130) from None
    numbers = {kind.value: n for kind, n in counts(folder.look()).items() if n}
    if json:
        print_json({"sweep": str(folder.path), **numbers})
    elif not quiet:
        say(f"sweep    {folder.path}  ({', '.join(f'{n} {kind}' for kind, n in numbers.items())})")
        say(f"next     weft sweep pictures {folder.path} a.png")
        say(f"         weft dataset {folder.path} out.zarr")


@app.command("plan")
def plan(sweep: SweepYaml, out: Out = None, samples: Samples = None) -> None:
    """Plan a sweep, run nothing, and print a command for each sample that is to be run.

    For batch systems and other machines that see the folder: `weft sweep plan SWEEP.yaml |
    parallel -j 8`.
    """
    from weft.plugins.lab.sweep.file import read_sweep
    from weft.plugins.lab.sweep.runner import plan_sweep, to_do

    folder = plan_sweep(read_sweep(sweep, samples), out)
    for f in to_do(folder.look()):
        typer.echo(shlex.join(["weft", "sweep", "sample", str(folder.path.resolve()), f.sample.id]))


@app.command("sample")
def sample(
    sweep: SweepPath,
    name: Annotated[str, typer.Argument(help="Id or number of a sample.", metavar="ID")],
    retry: Annotated[
        bool, typer.Option("--retry", help="Run the sample again, even if it failed.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Run or continue one sample in its folder; exit status 1 if it fails."""
    from weft.plugins.lab.sweep.folder import open_sweep
    from weft.plugins.lab.sweep.worker import limit_library_threads, open_unchanged

    limit_library_threads(open_sweep(sweep).threads)
    from weft.plugins.lab.sweep.sample import run_sample

    folder = open_unchanged(open_sweep(sweep).path)
    chosen = folder.sample(name)
    status = run_sample(folder, chosen, retry=retry)
    if not quiet:
        reason = f"{status.reason}: {status.message}" if status.state == "failed" else ""
        say(f"sample   {chosen.id} {status.state} after {status.seconds:.3g} s  {reason}".rstrip())
    if status.state == "failed":
        raise typer.Exit(1)


@app.command("status")
def status(
    sweep: SweepPath,
    list_: Annotated[
        bool, typer.Option("--list", help="Print one line per sample, with reasons of failures.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Show the state of a sweep, also while it runs; `--list`: the state of every sample, and the
    command that reproduces each failure.
    """
    from weft.plugins.lab.sweep.folder import open_sweep
    from weft.plugins.lab.sweep.table import list_samples, summarize

    folder = open_sweep(sweep)
    if list_:
        for line in list_samples(folder):
            typer.echo(line)
        return
    about = summarize(folder)
    if json:
        print_json(about)
        return
    mean, size = about["seconds"] / max(1, about["done"]), about["bytes"] / 2**20
    texts = {
        "done": f"{about['good']} good, {mean:.3g} s each, {size:.4g} MiB",
        "failed": ", ".join(f"{n} {reason}" for reason, n in about["reasons"].items()),
        "running": ", ".join(f"{n} on {host}" for host, n in about["hosts"].items()),
        "stopped": "to be continued",
        "pending": "to be run",
        "of_earlier_plans": "kept, but not part of the sweep now",
    }
    table = new_table("state", "samples", "", right=["samples"])
    for state, text in texts.items():
        table.add_row(state.replace("_", " "), str(about[state]), text)
    say(f"{folder.path}: {len(folder.plan)} samples")
    new_console().print(table)


@app.command("pictures")
def pictures(
    sweep: SweepPath,
    out: Annotated[Path, typer.Argument(help="A .png, or an animated .webp.", metavar="OUT")],
    most: Annotated[
        int, typer.Option(help="Number of samples, spread evenly over the plan.", min=1)
    ] = 48,
    width: Annotated[int, typer.Option(help="Pixels of each picture.", min=50, max=2000)] = 400,
) -> None:
    """Draw a contact sheet: a picture of each sample that has ended, with its values."""
    from weft.plugins.lab.sweep.folder import open_sweep
    from weft.plugins.lab.sweep.pictures import write_pictures

    count = write_pictures(open_sweep(sweep), out, most, width)
    say(f"picture  {out}  ({count} samples, {width} pixels wide; --width PIXELS changes the size)")
