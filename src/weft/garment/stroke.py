"""Strokes: edges with both their ends, as drawings contain them, not yet part of an outline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import signed_area as area_of
from weft.garment.curves import EdgeCurve
from weft.garment.pattern import BorderCurve, Edge

SAMPLES = 32  # points of a curved stroke, for areas and tests of side
MARKS = 8  # points of a curved stroke of a hole or an inner line: a circle of four arcs has 32


@dataclass(frozen=True, eq=False)
class Stroke:
    """One edge as it is drawn.

    Args:
        curve: its kind.
        points: (2+c,2) [m] its beginning, control points and end.
        name: of the edge.
        seam: word that it has in common with the edges to which it is sewn.
    """

    curve: BorderCurve
    points: Floats
    name: str = ""
    seam: str = ""

    @property
    def start(self) -> Floats:
        """Return the beginning (2,) [m]."""
        return np.asarray(self.points[0])

    @property
    def end(self) -> Floats:
        """Return the end (2,) [m]."""
        return np.asarray(self.points[-1])

    @property
    def edge(self) -> Edge:
        """Return the stroke as an edge of a panel, without its ends."""
        return Edge(self.curve, self.points[1:-1].copy(), self.name)

    def reverse(self) -> "Stroke":
        """Return the stroke drawn from its end to its beginning."""
        return replace(self, points=self.points[::-1].copy())

    def transform(self, linear: Floats, offset: Floats | Sequence[float] = (0.0, 0.0)) -> "Stroke":
        """Return the stroke with every point p mapped to ``linear`` p + ``offset``.

        Args:
            linear: (2,2); for an arc, a similarity.
            offset: (2,) [m].
        """
        return replace(self, points=self.points @ linear.T + np.asarray(offset))

    def sample(self, samples: int = SAMPLES) -> Floats:
        """Return points (s,2) [m] along the stroke, with its beginning and without its end."""
        if self.curve in (BorderCurve.LINE, BorderCurve.POLYLINE):
            return self.points[:-1]
        return EdgeCurve(self.start, self.end, self.edge).at(np.arange(samples) / samples)


def chain_area(strokes: Sequence[Stroke]) -> float:
    """Return the signed area [m^2] inside a closed chain; it is positive if counter-clockwise."""
    return area_of(chain_polygon(strokes))


def orient_chain(strokes: Sequence[Stroke]) -> list[Stroke]:
    """Return a closed chain that runs counter-clockwise; a clockwise one is reversed."""
    if chain_area(strokes) >= 0:
        return list(strokes)
    return [s.reverse() for s in reversed(strokes)]


def chain_polygon(strokes: Sequence[Stroke], samples: int = SAMPLES) -> Floats:
    """Return the points (h,2) [m] of a closed chain."""
    return np.concatenate([s.sample(samples) for s in strokes])
