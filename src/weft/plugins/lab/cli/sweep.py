"""``weft sweep``: many samples of a scene, on this machine or on others."""

import shlex
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.base.terminal import new_console
from weft.cli.groups import DefaultCommandGroup
from weft.cli.options import AsJson, Quiet, SweepPath, notes, print_json, say

if TYPE_CHECKING:
    from weft.plugins.lab.sweep.executors.base import Executor
    from weft.plugins.lab.sweep.file import SweepFile
    from weft.plugins.lab.sweep.runner import Hooks

EXECUTORS = ("processes", "dask", "slurm", "commands")


class SweepGroup(DefaultCommandGroup):
    """``weft sweep FILE`` is ``weft sweep run FILE``."""

    default = "run"


app = typer.Typer(
    cls=SweepGroup,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Run a sweep file: `weft sweep SWEEP.yaml`. Look at one: status, report.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("run")
def run(
    sweep: Annotated[Path, typer.Argument(help="A sweep file.", metavar="SWEEP.yaml")],
    out: Annotated[Path | None, typer.Option(help="Folder of the sweep.", metavar="DIR")] = None,
    executor: Annotated[str, typer.Option(help=", ".join(EXECUTORS))] = "processes",
    workers: Annotated[
        int | None,
        typer.Option(help="Samples at a time (processes, slurm).", min=1, show_default="all cores"),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="CPU threads of a sample, for a new sweep.", min=1)
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="In place of the file's number: extends a sweep.", min=1)
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Of dask: tcp://HOST:PORT.", metavar="ADDRESS")
    ] = None,
    patience: Annotated[
        float, typer.Option(help="Seconds to wait for a scheduler that is gone.", min=0)
    ] = 600.0,
    partition: Annotated[str | None, typer.Option(help="Of slurm.")] = None,
    minutes: Annotated[
        int, typer.Option(help="Of slurm: time limit of an array's task.", min=1)
    ] = 240,
    local: Annotated[
        bool, typer.Option("--local", help="Of slurm: submitit's local executor.")
    ] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Also what failed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Count, run one sample elsewhere, estimate; no more.")
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Run what remains of a sweep: all of it, or what a kill, a full disk or new samples left.

    Every sample has a folder of its own below the sweep's; the same command goes on where the last
    one stopped, on this executor or another one.
    """
    from weft.plugins.lab.sweep.file import read_sweep

    file = read_sweep(sweep, samples)
    if dry_run:
        _dry_run(file, out, workers, json)
        return
    if executor == "commands":
        _commands(file, out, threads)
        return
    from weft.plugins.lab.sweep.runner import run_sweep
    from weft.plugins.lab.sweep.status import counts

    place = _executor(executor, workers, scheduler, patience, partition, minutes, local)
    with _progress(quiet or json) as hooks:
        try:
            folder = run_sweep(file, place, out=out, retry=retry, threads=threads, hooks=hooks)
        except KeyboardInterrupt:
            say(f"stopped; what is done is on disk. Continue with: weft sweep {sweep}", error=True)
            raise typer.Exit(130) from None
    numbers = {kind.value: n for kind, n in counts(folder.look()).items() if n}
    if json:
        print_json({"sweep": str(folder.path), **numbers})
    elif not quiet:
        say(f"sweep    {folder.path}  ({', '.join(f'{n} {kind}' for kind, n in numbers.items())})")
        say(f"next     weft sweep report {folder.path}   weft dataset {folder.path} out.zarr")


def _executor(
    name: str,
    workers: int | None,
    scheduler: str | None,
    patience: float,
    partition: str | None,
    minutes: int,
    local: bool,
) -> "Executor":
    from weft.base.errors import SweepError, check_known

    check_known(name, EXECUTORS, "executor", SweepError)
    if (scheduler is None) == (name == "dask"):
        expected = "tcp://HOST:PORT, with --executor dask" if name == "dask" else "--executor dask"
        raise SweepError("--scheduler", got=scheduler or "nothing", expected=expected)
    if name == "dask":
        from weft.plugins.lab.sweep.executors.dask import Dask

        return Dask(str(scheduler), patience)
    if name == "slurm":
        from weft.plugins.lab.sweep.executors.slurm import Slurm

        return Slurm(workers, partition, minutes, local, patience)
    from weft.plugins.lab.sweep.executors.processes import Processes

    return Processes(workers)


def _progress(quiet: bool) -> "AbstractContextManager[Hooks]":
    from weft.plugins.lab.sweep.bar import silent, sweep_bar

    return silent(notes(silent=False)) if quiet else sweep_bar()


def _dry_run(file: "SweepFile", out: Path | None, workers: int | None, json: bool) -> None:
    from weft.plugins.lab.sweep.estimate import estimate

    chosen = estimate(file, out or file.out, workers)
    if json:
        print_json(chosen.plain())
        return
    for line in chosen.lines():
        say(line)


def _commands(file: "SweepFile", out: Path | None, threads: int | None) -> None:
    from weft.plugins.lab.sweep.runner import plan_sweep, to_do

    folder = plan_sweep(file, out, threads)
    for sample in to_do(folder.look(), False):
        typer.echo(shlex.join(["weft", "sweep", "sample", str(folder.path.resolve()), sample.id]))


@app.command("sample")
def sample(
    sweep: SweepPath,
    name: Annotated[str, typer.Argument(help="Id of a sample, or its number.", metavar="ID")],
    retry: Annotated[bool, typer.Option("--retry", help="Also where it failed.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run one sample in its folder, or go on with it; exit status 1 where it fails."""
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
    once: Annotated[bool, typer.Option("--once", help="Say it once and end.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Every sample on a line.")] = False,
    json: AsJson = False,
) -> None:
    """Show the state of a sweep, live on a terminal until nothing runs any more."""
    from weft.plugins.lab.sweep.folder import open_sweep
    from weft.plugins.lab.sweep.table import as_json, list_samples, live, table

    folder = open_sweep(sweep)
    if json:
        print_json(as_json(folder, folder.look()))
    elif list_:
        for line in list_samples(folder):
            typer.echo(line)
    elif once or not live(folder):
        new_console().print(table(folder, folder.look()))


@app.command("report")
def report(
    sweep: SweepPath,
    out: Annotated[
        Path | None,
        typer.Argument(
            help="An .html file; the contact sheet alone: .png, or .webp, which moves.",
            metavar="[OUT]",
            show_default="report.html in the folder",
        ),
    ] = None,
    thumbnails: Annotated[int, typer.Option(help="Pictures in the contact sheet.", min=0)] = 48,
) -> None:
    """One HTML file: distributions, failures with the commands that reproduce them, a contact
    sheet, and what the results depend on.
    """
    from weft.plugins.lab.sweep.folder import open_sweep
    from weft.plugins.lab.sweep.report import write_report

    folder = open_sweep(sweep)
    if out is not None and out.suffix.lower() in (".png", ".webp"):
        from weft.plugins.lab.sweep.contact_sheet import (
            contact_sheet,
            count_columns,
            find_ended,
            spread_evenly,
        )

        selected = spread_evenly(find_ended(folder), thumbnails)
        contact_sheet(folder, selected, out, count_columns(selected))
        say(f"picture  {out}  ({len(selected)} samples)")
        return
    path = write_report(folder, out or folder.path / "report.html", thumbnails)
    say(f"report   {path}")
