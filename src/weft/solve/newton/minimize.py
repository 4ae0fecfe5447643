"""Minimize a function given by its value, gradient and Hessian.

One loop serves time steps and equilibria. A ``Descent`` proposes directions (``descent``,
``shifted``), the line search measures how far to go (``line_search``), and a ``StoppingRule``
decides when to end (``stopping``). All vectors stay on the device; only numbers are copied to the
host.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.solve.linear.solver import LinearSolver, Outcome, PreparedSolver
from weft.solve.newton.direction import Method, RemainingError, SearchDirection, SearchPoint
from weft.solve.newton.line_search import LineSearchResult, LineSearchSettings, backtrack
from weft.solve.newton.newton_system import NewtonSystem
from weft.solve.newton.problem import Problem
from weft.solve.sparse.vectors import combine, dot, size_and_slope

# Feasible fraction of a direction below which the direction is truncated vertex by vertex instead
# of shortened as a whole (docs/decisions/0016).
TRUNCATE_BELOW = 0.25
ROUND_OFF = 1e-10  # part of the value below which a decrease does not judge the model


@dataclass(frozen=True)
class Counts:
    """Outcome of a minimization and the work that it took."""

    outcome: Outcome
    iterations: int = 0  # Newton iterations: matrices assembled
    linear_iterations: int = 0  # 0 with a direct solver
    line_search_trials: int = 0
    rescues: int = 0  # linear solves that another solver had to finish
    truncations: int = 0  # directions that were shortened vertex by vertex
    forcing: float = 1.0  # least forcing term of the linear solves
    # Least ratio of the decrease by a step to the decrease that the quadratic model predicts.
    model_quality: float = 1.0

    def after(self, before: "Counts") -> Self:
        """Return these counts plus those of an earlier search, with the outcome of this one."""
        names = ("iterations", "linear_iterations", "line_search_trials", "rescues", "truncations")
        sums = {n: getattr(self, n) + getattr(before, n) for n in names}
        least = {n: min(getattr(self, n), getattr(before, n)) for n in ("forcing", "model_quality")}
        return replace(self, **sums, **least)


@dataclass(frozen=True)
class Minimum:
    """Result of a minimization."""

    x: WarpArray
    counts: Counts
    increment: float  # largest vertex displacement of the last increment
    prepared: (
        PreparedSolver | None
    )  # last matrix as the linear solver prepared it, so that symbolic work is reused
    remaining: RemainingError  # of the outcome STOPPED

    @property
    def outcome(self) -> Outcome:
        """Return how the search ended."""
        return self.counts.outcome


@dataclass(frozen=True)
class Iterate:
    """Record of one iteration, for plots and progress reports."""

    energy: float  # [J] before the iteration
    force: float  # largest force on a free vertex, over the largest one of a pin or load
    increment: float  # [m] largest vertex displacement of the step taken
    step: float  # step length of the line search, (0, 1]
    mu: float  # [1/s^2] factor of the mass matrix that is added for equilibria; 0: none
    linear_iterations: int


def minimize(
    problem: Problem,
    x0: WarpArray,
    solver: LinearSolver,
    method: Method,
    line_search: LineSearchSettings | None = None,
    previous: PreparedSolver | None = None,
    watch: Callable[[Iterate, WarpArray], None] | None = None,
    value: float = float("nan"),
) -> Minimum:
    """Minimize a function from x0.

    Args:
        problem: the function.
        x0: (n,) vec3 start; not modified.
        solver: linear solver of the problem's matrices.
        method: settings of the directions and of the stopping rule.
        line_search: constants of the line search; None: the defaults.
        previous: a ``prepared`` of an earlier result for the same pattern, whose symbolic work is
            reused.
        watch: called after every iteration with its record and the new iterate.
        value: the function at x0; NaN: it is evaluated.

    Returns:
        The last iterate with its outcome and counts. Failures are outcomes, not exceptions.
    """
    search = Search(problem, x0, solver, method, line_search or LineSearchSettings(), previous)
    return search.run(value, watch)


class Search:
    """One minimization: the iterate, its three parts and the counts of work.

    Arguments as for ``minimize``.
    """

    def __init__(
        self,
        problem: Problem,
        x0: WarpArray,
        solver: LinearSolver,
        method: Method,
        line_search: LineSearchSettings,
        previous: PreparedSolver | None,
    ) -> None:
        self.problem, self.line_search = problem, line_search
        self.system = NewtonSystem(problem, solver, previous)
        n = x0.shape[0]
        x, g, self._trial = (kernel.empty(n, vec3) for _ in range(3))
        combine(x0, 0.0, x0, x)
        self.at = SearchPoint(x, g, float("nan"))
        self.descent, self.rule = method.begin(self.system, n)
        self.trials = self.truncations = 0  # of line searches; of directions
        self.model_quality = 1.0
        self.largest_value = 0.0  # absolute, of all iterates
        self.increment = float("inf")  # largest vertex displacement of the last direction

    def run(self, value: float, watch: Callable[[Iterate, WarpArray], None] | None) -> Minimum:
        """Search until the rule ends the search; arguments as for ``minimize``."""
        at, system = self.at, self.system
        at.value = self.problem.value_at(at.x) if value != value else value
        self.problem.gradient_at(at.x, at.g)
        outcome = None if at.value < float("inf") else Outcome.NOT_FINITE
        while outcome is None:
            outcome = self.rule.check(at, system.iterations, self.descent.needs_matrix)
            if outcome is None:
                outcome = self.advance(watch)
        remaining = self.rule.remaining if outcome is Outcome.STOPPED else RemainingError()
        work = system.iterations, system.linear_iterations, self.trials, system.rescues
        about = self.truncations, system.least_forcing, self.model_quality
        counts = Counts(outcome, *work, *about)
        return Minimum(at.x, counts, self.increment, system.prepared, remaining)

    def advance(self, watch: Callable[[Iterate, WarpArray], None] | None) -> Outcome | None:
        """Propose one direction and take a step along it; return the outcome if the search ends."""
        at, spent = self.at, self.system.linear_iterations
        proposal = self.descent.propose(at)
        self.increment = proposal.length
        if proposal.failure is not None:
            return proposal.failure
        self.rule.measure(proposal)
        if proposal.refused:
            return None
        end = self.rule.arrives(proposal)
        if end is not None:
            combine(at.x, self.problem.max_step_at(at.x, proposal.d), proposal.d, at.x)
            return end
        if not proposal.slope < 0.0:
            return Outcome.NOT_DESCENT
        direction, limit = self._truncate(proposal)
        found = self._backtrack(direction, limit)
        if found.step == 0.0:
            return None if self.descent.has_other() else self.rule.at_end_of_directions()
        if direction is proposal:  # of a truncated direction the decrement says nothing
            self._judge_model(direction, found)
        value, moved = at.value, found.step * direction.length
        combine(at.x, found.step, direction.d, at.x)
        at.value = found.value - self.descent.merit(at.x)
        cost = self.system.linear_iterations - spent
        iterate = Iterate(value, self.rule.force, moved, found.step, proposal.mu, cost)
        end = self.rule.after_step(proposal, found.step)
        self.descent.after_step(proposal, found.step)
        if end is None:
            self.problem.gradient_at(at.x, at.g)
        if watch is not None:
            watch(iterate, at.x)
        return end

    def _truncate(self, proposal: SearchDirection) -> tuple[SearchDirection, float]:
        """Return the direction to follow, shortened vertex by vertex if that goes farther, and its
        feasible fraction.
        """
        x = self.at.x
        limit = self.problem.max_step_at(x, proposal.d)
        if limit < TRUNCATE_BELOW and self.descent.truncates:
            d = self.problem.truncate_direction(x, proposal.d)
            if d is not None:
                length, slope = size_and_slope(d, self.at.g)
                if slope < limit * proposal.slope:
                    self.truncations += 1
                    shortened = replace(proposal, d=d, length=length, slope=slope)
                    return shortened, self.problem.max_step_at(x, d)
        return proposal, limit

    def _judge_model(self, direction: SearchDirection, found: LineSearchResult) -> None:
        """Compare the decrease by a step with that of the model, (a - a^2/2) times the decrement;
        decreases within round-off say nothing.
        """
        predicted = found.step * (1.0 - 0.5 * found.step) * -direction.slope
        if predicted > ROUND_OFF * self.largest_value:
            ratio = (self.at.value - found.value) / predicted
            self.model_quality = min(self.model_quality, ratio)

    def _backtrack(self, direction: SearchDirection, limit: float) -> LineSearchResult:
        """Measure how far to go along a direction, at most its feasible fraction ``limit``."""
        at = self.at

        def value_along(step: float) -> float:
            combine(at.x, step, direction.d, self._trial)
            value = self.problem.value_at(self._trial) + self.descent.merit(self._trial)
            return value if value == value else float("inf")

        def slope_along(step: float) -> float:
            """Return the slope at the trial that was measured last."""
            g = kernel.empty(at.g.shape[0], vec3)
            self.problem.gradient_at(self._trial, g)
            # The energy of a shift is quadratic along the direction: its slope is 2/a its value.
            return dot(g, direction.d) + 2.0 * self.descent.merit(self._trial) / step

        self.largest_value = max(self.largest_value, abs(at.value))
        found = backtrack(
            value_along,
            slope_along,
            at.value,
            direction.slope,
            limit,
            self.line_search,
            self.largest_value,
        )
        self.trials += found.trials
        return found
