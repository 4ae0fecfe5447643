"""Element energies: energies that are given by kernels over elements, and their parameters.

All else that such an energy needs is written here, once. A new bending energy is one file: kernels
``energy``, ``gradient`` and ``hessian`` of an element, and how a fabric gives their parameters
(docs/guides/extend-laws.md). Kernels take ``(o, x, stencil, parameters, out)``; parameters are an
array of a struct, one per element, or a struct of arrays.

Stiffness-proportional damping with the time constant beta belongs to the energy: the quantity that
an element measures, theta say, is damped by beta/(2h) k (theta - theta_n)^2, with h the step and
theta_n the value at its start; for two steps of the past see ``Step``. In small motions this is
Rayleigh damping, -beta K_n v; rigid motions of any size do not feel it
(``tests/engine/energies/test_damping.py``).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Ints, Positions
from weft.energies.by_constants import TINY, ByName, ContractedEnergy, damping_rate
from weft.energies.condition_term import ConditionTerm
from weft.energies.derivative import DifferentiableTerm
from weft.energies.eigenvalue_clamp import clamp_eigenvalues
from weft.energies.gather import BlockLayout, GatherMap
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import DampedTerm
from weft.kernel import Kernel, Scalar, Scratch, WarpArray, WarpStruct, vec2, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


@wp.struct
class DampedStep:
    """Numbers of a step with which kernels freeze damping."""

    rate: Scalar  # [1] beta/h
    h: Scalar  # [s] if the other array has velocities; 0: it has the positions x_(n-1)
    past: Scalar  # weight of x_(n-1)


def damped_step(rate: float, h: float = 0.0, past: float = 0.0) -> WarpStruct:
    """Return ``DampedStep`` with these numbers."""
    step = DampedStep()
    step.rate, step.h, step.past = Scalar(rate), Scalar(h), Scalar(past)
    return step


@dataclass(frozen=True)
class ElementKernels:
    """Kernels of an energy on one element."""

    energy: Kernel  # out (m,) vec2: the elastic and the dissipated part [J]
    gradient: Kernel  # out (m,k) vec3: the gradient of both parts
    # out in the layout: the Hessian of both parts. For modes that are missing, the eigenvalues of
    # the exact Hessian are clamped, whose layout is FULL.
    hessian: Mapping[Psd, tuple[Kernel, BlockLayout]]
    # (o, x, other, stencil, DampedStep, parameters): see ``ElementTerm.freeze``
    freeze: Kernel | None = None
    has_exact_hessian: bool = True  # whether the kernel for EXACT is all of the Hessian

    def hessian_of(self, psd: Psd) -> tuple[Kernel, BlockLayout, bool]:
        """Return the kernel of Hessians, its layout, and whether eigenvalues are to be clamped."""
        return *self.hessian.get(psd, self.hessian[Psd.EXACT]), psd not in self.hessian


class ElementEnergy(ContractedEnergy, ABC):
    """An energy of m elements with k vertices each. Subclasses are frozen dataclasses."""

    kernels: ElementKernels  # fixed by the class
    name: str
    damping: float  # [s] beta
    n_vertices: int
    is_condition = False  # 1/2 k C^2 of a condition C that ``freeze`` measures
    # names of the constants that are tables of the rest shape; (): none is, None: it is not known
    rest_tables: ClassVar[Sequence[str] | None] = None

    @property
    @abstractmethod
    def stencil(self) -> Ints:
        """Vertices of each element, (m,k)."""

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by the ``rest_tables``.

        Raises:
            NotImplementedError: a cloth for which they are not known.
        """
        raise NotImplementedError

    @abstractmethod
    def parameters(self) -> WarpStruct:
        """Return new parameters on the device, because ``freeze`` writes into them."""

    @cached_property
    def device_stencil(self) -> WarpArray:
        """The stencil on the device, (m,k) int32."""
        return kernel.array(self.stencil, wp.int32)

    def value(self, x: Positions) -> Floats:
        """Return the energy of each element, (m,) [J], undamped."""
        out = kernel.empty(len(self.stencil), vec2)
        return np.asarray(self._evaluate(x, self.kernels.energy, out).sum(1))

    def gradient(self, x: Positions, parameters: WarpStruct = None) -> Floats:
        """Return the gradient of each element's energy, (m,k,3) [N].

        Without ``parameters`` on the device it is undamped.
        """
        out = kernel.empty(self.stencil.shape, vec3)
        return self._evaluate(x, self.kernels.gradient, out, parameters)

    def parameters_in(self, step: Step | None) -> WarpStruct:
        """Return new parameters with the damping of a step; None: without damping.

        The rate is above zero even if nothing is damped, so that derivatives by it are known.
        """
        p, rate = self.parameters(), damping_rate(step)
        if step is not None and rate > 0 and self.kernels.freeze is not None:
            self.freeze(step, max(self.damping, TINY) * rate, p)
        return p

    def freeze(self, step: Step, rate: float, parameters: WarpStruct) -> None:
        """Freeze the damping of parameters on the device for a step, with the rate beta/h."""
        numbers = damped_step(rate, past=step.past_part)
        self.freeze_at((step.device_state, step.device_past), numbers, parameters)

    def freeze_at(
        self, at: Sequence[WarpArray], numbers: WarpStruct, parameters: WarpStruct
    ) -> None:
        """Launch the kernel that freezes damping.

        Args:
            at: positions, and velocities if h of the numbers is not 0, or else the positions
                before.
            numbers: ``DampedStep``.
            parameters: in which it is frozen.
        """
        arguments = (*at, self.device_stencil, numbers, parameters)
        kernel.launch(self.kernels.freeze, len(self.stencil), *arguments)

    def track(self, parameters: WarpStruct) -> WarpStruct:
        """Return the parameters with derivatives by them, which are zeros (``kernel.reverse``)."""
        return kernel.track(parameters)

    def derivatives(self, parameters: WarpStruct) -> AnyArray:
        """Return the derivatives by the numbers of elements, (m,) records."""
        return kernel.derivatives(parameters)

    def pull_back_gradient(self, x: Positions, by: Floats, parameters: WarpStruct) -> None:
        """Add the derivatives of by . gradient by the parameters, for by (m,k,3)."""
        m, k = self.stencil.shape
        out = kernel.track(kernel.empty((m, k), vec3), by)
        arguments = (kernel.points(x), self.device_stencil, parameters, out)
        kernel.pull_back(self.kernels.gradient, m, *arguments)

    def pull_back_freeze(
        self, step: Step, rate: float, parameters: WarpStruct
    ) -> tuple[Floats, Floats]:
        """Return derivatives by both states of the past, (n,3), from those by frozen parameters.

        Derivatives by parameters that are not frozen are added to what they are already.
        """
        states = step.state.x, step.state.x if step.past is None else step.past[0]
        now, past = (kernel.track(kernel.points(np.array(x))) for x in states)
        numbers = damped_step(rate, past=step.past_part)
        arguments = (now, past, self.device_stencil, numbers, parameters)
        kernel.pull_back(self.kernels.freeze, len(self.stencil), *arguments)
        return kernel.derivatives(now), kernel.derivatives(past)

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (m,...), for ``by`` (m,k,3) of every element.

        By default constants are numbers of the kernels' parameters, with the same names, and
        damping is not among them.
        """
        p = self.track(self.parameters_in(step))
        self.pull_back_gradient(x, by, p)
        found = self.derivatives(p)
        return {name: found[name] for name in self.constants}  # type: ignore[attr-defined]

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the Hessian of each element's energy, (m,k,k,3,3) [N/m], undamped."""
        evaluate, layout, clamps = self.kernels.hessian_of(Psd(psd))
        scratch = Scratch()  # a new one owns its arrays, so they are not shared with others
        out = layout.take(scratch, *self.stencil.shape)
        local = self._evaluate(x, evaluate, out)
        if clamps:
            clamp_eigenvalues(out)
            local = np.array(kernel.numpy(out))
        return layout.full(local, self.stencil.shape[1])

    def _evaluate(
        self, x: Positions, evaluate: Kernel, out: WarpArray, parameters: WarpStruct = None
    ) -> Floats:
        """Launch a kernel at x, and return ``out`` in NumPy.

        Without ``parameters`` those without damping are used.
        """
        own = self.parameters() if parameters is None else parameters
        arguments = (kernel.points(x), self.device_stencil, own, out)
        kernel.launch(evaluate, len(self.stencil), *arguments)
        return np.array(kernel.numpy(out))

    def bind(self, pattern: BlockPattern) -> "ElementTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return ElementTerm(self, pattern)


class ElementTerm(DampedTerm, ConditionTerm, DifferentiableTerm):
    """A local energy bound to a block pattern, with its damping in the step."""

    is_elastic = True

    energy: ElementEnergy

    def __init__(self, energy: ElementEnergy, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self.rows, self.parameters = GatherMap.of(energy.stencil, pattern), energy.parameters()
        self.kernels, self.shape = energy.kernels, energy.stencil.shape
        self.is_condition, self.damping = energy.is_condition, energy.damping
        self.has_exact_hessian = energy.kernels.has_exact_hessian

    def update_constants(self, energy: ElementEnergy) -> None:
        """Take the parameters and the damping of another energy."""
        vars(energy)["device_stencil"] = self.energy.device_stencil
        self.energy, self.parameters, self.damping = energy, energy.parameters(), energy.damping
        for made in ("_moved", "_undamped"):
            vars(self).pop(made, None)

    def _launch(
        self, evaluate: Kernel, x: WarpArray, out: WarpArray, parameters: WarpStruct = None
    ) -> None:
        own = self.parameters if parameters is None else parameters
        kernel.launch(evaluate, self.shape[0], x, self.energy.device_stencil, own, out)

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the elastic and the dissipated energy [J] of every element."""
        out = self.scratch.take(self.shape[0], vec2)
        self._launch(self.kernels.energy, x, out)
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        if not self.acts:
            return
        local = self.scratch.take(self.shape, vec3)
        self._launch(self.kernels.gradient, x, local)
        self.rows.add_gradient(local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add d2E/dx2 to A and return A."""
        return self._add_rows(x, psd, A, self.parameters)

    def freeze(self, step: Step) -> None:
        """Freeze damping for a step, with the rate beta/h.

        It is measured from (1 + past) theta(x_n) - past theta(x_(n-1)).
        """
        if self.energy.damping > 0:
            self.energy.freeze(step, self.energy.damping / step.span, self.parameters)

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by what damping is measured from."""
        e, rate = self.energy, damping_rate(step)
        if self.kernels.freeze is None or e.damping * rate == 0 or not self.acts:
            return
        p = e.track(self.parameters)
        e.pull_back_gradient(x, by[e.stencil], p)
        now, past = e.pull_back_freeze(step, e.damping * rate, p)
        into.state_x += now
        into.past += past

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Add k [(1 + beta/h) dC dC^T + (C + beta dC/dt) d2C] to A.

        This is the Hessian with damping measured from C - h dC/dt.
        """
        if beta > 0:
            at = (x, step.device_velocity)
            self.energy.freeze_at(at, damped_step(beta / step.dt, step.dt), self._moved)
        self._add_rows(x, psd, A, self._moved if beta > 0 else self._undamped)

    @cached_property
    def _moved(self) -> WarpStruct:
        """Parameters with the damping of ``add_condition_hessian``."""
        return self.energy.parameters()

    @cached_property
    def _undamped(self) -> WarpStruct:
        """Parameters without damping."""
        return self.energy.parameters()

    def _add_rows(self, x: WarpArray, psd: Psd, A: BlockCsr, parameters: WarpStruct) -> BlockCsr:
        """Add the Hessian with these parameters to A and return A."""
        if not self.acts:
            return A
        evaluate, layout, clamps = self.kernels.hessian_of(Psd(psd))
        local = layout.take(self.scratch, *self.shape)
        self._launch(evaluate, x, local, parameters)
        if clamps:
            clamp_eigenvalues(local)
        self.rows.add_rows(layout, local, A)
        return A
