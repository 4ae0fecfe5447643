"""Outline of a drape seen from above, as a radius over angles, and the numbers that fits compare.

The outline is taken about the centroid of its area and without the phases of folds, so the position
of the specimen in the picture and the rotation of its folds have no influence. With c_k the
amplitude of the radius' k-th harmonic, and t_k its angle,

    coefficient  DC = (A - A_disk)/(A_flat - A_disk)
    depth        sqrt(sum_k c_k^2/2), k >= 2: root mean square height of the folds
    waves        sum_k k c_k^2/sum_k c_k^2: the number of folds, as a mean that changes smoothly
    along        c_2 cos 2 t_2: how much longer the outline is along the angle 0 than on average,
                 and shorter across; if the warp lies at the angle 0, it is stiffer than the weft
                 if this is positive, and softer if it is negative

Single harmonics are not compared. A fold that is slightly wider than its neighbors moves power from
one harmonic to the next, and between drapings of one specimen they differ by half of their size.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.polygon import cross, unit_vectors
from weft.plugins.lab.laboratory.cusick import drape_coefficient
from weft.plugins.lab.laboratory.shadow import count_folds, radii, ray_angles

HARMONICS = (2, 24)  # of folds; harmonic 1 is a shift


@dataclass(frozen=True, eq=False)
class RadialOutline:
    """Outermost radius along rays from the centroid of the enclosed area."""

    radius: Floats  # (720,) [m]

    @property
    def angle(self) -> Floats:
        """Return the angles of the rays, (720,) [rad]."""
        return ray_angles(len(self.radius))

    @property
    def area(self) -> float:
        """Return the enclosed area [m^2]."""
        return sector_area(self.radius)

    @property
    def coefficient(self) -> float:
        """Return the drape coefficient of a specimen of 30 cm under a disk of 18 cm."""
        return drape_coefficient(self.area)

    @property
    def amplitude(self) -> Floats:
        """Return the amplitudes of the harmonics 0 (the mean), 1, 2, ... of the radius,
        (361,) [m].
        """
        c = np.abs(np.fft.rfft(self.radius)) / len(self.radius)
        c[1:] *= 2
        return np.asarray(c)

    @property
    def depth(self) -> float:
        """Return the root mean square height of the folds [m]."""
        return float(np.sqrt(0.5 * (self._folds**2).sum()))

    @property
    def waves(self) -> float:
        """Return the mean number of folds; 0 for a circle."""
        power = self._folds**2
        k = np.arange(HARMONICS[0], HARMONICS[1] + 1)
        return float((k * power).sum() / power.sum()) if power.sum() > 0 else 0.0

    @property
    def nodes(self) -> int:
        """Return the number of folds higher than 2 mm, as operators of the test count them."""
        return count_folds(self.radius)

    @property
    def along(self) -> float:
        """Return how much longer the outline is along the angle 0 than on average [m], by harmonic
        2.
        """
        return float(2 * (self.radius * np.cos(2 * self.angle)).mean())

    @property
    def numbers(self) -> Floats:
        """Return coefficient, depth, waves and along, (4,)."""
        return np.array([self.coefficient, self.depth, self.waves, self.along])

    def rotate(self, angle: float) -> "RadialOutline":
        """Return the outline rotated counter-clockwise by ``angle`` [rad], linear between rays."""
        at = self.angle - angle
        return RadialOutline(np.interp(at, self.angle, self.radius, period=2 * np.pi))

    @property
    def _folds(self) -> Floats:
        """Return the amplitudes of the harmonics that count as folds."""
        return self.amplitude[HARMONICS[0] : HARMONICS[1] + 1]

    @property
    def points(self) -> Floats:
        """Return the corners of the outline about its centroid, (720,2) [m]."""
        return self.radius[:, None] * unit_vectors(self.angle)


def sector_area(radius: Floats) -> float:
    """Return the area [m^2] of the polygon with corners at radius (k,) [m] and equally spaced
    angles.
    """
    step = 2 * np.pi / len(radius)
    return float(0.5 * np.sin(step) * (radius * np.roll(radius, -1)).sum())


def sector_middle(radius: Floats) -> Floats:
    """Return the centroid, (2,) [m], of the polygon with corners at radius (k,) [m]."""
    p = radius[:, None] * unit_vectors(ray_angles(len(radius)))
    q = np.roll(p, -1, axis=0)
    twice = cross(p, q)
    return np.asarray(((p + q) * twice[:, None]).sum(0) / (3 * twice.sum()))


def radial_outline(p: Floats, q: Floats, disk: float = 0.0) -> RadialOutline:
    """Return the outer outline of edges and of a disk about the origin.

    The centroid is found by two iterations, because the outline seen from a new center differs
    slightly.

    Args:
        p: (m,2) [m] first ends of the edges.
        q: (m,2) [m] second ends of the edges.
        disk: [m] radius of the disk; 0: none.
    """
    middle = np.zeros(2)
    for _ in range(2):
        middle = middle + sector_middle(radii(p - middle, q - middle, disk, -middle))
    return RadialOutline(radii(p - middle, q - middle, disk, -middle))
