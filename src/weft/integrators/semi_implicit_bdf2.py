"""Choi & Ko's (2002) semi-implicit step: the second-order backward difference with forces
linearized at x_n, one linear solve a step.

    (M - 2/3 h D - 4/9 h^2 K) dv = 1/3 M (v_n - v_(n-1)) + 2/3 h [f_n + 1/3 K (x_n - x_(n-1) + 2 h
    v_n)],   v' = v_n + dv,   x' = 4/3 x_n - 1/3 x_(n-1) + 2/3 h v'

for equal steps; ``bdf2`` has the coefficients of unequal ones. It is solved for x' - x_n, which is
one full Newton iteration on ``Bdf2``'s potential from x_n: (M/s + H) (x' - x_n) = M (y - x_n)/s -
dE/dx(x_n).
"""

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weft import kernel
from weft.arrays import Floats
from weft.integrators.base import Memory, StepReport
from weft.integrators.bdf2 import History, no_history, remember
from weft.integrators.linearized import QuadraticModel, with_contact
from weft.kernel import Scalar, vec3
from weft.laws.base import Psd
from weft.model import Model
from weft.settings import check_settings, documented, setting
from weft.solve.base import LinearSolver, Outcome
from weft.solve.block_csr import BlockCsr, scale_and_shift
from weft.solve.choose import LINEAR_SOLVERS, linear_solver
from weft.solve.constraints import ConstrainedSolution, Constraint, Filter, solve_constrained
from weft.state import State


@documented
@dataclass(frozen=True)
class SemiImplicitSettings:
    """How the step is set up and solved."""

    psd: Psd = setting(
        Psd.PROJECTED,
        "derivatives of forces: projected drops what would make the matrix indefinite, as Choi & "
        "Ko do (order 2 where nothing is dropped); exact keeps all, and a step with an indefinite "
        "matrix is solved again with projected",
    )
    tolerance: float = setting(
        1e-2,
        "relative error of the solve in the energy norm; direct solvers go to round-off",
        above=0,
        below=1,
    )
    linear: str = setting(
        "auto", "linear solver; auto takes the fastest one for the size", choices=LINEAR_SOLVERS
    )
    most_speed: float = setting(1e4, "beyond which a step counts as diverged", "m/s", above=0)

    def __post_init__(self) -> None:
        check_settings(self, "SemiImplicitSettings")


class SemiImplicitBdf2:
    """Second-order backward difference with one linear solve a step."""

    order: ClassVar[int] = 2

    def __init__(self, settings: SemiImplicitSettings | None = None) -> None:
        self.settings = settings or SemiImplicitSettings()
        self._solver: LinearSolver = linear_solver(self.settings.linear)
        self._model: Model | None = None
        self._filtered: BlockCsr
        self._prepared: Any = None
        self._prepared_contact: Any = None
        self._system: BlockCsr  # of the last linear solve, and its right-hand side
        self._force: Floats

    def init(self, model: Model, state: State) -> Memory:
        """No step before the first."""
        return no_history(state)

    def step(
        self, model: Model, state: State, memory: Memory, dt: float
    ) -> tuple[State, Memory, StepReport]:
        """One step of dt [s]; the given state and memory where the outcome is not CONVERGED."""
        clock = time.perf_counter()
        if self._model is not model:
            self._model, self._prepared, self._prepared_contact = model, None, None
            touching = model.contact is not None
            n = len(model.mass)
            self._solver = linear_solver(
                self.settings.linear, n, contact=touching, pattern=model.assembly.pattern
            )
            self._filtered = BlockCsr.zeros(model.assembly.pattern)
        past = History.of(state, memory, dt)
        solution = self._solve(model, state, past, dt, self.settings.psd)
        solves, iterations = 1, solution.linear.iterations
        if solution.linear.outcome is Outcome.INDEFINITE and self.settings.psd is Psd.EXACT:
            solution = self._solve(model, state, past, dt, Psd.PROJECTED)
            solves, iterations = 2, iterations + solution.linear.iterations
        x = state.x + solution.change
        outcome, met = solution.linear.outcome, None
        if outcome.ok and model.contact is not None:
            quadratic = QuadraticModel(
                self._system, kernel.array(self._force, vec3), kernel.array(state.x, vec3)
            )
            rate = past.x, past.span
            met = with_contact(
                model, state, quadratic, x, dt, rate, self._solver, self._prepared_contact
            )
            self._prepared_contact, outcome, x = met.prepared, met.outcome, met.x
        v = (x - past.x) / past.span
        if outcome.ok and not np.abs(v).max() < self.settings.most_speed:
            outcome = Outcome.NOT_FINITE
        report = StepReport(
            dt=dt,
            outcome=outcome,
            iterations=solves + (met.iterations if met else 0),
            linear_iterations=iterations + (met.linear_iterations if met else 0),
            line_search_trials=met.line_search_trials if met else 0,
            increment=float(np.abs(solution.change).max()) / dt,
            linear_solver=self._solver.name,
            terms=model.assembly.terms(kernel.array(x, vec3)) if outcome.ok else {},
            seconds=time.perf_counter() - clock,
            indefinite=solves - 1,
            rescues=int(solution.linear.rescued) + (met.rescues if met else 0),
            contact=met.report if met else {},
            phases=met.phases if met else {},
            place=met.place if met else None,
        )
        if not outcome.ok:
            return state, memory, report
        return State(x, v, state.t + dt), remember(state, dt), report

    def _solve(
        self, model: Model, state: State, past: History, dt: float, psd: Psd
    ) -> ConstrainedSolution:
        """x' - x_n, with pinned vertices taken to where they have to be."""
        a, s = model.assembly, past.span**2
        a.freeze(kernel.array(past.x, vec3), past.span)
        x = kernel.array(state.x, vec3)
        a.refuse_updates(x, "bdf2_semi_implicit")
        g = kernel.zeros(a.n, vec3)
        a.add_gradient(x, g)
        predicted = past.x + past.span * past.v
        b: Floats = model.mass[:, None] / s * (predicted - state.x) - kernel.numpy(g)
        A = a.hessian(x, psd)
        scale_and_shift(A, 1.0, kernel.array(model.mass / s, Scalar))
        self._system, self._force = A, b
        fixed, target = model.prescribed(state.t + dt)
        ids = np.flatnonzero(fixed).astype(np.int32)
        held = [Constraint(ids, np.eye(3), target[ids] - state.x[ids])] if len(ids) else []
        solution = solve_constrained(
            A, b, Filter.of(a.n, held), self._filtered, self._solver,
            self.settings.tolerance, self._prepared,
        )  # fmt: skip
        self._prepared = solution.prepared
        return solution
