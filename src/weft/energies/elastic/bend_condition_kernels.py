"""Warp functions and kernels of the bend condition with frozen lengths. Pritchard 2012, eqs. 24-57.

    sin = ê.(m̂ x n̂),   cos = n̂.m̂,   n̂ = n/|n|, m̂ = m/|m|, ê = e/|e|

n and m are the normals of the left and right face, e the edge; their lengths are held constant
while n, m and e are differentiated. Under this assumption ``g = cos dsin - sin dcos`` and eq. 57's
h are the first and second derivative of atan2(sin, cos).
"""

import warp as wp

from weft.energies.elastic.hinge_kernels import Hinge, angle_kernels, deviation
from weft.energies.gather import packed_index
from weft.kernel import (
    IntArray2d,
    Mat33Array2d,
    Scalar,
    Vec3Array,
    corners,
    mat33,
    vec3,
)

_module = wp.get_module("weft.bend_condition")


@wp.struct
class BendFold:
    """Geometry of one hinge that all of its derivatives use."""

    n: vec3  # normal of the left face
    m: vec3  # of the right face
    e: vec3  # edge
    mn: vec3  # m x n
    ne: vec3  # n x e
    em: vec3  # e x m
    tip: vec3  # x2 - x0
    other: vec3  # x3 - x0
    for_sine: Scalar  # 1/(|e| |m| |n|)
    for_cosine: Scalar  # 1/(|m| |n|)
    sin: Scalar
    cos: Scalar


@wp.func
def fold(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """Return the geometry of the hinge of faces (x0,x1,x2) and (x1,x0,x3). Eqs. 24-29."""
    tiny = Scalar(1e-30)
    f = BendFold()
    f.e = x1 - x0
    f.tip = x2 - x0
    f.other = x3 - x0
    f.n = wp.cross(f.e, f.tip)
    f.m = wp.cross(f.other, f.e)
    f.mn = wp.cross(f.m, f.n)
    f.ne = wp.cross(f.n, f.e)
    f.em = wp.cross(f.e, f.m)
    f.for_cosine = Scalar(1.0) / wp.max(wp.length(f.n) * wp.length(f.m), tiny)
    f.for_sine = f.for_cosine / wp.max(wp.length(f.e), tiny)
    f.sin = f.for_sine * wp.dot(f.e, f.mn)
    f.cos = f.for_cosine * wp.dot(f.n, f.m)
    return f


@wp.func
def normal_arm(j: int, f: BendFold):
    """Return a_j with dn = a_j x dx_j, for n = (x1-x0) x (x2-x0).

    Eqs. 31, 34 (Pritchard's q^A up to the order).
    """
    a = vec3(Scalar(0.0))
    if j == 0:
        a = f.tip - f.e
    if j == 1:
        a = -f.tip
    if j == 2:
        a = f.e
    return a


@wp.func
def other_arm(j: int, f: BendFold):
    """Return b_j with dm = b_j x dx_j, for m = (x3-x0) x (x1-x0). Eqs. 32, 35."""
    b = vec3(Scalar(0.0))
    if j == 0:
        b = f.e - f.other
    if j == 1:
        b = f.other
    if j == 3:
        b = -f.e
    return b


@wp.func
def arm_slope(j: int, k: int, tip: int):
    """Return s with da_j/dx_k = s I (tip 2) or -db_j/dx_k = s I (tip 3).

    s is 1, -1 or 0 by the cyclic order of (0, 1, tip).
    """
    s = Scalar(0.0)
    if (j == 0 and k == tip) or (j == 1 and k == 0) or (j == tip and k == 1):
        s = Scalar(1.0)
    if (j == tip and k == 0) or (j == 0 and k == 1) or (j == 1 and k == tip):
        s = Scalar(-1.0)
    return s


@wp.func
def edge_sign(j: int):
    """Return s with de/dx_j = s I. Eqs. 33, 36."""
    s = Scalar(0.0)
    if j == 0:
        s = Scalar(-1.0)
    if j == 1:
        s = Scalar(1.0)
    return s


@wp.func
def slopes(j: int, f: BendFold):
    """Return dsin/dx_j and dcos/dx_j with frozen lengths. Eqs. 46-49."""
    a = normal_arm(j, f)
    b = other_arm(j, f)
    s = edge_sign(j) * f.mn + wp.cross(f.ne, b) + wp.cross(f.em, a)
    c = wp.cross(f.m, a) + wp.cross(f.n, b)
    return f.for_sine * s, f.for_cosine * c


@wp.func
def angle_slope(j: int, f: BendFold):
    """Return g_j = cos dsin/dx_j - sin dcos/dx_j (eq. 54)."""
    s, c = slopes(j, f)
    return f.cos * s - f.sin * c


@wp.func
def two_skews(a: vec3, b: vec3):
    """Return skew(a) skew(b) = b a^T - (a.b) I."""
    return wp.outer(b, a) - wp.dot(a, b) * wp.identity(n=3, dtype=Scalar)


@wp.func
def three_skews(a: vec3, e: vec3, b: vec3):
    """Return skew(a) skew(e) skew(b)."""
    return wp.outer(wp.cross(a, b), e) - wp.dot(e, b) * wp.skew(a)


@wp.func
def curvatures(j: int, k: int, f: BendFold):
    """Return d2sin/dx_j dx_k and d2cos/dx_j dx_k with frozen lengths. Eqs. 50-51.

    The left face does not depend on x3, the right face not on x2, and the edge on neither of them.
    Terms that are zero for this reason are left out, which saves a third of the kernel's time.
    """
    a_j = normal_arm(j, f)
    b_j = other_arm(j, f)
    a_k = normal_arm(k, f)
    b_k = other_arm(k, f)
    c = mat33(Scalar(0.0))
    s = mat33(Scalar(0.0))
    if j != k:
        da = arm_slope(j, k, 2)
        db = -arm_slope(j, k, 3)
        c += wp.skew(da * f.m + db * f.n)
        s += wp.skew(db * f.ne + da * f.em)
    if j != 3 and k != 2:
        c -= two_skews(a_j, b_k)
        s -= three_skews(a_j, f.e, b_k)
    if j != 2 and k != 3:
        c -= two_skews(b_j, a_k)
        s += three_skews(b_j, f.e, a_k)
    if j < 2 and k != 3:
        s += edge_sign(j) * two_skews(f.m, a_k)
    if j < 2 and k != 2:
        s -= edge_sign(j) * two_skews(f.n, b_k)
    if k < 2 and j != 3:
        s += edge_sign(k) * two_skews(a_j, f.m)
    if k < 2 and j != 2:
        s -= edge_sign(k) * two_skews(b_j, f.n)
    return f.for_sine * s, f.for_cosine * c


@wp.func
def fold_angle(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """Return the angle atan2(sin, cos)."""
    f = fold(x0, x1, x2, x3)
    return wp.atan2(f.sin, f.cos)


@wp.func
def fold_gradient(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """Return g of the four vertices."""
    f = fold(x0, x1, x2, x3)
    return angle_slope(0, f), angle_slope(1, f), angle_slope(2, f), angle_slope(3, f)


@wp.kernel(module=_module)
def fold_hessian(
    o: int, x: Vec3Array, stencil: IntArray2d, hinge: wp.array(dtype=Hinge), out: Mat33Array2d
):
    """Compute the blocks of k [(1 + beta/h) g g^T + deviation h], h of eq. 57."""
    i = o + wp.tid()
    x0, x1, x2, x3 = corners(i, x, stencil)
    f = fold(x0, x1, x2, x3)
    stiff = hinge[i].weight * (Scalar(1.0) + hinge[i].rate)
    moment = hinge[i].weight * deviation(hinge[i], wp.atan2(f.sin, f.cos))
    for j in range(4):
        s_j, c_j = slopes(j, f)
        g_j = f.cos * s_j - f.sin * c_j
        # The products of slopes in eq. 57 are collected: they sum to -(g_j r_k^T + r_j g_k^T).
        r_j = f.sin * s_j + f.cos * c_j
        for k in range(4):
            if k >= j:
                s_k, c_k = slopes(k, f)
                g_k = f.cos * s_k - f.sin * c_k
                r_k = f.sin * s_k + f.cos * c_k
                s_jk, c_jk = curvatures(j, k, f)
                h = f.cos * s_jk - f.sin * c_jk - wp.outer(g_j, r_k) - wp.outer(r_j, g_k)
                out[i, packed_index(j, k, 4)] = stiff * wp.outer(g_j, g_k) + moment * h


FOLD_KERNELS = angle_kernels(_module, fold_angle, fold_gradient, fold_hessian)
