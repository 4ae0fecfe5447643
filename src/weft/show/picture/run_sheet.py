"""Contact sheets of several runs: a picture of each, in rows, with two lines of text below."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from PIL import Image as PilImage
from PIL import ImageDraw, ImageSequence

from weft.base.errors import RunError, WeftError
from weft.run.run import Run
from weft.show.picture.renderer import Image, save_png, save_webp
from weft.show.picture.style import Style

LABEL = 26  # pixels below each picture


def write_run_sheet(
    path: Path,
    runs: Sequence[Path],
    labels: Sequence[Sequence[str]],
    style: Style,
    columns: int,
) -> Path:
    """Write pictures of runs side by side, and return the path.

    Args:
        path: ``.png``: the last frame of each run; ``.webp``: all frames.
        runs: folders of runs; the place of a run that cannot be drawn stays empty.
        labels: at most two lines of text for each run.
        style: of one picture.
        columns: pictures in a row.

    Raises:
        RunError: no run, another suffix, or the file cannot be written.
    """
    suffix = path.suffix.lower()
    if suffix not in (".png", ".webp"):
        raise RunError("contact sheet", got=suffix or "no suffix", expected=".png or .webp")
    if not runs:
        raise RunError("contact sheet", got="no run", expected="at least one with a frame")
    width, height = style.width, style.height + LABEL
    sheet = PilImage.new("RGB", (columns * width, -(-len(runs) // columns) * height), "white")
    pen, fps = ImageDraw.Draw(sheet), 1.0
    drawn: list[tuple[tuple[int, int], list[PilImage.Image]]] = []
    for k, (folder, lines) in enumerate(zip(runs, labels)):
        x, y = (k % columns) * width, (k // columns) * height
        for i, text in enumerate(lines):
            pen.text((x + 4, y + style.height + 12 * i), text, fill="black")
        try:
            run = Run(folder)
            drawn.append(((x, y), _draw(run, style, suffix)))
            fps = run.fps
        except (OSError, WeftError):
            continue

    def image(number: int) -> Image:
        for place, frames in drawn:
            sheet.paste(frames[min(number, len(frames) - 1)], place)
        return np.array(sheet)

    if suffix == ".webp":
        count = max((len(frames) for _, frames in drawn), default=1)
        save_webp(path, map(image, range(count)), fps)
    else:
        save_png(path, image(0))
    return path


def _draw(run: Run, style: Style, suffix: str) -> list[PilImage.Image]:
    """Return pictures of the last frame or of all frames of a run.

    A WebP file holds equal pictures once, with a longer duration [ms].
    """
    pictures = []
    with TemporaryDirectory(prefix="weft-sheet-") as place:
        path = run.render(Path(place) / f"run{suffix}", style=style)
        with PilImage.open(path) as file:
            for frame in ImageSequence.Iterator(file):
                picture = frame.convert("RGB")
                pictures += [picture] * max(1, round(file.info.get("duration", 0) * run.fps / 1000))
    return pictures
