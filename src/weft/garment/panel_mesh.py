"""Meshes of single panels: the sampled outline, holes and inner lines, filled with triangles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Faces, Floats, Ints
from weft.base.errors import PatternError, WeftError
from weft.discretization.polygon import (
    contains,
    divide_loop,
    drop_repeated_end,
    first_crossing,
    orient_loop,
    signed_area,
)
from weft.garment.curves import edge_curve
from weft.garment.inner_lines import InnerLine
from weft.garment.pattern import Panel
from weft.garment.triangulate import fill_piece


@dataclass(frozen=True, eq=False)
class PanelMesh:
    """The flat mesh of a panel.

    Args:
        points: (n,2) [m] outline from corner 0 on, then holes, inner lines and points inside.
        faces: (m,3) counter-clockwise.
        outline: vertices of every edge, both corners included.
        lines: vertices of every inner line, in its order.
    """

    points: Floats
    faces: Faces
    outline: Sequence[Ints]
    lines: Sequence[Ints]


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
        fractions: of every edge's length at which vertices stand, from 0 to 1.
        lines: inside the panel; a vertex of the outline stands at each end that lies on the
            outline.
        size: [m] wanted edge length.
        seed: of the random positions of points inside.

    Raises:
        PatternError: an outline that crosses itself when it is sampled with these fractions, or
            lines that leave it.
    """
    loop, outline, first = [], [], 0
    for e in range(len(panel.corners)):
        points = edge_curve(panel, e).points(fractions[e])
        loop.append(points[:-1])
        outline.append(np.arange(first, first + len(points), dtype=np.int32))
        first += len(points) - 1
    outline[-1][-1] = 0
    border = np.concatenate(loop)
    what = f"panel {panel.name}"
    coarse = "is the edge length small enough for its curves and narrow parts?"
    if len(border) < 3 or first_crossing([border]) is not None or signed_area(border) <= 0:
        raise PatternError(
            what,
            got=f"an outline of {len(border)} points that crosses itself",
            expected="a polygon",
            hint=coarse,
        )
    loops = [border]
    for given in panel.holes:
        hole = drop_repeated_end(np.array(given, dtype=np.float64))
        loops.append(divide_loop(orient_loop(hole), size, False))
    extra = _Extra(sum(map(len, loops)))
    ids = [_sample_line(line, outline, fractions, extra, size) for line in lines]
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
    return PanelMesh(points, faces, outline, ids)


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


def _sample_line(
    line: InnerLine,
    outline: Sequence[Ints],
    fractions: Mapping[int, Floats],
    extra: _Extra,
    size: float,
) -> Ints:
    """Return the vertices of a line, divided into parts of the wanted length."""
    ids: list[int] = []
    last = len(line.points) - 1
    for j in range(last + 1):
        end = line.first if j == 0 else line.last if j == last else None
        if end is None:
            ids.append(extra.id(line.points[j]))
        else:
            e, fraction = end
            ids.append(int(outline[e][np.argmin(np.abs(fractions[e] - fraction))]))
        if j < last:
            a, b = line.points[j], line.points[j + 1]
            n = max(1, round(float(np.linalg.norm(b - a)) / size))
            ids += [extra.id(a + k / n * (b - a)) for k in range(1, n)]
    return np.array(ids, dtype=np.int32)
