"""A picture of the running frame, replaced as the simulation goes."""

import time
from collections.abc import Callable
from pathlib import Path

from weft.errors import RunError
from weft.simulation import Progress

WIDTH, HEIGHT = 640, 360
PART = 0.1  # of the time that pictures may take; frames in between have none


def previewing(
    folder: Path, picture: Path, on_progress: Callable[[Progress], None]
) -> Callable[[Progress], None]:
    """``on_progress``, which also draws frames of the run in ``folder`` into one PNG: the last
    frame always, others as far as drawing takes a tenth of the time.

    Raises:
        RunError: a picture that is not a .png.
    """
    if picture.suffix.lower() != ".png":
        raise RunError("preview", got=picture.suffix or "no suffix", expected=".png")
    began, spent = time.perf_counter(), 0.0

    def update(now: Progress) -> None:
        nonlocal spent
        on_progress(now)
        if now.step < now.steps:
            return
        clock = time.perf_counter()
        if now.frame < now.frames and spent > PART * (clock - began):
            return
        _draw(folder, picture, now.frame)
        spent += time.perf_counter() - clock

    return update


def _draw(folder: Path, picture: Path, frame: int) -> None:
    from weft.render.picture import Style
    from weft.run import Run

    Run(folder).render(picture, frame=frame, style=Style(width=WIDTH, height=HEIGHT))
