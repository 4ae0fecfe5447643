"""Grippers that move as commanded, and hold the nearby cloth while they are closed."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.plugins.robots.batch.world import Hold

REACH = 0.03  # [m] distance from a gripper within which cloth is gripped
FASTEST = 0.02  # [m] largest displacement along each axis in a step
LOW, HIGH, WIDE = 2e-3, 0.6, 0.5  # [m] least and largest height, and largest |x| and |z|
CARRIED = 8e-3  # [m] least height of gripped cloth, so that it passes over a layer on the table
TAUT = 1.02  # largest distance of two grippers, over their distance in the cloth at rest


class Grippers:
    """The grippers of one world, all open.

    Args:
        places: (g,3) [m] where they start.
        rest: (n,3) [m] positions of the cloth without stretch.
    """

    def __init__(self, places: Sequence[Sequence[float]], rest: Positions) -> None:
        self.rest = rest
        self.x = np.array(places, dtype=np.float64).reshape(-1, 3)
        self.gripped: list[Ints] = [np.zeros(0, dtype=np.int32) for _ in places]

    @property
    def closed(self) -> Floats:
        """(g,) 1 for grippers that hold something, else 0."""
        return np.array([float(len(ids) > 0) for ids in self.gripped])

    def move(self, action: Floats, cloth: Positions) -> Sequence[Hold]:
        """Move the grippers by one step and return what they hold during it.

        Args:
            action: (g,4) in [-1,1]: the displacement over ``FASTEST``; closed if the last is above
                0.
            cloth: (n,3) [m] positions of the cloth.
        """
        before = self.x.copy()
        low, high = np.array([-WIDE, LOW, -WIDE]), np.array([WIDE, HIGH, WIDE])
        ways = np.clip(before + FASTEST * action[:, :3], low, high) - before
        for k, way in enumerate(ways):
            self._grip(k, bool(action[k, 3] > 0), cloth)
            if len(self.gripped[k]):
                way[1] = max(way[1], CARRIED - cloth[self.gripped[k], 1].min())
        if self._pulls(ways, cloth):
            ways[:] = 0.0
        self.x = before + ways
        return [Hold(ids, way) for ids, way in zip(self.gripped, ways) if len(ids)]

    def _grip(self, k: int, close: bool, cloth: Positions) -> None:
        if not close:
            self.gripped[k] = np.zeros(0, dtype=np.int32)
        elif len(self.gripped[k]) == 0:
            near = np.linalg.norm(cloth - self.x[k], axis=1) <= REACH
            for other in self.gripped:
                near[other] = False
            self.gripped[k] = np.flatnonzero(near).astype(np.int32)

    def _pulls(self, ways: Floats, cloth: Positions) -> bool:
        """Return whether two grippers would pull the cloth between them beyond its length."""
        holding = [k for k, ids in enumerate(self.gripped) if len(ids)]
        middles = [cloth[self.gripped[k]].mean(0) for k in holding]
        rest = [self.rest[self.gripped[k]].mean(0) for k in holding]
        for (i, a), (j, b) in combinations(enumerate(holding), 2):
            now = middles[i] - middles[j]
            most = max(TAUT * np.linalg.norm(rest[i] - rest[j]), np.linalg.norm(now))
            if np.linalg.norm(now + ways[a] - ways[b]) > most:
                return True
        return False
