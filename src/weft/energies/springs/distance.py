"""The distance of a point from what holds it, and its place along a rail.

The point is A = sum_a c_a x_a. It is held by a place b; or by the other end of the spring, if c has
both signs and A is the vector between two points (b is zero then); or by a line through b; or by
its foot on a rail. The nodes of a rail are places plus combinations of further points (a pole that
is part of a rigid body). So d = sum_a w_a x_a - b, in which w of the pole's points depends on the
part xi of the segment at which the foot is. With r = |d|, n = d/r, the segment's direction t and
length L, w' = dw/dxi, and P = I - n n^T - t t^T,

    dr/dx_a = w_a n
    d2r/dx_a dx_b = w_a w_b P/r + (w_a w'_b t n^T + w'_a w_b n t^T)/L - w'_a w'_b r n n^T/L^2

because r is minimal in xi. The place along the rail is s = s_0 + xi S, where S is the length of
the segment at the start, with

    ds/dx_a = S/L w_a t - S/L^2 w'_a d

and the second derivative of xi = (A - r_0).q/q.q with the segment q. At corners and ends of a rail
t and w' are zero.
"""

from typing import Any

import warp as wp

from weft.energies.springs.spring import CoordinateFunctions
from weft.energies.springs.spring_law import SpringNumbers
from weft.kernel import IntArray2d, Scalar, ScalarArray, ScalarArray2d, Vec3Array, mat33, vec2, vec3

# [m] added to distances in quadrature, so that n and phi'/r are finite where A is at its place. It
# changes distances above 1e-4 m by nothing, and energies by less than 1e-24 k.
NEAR = wp.constant(Scalar(1e-12))


@wp.struct
class AttachedPoints:
    """Parameters of m points that are held."""

    c: ScalarArray2d  # (m,k) weights of the first k points of the stencil
    place: Vec3Array  # (m,) [m] b
    axis: Vec3Array  # (m,) direction of a line through b; zero: the place alone
    rail: Vec3Array  # (p,) [m] nodes of the rail; without entries if there is none
    nodes: ScalarArray2d  # (p,0 or 4) weights of the stencil's last points in the nodes
    along: ScalarArray  # (p,) [m] length of the rail up to its nodes, as it began
    low: ScalarArray  # (m,) [m] part of the rail on which the foot is searched
    high: ScalarArray  # (m,)
    law: wp.array(dtype=SpringNumbers)


@wp.struct
class RailFoot:
    """The foot of a point on a rail."""

    place: vec3
    t: vec3  # direction of the segment; zero at a corner and at the ends
    s: Scalar  # [m] length along the rail as it began
    segment: int
    part: Scalar  # xi
    size: Scalar  # [m] L
    step: Scalar  # [m] S


@wp.func
def node(k: int, i: int, x: Vec3Array, stencil: IntArray2d, rail: Vec3Array, w: ScalarArray2d):
    """Return node k of the rail of row i."""
    out = rail[k]
    first = stencil.shape[1] - w.shape[1]
    for b in range(w.shape[1]):
        out += w[k, b] * x[stencil[i, first + b]]
    return out


@wp.func
def foot_on(A: vec3, low: Scalar, high: Scalar, i: int, x: Vec3Array, stencil: IntArray2d, p: Any):
    """Return the nearest place to A on the segments of a rail that reach into [low, high]."""
    found = RailFoot()
    nearest = Scalar(1e300)
    for k in range(p.rail.shape[0] - 1):
        if p.along[k + 1] >= low and p.along[k] <= high:
            start = node(k, i, x, stencil, p.rail, p.nodes)
            d = node(k + 1, i, x, stencil, p.rail, p.nodes) - start
            size = wp.length(d)
            t = d / size
            u = wp.dot(A - start, t)
            inside = Scalar(1.0)
            if u <= Scalar(0.0) or u >= size:
                inside = Scalar(0.0)
            u = wp.clamp(u, Scalar(0.0), size)
            place = start + u * t
            gap = wp.length(A - place)
            if gap < nearest:
                nearest = gap
                found.place = place
                found.t = inside * t
                found.segment = k
                found.part = u / size
                found.size = size
                found.step = p.along[k + 1] - p.along[k]
                found.s = p.along[k] + found.step / size * u
    return found


@wp.struct
class Distance:
    """A distance and a place along a rail, with what their derivatives need."""

    q: vec2  # r and s
    d: vec3
    n: vec3
    foot: RailFoot


@wp.func
def attached_point(i: int, x: Vec3Array, stencil: IntArray2d, p: AttachedPoints):
    """Return A. Reverse mode needs a function of its own for the sum (``kernel.reverse``)."""
    A = vec3(Scalar(0.0))
    for a in range(p.c.shape[1]):
        A += p.c[i, a] * x[stencil[i, a]]
    return A


@wp.func
def measure(i: int, x: Vec3Array, stencil: IntArray2d, p: AttachedPoints):
    """Return the distance of point i from what holds it."""
    A = attached_point(i, x, stencil, p)
    place = p.place[i]
    t = p.axis[i]
    foot = RailFoot()
    foot.size = Scalar(1.0)
    if p.rail.shape[0] > 0:
        foot = foot_on(A, p.low[i], p.high[i], i, x, stencil, p)
        place = foot.place
        t = foot.t
    foot.place = place
    foot.t = t
    d = A - place
    across = d - wp.dot(d, t) * t
    r = wp.sqrt(wp.dot(across, across) + NEAR * NEAR)
    m = Distance()
    m.d = across
    m.n = across / r
    m.q = vec2(r, foot.s)
    m.foot = foot
    return m


@wp.func
def weight(m: Distance, i: int, a: int, p: AttachedPoints):
    """Return w_a, and w'_a."""
    k = p.c.shape[1]
    if a < k:
        return vec2(p.c[i, a], Scalar(0.0))
    here = p.nodes[m.foot.segment, a - k]
    step = p.nodes[m.foot.segment + 1, a - k] - here
    turn = vec2(-(here + m.foot.part * step), -step)
    if wp.dot(m.foot.t, m.foot.t) == Scalar(0.0):
        turn[1] = Scalar(0.0)
    return turn


@wp.func
def along_slope(w: vec2, m: Distance):
    """Return ds/dx_a."""
    scale = m.foot.step / m.foot.size
    return scale * (w[0] * m.foot.t - w[1] / m.foot.size * m.d)


@wp.func
def slope(c: int, m: Distance, i: int, a: int, p: AttachedPoints):
    """Return dr/dx_a (c is 0) or ds/dx_a (c is 1)."""
    w = weight(m, i, a, p)
    if c == 0:
        return w[0] * m.n
    return along_slope(w, m)


@wp.func
def curvature(c: int, m: Distance, i: int, a: int, b: int, p: AttachedPoints):
    """Return the second derivative of r (c is 0) or s (c is 1)."""
    v = weight(m, i, a, p)
    w = weight(m, i, b, p)
    t = m.foot.t
    L = m.foot.size
    eye = wp.identity(n=3, dtype=Scalar)
    if c == 0:
        nn = wp.outer(m.n, m.n)
        H = v[0] * w[0] / m.q[0] * (eye - nn - wp.outer(t, t))
        H += (v[0] * w[1] * wp.outer(t, m.n) + v[1] * w[0] * wp.outer(m.n, t)) / L
        return H - v[1] * w[1] * m.q[0] / (L * L) * nn
    if v[1] == Scalar(0.0) and w[1] == Scalar(0.0):
        return mat33(Scalar(0.0))
    # Derivatives of N and q.q in xi = N/(q.q): dN is bilinear, and d(q.q)/dx_a = -2 w'_a q.
    both = m.foot.step / (L * L) * (v[0] * w[1] + v[1] * w[0])
    ta = Scalar(2.0) * v[1] / L * t
    tb = Scalar(2.0) * w[1] / L * t
    return wp.outer(along_slope(v, m), tb) + wp.outer(ta, along_slope(w, m)) - both * eye


DISTANCE = CoordinateFunctions(2, measure, slope, curvature)
