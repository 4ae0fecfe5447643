"""Stiffness-proportional damping of quadratic bending, in a form that rigid motion does not feel.

Bending is 1/2 w |L|^2 of the surface's Laplacian L = sum_a c_a x_a, which near an isometry is
normal to the surface. Its damping measures the rate of h = n.L, n the unit normal:

    E = beta/(2 dt) w (h - h_n)^2

A rotation turns n and L alike, so h does not change. If the surface bends without stretching, the
Hessian is beta/dt times that of bending (tests/engine/energies/test_curvature_damping.py).

The normal may vanish, as between the faces of a closed fold. There ``least_normal`` keeps the
derivatives bounded: n = N/sqrt(|N|^2 + least_normal^2).
"""

from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import TINY, ByName, damping_rate, repeat_per_element
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.element_energy import DampedStep, ElementEnergy, ElementKernels
from weft.energies.gather import FACTOR
from weft.energies.step import Step
from weft.kernel import (
    IntArray2d,
    Kernel,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Vec2Array,
    Vec2Array2d,
    Vec3Array,
    Vec3Array2d,
    WarpStruct,
    mat33,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd

_module = wp.get_module("weft.curvature_damping")

LEAST = 1e-30  # length of a normal that only avoids a division by zero


@wp.struct
class BendingPoints:
    """Sample points of bending, and their damping in a step."""

    dN: Vec2Array2d  # (q,k) [1/m]
    c: ScalarArray2d  # (q,k) coefficients of the Laplacian
    weight: ScalarArray  # (q,) w of bending
    start: ScalarArray  # (q,) h_n
    rate: ScalarArray  # (1,) beta/h
    least: Scalar  # length of a normal that counts as none


@wp.func
def frame_of(q: int, x: Vec3Array, stencil: IntArray2d, p: BendingPoints):
    """Return the rows t0, t1 and L at point q: tangents of the surface, and its Laplacian."""
    t0 = vec3(Scalar(0.0))
    t1 = vec3(Scalar(0.0))
    L = vec3(Scalar(0.0))
    for a in range(stencil.shape[1]):
        y = x[stencil[q, a]]
        t0 += p.dN[q, a][0] * y
        t1 += p.dN[q, a][1] * y
        L += p.c[q, a] * y
    return wp.matrix_from_rows(t0, t1, L)


@wp.func
def normal_length(N: vec3, least: Scalar):
    """Return sqrt(|N|^2 + least^2), a smooth |N| that is never less than ``least``."""
    return wp.sqrt(wp.dot(N, N) + least * least)


@wp.func
def normal_laplacian(frame: mat33, least: Scalar):
    """Return h = n.L."""
    N = wp.cross(frame[0], frame[1])
    return wp.dot(N, frame[2]) / normal_length(N, least)


@wp.kernel(module=_module)
def freeze_curvatures(
    o: int,
    x: Vec3Array,
    other: Vec3Array,
    stencil: IntArray2d,
    step: DampedStep,
    p: BendingPoints,
):
    """Store h_n of every point, plus ``past`` times its change since x_(n-1), and the rate.

    ``other`` is x_(n-1).
    """
    q = o + wp.tid()
    start = normal_laplacian(frame_of(q, x, stencil, p), p.least)
    if step.past != Scalar(0.0):
        before = normal_laplacian(frame_of(q, other, stencil, p), p.least)
        start += step.past * (start - before)
    p.start[q] = start
    if q == 0:
        p.rate[0] = step.rate


@wp.kernel(module=_module)
def rate_energy(o: int, x: Vec3Array, stencil: IntArray2d, p: BendingPoints, out: Vec2Array):
    """Compute beta/(2h) w (h - h_n)^2, which is all dissipated."""
    q = o + wp.tid()
    d = normal_laplacian(frame_of(q, x, stencil, p), p.least) - p.start[q]
    out[q] = vec2(Scalar(0.0), Scalar(0.5) * p.rate[0] * p.weight[q] * d * d)


@wp.func
def curvature_slope(frame: mat33, least: Scalar):
    """Return h = n.L and its derivative by the frame.

    dh = n.dL + s.d(t0 x t1) with s = (L - h n)/|t0 x t1|, which also holds where the length is
    bounded from below.
    """
    N = wp.cross(frame[0], frame[1])
    length = normal_length(N, least)
    n = N / length
    h = wp.dot(n, frame[2])
    s = (frame[2] - h * n) / length
    return h, wp.matrix_from_rows(wp.cross(frame[1], s), wp.cross(s, frame[0]), n)


@wp.func
def differentiate(
    q: int, x: Vec3Array, stencil: IntArray2d, p: BendingPoints, root: int, out: Vec3Array2d
):
    """Compute dh times rate w (h - h_n) (root 0), or dh times sqrt(rate w) (root 1).

    The first is the gradient, the second a factor of its Hessian.
    """
    h, slope = curvature_slope(frame_of(q, x, stencil, p), p.least)
    weight = p.rate[0] * p.weight[q]
    by = weight * (h - p.start[q])
    if root != 0:
        by = wp.sqrt(weight)
    for a in range(stencil.shape[1]):
        d = p.dN[q, a]
        out[q, a] = by * (p.c[q, a] * slope[2] + d[0] * slope[0] + d[1] * slope[1])


def _derivative(root: int) -> Kernel:
    """Build the kernel of the gradient (root 0) or of the factor of the Hessian (root 1)."""

    @wp.kernel(module=_module)
    def derivative(o: int, x: Vec3Array, stencil: IntArray2d, p: BendingPoints, out: Vec3Array2d):
        differentiate(o + wp.tid(), x, stencil, p, root, out)

    return derivative


@dataclass(frozen=True, eq=False)
class CurvatureDamping(ElementEnergy):
    """Damping energy of quadratic bending; it is zero before a step has begun.

    The Hessian is always the Gauss-Newton one.
    """

    source: QuadraticForm
    gradient_of_points: Floats  # (q,k,2) [1/m] dN/dX at the points of bending
    damping: float  # [s]
    n_vertices: int
    name: str = "bending"
    least_normal: float = LEAST  # [1] |dx/du x dx/dv| that counts as no normal

    kernels = ElementKernels(
        rate_energy,
        _derivative(0),
        dict.fromkeys(Psd, (_derivative(1), FACTOR)),
        freeze_curvatures,
        has_exact_hessian=False,
    )

    @property
    def stencil(self) -> Ints:
        """Points of each sample, (q,k)."""
        return self.source.stencil

    rest_tables = ("weight", "coefficient", "gradient")

    @property
    def constants(self) -> ByName:
        """Constants by name: weights, coefficients (q,k), slopes (q,k,2), time constant [s]."""
        f = self.source
        beta = repeat_per_element(self.damping, len(f.weight))
        return {
            "weight": f.weight,
            "coefficient": f.coefficient,
            "gradient": self.gradient_of_points,
            "damping": beta,
        }

    @property
    def structure(self) -> object:
        """Data besides the constants: the stencil and the least normal."""
        return self.source.structure, self.least_normal

    def track(self, parameters: WarpStruct) -> WarpStruct:
        """Return the parameters with derivatives by them, which are zeros."""
        return kernel.track_fields(parameters, "dN", "c", "weight", "start")

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (q,...), for ``by`` (q,k,3) of each point."""
        beta, w, p = (
            max(self.damping, TINY),
            self.source.weight,
            self.track(self.parameters_in(step)),
        )
        self.pull_back_gradient(x, by, p)
        if step is not None and damping_rate(step) > 0:
            self.pull_back_freeze(step, beta * damping_rate(step), p)
        by_weight = kernel.derivatives(p.weight)
        return {
            "weight": self.damping / beta * by_weight,
            "coefficient": self.damping / beta * kernel.derivatives(p.c),
            "gradient": self.damping / beta * kernel.derivatives(p.dN),
            "damping": by_weight * w / beta,
        }

    def parameters(self) -> WarpStruct:
        """Return ``BendingPoints`` on the device, without damping."""
        f, p = self.source, BendingPoints()
        p.dN = kernel.array(self.gradient_of_points, vec2)
        p.c, p.weight = kernel.array(f.coefficient, Scalar), kernel.array(f.weight, Scalar)
        p.start, p.rate = kernel.zeros(len(f.weight)), kernel.zeros(1)
        p.least = Scalar(self.least_normal)
        return p
