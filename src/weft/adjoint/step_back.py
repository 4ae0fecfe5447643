"""One step backwards: from derivatives by what it led to, to derivatives by what it began with.

The end x of a step makes g(x; a) = dPhi/dx zero at free vertices, a all that the step was made
from. So dx/da = -H^-1 dg/da (the implicit function theorem), and with z = H^-1 dL/dx a loss has
dL/da = -z . dg/da: one solve, whatever a is (for elastic solids Li et al. 2022, DiffCloth; Huang et
al. 2024 for lagged friction).
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.lagged import pull_lagged
from weft.adjoint.pulled import Pulled
from weft.adjoint.solving import Hessian
from weft.adjoint.touching import Touching
from weft.arrays import Floats
from weft.contact.term import ContactTerm
from weft.integrators.base import Memory
from weft.integrators.bdf2 import MOST_GROWTH
from weft.integrators.potential import Potential
from weft.kernel import WarpArray
from weft.model import Model
from weft.solve.base import LinearSolver
from weft.state import State


@dataclass(frozen=True, eq=False)
class Taken:
    """A step that was taken, or a part of one that was divided."""

    state: State  # where it began
    memory: Memory
    dt: float  # [s]
    x: Floats  # (n,3) [m] where it ended
    method: str  # ``backward_euler``, ``bdf2`` or ``quasi_static``


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
class StepBack:
    """What one step gave: derivatives by what it began with, and what parameters are asked with."""

    taken: Taken
    phi: Potential
    x: WarpArray
    z: Floats  # (n,3) H^-1 dL/dx, zero at prescribed vertices
    pulled: Pulled
    before: Back  # by the state where it began
    kept: dict[str, Floats]  # derivatives by what its terms remember at its end
    hessian: Hessian
    correction: float  # [m] largest displacement that was left: of H^-1 g
    firmed: bool  # whether the firmness of contact changed
    touching: Touching | None  # its contact
    mixed: dict[Any, Any] = field(default_factory=dict)  # what all parameters share (``changes``)


def planned(model: Model, taken: Taken, integrator: Any) -> Potential:
    """The potential of a step that was taken."""
    if taken.method == "quasi_static":
        return Potential(model, model.step(taken.state, taken.dt))
    phi: Potential = integrator.potential(model, taken.state, taken.memory, taken.dt)
    return phi


def step_back(
    model: Model,
    taken: Taken,
    integrator: Any,
    solver: LinearSolver,
    after: Back,
    prepared: Any,
    rest: bool = False,
) -> StepBack:
    """One step backwards.

    Args:
        model: of the run.
        taken: the step.
        integrator: that took it.
        solver: of the linear systems.
        after: derivatives by the state that it led to, and by what is remembered there.
        prepared: by the solver, in the step before this one in the way back.
        rest: whether derivatives by the rest shape are wanted, too.
    """
    phi = planned(model, taken, integrator)
    step, x = phi.step, kernel.points(phi.step.pinned(taken.x))
    into, static = Pulled.zeros(step), taken.method == "quasi_static"
    by_x = np.array(after.x)
    if not static:
        by_x += after.v / step.span
        into.origin -= after.v / step.span
    touching = None
    for term in phi.terms_of_phi:
        if isinstance(term, ContactTerm):
            touching = Touching(term, step, x)
            by_x += touching.remembered(after.memory, into)
    hessian = Hessian(phi, x, solver, prepared)
    z = hessian.solve(by_x)
    fixed = step.fixed[:, None]
    into.target += np.where(fixed, by_x, 0.0) - hessian.pinned(z)
    for term in phi.terms_of_phi:
        if isinstance(term, ContactTerm):
            assert touching is not None
            touching.pull(-z, into, rest=rest)
        else:
            pull_lagged(term, step, x, -z, into)
    left = hessian.solve(phi.gradient(taken.x))
    before = _unplanned(taken, into, after)
    return StepBack(
        taken, phi, x, z, into, before, after.memory, hessian,
        float(np.abs(left).max(initial=0.0)), touching is not None and touching.firmed, touching,
    )  # fmt: skip


def _unplanned(taken: Taken, p: Pulled, after: Back) -> Back:
    """From derivatives by the plan of a step to those by the state and memory that it came from."""
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


def bdf2_past(taken: Taken) -> tuple[float, float, float] | None:
    """a_1, a_2 and the span [s] of a step of bdf2 with two states of the past; None: with one."""
    before = float(taken.memory["dt"])
    if before == 0.0 or taken.dt > MOST_GROWTH * before * (1 + 1e-9):
        return None
    w = taken.dt / before
    a1, a2 = (1 + w) ** 2 / (1 + 2 * w), w * w / (1 + 2 * w)
    return a1, a2, (1 + w) / (1 + 2 * w) * taken.dt
