"""One step backwards: from derivatives by the end of a step to derivatives by its beginning.

The end x of a step makes g(x; a) = dPhi/dx zero at free vertices; a is everything that the step was
made from. By the implicit function theorem dx/da = -H^-1 dg/da, and with z = H^-1 dL/dx a loss L
has dL/da = -z . dg/da. This is one linear solve, whatever a is (for elastic solids Li et al. 2022,
DiffCloth; Huang et al. 2024 for lagged friction).

A step that evaluates friction again is a chain of minimizations, each with the lagged data from the
end of the one before; the pass backwards goes through the chain link by link. An equilibrium with
friction or wind balances the loads at its own positions, g(x; l(x)) = 0. There z solves (H + J)^T z
= dL/dx, with J the derivative of g by the positions at which loads are evaluated; J is not
symmetric.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from weft import kernel
from weft.adjoint.hessian import Hessian
from weft.base.arrays import Floats
from weft.energies.derivative import differentiable
from weft.energies.state import StateDerivatives
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import Term
from weft.integrators.base import StepPart
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.integrators.reversible import Reversible
from weft.kernel import WarpArray
from weft.solve.linear.solver import LinearSolver, PreparedSolver


@dataclass(eq=False)
class ReverseStep:
    """Result of differentiating one minimization of a step.

    Parameters read from it what they need to add their derivative.
    """

    taken: StepPart
    phi: Potential
    x: WarpArray
    z: Floats  # (n,3) H^-1 dL/dx, zero at prescribed vertices
    pulled: StepCotangents
    memory: dict[str, Floats]  # derivatives by what terms remember at the end
    hessian: Hessian
    correction: float  # [m] largest displacement of H^-1 g, zero at an exact minimum
    # derivatives by the state at the beginning of the step; in the first minimization only
    before: StateDerivatives = field(default_factory=lambda: StateDerivatives.zeros(0))

    def freeze(self, term: Term) -> None:
        """Freeze a term of another model with the data of this step."""
        term.freeze(self.phi.step)
        if self.pulled.at is not None:
            term.lag(kernel.points(self.pulled.at))


def step_back(
    model: Model,
    taken: StepPart,
    integrator: Reversible,
    solver: LinearSolver,
    after: StateDerivatives,
    prepared: PreparedSolver | None,
) -> Iterator[ReverseStep]:
    """Differentiate one step backwards; yield its minimizations, the last one first.

    Each result is valid until the next one is asked for. The one that comes last has, in
    ``before``, the derivatives by the state at the beginning of the step.

    Args:
        model: masses, energies, pins and contact of the run.
        taken: the recorded step.
        integrator: the integrator that took it.
        solver: solver of the linear systems.
        after: derivatives by the state at the end of the step, and by what is remembered there.
        prepared: the solver's prepared matrix of the step differentiated before this one; or None.
    """
    pulled: list[StepCotangents] = []
    by_x, ends = after.x, [*taken.lag_points, taken.x]
    for k in range(len(ends) - 1, -1, -1):
        link = _Link(model, taken, integrator, solver, ends[k], ends[k - 1] if k else None)
        one = link.back(by_x, after if k == len(ends) - 1 else None, prepared)
        by_x, prepared = one.pulled.place, one.hessian.prepared
        pulled.append(one.pulled)
        if k == 0:
            one.before = integrator.pull_back(taken, StepCotangents.total(pulled), after)
        yield one


@dataclass(eq=False)
class _Link:
    """One minimization of a step, which ended at ``end``, with lagged data evaluated at ``at``."""

    model: Model
    taken: StepPart
    integrator: Reversible
    solver: LinearSolver
    end: Floats  # (n,3) [m]
    at: Floats | None  # (n,3) [m]; None: at the beginning of the step

    def back(
        self, by_x: Floats, after: StateDerivatives | None, prepared: PreparedSolver | None
    ) -> ReverseStep:
        """Return the derivatives by what the minimization depends on, from those by its end.

        ``after`` holds the derivatives by velocity and memory if the end is that of the step; else
        it is None.
        """
        taken, at = self.taken, self.at
        phi = self.integrator.potential(self.model, taken.state, taken.memory, taken.dt)
        step, static = phi.step, phi.step.scale is None
        x = kernel.points(step.move_pins(self.end))
        if static and phi.update_lagged_terms(x):
            at = step.move_pins(self.end)  # loads are evaluated at the equilibrium itself
        elif at is not None:
            phi.update_lagged_terms(kernel.points(at))
        into, by_x = StepCotangents.zeros(step, at), np.array(by_x)
        memory: dict[str, Floats] = {}
        if after is not None:
            memory = after.memory
            if not static:
                by_x += after.v / step.span
                into.origin -= after.v / step.span
            for term in differentiable(phi.terms_of_phi):
                by_x += term.pull_back_memory(step, x, memory, into)
        hessian = Hessian(phi, x, self.solver, prepared)
        if static and at is not None:
            place = at  # of the type that the closure needs
            z = hessian.solve_lagged(by_x, lambda v: by_place(phi, x, v, place))
        else:
            z = hessian.solve(by_x)
        fixed = step.fixed[:, None]
        into.target += np.where(fixed, by_x, 0.0) - hessian.multiply_at_pins(z)
        for term in differentiable(phi.terms_of_phi):
            term.pull_back(step, x, -z, into)
        if static:
            into.target += np.where(fixed, into.place, 0.0)
        left = hessian.solve(phi.gradient(self.end))
        moved = float(np.abs(left).max(initial=0.0))
        return ReverseStep(taken, phi, x, z, into, memory, hessian, moved)


def by_place(phi: Potential, x: WarpArray, by: Floats, at: Floats) -> Floats:
    """Return (n,3) by . d(dE/dx)/d(positions at which loads are evaluated)."""
    out = np.zeros_like(by)
    for term in differentiable(phi.terms_of_phi):
        out += term.pull_back_place(phi.step, x, by, at)
    return out
