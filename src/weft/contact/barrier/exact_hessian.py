"""The exact second derivative of the barrier, which adjoints and equilibria solve with.

It follows from the formulas of ``distance`` for D and the product rule with the mollifier m:

    d2E = k (m d2b + b d2m + dm db^T + db dm^T),   d2b = b'' dD dD^T + b' d2D.

The derivatives of C = |e|^2 |f|^2 - (e.f)^2 are dC/de = 2 (|f|^2 e - (e.f) f), and with e and f
exchanged dC/df. Tests compare the result with the same formulas in NumPy.
"""

import warp as wp

from weft.contact.barrier.barrier import BarrierArray, barrier_at
from weft.contact.distance.distance import Closest, closest, combination
from weft.kernel import (
    IntArray2d,
    Mat33Array3d,
    Scalar,
    Vec3Array,
    corners,
    mat33,
    vec3,
    vec4,
)

_module = wp.get_module("weft.contact.barrier.exact_hessian")
_mat43 = wp.types.matrix(shape=(4, 3), dtype=Scalar)


@wp.func
def rotation_part(p: Closest, x: _mat43, v: vec3, i: int, j: int):
    """Return block (i,j) of sum_kl (G^-1)_kl c_k c_l^T (``distance``)."""
    out = mat33(Scalar(0.0))
    if p.free == 0:
        return out
    t0 = vec3(Scalar(0.0))
    t1 = vec3(Scalar(0.0))
    for a in range(4):
        t0 += p.dw0[a] * x[a]
        t1 += p.dw1[a] * x[a]
    a0 = p.dw0[i] * v + p.w[i] * t0
    b0 = p.dw0[j] * v + p.w[j] * t0
    g00 = wp.dot(t0, t0)
    if p.free == 1:
        return wp.outer(a0, b0) / g00
    a1 = p.dw1[i] * v + p.w[i] * t1
    b1 = p.dw1[j] * v + p.w[j] * t1
    g01 = wp.dot(t0, t1)
    g11 = wp.dot(t1, t1)
    det = g00 * g11 - g01 * g01
    out = g11 * wp.outer(a0, b0) + g00 * wp.outer(a1, b1)
    out -= g01 * (wp.outer(a0, b1) + wp.outer(a1, b0))
    return out / det


@wp.kernel(module=_module)
def barrier_hessians(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    out: Mat33Array3d,
):
    """Write the (4,4) blocks of the exact Hessian of every pair."""
    n = o + wp.tid()
    t = touch[n]
    a, b, c, d = corners(n, x, stencil)
    at = _mat43(a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2], d[0], d[1], d[2])
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    value, slope, second = barrier_at(t, v)
    one = wp.identity(n=3, dtype=Scalar)
    two = Scalar(2.0)
    e = b - a
    f = d - c
    ee = wp.dot(e, e)
    ff = wp.dot(f, f)
    ef = wp.dot(e, f)
    m = Scalar(1.0)
    first = Scalar(0.0)
    bend = Scalar(0.0)
    if t.parallel > Scalar(0.0):
        r = (ee * ff - ef * ef) / t.parallel
        if r < Scalar(1.0):
            m = r * (two - r)
            first = (two - two * r) / t.parallel
            bend = -two / (t.parallel * t.parallel)
    by_e = two * (ff * e - ef * f)
    by_f = two * (ee * f - ef * e)
    sign = vec4(Scalar(-1.0), Scalar(1.0), Scalar(-1.0), Scalar(1.0))
    for i in range(4):
        ci = sign[i] * by_e
        if i > 1:
            ci = sign[i] * by_f
        for j in range(4):
            H = (two * p.w[i] * p.w[j]) * one - two * rotation_part(p, at, v, i, j)
            H = m * (slope * H + (Scalar(4.0) * second * p.w[i] * p.w[j]) * wp.outer(v, v))
            if bend != Scalar(0.0):
                cj = sign[j] * by_e
                K = two * (ff * one - wp.outer(f, f))
                if j > 1:
                    cj = sign[j] * by_f
                    K = Scalar(4.0) * wp.outer(e, f) - two * wp.outer(f, e) - (two * ef) * one
                    if i > 1:
                        K = two * (ee * one - wp.outer(e, e))
                elif i > 1:
                    K = Scalar(4.0) * wp.outer(f, e) - two * wp.outer(e, f) - (two * ef) * one
                H += value * (bend * wp.outer(ci, cj) + (first * sign[i] * sign[j]) * K)
                H += (first * slope * two) * (p.w[j] * wp.outer(ci, v) + p.w[i] * wp.outer(v, cj))
            out[n, i, j] = t.stiffness * H
