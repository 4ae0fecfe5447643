"""Joint coordinates: displacement of a body along an axis, its tilt, or its angle about a hinge.

A place or a direction of a rigid body is a combination of its four points (also in combination with
points of another body). So a product f = A.B of two of them is bilinear, with A = sum_a w_a x_a +
w_0 and B likewise: the displacement of a body along an axis that turns with another, or the cosine
of the angle between them. The angle about a hinge needs two products, q = atan2(s, p), with

    dq = (p ds - s dp)/r^2,   r^2 = p^2 + s^2
    d2q = (2ps (dp dp^T - ds ds^T) + (s^2 - p^2)(dp ds^T + ds dp^T))/r^4 + (p d2s - s d2p)/r^2

The angle does not depend on r. So it does not change if bodies grow on the way of a search.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import ArrayLike

from weft import kernel
from weft.base.arrays import Floats, Ints
from weft.energies.springs.spring import (
    CoordinateFunctions,
    Curvature,
    SpringEnergy,
    SpringKernels,
    SpringLaw,
    spring_kernels,
)
from weft.kernel import (
    IntArray2d,
    Scalar,
    ScalarArray,
    ScalarArray3d,
    Vec3Array,
    Vec3Array2d,
    WarpStruct,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd

FARTHEST = wp.constant(Scalar(1.25))  # multiple of a displacement on which limits are searched
PI = wp.constant(Scalar(np.pi))


@wp.struct
class Joints:
    """Coordinates of m joints: one product A.B, or for angles two."""

    w: ScalarArray3d  # (m,1 or 2,k) coefficients of A
    w0: Vec3Array2d  # (m,1 or 2)
    u: ScalarArray3d  # (m,1 or 2,k) coefficients of B
    u0: Vec3Array2d  # (m,1 or 2)
    near: ScalarArray  # (m,) [rad] angles are within half a turn of it


@wp.struct
class JointPlace:
    """The coordinate of a joint, with the products that it consists of."""

    q: vec2
    A: vec3
    B: vec3
    f: Scalar  # A.B: the coordinate itself, or p of an angle
    A2: vec3
    B2: vec3
    f2: Scalar  # s of an angle


@wp.func
def combine(i: int, c: int, x: Vec3Array, stencil: IntArray2d, w: ScalarArray3d):
    """Return sum_a w_a x_a of product c of joint i."""
    out = vec3(Scalar(0.0))
    for a in range(stencil.shape[1]):
        out += w[i, c, a] * x[stencil[i, a]]
    return out


@wp.func
def joint_place(i: int, x: Vec3Array, stencil: IntArray2d, J: Joints):
    """Return the coordinate of joint i."""
    m = JointPlace()
    m.A = J.w0[i, 0] + combine(i, 0, x, stencil, J.w)
    m.B = J.u0[i, 0] + combine(i, 0, x, stencil, J.u)
    m.f = wp.dot(m.A, m.B)
    q = m.f
    if J.w.shape[1] == 2:
        m.A2 = J.w0[i, 1] + combine(i, 1, x, stencil, J.w)
        m.B2 = J.u0[i, 1] + combine(i, 1, x, stencil, J.u)
        m.f2 = wp.dot(m.A2, m.B2)
        turn = wp.atan2(m.f2, m.f) - J.near[i]
        q = J.near[i] + turn - Scalar(2.0) * PI * wp.rint(turn / (Scalar(2.0) * PI))
    m.q = vec2(q, Scalar(0.0))
    return m


@wp.func
def joint_slope(i: int, a: int, m: JointPlace, J: Joints):
    """Return dq/dx_a."""
    dp = J.w[i, 0, a] * m.B + J.u[i, 0, a] * m.A
    if J.w.shape[1] == 2:
        ds = J.w[i, 1, a] * m.B2 + J.u[i, 1, a] * m.A2
        return (m.f * ds - m.f2 * dp) / (m.f * m.f + m.f2 * m.f2)
    return dp


@wp.func
def joint_curvature(i: int, a: int, b: int, m: JointPlace, J: Joints):
    """Return d2q/dx_a dx_b."""
    eye = wp.identity(n=3, dtype=Scalar)
    d2p = J.w[i, 0, a] * J.u[i, 0, b] + J.u[i, 0, a] * J.w[i, 0, b]
    if J.w.shape[1] == 2:
        p = m.f
        s = m.f2
        r_sq = p * p + s * s
        dpa = J.w[i, 0, a] * m.B + J.u[i, 0, a] * m.A
        dpb = J.w[i, 0, b] * m.B + J.u[i, 0, b] * m.A
        dsa = J.w[i, 1, a] * m.B2 + J.u[i, 1, a] * m.A2
        dsb = J.w[i, 1, b] * m.B2 + J.u[i, 1, b] * m.A2
        d2s = J.w[i, 1, a] * J.u[i, 1, b] + J.u[i, 1, a] * J.w[i, 1, b]
        squares = Scalar(2.0) * p * s * (wp.outer(dpa, dpb) - wp.outer(dsa, dsb))
        cross = (s * s - p * p) * (wp.outer(dpa, dsb) + wp.outer(dsa, dpb))
        return (squares + cross) / (r_sq * r_sq) + (p * d2s - s * d2p) / r_sq * eye
    return d2p * eye


@wp.func
def measure(i: int, x: Vec3Array, stencil: IntArray2d, p: Any):
    """Return the coordinate of joint i."""
    return joint_place(i, x, stencil, p.joints)


@wp.func
def slope(c: int, m: JointPlace, i: int, a: int, p: Any):
    """Return dq/dx_a."""
    return joint_slope(i, a, m, p.joints)


@wp.func
def curvature(c: int, m: JointPlace, i: int, a: int, b: int, p: Any):
    """Return d2q/dx_a dx_b."""
    return joint_curvature(i, a, b, m, p.joints)


JOINT_COORDINATES = CoordinateFunctions(1, measure, slope, curvature)


@wp.func
def product_on_way(i: int, c: int, A: vec3, B: vec3, d: Vec3Array, stencil: IntArray2d, J: Joints):
    """Return the coefficients of 1, s and s^2 of product c at points x + s d."""
    C = combine(i, c, d, stencil, J.w)
    D = combine(i, c, d, stencil, J.u)
    return vec3(wp.dot(A, B), wp.dot(A, D) + wp.dot(C, B), wp.dot(C, D))


@wp.func
def on_way(root: Scalar, ahead: vec3):
    """Return a root if it is in (0, FARTHEST] and ``ahead`` is positive there; else infinity."""
    value = ahead[0] + root * (ahead[1] + root * ahead[2])
    if root > Scalar(0.0) and root <= FARTHEST and value > Scalar(0.0):
        return root
    return Scalar(wp.inf)


@wp.func
def first_root(off: vec3, ahead: vec3):
    """Return the first s in (0, FARTHEST] at which ``off`` is zero and ``ahead`` positive.

    Both are parabolas, given by the coefficients of 1, s and s^2. The roots are computed without
    cancellation.
    """
    a = off[2]
    b = off[1]
    c = off[0]
    if wp.abs(a) < Scalar(1e-14) * (wp.abs(b) + wp.abs(c)):
        if b == Scalar(0.0):
            return Scalar(wp.inf)
        return on_way(-c / b, ahead)
    square = b * b - Scalar(4.0) * a * c
    if square < Scalar(0.0):
        return Scalar(wp.inf)
    size = wp.sqrt(square)
    if b < Scalar(0.0):
        size = -size
    h = Scalar(-0.5) * (b + size)
    first = on_way(h / a, ahead)
    if h != Scalar(0.0):
        first = wp.min(first, on_way(c / h, ahead))
    return first


@wp.func
def reach_of_limit(
    i: int, limit: Scalar, x: Vec3Array, d: Vec3Array, stencil: IntArray2d, J: Joints
):
    """Return the part of the way d from x at which joint i meets a limit.

    It is at most ``FARTHEST``, and infinite if the limit is not met before. Limits of angles are
    within half a turn of 0.
    """
    m = joint_place(i, x, stencil, J)
    if not wp.isfinite(limit):
        return Scalar(wp.inf)
    p = product_on_way(i, 0, m.A, m.B, d, stencil, J)
    if J.w.shape[1] == 2:
        s = product_on_way(i, 1, m.A2, m.B2, d, stencil, J)
        c = wp.cos(limit)
        n = wp.sin(limit)
        # r sin and r cos of the angle to the limit
        return first_root(c * s - n * p, c * p + n * s)
    return first_root(
        p - vec3(limit, Scalar(0.0), Scalar(0.0)), vec3(Scalar(1.0), Scalar(0.0), Scalar(0.0))
    )


@dataclass(frozen=True, eq=False)
class BilinearForm:
    """Products f = A.B of m pairs."""

    w: Floats  # (m,k) of A
    w0: Floats  # (m,3)
    u: Floats  # (m,k) of B
    u0: Floats  # (m,3)


@dataclass(frozen=True, eq=False)
class JointCoordinates:
    """Coordinates of m joints, each of k points.

    Args:
        stencil: (m,k).
        first: the coordinate itself, or p of angles.
        second: s of angles; None: the coordinates are no angles.
    """

    stencil: Ints
    first: BilinearForm
    second: BilinearForm | None = None

    def on_device(self, near: Floats | float = 0.0) -> WarpStruct:
        """Return ``Joints``, with angles within half a turn of ``near`` (m,) [rad]."""
        forms = [f for f in (self.first, self.second) if f is not None]
        J = Joints()
        for name, kind in (("w", Scalar), ("w0", vec3), ("u", Scalar), ("u0", vec3)):
            values = np.stack([getattr(f, name) for f in forms], axis=1)
            setattr(J, name, kernel.array(values, kind))
        J.near = kernel.array(np.broadcast_to(near, len(self.stencil)).astype(np.float64), Scalar)
        return J


def joint_kernels(name: str, law: SpringLaw, curvatures: Mapping[Psd, Curvature]) -> SpringKernels:
    """Build the kernels of springs of joint coordinates; arguments as of ``spring_kernels``."""
    Params = law.Params

    @wp.struct
    class JointElements:
        """Parameters of all springs."""

        joints: Joints
        law: wp.array(dtype=Params)

    return spring_kernels(name, JointElements, JOINT_COORDINATES, law, curvatures)


class JointSpring(SpringEnergy):
    """Springs of joint coordinates. Subclasses are frozen dataclasses."""

    damping = 0.0
    joints: JointCoordinates

    @property
    def stencil(self) -> Ints:
        """Points of each coordinate, (m,k)."""
        return self.joints.stencil

    def at_coordinates(self, near: Floats | float = 0.0, **numbers: ArrayLike) -> WarpStruct:
        """Return parameters with numbers of the law, and angles within half a turn of ``near``."""
        p = self.kernels.Elements()
        p.joints, p.law = self.joints.on_device(near), self.records(**numbers)
        return p
