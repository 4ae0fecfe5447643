"""Metrics along the time line: curves on scales of their own, also as a drawing (SVG)."""

import html
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.trees import Json

Values = Sequence[float | None]  # by frame; None where there is no number
DECADES = 8  # decades that a logarithmic scale shows below its largest value


@dataclass(frozen=True)
class PlottedCurve:
    """A plotted metric.

    Args:
        name: among those of ``plots_of``.
        title: for people.
        unit: of the values; empty for a count.
        color: sRGB, as six hexadecimal digits.
        log: logarithms of positive values are plotted.
    """

    name: str
    title: str
    unit: str
    color: str
    log: bool

    def heights(self, values: Values) -> list[float | None]:
        """Return heights from 0 at the bottom of the plot to 1 at its top; None where there is a
        gap.
        """
        log = self.log
        usable = [
            None if v is None or (log and v <= 0) else math.log10(v) if log else float(v)
            for v in values
        ]
        known = [v for v in usable if v is not None]
        if not known:
            return usable
        high = max(known)
        low = max(min(known), high - DECADES) if log else 0.0
        return [None if v is None else max(0.0, (v - low) / ((high - low) or 1)) for v in usable]

    def format_value(self, value: float | None) -> str:
        """Return title and value as text for people."""
        return f"{self.title} {'-' if value is None else f'{value:.3g} {self.unit}'}".strip()


CURVES = (
    PlottedCurve("kinetic", "kinetic energy", "J", "b2182b", True),
    PlottedCurve("least_distance", "smallest distance", "m", "2166ac", True),
    PlottedCurve("iterations", "iterations", "", "4d8a4f", False),
)


def plots_of(records: Sequence[Json], times: Sequence[float]) -> dict[str, list[float | None]]:
    """Return the metrics of the steps that lead to each time [s] from the one before.

    They are the kinetic energy [J] after the last step, the least distance [m] of all steps, and
    the sum of their iterations; None if there is no number.
    """
    found: dict[str, list[float | None]] = {c.name: [] for c in CURVES}
    when = np.array([float(r["t"]) for r in records])
    ends = np.searchsorted(when, np.asarray(times) + 1e-9, side="right").tolist()
    for start, end in zip([0, *ends], ends):
        part = records[start:end]
        near = [(r.get("contact") or {}).get("least_distance") for r in part]
        known = [float(d) for d in near if d is not None and math.isfinite(d)]
        energy = part[-1].get("kinetic") if part else None
        finite = energy is not None and math.isfinite(energy)
        found["kinetic"].append(energy if finite else None)
        found["least_distance"].append(min(known) if known else None)
        found["iterations"].append(sum(int(r["iterations"]) for r in part) if part else None)
    return {k: v for k, v in found.items() if any(x is not None for x in v)}


def draw_curves(
    plots: Mapping[str, Values], at: int | None = None, width: int = 480, height: int = 84
) -> str:
    """Return an SVG drawing of all curves, with their values at a frame above them.

    The text is empty if there is nothing to draw.

    Args:
        plots: as of ``plots_of``.
        at: place of the marked frame; None: no mark, and the values of the last frame.
        width: [pixels], at most; the drawing shrinks with the element around it.
        height: [pixels].
    """
    shown = [c for c in CURVES if c.name in plots]
    if not shown:
        return ""
    count = len(plots[shown[0].name])
    place = count - 1 if at is None else at
    top, across = 17.0, width - 8.0
    down = height - top - 3

    def x(k: int) -> float:
        return 4 + (across * k / (count - 1) if count > 1 else 0.0)

    parts, words = [], []
    for curve in shown:
        values = plots[curve.name]
        for piece in _pieces(curve.heights(values)):
            points = " ".join(f"{x(k):.1f},{top + down * (1 - h):.1f}" for k, h in piece)
            parts.append(f'<polyline points="{points}" fill="none" stroke="#{curve.color}"/>')
        said = html.escape(curve.format_value(values[place]))
        words.append(f'<tspan fill="#{curve.color}">{said}</tspan>')
    parts.append(f'<text x="4" y="11">{"&#160;&#160; ".join(words)}</text>')
    if at is not None:
        mark = f'x1="{x(at):.1f}" x2="{x(at):.1f}" y1="{top - 2}" y2="{height - 2}"'
        parts.append(f'<line {mark} stroke="currentColor" stroke-width="1.5"/>')
    style = f"max-width: {width}px; width: 100%; font: 11px system-ui, sans-serif"
    inside = "".join(parts)
    return f'<svg viewBox="0 0 {width} {height}" style="{style}">{inside}</svg>'


def _pieces(heights: Values) -> Iterator[list[tuple[int, float]]]:
    """Yield the parts of a curve without gaps; a single point is a short line."""
    piece: list[tuple[int, float]] = []
    for k, h in [*enumerate(heights), (-1, None)]:
        if h is not None:
            piece.append((k, h))
        elif piece:
            yield piece if len(piece) > 1 else piece * 2
            piece = []
