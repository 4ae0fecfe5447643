"""Thumbnails of finished samples, which are rendered once, and contact sheets of them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image as PilImage
from PIL import ImageDraw

from weft.base.errors import SweepError, WeftError
from weft.run.run import Run
from weft.sweep.folder import SweepFolder
from weft.sweep.status import RUN, SampleKind, SampleStatus

if TYPE_CHECKING:
    from weft.show.picture.style import Style

NAME = "thumbnail.png"
WIDTH, HEIGHT = 200, 150  # pixels
LABEL = 26  # pixels below each thumbnail


def thumbnail(sweep: SweepFolder, f: SampleStatus, style: "Style | None" = None) -> Path | None:
    """Return the picture of a sample's last frame; None if it cannot be rendered.

    Args:
        sweep: the sample's sweep.
        f: the sample.
        style: of a picture of its own; None: the one that reports share.
    """
    from weft.show.picture.style import Style

    folder = sweep.place(f.sample)
    path, frames = (
        folder / (NAME if style is None else f"{style.look}.png"),
        folder / RUN / "frames",
    )
    try:
        if style is None and path.is_file() and path.stat().st_mtime >= frames.stat().st_mtime:
            return path
        return Run(folder / RUN).render(path, style=style or Style(width=WIDTH, height=HEIGHT))
    except (OSError, WeftError):
        return None


def find_done(sweep: SweepFolder) -> list[SampleStatus]:
    """Return the samples that are done.

    Raises:
        SweepError: no sample is done.
    """
    done = [f for f in sweep.look() if f.kind is SampleKind.DONE]
    if not done:
        raise SweepError(
            "contact sheet",
            got="no sample",
            where=sweep.path,
            expected="at least one that is done",
        )
    return done


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
    """Write a PNG of thumbnails with labels below, and return its path.

    Args:
        sweep: the samples' sweep.
        samples: those that are done.
        path: of the picture.
        columns: pictures in a row.
        style: of the pictures; None: small ones.
        labels: returns two lines of a sample; None: its values.
    """
    pictures = [(f, thumbnail(sweep, f, style)) for f in samples]
    width, height = (WIDTH, HEIGHT) if style is None else (style.width, style.height)
    rendered = [(f, p) for f, p in pictures if p is not None]
    rows = -(-len(rendered) // columns)
    sheet = PilImage.new("RGB", (columns * width, max(1, rows) * (height + LABEL)), "white")
    draw = ImageDraw.Draw(sheet)
    for k, (f, picture) in enumerate(rendered):
        x, y = (k % columns) * width, (k // columns) * (height + LABEL)
        with PilImage.open(picture) as image:
            sheet.paste(image.convert("RGB"), (x, y))
        for i, text in enumerate((labels or label_lines)(f)):
            draw.text((x + 4, y + height + 12 * i), text, fill="black")
    sheet.save(path)
    return path


def label_lines(f: SampleStatus) -> list[str]:
    """Return a sample's values as two short lines."""
    names = [text.rpartition(".")[2] for text in f.sample.overrides]
    words = [_shorten(o) for o in f.sample.overrides] or names
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
