"""Subpixel localization of edges in pictures.

Along a line across an edge, the edge is where the color is half way between those of its two sides
there, which may be shaded or in a shadow. This is exact for a straight edge whose pixels show the
mean of the area that they cover.

Places are (column, row) in pixels from the picture's upper left corner, pixel centers at halves.
"""

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Bools, Floats
from weft.laboratory.shadow import RAYS

REACH, NEXT = 4.0, 2.0  # [pixels] from an edge: the colors of its sides are taken in between
FINE = 0.25  # [pixels] sampling distance on a line across an edge


def sample_colors(color: Floats, at: Floats) -> Floats:
    """Return the colors of a picture (h,w,c) at places (...,2), linearly interpolated, (...,c).

    Places beyond the border have the color of the border.
    """
    from scipy.ndimage import map_coordinates

    places = np.moveaxis(at, -1, 0)[::-1] - 0.5
    channels = [
        map_coordinates(c, places, order=1, mode="nearest") for c in np.moveaxis(color, 2, 0)
    ]
    return np.stack(channels, axis=-1)


def locate_edges(color: Floats, at: Floats, outward: Floats) -> Floats:
    """Return the distance from places near an edge to the edge, along given directions.

    Args:
        color: (h,w,c) the picture.
        at: (k,2) places.
        outward: (k,2) directions.

    Returns:
        (k,) [pixels]; 0 if there is no half-way color within ``NEXT``.
    """
    t = np.arange(-REACH, REACH + FINE / 2, FINE)
    line = sample_colors(color, at[:, None] + t[:, None] * outward[:, None])
    inside = np.median(line[:, t <= -NEXT], axis=1)
    outside = np.median(line[:, t >= NEXT], axis=1)
    way = inside - outside
    over = np.einsum("ktc,kc->kt", line - 0.5 * (inside + outside)[:, None], way)
    falls = (over[:, :-1] > 0) & (over[:, 1:] <= 0) & (np.abs(t[:-1]) <= NEXT)
    cut = t[:-1] + FINE * over[:, :-1] / np.where(falls, over[:, :-1] - over[:, 1:], 1.0)
    score = np.where(falls, np.abs(cut), np.inf)
    best = score.argmin(1)
    found = np.isfinite(score.min(1))
    return np.where(found, cut[np.arange(len(at)), best], 0.0)


def border_distances(
    color: Floats, mask: Bools, center: ArrayLike, *, first: bool = False
) -> Floats:
    """Return the distances from a center to the border of a mask, counter-clockwise from the right.

    Args:
        color: (h,w,c) channels that change at the border.
        mask: (h,w) mask whose outline encloses the center.
        center: column and row.
        first: true: the first place where a ray leaves the mask; false: the last one.

    Returns:
        (720,) [pixels].
    """
    center = np.asarray(center, dtype=np.float64)
    angle = 2 * np.pi * np.arange(RAYS) / RAYS
    outward = np.stack([np.cos(angle), -np.sin(angle)], axis=1)  # rows count downwards
    r = np.arange(0.0, float(np.hypot(*mask.shape)), 0.5)
    at = center + r[:, None] * outward[:, None]
    height, width = mask.shape
    column, row = np.floor(at[..., 0]).astype(int), np.floor(at[..., 1]).astype(int)
    within = (column >= 0) & (column < width) & (row >= 0) & (row < height)
    cloth = within & mask[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
    if first:
        last = np.maximum((~cloth).argmax(1) - 1, 0)
    else:
        last = len(r) - 1 - cloth[:, ::-1].argmax(1)
    rough = r[last] + 0.25
    fine = rough + locate_edges(color, center + rough[:, None] * outward, outward)
    return np.asarray(np.maximum(fine, 0.0))
