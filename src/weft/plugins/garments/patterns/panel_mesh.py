"""Meshes of single panels: the sampled outline, holes and inner lines, filled with triangles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from weft.base.arrays import Faces, Floats, Ints
from weft.base.errors import PatternError, WeftError
from weft.discretization.polygon import (
    contains,
    crossing_point,
    divide_loop,
    drop_repeated_end,
    first_crossing,
    orient_loop,
    signed_area,
)
from weft.discretization.triangulate import fill_piece
from weft.plugins.garments.patterns.curves import EdgeCurve, edge_curve
from weft.plugins.garments.patterns.inner_lines import InnerLine
from weft.plugins.garments.patterns.pattern import BorderCurve, Panel


@dataclass(frozen=True, eq=False)
class PanelMesh:
    """The flat mesh of a panel.

    Args:
        points: (n,2) [m] outline from corner 0 on, then holes, inner lines and points inside.
        faces: (m,3) counter-clockwise.
        outline: vertices of every edge, both corners included.
        lines: vertices of every inner line, in its order.
        sewn: numbers of the inner lines that are sewn, whose vertices are those of the seam.
    """

    points: Floats
    faces: Faces
    outline: Sequence[Ints]
    lines: Sequence[Ints]
    sewn: Sequence[int] = ()

    def edge(self, number: int) -> Ints:
        """Return the vertices of an edge, or of an inner line by its number in seams."""
        k = len(self.outline)
        return self.outline[number] if number < k else self.lines[number - k]


def panel_mesh(
    panel: Panel,
    fractions: Mapping[int, Floats],
    lines: Sequence[InnerLine],
    size: float,
    seed: int = 0,
) -> PanelMesh:
    """Return the triangle mesh of a panel.

    Args:
        panel: counter-clockwise.
        fractions: of the length of every edge, and of every inner line that is sewn, at which
            vertices stand, from 0 to 1.
        lines: inside the panel; a vertex of the outline stands at each end that lies on the
            outline.
        size: [m] wanted edge length.
        seed: of the random positions of points inside.

    Raises:
        PatternError: an outline that crosses itself when it is sampled with these fractions, or
            lines that leave it.
    """
    loop, outline, first = [], [], 0
    k = len(panel.corners)
    for e in range(k):
        points = edge_curve(panel, e).points(fractions[e])
        loop.append(points[:-1])
        outline.append(np.arange(first, first + len(points), dtype=np.int32))
        first += len(points) - 1
    outline[-1][-1] = 0
    border = np.concatenate(loop)
    what = f"panel {panel.name}"
    coarse = "use a smaller edge length for curves and narrow parts"
    crossing = first_crossing([border]) if len(border) > 2 else None
    if len(border) < 3 or crossing is not None or signed_area(border) <= 0:
        near = ""
        if crossing is not None:
            near = f" near {np.round(crossing_point([border], crossing), 4).tolist()}"
        raise PatternError(
            what,
            got=f"an outline of {len(border)} points that crosses itself{near}",
            expected="a polygon",
            hint=coarse,
        )
    loops = [border]
    for given in panel.holes:
        hole = drop_repeated_end(np.array(given, dtype=np.float64))
        loops.append(divide_loop(orient_loop(hole), size, False))
    extra = _Extra(sum(map(len, loops)))
    ids = [
        _sample_line(
            _divide_line(line, fractions.get(k + i), size), line, outline, fractions, extra
        )
        for i, line in enumerate(lines)
    ]
    if len(extra.points) and not contains(loops, np.array(extra.points)).all():
        raise PatternError(
            f"{what}: lines", got="points outside", expected="lines inside", hint=coarse
        )
    edges = [np.stack([i[:-1], i[1:]], axis=1) for i in ids]
    inner = np.unique(np.sort(np.concatenate(edges), axis=1), axis=0) if edges else None
    try:
        points, faces = fill_piece(loops, size, seed, np.array(extra.points).reshape(-1, 2), inner)
    except WeftError as error:
        error.what = f"{what}: {error.what}"
        raise
    return PanelMesh(points, faces, outline, ids, [e - k for e in fractions if e >= k])


class _Extra:
    """Points of inner lines, each stored once."""

    def __init__(self, first: int) -> None:
        self.first, self.points = first, list[Floats]()
        self.known: dict[tuple[float, float], int] = {}

    def id(self, point: Floats) -> int:
        """Return the id of the vertex at a point, and add the point if it is new."""
        key = (round(float(point[0]), 9), round(float(point[1]), 9))  # equal to a nanometer
        if key not in self.known:
            self.known[key] = self.first + len(self.points)
            self.points.append(point)
        return self.known[key]


def _divide_line(line: InnerLine, fractions: Floats | None, size: float) -> list[Floats]:
    """Return the points of a line: at fractions of its length, or else at its own points and
    between them at the wanted length.
    """
    if fractions is not None:
        return list(EdgeCurve(BorderCurve.POLYLINE, line.points).points(fractions))
    points = [line.points[0]]
    for a, b in pairwise(line.points):
        n = max(1, round(float(np.linalg.norm(b - a)) / size))
        points += [*(a + k / n * (b - a) for k in range(1, n)), b]
    return points


def _sample_line(
    points: Sequence[Floats],
    line: InnerLine,
    outline: Sequence[Ints],
    fractions: Mapping[int, Floats],
    extra: _Extra,
) -> Ints:
    """Return the vertices at the points of a line; its ends on the outline are vertices there."""
    ids: list[int] = []
    last = len(points) - 1
    for j, point in enumerate(points):
        end = line.first if j == 0 else line.last if j == last else None
        if end is None:
            ids.append(extra.id(point))
        else:
            e, fraction = end
            ids.append(int(outline[e][np.argmin(np.abs(fractions[e] - fraction))]))
    return np.array(ids, dtype=np.int32)
