"""Stiffness-proportional damping of quadratic bending, in a form that rigid motion does not feel.

Bending is 1/2 w |L|^2 of the surface's Laplacian L = sum_a c_a x_a, which near an isometry is
normal to the surface. Its damping measures the rate of h = n.L, n the unit normal:

    E = beta/(2 dt) w (h - h_n)^2

A rotation turns n and L alike, so h does not change. If the surface bends without stretching, the
Hessian is beta/dt times that of bending (tests/energies/test_curvature_damping.py).

The normal may vanish, as between the faces of a closed fold. There ``least_normal`` keeps the
derivatives bounded: n = N/sqrt(|N|^2 + least_normal^2).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName, damping_rate, repeat_per_element
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.energies.element_energy import ElementEnergy, ElementKernels
from weft.energies.gather import FACTOR
from weft.energies.step import Step
from weft.kernel import (
    IntArray2d,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Vec2Array,
    Vec2Array2d,
    Vec3Array,
    Vec3Array2d,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd

_module = wp.get_module("weft.curvature_damping")

TINY = 1e-30  # least length of a normal, which only avoids a division by zero


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
    """Return the tangents t0 and t1 of the surface at point q, and its Laplacian."""
    t0 = vec3(Scalar(0.0))
    t1 = vec3(Scalar(0.0))
    L = vec3(Scalar(0.0))
    for a in range(stencil.shape[1]):
        y = x[stencil[q, a]]
        t0 += p.dN[q, a][0] * y
        t1 += p.dN[q, a][1] * y
        L += p.c[q, a] * y
    return t0, t1, L


@wp.func
def normal_length(N: vec3, least: Scalar):
    """Return sqrt(|N|^2 + least^2), a smooth |N| that is never less than ``least``."""
    return wp.sqrt(wp.dot(N, N) + least * least)


@wp.func
def normal_laplacian(t0: vec3, t1: vec3, L: vec3, least: Scalar):
    """Return h = n.L."""
    N = wp.cross(t0, t1)
    return wp.dot(N, L) / normal_length(N, least)


@wp.kernel(module=_module)
def freeze_curvatures(
    o: int,
    x: Vec3Array,
    other: Vec3Array,
    stencil: IntArray2d,
    rate: Scalar,
    h: Scalar,
    past: Scalar,
    p: BendingPoints,
):
    """Store h_n of every point, plus ``past`` times its change since x_(n-1), and the rate.

    ``other`` is x_(n-1).
    """
    q = o + wp.tid()
    t0, t1, L = frame_of(q, x, stencil, p)
    start = normal_laplacian(t0, t1, L, p.least)
    if past != Scalar(0.0):
        s0, s1, K = frame_of(q, other, stencil, p)
        start += past * (start - normal_laplacian(s0, s1, K, p.least))
    p.start[q] = start
    if q == 0:
        p.rate[0] = rate


@wp.kernel(module=_module)
def rate_energy(o: int, x: Vec3Array, stencil: IntArray2d, p: BendingPoints, out: Vec2Array):
    """Compute beta/(2h) w (h - h_n)^2, which is all dissipated."""
    q = o + wp.tid()
    t0, t1, L = frame_of(q, x, stencil, p)
    d = normal_laplacian(t0, t1, L, p.least) - p.start[q]
    out[q] = vec2(Scalar(0.0), Scalar(0.5) * p.rate[0] * p.weight[q] * d * d)


@wp.func
def differentiate(
    q: int, x: Vec3Array, stencil: IntArray2d, p: BendingPoints, root: int, out: Vec3Array2d
):
    """Compute dh times rate w (h - h_n) (root 0), or dh times sqrt(rate w) (root 1).

    The first is the gradient, the second a factor of its Hessian. dh = n.dL + s.d(t0 x t1) with s =
    (L - h n)/|t0 x t1|, which also holds where the length is bounded from below.
    """
    t0, t1, L = frame_of(q, x, stencil, p)
    N = wp.cross(t0, t1)
    length = normal_length(N, p.least)
    n = N / length
    h = wp.dot(n, L)
    s = (L - h * n) / length
    weight = p.rate[0] * p.weight[q]
    by = weight * (h - p.start[q])
    if root != 0:
        by = wp.sqrt(weight)
    u = wp.cross(t1, s)
    v = wp.cross(s, t0)
    for a in range(stencil.shape[1]):
        out[q, a] = by * (p.c[q, a] * n + p.dN[q, a][0] * u + p.dN[q, a][1] * v)


def _derivative(root: int) -> Any:
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
    least_normal: float = TINY  # [1] |dx/du x dx/dv| that counts as no normal

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

    @property
    def constants(self) -> ByName:
        """Constants by name: weights and coefficients (q,k) of bending, time constant [s]."""
        f = self.source
        beta = repeat_per_element(self.damping, len(f.weight))
        return {"weight": f.weight, "coefficient": f.coefficient, "damping": beta}

    @property
    def structure(self) -> Any:
        """Data besides the constants: the stencil, gradients and least normal."""
        return self.source.structure, self.gradient_of_points, self.least_normal

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by ``weight``, ``damping`` (q,k,3), and ``coefficient`` (q,k,3,k).

        All are zero without a step. With g = beta/h w (h - h_r) D, D_a = c_a n + dN_a0 u + dN_a1 v,
        all of h, h_r, u and v are linear in c.
        """
        f, rate = self.source, damping_rate(step)
        q, k = f.stencil.shape
        if step is None or rate == 0:
            zero = np.zeros((q, k, 3))
            return {"weight": zero, "coefficient": np.zeros((q, k, 3, k)), "damping": zero}
        before, a = self._curvatures(np.asarray(step.state.x))[2], step.past_part
        if step.past is not None:
            before = before + a * (before - self._curvatures(step.past[0])[2])
        _, change, by_c = self._curvatures(np.asarray(x))
        off, c, w = by_c - before, f.coefficient, f.weight  # (q,k) of h - h_r
        D = np.einsum("qaib,qb->qai", change, c)
        d = (off * c).sum(1)
        by = np.einsum("qb,qai->qaib", off, D) + d[:, None, None, None] * change
        scale, beta = rate * w[:, None, None], self.damping
        return {
            "weight": beta * rate * d[:, None, None] * D,
            "coefficient": beta * scale[..., None] * by,
            "damping": scale * d[:, None, None] * D,
        }

    def _curvatures(self, x: Positions) -> tuple[Floats, Floats, Floats]:
        """Return n (q,3), and D (q,k,3,k) and h (q,k) per unit of each coefficient."""
        dN, y = self.gradient_of_points, x[self.source.stencil]
        t0, t1 = (np.einsum("qa,qai->qi", dN[:, :, j], y) for j in (0, 1))
        N = np.cross(t0, t1)
        length = np.sqrt((N * N).sum(1) + self.least_normal**2)[:, None]
        n = N / length
        h = np.einsum("qi,qbi->qb", n, y)
        s = (y - h[:, :, None] * n[:, None]) / length[:, None]
        u, v = np.cross(t1[:, None], s), np.cross(s, t0[:, None])  # (q,b,3)
        D = np.einsum("ab,qi->qaib", np.eye(y.shape[1]), n)
        D += np.einsum("qa,qbi->qaib", dN[:, :, 0], u) + np.einsum("qa,qbi->qaib", dN[:, :, 1], v)
        return n, D, h

    def unit_measure(self, parameters: Any) -> Any:
        """Return parameters for which the gradient is that of the curvature."""
        p = parameters
        p.start = kernel.array(np.array(kernel.numpy(p.start)) - 1.0, Scalar)
        p.weight = kernel.array(np.ones(len(self.damped_weight)), Scalar)
        return p

    @property
    def damped_weight(self) -> Floats:
        """Weights (q,) of damping: those of bending."""
        return self.source.weight

    def parameters(self) -> Any:
        """Return ``BendingPoints`` on the device, without damping."""
        f, p = self.source, BendingPoints()
        p.dN = kernel.array(self.gradient_of_points, vec2)
        p.c, p.weight = kernel.array(f.coefficient, Scalar), kernel.array(f.weight, Scalar)
        p.start, p.rate = kernel.zeros(len(f.weight)), kernel.zeros(1)
        p.least = Scalar(self.least_normal)
        return p
