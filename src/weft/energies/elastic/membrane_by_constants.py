"""Mixed derivatives of membranes, by the numbers of their law and the time constant of damping.

With L = d by/dX at the samples, by . dE/dx is a sum of weights times

    s = P(F; p) : L + beta/h e'(F)[L] . C(p) (e(F) - e_r)

so that ds/dp is d(P : L)/dp and, through the frozen tangent C = G M G, M = B^T H(F_n; p) B
(``energies.elastic.damping``), d(H : A)/dp with A = beta/h B G S G B^T and S the symmetric part of
e'(F)[L] (e - e_r)^T. Both are computed by ``laws.mixed``. One pass gives the derivatives by all
constants; the change of forces along some constants takes six passes, one for every entry of F.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats, Gradients, Positions
from weft.energies.by_constants import ByName, damping_rate
from weft.energies.elastic.damping import REGULARIZATION, frozen_tangent, green_strain, strain_slope
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.laws import mixed as law_mixed
from weft.laws.base import Law

if TYPE_CHECKING:
    from weft.energies.elastic.membrane import Membrane

DAMPING = "damping"


def constant_prefix(law: Law, k: int) -> str:
    """Return the prefix of the names of constants of part k of a law."""
    return "law" if len(law.parts) == 1 else f"law {k + 1}"


@dataclass(frozen=True, eq=False)
class Damped:
    """State of the damping in a step, at the samples."""

    F: Gradients  # (q,3,2) at the start of the step
    since: Floats  # (q,3) e - e_r
    unit: Floats  # (q,3,3) C of the time constant 1
    rate: float  # [1/s]

    def damping_matrix(self, rate: Floats) -> Floats:
        """Return A, (q,3,3,3), of a time constant of 1, for rates e'(F)[L] (q,3)."""
        f0, f1, zero = self.F[:, :, 0], self.F[:, :, 1], np.zeros((len(self.F), 3))
        B0, B1 = np.stack([f0, zero, f1], axis=2), np.stack([zero, f1, f0], axis=2)
        S = 0.5 * rate[:, :, None] * self.since[:, None]
        G = np.swapaxes(B0, 1, 2) @ B0 + np.swapaxes(B1, 1, 2) @ B1
        least = float(REGULARIZATION) * np.trace(G, axis1=1, axis2=2) + 1e-30
        G = np.linalg.inv(G + least[:, None, None] * np.eye(3))
        T = self.rate * (G @ (S + np.swapaxes(S, 1, 2)) @ G)
        turned = np.swapaxes(B0, 1, 2), np.swapaxes(B1, 1, 2)
        return np.stack([B0 @ T @ turned[0], 2 * B0 @ T @ turned[1], B1 @ T @ turned[1]], axis=1)


class MembraneMixed:
    """Mixed derivatives of a membrane at positions x (n,3), in a step or at rest.

    Args:
        membrane: the energy.
        parameters: (q,) Params on the device, for each part of the law.
        x: (n,3) [m].
        step: None: undamped.
    """

    def __init__(
        self,
        membrane: "Membrane",
        parameters: Sequence[WarpArray],
        x: Positions,
        step: Step | None,
    ) -> None:
        self.membrane, self.parameters = membrane, parameters
        self.F = membrane.samples.deformation_gradient(np.asarray(x))
        self.damped = None if step is None or damping_rate(step) == 0 else self._damping_state(step)

    def _damping_state(self, step: Step) -> Damped:
        """Return the state of damping in a step."""
        s, rate = self.membrane.samples, damping_rate(step)
        F = s.deformation_gradient(np.asarray(step.state.x))
        unit = frozen_tangent(self.membrane.law, self.parameters, F, rate)
        start = green_strain(F)
        if step.past is not None:
            past = green_strain(s.deformation_gradient(np.asarray(step.past[0])))
            start = start + step.past_part * (start - past)
        return Damped(F, green_strain(self.F) - start, unit, rate)

    def contract(self, L: Gradients) -> dict[str, Floats]:
        """Return ds/dc by constant, (q,...), for L (q,3,2), without weights."""
        law, damped, beta = self.membrane.law, self.damped, self.membrane.damping
        out: dict[str, Floats] = {}
        rate = strain_slope(self.F, L)
        A = damped.damping_matrix(beta * rate) if damped is not None and beta > 0 else None
        for k, (part, p) in enumerate(zip(law.parts, self.parameters)):
            found = dict(law_mixed.stress_by_parameters(part, self.F, p, L))
            if A is not None:
                assert damped is not None
                for name, more in law_mixed.hessian_by_parameters(part, damped.F, p, A).items():
                    found[name] = found[name] + more
            out.update({f"{constant_prefix(law, k)}.{name}": d for name, d in found.items()})
        out[DAMPING] = np.zeros(len(L))
        if damped is not None:
            out[DAMPING] = np.einsum("qi,qij,qj->q", rate, damped.unit, damped.since)
        return out

    def by_constants(self, by: Floats) -> ByName:
        """Return d(by . dE/dx)/dc by constant, (q,...), for ``by`` (n,3)."""
        s = self.membrane.samples
        return {
            name: s.weight.reshape(-1, *[1] * (d.ndim - 1)) * d
            for name, d in self.contract(s.deformation_gradient(np.asarray(by))).items()
        }

    def stress(self) -> ByName:
        """Return dP/dc by constant, (q,3,2,...)."""
        q = len(self.F)
        out: dict[str, Floats] = {}
        for i, j in np.ndindex(3, 2):
            L = np.zeros((q, 3, 2))
            L[:, i, j] = 1.0
            for name, d in self.contract(L).items():
                out.setdefault(name, np.zeros((q, 3, 2, *d.shape[1:])))[:, i, j] = d
        return out
