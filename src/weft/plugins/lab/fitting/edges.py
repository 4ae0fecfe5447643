"""Outlines of regions in pictures, to a fraction of a pixel.

scikit-image traces the border of a mask. Each point of this contour then moves along its normal to
where the color is half way between those of the two sides there, which may be shaded or in a
shadow. This is exact for a straight edge whose pixels show the mean of the area that they cover.
The step is ours because contours of scikit-image lie at one level of the whole picture, and its
edge detectors find whole pixels.

Places are (column, row) in pixels from the picture's upper left corner, pixel centers at halves.
"""

from types import ModuleType

import numpy as np

from weft.base.arrays import Bools, Floats
from weft.base.errors import PictureError
from weft.discretization.polygon import signed_area
from weft.io.extra import optional

REACH, NEXT = 4.0, 2.0  # [pixels] from an edge: the colors of its sides are taken in between
FINE = 0.25  # [pixels] sampling distance on a line across an edge
SPAN = 4  # points of a contour on either side, between which its direction is taken


def scikit_image() -> ModuleType:
    """Return the package scikit-image.

    Raises:
        PictureError: it is not installed.
    """
    return optional("skimage", "photographs", "photographs of cloth", PictureError)


def trace_outline(color: Floats, mask: Bools) -> Floats:
    """Return the outline of a region without holes as a polygon.

    Args:
        color: (h,w,c) channels that change at the border of the region.
        mask: (h,w) the region.

    Returns:
        (k,2) [pixels] its corners in turn, half a pixel to a pixel apart.
    """
    contours = scikit_image().measure.find_contours(mask.astype(np.float64), 0.5)
    corners: Floats = max(contours, key=len)[:-1, ::-1] + 0.5
    along = np.roll(corners, -SPAN, axis=0) - np.roll(corners, SPAN, axis=0)
    outward = np.sign(signed_area(corners)) * along[:, ::-1] * [1.0, -1.0]
    outward /= np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-12)
    return np.asarray(corners + _edge_distances(color, corners, outward)[:, None] * outward)


def _edge_distances(color: Floats, at: Floats, outward: Floats) -> Floats:
    """Return the distance from places near an edge to the edge, along given directions.

    Args:
        color: (h,w,c) the picture; beyond its border it has the color of the border.
        at: (k,2) places.
        outward: (k,2) directions.

    Returns:
        (k,) [pixels]; 0 if there is no half-way color within ``NEXT``.
    """
    from scipy.ndimage import map_coordinates

    t = np.arange(-REACH, REACH + FINE / 2, FINE)
    rows_columns = np.moveaxis(at[:, None] + t[:, None] * outward[:, None], -1, 0)[::-1] - 0.5
    channels = np.moveaxis(color, 2, 0)
    samples = [map_coordinates(c, rows_columns, order=1, mode="nearest") for c in channels]
    line = np.stack(samples, axis=-1)
    inside = np.median(line[:, t <= -NEXT], axis=1)
    outside = np.median(line[:, t >= NEXT], axis=1)
    middle = 0.5 * (inside + outside)
    over = np.einsum("ktc,kc->kt", line - middle[:, None], inside - outside)
    falls = (over[:, :-1] > 0) & (over[:, 1:] <= 0) & (np.abs(t[:-1]) <= NEXT)
    cut = t[:-1] + FINE * over[:, :-1] / np.where(falls, over[:, :-1] - over[:, 1:], 1.0)
    nearest = np.where(falls, np.abs(cut), np.inf).argmin(1)
    return np.where(falls.any(1), cut[np.arange(len(at)), nearest], 0.0)
