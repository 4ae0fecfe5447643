"""Energy k/2 (|f| - b)^2 of one fiber with the image f in space: force and Hessian.

Source: Kim 2020, eqs. 11 and 21-26; the quartic variant is eq. 43.
"""

import warp as wp

from weft.kernel import Scalar, mat32, vec3
from weft.solve.newton.psd import Psd

COLLAPSED = Scalar(1e-6)  # stretch below which the length |f| is replaced by a C2 polynomial in |f|


@wp.func
def columns(F: mat32):
    """Return the columns f0 and f1 of F."""
    return vec3(F[0, 0], F[1, 0], F[2, 0]), vec3(F[0, 1], F[1, 1], F[2, 1])


@wp.func
def from_columns(P0: vec3, P1: vec3):
    """Return the matrix with the columns P0 and P1."""
    return mat32(P0[0], P1[0], P0[1], P1[1], P0[2], P1[2])


@wp.func
def guarded_length(r: Scalar):
    """Return a length l(r) that is smooth at r = 0, and l', l'/r and l''.

    l is r itself for r >= e. For r < e it is the polynomial e/8 (3 + 6 t^2 - t^4), t = r/e, which
    has the same value, slope and curvature at t = 1. So energy, stress and Hessian stay finite and
    continuous, and remain derivatives of one another, as I5 -> 0, where 1/sqrt(I5) is singular.
    """
    e = COLLAPSED
    length = r
    slope = Scalar(1.0)
    slope_over_r = Scalar(0.0)
    second = Scalar(0.0)
    if r < e:
        t_sq = (r / e) * (r / e)
        length = e / Scalar(8.0) * (Scalar(3.0) + t_sq * (Scalar(6.0) - t_sq))
        slope_over_r = (Scalar(12.0) - Scalar(4.0) * t_sq) / (Scalar(8.0) * e)
        slope = r * slope_over_r
        second = (Scalar(12.0) - Scalar(12.0) * t_sq) / (Scalar(8.0) * e)
    else:
        slope_over_r = Scalar(1.0) / r
    return length, slope, slope_over_r, second


@wp.func
def fiber_force(f: vec3, k: Scalar, b: Scalar):
    """Return d/df of k/2 (|f| - b)^2. Kim 2020, eq. 11."""
    length, _slope, slope_over_r, _second = guarded_length(wp.length(f))
    return (k * (length - b) * slope_over_r) * f


@wp.func
def stretch_hessian(f: vec3, force: Scalar, stiffness: Scalar, psd: int):
    """Return d2/df2 of W(|f|), with force W' and stiffness W'' at the guarded length of f.

    The eigenvalues are W'' along f and W'/|f| twice across it. GAUSS_NEWTON keeps W'' along f and
    nothing across.
    """
    r = wp.length(f)
    _length, slope, slope_over_r, second = guarded_length(r)
    along = stiffness * slope * slope
    across = Scalar(0.0)
    if psd != Psd.GAUSS_NEWTON:
        along += force * second
        across = force * slope_over_r
        if psd == Psd.PROJECTED:
            along = wp.max(along, Scalar(0.0))
            across = wp.max(across, Scalar(0.0))
    n = vec3(Scalar(0.0))
    if r > Scalar(0.0):
        n = f / r
    return across * wp.identity(n=3, dtype=Scalar) + (along - across) * wp.outer(n, n)


@wp.func
def fiber_hessian(f: vec3, k: Scalar, b: Scalar, psd: int):
    """Return d2/df2 of k/2 (|f| - b)^2. Kim 2020, eqs. 21-26.

    The eigenvalues are k along f, and k (1 - b/|f|) twice across it. The paper's "1/I5^(3/2)"
    (section 4.2.2) is a slip.
    """
    length, _slope, _slope_over_r, _second = guarded_length(wp.length(f))
    return stretch_hessian(f, k * (length - b), k, psd)


@wp.func
def quartic_force(f: vec3, k: Scalar, b: Scalar):
    """Return d/df of k/2 (|f| - b)^4. Kim 2020, eq. 43."""
    length, _slope, slope_over_r, _second = guarded_length(wp.length(f))
    c = length - b
    return (Scalar(2.0) * k * c * c * c * slope_over_r) * f


@wp.func
def quartic_hessian(f: vec3, k: Scalar, b: Scalar, psd: int):
    """Return d2/df2 of k/2 (|f| - b)^4.

    The eigenvalues are 6 k (|f| - b)^2 along f, and 2 k (|f| - b)^3/|f| twice across it.
    """
    length, _slope, _slope_over_r, _second = guarded_length(wp.length(f))
    c = length - b
    return stretch_hessian(f, Scalar(2.0) * k * c * c * c, Scalar(6.0) * k * c * c, psd)
