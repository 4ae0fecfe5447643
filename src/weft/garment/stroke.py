"""Edges as readers meet them: with both their ends, not yet part of an outline."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.arrays import Floats
from weft.garment.pattern import Curve, Edge

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

    curve: Curve
    points: Floats
    name: str = ""
    seam: str = ""

    @property
    def start(self) -> Floats:
        """(2,) [m]."""
        return self.points[0]

    @property
    def end(self) -> Floats:
        """(2,) [m]."""
        return self.points[-1]

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
        p = self.points
        if self.curve in (Curve.LINE, Curve.POLYLINE):
            return p[:-1]
        t = np.arange(samples)[:, None] / samples
        if self.curve is Curve.QUADRATIC:
            return np.asarray((1 - t) ** 2 * p[0] + 2 * t * (1 - t) * p[1] + t**2 * p[2])
        if self.curve is Curve.CUBIC:
            return np.asarray(
                (1 - t) ** 3 * p[0]
                + 3 * t * (1 - t) ** 2 * p[1]
                + 3 * t**2 * (1 - t) * p[2]
                + t**3 * p[3]
            )
        return _arc(p, t)


def _arc(p: Floats, t: Floats) -> Floats:
    """(s,2) points of the circle through three points at fractions t (s,1) of its length."""
    b, c = p[1] - p[0], p[2] - p[0]
    d = 2 * (b[0] * c[1] - b[1] * c[0])
    size = float(np.abs(p - p[0]).max())
    if abs(d) <= 1e-12 * size * size:
        return np.asarray(p[0] + t * c)
    b_sq, c_sq = b @ b, c @ c
    center = p[0] + np.array([c[1] * b_sq - b[1] * c_sq, b[0] * c_sq - c[0] * b_sq]) / d
    first, via, last = (np.arctan2(*(q - center)[::-1]) for q in p)
    sweep, until = (last - first) % (2 * np.pi), (via - first) % (2 * np.pi)
    sweep = sweep if until <= sweep else sweep - 2 * np.pi
    angle = first + t[:, 0] * sweep
    radius = np.linalg.norm(p[0] - center)
    return np.asarray(center + radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def area(strokes: Sequence[Stroke]) -> float:
    """[m^2] inside a closed chain; positive where it runs counter-clockwise."""
    p = np.concatenate([s.sampled() for s in strokes])
    q = np.roll(p, -1, axis=0)
    return 0.5 * float(np.sum(p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1]))


def counter_clockwise(strokes: Sequence[Stroke]) -> list[Stroke]:
    """The same closed chain from the same point, turned around where it runs clockwise."""
    if area(strokes) >= 0:
        return list(strokes)
    return [s.turned() for s in reversed(strokes)]


def polygon(strokes: Sequence[Stroke], samples: int = SAMPLES) -> Floats:
    """(h,2) a closed chain as points."""
    return np.concatenate([s.sampled(samples) for s in strokes])
