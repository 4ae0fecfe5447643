"""Arc into which a compressed pair of vertices is assumed to buckle. Choi & Ko 2003, eqs. 6 and 7.

A pair with the rest length L and the distance r L lies on an arc of constant curvature kappa = 2
sqrt(w)/L, where w is the square of half the arc's angle and solves sinc(sqrt w) = r. All quantities
are power series in w, from w = 0 (flat) to pi^2 (a closed circle, r = 0), without a singular point:

    T(w) = 1 - sinc(sqrt w) = w/6 - w^2/120 + ...,   G(w) = 2 T'(w) = 1/3 - w/30 + ...
    E = 2 e w,   dE/dr = -4 e/G,   d2E/dr2 = -8 e G'/G^3 > 0,   e = k (A_i + A_l)/L^2

so at r = 1 the force is -12 e/L (Euler's load of the pair), and -4 pi^2 e/L at r = 0.
"""

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.kernel import Scalar, ScalarArray, ScalarArray2d

_module = wp.get_module("weft.pairs")
# Coefficients of w/d in powers of d = 1 - r, the highest first (``solve_arc``).
HALF_ANGLE = wp.constant(
    wp.types.vector(length=11, dtype=Scalar)(
        *(15.070707, -63.1956, 114.39185, -115.02343, 70.263647, -26.286347),
        *(6.3222955, -0.34747921, 0.87526567, 1.7986684, 6.0000055),
    )
)


@wp.func
def add_term(k: Scalar, w: Scalar, t: Scalar, dt: Scalar, ddt: Scalar):
    """Return the bracket 1 - w/(2k(2k+1)) t and its first two derivatives, from those of t."""
    a = -Scalar(1.0) / (Scalar(2.0) * k * (Scalar(2.0) * k + Scalar(1.0)))
    return Scalar(1.0) + a * w * t, a * (t + w * dt), a * (Scalar(2.0) * dt + w * ddt)


@wp.func
def shortening(w: Scalar):
    """Return T(w) = 1 - sinc(sqrt w) and its first two derivatives for w in [0, pi^2].

    The series has fifteen terms -(-w)^k/(2k+1)!, or ten where w <= 1, as in nearly all pairs: the
    first term that is left out is below 1e-18 of the result, so that it is exact to round-off.
    """
    t = Scalar(1.0)
    dt = Scalar(0.0)
    ddt = Scalar(0.0)
    # Horner's rule of w/6 (1 - w/20 (1 - w/42 (...))), from the innermost bracket.
    if w > Scalar(1.0):
        for i in range(5):
            t, dt, ddt = add_term(Scalar(15.0) - Scalar(i), w, t, dt, ddt)
    for i in range(9):
        t, dt, ddt = add_term(Scalar(10.0) - Scalar(i), w, t, dt, ddt)
    sixth = Scalar(1.0) / Scalar(6.0)
    return sixth * w * t, sixth * (t + w * dt), sixth * (Scalar(2.0) * dt + w * ddt)


@wp.func
def solve_arc(r: Scalar):
    """Return w with sinc(sqrt w) = r, T'(w) and T''(w) for r in [0, 1], by one step of Halley's
    method.

    The start is d = 1 - r times a polynomial that interpolates w/d at Chebyshev's points, with a
    relative error of 3e-6. The step leaves 1e-16 of it, because its convergence is cubic, and it is
    so short that Taylor polynomials give T' at its end to round-off, and T'' to 4e-9.
    """
    d = Scalar(1.0) - r
    w = Scalar(0.0)
    for i in range(wp.static(len(HALF_ANGLE))):
        w = HALF_ANGLE[i] + d * w
    w *= d
    t, dt, ddt = shortening(w)
    off = (t - d) / dt
    step = -off / (Scalar(1.0) - Scalar(0.5) * off * ddt / dt)
    # T''' = 1/840 (1 - w/18 (1 - w/44 (1 - w/78))) to 1e-3 of it
    dddt = Scalar(1.0) - w / Scalar(44.0) * (Scalar(1.0) - w / Scalar(78.0))
    dddt = (Scalar(1.0) - w / Scalar(18.0) * dddt) / Scalar(840.0)
    dt += step * (ddt + Scalar(0.5) * step * dddt)
    return w + step, dt, ddt + step * dddt


@wp.func
def arc(r: Scalar):
    """Return E, dE/dr and d2E/dr2 over e, for r in [0, 1], the distance over the rest length."""
    w, dt, ddt = solve_arc(r)
    g = Scalar(2.0) * dt
    force = -Scalar(4.0) / g
    stiffness = -Scalar(16.0) * ddt / (g * g * g)
    return Scalar(2.0) * w, force, stiffness


@wp.kernel(module=_module)
def arcs(o: int, r: ScalarArray, out: ScalarArray2d):
    """Evaluate ``arc`` for every distance."""
    i = o + wp.tid()
    e, force, stiffness = arc(r[i])
    out[i, 0] = e
    out[i, 1] = force
    out[i, 2] = stiffness


def inverse_sinc(r: Floats) -> Floats:
    """Return the angle u in [0, pi] with sin(u)/u = r, for r (n,) in [0, 1]."""
    return np.sqrt(arc_energy(r)[:, 0] / 2)


def arc_energy(r: Floats) -> Floats:
    """Return E, dE/dr and d2E/dr2 over e = k (A_i + A_l)/L^2, (n,3), for r (n,) in [0, 1]."""
    r = np.ascontiguousarray(r, dtype=np.float64)
    out = kernel.empty((len(r), 3))
    kernel.launch(arcs, len(r), kernel.array(r, Scalar), out)
    return np.array(kernel.numpy(out))
