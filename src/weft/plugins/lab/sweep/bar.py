"""Progress of a sweep on stderr: a bar, with messages above it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from weft.base.terminal import bar, new_console, text_column
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.status import SampleKind, SampleStatus, Status, counts
from weft.plugins.lab.sweep.tasks import Hooks


@contextmanager
def sweep_bar() -> Iterator[Hooks]:
    """Yield hooks that show a progress bar of ended samples."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = new_console(error=True, soft_wrap=True)
    columns = (
        MofNCompleteColumn(),
        BarColumn(20),
        TimeElapsedColumn(),
        text_column("left"),
        TimeRemainingColumn(),
        text_column("{task.description}"),
    )
    with bar(*columns, console=console) as progress:
        task = progress.add_task("starting", total=None)
        failed = 0

        def start(sweep: SweepFolder, samples: Sequence[SampleStatus]) -> None:
            numbers = counts(samples)
            n_ended = numbers[SampleKind.DONE] + numbers[SampleKind.FAILED]
            progress.update(
                task, total=len(samples), completed=n_ended, description=str(sweep.path)
            )

        def report(sample: Sample, status: Status) -> None:
            nonlocal failed
            if status.state == "failed":
                failed += 1
                console.print(f"failed   {sample.id}: {status.reason}: {status.message}")
            failures = f"{failed} failed, " if failed else ""
            progress.update(task, advance=1, description=f"{failures}last {sample.id}")

        yield Hooks(start, report, console.print)
