"""Projected Newton: minimize a function given as value, gradient and a positive definite matrix.

Stops on the size of the Newton increment, which does not depend on resolution. With a direct solver
every factorization is used for as long as it pays: simplified Newton increments (old matrix, new
gradient; Deuflhard 2004, section 2.1) follow while each is at most half of the one before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.phases import Phases
from weft.solve.base import LinearSolver, Outcome, Prepared
from weft.solve.block_csr import BlockCsr
from weft.solve.line_search import LineSearchSettings, backtrack
from weft.solve.updates import Update, solve_updated
from weft.solve.vectors import combine, dot, max_norm

CROWDED = 0.25  # part of a direction that may be gone, below which another is tried
CONTRACTION = 0.5  # of simplified increments, above which a new factorization pays


class Problem(Protocol):
    """What is minimized, on device arrays (n,) vec3.

    Fixed entries have zero gradient and identity rows.
    """

    def value_at(self, x: WarpArray) -> float:
        """The function."""

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """Its gradient."""

    def matrix_at(self, x: WarpArray) -> BlockCsr:
        """A positive definite approximation of its Hessian, valid until the next call."""

    def limit_at(self, x: WarpArray, d: WarpArray) -> float:
        """Part of the direction d, in [0, 1], that may be gone at all; 1 but for contact."""

    def truncated_at(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """A direction in its place that may be gone to the end, for when little of d may be."""

    def updates_at(self, x: WarpArray) -> Sequence[Update]:
        """Dense parts c u u^T that belong to it too; mostly none."""


@dataclass(frozen=True)
class NewtonSettings:
    """When to stop, and how accurately to solve.

    ``tolerance`` bounds the largest vertex displacement of the last Newton increment, in the units
    of x.
    """

    tolerance: float
    max_iterations: int = 100
    forcing: float = 0.5  # largest relative error of an iterative linear solve, energy norm
    least_forcing: float = 0.3  # what it is tightened to as Newton's decrements fall
    line_search: LineSearchSettings = field(default_factory=LineSearchSettings)


@dataclass(frozen=True)
class NewtonResult:
    """The minimizer found, and how."""

    x: WarpArray
    outcome: Outcome
    iterations: int  # matrices assembled
    linear_iterations: int  # 0 with a direct solver
    line_search_trials: int
    increment: float  # largest vertex displacement of the last increment
    prepared: Prepared | None  # of the last matrix, to keep symbolic work
    rescues: int = 0  # linear solves that another solver had to finish


def minimize(
    problem: Problem,
    x0: WarpArray,
    solver: LinearSolver,
    settings: NewtonSettings,
    previous: Any = None,
) -> NewtonResult:
    """Minimize from x0, which is not written to.

    Args:
        problem: the function.
        x0: (n,) vec3 start.
        solver: solves with the problem's matrices.
        settings: tolerances and limits.
        previous: a ``prepared`` for the same pattern, whose symbolic work is kept.
    """
    run = _Run(problem, solver, settings, kernel.array(kernel.numpy(x0).copy(), vec3), previous)
    return run.minimize()


class _Run:
    """One minimization: the iterate and the counters."""

    def __init__(
        self,
        problem: Problem,
        solver: LinearSolver,
        settings: NewtonSettings,
        x: WarpArray,
        previous: Any,
    ) -> None:
        self.problem, self.solver, self.settings, self.x = problem, solver, settings, x
        self.prepared = previous
        self.phases: Phases = getattr(problem, "phases", None) or Phases()
        self.g, self.trial = kernel.empty(x.shape[0], vec3), kernel.empty(x.shape[0], vec3)
        self.iterations = self.linear_iterations = self.trials = self.rescues = 0
        self.increment, self.forcing, self.decrement = float("inf"), settings.forcing, 0.0

    def minimize(self) -> NewtonResult:
        """Newton iterations, each followed by simplified ones where those are cheap."""
        value = self.problem.value_at(self.x)
        self.problem.gradient_at(self.x, self.g)
        if not value < float("inf"):
            return self._result(Outcome.NOT_FINITE)
        while self.iterations < self.settings.max_iterations:
            self.iterations += 1
            A = self.problem.matrix_at(self.x)
            with self.phases("solve"):
                self.prepared = self.solver.prepare(A, self.prepared)
            fresh, before = True, float("inf")
            while True:
                d, outcome = self._direction()
                if not outcome.ok:
                    return self._result(outcome)
                if self.increment <= self.settings.tolerance:
                    combine(self.x, self.problem.limit_at(self.x, d), d, self.x)
                    return self._result(Outcome.CONVERGED)
                if not fresh and self.increment > CONTRACTION * before:
                    break
                step, value, outcome = self._advance(d, value)
                if not outcome.ok:
                    return self._result(outcome)
                if not self.solver.is_direct or step < 1.0:
                    break
                fresh, before = False, self.increment
        return self._result(Outcome.MAX_ITERATIONS)

    def _advance(self, d: WarpArray, value: float) -> tuple[float, float, Outcome]:
        """Line search along d from the current value: the step, the new value, and how it went."""
        slope = dot(self.g, d)
        if not slope < 0.0:
            return 0.0, value, Outcome.NOT_DESCENT
        along = partial(self._value_along, d)
        limit = self.problem.limit_at(self.x, d)
        if limit < CROWDED:
            held = self.problem.truncated_at(self.x, d)
            if held is not None and dot(self.g, held) < limit * slope:
                d, slope = held, dot(self.g, held)
                limit = self.problem.limit_at(self.x, d)
                along = partial(self._value_along, d)
        search = backtrack(along, value, slope, limit, self.settings.line_search)
        self.trials += search.trials
        if search.step == 0.0:
            return 0.0, value, Outcome.STALLED
        combine(self.x, search.step, d, self.x)
        self.problem.gradient_at(self.x, self.g)
        return search.step, search.value, Outcome.CONVERGED

    def _direction(self) -> tuple[WarpArray, Outcome]:
        """-A^-1 g with the matrix prepared last; records its size."""
        assert self.prepared is not None
        updates = self.problem.updates_at(self.x)
        with self.phases("solve"):
            solution = solve_updated(self.prepared, self.g, self.forcing, updates)
        self.linear_iterations += solution.iterations
        self.rescues += solution.rescued
        d = solution.x
        combine(d, -2.0, d, d)
        self.increment = max_norm(d)
        self._tighten(-dot(self.g, d))
        if solution.outcome.ok and not self.increment < float("inf"):
            return d, Outcome.NOT_FINITE
        return d, solution.outcome

    def _tighten(self, decrement: float) -> None:
        """The next forcing term (Eisenstat & Walker 1996, choice 2), from g.A^-1 g.

        That is the square of the energy norm of the error, which sees smooth error; the residual's
        2-norm does not.
        """
        s = self.settings
        if self.decrement > 0.0 and decrement > 0.0:
            ratio = decrement / self.decrement
            self.forcing = min(max(0.5 * ratio, min(s.least_forcing, s.forcing)), s.forcing)
        self.decrement = decrement

    def _value_along(self, d: WarpArray, a: float) -> float:
        combine(self.x, a, d, self.trial)
        value = self.problem.value_at(self.trial)
        return value if value == value else float("inf")

    def _result(self, outcome: Outcome) -> NewtonResult:
        return NewtonResult(
            self.x,
            outcome,
            self.iterations,
            self.linear_iterations,
            self.trials,
            self.increment,
            self.prepared,
            self.rescues,
        )
