"""Thumbnails of finished samples, which are rendered once, and contact sheets of them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image as PilImage
from PIL import ImageDraw, ImageSequence

from weft.base.arrays import AnyArray
from weft.base.errors import SweepError, WeftError
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.status import RUN, SampleKind, SampleStatus
from weft.run.run import Run

if TYPE_CHECKING:
    from weft.show.picture.style import Style

WIDTH, HEIGHT = 200, 150  # pixels
LABEL = 26  # pixels below each thumbnail


def thumbnail(
    sweep: SweepFolder, f: SampleStatus, style: "Style | None" = None, suffix: str = ".png"
) -> Path | None:
    """Return the picture of a sample's last frame; None if it cannot be rendered.

    Args:
        sweep: the sample's sweep.
        f: the sample.
        style: of a picture of its own; None: the one that reports share.
        suffix: ``.webp``: all frames.
    """
    from weft.show.picture.style import Style

    folder = sweep.place(f.sample)
    name = "thumbnail" if style is None else style.look
    path, frames = folder / f"{name}{suffix}", folder / RUN / "frames"
    try:
        if style is None and path.is_file() and path.stat().st_mtime >= frames.stat().st_mtime:
            return path
        return Run(folder / RUN).render(path, style=style or Style(width=WIDTH, height=HEIGHT))
    except (OSError, WeftError):
        return None


def find_ended(sweep: SweepFolder) -> list[SampleStatus]:
    """Return the samples that are done or have failed.

    Raises:
        SweepError: no sample has ended.
    """
    ended = [f for f in sweep.look() if f.kind in (SampleKind.DONE, SampleKind.FAILED)]
    if not ended:
        raise SweepError(
            "contact sheet",
            got="no sample",
            where=sweep.path,
            expected="at least one that has ended",
        )
    return ended


def spread_evenly(samples: Sequence[SampleStatus], most: int) -> list[SampleStatus]:
    """Return at most ``most`` samples, spread evenly over the plan."""
    if len(samples) <= most:
        return list(samples)
    return [samples[int(k * len(samples) / most)] for k in range(most)]


def contact_sheet(
    sweep: SweepFolder,
    samples: Sequence[SampleStatus],
    path: Path,
    columns: int = 6,
    *,
    style: "Style | None" = None,
    labels: Callable[[SampleStatus], Sequence[str]] | None = None,
) -> Path:
    """Write thumbnails with labels below, a PNG or a WebP of all frames, and return its path.

    Args:
        sweep: the samples' sweep.
        samples: those that have ended; the last frame of one that failed is its last good one.
        path: of the picture.
        columns: pictures in a row.
        style: of the pictures; None: small ones.
        labels: returns two lines of a sample; None: its values.
    """
    from weft.show.picture.renderer import save_webp

    suffix = path.suffix.lower()
    width, height = (WIDTH, HEIGHT) if style is None else (style.width, style.height)
    rows, fps = -(-len(samples) // columns), 1.0
    sheet = PilImage.new("RGB", (columns * width, rows * (height + LABEL)), "white")
    draw = ImageDraw.Draw(sheet)
    videos = []
    for k, f in enumerate(samples):
        x, y = (k % columns) * width, (k // columns) * (height + LABEL)
        for i, text in enumerate((labels or label_lines)(f)):
            draw.text((x + 4, y + height + 12 * i), text, fill="black")
        picture = thumbnail(sweep, f, style, suffix)
        if picture is not None:
            fps = Run(sweep.place(f.sample) / RUN).fps
            videos.append(((x, y), _read_frames(picture, fps)))

    def draw_frame(number: int) -> AnyArray:
        for place, frames in videos:
            sheet.paste(frames[min(number, len(frames) - 1)], place)
        return np.array(sheet)

    if suffix == ".webp":
        count = max((len(frames) for _, frames in videos), default=1)
        save_webp(path, map(draw_frame, range(count)), fps)
    else:
        draw_frame(0)
        sheet.save(path)
    return path


def _read_frames(picture: Path, fps: float) -> list[PilImage.Image]:
    """Return the frames of a picture; WebP holds equal ones once, with a longer duration [ms]."""
    frames = []
    with PilImage.open(picture) as file:
        for image in ImageSequence.Iterator(file):
            shown = image.convert("RGB")
            frames += [shown] * max(1, round(file.info.get("duration", 0) * fps / 1000))
    return frames


def count_columns(samples: Sequence[SampleStatus], otherwise: int = 6) -> int:
    """Return how many values the last field of a grid of two fields has; else ``otherwise``."""
    names = {name for f in samples for name in f.sample.values}
    if len(names) != 2:
        return otherwise
    last = [*samples[0].sample.values][-1]
    return len({str(f.sample.values[last]) for f in samples})


def label_lines(f: SampleStatus) -> list[str]:
    """Return a sample's values as two short lines."""
    words = [_shorten(o) for o in f.sample.overrides]
    words += [f.status.reason] if f.status.reason else []
    half = -(-len(words) // 2)
    return [" ".join(words[:half])[:34], " ".join(words[half:])[:34]]


def _shorten(override: str) -> str:
    """Return a short form of an override: ``width=31.2cm`` of ``cloth.sheet.width=31.21784 cm``."""
    path, _, value = override.partition("=")
    number, _, unit = value.partition(" ")
    with suppress(ValueError):
        value = f"{float(number):.3g}{unit}"
    parts = path.split(".")
    name = ".".join(parts[-2:]) if parts[-1].isdecimal() else parts[-1]
    return f"{name}={value}"
