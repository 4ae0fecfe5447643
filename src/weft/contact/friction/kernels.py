"""Warp functions and kernels of friction; ``friction`` has the formulas."""

import warp as wp

from weft.contact.barrier.barrier import BarrierArray
from weft.contact.distance.distance import closest_at, combination, other_side
from weft.kernel import (
    IntArray,
    IntArray2d,
    Mat33Array3d,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Vec3Array,
    Vec3Array2d,
    Vec3Array3d,
    corners,
    vec3,
    vec4,
)

_module = wp.get_module("weft.friction")


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
    before0: Scalar  # [m] elastic slip when the step began, along t0
    before1: Scalar  # and t1


SlidingArray = wp.array(dtype=SlidingPair)


@wp.struct
class NormalForces:
    """The normal force of every pair of a contact set."""

    load: ScalarArray  # (m,) [N] lambda
    weights: wp.array(dtype=vec4)  # (m,) of the closest points
    normal: Vec3Array  # (m,) unit vectors
    pushes: IntArray  # (m,) 1: the force is positive


@wp.struct
class FrictionTable:
    """Coefficients of friction by the pieces or bodies of the two sides of a pair."""

    part: IntArray  # (n,) number of a vertex's piece or body
    mu_static: ScalarArray2d  # (k,k)
    mu_kinetic: ScalarArray2d  # (k,k)
    grip: ScalarArray  # (n,) factors at vertices


@wp.func
def smoothed_friction(y: Scalar, s: SlidingPair):
    """Return f, f'/y and f'' at y >= 0."""
    e = s.smooth
    drop = s.mu_kinetic - s.mu_static
    value = Scalar(0.0)
    over = Scalar(0.0)
    second = Scalar(0.0)
    if y < e:
        value = s.mu_static * (y * y / e - y * y * y / (Scalar(3.0) * e * e) + e / Scalar(3.0))
        over = s.mu_static * (Scalar(2.0) / e - y / (e * e))
        second = s.mu_static * (Scalar(2.0) / e - Scalar(2.0) * y / (e * e))
    else:
        t = wp.min((y - e) / e, Scalar(1.0))
        beyond = wp.max(y - Scalar(2.0) * e, Scalar(0.0))
        fallen = drop * t * t * (Scalar(3.0) - Scalar(2.0) * t)
        value = s.mu_static * e + e * (
            s.mu_static * t + drop * t * t * t * (Scalar(1.0) - t / Scalar(2.0))
        )
        value += s.mu_kinetic * beyond
        over = (s.mu_static + fallen) / y
        second = drop * Scalar(6.0) * t * (Scalar(1.0) - t) / e
    return value, over, second


@wp.func
def sliding(i: int, x: Vec3Array, origin: Vec3Array, stencil: IntArray2d, s: SlidingPair):
    """Return the components of the slip u of pair i along t0 and t1."""
    a, b, c, d = corners(i, x, stencil)
    a0, b0, c0, d0 = corners(i, origin, stencil)
    v = combination(s.w, a - a0, b - b0, c - c0, d - d0)
    return wp.dot(v, s.t0) + s.before0, wp.dot(v, s.t1) + s.before1


@wp.func
def slip_axes(u0: Scalar, u1: Scalar, s: SlidingPair):
    """Return the unit vectors along the slip and across it in the plane of sliding, and f'/y and
    f'' there.
    """
    y = wp.sqrt(u0 * u0 + u1 * u1)
    _value, over, second = smoothed_friction(y, s)
    c0 = Scalar(1.0)
    c1 = Scalar(0.0)
    if y > Scalar(0.0):
        c0 = u0 / y
        c1 = u1 / y
    return c0 * s.t0 + c1 * s.t1, c0 * s.t1 - c1 * s.t0, over, second


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
        grip = table.grip[one] * table.grip[other]
        s.mu_static = grip * table.mu_static[a, b]
        s.mu_kinetic = grip * table.mu_kinetic[a, b]
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
        s.before0 = part_of_e * smooth * wp.dot(before, s.t0)
        s.before1 = part_of_e * smooth * wp.dot(before, s.t1)
        at = place[i]
        slide[at] = s
        for j in range(4):
            out[at, j] = stencil[i, j]


@wp.kernel(module=_module)
def friction_energy(
    o: int,
    x: Vec3Array,
    origin: Vec3Array,
    stencil: IntArray2d,
    slide: SlidingArray,
    out: ScalarArray,
):
    """Write E of every pair."""
    i = o + wp.tid()
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    value, _over, _second = smoothed_friction(wp.sqrt(u0 * u0 + u1 * u1), s)
    out[i] = s.load * value


@wp.kernel(module=_module)
def friction_gradient(
    o: int,
    x: Vec3Array,
    origin: Vec3Array,
    stencil: IntArray2d,
    slide: SlidingArray,
    out: Vec3Array2d,
):
    """Write dE/dx of every pair."""
    i = o + wp.tid()
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    _value, over, _second = smoothed_friction(wp.sqrt(u0 * u0 + u1 * u1), s)
    force = s.load * over * (u0 * s.t0 + u1 * s.t1)
    for j in range(4):
        out[i, j] = s.w[j] * force


@wp.kernel(module=_module)
def friction_hessians(
    o: int,
    x: Vec3Array,
    origin: Vec3Array,
    stencil: IntArray2d,
    slide: SlidingArray,
    out: Mat33Array3d,
):
    """Write the exact Hessian of every pair."""
    i = o + wp.tid()
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    along, across, over, second = slip_axes(u0, u1, s)
    K = s.load * (second * wp.outer(along, along) + over * wp.outer(across, across))
    for a in range(4):
        for b in range(4):
            out[i, a, b] = (s.w[a] * s.w[b]) * K


@wp.kernel(module=_module)
def friction_factors(
    o: int,
    x: Vec3Array,
    origin: Vec3Array,
    stencil: IntArray2d,
    slide: SlidingArray,
    bound: int,
    out: Vec3Array3d,
):
    """Write the projected Hessian of every pair as two outer products, along u and across it; with
    ``bound`` both have the curvature f'/|u|.
    """
    i = o + wp.tid()
    zero = Scalar(0.0)
    s = slide[i]
    u0, u1 = sliding(i, x, origin, stencil, s)
    along, across, over, second = slip_axes(u0, u1, s)
    if bound != 0:
        second = over
    along = wp.sqrt(s.load * wp.max(second, zero)) * along
    across = wp.sqrt(s.load * over) * across
    for j in range(4):
        out[i, 0, j] = s.w[j] * along
        out[i, 1, j] = s.w[j] * across
        out[i, 2, j] = vec3(zero, zero, zero)


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
    u0, u1 = sliding(i, x, origin, stencil, s)
    out[i] = ((u0 - s.before0) * s.t0 + (u1 - s.before1) * s.t1) / s.smooth


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
    zero = Scalar(0.0)
    load = zero
    q = vec3(zero, zero, zero)
    for m in range(start[v], start[v + 1]):
        s = slide[element[m]]
        w = s.load * s.w[place[m]]
        load += wp.abs(w)
        q += w * change[element[m]]
    if load > zero:
        q = slip[v] + q / load
        q = q / wp.max(wp.length(q), Scalar(1.0))
    out[v] = q
