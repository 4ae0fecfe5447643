"""A picture of the running frame, replaced as the simulation goes."""

import time
import warnings
from collections.abc import Callable
from pathlib import Path

from weft.base.errors import RunError, WeftError
from weft.cli.options import png
from weft.run.simulation import Progress

WIDTH, HEIGHT = 640, 360
PART = 0.1  # of the time that pictures may take; frames in between have none


def draw_previews(
    folder: Path, picture: Path, on_progress: Callable[[Progress], None]
) -> Callable[[Progress], None]:
    """``on_progress``, which also draws frames of the run in ``folder`` into one PNG: the last
    frame always, other frames if drawing takes less than a tenth of the time.

    A picture that cannot be drawn or written is a warning, and the last try: the run goes on.

    Raises:
        RunError: a picture that is not a .png, or in no folder.
    """
    png(picture)
    if not picture.absolute().parent.is_dir():
        raise RunError("preview", got=str(picture), expected="a file in a folder that exists")
    began, spent, works = time.perf_counter(), 0.0, True

    def update(now: Progress) -> None:
        nonlocal spent, works
        on_progress(now)
        if now.step < now.steps or not works:
            return
        clock = time.perf_counter()
        if now.frame < now.frames and spent > PART * (clock - began):
            return
        try:
            _draw(folder, picture, now.frame)
        except (WeftError, OSError) as error:
            works = False
            warnings.warn(f"no preview any more: {error}", stacklevel=2)
        spent += time.perf_counter() - clock

    return update


def _draw(folder: Path, picture: Path, frame: int) -> None:
    from weft.run.run import Run
    from weft.show.picture.renderer import Style

    Run(folder).render(picture, frame=frame, style=Style(width=WIDTH, height=HEIGHT))
