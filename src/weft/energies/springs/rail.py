"""Rails: polylines along which points slide, and the feet of points on them, in NumPy."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions


@dataclass(frozen=True, eq=False)
class Feet:
    """Nearest places on a rail.

    Args:
        place: (m,3) [m].
        t: (m,3) direction of the segment; zero at corners and ends, where E changes in all
            directions.
        s: (m,) [m] length along the rail as it began.
        slope: (m,) ds per length along t; 1 of a rail that does not stretch.
    """

    place: Positions
    t: Floats
    s: Floats
    slope: Floats


def feet_on(
    x: Positions,
    rail: Positions,
    along: Floats,
    low: Floats | float = -np.inf,
    high: Floats | float = np.inf,
) -> Feet:
    """Return the nearest places on the segments that reach into [low, high].

    Args:
        x: (m,3) [m].
        rail: (p,3) [m].
        along: (p,) [m] lengths along it, as it began.
        low, high: (m,) [m].
    """
    x, d = np.asarray(x), np.diff(rail, axis=0)
    size, step = np.linalg.norm(d, axis=1), np.diff(along)
    t = d / size[:, None]
    u = np.einsum("mki,ki->mk", x[:, None] - rail[None, :-1], t)
    inside = (u > 0) & (u < size)
    u = np.clip(u, 0, size)
    gap = np.linalg.norm(x[:, None] - (rail[:-1] + u[..., None] * t), axis=2)
    low, high = (np.broadcast_to(np.asarray(b), len(x))[:, None] for b in (low, high))
    gap = np.where((along[1:] >= low) & (along[:-1] <= high), gap, np.inf)
    k, m = gap.argmin(axis=1), np.arange(len(x))
    slope = (step / size)[k]
    place = rail[k] + u[m, k, None] * t[k]
    return Feet(place, inside[m, k, None] * t[k], along[k] + slope * u[m, k], slope)
