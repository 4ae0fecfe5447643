"""Joint coordinates: displacement of a body along an axis, its tilt, or its angle about a hinge.

A place or a direction of a rigid body is a combination of its four points (also in combination with
points of another body). So a product f = A.B of two of them is bilinear, with A = sum_a w_a x_a +
w_0 and B likewise: the displacement of a body along an axis that turns with another, or the cosine
of the angle between them. The angle about a hinge needs two products, q = atan2(s, p), with

    dq = (p ds - s dp)/r^2,   r^2 = p^2 + s^2
    d2q = (2ps (dp dp^T - ds ds^T) + (s^2 - p^2)(dp ds^T + ds dp^T))/r^4 + (p d2s - s d2p)/r^2

The angle does not depend on r. So it does not change if bodies grow on the way of a search.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions

FARTHEST = 1.25  # multiple of a displacement up to which limits on the way are searched


@dataclass(frozen=True, eq=False)
class BilinearForm:
    """Products f = A.B of m pairs."""

    w: Floats  # (m,k) of A
    w0: Floats  # (m,3)
    u: Floats  # (m,k) of B
    u0: Floats  # (m,3)

    def pair(self, points: Positions) -> tuple[Floats, Floats]:
        """Return A and B, (m,3) each, of points (m,k,3)."""
        A = np.einsum("ma,mai->mi", self.w, points) + self.w0
        return A, np.einsum("ma,mai->mi", self.u, points) + self.u0

    def value(self, points: Positions) -> Floats:
        """Return f, (m,)."""
        A, B = self.pair(points)
        return np.asarray((A * B).sum(1))

    def slope(self, points: Positions) -> Floats:
        """Return df/dx_a, (m,k,3)."""
        A, B = self.pair(points)
        return np.asarray(self.w[:, :, None] * B[:, None] + self.u[:, :, None] * A[:, None])

    def curvature(self) -> Floats:
        """Return d2f/dx_a dx_b, (m,k,k,3,3), which is constant."""
        both = np.einsum("ma,mb->mab", self.w, self.u)
        both = both + np.swapaxes(both, 1, 2)
        return np.asarray(np.einsum("mab,ij->mabij", both, np.eye(3)))

    def on_way(self, points: Positions, way: Floats) -> Floats:
        """Return the coefficients of 1, s and s^2 of f at points + s way, (m,3)."""
        A, B = self.pair(points)
        C, D = (np.einsum("ma,mai->mi", c, way) for c in (self.w, self.u))
        return np.stack([(A * B).sum(1), (A * D + C * B).sum(1), (C * D).sum(1)], axis=1)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Coordinates of m joints, each of k points.

    Args:
        stencil: (m,k).
        first: the coordinate itself, or p of angles.
        second: s of angles; None: the coordinates are no angles.
        near: (m,) [rad] reference; angles are within half a turn of it.
    """

    stencil: Ints
    first: BilinearForm
    second: BilinearForm | None = None
    near: Floats | float = 0.0

    def __len__(self) -> int:
        return len(self.stencil)

    def value(self, x: Positions) -> Floats:
        """Return the coordinates, (m,) [m], [1] or [rad], at positions x (n,3)."""
        points = x[self.stencil]
        p = self.first.value(points)
        if self.second is None:
            return p
        q = np.arctan2(self.second.value(points), p) - self.near
        return np.asarray(self.near + q - 2 * np.pi * np.round(q / (2 * np.pi)))

    def slope(self, x: Positions) -> Floats:
        """Return dq/dx_a, (m,k,3)."""
        points = x[self.stencil]
        if self.second is None:
            return self.first.slope(points)
        p, s = (f.value(points)[:, None, None] for f in (self.first, self.second))
        turned = p * self.second.slope(points) - s * self.first.slope(points)
        return np.asarray(turned / (p * p + s * s))

    def curvature(self, x: Positions) -> Floats:
        """Return d2q/dx_a dx_b, (m,k,k,3,3)."""
        points = x[self.stencil]
        if self.second is None:
            return self.first.curvature()
        wide = (slice(None), *[None] * 4)
        p, s = (f.value(points)[wide] for f in (self.first, self.second))
        dp, ds = self.first.slope(points), self.second.slope(points)
        r_sq = p * p + s * s
        pp, ss, ps = (np.einsum("mai,mbj->mabij", a, b) for a, b in ((dp, dp), (ds, ds), (dp, ds)))
        cross = ps + np.einsum("mai,mbj->mabij", ds, dp)
        bent = p * self.second.curvature() - s * self.first.curvature()
        return np.asarray((2 * p * s * (pp - ss) + (s * s - p * p) * cross) / r_sq**2 + bent / r_sq)

    def reach(self, x: Positions, way: Floats, limit: Floats) -> Floats:
        """Return the part of the way (n,3) from x at which each coordinate meets its limit (m,).

        It is at most ``FARTHEST``, and infinite if the limit is not met before. Limits of angles
        are within half a turn of 0.
        """
        points, d = x[self.stencil], way[self.stencil]
        p = self.first.on_way(points, d)
        if self.second is None:
            off = np.array(p)
            off[:, 0] -= limit
            return np.array([_first_root(c, None) for c in off])
        s, c, n = self.second.on_way(points, d), np.cos(limit)[:, None], np.sin(limit)[:, None]
        off, ahead = s * c - p * n, p * c + s * n  # r sin and r cos of the angle to the limit
        return np.array([_first_root(a, b) for a, b in zip(off, ahead)])


def _first_root(off: Floats, ahead: Floats | None) -> float:
    """Return the first s in (0, ``FARTHEST``] at which ``off`` is zero and ``ahead`` positive.

    Both are parabolas, given by the coefficients of 1, s and s^2. The roots are computed without
    cancellation.
    """
    if not np.isfinite(off).all():
        return np.inf
    a, b, c = off[::-1]
    if abs(a) < 1e-14 * (abs(b) + abs(c)):
        found = [] if b == 0 else [-c / b]
    else:
        root = b * b - 4 * a * c
        if root < 0:
            return np.inf
        h = -0.5 * (b + np.copysign(np.sqrt(root), b))
        found = [h / a] + ([c / h] if h != 0 else [])
    good = [
        s
        for s in found
        if 0 < s <= FARTHEST and (ahead is None or ahead[0] + s * (ahead[1] + s * ahead[2]) > 0)
    ]
    return float(min(good, default=np.inf))
