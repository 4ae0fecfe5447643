"""Detection of the tester's disk in a picture; its known radius gives the scale.

The disk lies on the cloth and has one color, and its rim is a circle if the camera looks straight
down.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import PictureError
from weft.discretization.polygon import signed_area
from weft.fitting.edges import scikit_image, trace_outline
from weft.fitting.picture import ClothPicture, otsu

PATCH = 0.1  # of the cloth's radius: radius of the patch whose color is the disk's
RATIOS = (0.45, 0.99)  # radius of the disk over that of the cloth: 0.6 when flat
# Of its radius: largest root mean square deviation of the rim from a circle; points of the rim with
# a larger deviation do not move the circle.
ROUND = 0.015
TRIALS = 100  # circles through three points of the rim that are tried
DIFFERS = 0.01  # of white: smallest distance in color between cloth and disk


@dataclass(frozen=True)
class Disk:
    """A circle in a picture."""

    column: float  # [pixels] of its center
    row: float
    radius: float


def detect_disk(cloth: ClothPicture) -> Disk:
    """Return the disk on a cloth.

    Raises:
        PictureError: no round region of one color is in the middle of the cloth.
    """
    from scipy import ndimage

    mask = cloth.mask
    row, column = (float(v) + 0.5 for v in ndimage.center_of_mass(mask))
    radius = float(np.sqrt(mask.sum() / np.pi))
    rows, columns = np.indices(mask.shape) + 0.5
    patch = np.hypot(columns - column, rows - row) < PATCH * radius
    middle = np.median(cloth.color[patch], axis=0)
    unlike = np.linalg.norm(cloth.color - middle, axis=2)
    threshold, _ = otsu(unlike[mask][::2])
    same = mask & (unlike < threshold)
    label, _ = ndimage.label(same)
    here = label[int(row), int(column)]
    if here == 0 or threshold < DIFFERS:
        raise _not_found(cloth.where, "all of one color" if threshold < DIFFERS else "")
    found = np.asarray(ndimage.binary_fill_holes(label == here))
    disk, off = _fit_circle(trace_outline(cloth.color, found))
    ratio = disk.radius / radius
    if not RATIOS[0] < ratio < RATIOS[1]:
        raise _not_found(cloth.where, f"one color up to {ratio:.0%} of the cloth's radius")
    if off > ROUND:
        raise _not_found(cloth.where, f"something {off:.1%} of its radius off a circle")
    return disk


def _fit_circle(rim: Floats) -> tuple[Disk, float]:
    """Return the circle of a rim (k,2), and the root mean square deviation of the rim over its
    radius.

    A part of the rim that is no circle, such as a highlight, does not move the circle.
    """
    measure = scikit_image().measure
    near = ROUND * float(np.sqrt(abs(signed_area(rim)) / np.pi))
    circle, _ = measure.ransac(
        rim, measure.CircleModel, min_samples=3, residual_threshold=near, max_trials=TRIALS, rng=0
    )
    (column, row), radius = circle.center, float(circle.radius)
    off = np.minimum(circle.residuals(rim), 0.2 * radius)
    return Disk(float(column), float(row), radius), float(np.sqrt(np.mean(off**2)) / radius)


def _not_found(where: str, got: str) -> PictureError:
    return PictureError(
        "disk in the picture",
        got=got or "none found",
        where=where,
        expected="a circle of one color in the middle of the cloth, seen from straight above",
        hint="give `disk: [column, row, radius]` in pixels, or `pixel: 0.3 mm`",
    )
