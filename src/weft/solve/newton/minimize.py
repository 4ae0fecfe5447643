"""Minimize a function given as value, gradient and Hessian: one loop for steps and equilibria.

A ``Descent`` says in which direction to go and when to stop (``descent``), the line search how far
(``line_search``); both are frozen settings. Everything is on the device, and only numbers cross to
the host.

The loop itself asks for what costs (``searching``): who drives it answers one search, or many at
once (``worlds``), with the same numbers.
"""

import enum
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self, TypeAlias

from weft import kernel
from weft.base.timing import Phases
from weft.kernel import WarpArray, vec3
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.linear.solver import Learns, LinearSolver, Outcome
from weft.solve.newton.line_search import LineSearchResult, LineSearchSettings, backtracking
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr
from weft.solve.sparse.vectors import combine, dot, max_norm

CROWDED = 0.25  # part of a direction that may be gone, below which another is tried


class Problem(Protocol):
    """What is minimized, on device arrays (n,) vec3.

    Fixed entries have zero gradient and identity rows.
    """

    phases: Phases  # where seconds are counted

    def value_at(self, x: WarpArray) -> float:
        """The function."""

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """Its gradient."""

    def matrix_at(self, x: WarpArray, psd: Psd | None = None) -> BlockCsr:
        """Its Hessian, or the positive definite approximation that it stands for; valid until the
        next call.
        """

    def limit_at(self, x: WarpArray, d: WarpArray) -> float:
        """Part of the direction d, in [0, 1], that may be gone at all; 1 but for contact."""

    def truncated_at(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """A direction in its place that may be gone to the end, for when little of d may be."""

    def settled_at(self, x: WarpArray, d: WarpArray) -> bool:
        """Whether the direction d, short enough to be the last one, is so in every measure."""

    def updates_at(self, x: WarpArray) -> Sequence[LowRankUpdate]:
        """Dense parts c u u^T that belong to the Hessian too; mostly none."""


@dataclass(frozen=True)
class Counts:
    """What a solve took."""

    outcome: Outcome
    iterations: int = 0  # Newton iterations: matrices assembled
    linear_iterations: int = 0  # 0 with a direct solver
    line_search_trials: int = 0
    rescues: int = 0  # linear solves that a direct solver had to finish

    def after(self, before: "Counts") -> Self:
        """Both together, with the outcome of this one."""
        names = ("iterations", "linear_iterations", "line_search_trials", "rescues")
        return replace(self, **{n: getattr(self, n) + getattr(before, n) for n in names})


@dataclass(frozen=True)
class Left:
    """What a search that is stopped leaves, as its last direction saw it before it was gone."""

    unsettled: float = 0.0  # part of the vertices that moved by more than the tolerance
    gain: float = 0.0  # [J] that Newton's model promised


@dataclass(frozen=True)
class Minimum:
    """The minimizer found, and how."""

    x: WarpArray
    counts: Counts
    increment: float  # largest vertex displacement of the last increment
    prepared: Any  # of the last matrix, to keep symbolic work
    left: Left = Left()

    @property
    def outcome(self) -> Outcome:
        """How the search ended."""
        return self.counts.outcome


@dataclass(frozen=True)
class Iterate:
    """One iteration, for plots and progress."""

    energy: float  # [J] before it
    force: float  # largest one on a free vertex, over the largest one of a pin or load
    increment: float  # [m] largest vertex displacement of the step taken
    step: float  # of the line search, (0, 1]
    mu: float  # [1/s^2] of the safeguard of equilibria
    linear_iterations: int


class Search:
    """The iterate of one minimization, and what has been spent; a ``Descent`` works on it."""

    def __init__(
        self,
        problem: Problem,
        x0: WarpArray,
        solver: LinearSolver,
        previous: Any,
        arrays: tuple[WarpArray, WarpArray, WarpArray] | None = None,
        value: float = float("nan"),
    ) -> None:
        self.problem, self.solver, self.prepared = problem, solver, previous
        if isinstance(previous, Learns):
            previous.forget()
        n = x0.shape[0]
        self.x, self.g, self.trial = arrays or tuple(kernel.empty(n, vec3) for _ in range(3))
        combine(x0, 0.0, x0, self.x)
        self.value = value  # at x, as g is: what a search asks for first; NaN: not known
        self.iterations = self.linear_iterations = self.trials = self.rescues = 0
        self.increment, self.left = float("inf"), Left()  # largest length of the last direction
        self.slope = float("nan")  # of the value along it
        self.wants_matrix = True  # whether the next direction begins with a matrix

    def counts(self, outcome: Outcome) -> Counts:
        """What has been spent."""
        numbers = (self.iterations, self.linear_iterations, self.trials, self.rescues)
        return Counts(outcome, *numbers)


class Directions(Protocol):
    """The directions of one minimization, made by a ``Descent``."""

    mu: float  # [1/s^2] of a shift of the matrix by the masses; 0: none
    force: float  # largest force, relative; NaN where it is not measured
    stale: bool  # whether the next direction begins with a new matrix

    def done(self, s: Search) -> Outcome | None:
        """Whether the search ends where it is; None: it goes on."""

    def direction(self, s: Search) -> tuple[WarpArray | None, Outcome | None]:
        """A direction to search along, whose ``increment`` and ``slope`` are noted; or none, and
        how that ends the search (None: ask again).
        """

    def arrives(self, s: Search, d: WarpArray) -> Outcome | None:
        """How the search ends with this direction, gone without a look at the value; None: not."""

    def merit(self, s: Search, x: WarpArray) -> float:
        """What the direction's own model adds to the value at x."""

    def truncates(self) -> bool:
        """Whether directions may be shortened vertex by vertex."""

    def went(self, s: Search, step: float, slope: float, length: float) -> Outcome | None:
        """A step along the last direction has been taken; how it ends the search (None: not)."""

    def stuck(self, s: Search) -> Outcome | None:
        """No step along the last direction lowers the value; None: there is another to try."""


class Descent(Protocol):
    """Settings from which the directions of one minimization are made."""

    def directions(self, s: Search) -> Directions:
        """For a search that begins."""


class Ask(enum.Enum):
    """What a search needs before it goes on."""

    START = enum.auto()  # value and g at x
    DIRECTION = enum.auto()  # nothing: it is about to make one, with a matrix if that is stale
    VALUE = enum.auto()  # the number at trial, sent to it
    GRADIENT = enum.auto()  # g at x


Asking: TypeAlias = "Generator[tuple[Ask, Search], float, Minimum]"


def minimize(
    problem: Problem,
    x0: WarpArray,
    solver: LinearSolver,
    descent: Descent,
    line_search: LineSearchSettings | None = None,
    previous: Any = None,
    watch: Callable[[Iterate, WarpArray], None] | None = None,
) -> Minimum:
    """Minimize from x0, which is not written to.

    Args:
        problem: the function.
        x0: (n,) vec3 start.
        solver: solves with the problem's matrices.
        descent: how directions are made, and when to stop.
        line_search: constants.
        previous: a ``prepared`` for the same pattern, whose symbolic work is kept.
        watch: called with every iteration, and where it led.
    """
    return answered(searching(Search(problem, x0, solver, previous), descent, line_search, watch))


def answered(asking: Asking) -> Minimum:
    """Answer a search's questions by its problem, until it ends."""
    answer = 0.0
    try:
        ask, s = next(asking)
        while True:
            if ask is Ask.START and s.value != s.value:
                s.value = s.problem.value_at(s.x)
            if ask in (Ask.START, Ask.GRADIENT):
                s.problem.gradient_at(s.x, s.g)
            elif ask is Ask.VALUE:
                answer = s.problem.value_at(s.trial)
            ask, s = asking.send(answer)
    except StopIteration as end:
        found: Minimum = end.value
        return found


def searching(
    s: Search,
    descent: Descent,
    line_search: LineSearchSettings | None = None,
    watch: Callable[[Iterate, WarpArray], None] | None = None,
) -> Asking:
    """The loop: asks for what it needs, and ends with the minimum."""
    yield Ask.START, s
    way = descent.directions(s)
    outcome = None if s.value < float("inf") else Outcome.NOT_FINITE
    while outcome is None:
        outcome = way.done(s)
        if outcome is None:
            outcome = yield from _advance(s, way, line_search or LineSearchSettings(), watch)
    left = s.left if outcome is Outcome.STOPPED else Left()
    return Minimum(s.x, s.counts(outcome), s.increment, s.prepared, left)


def _advance(
    s: Search,
    way: Directions,
    line_search: LineSearchSettings,
    watch: Callable[[Iterate, WarpArray], None] | None,
) -> Generator[tuple[Ask, Search], float, Outcome | None]:
    """One direction, and a step along it."""
    spent = s.linear_iterations
    s.wants_matrix = way.stale
    yield Ask.DIRECTION, s
    d, outcome = way.direction(s)
    if d is None:
        return outcome
    end = way.arrives(s, d)
    if end is not None:
        combine(s.x, s.problem.limit_at(s.x, d), d, s.x)
        return end
    slope, length = s.slope, s.increment
    if not slope < 0.0:
        return Outcome.NOT_DESCENT
    limit = s.problem.limit_at(s.x, d)
    if limit < CROWDED and way.truncates():
        held = s.problem.truncated_at(s.x, d)
        if held is not None and dot(s.g, held) < limit * slope:
            d, slope, length = held, dot(s.g, held), max_norm(held)
            limit = s.problem.limit_at(s.x, d)
    found = yield from _search_along(s, way, d, backtracking(s.value, slope, limit, line_search))
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
        yield Ask.GRADIENT, s
    if watch is not None:
        watch(iterate, s.x)
    return end


def _search_along(
    s: Search, way: Directions, d: WarpArray, trials: Generator[float, float, LineSearchResult]
) -> Generator[tuple[Ask, Search], float, LineSearchResult]:
    try:
        step = next(trials)
        while True:
            combine(s.x, step, d, s.trial)
            value = (yield Ask.VALUE, s) + way.merit(s, s.trial)
            step = trials.send(value if value == value else float("inf"))
    except StopIteration as end:
        found: LineSearchResult = end.value
        return found
