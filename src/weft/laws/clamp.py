"""Clamps that several laws and hinges share, as Warp functions."""

import warp as wp

from weft.kernel import Scalar, mat22


@wp.func
def cut_off(d: Scalar, slip: Scalar):
    """Return d cut off at +-slip, and the part beyond it; slip 0: not cut off."""
    c = d
    if slip > Scalar(0.0):
        c = wp.clamp(d, -slip, slip)
    return c, d - c


@wp.func
def clamp2(a: Scalar, b: Scalar, d: Scalar):
    """Return the symmetric matrix [[a, b], [b, d]] with its negative eigenvalues set to zero."""
    half = Scalar(0.5)
    mean = half * (a + d)
    apart = half * (a - d)
    radius = apart * apart + b * b
    if radius > Scalar(0.0):  # sqrt has no derivative at 0, and Warp's adjoint would be NaN
        radius = wp.sqrt(radius)
    out = mat22(a, b, b, d)
    if mean < radius:  # the smaller eigenvalue is negative
        large = mean + radius
        if large <= Scalar(0.0) or radius == Scalar(0.0):
            out = mat22(Scalar(0.0))
        else:
            s = half * large / radius
            out = mat22(s * (radius + apart), s * b, s * b, s * (radius - apart))
    return out
