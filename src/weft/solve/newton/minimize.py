"""Minimize a function given by its value, gradient and Hessian.

One loop serves time steps and equilibria. A ``Descent`` computes the directions and decides when to
stop (module ``descent``), and the line search chooses the step length (module ``line_search``);
both are frozen settings. All vectors stay on the device; only numbers are copied to the host.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

from weft import kernel
from weft.base.timing import Phases
from weft.kernel import WarpArray, vec3
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.linear.solver import AdaptivePrepared, LinearSolver, Outcome, PreparedSolver
from weft.solve.newton.line_search import LineSearchSettings, backtrack
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr
from weft.solve.sparse.vectors import combine, size_and_slope

# Feasible fraction of a direction below which the direction is truncated vertex by vertex instead
# of shortened as a whole (docs/decisions/0016).
TRUNCATE_BELOW = 0.25


class Problem(Protocol):
    """Interface of a function to minimize; arguments are device arrays (n,) vec3.

    Entries that are fixed have a zero gradient and identity rows in the matrix.
    """

    phases: Phases  # timers of the phases of a solve

    def value_at(self, x: WarpArray) -> float:
        """Return the value of the function at x."""

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """Write the gradient at x into ``out``."""

    def matrix_at(self, x: WarpArray, psd: Psd | None = None) -> BlockCsr:
        """Return the Hessian at x, or the positive semi-definite approximation that ``psd`` names.

        Without ``psd``, the problem chooses. The matrix is valid until the next call.
        """

    def max_step_at(self, x: WarpArray, d: WarpArray) -> float:
        """Return the fraction of the direction d, in [0, 1], that is feasible.

        The fraction is smaller than 1 only where contact or a strain limit bounds the step.
        """

    def truncate_direction(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """Return d shortened vertex by vertex such that all of it is feasible; None: none exists.

        The search tries it if only a small fraction of d is feasible.
        """

    def is_settled_at(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether the direction d is small to every energy, and so may be the last one."""

    def updates_at(self, x: WarpArray) -> Sequence[LowRankUpdate]:
        """Return rank-one terms c u u^T that belong to the Hessian but not to ``matrix_at``.

        Most problems have none.
        """


@dataclass(frozen=True)
class Counts:
    """Outcome of a minimization and the work that it took."""

    outcome: Outcome
    iterations: int = 0  # Newton iterations: matrices assembled
    linear_iterations: int = 0  # 0 with a direct solver
    line_search_trials: int = 0
    rescues: int = 0  # linear solves that another solver had to finish

    def after(self, before: "Counts") -> Self:
        """Return these counts plus those of an earlier search, with the outcome of this one."""
        names = ("iterations", "linear_iterations", "line_search_trials", "rescues")
        return replace(self, **{n: getattr(self, n) + getattr(before, n) for n in names})


@dataclass(frozen=True)
class RemainingError:
    """Distance to the minimum at which a search was stopped, estimated from its last direction."""

    unsettled: float = 0.0  # fraction of vertices whose last increment exceeds the tolerance
    gain: float = 0.0  # [J] decrease that Newton's quadratic model predicts for that increment


@dataclass(frozen=True)
class Minimum:
    """Result of a minimization."""

    x: WarpArray
    counts: Counts
    increment: float  # largest vertex displacement of the last increment
    prepared: (
        PreparedSolver | None
    )  # last matrix as the linear solver prepared it, so that symbolic work is reused
    left: RemainingError = RemainingError()

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


class Search:
    """State of one minimization: the iterate, the last solve and the counts of work.

    Args:
        problem: the function.
        x0: (n,) vec3 start, copied.
        solver: linear solver of the problem's matrices.
        previous: a result of ``solver.prepare`` for the same pattern, whose symbolic work is
            reused; None: none.
    """

    def __init__(
        self,
        problem: Problem,
        x0: WarpArray,
        solver: LinearSolver,
        previous: PreparedSolver | None,
    ) -> None:
        self.problem, self.solver = problem, solver
        self.prepared: Any = previous  # by ``solver``
        if isinstance(previous, AdaptivePrepared):  # a run that resumes takes the same steps
            previous.forget()
        n = x0.shape[0]
        self.x, self.g, self.trial = (kernel.empty(n, vec3) for _ in range(3))
        combine(x0, 0.0, x0, self.x)
        self.value = float("nan")  # at x
        self.iterations = self.linear_iterations = self.trials = self.rescues = 0
        # Largest vertex displacement of the last direction, and the derivative of the value along
        # the direction.
        self.increment, self.left = float("inf"), RemainingError()
        self.slope = float("nan")

    def counts(self, outcome: Outcome) -> Counts:
        """Return the work done so far together with this outcome."""
        numbers = (self.iterations, self.linear_iterations, self.trials, self.rescues)
        return Counts(outcome, *numbers)


class Directions(Protocol):
    """Interface of the search directions of one minimization; a ``Descent`` creates it."""

    mu: float  # [1/s^2] factor of the mass matrix that is added to the matrix; 0: none
    force: float  # largest force, relative; NaN if it is not measured

    def done(self, s: Search) -> Outcome | None:
        """Return the outcome if the search ends at the present iterate, else None."""

    def direction(self, s: Search) -> tuple[WarpArray | None, Outcome | None]:
        """Compute a search direction and store its ``increment`` and ``slope`` in ``s``.

        Returns:
            The direction and None; or None and the outcome that ends the search; or None twice,
            after which the search asks again.
        """

    def arrives(self, s: Search, d: WarpArray) -> Outcome | None:
        """Return the outcome if the search ends with this direction, applied without a line search.

        None: the search goes on with a line search.
        """

    def merit(self, s: Search, x: WarpArray) -> float:
        """Return the term that the direction's model adds to the value at x."""

    def truncates(self) -> bool:
        """Return whether a direction may be shortened vertex by vertex."""

    def went(self, s: Search, step: float, slope: float, length: float) -> Outcome | None:
        """Update the state after a step; return an outcome to end the search, else None.

        Args:
            s: the search, at its new iterate.
            step: accepted by the line search, (0, 1].
            slope: derivative of the value along the direction at the old iterate.
            length: largest vertex displacement of the whole direction.
        """

    def stuck(self, s: Search) -> Outcome | None:
        """Return the outcome if no step along the last direction lowers the value.

        None: another direction can be tried.
        """


class Descent(Protocol):
    """Interface of settings that create the directions of a minimization."""

    def directions(self, s: Search) -> Directions:
        """Return the directions for a search that begins."""


def minimize(
    problem: Problem,
    x0: WarpArray,
    solver: LinearSolver,
    descent: Descent,
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
        descent: settings that decide directions and stopping.
        line_search: constants of the line search; None: the defaults.
        previous: a ``prepared`` of an earlier result for the same pattern, whose symbolic work is
            reused.
        watch: called after every iteration with its record and the new iterate.
        value: the function at x0; NaN: it is evaluated.

    Returns:
        The last iterate with its outcome and counts. Failures are outcomes, not exceptions.
    """
    s = Search(problem, x0, solver, previous)
    s.value = problem.value_at(s.x) if value != value else value
    problem.gradient_at(s.x, s.g)
    way = descent.directions(s)
    outcome = None if s.value < float("inf") else Outcome.NOT_FINITE
    while outcome is None:
        outcome = way.done(s)
        if outcome is None:
            outcome = _advance(s, way, line_search or LineSearchSettings(), watch)
    left = s.left if outcome is Outcome.STOPPED else RemainingError()
    return Minimum(s.x, s.counts(outcome), s.increment, s.prepared, left)


def _advance(
    s: Search,
    way: Directions,
    line_search: LineSearchSettings,
    watch: Callable[[Iterate, WarpArray], None] | None,
) -> Outcome | None:
    """Compute one direction and take a step along it; return the outcome if the search ends."""
    spent = s.linear_iterations
    d, outcome = way.direction(s)
    if d is None:
        return outcome
    end = way.arrives(s, d)
    if end is not None:
        combine(s.x, s.problem.max_step_at(s.x, d), d, s.x)
        return end
    slope, length = s.slope, s.increment
    if not slope < 0.0:
        return Outcome.NOT_DESCENT
    limit = s.problem.max_step_at(s.x, d)
    if limit < TRUNCATE_BELOW and way.truncates():
        held = s.problem.truncate_direction(s.x, d)
        if held is not None:
            size, downhill = size_and_slope(held, s.g)
            if downhill < limit * slope:
                d, slope, length = held, downhill, size
                limit = s.problem.max_step_at(s.x, held)
    found = backtrack(partial(_value_along, s, way, d), s.value, slope, limit, line_search)
    s.trials += found.trials
    if found.step == 0.0:
        return way.stuck(s)
    before = s.value
    combine(s.x, found.step, d, s.x)
    s.value = found.value - way.merit(s, s.x)
    iterate = Iterate(
        before, way.force, found.step * length, found.step, way.mu, s.linear_iterations - spent
    )
    end = way.went(s, found.step, slope, length)
    if end is None:
        s.problem.gradient_at(s.x, s.g)
    if watch is not None:
        watch(iterate, s.x)
    return end


def _value_along(s: Search, way: Directions, d: WarpArray, step: float) -> float:
    """Return the value, with the term of the direction's model, after a step along d."""
    combine(s.x, step, d, s.trial)
    value = s.problem.value_at(s.trial) + way.merit(s, s.trial)
    return value if value == value else float("inf")
