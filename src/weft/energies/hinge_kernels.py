"""Warp functions and kernels of the dihedral angle, its gradient and its second derivative.

The angle is that of faces (x0,x1,x2) and (x1,x0,x3) about the edge x0 -> x1. The derivatives follow
from how a flap turns: a tip moves the angle by its face's unit normal over its height, and the edge
balances force and moment (Tamstorf & Grinspun 2013 list the same Hessian).
"""

import warp as wp

from weft.energies.base import packed
from weft.kernel import Scalar, mat33, vec3

_module = wp.get_module("weft.hinge")

COLLAPSED_SQ = Scalar(1e-30)  # [m^4] square of twice a face's area; below, it has no normal


@wp.func
def dihedral(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """Signed dihedral angle of faces (x0,x1,x2) and (x1,x0,x3).

    Positive when they fold towards their front.
    """
    e = x1 - x0
    n = wp.cross(e, x2 - x0)
    m = wp.cross(x3 - x0, e)
    return wp.atan2(wp.dot(e, wp.cross(m, n)) / wp.max(wp.length(e), Scalar(1e-30)), wp.dot(n, m))


@wp.func
def angle_difference(theta: Scalar, rest: Scalar):
    """theta - rest, taken the short way round, in (-pi, pi]."""
    two_pi = Scalar(6.283185307179586)
    d = theta - rest
    if d > Scalar(0.5) * two_pi:
        d -= two_pi
    if d <= -Scalar(0.5) * two_pi:
        d += two_pi
    return d


@wp.func
def flap(e: vec3, d: vec3, n: vec3):
    """Gradient of theta with respect to the tip of one flap, up to its sign, and the foot of the
    tip on the edge.

    The tip moves the angle by n^/height; d is the tip seen from the start of the edge e.
    """
    g = (wp.length(e) / wp.max(wp.dot(n, n), COLLAPSED_SQ)) * n
    t = wp.dot(d, e) / wp.max(wp.dot(e, e), Scalar(1e-30))
    return g, t


@wp.func
def dihedral_gradient(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """d theta/dx of the four vertices.

    Tips move along their normals; the edge balances force and moment.
    """
    e = x1 - x0
    g2, t2 = flap(e, x2 - x0, wp.cross(e, x2 - x0))
    g3, t3 = flap(e, x3 - x0, wp.cross(x3 - x0, e))
    one = Scalar(1.0)
    g0 = -((one - t2) * g2 + (one - t3) * g3)
    g1 = -(t2 * g2 + t3 * g3)
    return g0, g1, g2, g3


@wp.func
def flap_derivative(e: vec3, d: vec3, n: vec3, N: mat33, length_gradient: vec3):
    """dg/dx_j of ``flap``'s g = |e| n/|n|^2, given N = dn/dx_j and d|e|/dx_j."""
    n_sq = wp.max(wp.dot(n, n), COLLAPSED_SQ)
    reflect = (wp.identity(n=3, dtype=Scalar) - (Scalar(2.0) / n_sq) * wp.outer(n, n)) / n_sq
    return wp.length(e) * (reflect * N) + wp.outer(n, length_gradient) / n_sq


@wp.kernel(module=_module)
def angles(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    out: wp.array(dtype=Scalar),
):
    """theta of every hinge."""
    i = o + wp.tid()
    out[i] = dihedral(x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]])


@wp.kernel(module=_module)
def hinge_energy(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    rest: wp.array(dtype=Scalar),
    out: wp.array(dtype=Scalar),
):
    """1/2 w (theta - theta_0)^2 of every hinge."""
    i = o + wp.tid()
    theta = dihedral(x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]])
    d = angle_difference(theta, rest[i])
    out[i] = Scalar(0.5) * weight[i] * d * d


@wp.kernel(module=_module)
def hinge_gradient(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    rest: wp.array(dtype=Scalar),
    out: wp.array2d(dtype=vec3),
):
    """w (theta - theta_0) d theta/dx of every hinge."""
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    moment = weight[i] * angle_difference(dihedral(x0, x1, x2, x3), rest[i])
    g0, g1, g2, g3 = dihedral_gradient(x0, x1, x2, x3)
    out[i, 0] = moment * g0
    out[i, 1] = moment * g1
    out[i, 2] = moment * g2
    out[i, 3] = moment * g3


@wp.kernel(module=_module)
def hinge_factor(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    out: wp.array2d(dtype=vec3),
):
    """sqrt(w) d theta/dx: the Gauss-Newton Hessian is the outer product of this with itself."""
    i = o + wp.tid()
    g0, g1, g2, g3 = dihedral_gradient(
        x[stencil[i, 0]], x[stencil[i, 1]], x[stencil[i, 2]], x[stencil[i, 3]]
    )
    s = wp.sqrt(weight[i])
    out[i, 0] = s * g0
    out[i, 1] = s * g1
    out[i, 2] = s * g2
    out[i, 3] = s * g3


@wp.kernel(module=_module)
def add_factor_rows(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    block: wp.array2d(dtype=wp.int32),
    factor: wp.array2d(dtype=vec3),
    row_start: wp.array(dtype=wp.int32),
    clear: int,
    values: wp.array(dtype=mat33),
):
    """Row v += sum over the hinges around v of g_v g_b^T."""
    v = o + wp.tid()
    if clear != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        i = element[m]
        g = factor[i, place[m]]
        for b in range(factor.shape[1]):
            values[block[m, b]] += wp.outer(g, factor[i, b])


@wp.kernel(module=_module)
def deviations(
    o: int,
    x: wp.array(dtype=vec3),
    v: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    rest: wp.array(dtype=Scalar),
    keep: Scalar,
    beta: Scalar,
    out: wp.array(dtype=Scalar),
):
    """keep (theta - theta_0 + beta dtheta/dt) of every hinge."""
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    d = angle_difference(dihedral(x0, x1, x2, x3), rest[i])
    if beta != Scalar(0.0):
        g0, g1, g2, g3 = dihedral_gradient(x0, x1, x2, x3)
        rate = wp.dot(g0, v[stencil[i, 0]]) + wp.dot(g1, v[stencil[i, 1]])
        rate += wp.dot(g2, v[stencil[i, 2]]) + wp.dot(g3, v[stencil[i, 3]])
        d += beta * rate
    out[i] = keep * d


@wp.kernel(module=_module)
def hinge_hessian(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    weight: wp.array(dtype=Scalar),
    deviation: wp.array(dtype=Scalar),
    out: wp.array2d(dtype=mat33),
):
    """w [d theta d theta^T + deviation d2 theta], the ten blocks on and above the diagonal.

    With deviation theta - theta_0 that is the exact Hessian of every hinge.
    """
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    e = x1 - x0
    d2 = x2 - x0
    d3 = x3 - x0
    n2 = wp.cross(e, d2)
    n3 = wp.cross(d3, e)
    g2, t2 = flap(e, d2, n2)
    g3, t3 = flap(e, d3, n3)
    e_sq = wp.max(wp.dot(e, e), Scalar(1e-30))
    along = e / wp.sqrt(e_sq)
    zero = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    one = Scalar(1.0)
    moment = weight[i] * deviation[i]
    g0, g1, h2, h3 = dihedral_gradient(x0, x1, x2, x3)
    for j in range(4):
        N2 = mat33(Scalar(0.0))
        N3 = mat33(Scalar(0.0))
        length_gradient = zero
        dt2 = zero
        dt3 = zero
        if j == 0:
            N2 = wp.skew(d2 - e)
            N3 = wp.skew(e - d3)
            length_gradient = -along
            dt2 = ((Scalar(2.0) * t2 - one) * e - d2) / e_sq
            dt3 = ((Scalar(2.0) * t3 - one) * e - d3) / e_sq
        if j == 1:
            N2 = -wp.skew(d2)
            N3 = wp.skew(d3)
            length_gradient = along
            dt2 = (d2 - Scalar(2.0) * t2 * e) / e_sq
            dt3 = (d3 - Scalar(2.0) * t3 * e) / e_sq
        if j == 2:
            N2 = wp.skew(e)
            dt2 = e / e_sq
        if j == 3:
            N3 = -wp.skew(e)
            dt3 = e / e_sq
        G2 = flap_derivative(e, d2, n2, N2, length_gradient)
        G3 = flap_derivative(e, d3, n3, N3, length_gradient)
        g_j = wp.where(j == 0, g0, wp.where(j == 1, g1, wp.where(j == 2, h2, h3)))
        slide = wp.outer(g2, dt2) + wp.outer(g3, dt3)
        fall = slide - (one - t2) * G2 - (one - t3) * G3
        out[i, packed(0, j)] = moment * fall + weight[i] * wp.outer(g0, g_j)
        if j >= 1:
            rise = -slide - t2 * G2 - t3 * G3
            out[i, packed(1, j)] = moment * rise + weight[i] * wp.outer(g1, g_j)
        if j >= 2:
            out[i, packed(2, j)] = moment * G2 + weight[i] * wp.outer(h2, g_j)
        if j >= 3:
            out[i, packed(3, j)] = moment * G3 + weight[i] * wp.outer(h3, g_j)
