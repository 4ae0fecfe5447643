"""Ropes and springs as surfaces: tubes along the strands between their ends.

A taut rope is straight. A slack one is drawn as a parabola of about its length; weft's ropes weigh
nothing, so this shape is only for the eye. A spring is a helix.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.discretization.polygon import normalize

ALONG, AROUND = 120, 6  # points along a strand, and around each of them
TURNS, WIDE = 12, 3.5  # turns of a helix; its radius over that of its wire
LEAD = 0.12  # part of a spring that is straight, at either end
LOOSE, SPRING = 0, 2  # kinds; a strand that has let go is not visible


@dataclass(frozen=True)
class Tubes:
    """Tubes of a number of strands.

    Args:
        count: of strands.
        radius: [m].
    """

    count: int
    radius: float

    @property
    def faces(self) -> Faces:
        """(m,3) faces of all tubes."""
        a, b = np.meshgrid(np.arange(ALONG - 1), np.arange(AROUND), indexing="ij")
        c = (b + 1) % AROUND
        p, q, r, s = (i * AROUND + j for i, j in ((a, b), (a, c), (a + 1, b), (a + 1, c)))
        one = np.stack([np.stack([p, q, s], -1), np.stack([p, s, r], -1)]).reshape(-1, 3)
        first = np.arange(self.count)[:, None, None] * ALONG * AROUND
        return np.asarray((one + first).reshape(-1, 3), dtype=np.int32)

    def positions(self, ends: Floats, lengths: Floats, kinds: Floats) -> Positions:
        """Return (n,3) [m] vertices of all tubes.

        Args:
            ends: (k,2,3) [m].
            lengths: (k,) [m] at rest.
            kinds: (k,) rope, spring, or 0 for a strand that has let go: it is drawn as a point.
        """
        made = [self._tube(*strand) for strand in zip(ends, lengths, kinds)]
        return np.concatenate([np.zeros((0, 3)), *made])

    def _tube(self, ends: Floats, length: float, kind: float) -> Positions:
        if kind == LOOSE:
            return np.repeat(ends[1:], ALONG * AROUND, axis=0)
        path = self._helix(ends) if kind == SPRING else _hanging(ends, float(length))
        tangent = normalize(np.asarray(np.gradient(path, axis=0)))
        axis, _ = _across(ends[1] - ends[0])
        side = normalize(axis - tangent * (tangent @ axis)[:, None])
        other = np.cross(tangent, side)
        turn = 2 * np.pi * np.arange(AROUND) / AROUND
        ring = np.cos(turn)[:, None] * side[:, None] + np.sin(turn)[:, None] * other[:, None]
        return np.asarray((path[:, None] + self.radius * ring).reshape(-1, 3))

    def _helix(self, ends: Floats) -> Positions:
        """Return (p,3) [m] of a spring: straight at both ends, coiled between."""
        u = np.linspace(0.0, 1.0, ALONG)
        inside = np.clip((u - LEAD) / (1 - 2 * LEAD), 0.0, 1.0)
        wide = WIDE * self.radius * np.clip(10 * inside * (1 - inside), 0.0, 1.0)
        a, b = _across(ends[1] - ends[0])
        turn = 2 * np.pi * TURNS * inside
        off = np.cos(turn)[:, None] * a + np.sin(turn)[:, None] * b
        return np.asarray(ends[0] + u[:, None] * (ends[1] - ends[0]) + wide[:, None] * off)


def _hanging(ends: Floats, length: float) -> Positions:
    """Return (p,3) [m] of a rope: straight, or the parabola with a sag that gives about its
    length.
    """
    way = ends[1] - ends[0]
    distance = float(np.linalg.norm(way))
    sag = np.sqrt(max(length - distance, 0.0) * (distance + 2 * length) / 8)
    u = np.linspace(0.0, 1.0, ALONG)[:, None]
    return np.asarray(ends[0] + u * way - 4 * u * (1 - u) * [0.0, sag, 0.0])


def _across(way: Floats) -> tuple[Floats, Floats]:
    """Return two directions (3,) that form a frame with the direction ``way``."""
    size = float(np.linalg.norm(way))
    axis = way / size if size > 0 else np.array([0.0, 1.0, 0.0])
    first = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)
