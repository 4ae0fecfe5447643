"""Edges as readers meet them: with both their ends, not yet part of an outline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Floats
from weft.garment.curves import EdgeCurve
from weft.garment.curves import area as area_of
from weft.garment.pattern import BorderCurve, Edge

SAMPLES = 32  # of a curved stroke, where only the side that it is on matters
MARKS = 8  # of a curved stroke of a hole or a line inside: a circle has 32


@dataclass(frozen=True, eq=False)
class Stroke:
    """One edge as it is drawn.

    Args:
        curve: its kind.
        points: (2+c,2) [m] its beginning, control points and end.
        name: of the edge.
        seam: word that it shares with the edges that it is sewn to.
    """

    curve: BorderCurve
    points: Floats
    name: str = ""
    seam: str = ""

    @property
    def start(self) -> Floats:
        """(2,) [m]."""
        return np.asarray(self.points[0])

    @property
    def end(self) -> Floats:
        """(2,) [m]."""
        return np.asarray(self.points[-1])

    @property
    def edge(self) -> Edge:
        """As a panel holds it."""
        return Edge(self.curve, self.points[1:-1].copy(), self.name)

    def turned(self) -> "Stroke":
        """Drawn from its end to its beginning."""
        return replace(self, points=self.points[::-1].copy())

    def moved(self, linear: Floats, offset: Floats | Sequence[float] = (0.0, 0.0)) -> "Stroke":
        """Every point p at ``linear`` (2,2) p + ``offset`` (2,); of arcs only by a similarity."""
        return replace(self, points=self.points @ linear.T + np.asarray(offset))

    def sampled(self, samples: int = SAMPLES) -> Floats:
        """(s,2) points along it, with its beginning, without its end."""
        if self.curve in (BorderCurve.LINE, BorderCurve.POLYLINE):
            return self.points[:-1]
        return EdgeCurve(self.start, self.end, self.edge).at(np.arange(samples) / samples)


def area(strokes: Sequence[Stroke]) -> float:
    """[m^2] inside a closed chain; positive where it runs counter-clockwise."""
    return area_of(polygon(strokes))


def counter_clockwise(strokes: Sequence[Stroke]) -> list[Stroke]:
    """The same closed chain from the same point, turned around where it runs clockwise."""
    if area(strokes) >= 0:
        return list(strokes)
    return [s.turned() for s in reversed(strokes)]


def polygon(strokes: Sequence[Stroke], samples: int = SAMPLES) -> Floats:
    """(h,2) a closed chain as points."""
    return np.concatenate([s.sampled(samples) for s in strokes])
