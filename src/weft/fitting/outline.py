"""A drape's outline seen from above, as a radius over angles, and the numbers that fits use.

About the middle of what the outline encloses, and without the phases of folds: where the specimen
lies in the picture, and how its folds are turned, count for nothing. With c_k the amplitude of the
radius' k-th harmonic, and t its angle,

    coefficient  DC = (A - A_disk)/(A_flat - A_disk)
    depth        sqrt(sum_k c_k^2/2), k >= 2: how far folds stand out, root mean square
    waves        sum_k k c_k^2/sum_k c_k^2: the number of folds, as a mean that changes smoothly
    along        c_2 cos 2 t_2: by how much it is longer along the angle 0 than its mean, and
                 shorter across: where warp lies there, it is stiffer (or softer, below 0) than weft

Single harmonics are not compared: a fold that is a little wider than its neighbors moves power from
one to the next, and from draping to draping of one specimen they differ by half of what they are.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.laboratory.cusick import drape_coefficient
from weft.laboratory.shadow import RAYS, nodes

HARMONICS = (2, 24)  # of folds; 1 is a shift
INWARD = 1e-9  # [m] by which rays miss edges that end on them


@dataclass(frozen=True, eq=False)
class RadialOutline:
    """The outermost radius along rays from the middle of what it encloses."""

    radius: Floats  # (720,) [m]

    @property
    def angle(self) -> Floats:
        """(720,) [rad]."""
        return ray_angles(len(self.radius))

    @property
    def area(self) -> float:
        """[m^2]."""
        return sector_area(self.radius)

    @property
    def coefficient(self) -> float:
        """Drape coefficient of a specimen of 30 cm under a disk of 18 cm."""
        return drape_coefficient(self.area)

    @property
    def amplitude(self) -> Floats:
        """(361,) [m] of harmonics 0 (the mean), 1, 2, ..."""
        c = np.abs(np.fft.rfft(self.radius)) / len(self.radius)
        c[1:] *= 2
        return np.asarray(c)

    @property
    def depth(self) -> float:
        """[m] root mean square of what folds stand out."""
        return float(np.sqrt(0.5 * (self._folds**2).sum()))

    @property
    def waves(self) -> float:
        """Mean number of folds; 0 of a circle."""
        power = self._folds**2
        k = np.arange(HARMONICS[0], HARMONICS[1] + 1)
        return float((k * power).sum() / power.sum()) if power.sum() > 0 else 0.0

    @property
    def nodes(self) -> int:
        """Folds that stand out by 2 mm, as testers count them."""
        return nodes(self.radius)

    @property
    def along(self) -> float:
        """[m] by which it is longer along the angle 0 than its mean, of the second harmonic."""
        return float(2 * (self.radius * np.cos(2 * self.angle)).mean())

    @property
    def numbers(self) -> Floats:
        """(4,) coefficient, depth, waves, along."""
        return np.array([self.coefficient, self.depth, self.waves, self.along])

    def turned(self, angle: float) -> "RadialOutline":
        """Counter-clockwise [rad]; linear between rays."""
        at = self.angle - angle
        return RadialOutline(np.interp(at, self.angle, self.radius, period=2 * np.pi))

    @property
    def _folds(self) -> Floats:
        return self.amplitude[HARMONICS[0] : HARMONICS[1] + 1]

    @property
    def points(self) -> Floats:
        """(720,2) [m] corners, about the middle."""
        return self.radius[:, None] * unit(self.angle)


def ray_angles(rays: int = RAYS) -> Floats:
    """(rays,) [rad] from 0, equal steps."""
    return np.asarray(2 * np.pi * np.arange(rays) / rays)


def unit(angle: Floats) -> Floats:
    """(k,2) directions."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def sector_area(radius: Floats) -> float:
    """[m^2] of the polygon whose corners are at radius (k,) in equal angles."""
    step = 2 * np.pi / len(radius)
    return float(0.5 * np.sin(step) * (radius * np.roll(radius, -1)).sum())


def sector_middle(radius: Floats) -> Floats:
    """(2,) middle of that polygon's area."""
    p = radius[:, None] * unit(ray_angles(len(radius)))
    q = np.roll(p, -1, axis=0)
    twice = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    return np.asarray(((p + q) * twice[:, None]).sum(0) / (3 * twice.sum()))


def outline_of(p: Floats, q: Floats, disk: float = 0.0) -> RadialOutline:
    """The outermost places of edges from p (m,2) to q (m,2) and of a disk about the origin [m].

    The middle is looked for twice: seen from it, the outline is not quite the same.
    """
    middle = np.zeros(2)
    for _ in range(2):
        middle = middle + sector_middle(radii(p - middle, q - middle, disk, -middle))
    return RadialOutline(radii(p - middle, q - middle, disk, -middle))


def radii(p: Floats, q: Floats, disk: float = 0.0, center: Floats | None = None) -> Floats:
    """(720,) [m] largest distance at which rays from the origin meet edges (m,2) or a disk's rim;
    0 where they meet none.
    """
    radius = np.zeros(RAYS)
    ray, edge = _rays_of(p, q)
    direction = unit(ray_angles())[ray]
    a, b = p[edge], q[edge] - p[edge]
    # a + s b = r d, crossed with b: r (d x b) = a x b.
    across = direction[:, 0] * b[:, 1] - direction[:, 1] * b[:, 0]
    met = np.abs(across) > 1e-12 * np.linalg.norm(b, axis=1)
    over = np.where(met, across, 1.0)
    r = np.where(met, (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / over, 0.0)
    np.maximum.at(radius, ray, r)
    if disk > 0:
        c = np.zeros(2) if center is None else center
        d = unit(ray_angles())
        along = d @ c
        inside = along**2 - (c @ c - disk**2)
        rim = along + np.sqrt(np.maximum(inside, 0.0))
        radius = np.maximum(radius, np.where(inside > 0, rim, 0.0))
    return radius


def _rays_of(p: Floats, q: Floats) -> tuple[Ints, Ints]:
    """Which rays each edge meets: pairs of a ray and an edge."""
    start = np.arctan2(p[:, 1], p[:, 0])
    turn = np.arctan2(p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0], p[:, 0] * q[:, 0] + p[:, 1] * q[:, 1])
    low, high = np.minimum(start, start + turn), np.maximum(start, start + turn)
    step = 2 * np.pi / RAYS
    first = np.ceil(low / step - INWARD).astype(np.int64)
    count = np.maximum(np.floor(high / step + INWARD).astype(np.int64) - first + 1, 0)
    edge = np.repeat(np.arange(len(p)), count)
    k = np.arange(len(edge)) - np.repeat(np.cumsum(count) - count, count)
    ray = (first[edge] + k) % RAYS
    return ray.astype(np.int32), edge.astype(np.int32)
