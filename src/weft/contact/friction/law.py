"""The law of friction: its energy, force and curvature as functions of the slip of a pair.

This file is the one statement of the law. Every kernel of ``kernels`` calls it, and derivatives of
runs are the reverse mode of those kernels (``contact.derivatives``).

The slip u = (u0, u1) [m] is a vector in the plane in which a pair may slide, along its directions
t0 and t1. Coulomb's law, smoothed (Li et al. 2020, section 5), depends on its length alone: it is
isotropic. Per unit of normal force the energy is f(|u|) [m] with

    f' = mu_s (2 |u|/e - |u|^2/e^2) for |u| < e,

so friction grows smoothly from rest to mu_s. From e to 2 e the coefficient falls from the static
mu_s to the kinetic mu_k, as a cubic without corners, and is constant beyond.

A law may depend on the direction of the slip. With the slip's components w along the warp and
another norm, for example y^2 = |u|^2 + 3 w^2, friction is twice as large along the warp as along
the weft: its force is f'(y) dy/du, and its curvature has the axes of the norm.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints
from weft.kernel import (
    IntArray,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    WarpFunction,
    vec2,
    vec3,
    vec4,
)


@wp.struct
class SlidingPair:
    """The frozen data of a pair that may slide."""

    w: vec4  # weights of the closest points
    t0: vec3  # orthonormal directions of sliding
    t1: vec3
    load: Scalar  # [N] lambda
    mu_static: Scalar  # mu_s
    mu_kinetic: Scalar  # mu_k
    smooth: Scalar  # [m] e
    before: vec2  # elastic slip when the step began, in units of e


SlidingArray = wp.array(dtype=SlidingPair)


@wp.struct
class FrictionTable:
    """Coefficients of friction by the pieces or bodies of the two sides of a pair."""

    part: IntArray  # (n,) number of a vertex's piece or body
    mu_static: ScalarArray2d  # (k,k)
    mu_kinetic: ScalarArray2d  # (k,k)
    friction_factor: ScalarArray  # (n,) factors at vertices


def friction_coefficients(
    static: Floats, kinetic: Floats, part: Ints, friction_factor: Floats
) -> FrictionTable:
    """Return a table on the device.

    Args:
        static: (k,k) static coefficients.
        kinetic: (k,k) kinetic coefficients.
        part: (n,) number of each vertex's piece or body.
        friction_factor: (n,) factors at vertices.
    """
    out = FrictionTable()
    out.mu_static, out.mu_kinetic = (
        kernel.array(np.asarray(mu, dtype=np.float64), Scalar) for mu in (static, kinetic)
    )
    out.part = kernel.array(np.asarray(part, np.int32), wp.int32)
    out.friction_factor = kernel.array(friction_factor, Scalar)
    return out


@wp.struct
class FrictionCurvature:
    """The Hessian of an energy by the slip: second a a^T + over c c^T.

    ``over`` >= 0, and a quadratic function with ``over`` in place of ``second`` is nowhere below
    the energy.
    """

    a: vec2  # along the change of the norm of the slip
    c: vec2  # across it
    second: Scalar  # [1/m] may be negative, where friction falls
    over: Scalar  # [1/m]


@dataclass(frozen=True)
class FrictionLaw:
    """A law of friction: functions of the slip u, vec2 [m], and the pair, ``SlidingPair``.

    Attributes:
        name: part of the name of the kernels' module, one for each law.
        energy: returns the energy [m] per unit of normal force.
        slope: returns its derivative by u, vec2: the friction force per unit of normal force.
        curvature: returns its second derivative by u, ``FrictionCurvature`` [1/m].
    """

    name: str
    energy: WarpFunction
    slope: WarpFunction
    curvature: WarpFunction


@wp.func
def slip_length(u: vec2):
    """Return |u| [m]; not zero, because reverse mode divides by it."""
    return wp.sqrt(wp.max(wp.dot(u, u), Scalar(1e-300)))


@wp.func
def smoothed_energy(y: Scalar, s: SlidingPair):
    """Return f [m] at y > 0."""
    e = s.smooth
    drop = s.mu_kinetic - s.mu_static
    value = Scalar(0.0)
    if y < e:
        value = s.mu_static * (y * y / e - y * y * y / (Scalar(3.0) * e * e) + e / Scalar(3.0))
    else:
        t = wp.min((y - e) / e, Scalar(1.0))
        value = s.mu_static * e + e * (
            s.mu_static * t + drop * t * t * t * (Scalar(1.0) - t / Scalar(2.0))
        )
        value += s.mu_kinetic * wp.max(y - Scalar(2.0) * e, Scalar(0.0))
    return value


@wp.func
def smoothed_slope(y: Scalar, s: SlidingPair):
    """Return f'/y [1/m] at y > 0."""
    e = s.smooth
    over = Scalar(0.0)
    if y < e:
        over = s.mu_static * (Scalar(2.0) / e - y / (e * e))
    else:
        t = wp.min((y - e) / e, Scalar(1.0))
        drop = s.mu_kinetic - s.mu_static
        over = (s.mu_static + drop * t * t * (Scalar(3.0) - Scalar(2.0) * t)) / y
    return over


@wp.func
def smoothed_curvature(y: Scalar, s: SlidingPair):
    """Return f'' [1/m] at y > 0."""
    e = s.smooth
    second = Scalar(0.0)
    if y < e:
        second = s.mu_static * (Scalar(2.0) / e - Scalar(2.0) * y / (e * e))
    else:
        t = wp.min((y - e) / e, Scalar(1.0))
        drop = s.mu_kinetic - s.mu_static
        second = drop * Scalar(6.0) * t * (Scalar(1.0) - t) / e
    return second


@wp.func
def coulomb_energy(u: vec2, s: SlidingPair):
    """Return f(|u|) [m]."""
    return smoothed_energy(slip_length(u), s)


@wp.func
def coulomb_slope(u: vec2, s: SlidingPair):
    """Return f' u/|u|."""
    return smoothed_slope(slip_length(u), s) * u


@wp.func
def coulomb_curvature(u: vec2, s: SlidingPair):
    """Return f'' along u, and f'/|u| across u."""
    y = slip_length(u)
    out = FrictionCurvature()
    out.a = vec2(Scalar(1.0), Scalar(0.0))
    if wp.dot(u, u) > Scalar(0.0):
        out.a = u / y
    out.c = vec2(-out.a[1], out.a[0])
    out.second = smoothed_curvature(y, s)
    out.over = smoothed_slope(y, s)
    return out


COULOMB = FrictionLaw("coulomb", coulomb_energy, coulomb_slope, coulomb_curvature)
