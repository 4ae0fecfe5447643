"""Detection of the tester's disk in a picture; its known radius gives the scale.

The disk lies on the cloth and has one color, and its rim is a circle if the camera looks straight
down.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Floats
from weft.base.errors import PictureError
from weft.fitting.edges import border_distances
from weft.fitting.picture import ClothPicture, otsu

PATCH = 0.1  # of the cloth's radius: radius of the patch whose color is the disk's
RATIOS = (0.45, 0.99)  # radius of the disk over that of the cloth: 0.6 when flat
ROUND = 0.015  # of its radius: largest root mean square deviation of the rim from a circle
OFF = 2.5  # of the median deviation: points of the rim with a larger one are outliers
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
    disk, off = _circle(cloth.color, found, (column, row))
    ratio = disk.radius / radius
    if not RATIOS[0] < ratio < RATIOS[1]:
        raise _not_found(cloth.where, f"one color up to {ratio:.0%} of the cloth's radius")
    if off > ROUND:
        raise _not_found(cloth.where, f"something {off:.1%} of its radius off a circle")
    return disk


def _circle(color: Floats, mask: Bools, center: tuple[float, float]) -> tuple[Disk, float]:
    """Return the circle through a rim, and the root mean square deviation of the rim over its
    radius.
    """
    column, row = center
    for _ in range(2):  # from the improved center, rays cross the rim at right angles
        r = border_distances(color, mask, (column, row), first=True)
        angle = 2 * np.pi * np.arange(len(r)) / len(r)
        x, y = column + r * np.cos(angle), row - r * np.sin(angle)
        kept = np.ones(len(r), dtype=bool)
        for _ in range(3):
            A = np.stack([x, y, np.ones_like(x)], axis=1)[kept]
            b = (x**2 + y**2)[kept]
            (p, q, c), *_ = np.linalg.lstsq(A, b, rcond=None)  # Kasa's fit
            column, row = float(p / 2), float(q / 2)
            radius = float(np.sqrt(max(c + column**2 + row**2, 0.0)))
            off = np.abs(np.hypot(x - column, y - row) - radius)
            kept = off <= max(OFF * float(np.median(off)), 0.05)
    rms = float(np.sqrt(np.mean(np.minimum(off, 0.2 * radius) ** 2))) / max(radius, 1e-9)
    return Disk(column, row, radius), rms


def _not_found(where: str, got: str) -> PictureError:
    return PictureError(
        "disk in the picture",
        got=got or "none found",
        where=where,
        expected="a circle of one color in the middle of the cloth, seen from straight above",
        hint="give `disk: [column, row, radius]` in pixels, or `pixel: 0.3 mm`",
    )
