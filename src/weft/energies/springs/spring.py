"""Springs E = phi(q(x)): what all kinds of springs share.

An element has one coordinate q of its points, a distance say, or two; and a law phi(q), which is
the sum of one function of each coordinate. Both are Warp functions, from which ``spring_kernels``
builds the kernels of an ``ElementEnergy``:

    dE/dx_a = phi' dq/dx_a,   d2E/dx_a dx_b = phi'' dq/dx_a dq/dx_b^T + phi' d2q/dx_a dx_b

Damping and lagged friction belong to the law, with the numbers that a step freezes.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

import numpy as np
import warp as wp
from numpy.typing import ArrayLike

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Positions
from weft.energies.condition_term import no_conditions
from weft.energies.derivative import DifferentiableTerm
from weft.energies.element_energy import ElementEnergy, ElementKernels, ElementTerm
from weft.energies.gather import FULL
from weft.energies.step import Step
from weft.kernel import (
    IntArray2d,
    Kernel,
    Mat33Array3d,
    Scalar,
    Vec2Array,
    Vec3Array,
    Vec3Array2d,
    WarpArray,
    WarpFunction,
    WarpStruct,
    mat33,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


class Curvature(Enum):
    """Treatment of the term phi' d2q of a Hessian that must be positive semi-definite."""

    KEPT = 0  # all of it: the Hessian is exact
    CLAMPED = 1  # phi' is at least 0, which is the exact projection where q is convex
    DROPPED = 2  # none of it


@dataclass(frozen=True)
class CoordinateFunctions:
    """Warp functions of the coordinates q of element i, with parameters p of all elements."""

    count: int  # 1 or 2; q is a vec2, whose second number is 0 if there is only one coordinate
    measure: WarpFunction  # (i, x, stencil, p) -> a struct with the field q, and what slopes need
    slope: WarpFunction  # (c, measured, i, a, p) -> dq_c/dx_a, vec3
    curvature: WarpFunction  # (c, measured, i, a, b, p) -> d2q_c/dx_a dx_b, mat33


@dataclass(frozen=True)
class SpringLaw:
    """Warp functions of q (vec2) and the numbers of one spring."""

    Params: WarpStruct  # struct of these numbers
    energy: WarpFunction  # (q, p) -> vec2: the elastic and the dissipated part [J]
    force: WarpFunction  # (q, p) -> vec2: the derivative of the energy by each coordinate
    stiffness: WarpFunction  # (q, p) -> vec2: its second derivative by each coordinate


@dataclass(frozen=True)
class SpringKernels(ElementKernels):
    """Kernels of springs; their parameters are a struct of arrays with a ``law``, (m,) Params."""

    coordinates: Kernel | None = None  # out (m,) vec2: q
    forces: Kernel | None = None  # out (m,) vec2: phi'
    law: SpringLaw | None = None
    Elements: WarpStruct = None  # struct of the parameters


def spring_kernels(
    name: str,
    Elements: WarpStruct,
    coordinates: CoordinateFunctions,
    law: SpringLaw,
    curvatures: Mapping[Psd, Curvature],
) -> SpringKernels:
    """Build the kernels of a kind of springs.

    Args:
        name: of the Warp module, after ``weft.springs``.
        Elements: struct of the parameters of all elements, with the field ``law``.
        coordinates: functions of q.
        law: functions of phi.
        curvatures: how Hessians are projected; for modes that are missing the eigenvalues of the
            exact Hessian are clamped.
    """
    module, count = wp.get_module(f"weft.springs.{name}"), coordinates.count
    measure, slope = coordinates.measure, coordinates.slope
    phi, dphi = law.energy, law.force

    @wp.kernel(module=module)
    def energy(o: int, x: Vec3Array, stencil: IntArray2d, p: Elements, out: Vec2Array):
        i = o + wp.tid()
        out[i] = phi(measure(i, x, stencil, p).q, p.law[i])

    @wp.kernel(module=module)
    def gradient(o: int, x: Vec3Array, stencil: IntArray2d, p: Elements, out: Vec3Array2d):
        i = o + wp.tid()
        m = measure(i, x, stencil, p)
        force = dphi(m.q, p.law[i])
        for a in range(stencil.shape[1]):
            g = vec3(Scalar(0.0))
            for c in range(count):
                g += force[c] * slope(c, m, i, a, p)
            out[i, a] = g

    @wp.kernel(module=module)
    def measure_all(o: int, x: Vec3Array, stencil: IntArray2d, p: Elements, out: Vec2Array):
        i = o + wp.tid()
        out[i] = measure(i, x, stencil, p).q

    @wp.kernel(module=module)
    def forces(o: int, x: Vec3Array, stencil: IntArray2d, p: Elements, out: Vec2Array):
        i = o + wp.tid()
        out[i] = dphi(measure(i, x, stencil, p).q, p.law[i])

    modes = {Psd.EXACT: Curvature.KEPT, **curvatures}
    hessians = {
        curvature: _hessian_kernel(module, Elements, coordinates, law, curvature)
        for curvature in dict.fromkeys(modes.values())
    }
    return SpringKernels(
        energy,
        gradient,
        {psd: (hessians[curvature], FULL) for psd, curvature in modes.items()},
        coordinates=measure_all,
        forces=forces,
        law=law,
        Elements=Elements,
    )


def _hessian_kernel(
    module: wp.Module,
    Elements: WarpStruct,
    coordinates: CoordinateFunctions,
    law: SpringLaw,
    kind: Curvature,
) -> Kernel:
    """Build the kernel of Hessians with one treatment of the second derivative of q."""
    measure, slope, bend = coordinates.measure, coordinates.slope, coordinates.curvature
    dphi, ddphi, count, mode = law.force, law.stiffness, coordinates.count, kind.value

    @wp.kernel(module=module)
    def hessian(o: int, x: Vec3Array, stencil: IntArray2d, p: Elements, out: Mat33Array3d):
        i = o + wp.tid()
        m = measure(i, x, stencil, p)
        force = dphi(m.q, p.law[i])
        stiffness = ddphi(m.q, p.law[i])
        k = stencil.shape[1]
        for a in range(k):
            for b in range(k):
                block = mat33(Scalar(0.0))
                for c in range(count):
                    s = slope(c, m, i, b, p)
                    block += stiffness[c] * wp.outer(slope(c, m, i, a, p), s)
                    if wp.static(mode == 0):
                        block += force[c] * bend(c, m, i, a, b, p)
                    if wp.static(mode == 1):
                        block += wp.max(force[c], Scalar(0.0)) * bend(c, m, i, a, b, p)
                out[i, a, b] = block

    return hessian


class SpringEnergy(ElementEnergy):
    """Springs whose kernels are those of ``spring_kernels``."""

    kernels: SpringKernels
    is_elastic = False  # in the sense of ``Term``

    @abstractmethod
    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return new parameters on the device, at the end of a step, or at the start without it."""

    def coordinates(self, x: Positions, parameters: WarpStruct = None) -> Floats:
        """Return q at positions x (n,3), (m,2)."""
        return self._evaluate(x, self.kernels.coordinates, self._pairs(), parameters)

    def coordinate(self, x: Positions) -> Floats:
        """Return the first coordinate at positions x (n,3), (m,)."""
        return self.coordinates(x)[:, 0]

    def forces_along(self, x: Positions, parameters: WarpStruct = None) -> Floats:
        """Return dE/dq at positions x (n,3), (m,2)."""
        return self._evaluate(x, self.kernels.forces, self._pairs(), parameters)

    def _pairs(self) -> WarpArray:
        return kernel.empty(len(self.stencil), vec2)

    def parameters_in(self, step: Step | None) -> WarpStruct:
        """Return the parameters at the end of a step."""
        return self.parameters(step)

    def track(self, parameters: WarpStruct) -> WarpStruct:
        """Return the parameters with derivatives by the numbers of the law, which are zeros."""
        return kernel.track_fields(parameters, "law")

    def derivatives(self, parameters: WarpStruct) -> AnyArray:
        """Return the derivatives by the numbers of the law, (m,) records."""
        return kernel.derivatives(parameters.law)

    def records(self, **numbers: ArrayLike) -> WarpArray:
        """Return the law's numbers on the device, (m,) Params; fields without a number are 0."""
        assert self.kernels.law is not None
        Params = self.kernels.law.Params
        return kernel.array(kernel.records(Params, len(self.stencil), **numbers), Params)

    def bind(self, pattern: BlockPattern) -> "SpringTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return SpringTerm(self, pattern)


class SpringTerm(ElementTerm):
    """Springs bound to a block pattern, whose numbers are the same in every step."""

    energy: SpringEnergy

    def __init__(self, energy: SpringEnergy, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self.is_elastic = energy.is_elastic

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Raise a LawError, because springs are not written in conditions."""
        raise no_conditions(self)

    @property
    def law_numbers(self) -> AnyArray:
        """A copy of the numbers of the law in the step, (m,) records."""
        return np.array(kernel.numpy(self.parameters.law))

    def _host(self, x: WarpArray) -> Positions:
        return np.array(kernel.numpy(x))


class SteppedSpring(SpringTerm):
    """Springs bound to a block pattern, with the numbers of the end of a step."""

    def freeze(self, step: Step) -> None:
        """Take the numbers of the end of a step."""
        self.parameters = self.energy.parameters(step)

    # What the numbers take from the start of a step has no derivative, unless a subclass says so.
    pull_back = DifferentiableTerm.pull_back
