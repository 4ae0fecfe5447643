"""Kernels of ties: springs of a point A = sum_a c_a x_a to a place, another point, or a rail.

    E = phi(r),   r = |A - b|,   n = (A - b)/r,   dE/dA = phi' n,
    d2E/dA2 = phi'' n n^T + phi'/r (P - n n^T)

b is a place that the step knows; or zero, if c has both signs and A is the vector between two
points; or the foot of A on a rail, a polyline. P is the identity, on a rail I - t t^T with the
segment's direction t (foot between corners), along which E does not change. With the length L and e
= r - L, phi is k e^2/2, or, if the tie only pulls, with the onset w,

    k e^3/(6 w) for 0 < e < w,   k (e - w/2)^2/2 + k w^2/24 beyond,   0 where e < 0

which is C2. Friction on a rail adds D(s - s_a), with s the length along the rail and s_a the root
of the bristle: D' rises from 0 to mu N over the slip u, as (2 y - y^2) with y = |s - s_a|/u.
"""

from typing import Any

import warp as wp

from weft.kernel import (
    IntArray2d,
    Mat33Array,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Vec2Array,
    Vec3Array,
    Vec3Array2d,
    vec2,
    vec3,
)

_module = wp.get_module("weft.ties")
NEAR = 1e-12  # [m] distance below which two places count as equal, and n as zero


@wp.struct
class PointSpring:
    """Parameters of a tie in the step that is solved."""

    stiffness: Scalar  # [N/m] k; 0: the tie is released
    length: Scalar  # [m] L
    onset: Scalar  # [m] w
    pulls: int  # 1: it only pulls
    place: vec3  # [m] b
    damping: Scalar  # beta/span
    before: Scalar  # [m] r from which damping is measured
    rub: Scalar  # [N] mu N
    root: Scalar  # [m] s_a
    slip: Scalar  # [m] u
    low: Scalar  # [m] part of the rail on which its foot is searched
    high: Scalar


@wp.struct
class PointSpringSet:
    """Ties of an attachment, and its rail (without points if there is none)."""

    stencil: IntArray2d  # (m,k)
    c: ScalarArray2d  # (m,k)
    tie: wp.array(dtype=PointSpring)  # (m,)
    rail: Vec3Array  # (p,) [m]
    along: ScalarArray  # (p,) [m] length of the rail up to its points, as it began


@wp.struct
class RailFoot:
    """The foot of a point on a rail."""

    place: vec3
    t: vec3  # direction of the segment; zero at a corner and at the ends
    s: Scalar  # [m]
    slope: Scalar  # ds per length along t


@wp.func
def foot_on(x: vec3, rail: Vec3Array, s: ScalarArray, low: Scalar, high: Scalar):
    """Return the nearest place on the segments of a rail that reach into [low, high]."""
    found = RailFoot()
    nearest = Scalar(1e300)
    for k in range(rail.shape[0] - 1):
        if s[k + 1] >= low and s[k] <= high:
            d = rail[k + 1] - rail[k]
            size = wp.length(d)
            t = d / size
            u = wp.dot(x - rail[k], t)
            inside = Scalar(1.0)
            if u <= Scalar(0.0) or u >= size:
                inside = Scalar(0.0)
            u = wp.clamp(u, Scalar(0.0), size)
            p = rail[k] + u * t
            gap = wp.length(x - p)
            if gap < nearest:
                nearest = gap
                found.place = p
                found.t = inside * t
                found.slope = (s[k + 1] - s[k]) / size
                found.s = s[k] + found.slope * u
    return found


@wp.func
def spring_potential(r: Scalar, p: PointSpring):
    """Return phi, phi' and phi'' at r."""
    k = p.stiffness
    e = r - p.length
    value = Scalar(0.5) * k * e * e
    slope = k * e
    curve = k
    if p.pulls == 1:
        if e <= Scalar(0.0):
            value = Scalar(0.0)
            slope = Scalar(0.0)
            curve = Scalar(0.0)
        elif e < p.onset:
            value = k * e * e * e / (Scalar(6.0) * p.onset)
            slope = k * e * e / (Scalar(2.0) * p.onset)
            curve = k * e / p.onset
        else:
            h = e - Scalar(0.5) * p.onset
            value = Scalar(0.5) * k * h * h + k * p.onset * p.onset / Scalar(24.0)
            slope = k * h
    return value, slope, curve


@wp.func
def friction_potential(u: Scalar, p: PointSpring):
    """Return D, D' and D'' of the slip u."""
    y = wp.abs(u) / p.slip
    value = p.rub * (wp.abs(u) - p.slip / Scalar(3.0))
    slope = p.rub * wp.sign(u)
    curve = Scalar(0.0)
    if y < Scalar(1.0):
        value = p.rub * p.slip * y * y * (Scalar(1.0) - y / Scalar(3.0))
        slope = p.rub * y * (Scalar(2.0) - y) * wp.sign(u)
        curve = p.rub * (Scalar(2.0) - Scalar(2.0) * y) / p.slip
    return value, slope, curve


@wp.kernel(module=_module)
def respond(
    o: int,
    x: Vec3Array,
    T: PointSpringSet,
    exact: int,
    energy: Vec2Array,
    g: Vec3Array,
    K: Mat33Array,
):
    """Compute E, dissipated energy, dE/dA and d2E/dA2 of every tie.

    If ``exact`` is 0, phi'/r is clamped from below at 0, so that the Hessian is positive
    semi-definite.
    """
    i = o + wp.tid()
    p = T.tie[i]
    zero = Scalar(0.0)
    lost = zero
    d = vec3(zero, zero, zero)
    for a in range(T.stencil.shape[1]):
        d += T.c[i, a] * x[T.stencil[i, a]]
    f = RailFoot()
    f.place = p.place
    if T.rail.shape[0] > 0:
        f = foot_on(d, T.rail, T.along, p.low, p.high)
    d = d - f.place
    r = wp.length(d)
    n = vec3(zero, zero, zero)
    if r > Scalar(NEAR):
        n = d / r
    value, slope, curve = spring_potential(r, p)
    over = p.stiffness  # phi'/r
    if p.length > zero or p.pulls == 1:
        over = zero
        if r > Scalar(NEAR):
            over = slope / r
    if p.damping > zero:
        k = p.stiffness * p.damping
        late = k * (r - p.before)
        lost += Scalar(0.5) * late * (r - p.before)
        slope += late
        curve += k
        if r > Scalar(NEAR):
            over += late / r
    if exact == 0:
        over = wp.max(over, zero)
    nn = wp.outer(n, n)
    tt = wp.outer(f.t, f.t)
    H = curve * nn + over * (wp.identity(n=3, dtype=Scalar) - tt - nn)
    push = slope * n
    if p.rub > zero:
        rubbed, drag, stiff = friction_potential(f.s - p.root, p)
        lost += rubbed
        push += drag * f.slope * f.t
        H += stiff * f.slope * f.slope * tt
    energy[i] = vec2(value, lost)
    g[i] = push
    K[i] = H


@wp.kernel(module=_module)
def shared_out(o: int, c: ScalarArray2d, g: Vec3Array, out: Vec3Array2d):
    """Compute the gradients c_a g of the points from those of A."""
    i = o + wp.tid()
    for a in range(c.shape[1]):
        out[i, a] = c[i, a] * g[i]


def tie_records(m: int) -> Any:
    """Return (m,) records of ``PointSpring``, all zero."""
    import numpy as np

    return np.zeros(m, PointSpring.numpy_dtype())  # type: ignore[attr-defined]
