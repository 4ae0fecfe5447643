"""The law of springs and ropes, with damping and with friction along a rail.

With the length L and e = r - L, phi(r) is k e^2/2, or, if the spring only pulls, with the onset w,

    k e^3/(6 w) for 0 < e < w,   k (e - w/2)^2/2 + k w^2/24 beyond,   0 where e < 0

which is C2. Damping adds k b/(2 span) (r - r_0)^2, with the time constant b and r_0 from the start
of the step. Friction on a rail adds D(s - s_a), with s the place along the rail and s_a the root of
a bristle: D' rises from 0 to mu |phi'(r_1)| over the slip u, as (2 y - y^2) with y = |s - s_a|/u.
The normal force is that at r_1: it is lagged.
"""

import warp as wp

from weft.energies.springs.spring import SpringLaw
from weft.kernel import Scalar, vec2


@wp.struct
class SpringNumbers:
    """Numbers of a spring in the step that is solved."""

    stiffness: Scalar  # [N/m] k
    length: Scalar  # [m] L
    onset: Scalar  # [m] w
    pulls: int  # 1: it only pulls
    holds: int  # 0: it is released
    damping: Scalar  # [s] b
    rate: Scalar  # [1/s] 1/span; 0 if nothing is damped
    before: Scalar  # [m] r_0
    friction: Scalar  # mu
    pressed: Scalar  # [m] r_1
    root: Scalar  # [m] s_a
    slip: Scalar  # [m] u


@wp.func
def tension(r: Scalar, p: SpringNumbers):
    """Return phi'."""
    e = r - p.length
    if p.pulls == 1:
        if e <= Scalar(0.0):
            return Scalar(0.0)
        if e < p.onset:
            return p.stiffness * e * e / (Scalar(2.0) * p.onset)
        return p.stiffness * (e - Scalar(0.5) * p.onset)
    return p.stiffness * e


@wp.func
def tension_slope(r: Scalar, p: SpringNumbers):
    """Return phi''."""
    e = r - p.length
    if p.pulls == 1:
        if e <= Scalar(0.0):
            return Scalar(0.0)
        if e < p.onset:
            return p.stiffness * e / p.onset
    return p.stiffness


@wp.func
def elastic(r: Scalar, p: SpringNumbers):
    """Return phi."""
    e = r - p.length
    if p.pulls == 1:
        if e <= Scalar(0.0):
            return Scalar(0.0)
        if e < p.onset:
            return p.stiffness * e * e * e / (Scalar(6.0) * p.onset)
        h = e - Scalar(0.5) * p.onset
        return p.stiffness * (Scalar(0.5) * h * h + p.onset * p.onset / Scalar(24.0))
    return Scalar(0.5) * p.stiffness * e * e


@wp.func
def energy(q: vec2, p: SpringNumbers):
    """Return phi, and the energy of damping and friction."""
    if p.holds == 0:
        return vec2(Scalar(0.0))
    late = q[0] - p.before
    lost = Scalar(0.5) * p.stiffness * p.damping * p.rate * late * late
    if p.friction > Scalar(0.0):
        largest = p.friction * wp.abs(tension(p.pressed, p))
        u = wp.abs(q[1] - p.root)
        y = u / p.slip
        if y < Scalar(1.0):
            lost += largest * p.slip * y * y * (Scalar(1.0) - y / Scalar(3.0))
        else:
            lost += largest * (u - p.slip / Scalar(3.0))
    return vec2(elastic(q[0], p), lost)


@wp.func
def force(q: vec2, p: SpringNumbers):
    """Return the derivatives by the length and by the place along the rail."""
    if p.holds == 0:
        return vec2(Scalar(0.0))
    pull = tension(q[0], p) + p.stiffness * p.damping * p.rate * (q[0] - p.before)
    u = q[1] - p.root
    drag = p.friction * wp.abs(tension(p.pressed, p)) * wp.sign(u)
    y = wp.abs(u) / p.slip
    if y < Scalar(1.0):
        drag = drag * y * (Scalar(2.0) - y)
    return vec2(pull, drag)


@wp.func
def stiffness(q: vec2, p: SpringNumbers):
    """Return the second derivatives by the length and by the place along the rail."""
    if p.holds == 0:
        return vec2(Scalar(0.0))
    curve = tension_slope(q[0], p) + p.stiffness * p.damping * p.rate
    drag = Scalar(0.0)
    y = wp.abs(q[1] - p.root) / p.slip
    if y < Scalar(1.0):
        largest = p.friction * wp.abs(tension(p.pressed, p))
        drag = largest * (Scalar(2.0) - Scalar(2.0) * y) / p.slip
    return vec2(curve, drag)


SPRING = SpringLaw(SpringNumbers, energy, force, stiffness)
