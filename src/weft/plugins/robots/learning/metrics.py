"""Measures of success from the literature on robots that handle cloth."""

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Faces, Floats, Ints, Positions
from weft.show.picture.rasterize import TILE, DepthBuffer, rasterize

CELL = 5e-3  # [m] side of a cell
CELLS = 9 * TILE  # along a side of the table: 1.44 m


class TopView:
    """Cells of a table that cloth covers, seen from straight above.

    Args:
        faces: (m,3) of the cloth.
    """

    def __init__(self, faces: Faces) -> None:
        self._faces, self._device_faces = faces, kernel.array(faces, wp.int32)
        self._buffer = DepthBuffer.of(CELLS, CELLS)

    def cells(self, x: Positions) -> Bools:
        """Return the covered cells (c,c) of cloth at positions x (n,3) [m]."""
        points = x[:, [0, 2, 1]] / CELL + [CELLS / 2, CELLS / 2, 1e3]
        rasterize(points, self._faces, self._device_faces, self._buffer)
        return np.asarray(kernel.numpy(self._buffer.face) >= 0)


def coverage(now: Bools, flat: Bools) -> float:
    """Return the covered area over that of the flat cloth, at most 1.

    Source: normalized coverage of Ha and Song 2021, "FlingBot" (CoRL), section 4; the covered area
    of ``flatten`` in Lin et al. 2020, "SoftGym" (CoRL).

    Args:
        now: (c,c) covered cells.
        flat: (c,c) those of the flat cloth.
    """
    return min(float(now.sum() / flat.sum()), 1.0)


def intersection_over_union(now: Bools, goal: Bools) -> float:
    """Return the cells in both masks over those in any.

    Source: Canberk et al. 2022, "Cloth Funnels" (ICRA 2023), with the goal where it is.
    """
    return float((now & goal).sum() / (now | goal).sum())


def particle_distance(x: Positions, pairs: Ints) -> float:
    """Return the mean distance [m] of vertices that a fold brings together.

    Source: ``fold`` of Lin et al. 2020, "SoftGym" (CoRL), without its penalty for drift.

    Args:
        x: (n,3) [m].
        pairs: (n,) for each vertex the one that belongs onto it.
    """
    return float(np.linalg.norm(x - x[pairs], axis=1).mean())


def dressed_share(x: Positions, arm: Positions) -> float:
    """Return the share of an arm that a sleeve surrounds, from the hand on.

    The arm is surrounded at a place if cloth is around it there on all sides: no gap between the
    directions of its vertices within ``SLAB`` reaches half a turn.

    Source: the dressed ratio of an arm in Wang et al. 2023, "One Policy to Dress Them All" (RSS).

    Args:
        x: (n,3) [m] of the sleeve.
        arm: (k,3) [m] of the arm, whose hand points to -x.
    """
    low, high = arm[:, 0].min(), arm[:, 0].max()
    found = []
    for place in np.linspace(low, high, PLACES):
        middle = arm[np.abs(arm[:, 0] - place) < SLAB].mean(0)
        near = x[np.abs(x[:, 0] - place) < SLAB] - middle
        angles: Floats = np.sort(np.arctan2(near[:, 1], near[:, 2]))
        gaps = np.diff(angles, append=angles[:1] + 2 * np.pi)
        found.append(len(near) > 2 and gaps.max() < np.pi)
    return float(np.mean(found))


SLAB = 0.025  # [m] half the length of arm over which cloth is looked for
PLACES = 33  # along the arm
