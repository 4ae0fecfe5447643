"""Edges in pictures, to a fraction of a pixel: along a line across one, where the color is half way
between what is on its two sides there, be these shaded or in a shadow. Exact for a straight edge
whose pixels show the mean of what they cover.

Places are (column, row) in pixels from the picture's upper left corner, pixel centers at halves.
"""

from typing import Any

import numpy as np

from weft.base.arrays import Bools, Floats
from weft.laboratory.shadow import RAYS

REACH, NEXT = 4.0, 2.0  # [pixels] across an edge: its two sides lie between these
FINE = 0.25  # [pixels] of a line across


def sampled(color: Floats, at: Floats) -> Floats:
    """(...,c) of a picture (h,w,c) at places (...,2), linear in between; beyond its border what the
    border has.
    """
    from scipy.ndimage import map_coordinates

    places = np.moveaxis(at, -1, 0)[::-1] - 0.5
    channels = [
        map_coordinates(c, places, order=1, mode="nearest") for c in np.moveaxis(color, 2, 0)
    ]
    return np.stack(channels, axis=-1)


def halfway(color: Floats, at: Floats, outward: Floats) -> Floats:
    """(k,) [pixels] by which places (k,2) near an edge in a picture (h,w,c) have to go along
    directions (k,2) to be on it; 0 where no half-way is found within ``NEXT``.
    """
    t = np.arange(-REACH, REACH + FINE / 2, FINE)
    line = sampled(color, at[:, None] + t[:, None] * outward[:, None])
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


def around(color: Floats, mask: Bools, center: Any, *, first: bool = False) -> Floats:
    """(720,) [pixels] from a center (2,) to the border of a mask, counter-clockwise from the right.

    Args:
        color: (h,w,c) what changes at the border.
        mask: (h,w) that has the center within its outline.
        center: column and row.
        first: where the mask ends for the first time, in place of the last.
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
    fine = rough + halfway(color, center + rough[:, None] * outward, outward)
    return np.asarray(np.maximum(fine, 0.0))
