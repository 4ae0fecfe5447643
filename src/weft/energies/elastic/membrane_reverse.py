"""Derivatives of membranes by the numbers of their law, by damping, and by the start of a step.

With L = d by/dX at the samples, s = by . dE/dx is a sum of weights times P(F) : L, with P of the
law and of its damping (``energies.elastic.damping``). The reverse modes of the kernels of P, and of
those that freeze damping, give the derivatives by all that damping takes from the step, among it
the law's Hessian H at the start of the step. The derivative of H by the numbers of the law is in
``laws.mixed``; that by the start itself, a third derivative of the law, is by central differences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Gradients, Positions
from weft.discretization.samples import Samples
from weft.energies.by_constants import damping_rate
from weft.energies.elastic.damping import extrapolate_strain, freeze_tangent
from weft.energies.step import Step
from weft.kernel import Scalar, WarpArray, mat32, mat33
from weft.laws.base import Law, law_kernels
from weft.laws.mixed import hessian_by_parameters, stress_by_parameters
from weft.laws.viscous import Viscous, ViscousParams
from weft.solve.newton.psd import Psd

DAMPING = "damping"
DIFFERENCE = 1e-5  # step in F (no unit): relative errors of the tangent of 1e-10 and 1e-11


def constant_prefix(law: Law, k: int) -> str:
    """Return the prefix of the names of constants of part k of a law."""
    return "law" if len(law.parts) == 1 else f"law {k + 1}"


@dataclass(frozen=True, eq=False)
class LawAtSamples:
    """A law with its parameters on the device, (q,) Params for each part."""

    law: Law
    parameters: Sequence[WarpArray]

    def evaluate(self, what: "str | Psd", F: Gradients | WarpArray, out: WarpArray) -> WarpArray:
        """Return ``out`` after the law was evaluated at F (q,3,2)."""
        at = kernel.array(F, mat32) if isinstance(F, np.ndarray) else F
        kernel.launch_each(len(at), *self.law.stages(what, at, self.parameters, out))
        return out

    def tangent(self, F: Gradients | WarpArray) -> WarpArray:
        """Return the Gauss-Newton Hessians at F, (q,3) mat33."""
        return self.evaluate(Psd.GAUSS_NEWTON, F, kernel.empty((len(F), 3), mat33))

    def tangent_slope(self, F: Gradients, by: Floats) -> Gradients:
        """Return (q,3,2) d(by . tangent)/dF, for by (q,3,3,3)."""
        out = np.zeros_like(F)
        for i, j in np.ndindex(3, 2):
            values = []
            for sign in (1, -1):
                moved = np.array(F)
                moved[:, i, j] += sign * DIFFERENCE
                tangent = kernel.numpy(self.tangent(moved))
                values.append(np.einsum("qbij,qbij->q", by, tangent))
            out[:, i, j] = (values[0] - values[1]) / (2 * DIFFERENCE)
        return out


class DampingReverse:
    """Derivatives of P : L of damping with a time constant of 1 s, at every sample.

    Args:
        elastic: the law.
        samples: the samples of the membrane.
        x: (n,3) [m] end of the step.
        step: the step that damping is frozen for.
        L: (q,3,2).
    """

    def __init__(
        self, elastic: LawAtSamples, samples: Samples, x: Positions, step: Step, L: Gradients
    ) -> None:
        q, rate, part = len(L), Scalar(damping_rate(step)), Scalar(step.past_part)
        self.now = samples.deformation_gradient(np.asarray(step.state.x))  # F_n
        before = step.state.x if step.past is None else step.past[0]
        now, past, at = (
            kernel.track(kernel.array(samples.deformation_gradient(np.asarray(y)), mat32))
            for y in (step.state.x, before, x)
        )
        H, p = kernel.track(elastic.tangent(now)), kernel.zeros(q, ViscousParams)
        kernel.launch_each(
            q, (freeze_tangent, now, H, rate, p), (extrapolate_strain, past, part, p)
        )
        tangent = np.array(kernel.numpy(kernel.track(p))["tangent"])
        out = kernel.track(kernel.empty(q, mat32), L)
        kernel.pull_back(law_kernels(Viscous.functions).pk1, q, at, p, 0, out)
        self.value = np.einsum("qij,qij->q", kernel.derivatives(p)["tangent"], tangent)
        kernel.pull_back(extrapolate_strain, q, past, part, p)
        kernel.pull_back(freeze_tangent, q, now, H, rate, p)
        self.by_H, self.by_past = kernel.derivatives(H), kernel.derivatives(past)
        self._by_now, self._elastic = kernel.derivatives(now), elastic

    @property
    def by_now(self) -> Gradients:
        """Derivatives by F_n, (q,3,2)."""
        return self._by_now + self._elastic.tangent_slope(self.now, self.by_H)


def contract_membrane(
    elastic: LawAtSamples,
    samples: Samples,
    x: Positions,
    step: Step | None,
    beta: float,
    L: Gradients,
) -> dict[str, Floats]:
    """Return d(P : L)/dc by constant, (q,...), with the time constant beta [s] of damping.

    Args:
        elastic: the law.
        samples: the samples of the membrane.
        x: (n,3) [m].
        step: for which damping is frozen; None: undamped.
        beta: [s].
        L: (q,3,2).
    """
    F, out = samples.deformation_gradient(np.asarray(x)), dict[str, Floats]()
    damped = None
    if step is not None and damping_rate(step) > 0:
        damped = DampingReverse(elastic, samples, x, step, L)
    for k, (part, p) in enumerate(zip(elastic.law.parts, elastic.parameters)):
        found = dict(stress_by_parameters(part, F, p, L))
        if damped is not None and beta > 0:
            more = hessian_by_parameters(part, damped.now, p, beta * damped.by_H)
            found = {name: d + more[name] for name, d in found.items()}
        out |= {f"{constant_prefix(elastic.law, k)}.{name}": d for name, d in found.items()}
    return {**out, DAMPING: np.zeros(len(L)) if damped is None else damped.value}
