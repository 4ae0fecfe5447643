"""Square tiles of texture space, one for every panel, with the warp up (UDIM)."""

import numpy as np

from weft.base.arrays import CornerUv, Floats

MARGIN = 0.02  # of a tile, around the panel
UPRIGHT = np.array([[0.0, 1.0], [-1.0, 0.0]])  # turns (u, v): the warp points up


def tile_coordinates(uv: CornerUv) -> tuple[CornerUv, Floats, float]:
    """Return coordinates in the tile of a panel (m,3,2), 0 to 1, with the warp up; and the tile's
    lower left corner (2,) [m] and side [m].

    Args:
        uv: (m,3,2) [m] material coordinates.
    """
    upright = uv @ UPRIGHT
    size = float(np.ptp(upright, axis=(0, 1)).max()) / (1 - 2 * MARGIN)
    low = upright.min(axis=(0, 1)) - MARGIN * size
    return (upright - low) / size, low, size
