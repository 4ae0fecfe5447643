"""Membrane energy: a law psi(F) evaluated at the samples of a discretization.

An evaluation has three stages, so that every law works with every discretization: F = deform(x)
with any number of vertices per sample, the law's own kernels on arrays of F, and a gather to the
vertices. The Hessian is kept as three 3x3 blocks per sample (uu, uv, vv); each matrix row visits
its samples (docs/decisions/0003). Damping is one more law at the samples (``laws/viscous.py``), so
that it shares F and the gather.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Gradients, Ints, Positions
from weft.base.errors import LawError
from weft.discretization.samples import Samples
from weft.energies.by_constants import ByName, ContractedEnergy, damping_rate, repeat_per_element
from weft.energies.condition_term import ConditionTerm
from weft.energies.derivative import DifferentiableTerm
from weft.energies.elastic.damping import extrapolate_strain, freeze_tangent
from weft.energies.elastic.membrane_reverse import (
    DAMPING,
    DampingReverse,
    LawAtSamples,
    constant_prefix,
    contract_membrane,
)
from weft.energies.gather import SAMPLED, GatherMap, Sampled
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import SummedTerm, damping_of
from weft.kernel import (
    DataType,
    IntArray,
    IntArray2d,
    Mat32Array,
    Scalar,
    ScalarArray,
    Stage,
    Vec2Array2d,
    Vec3Array,
    WarpArray,
    mat32,
    mat33,
    vec2,
    vec3,
)
from weft.laws.base import Law, law_kernels
from weft.laws.mixed import constants_of
from weft.laws.viscous import Viscous, ViscousParams
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern
from weft.solve.sparse.vectors import equal

_module = wp.get_module("weft.membrane")


@wp.kernel(module=_module)
def deform(o: int, x: Vec3Array, stencil: IntArray2d, dN: Vec2Array2d, F: Mat32Array):
    """Compute F_q = sum_a x_a (dN_a/dX)^T. Kim 2020, eqs. 2-3."""
    q = o + wp.tid()
    sum = mat32(Scalar(0.0))
    for a in range(stencil.shape[1]):
        sum += wp.outer(x[stencil[q, a]], dN[q, a])
    F[q] = sum


@wp.kernel(module=_module)
def weigh(o: int, weight: ScalarArray, value: ScalarArray):
    """Multiply value_q by weight_q."""
    q = o + wp.tid()
    value[q] = weight[q] * value[q]


@wp.kernel(module=_module)
def add_nodal_gradient(
    o: int,
    start: IntArray,
    element: IntArray,
    place: IntArray,
    dN: Vec2Array2d,
    weight: ScalarArray,
    P: Mat32Array,
    g: Vec3Array,
):
    """Add sum_q w_q P_q dN_v to g_v. Kim 2020, eq. 6."""
    v = o + wp.tid()
    sum = vec3(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        q = element[m]
        sum += P[q] * (weight[q] * dN[q, place[m]])
    g[v] += sum


@dataclass(frozen=True, eq=False)
class DeviceSamples:
    """Samples on the device; all energies of the same samples share them."""

    samples: Samples

    @cached_property
    def stencil(self) -> WarpArray:
        """Vertices of each sample, (q,k) int32."""
        return kernel.array(self.samples.stencil, wp.int32)

    @cached_property
    def gradient(self) -> WarpArray:
        """Gradients dN/dX, (q,k) vec2 [1/m]."""
        return kernel.array(self.samples.gradient, vec2)

    @cached_property
    def weight(self) -> WarpArray:
        """Rest areas of the samples, (q,) [m^2]."""
        return kernel.array(self.samples.weight, Scalar)

    def __len__(self) -> int:
        return len(self.samples.weight)

    def deform(self, x: WarpArray, F: WarpArray) -> Stage:
        """Return the launch stage that computes F = dx/dX at every sample."""
        return deform, x, self.stencil, self.gradient, F


@dataclass(frozen=True, eq=False)
class Membrane(ContractedEnergy):
    """Energy of a law over samples: E = sum_q weight_q psi(F_q). Kim 2020, eqs. 6 and 20.

    The parameters of the law are the same at all samples, or those of each (``sampled_law``).
    """

    samples: Samples
    law: Law
    name: str = "membrane"
    damping: float = 0.0  # [s] time constant of stiffness-proportional damping (``damping``)

    @property
    def stencil(self) -> Ints:
        """Vertices of each sample, (q,k)."""
        return self.samples.stencil

    @cached_property
    def device_samples(self) -> DeviceSamples:
        """The samples on the device."""
        return DeviceSamples(self.samples)

    @cached_property
    def device_parameters(self) -> tuple[WarpArray, ...]:
        """Parameters on the device: (q,) Params for each part of the law."""
        return self.law.device_parameters(len(self.samples.weight))

    def value(self, x: Positions) -> Floats:
        """Return the energy of each sample, (q,) [J], at positions x (n,3) [m]."""
        return self._local(x, "psi", Scalar) * self.samples.weight

    def gradient(self, x: Positions) -> Floats:
        """Return the gradient of each sample's energy, (q,k,3) [N]."""
        P = self._local(x, "pk1", mat32)
        s = self.samples
        return np.asarray(np.einsum("q,qij,qaj->qai", s.weight, P, s.gradient))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the Hessian of each sample's energy, (q,k,k,3,3) [N/m]."""
        local = Sampled()
        local.H = kernel.array(self._local(x, Psd(psd), mat33, 3), mat33)
        local.dN, local.weight = self.device_samples.gradient, self.device_samples.weight
        return SAMPLED.full(local, self.samples.stencil.shape[1])

    @property
    def constants(self) -> ByName:
        """Constants by name: numbers of the law and the time constant of damping [s], (q,...) each.

        Numbers of the law are named ``law.stretch_warp``; ``law 2.shear`` is of the second of
        several.
        """
        q, out = len(self.samples.weight), dict[str, Floats]()
        for k, records in enumerate(self.records()):
            found = constants_of(records).items()
            out.update({f"{constant_prefix(self.law, k)}.{name}": values for name, values in found})
        return {**out, DAMPING: repeat_per_element(self.damping, q)}

    @property
    def structure(self) -> object:
        """Data besides the constants: samples, the law's functions and its integer parameters."""
        records = self.records()
        kinds = [
            {n: r[n] for n in r.dtype.names or () if r.dtype[n].base.kind != "f"} for r in records
        ]
        return self.samples, [part.functions for part in self.law.parts], kinds

    def records(self) -> list[AnyArray]:
        """Return the parameters as NumPy records: (q,) for each part of the law."""
        return [part.parameter_array(len(self.samples.weight)) for part in self.law.parts]

    def parameters_in(self, step: Step | None) -> tuple[WarpArray, ...]:
        """Return the parameters that hold in a step, on the device: (q,) Params for each part."""
        return self.device_parameters

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (q,...), for ``by`` (q,k,3) of each sample."""
        s, elastic = self.samples, LawAtSamples(self.law, self.parameters_in(step))
        weighted = s.weight[:, None, None] * s.gradient
        L = np.einsum("qai,qaj->qij", by, weighted)
        return contract_membrane(elastic, s, x, step, self.damping, L)

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (q,k,3,...).

        The gradient depends on constants by the stress alone, so that six directions of P tell all
        of it, however many vertices a sample has.
        """
        s, elastic = self.samples, LawAtSamples(self.law, self.parameters_in(step))
        weighted, constants = s.weight[:, None, None] * s.gradient, self.constants
        shape = (*s.stencil.shape, 3)
        out = {name: np.zeros((*shape, *c.shape[1:])) for name, c in constants.items()}
        for i, j in np.ndindex(3, 2):
            L = np.zeros((len(s.weight), 3, 2))
            L[:, i, j] = 1.0
            found = contract_membrane(elastic, s, x, step, self.damping, L)
            for name in constants:
                out[name][:, :, i] += np.einsum("qa,q...->qa...", weighted[:, :, j], found[name])
        return out

    def _local(self, x: Positions, what: "str | Psd", dtype: DataType, width: int = 0) -> Floats:
        """Evaluate psi, stress or Hessian of the law at all samples, in NumPy."""
        n = len(self.samples.weight)
        F, out = kernel.empty(n, mat32), kernel.empty((n, width) if width else n, dtype)
        start = self.device_samples.deform(kernel.points(x), F)
        kernel.launch_each(n, start, *self.law.stages(what, F, self.device_parameters, out))
        return np.array(kernel.numpy(out))

    def bind(self, pattern: BlockPattern) -> "MembraneTerm":
        """Bind the membrane to the block pattern of a matrix."""
        return MembraneTerm(self, pattern)


class MembraneTerm(SummedTerm, ConditionTerm, DifferentiableTerm):
    """A membrane bound to a block pattern; damping in a step is one more part of the law."""

    is_elastic = True

    energy: Membrane

    def __init__(self, membrane: Membrane, pattern: BlockPattern) -> None:
        super().__init__(membrane, pattern)
        self.rows = GatherMap.of(membrane.stencil, pattern)
        self.samples = membrane.device_samples
        self._F = kernel.empty(len(self.samples), mat32)
        self._at: WarpArray = None  # (n,) vec3 positions for which F was computed last
        self._deformed = False  # whether F still belongs to them
        self.update_constants(membrane)

    def update_constants(self, energy: Membrane) -> None:
        """Replace the law's parameters and the damping by those of another membrane."""
        self.energy, law, self._deformed = energy, energy.law, False
        self.is_condition, self.damping = law.is_condition, energy.damping
        self._elastic = law, self._parameters()
        self._all = self._now = self._elastic
        if energy.damping > 0:
            self._all = law + Viscous(), (*self._elastic[1], self._viscous)
            self._now = self._all

    def _parameters(self) -> tuple[WarpArray, ...]:
        """Return the parameters of the law on the device."""
        return self.energy.device_parameters

    @cached_property
    def _viscous(self) -> WarpArray:
        return kernel.zeros(len(self.samples), ViscousParams)

    def freeze(self, step: Step) -> None:
        """Freeze damping for a step: the stiffness at x_n, and the strain at the step's past."""
        beta = self.energy.damping
        damped = beta > 0 and np.isfinite(step.span)
        self._now = self._all if damped else self._elastic
        if damped:
            H = self._hessians()
            tangent = Scalar(beta / step.span), self._viscous
            last = (freeze_tangent, self._F, H, *tangent)
            self._launch(step.device_state, Psd.GAUSS_NEWTON, H, self._elastic, last)
            if step.past is not None:
                s, past = self.samples, Scalar(step.past_part)
                self._deformed = False
                stages = s.deform(step.device_past, self._F), (extrapolate_strain, self._F, past)
                kernel.launch_each(len(s), stages[0], (*stages[1], self._viscous))

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives of damping by x_n and x_(n-1)."""
        s = self.energy.samples
        for (by_F, _), to in zip(self._by_past(step, x, by), (into.state_x, into.past)):
            np.add.at(to, s.stencil, np.einsum("qij,qaj->qai", by_F, s.gradient))

    def _by_past(self, step: Step, x: WarpArray, by: Floats) -> list[tuple[Gradients, Positions]]:
        """Return derivatives of s by F, (q,3,2), at each state of the past, (n,3), if damped."""
        s, beta = self.energy.samples, self.energy.damping
        if beta * damping_rate(step) == 0:
            return []
        elastic = LawAtSamples(self.energy.law, self._elastic[1])
        L = beta * s.weight[:, None, None] * s.deformation_gradient(by)
        found = DampingReverse(elastic, s, kernel.numpy(x), step, L)
        now = [(found.by_now, np.asarray(step.state.x))]
        return now if step.past is None else [*now, (found.by_past, np.asarray(step.past[0]))]

    def zero_tables(self) -> dict[str, Floats] | None:
        """Return zeros for slopes and areas of the samples."""
        s = self.energy.samples
        return {"gradient": np.zeros_like(s.gradient), "weight": np.zeros(len(s.weight))}

    def by_tables(self, step: Step, x: WarpArray, by: Floats, at: Positions | None) -> ByName:
        """Return the derivatives of s by slopes and areas of the samples."""
        s, at, w = self.energy.samples, np.asarray(kernel.numpy(x)), self.energy.samples.weight
        F, L = s.deformation_gradient(at), s.deformation_gradient(by)
        law = LawAtSamples(*self._now)
        P = kernel.numpy(law.evaluate("pk1", F, kernel.empty(len(F), mat32)))
        H = kernel.numpy(law.evaluate(Psd.EXACT, F, kernel.empty((len(F), 3), mat33)))
        uu, uv, vv = np.moveaxis(H, 1, 0)
        full = np.block([[uu, uv], [np.swapaxes(uv, 1, 2), vv]])
        along = np.einsum("qij,qj->qi", full, np.swapaxes(L, 1, 2).reshape(-1, 6))
        by_F = np.swapaxes(along.reshape(-1, 2, 3), 1, 2)  # d(P : L)/dF
        parts = [(w[:, None, None] * slope, y) for slope, y in ((by_F, at), (P, by))]
        parts += self._by_past(step, x, by)
        slopes = sum(np.einsum("qij,qai->qaj", slope, y[s.stencil]) for slope, y in parts)
        return {"gradient": np.asarray(slopes), "weight": np.einsum("qij,qij->q", P, L)}

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by samples."""
        return rest.by_samples(self.energy.samples, by)

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the energy [J] of every sample, with damping."""
        return self._energies(x, self._now)

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energy [J] of the elastic part and of damping, by name."""
        elastic = kernel.total(self._energies(x, self._elastic))
        if self.energy.damping == 0:
            return {self.name: elastic}
        damped = 0.0
        if self._now is self._all:
            damped = kernel.total(self._energies(x, (Viscous(), (self._viscous,))))
        return {self.name: elastic, damping_of(self.name): damped}

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        s, P = self.samples, self.scratch.take(len(self.samples), mat32)
        self._launch(x, "pk1", P, self._now)
        i, work = self.rows.incidence, self.rows.around
        arrays = (i.start, i.element, i.place, s.gradient, s.weight, P, g)
        n, begin = self.rows.range()
        kernel.launch(add_nodal_gradient, n, *arrays, work=work, begin=begin)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add d2E/dx2 to A and return A."""
        H = self._hessians()
        self._launch(x, Psd(psd), H, self._now)
        return self._add_rows(H, 1.0, A)

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Add k [(1 + beta/h) dC dC^T + (C + beta dC/dt) d2C] to A.

        This is 1 + beta/h times the Hessian of conditions with another rest value: ``keep (C + beta
        dC/dt)`` takes the place of C, keep = h/(h + beta).

        Raises:
            LawError: a law that is not written in conditions.
        """
        law, h = self.energy.law, step.dt
        if not law.is_condition:
            raise LawError(
                f"damping of conditions of {law.name}",
                got="a law without rest values",
                expected="conditions: BaraffWitkin without shear, DotShear, AngleShear",
            )
        s, n, rate = self.samples, len(self.samples), kernel.empty(len(self.samples), mat32)
        moved: list[WarpArray] = []
        stages = []
        for part, p in zip(law.parts, self.energy.device_parameters):
            out = kernel.empty(n, part.functions.Params)
            moved.append(out)
            shift = law_kernels(part.functions).shift
            stages.append((shift, self._F, rate, p, Scalar(h / (h + beta)), Scalar(beta), out))
        self._deformed = False
        first = s.deform(x, self._F), s.deform(step.device_velocity, rate)
        kernel.launch_each(n, *first, *stages)
        H = self._hessians()
        kernel.launch_each(n, *law.stages(Psd(psd), self._F, moved, H))
        self._add_rows(H, 1 + beta / h, A)

    def _hessians(self) -> WarpArray:
        return SAMPLED.take(self.scratch, *self.energy.stencil.shape)

    def _energies(self, x: WarpArray, law: "_Laws") -> WarpArray:
        """Return the energy [J] of every sample of a law with its parameters."""
        psi = self.scratch.take(len(self.samples))
        self._launch(x, "psi", psi, law, (weigh, self.samples.weight, psi))
        return psi

    def _launch(
        self, x: WarpArray, what: "str | Psd", out: WarpArray, law: "_Laws", *then: Stage
    ) -> None:
        """Launch deformation, evaluation of a law, and the stages ``then``, together.

        The deformation is left out if F belongs to x already.
        """
        s, (functions, parameters) = self.samples, law
        stages = functions.stages(what, self._F, parameters, out)
        work = 3 * self.energy.stencil.shape[1]
        first = () if self._is_deformed(x) else (s.deform(x, self._F),)
        kernel.launch_each(len(s), *first, *stages, *then, work=work)

    def _is_deformed(self, x: WarpArray) -> bool:
        """Return whether F is that of x already; if not, record that the caller computes it next.

        Most gradients and Hessians are evaluated at positions for which F has just been computed.
        The comparison is done on the CPU only: elsewhere it would have to wait for the device.
        """
        if not kernel.is_cpu():
            self._deformed = False
            return False
        if self._at is None:
            self._at = kernel.empty(x.shape[0], vec3)
        before, self._deformed = self._deformed, True
        n, begin = self.rows.range()
        if before and equal(x, self._at, begin, begin + n):
            return True
        kernel.copy(x, self._at, begin, begin + n)
        return False

    def _add_rows(self, H: WarpArray, scale: float, A: BlockCsr) -> BlockCsr:
        """Add ``scale`` times the Hessians H of the samples to A."""
        local = Sampled()
        local.dN, local.weight, local.H = self.samples.gradient, self.samples.weight, H
        local.scale = Scalar(scale)
        self.rows.add_rows(SAMPLED, local, A)
        return A


_Laws = tuple[Law, tuple[WarpArray, ...]]
