"""The progress bar of a simulation.

Frame, step, Newton iterations, residual, time left, last file written.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from weft import kernel
from weft.simulation import Progress


@contextmanager
def progress_bar(frames: int) -> Iterator[Callable[[Progress], None]]:
    """A bar on stderr.

    The block gets a function to call after every step. Says when kernels are compiled.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (
        TextColumn("frame {task.completed:.0f}/{task.total:.0f}"),
        BarColumn(bar_width=30),
        TextColumn("{task.description}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=False) as bar:
        task = bar.add_task("starting", total=frames)
        compiling: list[str] = []

        def on_compile(module: str) -> None:
            if not compiling:
                bar.console.print("compiling kernels, once on this machine (under a minute) ...")
            compiling.append(module)
            bar.update(task, description=f"compiling {module}")

        kernel.configure(on_compile=on_compile)
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
            bar.update(task, completed=now.frame - 1 + now.step / now.steps, description=text)

        yield update
