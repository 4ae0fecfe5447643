"""Steps of one linear solve, with contact.

The elastic part of such a step stays the quadratic model that the linear solve minimizes; only
contact is searched by Newton's method:

    Q(x) = (x - x_n).A(x - x_n)/2 - b.(x - x_n) + barrier(x) + friction(x)

Without contact its minimum is the result of the linear solve. With contact its minimum is the step
under contact forces, and the motion to it is free of collisions.
"""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions, Velocities
from weft.base.errors import SceneError
from weft.energies.barrier import Barrier
from weft.energies.state import State
from weft.energies.step import Step
from weft.energies.term import Term, damping_of
from weft.integrators.assembly import sum_energies
from weft.integrators.base import StepReport
from weft.integrators.lagged_friction import minimize_lagged
from weft.integrators.model import Model
from weft.integrators.potential import Potential, is_start
from weft.integrators.step_solver import Solver
from weft.kernel import WarpArray, vec3
from weft.solve.linear.solver import LinearSolution, Outcome
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import Counts
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr
from weft.solve.sparse.vectors import combine, dot

TOLERANCE = 1e-2  # [m/s] of the last Newton increment over the step
MOST_ITERATIONS = 100
MOST_GAIN = 0.1  # part of the kinetic energy by which a step under contact may raise the total


class QuadraticModel(Term):
    """The term (x - x_n).A(x - x_n)/2 - b.(x - x_n).

    It replaces a model's energies and inertia.
    """

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
        """Return the value [J] at x (n,) vec3 [m]."""
        self._product(x)
        return 0.5 * dot(self._d, self._Ad) - dot(self._d, self.b)

    def work(self, x: WarpArray) -> float:
        """Return the work [J] of pins and contact from x_n to the minimum x.

        The force is A (x - x_n) - b.
        """
        self._product(x)
        return dot(self._d, self._Ad) - dot(self._d, self.b)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add A (x - x_n) - b to g (n,) vec3 [N]."""
        self._product(x)
        combine(g, 1.0, self._Ad, g)
        combine(g, -1.0, self.b, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Return A with the matrix of the model copied into it, because this is the first term."""
        A.claim()
        wp.copy(A.values, self.A.values)
        return A


def refuse_for_one_solve(model: Model, x: WarpArray, integrator: str) -> None:
    """Raise an error for energies that a step of one linear solve cannot take.

    One linear solve would leave out the dense parts of a Hessian, and go past a barrier.

    Raises:
        SceneError: a gas; a limit of strain, or another barrier.
    """
    for term in model.assembly.bound:
        if isinstance(term, Barrier):
            raise SceneError(
                f"energy {term.name}",
                got=f"a barrier, with {integrator}",
                expected="backward_euler, bdf2 or quasi_static",
                hint="one linear solve would pass the barrier",
            )
    if any(term.updates(x) for term in model.assembly.bound):
        raise SceneError(
            "gas pressure",
            got=f"with {integrator}",
            expected="backward_euler, bdf2 or quasi_static",
            hint="or use a constant pressure",
        )


def finish(
    model: Model,
    phi: Potential,
    solver: Solver,
    linear: LinearSolution,
    ends: tuple[Positions, Floats],
    quadratic: Callable[[], QuadraticModel],
    work: float | None,
    most_speed: float,
    clock: float,
    solves: int = 1,
    **more: Any,
) -> tuple[State, Mapping[str, Floats], StepReport]:
    """Finish a step of one linear solve: apply contact, let the terms remember, build the report.

    Args:
        model: energies and contact.
        phi: potential of the step.
        solver: solver of the linear systems.
        linear: result of the linear solve.
        ends: positions (n,3) [m] and velocities (n,3) [m/s] that the linear solve leads to.
        quadratic: builds the quadratic model for the search under contact. It takes PROJECTED
            Hessians: an exact one that is barely positive definite yields too much under contact
            forces.
        work: [J] of the pins in the linear solve; None: the end has moved by more than the solve,
            so that the energy that the step gained is not known.
        most_speed: [m/s] above which the step counts as diverged.
        clock: value of ``time.perf_counter()`` when the step began.
        solves: number of linear solves made.
        more: other fields of the report.

    Returns:
        New state, what the terms remember, and the report; the given state and no memory if the
        step failed.
    """
    (x, v), outcome, touches = ends, linear.outcome, False
    if outcome.ok and not np.abs(v).max() < most_speed:  # NaN fails as well
        outcome = Outcome.NOT_FINITE
    counts = Counts(outcome, solves, linear.iterations, 0, int(linear.rescued))
    if outcome.ok and model.contact is not None and not phi.is_contact_free(x):
        touches = True
        x, counts = _under_contact(model, phi, quadratic(), solver, x, counts)
        v = phi.step.velocity(x)
    report = StepReport.of(phi, x, counts, clock, linear_solver=solver.linear.name, **more)
    if not report.outcome.ok:
        return phi.step.state, {}, report
    if work is not None and not touches:
        gain = _gain(model, phi.step, report.terms, v) - work
        if gain > MOST_GAIN * _uncertain(model):
            report = dataclasses.replace(report, gained=gain)
    return State(x, v, phi.step.t), phi.remember(x), report


def _under_contact(
    model: Model,
    phi: Potential,
    quadratic: QuadraticModel,
    solver: Solver,
    x: Positions,
    counts: Counts,
) -> tuple[Positions, Counts]:
    """Minimize the quadratic model under contact; return the positions (n,3) [m] and the counts.

    The search starts where the linear solve leads, as far as contact allows, or at the beginning of
    the step if the model is lower there (cloth at rest).
    """
    modeled = phi.with_elastic(quadratic)
    starts = [modeled.reach(goal) for goal in (x, phi.step.move_pins(phi.step.state.x))]
    values = [
        np.inf if start is None else modeled.value_at(kernel.points(start)) for start in starts
    ]
    lower = int(np.argmin(values))
    start, value = starts[lower], values[lower]
    if start is None or not is_start(value):
        return x, Counts(phi.refusal).after(counts)
    newton = Newton(TOLERANCE * phi.step.dt, MOST_ITERATIONS)
    kept = solver.prepared_contact
    found = minimize_lagged(modeled, start, solver.linear, newton, kept, model.lags, value)
    solver.prepared_contact = found.prepared
    end, counts = np.array(kernel.numpy(found.x)), found.counts.after(counts)
    if counts.outcome.ok and _gains_energy(model, phi.step, quadratic, found.x):
        counts = dataclasses.replace(counts, outcome=Outcome.GAINED)
    return end, counts


def _gains_energy(model: Model, step: Step, quadratic: QuadraticModel, x: WarpArray) -> bool:
    """Return whether a step under contact that ended at x (n,) vec3 has gained energy that nothing
    put in.

    The gain is the increase of kinetic and elastic energy beyond the work of pins and contact; it
    may be ``MOST_GAIN`` times the kinetic energy. The quadratic model does not know that rotation
    is no stretch: if contact turns the cloth by a large angle in one step, the cloth ends with
    elastic energy that no work has paid for.
    """
    v = step.velocity(kernel.numpy(x))
    before, after = (_kinetic(model.assembly.mass, u) for u in (step.state.v, v))
    stored = model.assembly.value(x) - model.assembly.value(step.device_state)
    gain = after - before + stored - quadratic.work(x)
    return gain > MOST_GAIN * (before + after + _uncertain(model))


def _gain(model: Model, step: Step, after: Mapping[str, float], v: Velocities) -> float:
    """Return the increase [J] of kinetic and stored energy in a step that ended at velocities v
    (n,3), with energies ``after`` by name; potentials of damping store nothing.
    """
    mass, before = model.assembly.mass, sum_energies(model.assembly.bound, step.device_state)
    damping = {damping_of(name) for name in before}
    stored = sum(after[name] - before[name] for name in before if name not in damping)
    return _kinetic(mass, v) - _kinetic(mass, step.state.v) + stored


def _kinetic(mass: Floats, v: Velocities) -> float:
    return 0.5 * float(np.einsum("n,ni,ni->", mass, v, v))


def _uncertain(model: Model) -> float:
    """Return the energy [J] of velocities that the tolerance allows: a gain below a part of it is
    no error.
    """
    return 0.5 * float(model.assembly.mass.sum()) * TOLERANCE**2
