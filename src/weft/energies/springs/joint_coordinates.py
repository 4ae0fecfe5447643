"""Coordinates of joints: how far a body has gone along an axis, how far it is tilted, or turned.

A place or a direction of a rigid body is a combination of its four points (of another body's, or
none). So is a pair A, B of them bilinear, f = A.B with A = sum_a w_a x_a + w_0 and B likewise:
what a body has gone along an axis that turns with another, or the cosine of their angle. The angle
about a hinge is that of two, q = atan2(s, p), with

    dq = (p ds - s dp)/r^2,   r^2 = p^2 + s^2
    d2q = (2ps (dp dp^T - ds ds^T) + (s^2 - p^2)(dp ds^T + ds dp^T))/r^4 + (p d2s - s d2p)/r^2

which no swelling of the bodies on the way of a search changes.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions

FARTHEST = 1.25  # of a way, up to which limits on it are looked for


@dataclass(frozen=True, eq=False)
class Form:
    """m products f = A.B."""

    w: Floats  # (m,k) of A
    w0: Floats  # (m,3)
    u: Floats  # (m,k) of B
    u0: Floats  # (m,3)

    def pair(self, points: Positions) -> tuple[Floats, Floats]:
        """A and B (m,3) of points (m,k,3)."""
        A = np.einsum("ma,mai->mi", self.w, points) + self.w0
        return A, np.einsum("ma,mai->mi", self.u, points) + self.u0

    def value(self, points: Positions) -> Floats:
        """(m,)."""
        A, B = self.pair(points)
        return np.asarray((A * B).sum(1))

    def slope(self, points: Positions) -> Floats:
        """(m,k,3)."""
        A, B = self.pair(points)
        return np.asarray(self.w[:, :, None] * B[:, None] + self.u[:, :, None] * A[:, None])

    def curvature(self) -> Floats:
        """(m,k,k,3,3)."""
        both = np.einsum("ma,mb->mab", self.w, self.u)
        both = both + np.swapaxes(both, 1, 2)
        return np.asarray(np.einsum("mab,ij->mabij", both, np.eye(3)))

    def on_way(self, points: Positions, way: Floats) -> Floats:
        """(m,3) coefficients of 1, s and s^2 of f at points + s way."""
        A, B = self.pair(points)
        C, D = (np.einsum("ma,mai->mi", c, way) for c in (self.w, self.u))
        return np.stack([(A * B).sum(1), (A * D + C * B).sum(1), (C * D).sum(1)], axis=1)


@dataclass(frozen=True, eq=False)
class Coordinates:
    """m coordinates of joints, each of k points.

    Args:
        stencil: (m,k).
        first: the coordinate itself, or p of angles.
        second: s of angles; None: they are none.
        near: (m,) [rad] angles are those within half a turn of these.
    """

    stencil: Ints
    first: Form
    second: Form | None = None
    near: Floats | float = 0.0

    def __len__(self) -> int:
        return len(self.stencil)

    def value(self, x: Positions) -> Floats:
        """(m,) [m], [1] or [rad] at positions x (n,3)."""
        points = x[self.stencil]
        p = self.first.value(points)
        if self.second is None:
            return p
        q = np.arctan2(self.second.value(points), p) - self.near
        return np.asarray(self.near + q - 2 * np.pi * np.round(q / (2 * np.pi)))

    def slope(self, x: Positions) -> Floats:
        """(m,k,3)."""
        points = x[self.stencil]
        if self.second is None:
            return self.first.slope(points)
        p, s = (f.value(points)[:, None, None] for f in (self.first, self.second))
        turned = p * self.second.slope(points) - s * self.first.slope(points)
        return np.asarray(turned / (p * p + s * s))

    def curvature(self, x: Positions) -> Floats:
        """(m,k,k,3,3)."""
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
        """(m,) part of the way (n,3) from x on which each first is at its limit (m,), at most
        ``FARTHEST``; infinite: it does not get there. Of angles, limits within half a turn of 0.
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
    """The first s in (0, ``FARTHEST``] at which a parabola is zero, and another is positive."""
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
