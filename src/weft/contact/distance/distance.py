"""Distance of a point to a triangle and of an edge to an edge, with all degenerate cases.

One formula serves both. The vector between the closest points of four vertices is v = sum_a w_a
x_a, with weights w that minimize |v|^2 over up to two free parameters p. Because the weights are
optimal, D = |v|^2 has the gradient dD/dx_a = 2 w_a v. With dw_k = dw/dp_k and t_k = dv/dp_k =
sum_a dw_ka x_a (which is orthogonal to v) its second derivative is

    d2D/dx2 = 2 w w^T (x) I - 2 sum_kl (G^-1)_kl c_k c_l^T,
    c_k = dw_k (x) v + w (x) t_k,   G_kl = t_k . t_l.

The number of free parameters tells the cases apart: two for a point above the inside of a triangle
and for edges that cross, one for a point beside an edge, none for two points.
"""

import enum

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.kernel import (
    ByteArray,
    IntArray,
    IntArray2d,
    Scalar,
    ScalarArray,
    Vec3Array,
    WarpArray,
    corners,
    vec3,
    vec4,
)

_module = wp.get_module("weft.contact")


class PairKind(enum.IntEnum):
    """The kind of a pair: what its four vertices are."""

    POINT_TRIANGLE = 0  # (p, a, b, c)
    EDGE_EDGE = 1  # (a, b, c, d): edges a b and c d
    POINT_EDGE = 2  # (p, a, b, -)
    POINT_POINT = 3  # (p, a, -, -)


@wp.struct
class Pairs:
    """Candidate pairs in the form that kernels take: vertex-face pairs first, then edge-edge
    pairs.
    """

    stencil: IntArray2d  # (p+e,4) vertex, face; then edge, edge
    points: wp.int32  # p, the number of vertex-face pairs
    # (p+e,) [m] lower bounds of distances, which hold at the origin of a ``VertexMotion``
    bound: ScalarArray
    # (p+e,) 1: edges of the mesh connect both sides; empty: that makes no difference
    adjacent: ByteArray


@wp.func
def kind_of(i: int, points: int):
    """Return the ``PairKind`` of candidate i: the first ``points`` candidates are vertex-face
    pairs, the others are edge-edge pairs.
    """
    return wp.where(i < points, int(PairKind.POINT_TRIANGLE), int(PairKind.EDGE_EDGE))


@wp.struct
class Closest:
    """The closest points of a pair with four vertices."""

    w: vec4  # weights of the vertices in v
    free: int  # number of free parameters p
    dw0: vec4  # dw/dp of the first free parameter
    dw1: vec4  # dw/dp of the second


@wp.struct
class Separation:
    """The distance that pairs keep: their thickness, and a gap beyond it in which they push.

    ``weft.contact.narrow_phase.adjacent_pairs`` says which pairs are adjacent.
    """

    thickness: ScalarArray  # (n,) [m] of the vertices, or a single one for all
    core_part: ScalarArray  # (n,) part of the stiffness that pairs of a core have; empty: no cores
    gap: Scalar  # [m] beyond the thickness
    adjacent_gap: Scalar  # [m] the same for adjacent pairs
    stiffness: Scalar  # [J/m^4] of the barrier; 0 where only distances matter
    adjacent_stiffness: Scalar  # [J/m^4] of adjacent pairs


def separation(
    thickness: float | WarpArray = 0.0,
    gap: float = 0.0,
    adjacent_gap: float | None = None,
    stiffness: float = 0.0,
    core_part: WarpArray | None = None,
) -> Separation:
    """Return the separation of all pairs.

    The force at half the gap grows as k gap^3: adjacent pairs get the stiffness with which they
    hold the same load at half of their own gap.

    Args:
        thickness: [m] of all vertices, or (n,) of each (``pair_thickness``).
        gap: [m] beyond the thickness.
        adjacent_gap: [m] of adjacent pairs; None: that of all pairs.
        stiffness: [J/m^4] of the barrier.
        core_part: (n,) part of the stiffness that pairs with a core have, 1 at other vertices;
            None: there are no cores.
    """
    out, less = Separation(), gap if adjacent_gap is None else adjacent_gap
    if not isinstance(thickness, wp.array):
        thickness = kernel.array(np.array([thickness], dtype=np.float64), Scalar)
    out.thickness, out.gap, out.adjacent_gap = thickness, gap, less
    if core_part is not None:
        out.core_part = core_part
    if stiffness:
        out.stiffness, out.adjacent_stiffness = stiffness, stiffness * (gap / less) ** 3
    return out


@wp.func
def other_side(kind: int, i: int, stencil: IntArray2d):
    """Return a vertex of the second side of pair i; the first vertex of a pair belongs to the first
    side.
    """
    if kind == PairKind.EDGE_EDGE:
        return stencil[i, 2]
    return stencil[i, 1]


@wp.func
def pair_thickness(kind: int, i: int, stencil: IntArray2d, s: Separation):
    """Return the thickness [m] that pair i keeps: the mean of both sides, each with the largest
    thickness of its vertices.
    """
    last = s.thickness.shape[0] - 1
    a = s.thickness[wp.min(stencil[i, 0], last)]
    b = s.thickness[wp.min(stencil[i, 1], last)]
    c = s.thickness[wp.min(stencil[i, 2], last)]
    d = s.thickness[wp.min(stencil[i, 3], last)]
    if kind == PairKind.EDGE_EDGE:
        return Scalar(0.5) * (wp.max(a, b) + wp.max(c, d))
    if kind == PairKind.POINT_TRIANGLE:
        c = wp.max(c, d)
    if kind != PairKind.POINT_POINT:
        b = wp.max(b, c)
    return Scalar(0.5) * (a + b)


@wp.func
def approach(kind: int, a: vec3, b: vec3, c: vec3, d: vec3):
    """Return by how much [m] displacements a, b, c, d of a pair's vertices reduce its distance at
    most.

    The result is a seminorm of the displacements: the mean of all four is subtracted, because a
    common displacement does not change the distance.
    """
    mean = Scalar(0.25) * (a + b + c + d)
    la = wp.length_sq(a - mean)
    lb = wp.length_sq(b - mean)
    one = la
    other = wp.max(wp.length_sq(c - mean), wp.length_sq(d - mean))
    if kind == PairKind.POINT_TRIANGLE:
        other = wp.max(other, lb)
    else:
        one = wp.max(la, lb)
    return wp.sqrt(one) + wp.sqrt(other)


@wp.func
def distance_loss(kind: int, i: int, stencil: IntArray2d, origin: Vec3Array, x: Vec3Array):
    """Return by how much [m] the distance of pair i at x may be smaller than at ``origin``."""
    a = stencil[i, 0]
    b = stencil[i, 1]
    c = stencil[i, 2]
    d = stencil[i, 3]
    return approach(kind, x[a] - origin[a], x[b] - origin[b], x[c] - origin[c], x[d] - origin[d])


@wp.func
def clamp01(t: Scalar):
    """Return t clamped to [0, 1]."""
    return wp.min(wp.max(t, Scalar(0.0)), Scalar(1.0))


@wp.func
def along_edge(p: vec3, a: vec3, b: vec3):
    """Return the parameter of the point on the edge a b that is closest to p, and 1 if it is inside
    the edge.
    """
    e = b - a
    length_sq = wp.dot(e, e)
    t = Scalar(0.0)
    if length_sq > Scalar(0.0):
        t = wp.dot(p - a, e) / length_sq
    inside = 0
    if t > Scalar(0.0) and t < Scalar(1.0):
        inside = 1
    return clamp01(t), inside


@wp.func
def point_triangle(p: vec3, a: vec3, b: vec3, c: vec3):
    """Return the closest points of p and the triangle a b c.

    The regions are those of Ericson (2005, section 5.1.5). If the closest point is not inside, or
    the triangle has no area, the nearest of its edges is taken.
    """
    zero = Scalar(0.0)
    one = Scalar(1.0)
    out = Closest()
    ab = b - a
    ac = c - a
    n = wp.cross(ab, ac)
    n_sq = wp.dot(n, n)
    v = zero
    u = zero
    inside = 0
    if n_sq > zero:
        ap = p - a
        u = wp.dot(wp.cross(ap, ac), n) / n_sq  # weight of b
        v = wp.dot(wp.cross(ab, ap), n) / n_sq  # weight of c
        if u > zero and v > zero and u + v < one:
            inside = 1
    if inside == 1:
        out.w = vec4(one, u + v - one, -u, -v)
        out.free = 2
        out.dw0 = vec4(zero, one, -one, zero)
        out.dw1 = vec4(zero, one, zero, -one)
        return out
    t0, in0 = along_edge(p, a, b)
    t1, in1 = along_edge(p, b, c)
    t2, in2 = along_edge(p, c, a)
    r0 = p - a - t0 * ab
    r1 = p - b - t1 * (c - b)
    r2 = p - c - t2 * (a - c)
    d0 = wp.dot(r0, r0)
    d1 = wp.dot(r1, r1)
    d2 = wp.dot(r2, r2)
    if d0 <= d1 and d0 <= d2:
        out.w = vec4(one, t0 - one, -t0, zero)
        out.free = in0
        out.dw0 = vec4(zero, one, -one, zero)
    elif d1 <= d2:
        out.w = vec4(one, zero, t1 - one, -t1)
        out.free = in1
        out.dw0 = vec4(zero, zero, one, -one)
    else:
        out.w = vec4(one, -t2, zero, t2 - one)
        out.free = in2
        out.dw0 = vec4(zero, -one, zero, one)
    return out


@wp.func
def edge_edge(a: vec3, b: vec3, c: vec3, d: vec3):
    """Return the closest points of the edges a b and c d: inside both, or at the end of one that is
    nearest to the other.
    """
    zero = Scalar(0.0)
    one = Scalar(1.0)
    out = Closest()
    e = b - a
    f = d - c
    r = c - a
    ee = wp.dot(e, e)
    ff = wp.dot(f, f)
    ef = wp.dot(e, f)
    n = wp.cross(e, f)
    det = wp.dot(n, n)
    inside = 0
    s = zero
    t = zero
    if det > zero:
        s = (wp.dot(r, e) * ff - wp.dot(r, f) * ef) / det
        t = (wp.dot(r, e) * ef - wp.dot(r, f) * ee) / det
        if s > zero and s < one and t > zero and t < one:
            inside = 1
    if inside == 1:
        out.w = vec4(one - s, s, t - one, -t)
        out.free = 2
        out.dw0 = vec4(-one, one, zero, zero)
        out.dw1 = vec4(zero, zero, one, -one)
        return out
    t0, in0 = along_edge(a, c, d)
    t1, in1 = along_edge(b, c, d)
    s0, in2 = along_edge(c, a, b)
    s1, in3 = along_edge(d, a, b)
    r0 = a - c - t0 * f
    r1 = b - c - t1 * f
    r2 = a + s0 * e - c
    r3 = a + s1 * e - d
    d0 = wp.dot(r0, r0)
    d1 = wp.dot(r1, r1)
    d2 = wp.dot(r2, r2)
    d3 = wp.dot(r3, r3)
    least = wp.min(wp.min(d0, d1), wp.min(d2, d3))
    if d0 <= least:
        out.w = vec4(one, zero, t0 - one, -t0)
        out.free = in0
        out.dw0 = vec4(zero, zero, one, -one)
    elif d1 <= least:
        out.w = vec4(zero, one, t1 - one, -t1)
        out.free = in1
        out.dw0 = vec4(zero, zero, one, -one)
    elif d2 <= least:
        out.w = vec4(one - s0, s0, -one, zero)
        out.free = in2
        out.dw0 = vec4(-one, one, zero, zero)
    else:
        out.w = vec4(one - s1, s1, zero, -one)
        out.free = in3
        out.dw0 = vec4(-one, one, zero, zero)
    return out


@wp.func
def closest(kind: int, a: vec3, b: vec3, c: vec3, d: vec3):
    """Return the closest points of a pair of any kind."""
    zero = Scalar(0.0)
    one = Scalar(1.0)
    out = Closest()
    if kind == PairKind.POINT_TRIANGLE:
        out = point_triangle(a, b, c, d)
    elif kind == PairKind.EDGE_EDGE:
        out = edge_edge(a, b, c, d)
    elif kind == PairKind.POINT_EDGE:
        t, inside = along_edge(a, b, c)
        out.w = vec4(one, t - one, -t, zero)
        out.free = inside
        out.dw0 = vec4(zero, one, -one, zero)
    else:
        out.w = vec4(one, -one, zero, zero)
        out.free = 0
    return out


@wp.func
def combination(w: vec4, a: vec3, b: vec3, c: vec3, d: vec3):
    """Return sum_a w_a x_a."""
    return w[0] * a + w[1] * b + w[2] * c + w[3] * d


@wp.func
def closest_at(kind: int, i: int, x: Vec3Array, stencil: IntArray2d):
    """Return the closest points of pair i at x, and the vector between them."""
    a, b, c, d = corners(i, x, stencil)
    p = closest(kind, a, b, c, d)
    return p, combination(p.w, a, b, c, d)


@wp.func
def mollifier(e: vec3, f: vec3, threshold: Scalar):
    """Return m and dm/dC of C = |e x f|^2 for two edges: m = C/eps (2 - C/eps) below eps, else 1.

    Li et al. 2020, eq. 24: m makes the barrier smooth where edges are parallel, because the
    distance of two edges is not smooth there. eps is ``threshold`` [m^4].
    """
    n = wp.cross(e, f)
    r = wp.dot(n, n) / threshold
    m = Scalar(1.0)
    dm = Scalar(0.0)
    if r < Scalar(1.0):
        m = r * (Scalar(2.0) - r)
        dm = (Scalar(2.0) - Scalar(2.0) * r) / threshold
    return m, dm


@wp.kernel(module=_module)
def closest_points(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    kind: IntArray,
    distance: ScalarArray,
    weights: wp.array(dtype=vec4),
):
    """Write the distance and the weights of every pair."""
    i = o + wp.tid()
    p, v = closest_at(kind[i], i, x, stencil)
    distance[i] = wp.length(v)
    weights[i] = p.w


def closest_of(
    x: Positions | WarpArray, stencil: Ints | WarpArray, kind: Ints | WarpArray
) -> tuple[Floats, Floats]:
    """Return distances (m,) [m] and weights (m,4) of the closest points of pairs.

    Args:
        x: (n,3) positions.
        stencil: (m,4) vertices of the pairs.
        kind: (m,) their kinds.
    """
    m = len(stencil)
    distance, weights = kernel.empty(m), kernel.empty(m, vec4)
    pairs = (
        a if isinstance(a, wp.array) else kernel.array(np.asarray(a, np.int32), wp.int32)
        for a in (stencil, kind)
    )
    kernel.launch(closest_points, m, kernel.points(x), *pairs, distance, weights)
    return np.array(kernel.numpy(distance)), np.array(kernel.numpy(weights))


def distances_of(
    x: Positions | WarpArray, stencil: Ints | WarpArray, kind: Ints | WarpArray
) -> Floats:
    """Return the distances of pairs at x (n,3), (m,) [m]."""
    return closest_of(x, stencil, kind)[0]
