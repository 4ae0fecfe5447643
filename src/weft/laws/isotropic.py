"""Isotropic membranes psi(s0, s1) of the principal stretches: their common eigensystem.

The singular value decomposition of F is computed in closed form. For F = U diag(s0, s1) V^T with
the normal n, the Hessian has the eigenmatrices (Smith, de Goes & Kim 2019 and Panetta 2020; for
ARAP, Kim 2020, eqs. 27-28)

    n v0^T, n v1^T                psi_0/s0, psi_1/s1               out of the plane
    (u0 v1^T - u1 v0^T)/sqrt 2    (psi_0 + psi_1)/(s0 + s1)        twist
    (u0 v1^T + u1 v0^T)/sqrt 2    (psi_0 - psi_1)/(s0 - s1)        flip
    u0 v0^T, u1 v1^T              the 2 x 2 matrix psi_ij          stretch

so its exact clamp needs one 2 x 2 clamp and four comparisons. These laws have no strain measure in
common whose second derivatives could be dropped, so GAUSS_NEWTON is PROJECTED here.
"""

import warp as wp

from weft.kernel import Scalar, mat32, vec2, vec3
from weft.laws.clamp import clamp2
from weft.laws.fiber import columns
from weft.solve.newton.psd import Psd

COLLAPSED = Scalar(1e-9)  # stretch below which a direction counts as collapsed


@wp.struct
class Principal:
    """Singular value decomposition F = s0 u0 v0^T + s1 u1 v1^T, s0 >= s1 >= 0, and n = u0 x u1."""

    s0: Scalar
    s1: Scalar
    u0: vec3
    u1: vec3
    n: vec3
    v0: vec2
    v1: vec2


@wp.struct
class Moduli:
    """First and second derivatives of psi(s0, s1), and the quotients of the eigensystem."""

    first0: Scalar  # psi_0
    first1: Scalar
    second00: Scalar  # psi_00
    second01: Scalar
    second11: Scalar
    out0: Scalar  # psi_0/s0
    out1: Scalar
    twist: Scalar  # (psi_0 + psi_1)/(s0 + s1)
    flip: Scalar  # (psi_0 - psi_1)/(s0 - s1)


@wp.func
def principal(F: mat32):
    """Compute the singular value decomposition of F.

    s1 is the area |f0 x f1| over s0, which is accurate for small s1 too. Collapsed directions get
    an arbitrary orthonormal completion.
    """
    f0, f1 = columns(F)
    angle = Scalar(0.5) * wp.atan2(Scalar(2.0) * wp.dot(f0, f1), wp.dot(f0, f0) - wp.dot(f1, f1))
    p = Principal()
    p.v0 = vec2(wp.cos(angle), wp.sin(angle))
    p.v1 = vec2(-p.v0[1], p.v0[0])
    along = F * p.v0
    p.s0 = wp.length(along)
    p.u0 = vec3(Scalar(1.0), Scalar(0.0), Scalar(0.0))
    if p.s0 > COLLAPSED:
        p.u0 = along / p.s0
    normal = wp.cross(f0, f1)
    area = wp.length(normal)
    p.s1 = area / wp.max(p.s0, COLLAPSED)
    if p.s1 > COLLAPSED:
        p.n = normal / area
    else:
        axis = vec3(Scalar(0.0), Scalar(0.0), Scalar(1.0))
        if wp.abs(p.u0[2]) > Scalar(0.7):
            axis = vec3(Scalar(0.0), Scalar(1.0), Scalar(0.0))
        p.n = wp.normalize(wp.cross(p.u0, axis))
    p.u1 = wp.cross(p.n, p.u0)
    return p


@wp.func
def isotropic_pk1(p: Principal, first0: Scalar, first1: Scalar):
    """Return U diag(psi_0, psi_1) V^T."""
    return first0 * wp.outer(p.u0, p.v0) + first1 * wp.outer(p.u1, p.v1)


@wp.func
def isotropic_hessian(p: Principal, m: Moduli, psd: int):
    """Return (uu, uv, vv) from the eigensystem, exact or clamped."""
    zero = Scalar(0.0)
    out0 = m.out0
    out1 = m.out1
    twist = m.twist
    flip = m.flip
    k00 = m.second00
    k01 = m.second01
    k11 = m.second11
    if psd != Psd.EXACT:
        out0 = wp.max(out0, zero)
        out1 = wp.max(out1, zero)
        twist = wp.max(twist, zero)
        flip = wp.max(flip, zero)
        K = clamp2(k00, k01, k11)
        k00 = K[0, 0]
        k01 = K[0, 1]
        k11 = K[1, 1]
    # X, Y and Z are the blocks of v0 v0, v0 v1 and v1 v1 in the basis (v0, v1). The rotation to
    # the basis of the material axes follows.
    N = wp.outer(p.n, p.n)
    A = wp.outer(p.u0, p.u0)
    B = wp.outer(p.u1, p.u1)
    C = wp.outer(p.u0, p.u1)
    half = Scalar(0.5)
    even = half * (flip + twist)
    odd = half * (flip - twist)
    X = out0 * N + k00 * A + even * B
    Z = out1 * N + k11 * B + even * A
    Y = k01 * C + odd * wp.transpose(C)
    Yt = wp.transpose(Y)
    a = p.v0[0]
    b = p.v0[1]
    c = p.v1[0]
    d = p.v1[1]
    uu = a * a * X + a * c * (Y + Yt) + c * c * Z
    uv = a * b * X + a * d * Y + c * b * Yt + c * d * Z
    vv = b * b * X + b * d * (Y + Yt) + d * d * Z
    return uu, uv, vv
