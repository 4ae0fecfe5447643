"""Grippers that move as commanded, and hold the nearby cloth while they are closed."""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.worlds.world import Hold

REACH = 0.03  # [m] distance from a gripper within which cloth is gripped
FASTEST = 0.02  # [m] largest displacement along each axis in a step
LOW, HIGH, WIDE = 2e-3, 0.6, 0.5  # [m] least and largest height, and largest |x| and |z|
CARRIED = 8e-3  # [m] least height of gripped cloth, so that it passes over a layer on the table
TAUT = 1.02  # largest distance of two grippers, over their distance in the flat cloth


class Grippers:
    """The grippers of one world, all open, side by side over the table's middle.

    Args:
        count: how many.
        uv: (n,2) [m] material coordinates of the cloth's vertices.
    """

    def __init__(self, count: int, uv: Floats) -> None:
        self.uv = uv
        side = 0.1 * (np.arange(count) - (count - 1) / 2)
        self.x = np.column_stack([np.zeros(count), np.full(count, 0.1), side])
        self.gripped: list[Ints] = [np.zeros(0, dtype=np.int32) for _ in range(count)]

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
        if self._pulls(before + ways, before):
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

    def _pulls(self, after: Positions, before: Positions) -> bool:
        """Return whether two grippers would pull the cloth between them beyond its length."""
        for a in range(len(after)):
            for b in range(a):
                if len(self.gripped[a]) and len(self.gripped[b]):
                    middles = [self.uv[self.gripped[k]].mean(0) for k in (a, b)]
                    most = TAUT * float(np.linalg.norm(middles[0] - middles[1]))
                    apart, now = (np.linalg.norm(x[a] - x[b]) for x in (after, before))
                    if apart > max(most, float(now)):
                        return True
        return False
