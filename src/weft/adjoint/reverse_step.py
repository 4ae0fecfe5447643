"""One step backwards: from derivatives by what it led to, to derivatives by what it began with.

The end x of a step makes g(x; a) = dPhi/dx zero at free vertices, a all that the step was made
from. So dx/da = -H^-1 dg/da (the implicit function theorem), and with z = H^-1 dL/dx a loss has
dL/da = -z . dg/da: one solve, whatever a is (for elastic solids Li et al. 2022, DiffCloth; Huang et
al. 2024 for lagged friction).

A step that takes friction anew is several minimizations, each of which begins with what is lagged
at the end of the one before: a chain, gone back through link by link. An equilibrium with friction
or wind balances the loads of where it is, g(x; l(x)) = 0: there z solves (H + J)^T z = dL/dx, J the
derivative of g by where loads are taken, which is not symmetric.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.contact import ContactSlopes
from weft.adjoint.hessian import Hessian
from weft.adjoint.lagged_terms import pull_lagged
from weft.adjoint.step_cotangents import StepCotangents
from weft.base.arrays import Floats
from weft.contact.contact_energy import ContactEnergy
from weft.energies.base import Bound
from weft.energies.state import State
from weft.integrators.base import Memory
from weft.integrators.bdf2 import MOST_GROWTH
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.kernel import WarpArray
from weft.solve.linear.solver import LinearSolver


@dataclass(frozen=True, eq=False)
class ForwardStep:
    """A step that was taken, or a part of one that was divided."""

    state: State  # where it began
    memory: Memory
    dt: float  # [s]
    x: Floats  # (n,3) [m] where it ended
    method: str  # ``backward_euler``, ``bdf2`` or ``quasi_static``
    anew: Sequence[Floats] = ()  # (n,3) each, where what is lagged was taken anew on the way


@dataclass(eq=False)
class Back:
    """Derivatives of a loss by a state and what is remembered beside it."""

    x: Floats  # (n,3)
    v: Floats  # (n,3)
    memory: dict[str, Floats] = field(default_factory=dict)

    @staticmethod
    def zeros(n: int) -> "Back":
        """Of a loss that knows nothing of it."""
        return Back(np.zeros((n, 3)), np.zeros((n, 3)))


@dataclass(eq=False)
class ReverseStep:
    """What one minimization of a step gave: what parameters are asked with."""

    taken: ForwardStep
    phi: Potential
    x: WarpArray
    z: Floats  # (n,3) H^-1 dL/dx, zero at prescribed vertices
    pulled: StepCotangents
    kept: dict[str, Floats]  # derivatives by what its terms remember at its end
    hessian: Hessian
    correction: float  # [m] largest displacement that was left: of H^-1 g
    touching: ContactSlopes | None  # its contact
    mixed: dict[Any, Any] = field(default_factory=dict)  # shared (``constant_changes``)
    before: Back = field(default_factory=lambda: Back.zeros(0))  # by the step's start: of the first

    @property
    def firmed(self) -> bool:
        """Whether the firmness of contact changed."""
        return self.touching is not None and self.touching.firmed

    def freeze(self, term: Bound) -> None:
        """Freeze a term of another model as those of the step are."""
        term.freeze(self.phi.step)
        if self.pulled.at is not None:
            term.lag(kernel.points(self.pulled.at))


def planned(model: Model, taken: ForwardStep, integrator: Any) -> Potential:
    """The potential of a step that was taken, as it began."""
    if taken.method == "quasi_static":
        s = integrator.settings
        step = model.step(taken.state, taken.dt)
        slip = s.slip if s.friction else None
        return Potential(model, dataclasses.replace(step, slip=slip, kept=taken.memory))
    phi: Potential = integrator.potential(model, taken.state, taken.memory, taken.dt)
    return phi


def step_back(
    model: Model,
    taken: ForwardStep,
    integrator: Any,
    solver: LinearSolver,
    after: Back,
    prepared: Any,
    rest: bool = False,
) -> Iterator[ReverseStep]:
    """One step backwards: all that was minimized in it, the last first. Each is valid until the
    next one is asked for; the one that comes last has derivatives by the state where it began.

    Args:
        model: of the run.
        taken: the step.
        integrator: that took it.
        solver: of the linear systems.
        after: derivatives by the state that it led to, and by what is remembered there.
        prepared: by the solver, in the step before this one in the way back.
        rest: whether derivatives by the rest shape are wanted, too.
    """
    if taken.method == "quasi_static":
        link = _Link(model, taken, integrator, solver, taken.x, None, rest)
        one = link.back(after.x, after, prepared)
        one.before = _unplanned(taken, [one.pulled], after)
        yield one
        return
    pulled: list[StepCotangents] = []
    by_x, ends = after.x, [*taken.anew, taken.x]
    for k in range(len(ends) - 1, -1, -1):
        link = _Link(model, taken, integrator, solver, ends[k], ends[k - 1] if k else None, rest)
        one = link.back(by_x, after if k == len(ends) - 1 else None, prepared)
        by_x, prepared = one.pulled.place, one.hessian.prepared
        pulled.append(one.pulled)
        if k == 0:
            one.before = _unplanned(taken, pulled, after)
        yield one


@dataclass(eq=False)
class _Link:
    """A minimization of a step, which ended at ``end`` and began with what is lagged at ``at``."""

    model: Model
    taken: ForwardStep
    integrator: Any
    solver: LinearSolver
    end: Floats  # (n,3) [m]
    at: Floats | None  # (n,3) [m]; None: where the step began
    rest: bool

    def back(self, by_x: Floats, after: Back | None, prepared: Any) -> ReverseStep:
        """From derivatives by its end, and where it is the step's by what that led to."""
        phi, at = planned(self.model, self.taken, self.integrator), self.at
        step, static = phi.step, self.taken.method == "quasi_static"
        x = kernel.points(step.pinned(self.end))
        if static and phi.lag_at(x):
            at = step.pinned(self.end)  # an equilibrium balances the loads of where it is
        elif at is not None:
            phi.lag_at(kernel.points(at))
        into, by_x = StepCotangents.zeros(step, at), np.array(by_x)
        touching = next(
            (
                ContactSlopes(t, step, x, at)
                for t in phi.terms_of_phi
                if isinstance(t, ContactEnergy)
            ),
            None,
        )
        kept: dict[str, Floats] = {}
        if after is not None:
            kept = after.memory
            if not static:
                by_x += after.v / step.span
                into.origin -= after.v / step.span
            if touching is not None:
                by_x += touching.remembered(kept, into)
        hessian = Hessian(phi, x, self.solver, prepared)
        if static and at is not None:
            by_x += self._flushed(touching, into, self.rest)
            z = hessian.solve_lagged(by_x, lambda v: self._by_place(phi, touching, x, v, at))
        else:
            z = hessian.solve(by_x)
        fixed = step.fixed[:, None]
        into.target += np.where(fixed, by_x, 0.0) - hessian.pinned(z)
        for term in phi.terms_of_phi:
            if isinstance(term, ContactEnergy):
                assert touching is not None
                touching.pull(-z, into, rest=self.rest)
            else:
                pull_lagged(term, step, x, -z, into)
        if static:
            into.target += np.where(fixed, into.place, 0.0)
        left = hessian.solve(phi.gradient(self.end))
        return ReverseStep(
            self.taken,
            phi,
            x,
            z,
            into,
            kept,
            hessian,
            float(np.abs(left).max(initial=0.0)),
            touching,
        )

    @staticmethod
    def _flushed(touching: ContactSlopes | None, into: StepCotangents, rest: bool) -> Floats:
        """(n,3) what an equilibrium remembers of friction, by where it is: by loads and planes."""
        if touching is None:
            return np.zeros_like(into.place)
        before = np.array(into.place)
        touching.pull(np.zeros_like(into.place), into, rest=rest)
        by = into.place - before
        into.place[:] = before
        return np.asarray(by)

    @staticmethod
    def _by_place(
        phi: Potential, touching: ContactSlopes | None, x: WarpArray, by: Floats, at: Floats
    ) -> Floats:
        """(n,3) by . d(dE/dx)/d(where loads are taken)."""
        into = StepCotangents.zeros(phi.step, at)
        for term in phi.terms_of_phi:
            if type(term).lag is not Bound.lag and not isinstance(term, ContactEnergy):
                pull_lagged(term, phi.step, x, by, into)
        return into.place if touching is None else into.place + touching.by_place(by)


def _unplanned(taken: ForwardStep, several: Sequence[StepCotangents], after: Back) -> Back:
    """From derivatives by the plan of a step to those by the state and memory that it came from."""
    p = StepCotangents.total(several)
    out = Back(np.array(p.state_x), np.array(p.state_v), dict(p.kept))
    if taken.method == "quasi_static":
        return out
    h = taken.dt
    if taken.method == "backward_euler":
        out.x += p.predicted + p.origin
        out.v += h * p.predicted
        return out
    out.x += after.memory.get("x", 0.0)
    out.v += after.memory.get("v", 0.0)
    past = bdf2_past(taken)
    if past is None:
        out.x += p.predicted + p.origin
        out.v += h * p.predicted
        return out
    a1, a2, span = past
    ends = p.predicted + p.origin
    out.x += a1 * ends
    out.v += a1 * span * p.predicted
    out.memory["x"] = -a2 * ends + p.past
    out.memory["v"] = -a2 * span * p.predicted
    return out


def bdf2_past(taken: ForwardStep) -> tuple[float, float, float] | None:
    """a_1, a_2 and the span [s] of a step of bdf2 with two states of the past; None: with one."""
    before = float(taken.memory["dt"])
    if before == 0.0 or taken.dt > MOST_GROWTH * before * (1 + 1e-9):
        return None
    w = taken.dt / before
    a1, a2 = (1 + w) ** 2 / (1 + 2 * w), w * w / (1 + 2 * w)
    return a1, a2, (1 + w) / (1 + 2 * w) * taken.dt
