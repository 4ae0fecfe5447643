"""The barrier: an energy that rises without bound as the distance of a pair goes to its thickness.

    E = k m(x) b(D - xi^2),   b(y) = -(y - Y)^2 ln(y/Y) for y < Y, else 0

D is the squared distance of the pair, xi the thickness that is always kept, dhat the gap at which
contact begins, Y = (xi + dhat)^2 - xi^2, k the stiffness and m the mollifier of nearly parallel
edges (Li et al. 2020, eqs. 6 and 24; Li et al. 2021). b is twice continuously differentiable.

Hessians. EXACT is the second derivative. PROJECTED and GAUSS_NEWTON are sums of outer products of
vectors f_r (m,5,4 vec3) in closed form; no eigenvalues of a 12 x 12 matrix are computed. With v the
vector between the closest points, n = v/|v|, orthonormal tangents t_k of the free parameters and
orthogonal dw_k (``distance``), the second derivative of b(D) is

    (4 b'' D + 2 b') ww^T (x) nn^T                                      along v
    - 2 b' sum_k [a_k a_k^T + a_k s_k^T + s_k a_k^T],                    turning of v
      a_k = |v| dw_k (x) n,  s_k = w (x) t_k  (a_k orthogonal to s_k)
    + 2 b' ww^T (x) (I - nn^T - sum_k t_k t_k^T)                         across v and all t_k

Because b' < 0, the last line is negative and is dropped. The first line is clamped at zero, and of
every turning term the positive one of its two eigenvalues is kept. The result is a sum of clamped
terms, as for PROJECTED laws. GAUSS_NEWTON keeps the first line alone, times m.

The mollifier m(C), C = |e x f|^2 of the edges e and f, adds

    b m'' dC dC^T + b' m' (dC dD^T + dD dC^T) + b m' d2C,
    d2C = dC dC^T/(2C) + 2 sum_t g_t g_t^T + 2 (e x f) . d2(e x f),   g_t = d((e x f) . t)

for directions t across e x f, of which the one across the edges counts. PROJECTED clamps the 2 x 2
matrix of the terms in dC and dD, the first line above among them, at zero, and keeps g_t. The last
term is at most |e x f|/(|e| |f|) <= 3 % of g_t and is dropped. Without these terms, Newton's
directions turn nearly parallel edges too far, and line searches shorten them again and again.
"""

import warp as wp

from weft.contact.distance.distance import (
    Closest,
    closest,
    closest_at,
    combination,
    mollifier,
    other_side,
)
from weft.kernel import (
    IntArray2d,
    Scalar,
    ScalarArray,
    Vec3Array,
    Vec3Array2d,
    Vec3Array3d,
    corners,
    vec3,
    vec4,
)

_module = wp.get_module("weft.contact")
PARALLEL_PART = Scalar(
    1e-3
)  # of the product of squared rest lengths: below this |e x f|^2, edges count as parallel


@wp.struct
class BarrierParameters:
    """Parameters of the barrier of one pair in contact."""

    kind: int  # a ``PairKind``
    stiffness: Scalar  # [J/m^4] k
    thickness: Scalar  # [m] xi
    gap: Scalar  # [m] dhat
    parallel: Scalar  # [m^4] threshold eps of the mollifier; 0: no mollifier


BarrierArray = wp.array(dtype=BarrierParameters)


@wp.func
def barrier(y: Scalar, Y: Scalar):
    """Return b, b' and b'' at y > 0."""
    value = Scalar(0.0)
    slope = Scalar(0.0)
    second = Scalar(0.0)
    if y < Y:
        logarithm = wp.log(y / Y)
        q = Y / y
        value = -(y - Y) * (y - Y) * logarithm
        slope = (Y - y) * (Scalar(2.0) * logarithm - q + Scalar(1.0))
        second = (q + Scalar(2.0)) * q - Scalar(2.0) * logarithm - Scalar(3.0)
    return value, slope, second


@wp.func
def width(t: BarrierParameters):
    """Return Y [m^2]."""
    return t.gap * (t.gap + Scalar(2.0) * t.thickness)


@wp.func
def barrier_at(t: BarrierParameters, v: vec3):
    """Return b, b' and b'' of a pair with the vector v between its closest points.

    A clamp keeps the logarithm finite at or below the thickness, where the energy is infinite.
    """
    y = wp.max(wp.dot(v, v) - t.thickness * t.thickness, Scalar(1e-300))
    value, slope, second = barrier(y, width(t))
    return value, slope, second


@wp.func
def mollify(t: BarrierParameters, a: vec3, b: vec3, c: vec3, d: vec3):
    """Return m and dm/dC of a pair: 1 and 0 if it has no mollifier."""
    m = Scalar(1.0)
    dm = Scalar(0.0)
    if t.parallel > Scalar(0.0):
        m, dm = mollifier(b - a, d - c, t.parallel)
    return m, dm


@wp.kernel(module=_module)
def set_distances(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    radius: ScalarArray,
    distance: ScalarArray,
):
    """Write the distance between the surfaces of every pair of a contact set; ``radius`` are those
    of cores, an empty array if there are none.
    """
    i = o + wp.tid()
    kind = touch[i].kind
    _p, v = closest_at(kind, i, x, stencil)
    distance[i] = wp.length(v)
    if radius.shape[0] > 0:
        both = radius[stencil[i, 0]] + radius[other_side(kind, i, stencil)]
        distance[i] = distance[i] - both


@wp.kernel(module=_module)
def relative_distance_changes(
    o: int,
    x: Vec3Array,
    d: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    out: ScalarArray,
):
    """Write the relative change of every pair's room by the displacement d, to first order.

    The room of a pair is its distance beyond its thickness.
    """
    i = o + wp.tid()
    t = touch[i]
    p, v = closest_at(t.kind, i, x, stencil)
    da, db, dc, de = corners(i, d, stencil)
    distance = wp.max(wp.length(v), Scalar(1e-300))
    change = wp.abs(wp.dot(combination(p.w, da, db, dc, de), v)) / distance
    out[i] = change / wp.max(distance - t.thickness, Scalar(1e-300))


@wp.kernel(module=_module)
def barrier_energy(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    out: ScalarArray,
):
    """Write E of every pair; infinite at or below the thickness, 0 for unused rows (without a
    gap).
    """
    i = o + wp.tid()
    t = touch[i]
    if t.gap == Scalar(0.0):
        out[i] = Scalar(0.0)
        return
    a, b, c, d = corners(i, x, stencil)
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    y = wp.dot(v, v) - t.thickness * t.thickness
    if y > Scalar(0.0):
        value, _slope, _second = barrier(y, width(t))
        m, _dm = mollify(t, a, b, c, d)
        out[i] = t.stiffness * m * value
    else:
        out[i] = Scalar(wp.inf)


@wp.kernel(module=_module)
def barrier_gradient(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    out: Vec3Array2d,
):
    """Write dE/dx of every pair."""
    i = o + wp.tid()
    t = touch[i]
    a, b, c, d = corners(i, x, stencil)
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    value, slope, _second = barrier_at(t, v)
    m, dm = mollify(t, a, b, c, d)
    two = Scalar(2.0)
    spread(
        i, p, v, two * t.stiffness * m * slope, two * t.stiffness * value * dm, b - a, d - c, out
    )


@wp.func
def spread(i: int, p: Closest, v: vec3, s: Scalar, q: Scalar, e: vec3, f: vec3, out: Vec3Array2d):
    """Write the gradient of E = k m b(D - xi^2) of pair i.

    Args:
        i: number of the pair.
        p: its closest points.
        v: [m] vector between them.
        s: 2 dE/dD = 2 k m b'.
        q: 2 dE/dC = 2 k m' b, 0 without mollifier.
        e, f: [m] edges of a pair of edges, C = |e|^2 |f|^2 - (e.f)^2.
        out: (m,4) gradients of all pairs.
    """
    g0 = (s * p.w[0]) * v
    g1 = (s * p.w[1]) * v
    g2 = (s * p.w[2]) * v
    g3 = (s * p.w[3]) * v
    if q != Scalar(0.0):
        de = q * (wp.dot(f, f) * e - wp.dot(e, f) * f)
        df = q * (wp.dot(e, e) * f - wp.dot(e, f) * e)
        g0 -= de
        g1 += de
        g2 -= df
        g3 += df
    out[i, 0] = g0
    out[i, 1] = g1
    out[i, 2] = g2
    out[i, 3] = g3


@wp.func
def tangents(p: Closest, a: vec3, b: vec3, c: vec3, d: vec3):
    """Return the free parameters as pairs dw_k, t_k with orthonormal t_k and orthogonal dw_k; zero
    for parameters that are not free.
    """
    zero = Scalar(0.0)
    tiny = Scalar(1e-300)
    dw0 = p.dw0
    dw1 = p.dw1
    t0 = combination(dw0, a, b, c, d)
    t1 = combination(dw1, a, b, c, d)
    if p.free < 1:
        dw0 = vec4(zero, zero, zero, zero)
        t0 = vec3(zero, zero, zero)
    else:
        s = Scalar(1.0) / wp.max(wp.length(t0), tiny)
        dw0 = s * dw0
        t0 = s * t0
    if p.free < 2:
        dw1 = vec4(zero, zero, zero, zero)
        t1 = vec3(zero, zero, zero)
    else:
        along = wp.dot(t1, t0)
        dw1 = dw1 - along * dw0
        t1 = t1 - along * t0
        s = Scalar(1.0) / wp.max(wp.length(t1), tiny)
        dw1 = s * dw1
        t1 = s * t1
        # Jacobi's rotation makes the dw orthogonal; the t stay orthonormal.
        mixed = wp.dot(dw0, dw1)
        angle = Scalar(0.5) * wp.atan2(Scalar(2.0) * mixed, wp.dot(dw0, dw0) - wp.dot(dw1, dw1))
        cos = wp.cos(angle)
        sin = wp.sin(angle)
        w0 = cos * dw0 + sin * dw1
        dw1 = cos * dw1 - sin * dw0
        dw0 = w0
        u0 = cos * t0 + sin * t1
        t1 = cos * t1 - sin * t0
        t0 = u0
    return dw0, t0, dw1, t1


@wp.func
def turning(dw: vec4, length: Scalar, w: vec4):
    """Return the positive eigenpair of a a^T + a s^T + s a^T, as p and q of its vector f.

    f = p dw (x) n + q w (x) t is the unit eigenvector times the square root of its eigenvalue.
    """
    zero = Scalar(0.0)
    aa = length * length * wp.dot(dw, dw)  # |a|^2
    ss = wp.dot(w, w)  # |s|^2
    p = zero
    q = zero
    if aa > zero:
        # In the basis of a/|a| and s/|s| the matrix is [[aa, g], [g, 0]], g = |a||s|.
        g_sq = aa * ss
        root = wp.sqrt(Scalar(0.25) * aa * aa + g_sq)
        positive = Scalar(0.5) * aa + root
        # Eigenvector (positive, g), of squared length positive^2 + g^2.
        scale = wp.sqrt(positive / (positive * positive + g_sq))
        p = scale * positive / wp.sqrt(aa) * length
        q = scale * wp.sqrt(g_sq) / wp.sqrt(ss)
    return p, q


@wp.func
def add_mollifier_factors(
    i: int,
    t: BarrierParameters,
    w: vec4,
    v: vec3,
    along: Scalar,
    value: Scalar,
    slope: Scalar,
    dm: Scalar,
    e: vec3,
    f: vec3,
    out: Vec3Array3d,
):
    """Replace f_0 of a pair of nearly parallel edges by f_0 and f_3, and write f_4: see above.

    Args:
        i: number of the pair.
        t: parameters of its barrier.
        w: weights of the closest points.
        v: [m] vector between them.
        along: square root of the curvature along v, which f_0 is made of.
        value, slope: b and b'.
        dm: m' of the mollifier.
        e, f: [m] edges.
        out: (m,5,4) factors of all pairs.
    """
    zero = Scalar(0.0)
    half = Scalar(0.5)
    two = Scalar(2.0)
    ee = wp.dot(e, e)
    ff = wp.dot(f, f)
    sum = ee + ff
    normal = wp.cross(e, f)
    C = wp.dot(normal, normal)
    across = wp.cross(
        e, wp.where(wp.abs(e[0]) < wp.abs(e[1]), vec3(1.0, 0.0, 0.0), vec3(0.0, 1.0, 0.0))
    )
    if zero < C:
        across = normal
    across = across / wp.length(across)
    curving = -two / (t.parallel * t.parallel)  # m''
    length = wp.length(v)
    n = v / wp.max(length, Scalar(1e-300))
    ww = wp.length(w)
    # The matrix [[A, B], [B, G]] in the unit vectors along dD and dC, and its eigenpairs.
    A = along * along * ww * ww
    B = two * t.stiffness * dm * slope * length * ww * wp.sqrt(Scalar(8.0) * C * sum)
    G = Scalar(4.0) * t.stiffness * value * sum * (dm + two * C * curving)
    angle = half * wp.atan2(two * B, A - G)
    cos = wp.cos(angle)
    sin = wp.sin(angle)
    radius = wp.sqrt(half * half * (A - G) * (A - G) + B * B)
    first = wp.sqrt(wp.max(half * (A + G) + radius, zero))
    second = wp.sqrt(wp.max(half * (A + G) - radius, zero))
    unit = Scalar(1.0) / wp.sqrt(two * sum)
    C_e = unit * wp.cross(f, across)
    C_f = unit * wp.cross(across, e)
    tilted = wp.cross(across, e) / wp.sqrt(ee)
    tilt = wp.sqrt(two * t.stiffness * dm * value)
    tilt_e = tilt * wp.cross(f, tilted)
    tilt_f = tilt * wp.cross(tilted, e)
    sign = vec4(Scalar(-1.0), Scalar(1.0), Scalar(-1.0), Scalar(1.0))
    for j in range(4):
        by_C = wp.where(j < 2, C_e, C_f) * sign[j]
        by_D = (w[j] / ww) * n
        out[i, 0, j] = first * (cos * by_D + sin * by_C)
        out[i, 3, j] = second * (cos * by_C - sin * by_D)
        out[i, 4, j] = wp.where(j < 2, tilt_e, tilt_f) * sign[j]


@wp.kernel(module=_module)
def barrier_factors(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    turn: int,
    out: Vec3Array3d,
):
    """Write f_r of every pair, (m,5,4): the projected Hessian is the sum of f_r f_r^T. Without
    ``turn`` all but the first are zero (GAUSS_NEWTON).
    """
    i = o + wp.tid()
    zero = Scalar(0.0)
    t = touch[i]
    a, b, c, d = corners(i, x, stencil)
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    D = wp.dot(v, v)
    value, slope, second = barrier_at(t, v)
    m, dm = mollify(t, a, b, c, d)
    k = t.stiffness * m
    length = wp.sqrt(D)
    n = v / wp.max(length, Scalar(1e-300))
    along = wp.sqrt(k * wp.max(Scalar(4.0) * second * D + Scalar(2.0) * slope, zero))
    for j in range(4):
        out[i, 0, j] = (along * p.w[j]) * n
    if turn == 0:
        for r in range(1, 5):
            for j in range(4):
                out[i, r, j] = vec3(zero, zero, zero)
        return
    dw0, t0, dw1, t1 = tangents(p, a, b, c, d)
    root = wp.sqrt(-Scalar(2.0) * k * slope)
    p0, q0 = turning(dw0, length, p.w)
    p1, q1 = turning(dw1, length, p.w)
    for j in range(4):
        out[i, 1, j] = root * ((p0 * dw0[j]) * n + (q0 * p.w[j]) * t0)
        out[i, 2, j] = root * ((p1 * dw1[j]) * n + (q1 * p.w[j]) * t1)
        out[i, 3, j] = vec3(zero, zero, zero)
        out[i, 4, j] = vec3(zero, zero, zero)
    if dm > zero:
        add_mollifier_factors(i, t, p.w, v, along, value, slope, dm, b - a, d - c, out)
