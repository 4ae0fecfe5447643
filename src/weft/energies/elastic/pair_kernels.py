"""Kernels of pairs of vertices: energy, force and Hessian of a function of their distance.

A pair is a buckled arc below the distance ``start`` (over the rest length), and above it a linear
spring that only pushes. Its damping is a spring that pushes and pulls.
"""

import warp as wp

from weft.energies.elastic.buckled_arc import arc
from weft.energies.element_energy import DampedStep
from weft.energies.gather import SYMMETRIC, BlockLayout
from weft.kernel import (
    IntArray2d,
    Kernel,
    Mat33Array2d,
    Scalar,
    Vec2Array,
    Vec3Array,
    Vec3Array2d,
    vec2,
    vec3,
)
from weft.laws.fiber import guarded_length
from weft.solve.newton.psd import Psd

_module = wp.get_module("weft.pairs")


@wp.struct
class Pair:
    """Parameters of a pair; r is the distance over ``length``."""

    length: Scalar  # [m] L
    arc: Scalar  # [J] e = k (A_i + A_l)/L^2
    spring: Scalar  # [J] C of C/2 (r - rest)^2
    rest: Scalar  # [1]
    start: Scalar  # [1] r below which the pair is an arc; < 0: never
    offset: Scalar  # [J] that makes the energy continuous there
    viscous: Scalar  # [J] stiffness of the damping spring: beta/h times that at the step's start
    before: Scalar  # [1] r at which the damping spring is at rest


@wp.func
def elastic(r: Scalar, p: Pair):
    """Return E, dE/dr and d2E/dr2 of the elastic part."""
    energy = Scalar(0.0)
    force = Scalar(0.0)
    stiffness = Scalar(0.0)
    if r < p.start:
        energy, force, stiffness = arc(r)
        energy = p.arc * energy + p.offset
        force *= p.arc
        stiffness *= p.arc
    elif r < p.rest:
        d = r - p.rest
        energy = Scalar(0.5) * p.spring * d * d
        force = p.spring * d
        stiffness = p.spring
    return energy, force, stiffness


@wp.func
def add_damping(r: Scalar, p: Pair):
    """Return dE/dr and d2E/dr2 with damping."""
    _energy, force, stiffness = elastic(r, p)
    return force + p.viscous * (r - p.before), stiffness + p.viscous


@wp.kernel(module=_module)
def pair_energy(
    o: int, x: Vec3Array, stencil: IntArray2d, pair: wp.array(dtype=Pair), out: Vec2Array
):
    """Compute the elastic and the dissipated energy of every pair."""
    i = o + wp.tid()
    p = pair[i]
    d = wp.length(x[stencil[i, 1]] - x[stencil[i, 0]])
    r, _s, _q, _c = guarded_length(d / p.length)
    energy, _force, _stiffness = elastic(r, p)
    moved = r - p.before
    out[i] = vec2(energy, Scalar(0.5) * p.viscous * moved * moved)


@wp.kernel(module=_module)
def pair_gradient(
    o: int, x: Vec3Array, stencil: IntArray2d, pair: wp.array(dtype=Pair), out: Vec3Array2d
):
    """Compute dE/dx of both vertices of every pair."""
    i = o + wp.tid()
    p = pair[i]
    e = (x[stencil[i, 1]] - x[stencil[i, 0]]) / p.length
    r, _slope, slope_over_r, _c = guarded_length(wp.length(e))
    force, _stiffness = add_damping(r, p)
    g = (force * slope_over_r / p.length) * e
    out[i, 0] = -g
    out[i, 1] = g


def pair_hessian(mode: Psd) -> tuple[Kernel, BlockLayout]:
    """Build the kernel of d2E/dx2: K (1, -1; -1, 1) of every pair.

    PROJECTED clamps both eigenvalues: the one along the pair, which is >= 0 already, and the one
    across, where a compressed pair has dE/dd / d < 0 (Choi & Ko 2002). GAUSS_NEWTON drops the one
    across.
    """
    clamped, along_only = mode is not Psd.EXACT, mode is Psd.GAUSS_NEWTON

    @wp.kernel(module=_module)
    def hessian(
        o: int, x: Vec3Array, stencil: IntArray2d, pair: wp.array(dtype=Pair), out: Mat33Array2d
    ):
        i = o + wp.tid()
        p = pair[i]
        e = (x[stencil[i, 1]] - x[stencil[i, 0]]) / p.length
        s = wp.length(e)
        r, slope, slope_over_r, second = guarded_length(s)
        force, stiffness = add_damping(r, p)
        along = stiffness * slope * slope + force * second
        across = force * slope_over_r
        if clamped:
            along = wp.max(along, Scalar(0.0))
            across = wp.max(across, Scalar(0.0))
        if along_only:
            across = Scalar(0.0)
        n = vec3(Scalar(0.0))
        if s > Scalar(0.0):
            n = e / s
        K = across * wp.identity(n=3, dtype=Scalar) + (along - across) * wp.outer(n, n)
        K = K / (p.length * p.length)
        out[i, 0] = K
        out[i, 1] = -K
        out[i, 2] = K

    return hessian, SYMMETRIC


@wp.kernel(module=_module)
def freeze_pairs(
    o: int,
    x: Vec3Array,
    other: Vec3Array,
    stencil: IntArray2d,
    step: DampedStep,
    out: wp.array(dtype=Pair),
):
    """Freeze the damping spring of every pair at x, with ``rate`` times the stiffness of the pair.

    The spring is at rest at x, or, with two states of the past, at x plus ``past`` times the change
    since x_(n-1) (``other``).
    """
    i = o + wp.tid()
    p = out[i]
    d = wp.length(x[stencil[i, 1]] - x[stencil[i, 0]])
    r, _s, _q, _c = guarded_length(d / p.length)
    p.before = r
    if step.past != Scalar(0.0):
        d = wp.length(other[stencil[i, 1]] - other[stencil[i, 0]])
        earlier, _s2, _q2, _c2 = guarded_length(d / p.length)
        p.before += step.past * (r - earlier)
    _energy, _force, stiffness = elastic(r, p)
    p.viscous = step.rate * wp.max(stiffness, Scalar(0.0))
    out[i] = p
