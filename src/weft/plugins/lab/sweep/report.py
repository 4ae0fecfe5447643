"""Report of a sweep: one self-contained HTML file."""

import base64
import shlex
from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SweepError
from weft.io.files import write_file
from weft.plugins.lab.sweep.contact_sheet import label_lines, spread_evenly, thumbnail
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.measures import MEASURES, measure_values, parameter_values
from weft.plugins.lab.sweep.sensitivity import Sensitivity, sensitivity
from weft.plugins.lab.sweep.status import Reason, SampleKind, SampleStatus, counts

SHOWN = (
    "lowest_end",
    "height_end",
    "width_end",
    "depth_end",
    "strain_end",
    "speed_end",
    "intersections",
    "newton",
    "contacts_end",
)
MOST_FAILURES, MOST_CLOUDS = 200, 12
WIDTH, HEIGHT, LEFT, BOTTOM = 260, 130, 8, 22  # pixels
BINS = 24

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1180px; color: #222;
  background: #fff; padding: 0 1rem; }
h1, h2 { font-weight: 600; } h2 { margin-top: 2.2rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; } td, th { padding: .15rem .7rem; text-align: left; }
tr:nth-child(even) td { background: #f4f4f4; }
code, pre { font: 12.5px/1.4 ui-monospace, monospace; background: #f4f4f4; }
pre { padding: .5rem; overflow-x: auto; margin: .2rem 0 .8rem; }
.grid { display: flex; flex-wrap: wrap; gap: 1rem; } figure { margin: 0; }
figcaption { font-size: 12.5px; color: #555; max-width: 260px; overflow-wrap: anywhere; }
svg { background: #fafafa; } rect, circle { fill: #3b6ea5; } circle { fill-opacity: .6; }
line { stroke: #777; } svg text { font-size: 11px; fill: #555; }
.bad img { outline: 3px solid #b3261e; }
"""


def write_report(sweep: SweepFolder, path: Path, thumbnails: int = 48) -> Path:
    """Write the report of a sweep.

    Args:
        sweep: the sweep.
        path: an ``.html`` file.
        thumbnails: number of pictures in the contact sheet.

    Raises:
        SweepError: the suffix is another one.
        RunError: the file cannot be written.
    """
    if path.suffix.lower() not in (".html", ".htm"):
        raise SweepError("report", got=path.suffix or "no suffix", expected=".html")
    samples = sweep.look()
    done = [f for f in samples if f.kind is SampleKind.DONE]
    title = str(sweep.about["description"] or sweep.path.name)
    parts = [
        f"<h1>{escape(title)}</h1>",
        _summary(sweep, samples),
        "<h2>Distributions</h2>" + _distributions(done),
        "<h2>What results depend on</h2>" + _dependence(sweep, samples, done),
        "<h2>Failures</h2>" + _failures(sweep, samples),
        "<h2>Contact sheet</h2>" + _sheet(sweep, done, thumbnails),
    ]
    head = f'<meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    html = f"<!doctype html><html lang=en><head>{head}</head><body>{''.join(parts)}</body></html>\n"
    return write_file(path, html)


def _summary(sweep: SweepFolder, samples: Sequence[SampleStatus]) -> str:
    about = sweep.about
    numbers = counts(samples)
    seconds = [f.status.seconds for f in samples if f.kind is SampleKind.DONE]
    flags = Counter(k for f in samples for k, ok in f.status.flags.items() if not ok)
    rows = [
        ("samples", ", ".join(f"{n} {kind.value}" for kind, n in numbers.items() if n)),
        ("design", f"{about['design']}, seed {about['seed']}"),
        *((f"varies: {path}", values) for path, values in about["vary"].items()),
        ("scene", str(about["scene"])),
        ("the same in all", " ".join(sweep.common) or "nothing else"),
        ("filters", ", ".join(f"{k}: {v}" for k, v in sweep.keep.as_dict().items()) or "none"),
        ("not passed", ", ".join(f"{n} {k}" for k, n in flags.items() if k != "good") or "none"),
        (
            "time",
            f"{sum(seconds):.4g} s in all, {np.mean(seconds or [0]):.3g} s a sample, "
            f"{sweep.threads} thread(s) each",
        ),
        (
            "machine",
            f"{about['machine']['processor']}, weft "
            f"{about['machine']['versions']['weft']}, {about['started']}",
        ),
    ]
    return _table(("", ""), rows)


def _distributions(done: Sequence[SampleStatus]) -> str:
    figures = []
    for name in SHOWN:
        unit, meaning = MEASURES[name]
        figure = _histogram(measure_values(done, name), unit.replace("1", ""))
        if figure:
            caption = f"<b>{name}</b>: {escape(meaning)}"
            figures.append(f"<figure>{figure}<figcaption>{caption}</figcaption></figure>")
    return f'<div class="grid">{"".join(figures)}</div>' if figures else "<p>nothing is done</p>"


def _dependence(
    sweep: SweepFolder, samples: Sequence[SampleStatus], done: Sequence[SampleStatus]
) -> str:
    dependence = sensitivity(sweep, samples, SHOWN)
    if dependence is None:
        return "<p>too few samples, or no parameter that is a number</p>"
    what = "rows of the design" if sweep.about["design"] == "saltelli" else "samples"
    text = (
        f"<p>{escape(dependence.method)}. From {dependence.used} {what}; "
        f"{dependence.left_out} without a result.</p>"
    )
    return text + _effects(dependence) + _clouds(dependence, done)


def _effects(dependence: Sensitivity) -> str:
    paths = list(dict.fromkeys(e.parameter for all_ in dependence.effects.values() for e in all_))
    rows = []
    for name, effects in dependence.effects.items():
        texts = {}
        for e in effects:
            first = f"{e.first:.2f}"
            if e.total is None:
                texts[e.parameter] = f"{first} (p {e.spread:.1g})"
            else:
                texts[e.parameter] = (
                    f"{first} ± {e.spread:.2f}, total {e.total:.2f} ± {e.spread_total:.2f}"
                )
        rows.append([name, *(texts.get(p, "") for p in paths)])
    return _table(("", *paths), rows)


def _clouds(dependence: Sensitivity, done: Sequence[SampleStatus]) -> str:
    """Return scatter plots of the strongest dependences."""
    strongest = sorted(
        (
            (abs(e.first if e.total is None else e.total), name, e.parameter)
            for name, effects in dependence.effects.items()
            for e in effects
        ),
        reverse=True,
    )
    figures = []
    for _, name, path in strongest[:MOST_CLOUDS]:
        values, unit = parameter_values(path, [f.sample for f in done])
        figure = _cloud(values, measure_values(done, name), unit)
        caption = f"<b>{name}</b> over {escape(path)}"
        figures.append(f"<figure>{figure}<figcaption>{caption}</figcaption></figure>")
    return f'<div class="grid">{"".join(figures)}</div>'


def _failures(sweep: SweepFolder, samples: Sequence[SampleStatus]) -> str:
    failed = [f for f in samples if f.kind is SampleKind.FAILED]
    if not failed:
        return "<p>none</p>"
    reasons = Counter(f.status.reason for f in failed)
    rows = [(name, str(n), _advice(name)) for name, n in reasons.most_common()]
    parts = [_table(("reason", "samples", "what to do"), rows)]
    for f in failed[:MOST_FAILURES]:
        command = shlex.join(sweep.reproducer(f.sample, f"reproduced-{f.sample.id}"))
        parts.append(
            f"<p><b>{f.sample.id}</b> {f.status.reason}: {escape(f.status.message)}</p>"
            f"<pre>{escape(command)}</pre>{_image(sweep, f)}"
        )
    if len(failed) > MOST_FAILURES:
        parts.append(f"<p>and {len(failed) - MOST_FAILURES} more: weft sweep status --list</p>")
    return "".join(parts)


def _advice(name: str) -> str:
    return Reason[name].advice if name in Reason.__members__ else ""


def _sheet(sweep: SweepFolder, done: Sequence[SampleStatus], most: int) -> str:
    figures = []
    for f in spread_evenly(done, most):
        image = _image(sweep, f)
        if not image:
            continue
        figures.append(
            f'<figure class="{"" if f.status.good else "bad"}">{image}<figcaption>{f.sample.id}<br>'
            f"{escape(' '.join(label_lines(f)))}</figcaption></figure>"
        )
    note = f"<p>{len(figures)} of {len(done)}; framed in red: not good by the filters.</p>"
    return f'{note}<div class="grid">{"".join(figures)}</div>'


def _image(sweep: SweepFolder, f: SampleStatus) -> str:
    """Return the picture of a sample's last frame; nothing if it cannot be drawn."""
    picture = thumbnail(sweep, f)
    if picture is None:
        return ""
    data = base64.b64encode(picture.read_bytes()).decode()
    return f'<img width=200 alt="{f.sample.id}" src="data:image/png;base64,{data}">'


def _histogram(values: Floats, unit: str) -> str:
    """Return a histogram of values."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return ""
    low, high = float(values.min()), float(values.max())
    if low == high:
        return f"<p class=one>{low:.4g} {escape(unit)} in all {len(values)}</p>"
    counts, _ = np.histogram(values, bins=min(BINS, max(4, int(np.sqrt(len(values))) * 2)))
    wide, tall = (WIDTH - 2 * LEFT) / len(counts), HEIGHT - BOTTOM - 8
    bars = "".join(
        f'<rect x="{LEFT + k * wide:.1f}" y="{8 + tall * (1 - n / counts.max()):.1f}" '
        f'width="{0.9 * wide:.1f}" height="{tall * n / counts.max():.1f}"/>'
        for k, n in enumerate(counts)
    )
    return _svg(bars + _axis(low, high, unit))


def _cloud(x: Floats, y: Floats, unit: str) -> str:
    """Return a scatter plot of a measure over a parameter, one dot per sample."""
    is_finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_finite], y[is_finite]
    if len(x) == 0 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return ""
    tall = HEIGHT - BOTTOM - 8
    px = LEFT + (x - x.min()) / np.ptp(x) * (WIDTH - 2 * LEFT)
    py = 8 + tall * (1 - (y - y.min()) / np.ptp(y))
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2"/>' for a, b in zip(px, py))
    return _svg(dots + _axis(float(x.min()), float(x.max()), unit))


def _axis(low: float, high: float, unit: str) -> str:
    y = HEIGHT - 6
    return (
        f'<line x1="{LEFT}" x2="{WIDTH - LEFT}" y1="{HEIGHT - BOTTOM}" y2="{HEIGHT - BOTTOM}"/>'
        f'<text x="{LEFT}" y="{y}">{low:.4g}</text>'
        f'<text x="{WIDTH - LEFT}" y="{y}" text-anchor="end">{high:.4g} {escape(unit)}</text>'
    )


def _svg(content: str) -> str:
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}">{content}</svg>'


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table of text."""
    cells = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
