"""Small figures of a report, as SVG: histograms and scatter plots."""

from collections.abc import Sequence
from html import escape

import numpy as np

from weft.base.arrays import Floats

WIDTH, HEIGHT, LEFT, BOTTOM = 260, 130, 8, 22  # pixels
BINS = 24


def histogram(values: Floats, unit: str) -> str:
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


def cloud(x: Floats, y: Floats, unit: str) -> str:
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


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return an HTML table of text."""
    cells = "".join(f"<th>{escape(h)}</th>" for h in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"
