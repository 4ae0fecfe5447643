"""The progress of a sweep on stderr: a bar, and what else happens above it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from weft.sweep.folder import SweepFolder
from weft.sweep.plan import Sample
from weft.sweep.runner import Hooks
from weft.sweep.status import Found, Kind, Status, counts


@contextmanager
def silent(note: Callable[[str], None]) -> Iterator[Hooks]:
    """Nothing but notes."""
    yield Hooks(note=note)


@contextmanager
def sweep_bar() -> Iterator[Hooks]:
    """A bar of samples that have ended."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    columns = (
        MofNCompleteColumn(), BarColumn(20), TimeElapsedColumn(), TextColumn("left"),
        TimeRemainingColumn(), TextColumn("{task.description}"),
    )  # fmt: skip
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("starting", total=None)
        failed = 0

        def begun(sweep: SweepFolder, found: Sequence[Found]) -> None:
            told = counts(found)
            ended = told[Kind.DONE] + told[Kind.FAILED]
            bar.update(task, total=len(found), completed=ended, description=str(sweep.path))

        def ended(sample: Sample, status: Status) -> None:
            nonlocal failed
            if status.state == "failed":
                failed += 1
                console.print(f"failed   {sample.id}: {status.reason}: {status.message}")
            said = f"{failed} failed, " if failed else ""
            bar.update(task, advance=1, description=f"{said}last {sample.id}")

        yield Hooks(begun, ended, console.print)
