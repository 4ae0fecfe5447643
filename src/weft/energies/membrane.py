"""A membrane: a law evaluated at samples. Three stages, so that laws and discretizations multiply
for free:

F = deform(x) (any number of vertices per sample), the law's own kernels on arrays of F, and a
gather to the vertices. The Hessian is kept as three 3x3 blocks per sample (uu, uv, vv); each matrix
row walks its samples (docs/decisions/0003).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.discretization.samples import Samples
from weft.energies.base import RowMap, on_device
from weft.errors import LawError
from weft.kernel import Scalar, Scratch, WarpArray, mat32, mat33, vec2, vec3
from weft.laws.base import Law, Psd, law_kernels
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence

_module = wp.get_module("weft.membrane")


@wp.kernel(module=_module)
def deform(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    dN: wp.array2d(dtype=vec2),
    F: wp.array(dtype=mat32),
):
    """F_q = sum_a x_a (dN_a/dX)^T. Kim 2020, eqs. 2-3."""
    q = o + wp.tid()
    sum = mat32(Scalar(0.0))
    for a in range(stencil.shape[1]):
        sum += wp.outer(x[stencil[q, a]], dN[q, a])
    F[q] = sum


@wp.kernel(module=_module)
def weigh(o: int, weight: wp.array(dtype=Scalar), value: wp.array(dtype=Scalar)):
    """value_q *= weight_q."""
    q = o + wp.tid()
    value[q] = weight[q] * value[q]


@wp.kernel(module=_module)
def add_nodal_gradient(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    dN: wp.array2d(dtype=vec2),
    weight: wp.array(dtype=Scalar),
    P: wp.array(dtype=mat32),
    g: wp.array(dtype=vec3),
):
    """g_v += sum_q w_q P_q dN_v. Kim 2020, eq. 6."""
    v = o + wp.tid()
    sum = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        q = element[m]
        sum += P[q] * (weight[q] * dN[q, place[m]])
    g[v] += sum


@wp.kernel(module=_module)
def add_rows(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    block: wp.array2d(dtype=wp.int32),
    dN: wp.array2d(dtype=vec2),
    weight: wp.array(dtype=Scalar),
    H: wp.array2d(dtype=mat33),
    row_start: wp.array(dtype=wp.int32),
    clear: int,
    values: wp.array(dtype=mat33),
):
    """Row v += sum_q w_q (dN_v . H_q . dN_b), b over the samples around v. Kim 2020, eq. 20."""
    v = o + wp.tid()
    if clear != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        q = element[m]
        d = weight[q] * dN[q, place[m]]
        uv = H[q, 1]
        R0 = d[0] * H[q, 0] + d[1] * wp.transpose(uv)
        R1 = d[0] * uv + d[1] * H[q, 2]
        for b in range(dN.shape[1]):
            values[block[m, b]] += dN[q, b][0] * R0 + dN[q, b][1] * R1


@dataclass(frozen=True, eq=False)
class DeviceSamples:
    """Samples on the device, with their incidence; shared by every energy that is sampled there."""

    samples: Samples

    @cached_property
    def stencil(self) -> WarpArray:
        """(q,k) int32."""
        return kernel.array(self.samples.stencil, wp.int32)

    @cached_property
    def gradient(self) -> WarpArray:
        """(q,k) vec2."""
        return kernel.array(self.samples.gradient, vec2)

    @cached_property
    def weight(self) -> WarpArray:
        """(q,)."""
        return kernel.array(self.samples.weight, Scalar)

    @cached_property
    def incidence(self) -> Incidence:
        """Samples of each vertex."""
        return Incidence.of(self.samples.stencil, self.samples.n_vertices)

    def __len__(self) -> int:
        return len(self.samples.weight)

    @property
    def around(self) -> float:
        """Mean number of samples around a vertex."""
        return self.samples.stencil.size / max(self.samples.n_vertices, 1)

    def deform(self, x: WarpArray, F: WarpArray) -> tuple[Any, ...]:
        """F = dx/dX at every sample, as the first stage of a launch."""
        return deform, x, self.stencil, self.gradient, F


@dataclass(frozen=True, eq=False)
class Membrane:
    """Energy of a law over samples: E = sum_q weight_q psi(F_q). Kim 2020, eqs. 6 and 20.

    ``law`` may be one law for all samples, or records of its parameters, one per sample.
    """

    samples: Samples
    law: Law
    parameters: Any = (
        None  # (q,) records of the law's Params struct; None: the law's own, everywhere
    )
    name: str = "membrane"

    @property
    def stencil(self) -> Ints:
        """(q,k)."""
        return self.samples.stencil

    @cached_property
    def device_samples(self) -> DeviceSamples:
        """The samples on the device."""
        return DeviceSamples(self.samples)

    @cached_property
    def device_parameters(self) -> tuple[WarpArray, ...]:
        """For each part of the law, (q,) Params on the device."""
        if self.parameters is None:
            return self.law.device_parameters(len(self.samples.weight))
        (part,) = self.law.parts
        return (kernel.array(self.parameters, part.functions.Params),)

    def value(self, x: Positions) -> Floats:
        """(q,) [J]."""
        return np.asarray(self._local(x, "psi", Scalar) * self.samples.weight)

    def gradient(self, x: Positions) -> Floats:
        """(q,k,3) [N]."""
        P = self._local(x, "pk1", mat32)
        s = self.samples
        return np.asarray(np.einsum("q,qij,qaj->qai", s.weight, P, s.gradient))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(q,k,k,3,3) [N/m]."""
        H = self._local(x, Psd(psd), mat33, 3)
        uu, uv, vv = H[:, 0], H[:, 1], H[:, 2]
        full = np.stack(
            [np.stack([uu, uv], axis=1), np.stack([np.swapaxes(uv, 1, 2), vv], axis=1)], axis=1
        )
        dN = self.samples.gradient
        w = self.samples.weight
        return np.asarray(np.einsum("q,qai,qijmn,qbj->qabmn", w, dN, full, dN))

    def _local(self, x: Positions, what: "str | Psd", dtype: Any, width: int = 0) -> Floats:
        n = len(self.samples.weight)
        F, out = kernel.empty(n, mat32), kernel.empty((n, width) if width else n, dtype)
        start = self.device_samples.deform(on_device(x), F)
        kernel.launch_each(n, start, *self.law.stages(what, F, self.device_parameters, out))
        return np.array(kernel.numpy(out))

    def bind(self, pattern: BlockPattern) -> "BoundMembrane":
        """The production face."""
        s = self.device_samples
        rows = RowMap.of(self.samples.stencil, s.incidence, pattern)
        work = Workspace(len(s), pattern.scratch)
        return BoundMembrane(s, self.law, self.device_parameters, rows, work)


@dataclass(frozen=True, eq=False)
class Workspace:
    """Arrays that an evaluation passes through; membranes on the same samples may share one."""

    n: int
    scratch: Scratch

    @cached_property
    def F(self) -> WarpArray:
        """(q,) mat32 deformation gradients."""
        return kernel.empty(self.n, mat32)

    @property
    def P(self) -> WarpArray:
        """(q,) mat32 stresses; scratch, as all below."""
        return self.scratch.take(self.n, mat32)

    @property
    def H(self) -> WarpArray:
        """(q,3) mat33 law Hessians."""
        return self.scratch.take((self.n, 3), mat33)

    @property
    def psi(self) -> WarpArray:
        """(q,) energies."""
        return self.scratch.take(self.n)


@dataclass(frozen=True, eq=False)
class BoundMembrane:
    """A membrane on a pattern."""

    samples: DeviceSamples
    law: Law
    parameters: tuple[WarpArray, ...]  # one array for every part of the law
    rows: RowMap
    work: Workspace

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        psi = self.work.psi
        self._launch(x, "psi", psi, (weigh, self.samples.weight, psi))
        return kernel.total(psi)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        s, P, i = self.samples, self.work.P, self.rows.incidence
        self._launch(x, "pk1", P)
        kernel.launch(
            add_nodal_gradient,
            s.samples.n_vertices,
            *(i.start, i.element, i.place, s.gradient, s.weight, P, g),
            slice_above=kernel.slice_above(s.around),
        )

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += d2E/dx2."""
        self._launch(x, Psd(psd), self.work.H)
        self._add_rows(A, clear)

    def local_hessian(self, x: WarpArray, psd: Psd, *then: tuple[Any, ...]) -> None:
        """The law's F and Hessians of every sample into ``work``, and more stages after that."""
        self._launch(x, Psd(psd), self.work.H, *then)

    def add_condition_hessian(
        self, x: WarpArray, v: WarpArray, keep: float, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """A += k [dC dC^T + keep (C + beta dC/dt) d2C].

        Raises:
            LawError: a law that is not written in conditions.
        """
        if not self.law.is_condition:
            raise LawError(
                f"damping of conditions of {self.law.name}",
                got="a law without rest values",
                expected="conditions: BaraffWitkin without shear, DotShear, AngleShear",
            )
        s, F, rate, n = self.samples, self.work.F, self.work.P, len(self.samples)
        shifted, stages = [], []
        for part, p in zip(self.law.parts, self.parameters):
            out = kernel.empty(n, part.functions.Params)
            shifted.append(out)
            stages.append((law_kernels(part.functions).shift, F, rate, p, keep, beta, out))
        kernel.launch_each(n, s.deform(x, F), s.deform(v, rate), *stages)
        kernel.launch_each(n, *self.law.stages(Psd(psd), F, shifted, self.work.H))
        self._add_rows(A, clear=False)

    def _launch(
        self, x: WarpArray, what: "str | Psd", out: WarpArray, *then: tuple[Any, ...]
    ) -> None:
        """Deform, evaluate the law, and then what else is asked for, in one go."""
        s, F = self.samples, self.work.F
        law = self.law.stages(what, F, self.parameters, out)
        worth = kernel.slice_above(3 * s.samples.stencil.shape[1])
        kernel.launch_each(len(s), s.deform(x, F), *law, *then, slice_above=worth)

    def _add_rows(self, A: BlockCsr, clear: bool) -> None:
        """A += the law's Hessians in ``work.H``."""
        s, i = self.samples, self.rows.incidence
        kernel.launch(
            add_rows,
            s.samples.n_vertices,
            *(i.start, i.element, i.place, self.rows.block, s.gradient, s.weight, self.work.H),
            *(A.pattern.device_row_start, int(clear), A.values),
            slice_above=kernel.slice_above(s.around * s.samples.stencil.shape[1] / 3),
        )
