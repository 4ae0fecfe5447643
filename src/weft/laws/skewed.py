"""Baraff-Witkin's law for fibers along any two unit directions a and b of the material.

    psi(F) = 1/2 ka (|F a| - ba)^2 + 1/2 kb (|F b| - bb)^2 + 1/2 ks (I6(a,b) - a.b)^2

Source: Kim 2020, section 5, eq. 42, and Appendix B. PROJECTED is again the sum of the projected
terms. Each fiber's Hessian (a a^T) x K has K's eigenvalues, so clamping K is its exact clamp. If a
and b are orthogonal, the two fibers act on different subspaces and the sum of their clamps is the
clamp of their sum. If they are skewed, the subspaces overlap: the tension of one fiber could
compensate the compression of the other, and the clamp of the sum would be softer than what is used
here (``tests/engine/laws/test_projections.py``).
"""

import warp as wp

from weft.kernel import Scalar, mat32, mat33, vec2, vec3
from weft.laws.clamp import clamp2
from weft.laws.fiber import fiber_force, fiber_hessian, guarded_length
from weft.solve.newton.psd import Psd


@wp.struct
class SkewedParams:
    """Stiffness [N/m], rest stretch [1], and unit directions in the material."""

    stretch_warp: Scalar
    stretch_weft: Scalar
    shear: Scalar
    rest_warp: Scalar
    rest_weft: Scalar
    warp: vec2
    weft: vec2


@wp.func
def along(K: mat33, a: vec2):
    """Return the Kronecker product (a a^T) x K as (uu, uv, vv)."""
    return a[0] * a[0] * K, a[0] * a[1] * K, a[1] * a[1] * K


@wp.func
def cross_hessian(F: mat32, a: vec2, b: vec2, c: Scalar, psd: int):
    """Return g g^T + c (a b^T + b a^T) x I as (uu, uv, vv), g = vec(F (a b^T + b a^T)).

    With c = I6 - a.b this is the Hessian of 1/2 (I6 - a.b)^2. Kim 2020, eqs. 29-33 and 45-52.

    a b^T + b a^T has the eigenvalues a.b + 1 and a.b - 1 along a + b and a - b. In that frame of
    the material, with p and m the columns of F, g = ((a.b + 1) p, (a.b - 1) m): the rank-one update
    couples only p and m, so four of the six eigenvalues stay c (a.b ± 1) and two are those of a 2 x
    2 matrix. These are the roots of the secular equation (49), computed without its division.
    """
    I3 = wp.identity(n=3, dtype=Scalar)
    if psd != Psd.PROJECTED:
        g0 = F * a
        g1 = F * b
        gu = a[0] * g1 + b[0] * g0
        gv = a[1] * g1 + b[1] * g0
        uu = wp.outer(gu, gu)
        uv = wp.outer(gu, gv)
        vv = wp.outer(gv, gv)
        if psd == Psd.EXACT:
            uu += (Scalar(2.0) * c * a[0] * b[0]) * I3
            uv += (c * (a[0] * b[1] + a[1] * b[0])) * I3
            vv += (Scalar(2.0) * c * a[1] * b[1]) * I3
        return uu, uv, vv
    e, plus, minus = frame(a, b)
    q = vec2(-e[1], e[0])
    p = F * e
    m = F * q
    p_length = wp.length(p)
    m_length = wp.length(m)
    K = clamp2(
        plus * plus * p_length * p_length + c * plus,
        plus * minus * p_length * m_length,
        minus * minus * m_length * m_length + c * minus,
    )
    p_hat = unit(p, p_length)
    m_hat = unit(m, m_length)
    p_across = wp.max(c * plus, Scalar(0.0))
    m_across = wp.max(c * minus, Scalar(0.0))
    pp = p_across * I3 + (K[0, 0] - p_across) * wp.outer(p_hat, p_hat)
    mm = m_across * I3 + (K[1, 1] - m_across) * wp.outer(m_hat, m_hat)
    pm = K[0, 1] * wp.outer(p_hat, m_hat)
    mp = wp.transpose(pm)
    uu = e[0] * e[0] * pp + e[0] * q[0] * (pm + mp) + q[0] * q[0] * mm
    uv = e[0] * e[1] * pp + e[0] * q[1] * pm + q[0] * e[1] * mp + q[0] * q[1] * mm
    vv = e[1] * e[1] * pp + e[1] * q[1] * (pm + mp) + q[1] * q[1] * mm
    return uu, uv, vv


@wp.func
def frame(a: vec2, b: vec2):
    """Return the unit vector along a + b, and the eigenvalues a.b + 1 and a.b - 1.

    Both are computed as squares of a + b and a - b, which keeps full relative accuracy. The shorter
    of the two vectors is never normalized: if a + b is the shorter one, the returned vector is a -
    b turned by a right angle.
    """
    half = Scalar(0.5)
    sum = a + b
    difference = a - b
    plus = half * wp.dot(sum, sum)
    minus = -half * wp.dot(difference, difference)
    e = vec2(-difference[1], difference[0])
    if plus >= -minus:
        e = sum
    return e / wp.length(e), plus, minus


@wp.func
def unit(p: vec3, length: Scalar):
    """Return p over its length, or zero if the length is zero."""
    out = vec3(Scalar(0.0))
    if length > Scalar(0.0):
        out = p / length
    return out


@wp.func
def psi(F: mat32, p: SkewedParams):
    """Return the energy density. Kim 2020, eq. 42."""
    g0 = F * p.warp
    g1 = F * p.weft
    length0, _s0, _o0, _c0 = guarded_length(wp.length(g0))
    length1, _s1, _o1, _c1 = guarded_length(wp.length(g1))
    stretch0 = length0 - p.rest_warp
    stretch1 = length1 - p.rest_weft
    c = wp.dot(g0, g1) - wp.dot(p.warp, p.weft)
    return Scalar(0.5) * (
        p.stretch_warp * stretch0 * stretch0
        + p.stretch_weft * stretch1 * stretch1
        + p.shear * c * c
    )


@wp.func
def pk1(F: mat32, p: SkewedParams):
    """Return the first Piola-Kirchhoff stress; eq. 29 of Kim 2020 for the shear."""
    g0 = F * p.warp
    g1 = F * p.weft
    c = p.shear * (wp.dot(g0, g1) - wp.dot(p.warp, p.weft))
    along0 = fiber_force(g0, p.stretch_warp, p.rest_warp) + c * g1
    along1 = fiber_force(g1, p.stretch_weft, p.rest_weft) + c * g0
    return wp.outer(along0, p.warp) + wp.outer(along1, p.weft)


@wp.func
def hessian(F: mat32, p: SkewedParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv), each of the three terms exact, clamped or Gauss-Newton."""
    g0 = F * p.warp
    g1 = F * p.weft
    c = wp.dot(g0, g1) - wp.dot(p.warp, p.weft)
    uu, uv, vv = cross_hessian(F, p.warp, p.weft, c, psd)
    uu0, uv0, vv0 = along(fiber_hessian(g0, p.stretch_warp, p.rest_warp, psd), p.warp)
    uu1, uv1, vv1 = along(fiber_hessian(g1, p.stretch_weft, p.rest_weft, psd), p.weft)
    return p.shear * uu + uu0 + uu1, p.shear * uv + uv0 + uv1, p.shear * vv + vv0 + vv1
