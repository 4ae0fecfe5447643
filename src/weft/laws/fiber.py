"""Energy k/2 (|f| - b)^2 of one fiber with the image f in space: force and Hessian.

Source: Kim 2020, eqs. 11 and 21-26; the quartic variant is eq. 43.
"""

import warp as wp

from weft.kernel import Scalar, vec3
from weft.solve.newton.psd import Psd

COLLAPSED = Scalar(1e-6)  # stretch below which the length |f| is replaced by a C2 polynomial in |f|


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
def fiber_hessian(f: vec3, k: Scalar, b: Scalar, psd: int):
    """Return d2/df2 of k/2 (|f| - b)^2. Kim 2020, eqs. 21-26.

    The eigenvalues are k along f, and k (1 - b/|f|) twice across it. GAUSS_NEWTON keeps k along f
    and nothing across; the paper's "1/I5^(3/2)" (section 4.2.2) is a slip.
    """
    r = wp.length(f)
    length, slope, slope_over_r, second = guarded_length(r)
    along = k * slope * slope
    across = Scalar(0.0)
    if psd != Psd.GAUSS_NEWTON:
        along += k * (length - b) * second
        across = k * (length - b) * slope_over_r
        if psd == Psd.PROJECTED:
            along = wp.max(along, Scalar(0.0))
            across = wp.max(across, Scalar(0.0))
    n = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    if r > Scalar(0.0):
        n = f / r
    return across * wp.identity(n=3, dtype=Scalar) + (along - across) * wp.outer(n, n)


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
    r = wp.length(f)
    length, slope, slope_over_r, second = guarded_length(r)
    c = length - b
    along = Scalar(6.0) * k * c * c * slope * slope
    across = Scalar(0.0)
    if psd != Psd.GAUSS_NEWTON:
        along += Scalar(2.0) * k * c * c * c * second
        across = Scalar(2.0) * k * c * c * c * slope_over_r
        if psd == Psd.PROJECTED:
            along = wp.max(along, Scalar(0.0))
            across = wp.max(across, Scalar(0.0))
    n = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    if r > Scalar(0.0):
        n = f / r
    return across * wp.identity(n=3, dtype=Scalar) + (along - across) * wp.outer(n, n)
