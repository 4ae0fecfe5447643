"""Kernels of friction: frozen pairs, the terms of a law (``law``), and the slip after a step."""

from dataclasses import dataclass
from functools import cache

import warp as wp

from weft.contact.barrier.barrier import BarrierArray
from weft.contact.distance.distance import closest_at, combination, other_side
from weft.contact.friction.law import FrictionLaw, FrictionTable, SlidingArray, SlidingPair
from weft.kernel import (
    IntArray,
    IntArray2d,
    Kernel,
    Mat33Array3d,
    Scalar,
    ScalarArray,
    Vec3Array,
    Vec3Array2d,
    Vec3Array3d,
    corners,
    vec2,
    vec3,
    vec4,
)

_module = wp.get_module("weft.friction")


@wp.struct
class NormalForces:
    """The normal force of every pair of a contact set."""

    load: ScalarArray  # (m,) [N] lambda
    weights: wp.array(dtype=vec4)  # (m,) of the closest points
    normal: Vec3Array  # (m,) unit vectors
    pushes: IntArray  # (m,) 1: the force is positive


@wp.func
def slip_of(i: int, x: Vec3Array, origin: Vec3Array, stencil: IntArray2d, s: SlidingPair):
    """Return the slip u of pair i, (u0, u1) [m]."""
    a, b, c, d = corners(i, x, stencil)
    a0, b0, c0, d0 = corners(i, origin, stencil)
    v = combination(s.w, a - a0, b - b0, c - c0, d - d0)
    return vec2(wp.dot(v, s.t0), wp.dot(v, s.t1)) + s.smooth * s.before


@wp.func
def in_space(u: vec2, s: SlidingPair):
    """Return a vector of the plane of sliding as a vector of space."""
    return u[0] * s.t0 + u[1] * s.t1


@wp.kernel(module=_module)
def normal_loads(
    o: int,
    x: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    gradient: Vec3Array2d,
    out: NormalForces,
):
    """Write the normal force, weights and normal of every pair, and whether it pushes.

    The barrier's gradient at vertex a is -lambda w_a n, apart from the mollifier's part, which is
    no normal force; its component along w (x) n gives -lambda.
    """
    i = o + wp.tid()
    p, v = closest_at(touch[i].kind, i, x, stencil)
    n = v / wp.max(wp.length(v), Scalar(1e-300))
    force = Scalar(0.0)
    for j in range(4):
        force -= p.w[j] * wp.dot(gradient[i, j], n)
    force = force / wp.max(wp.dot(p.w, p.w), Scalar(1e-300))
    out.load[i] = force
    out.weights[i] = p.w
    out.normal[i] = n
    out.pushes[i] = 0
    if force > Scalar(0.0):
        out.pushes[i] = 1


@wp.kernel(module=_module)
def freeze_slides(
    o: int,
    stencil: IntArray2d,
    touch: BarrierArray,
    forces: NormalForces,
    place: IntArray,
    table: FrictionTable,
    smooth: Scalar,
    slip: Vec3Array,
    out: IntArray2d,
    slide: SlidingArray,
):
    """Write the pairs that push, with the plane in which they may slide.

    ``slip`` has q of the first vertices, those that belong to no body; it may be empty.
    """
    i = o + wp.tid()
    if forces.pushes[i] != 0:
        n = forces.normal[i]
        # The axis along which n is shortest: its cross product with n is far from zero.
        axis = vec3(Scalar(1.0), Scalar(0.0), Scalar(0.0))
        if wp.abs(n[1]) < wp.abs(n[0]) and wp.abs(n[1]) <= wp.abs(n[2]):
            axis = vec3(Scalar(0.0), Scalar(1.0), Scalar(0.0))
        elif wp.abs(n[2]) < wp.abs(n[0]) and wp.abs(n[2]) < wp.abs(n[1]):
            axis = vec3(Scalar(0.0), Scalar(0.0), Scalar(1.0))
        s = SlidingPair()
        s.t0 = wp.normalize(wp.cross(n, axis))
        s.t1 = wp.cross(n, s.t0)
        s.w = forces.weights[i]
        s.load = forces.load[i]
        last = table.part.shape[0] - 1
        one = wp.min(stencil[i, 0], last)
        other = wp.min(other_side(touch[i].kind, i, stencil), last)
        a = table.part[one]
        b = table.part[other]
        factor = table.friction_factor[one] * table.friction_factor[other]
        s.mu_static = factor * table.mu_static[a, b]
        s.mu_kinetic = factor * table.mu_kinetic[a, b]
        s.smooth = smooth
        n_slips = slip.shape[0]
        part_of_e = Scalar(1.0)
        if stencil[i, 0] < n_slips and other_side(touch[i].kind, i, stencil) < n_slips:
            part_of_e = Scalar(0.5)  # both sides have saved the slip of this contact
        before = vec3(Scalar(0.0))
        for j in range(4):
            v = stencil[i, j]
            if v < n_slips:
                before += s.w[j] * slip[v]
        s.before = part_of_e * vec2(wp.dot(before, s.t0), wp.dot(before, s.t1))
        at = place[i]
        slide[at] = s
        for j in range(4):
            out[at, j] = stencil[i, j]


@dataclass(frozen=True)
class FrictionKernels:
    """Kernels of friction with one law.

    Attributes:
        energy: writes E [J] of every pair.
        gradient: writes dE/dx [N] of every pair.
        hessians: writes the exact Hessian [N/m] of every pair.
        factors: writes the projected Hessian of every pair as two outer products.
    """

    energy: Kernel
    gradient: Kernel
    hessians: Kernel
    factors: Kernel


@cache
def friction_kernels(law: FrictionLaw) -> FrictionKernels:
    """Build the kernels of a law, once per process."""
    module = wp.get_module(f"weft.friction.{law.name}")
    energy_of, slope_of, curvature_of = law.energy, law.slope, law.curvature

    @wp.kernel(module=module)
    def friction_energy(
        o: int,
        x: Vec3Array,
        origin: Vec3Array,
        stencil: IntArray2d,
        slide: SlidingArray,
        out: ScalarArray,
    ):
        i = o + wp.tid()
        s = slide[i]
        out[i] = s.load * energy_of(slip_of(i, x, origin, stencil, s), s)

    @wp.kernel(module=module)
    def friction_gradient(
        o: int,
        x: Vec3Array,
        origin: Vec3Array,
        stencil: IntArray2d,
        slide: SlidingArray,
        out: Vec3Array2d,
    ):
        i = o + wp.tid()
        s = slide[i]
        force = s.load * in_space(slope_of(slip_of(i, x, origin, stencil, s), s), s)
        for j in range(4):
            out[i, j] = s.w[j] * force

    @wp.kernel(module=module)
    def friction_hessians(
        o: int,
        x: Vec3Array,
        origin: Vec3Array,
        stencil: IntArray2d,
        slide: SlidingArray,
        out: Mat33Array3d,
    ):
        i = o + wp.tid()
        s = slide[i]
        k = curvature_of(slip_of(i, x, origin, stencil, s), s)
        a = in_space(k.a, s)
        c = in_space(k.c, s)
        K = s.load * (k.second * wp.outer(a, a) + k.over * wp.outer(c, c))
        for p in range(4):
            for q in range(4):
                out[i, p, q] = (s.w[p] * s.w[q]) * K

    @wp.kernel(module=module)
    def friction_factors(
        o: int,
        x: Vec3Array,
        origin: Vec3Array,
        stencil: IntArray2d,
        slide: SlidingArray,
        bound: int,
        out: Vec3Array3d,
    ):
        # With ``bound`` the quadratic model is nowhere below the energy.
        i = o + wp.tid()
        zero = Scalar(0.0)
        s = slide[i]
        k = curvature_of(slip_of(i, x, origin, stencil, s), s)
        second = wp.max(k.second, zero)
        if bound != 0:
            second = k.over
        along = wp.sqrt(s.load * second) * in_space(k.a, s)
        across = wp.sqrt(s.load * k.over) * in_space(k.c, s)
        for j in range(4):
            out[i, 0, j] = s.w[j] * along
            out[i, 1, j] = s.w[j] * across
            out[i, 2, j] = vec3(zero, zero, zero)

    return FrictionKernels(friction_energy, friction_gradient, friction_hessians, friction_factors)


@wp.kernel(module=_module)
def slips(
    o: int,
    x: Vec3Array,
    origin: Vec3Array,
    stencil: IntArray2d,
    slide: SlidingArray,
    out: Vec3Array,
):
    """Write the displacement of one side of every pair relative to the other in the step, in units
    of e.
    """
    i = o + wp.tid()
    s = slide[i]
    u = slip_of(i, x, origin, stencil, s) - s.smooth * s.before
    out[i] = in_space(u, s) / s.smooth


@wp.func
def weighted_slips(
    v: int,
    start: IntArray,
    element: IntArray,
    place: IntArray,
    slide: SlidingArray,
    change: Vec3Array,
):
    """Return the sum of the loads [N] that press on a vertex, and of the slips times the loads.

    The loop has a function of its own for reverse mode (``kernel.reverse``).
    """
    load = Scalar(0.0)
    q = vec3(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        s = slide[element[m]]
        w = s.load * s.w[place[m]]
        load += wp.abs(w)
        q += w * change[element[m]]
    return load, q


@wp.kernel(module=_module)
def update_slips(
    o: int,
    start: IntArray,
    element: IntArray,
    place: IntArray,
    slide: SlidingArray,
    change: Vec3Array,
    slip: Vec3Array,
    out: Vec3Array,
):
    """Write q of every vertex after a step; 0 if no pair presses on it."""
    v = o + wp.tid()
    load, q = weighted_slips(v, start, element, place, slide, change)
    after = vec3(Scalar(0.0))
    if load > Scalar(0.0):
        moved = slip[v] + q / load
        after = moved / wp.max(wp.length(moved), Scalar(1.0))
    out[v] = after
