"""A step of one linear solve, with contact: the elastic part stays the quadratic model of that
solve, and only contact is searched.

    Q(x) = (x - x_n).A(x - x_n)/2 - b.(x - x_n) + barrier(x) + friction(x)

Without contact its minimum is the step itself. With contact it is that step under forces of
contact, which a search finds that passes through nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Positions
from weft.energies.base import Bound
from weft.errors import SceneError
from weft.integrators.base import Solver, StepReport
from weft.integrators.lagged import minimize_lagged
from weft.integrators.potential import Potential
from weft.kernel import WarpArray, vec3
from weft.model import Model
from weft.psd import Psd
from weft.solve.base import LinearSolution, Outcome
from weft.solve.block_csr import BlockCsr
from weft.solve.descent import Newton
from weft.solve.minimize import Counts
from weft.solve.vectors import combine, dot
from weft.state import State

TOLERANCE = 1e-2  # [m/s] of the last Newton increment over the step
MOST_ITERATIONS = 100


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
    phi: Potential,
    lags: int,
    solver: Solver,
    linear: LinearSolution,
    ends: tuple[Positions, Floats],
    quadratic: Callable[[], QuadraticModel] | None,
    most_speed: float,
    clock: float,
    solves: int = 1,
    **more: Any,
) -> tuple[State, Mapping[str, Floats], StepReport]:
    """The end of a step of one linear solve: under contact where there is any, with what its terms
    remember, and its report.

    Args:
        phi: of the step.
        lags: of friction.
        solver: of the linear systems.
        linear: the solve.
        ends: positions (n,3) [m] and velocities (n,3) [m/s] that it leads to.
        quadratic: makes the model of the step that contact searches; None without contact. It
            takes PROJECTED Hessians: an exact one that is barely positive definite gives way under
            forces of contact.
        most_speed: [m/s] beyond which the step counts as diverged.
        clock: ``time.perf_counter()`` when the step began.
        solves: how many linear solves were made.
        more: other fields of the report.
    """
    (x, v), outcome = ends, linear.outcome
    if outcome.ok and not np.abs(v).max() < most_speed:
        outcome = Outcome.NOT_FINITE
    counts = Counts(outcome, solves, linear.iterations, 0, int(linear.rescued))
    if outcome.ok and quadratic is not None and not phi.passes_free(x):
        x, counts = _under_contact(phi.modeled(quadratic()), lags, solver, x, counts)
        v = phi.step.velocity(x)
    report = StepReport.of(phi, x, counts, clock, linear_solver=solver.linear.name, **more)
    if not report.outcome.ok:
        return phi.step.state, {}, report
    return State(x, v, phi.step.t), phi.remember(x), report


def _under_contact(
    phi: Potential, lags: int, solver: Solver, x: Positions, counts: Counts
) -> tuple[Positions, Counts]:
    """Where the model of a step has its minimum under contact: from where the linear solve leads,
    as far as contact lets it, or from where the step begins, if that is lower (cloth that rests).
    """
    starts = [phi.feasible(goal) for goal in (x, phi.step.pinned(phi.step.state.x))]
    values = [np.inf if start is None else phi.value_at(kernel.points(start)) for start in starts]
    lower = int(np.argmin(values))
    start, value = starts[lower], values[lower]
    if start is None:
        return x, Counts(Outcome.BLOCKED).after(counts)
    newton = Newton(TOLERANCE * phi.step.dt, MOST_ITERATIONS)
    kept = solver.prepared_contact
    found = minimize_lagged(phi, start, solver.linear, newton, kept, lags, value)
    solver.prepared_contact = found.prepared
    return np.array(kernel.numpy(found.x)), found.counts.after(counts)
