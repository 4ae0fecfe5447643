"""Display of a simulation's progress: a bar for people, JSON lines for programs.

The bar shows the frame, the time left, the step, Newton iterations, the increment and the last file
written. If the terminal is narrow, the last of these are cut off, but never the time left. A JSON
line is one object:

    {"event": "start", "run": "runs/flag", "frames": 60}
    {"event": "compiling", "module": "weft.membrane"}
    {"event": "step", "frame": 3, "frames": 60, "step": 1, "steps": 2, "newton": 4, "linear": 0,
     "increment": 0.0021, "seconds": 1.52, "left": 28.9, "wrote": "frames/000003.npz"}
    {"event": "done", "run": "runs/flag", "frames": 60, "seconds": 30.1}

Here ``seconds`` is the time since the start [s], ``left`` the estimated time to go [s],
``increment`` is in m/s, and ``wrote`` is empty except after the last step of a frame.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from weft import kernel
from weft.base.terminal import bar, text_column
from weft.run.simulation import Progress

if TYPE_CHECKING:
    from rich.progress import ProgressColumn

    from weft.base.terminal import Console

Update = Callable[[Progress], None]


@contextmanager
def progress_bar(frames: int, console: "Console | None" = None) -> Iterator[Update]:
    """Show a progress bar on stderr, which a notebook shows in the cell, or on another console.

    The context manager yields a function that must be called after every step. The bar also says
    when kernels are compiled.

    Args:
        frames: number of the last frame.
        console: a rich ``Console``; None: stderr.
    """
    with bar(*_columns(), console=console, expand=True) as shown:
        task = shown.add_task("starting", total=frames)

        def on_compile(module: str) -> None:
            if kernel.claim_compile_notice():
                shown.console.print(kernel.COMPILING)
            shown.update(task, description=f"compiling {module}")

        wrote = ""

        def update(now: Progress) -> None:
            nonlocal wrote
            wrote = now.wrote or wrote
            r = now.report
            solves = f"{r.iterations} Newton" + (
                f", {r.linear_iterations} CG" if r.linear_iterations else ""
            )
            text = (
                f"step {now.step}/{now.steps}  {solves}  increment {r.increment:.1e} m/s  {wrote}"
            )
            shown.update(task, completed=now.frame - 1 + now.step / now.steps, description=text)

        with kernel.notify_compile(on_compile):
            yield update


def _columns() -> "tuple[ProgressColumn, ...]":
    """Return the columns of the bar; in a narrow terminal only the last column is cut off."""
    from rich.progress import BarColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.table import Column

    return (
        text_column(
            "frame {task.completed:.0f}/{task.total:.0f}", table_column=Column(no_wrap=True)
        ),
        BarColumn(bar_width=10, table_column=Column(min_width=10)),
        TimeElapsedColumn(table_column=Column(min_width=7, no_wrap=True)),
        text_column("left", table_column=Column(no_wrap=True)),
        TimeRemainingColumn(table_column=Column(min_width=7, no_wrap=True)),
        text_column(
            "{task.description}", table_column=Column(overflow="ellipsis", ratio=1, no_wrap=True)
        ),
    )


@contextmanager
def json_lines(run: str, frames: int, out: TextIO) -> Iterator[Update]:
    """Write one JSON object per line to ``out``; yield a function that must be called after every
    step.
    """
    clock = time.perf_counter()

    def write_event(event: str, **values: object) -> None:
        out.write(json.dumps({"event": event, **values}) + "\n")
        out.flush()

    # Frames done before the first step of this process: a run may be resumed, and frames that were
    # already there must not count into the rate.
    first: list[float] = []

    def update(now: Progress) -> None:
        done, spent = now.frame - 1 + now.step / now.steps, time.perf_counter() - clock
        first.append(done - 1 / now.steps)
        rate = (done - first[0]) / spent if spent > 0 else 0.0
        left = round((now.frames - done) / rate, 3) if rate > 0 else None
        write_event(
            "step",
            frame=now.frame,
            frames=now.frames,
            step=now.step,
            steps=now.steps,
            newton=now.report.iterations,
            linear=now.report.linear_iterations,
            increment=now.report.increment,
            seconds=round(spent, 3),
            left=left,
            wrote=now.wrote,
        )
        del first[1:]

    write_event("start", run=run, frames=frames)
    with kernel.notify_compile(lambda module: write_event("compiling", module=module)):
        yield update
    write_event("done", run=run, frames=frames, seconds=round(time.perf_counter() - clock, 3))


@contextmanager
def silence() -> Iterator[Update]:
    """Show no progress, not even when kernels are compiled."""
    with kernel.notify_compile(lambda _: None):
        yield lambda _: None
