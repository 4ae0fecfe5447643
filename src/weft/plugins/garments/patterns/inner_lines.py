"""Lines inside a panel that its triangles follow: where they meet the outline and one another."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import arc_lengths, cross
from weft.plugins.garments.patterns.curves import edge_curve
from weft.plugins.garments.patterns.pattern import Panel

SNAP = 0.2  # an end closer to the outline than this part of the wanted length is moved onto it
_TABLE = np.linspace(0, 1, 257)

End = tuple[int, float] | None  # edge and fraction of it; None: inside


@dataclass(frozen=True, eq=False)
class InnerLine:
    """A line inside a panel, ready for meshing.

    Args:
        points: (l,2) [m] its points, and the points where it crosses other lines.
        first, last: places of its ends on the outline; None: the end lies inside.
    """

    points: Floats
    first: End
    last: End


def inner_lines(panel: Panel, size: float) -> list[InnerLine]:
    """Return the lines of a panel, then its folds, ready for meshing.

    Ends near the outline are moved onto it, and lines get points where they cross.

    Args:
        panel: with lines and folds.
        size: [m] wanted edge length.
    """
    given = [p.copy() for p in panel.inner]
    if not given:
        return []
    corners = np.asarray(panel.corners, dtype=np.float64)
    tables = [(curve := edge_curve(panel, e), curve.points(_TABLE)) for e in range(len(corners))]
    on: dict[int, list[float]] = {}

    def end(point: Floats) -> tuple[End, Floats]:
        best, where = SNAP * size, None
        for e, (curve, points) in enumerate(tables):
            distance, fraction = _nearest(points, point)
            if distance < best:
                best, where = distance, (e, fraction, curve)
        if where is None:
            return None, point
        e, fraction, curve = where
        near = SNAP * size / curve.length
        for taken in (0.0, 1.0, *on.get(e, [])):
            if abs(fraction - taken) < near:
                fraction = taken
        on.setdefault(e, []).append(fraction)
        return (e, fraction), curve.points(np.array([fraction]))[0]

    ends = []
    for line in given:
        first, line[0] = end(line[0])
        last, line[-1] = end(line[-1])
        ends.append((first, last))
    return [InnerLine(p, a, b) for p, (a, b) in zip(_add_crossings(given), ends)]


def meeting_fractions(lines: Sequence[InnerLine]) -> list[list[float]]:
    """Return for every line the fractions of its length at which it meets other lines."""
    own = [{tuple(p) for p in line.points.tolist()} for line in lines]
    count = Counter(p for points in own for p in points)
    found = []
    for line in lines:
        along = arc_lengths(line.points)
        shared = [count[tuple(p)] > 1 for p in line.points.tolist()]
        found.append((along[shared] / along[-1]).tolist())
    return found


def _nearest(points: Floats, p: Floats) -> tuple[float, float]:
    """Return the distance [m] of a point from a curve that is sampled at equal fractions, and the
    fraction there.
    """
    a, d = points[:-1], np.diff(points, axis=0)
    t = ((p - a) * d).sum(1) / np.maximum((d * d).sum(1), 1e-300)
    t = np.clip(t, 0, 1)
    distance = np.linalg.norm(a + t[:, None] * d - p, axis=1)
    i = int(np.argmin(distance))
    return float(distance[i]), float((i + t[i]) / (len(points) - 1))


def _add_crossings(lines: Sequence[Floats]) -> list[Floats]:
    """Return the lines with a point on both lines where two of their segments cross."""
    parts = [(i, j) for i, line in enumerate(lines) for j in range(len(line) - 1)]
    extra: dict[tuple[int, int], list[tuple[float, Floats]]] = {}
    for n, (i, j) in enumerate(parts):
        a, b = lines[i][j], lines[i][j + 1]
        for k, m in parts[n + 1 :]:
            if i == k and m == j + 1:
                continue
            c, d = lines[k][m], lines[k][m + 1]
            u, w, e = b - a, d - c, c - a
            det = cross(u, w)
            if abs(det) < 1e-12:
                continue
            s, t = float(cross(e, w) / det), float(cross(e, u) / det)
            tol = 1e-6
            if -tol <= s <= 1 + tol and -tol <= t <= 1 + tol:
                # If the crossing is an end of a segment, use that end itself, without rounding.
                at = a + s * u
                for value, points in ((s, (a, b)), (t, (c, d))):
                    at = (
                        points[0]
                        if abs(value) <= tol
                        else points[1]
                        if abs(1 - value) <= tol
                        else at
                    )
                if tol < s < 1 - tol:
                    extra.setdefault((i, j), []).append((s, at))
                if tol < t < 1 - tol:
                    extra.setdefault((k, m), []).append((t, at))
    found = []
    for i, line in enumerate(lines):
        kept: list[Floats] = []
        for j in range(len(line) - 1):
            kept.append(line[j])
            kept += [p for _, p in sorted(extra.get((i, j), []), key=lambda x: x[0])]
        found.append(np.array([*kept, line[-1]]))
    return found
