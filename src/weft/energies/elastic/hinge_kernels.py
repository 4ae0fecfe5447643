"""Warp functions and kernels of the dihedral angle, its gradient and its second derivative.

The angle is that of the faces (x0,x1,x2) and (x1,x0,x3) about the edge x0 -> x1. Its derivative by
a tip is the unit normal of the tip's face over the height of the tip; the derivatives by the ends
of the edge follow from the balance of force and moment (Tamstorf & Grinspun 2013 list the same
Hessian).
"""

from dataclasses import dataclass

import warp as wp

from weft.energies.element_energy import DampedStep, ElementKernels
from weft.energies.gather import FACTOR, SYMMETRIC, packed_index
from weft.kernel import (
    IntArray2d,
    Kernel,
    Mat33Array2d,
    Scalar,
    ScalarArray,
    Vec2Array,
    Vec3Array,
    Vec3Array2d,
    WarpFunction,
    WarpStruct,
    corners,
    mat33,
    vec2,
    vec3,
)
from weft.laws.clamp import cut_off
from weft.solve.newton.psd import Psd

_module = wp.get_module("weft.hinge")

COLLAPSED_SQ = Scalar(1e-30)  # [m^4] lower bound of |n|^2, the square of twice a face's area


@wp.struct
class Hinge:
    """Parameters of a hinge, and its damping in a step."""

    weight: Scalar  # [J] w
    rest: Scalar  # [rad] theta_0
    start: Scalar  # [rad] theta_n
    rate: Scalar  # [1] beta/h
    # [rad] added to theta - theta_n: h dtheta/dt of conditions, or the part of x_(n-1)
    lead: Scalar
    # [rad] elastic angle from which on the moment does not grow (``internal_friction``); 0: none
    slip: Scalar


@wp.func
def dihedral(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """Return the signed dihedral angle [rad] of faces (x0,x1,x2) and (x1,x0,x3).

    It is positive if the faces fold towards their front. atan2 keeps the sign and is accurate near
    0, where arccos is not.
    """
    e = x1 - x0
    n = wp.cross(e, x2 - x0)
    m = wp.cross(x3 - x0, e)
    return wp.atan2(wp.dot(e, wp.cross(m, n)) / wp.max(wp.length(e), Scalar(1e-30)), wp.dot(n, m))


@wp.func
def angle_difference(theta: Scalar, rest: Scalar):
    """Return theta - rest, wrapped to (-pi, pi]."""
    two_pi = Scalar(6.283185307179586)
    d = theta - rest
    if d > Scalar(0.5) * two_pi:
        d -= two_pi
    if d <= -Scalar(0.5) * two_pi:
        d += two_pi
    return d


@wp.func
def elastic_angle(h: Hinge, theta: Scalar):
    """Return theta - theta_0, cut off at the angle of slip, and the part beyond it."""
    return cut_off(angle_difference(theta, h.rest), h.slip)


@wp.func
def stiffness(h: Hinge, theta: Scalar):
    """Return the derivative of the moment by theta."""
    _c, beyond = elastic_angle(h, theta)
    return h.weight * (wp.where(beyond == Scalar(0.0), Scalar(1.0), Scalar(0.0)) + h.rate)


@wp.func
def deviation(h: Hinge, theta: Scalar):
    """Return theta - theta_0 + beta/h (theta - theta_n + lead); the moment is w times this."""
    d, _beyond = elastic_angle(h, theta)
    if h.rate != Scalar(0.0):
        d += h.rate * (angle_difference(theta, h.start) + h.lead)
    return d


@wp.func
def energies(h: Hinge, theta: Scalar):
    """Return 1/2 w (theta - theta_0)^2, and what is lost: 1/2 beta/h w (theta - theta_n + lead)^2
    by damping, and the moment of slip times the angle beyond it.
    """
    half = Scalar(0.5) * h.weight
    d, beyond = elastic_angle(h, theta)
    r = Scalar(0.0)
    if h.rate != Scalar(0.0):
        r = angle_difference(theta, h.start) + h.lead
    return vec2(half * d * d, half * h.rate * r * r + h.weight * d * beyond)


@wp.func
def flap(e: vec3, d: vec3, n: vec3):
    """Return the gradient of theta by the tip of one flap, up to its sign, and the tip's foot.

    The gradient is n^/height. The foot of the tip on the edge e is given as a fraction of e; d is
    the tip relative to the start of e.
    """
    g = (wp.length(e) / wp.max(wp.dot(n, n), COLLAPSED_SQ)) * n
    t = wp.dot(d, e) / wp.max(wp.dot(e, e), Scalar(1e-30))
    return g, t


@wp.func
def dihedral_gradient(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """Return d theta/dx of the four vertices.

    Tips move along their normals; force and moment of the four vertices are in balance, which
    determines the gradients of the edge's ends.
    """
    e = x1 - x0
    g2, t2 = flap(e, x2 - x0, wp.cross(e, x2 - x0))
    g3, t3 = flap(e, x3 - x0, wp.cross(x3 - x0, e))
    one = Scalar(1.0)
    g0 = -((one - t2) * g2 + (one - t3) * g3)
    g1 = -(t2 * g2 + t3 * g3)
    return g0, g1, g2, g3


@wp.func
def flap_derivative(e: vec3, d: vec3, n: vec3, N: mat33, length_gradient: vec3):
    """Return dg/dx_j of ``flap``'s g = |e| n/|n|^2, given N = dn/dx_j and d|e|/dx_j."""
    n_sq = wp.max(wp.dot(n, n), COLLAPSED_SQ)
    reflect = (wp.identity(n=3, dtype=Scalar) - (Scalar(2.0) / n_sq) * wp.outer(n, n)) / n_sq
    return wp.length(e) * (reflect * N) + wp.outer(n, length_gradient) / n_sq


@wp.kernel(module=_module)
def angles(o: int, x: Vec3Array, stencil: IntArray2d, out: ScalarArray):
    """Compute theta of every hinge."""
    i = o + wp.tid()
    x0, x1, x2, x3 = corners(i, x, stencil)
    out[i] = dihedral(x0, x1, x2, x3)


@dataclass(frozen=True)
class HingeLaw:
    """Warp functions (hinge, theta) of what a hinge resists its angle with.

    ``Params`` has the fields of ``Hinge``.
    """

    Params: WarpStruct
    energies: WarpFunction  # the elastic and the dissipated energy
    deviation: WarpFunction  # the moment over ``weight``
    stiffness: WarpFunction  # the derivative of the moment


LINEAR = HingeLaw(Hinge, energies, deviation, stiffness)


def hinge_hessian(module: wp.Module, law: "HingeLaw") -> Kernel:
    """Build the kernel of the exact Hessian of hinges with a law."""
    Params, deviation_of, stiffness_of = law.Params, law.deviation, law.stiffness

    @wp.kernel(module=module)
    def hessian(
        o: int, x: Vec3Array, stencil: IntArray2d, hinge: wp.array(dtype=Params), out: Mat33Array2d
    ):
        """Compute the exact Hessian of every hinge.

        It is w [(1 + beta/h) dtheta dtheta^T + deviation d2theta], in blocks on and above the
        diagonal.
        """
        i = o + wp.tid()
        x0, x1, x2, x3 = corners(i, x, stencil)
        e = x1 - x0
        d2 = x2 - x0
        d3 = x3 - x0
        n2 = wp.cross(e, d2)
        n3 = wp.cross(d3, e)
        g2, t2 = flap(e, d2, n2)
        g3, t3 = flap(e, d3, n3)
        e_sq = wp.max(wp.dot(e, e), Scalar(1e-30))
        along = e / wp.sqrt(e_sq)
        zero = vec3(Scalar(0.0))
        one = Scalar(1.0)
        theta = dihedral(x0, x1, x2, x3)
        stiff = stiffness_of(hinge[i], theta)
        moment = hinge[i].weight * deviation_of(hinge[i], theta)
        g0, g1, h2, h3 = dihedral_gradient(x0, x1, x2, x3)
        for j in range(4):
            N2 = mat33(Scalar(0.0))
            N3 = mat33(Scalar(0.0))
            length_gradient = zero
            dt2 = zero
            dt3 = zero
            if j == 0:
                N2 = wp.skew(d2 - e)
                N3 = wp.skew(e - d3)
                length_gradient = -along
                dt2 = ((Scalar(2.0) * t2 - one) * e - d2) / e_sq
                dt3 = ((Scalar(2.0) * t3 - one) * e - d3) / e_sq
            if j == 1:
                N2 = -wp.skew(d2)
                N3 = wp.skew(d3)
                length_gradient = along
                dt2 = (d2 - Scalar(2.0) * t2 * e) / e_sq
                dt3 = (d3 - Scalar(2.0) * t3 * e) / e_sq
            if j == 2:
                N2 = wp.skew(e)
                dt2 = e / e_sq
            if j == 3:
                N3 = -wp.skew(e)
                dt3 = e / e_sq
            G2 = flap_derivative(e, d2, n2, N2, length_gradient)
            G3 = flap_derivative(e, d3, n3, N3, length_gradient)
            g_j = wp.where(j == 0, g0, wp.where(j == 1, g1, wp.where(j == 2, h2, h3)))
            slide = wp.outer(g2, dt2) + wp.outer(g3, dt3)
            fall = slide - (one - t2) * G2 - (one - t3) * G3
            out[i, packed_index(0, j, 4)] = moment * fall + stiff * wp.outer(g0, g_j)
            if j >= 1:
                rise = -slide - t2 * G2 - t3 * G3
                out[i, packed_index(1, j, 4)] = moment * rise + stiff * wp.outer(g1, g_j)
            if j >= 2:
                out[i, packed_index(2, j, 4)] = moment * G2 + stiff * wp.outer(h2, g_j)
            if j >= 3:
                out[i, packed_index(3, j, 4)] = moment * G3 + stiff * wp.outer(h3, g_j)

    return hessian


def angle_kernels(
    module: wp.Module,
    angle: WarpFunction,
    gradient: WarpFunction,
    hessian: Kernel,
    law: HingeLaw = LINEAR,
) -> ElementKernels:
    """Build the kernels of hinges for an angle and what is taken for its gradient.

    Args:
        module: Warp module of the kernels.
        angle: Warp function (x0, x1, x2, x3) -> theta.
        gradient: Warp function (x0, x1, x2, x3) -> d theta/dx of the four vertices.
        hessian: kernel of the exact Hessian, in blocks on and above the diagonal.
        law: of the moment.
    """
    Params, energies_of = law.Params, law.energies
    deviation_of, stiffness_of = law.deviation, law.stiffness

    @wp.kernel(module=module)
    def energy(
        o: int, x: Vec3Array, stencil: IntArray2d, hinge: wp.array(dtype=Params), out: Vec2Array
    ):
        """Compute the elastic and the dissipated energy of every hinge."""
        i = o + wp.tid()
        x0, x1, x2, x3 = corners(i, x, stencil)
        out[i] = energies_of(hinge[i], angle(x0, x1, x2, x3))

    @wp.kernel(module=module)
    def forces(
        o: int, x: Vec3Array, stencil: IntArray2d, hinge: wp.array(dtype=Params), out: Vec3Array2d
    ):
        """Compute moment times d theta/dx of every hinge."""
        i = o + wp.tid()
        x0, x1, x2, x3 = corners(i, x, stencil)
        moment = hinge[i].weight * deviation_of(hinge[i], angle(x0, x1, x2, x3))
        g0, g1, g2, g3 = gradient(x0, x1, x2, x3)
        out[i, 0] = moment * g0
        out[i, 1] = moment * g1
        out[i, 2] = moment * g2
        out[i, 3] = moment * g3

    @wp.kernel(module=module)
    def factor(
        o: int, x: Vec3Array, stencil: IntArray2d, hinge: wp.array(dtype=Params), out: Vec3Array2d
    ):
        """Compute f = sqrt(stiffness) d theta/dx; the Gauss-Newton Hessian is f f^T."""
        i = o + wp.tid()
        x0, x1, x2, x3 = corners(i, x, stencil)
        g0, g1, g2, g3 = gradient(x0, x1, x2, x3)
        stiff = hinge[i].weight * (Scalar(1.0) + hinge[i].rate)
        if hinge[i].slip > Scalar(0.0):  # others need no angle
            stiff = stiffness_of(hinge[i], angle(x0, x1, x2, x3))
        s = wp.sqrt(wp.max(stiff, Scalar(0.0)))
        out[i, 0] = s * g0
        out[i, 1] = s * g1
        out[i, 2] = s * g2
        out[i, 3] = s * g3

    # Without the second derivative of theta the Hessian is positive semi-definite.
    return ElementKernels(
        energy,
        forces,
        {
            Psd.EXACT: (hessian, SYMMETRIC),
            Psd.PROJECTED: (factor, FACTOR),
            Psd.GAUSS_NEWTON: (factor, FACTOR),
        },
        _freeze_kernel(module, angle, gradient, Params),
    )


def _freeze_kernel(
    module: wp.Module, angle: WarpFunction, gradient: WarpFunction, Params: WarpStruct
) -> Kernel:
    """Build the kernel that freezes the damping of hinges; arguments as of ``angle_kernels``."""

    @wp.kernel(module=module)
    def freeze(
        o: int,
        x: Vec3Array,
        other: Vec3Array,
        stencil: IntArray2d,
        step: DampedStep,
        out: wp.array(dtype=Params),
    ):
        """Freeze the damping of every hinge at its angle at x.

        ``lead`` is h dtheta/dx . v if h is not 0 (``other`` is v), or minus ``past`` times the
        change of theta since x_(n-1) (``other`` is x_(n-1)).
        """
        i = o + wp.tid()
        x0, x1, x2, x3 = corners(i, x, stencil)
        theta = angle(x0, x1, x2, x3)
        lead = Scalar(0.0)
        if step.h != Scalar(0.0):
            v0, v1, v2, v3 = corners(i, other, stencil)
            g0, g1, g2, g3 = gradient(x0, x1, x2, x3)
            lead = step.h * (wp.dot(g0, v0) + wp.dot(g1, v1) + wp.dot(g2, v2) + wp.dot(g3, v3))
        if step.past != Scalar(0.0):
            b0, b1, b2, b3 = corners(i, other, stencil)
            lead -= step.past * angle_difference(theta, angle(b0, b1, b2, b3))
        hinge = out[i]
        hinge.start = theta
        hinge.rate = step.rate
        hinge.lead = lead
        out[i] = hinge

    return freeze


HINGE_KERNELS = angle_kernels(_module, dihedral, dihedral_gradient, hinge_hessian(_module, LINEAR))
