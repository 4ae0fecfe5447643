"""A step of one linear solve, with contact: the elastic part stays the quadratic model of that
solve, and only contact is searched.

    Q(x) = (x - x_n).A(x - x_n)/2 - b.(x - x_n) + barrier(x) + friction(x)

Without contact its minimum is the step itself. With contact it is that step under forces of
contact, which a search finds that passes through nothing.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.errors import SceneError
from weft.energies.base import Bound
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.base import Solver, StepReport
from weft.integrators.lagged_friction import minimize_lagged
from weft.integrators.model import Model
from weft.integrators.potential import Potential, is_start
from weft.kernel import WarpArray, vec3
from weft.solve.linear.solver import LinearSolution, Outcome
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import Counts
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr
from weft.solve.sparse.vectors import combine, dot

TOLERANCE = 1e-2  # [m/s] of the last Newton increment over the step
MOST_ITERATIONS = 100
MOST_GAIN = 0.1  # of the kinetic energy, that a step under contact may add to the total


class QuadraticModel(Bound):
    """(x - x_n).A(x - x_n)/2 - b.(x - x_n), in the place of a model's energies and inertia."""

    name = "quadratic"

    def __init__(self, A: BlockCsr, b: WarpArray, x: WarpArray) -> None:
        self.A = BlockCsr.zeros(A.pattern)  # [N/m] symmetric, a copy
        wp.copy(self.A.values, A.values)
        self.b, self.x = b, x  # (n,) vec3 [N]; (n,) vec3 [m] x_n
        self._d, self._Ad = kernel.empty(A.n, vec3), kernel.empty(A.n, vec3)

    def _product(self, x: WarpArray) -> None:
        combine(x, -1.0, self.x, self._d)
        self.A.multiply(self._d, self._Ad)

    def value(self, x: WarpArray) -> float:
        """[J]."""
        self._product(x)
        return 0.5 * dot(self._d, self._Ad) - dot(self._d, self.b)

    def work(self, x: WarpArray) -> float:
        """[J] what pins and contact do from x_n to the minimum x, by the forces A (x - x_n) - b."""
        self._product(x)
        return dot(self._d, self._Ad) - dot(self._d, self.b)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += A (x - x_n) - b."""
        self._product(x)
        combine(g, 1.0, self._Ad, g)
        combine(g, -1.0, self.b, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A copy of A: this is the first term."""
        A.claim()
        wp.copy(A.values, self.A.values)
        return A


def refuse_for_one_solve(model: Model, x: WarpArray, integrator: str) -> None:
    """Raise a SceneError where the Hessian has dense parts, which one linear solve leaves out, or
    an energy bounds steps, which one linear solve does not hear.

    Raises:
        SceneError: a gas; a limit of strain, or another barrier.
    """
    for term in model.assembly.bound:
        if term.limits:
            raise SceneError(
                f"energy {term.name}",
                got=f"a barrier, with {integrator}",
                expected="backward_euler, bdf2 or quasi_static",
                hint="one linear solve would go past it",
            )
    if any(term.updates(x) for term in model.assembly.bound):
        raise SceneError(
            "gas pressure",
            got=f"with {integrator}",
            expected="backward_euler, bdf2 or quasi_static",
            hint="or a constant pressure",
        )


def finish(
    model: Model,
    phi: Potential,
    solver: Solver,
    linear: LinearSolution,
    ends: tuple[Positions, Floats],
    quadratic: Callable[[], QuadraticModel],
    most_speed: float,
    clock: float,
    solves: int = 1,
    **more: Any,
) -> tuple[State, Mapping[str, Floats], StepReport]:
    """The end of a step of one linear solve: under contact where there is any, with what its terms
    remember, and its report.

    Args:
        model: energies and contact.
        phi: of the step.
        solver: of the linear systems.
        linear: the solve.
        ends: positions (n,3) [m] and velocities (n,3) [m/s] that it leads to.
        quadratic: makes the model of the step that contact searches. It takes PROJECTED Hessians:
            an exact one that is barely positive definite gives way under forces of contact.
        most_speed: [m/s] beyond which the step counts as diverged.
        clock: ``time.perf_counter()`` when the step began.
        solves: how many linear solves were made.
        more: other fields of the report.
    """
    (x, v), outcome = ends, linear.outcome
    if outcome.ok and not np.abs(v).max() < most_speed:
        outcome = Outcome.NOT_FINITE
    counts = Counts(outcome, solves, linear.iterations, 0, int(linear.rescued))
    if outcome.ok and model.contact is not None and not phi.passes_free(x):
        x, counts = _under_contact(model, phi, quadratic(), solver, x, counts)
        v = phi.step.velocity(x)
    report = StepReport.of(phi, x, counts, clock, linear_solver=solver.linear.name, **more)
    if not report.outcome.ok:
        return phi.step.state, {}, report
    return State(x, v, phi.step.t), phi.remember(x), report


def _under_contact(
    model: Model,
    phi: Potential,
    quadratic: QuadraticModel,
    solver: Solver,
    x: Positions,
    counts: Counts,
) -> tuple[Positions, Counts]:
    """Where the model of a step has its minimum under contact: from where the linear solve leads,
    as far as contact lets it, or from where the step begins, if that is lower (cloth that rests).
    """
    assert model.contact is not None
    modeled = phi.modeled(quadratic)
    starts = [modeled.reach(goal) for goal in (x, phi.step.pinned(phi.step.state.x))]
    values = [
        np.inf if start is None else modeled.value_at(kernel.points(start)) for start in starts
    ]
    lower = int(np.argmin(values))
    start, value = starts[lower], values[lower]
    if start is None or not is_start(value):
        return x, Counts(Outcome.BLOCKED).after(counts)
    newton = Newton(TOLERANCE * phi.step.dt, MOST_ITERATIONS)
    kept, lags = solver.prepared_contact, model.contact.settings.lags
    found = minimize_lagged(modeled, start, solver.linear, newton, kept, lags, value)
    solver.prepared_contact = found.prepared
    end, counts = np.array(kernel.numpy(found.x)), found.counts.after(counts)
    if counts.outcome.ok and _gains_energy(model, phi.step, quadratic, found.x):
        counts = dataclasses.replace(counts, outcome=Outcome.GAINED)
    return end, counts


def _gains_energy(model: Model, step: Step, quadratic: QuadraticModel, x: WarpArray) -> bool:
    """Whether a step that ended at x (n,) vec3 has more energy than it began with and pins and
    contact put in, by a part of its kinetic energy.

    The quadratic model does not know that cloth which turns is not stretched. What contact turns by
    a large angle in a step ends with elastic energy that nothing has paid for.
    """
    mass, v = model.assembly.mass_now, step.velocity(kernel.numpy(x))
    before, after = (0.5 * float(np.einsum("n,ni,ni->", mass, u, u)) for u in (step.state.v, v))
    stored = model.assembly.value(x) - model.assembly.value(step.device_state)
    gain = after - before + stored - quadratic.work(x)
    uncertain = 0.5 * float(mass.sum()) * TOLERANCE**2
    return gain > MOST_GAIN * (before + after + uncertain)
