"""Display of progress in a notebook: one output of the cell, which is updated while the run goes
on.
"""

import html
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from weft import kernel
from weft.run.simulation import Progress

EVERY = 0.1  # [s] between two messages to the notebook


def in_notebook() -> bool:
    """Return True if this process serves a notebook (an IPython kernel) and not a terminal."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and getattr(shell, "kernel", None) is not None


class Bar:
    """The progress bar that the cell shows.

    Args:
        frames: number of frames to simulate.
        done: frames done, with the fraction of the current one.
        text: text beside the bar.
    """

    def __init__(self, frames: int, done: float = 0.0, text: str = "starting") -> None:
        self.frames, self.done, self.text = frames, done, text

    def __repr__(self) -> str:
        return f"frame {int(self.done)}/{self.frames}  {self.text}"

    def _repr_html_(self) -> str:
        wide = 'style="width: 14em; vertical-align: middle"'
        bar = f'<progress value="{self.done:.3f}" max="{max(self.frames, 1)}" {wide}></progress>'
        return f'<div>{bar} <span style="font-size: 0.9em">{html.escape(repr(self))}</span></div>'


@contextmanager
def notebook_bar(frames: int) -> Iterator[Callable[[Progress], None]]:
    """Show a bar in the running cell; yield a function that must be called after every step.

    At the end the cell shows how long the simulation took, or the error that stopped it.
    """
    from IPython.display import display

    start = time.perf_counter()
    shown = Bar(frames)
    handle: Any = display(shown, display_id=True)
    told, first = start, None

    def tell(*, now: bool = False) -> None:
        nonlocal told
        if now or time.perf_counter() - told >= EVERY:
            told = time.perf_counter()
            handle.update(shown)

    def on_compile(module: str) -> None:
        shown.text = f"compiling {module} (once a machine)"
        tell(now=True)

    def update(step: Progress) -> None:
        nonlocal first
        shown.done = step.frame - 1 + step.step / step.steps
        first = shown.done - 1 / step.steps if first is None else first
        spent = time.perf_counter() - start
        left = (step.frames - shown.done) * spent / max(shown.done - first, 1e-9)
        shown.text = f"{spent:.1f} s, {left:.0f} s left, {step.report.iterations} Newton"
        tell()

    try:
        with kernel.notify_compile(on_compile):
            yield update
    except BaseException as error:
        shown.text = f"stopped after {time.perf_counter() - start:.1f} s: {type(error).__name__}"
        raise
    else:
        shown.text = f"{time.perf_counter() - start:.1f} s"
    finally:
        tell(now=True)
