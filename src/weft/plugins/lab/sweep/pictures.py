"""Contact sheet of a sweep: a picture of each sample that has ended."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from weft.base.errors import SweepError
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.status import RUN, SampleKind, SampleStatus

WIDTH, RATIO = 400, 0.75  # [pixels] of a picture, and its height over its width
COLUMNS = 4
LETTER = 6  # [pixels] width of a letter of the labels


def write_pictures(sweep: SweepFolder, path: Path, most: int = 48, width: int = WIDTH) -> int:
    """Write a contact sheet, and return its number of samples.

    A sweep of two fields has a row for each value of the first and a column for each value of the
    second. The last frame of a sample that failed is its last good one.

    Args:
        sweep: the sweep.
        path: ``.png``, or ``.webp`` of all frames.
        most: number of samples, which are spread evenly over the plan.
        width: [pixels] of a picture.

    Raises:
        SweepError: no sample has ended.
        RunError: the suffix is another one, or the file cannot be written.
    """
    from weft.show.picture.run_sheet import write_run_sheet
    from weft.show.picture.style import Style

    samples = spread_evenly(find_ended(sweep), most)
    write_run_sheet(
        path,
        [sweep.place(f.sample) / RUN for f in samples],
        [label_lines(f, width // LETTER) for f in samples],
        Style(width=width, height=round(RATIO * width)),
        count_columns(samples),
    )
    return len(samples)


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
            expected="at least one sample that has ended",
        )
    return ended


def spread_evenly(samples: Sequence[SampleStatus], most: int) -> list[SampleStatus]:
    """Return at most ``most`` samples, spread evenly over the plan."""
    if len(samples) <= most:
        return list(samples)
    return [samples[int(k * len(samples) / most)] for k in range(most)]


def count_columns(samples: Sequence[SampleStatus]) -> int:
    """Return the number of values of the second field of two; else ``COLUMNS``, or fewer."""
    names = {name for f in samples for name in f.sample.values}
    if len(names) != 2:
        return min(COLUMNS, len(samples))
    last = [*samples[0].sample.values][-1]
    return len({str(f.sample.values[last]) for f in samples})


def label_lines(f: SampleStatus, length: int = WIDTH // LETTER) -> list[str]:
    """Return a sample's values as two lines of at most ``length`` letters."""
    words = [_shorten(o) for o in f.sample.overrides]
    words += [f.status.reason] if f.status.reason else []
    half = -(-len(words) // 2)
    return [" ".join(words[:half])[:length], " ".join(words[half:])[:length]]


def _shorten(override: str) -> str:
    """Return a short form of an override: ``width=31.2cm`` of ``cloth.sheet.width=31.21784 cm``."""
    path, _, value = override.partition("=")
    number, _, unit = value.partition(" ")
    with suppress(ValueError):
        value = f"{float(number):.3g}{unit}"
    parts = path.split(".")
    name = ".".join(parts[-2:]) if parts[-1].isdecimal() else parts[-1]
    return f"{name}={value}"
