"""Directions of descent: projected Newton for steps, the same with a safeguard for equilibria.

Newton's increment does not depend on resolution, so it says when to stop. With a direct solver
every factorization is used for as long as it pays: simplified Newton increments (old matrix, new
gradient; Deuflhard 2004, section 2.1) follow while each is at most half of the one before.

Equilibria have no inertia. Every iteration solves (H + mu M) d = -g and searches along d. mu
[1/s^2] is a safeguard of Levenberg and Marquardt's kind: at its floor it only holds what nothing
else holds (a rigid motion that no pin stops); it grows where the line search has to shorten the
step, which is where cloth buckles, and falls again after full steps. It changes the path, never the
equilibrium.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.solve.linear.low_rank import solve_updated
from weft.solve.linear.solver import Outcome
from weft.solve.newton.minimize import Left, Search
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal
from weft.solve.sparse.vectors import combine, dot, max_norm, negate, part_above, weighted_distance

CONTRACTION = 0.5  # of simplified increments, above which a new factorization pays
LEAST, FIRST, MOST = 1e-4, 1.0, 1e8  # [1/s^2] mu: floor, where it starts to grow, ceiling
GROW, SHRINK, SHORT = 4.0, 4.0, 0.5  # mu grows after steps shorter than SHORT
MOSTLY = 0.5  # part of an increment that has to be gone where a search ends with it
LATE, LATE_FORCING = 70, 0.1  # iterations after which a step's linear solves are not loose any more
MOST_EFFORT = 4  # times the matrices asked for, where terms are far from balance
BALANCED = 4  # iterations at balance with mu above its floor, after which it is dropped to that
PATIENCE = 4  # full steps before the exact Hessian is tried; doubled each time it is indefinite
MOST_PATIENCE = 16  # where things meet
MOST_FORCING, LEAST_FORCING = 0.1, 1e-3  # of linear solves of equilibria (Eisenstat & Walker 1996)


def solved(s: Search, forcing: float) -> tuple[WarpArray, Outcome]:
    """-A^-1 g with the matrix prepared last; its length and slope are noted."""
    updates = s.problem.updates_at(s.x)
    with s.problem.phases("solve"):
        solution = solve_updated(s.prepared, s.g, forcing, updates)
    s.linear_iterations += solution.iterations
    s.rescues += solution.rescued
    negate(solution.x)
    s.increment, s.slope = max_norm(solution.x), dot(s.g, solution.x)
    return solution.x, solution.outcome


def prepare(s: Search, A: BlockCsr) -> None:
    """Take a matrix for the solves that follow."""
    s.iterations += 1
    with s.problem.phases("solve"):
        s.prepared = s.solver.prepare(A, s.prepared)


@dataclass(frozen=True)
class Newton:
    """Projected Newton's method.

    Args:
        tolerance: largest vertex displacement of the last increment, in the units of x.
        max_iterations: matrices.
        forcing: largest relative error of an iterative linear solve, in the energy norm.
        least_forcing: what it is tightened to as Newton's decrements fall.
        effort: matrices after which it stops, converged or not; 0: it goes on.
        enough: increment after which it stops, too, where no term is far from balance and the line
            search takes at least half of it.
        left: root mean square of what the line search leaves of an increment, above which it does
            not stop with ``effort`` either: what contact has held up all along would hang in the
            air.
    """

    tolerance: float
    max_iterations: int = 100
    forcing: float = 0.5
    least_forcing: float = 0.3
    effort: int = 0
    enough: float = 0.0
    left: float = float("inf")

    def directions(self, s: Search) -> "NewtonDirections":
        """For a search that begins."""
        return NewtonDirections(self)


class NewtonDirections:
    """-A^-1 g, with a new matrix or, while that pays, the old one."""

    mu, force = 0.0, float("nan")

    def __init__(self, settings: Newton) -> None:
        self.settings, self.forcing, self.decrement = settings, settings.forcing, 0.0
        self.stale, self.before = True, float("inf")  # a new matrix is wanted; the last increment
        self.settled = True  # whether the direction of the last matrix was small to all terms
        self.size = self.left = 0.0  # root mean squares of the last direction, of what is left

    def done(self, s: Search) -> Outcome | None:
        """After too many matrices, or as many as were asked for; more where a term is far from
        balance, else what is pressed comes nearer by a tenth in step after step, or where the last
        increment could hardly be gone.
        """
        o = self.settings
        if not self.stale:
            return None
        most = o.effort if self.settled and self.left <= o.left else MOST_EFFORT * o.effort
        if o.effort and s.iterations >= most:
            return Outcome.STOPPED
        return Outcome.MAX_ITERATIONS if s.iterations >= o.max_iterations else None

    def direction(self, s: Search) -> tuple[WarpArray | None, Outcome | None]:
        """-A^-1 g; none where a simplified increment is not small enough beside the last one."""
        fresh = self.stale
        if fresh:
            prepare(s, s.problem.matrix_at(s.x))
            self.before, self.stale = float("inf"), False
        d, outcome = solved(s, self.forcing)
        self._tighten(-s.slope, s.iterations)
        if not outcome.ok:
            return None, outcome
        if not s.increment < float("inf"):
            return None, Outcome.NOT_FINITE
        tolerance = self.settings.tolerance
        if self.settings.effort:
            s.left = Left(part_above(d, tolerance), 0.5 * self.decrement)
        if not fresh and s.increment > max(CONTRACTION * self.before, tolerance):
            self.stale = True
            return None, None
        if fresh:
            self.settled = s.problem.settled_at(s.x, d)
        if self.settings.left < float("inf"):
            self.size = float(np.sqrt(dot(d, d) / d.shape[0]))
        return d, None

    def arrives(self, s: Search, d: WarpArray) -> Outcome | None:
        """Where the increment is small enough, also to what rises without bound."""
        converged = self.settled and s.increment <= self.settings.tolerance
        return Outcome.CONVERGED if converged else None

    def merit(self, s: Search, x: WarpArray) -> float:
        """Nothing."""
        return 0.0

    def truncates(self) -> bool:
        """Always."""
        return True

    def went(self, s: Search, step: float, slope: float, length: float) -> Outcome | None:
        """The matrix serves again after full steps, where another solve costs little."""
        self.stale = not s.solver.is_direct or step < 1.0 or not self.settled
        self.before, self.left = s.increment, (1.0 - step) * self.size
        ends = self.settled and step >= MOSTLY and s.increment <= self.settings.enough
        return Outcome.STOPPED if ends else None

    def stuck(self, s: Search) -> Outcome | None:
        """Nothing else is tried."""
        return Outcome.STALLED

    def _tighten(self, decrement: float, iterations: int) -> None:
        """The next forcing term (Eisenstat & Walker 1996, choice 2), from g.A^-1 g.

        That is the square of the energy norm of the error, which sees smooth error; the residual's
        2-norm does not. Searches that take long get better directions: loose ones may go round in
        circles.
        """
        s = self.settings
        if self.decrement > 0.0 and decrement > 0.0:
            ratio = decrement / self.decrement
            self.forcing = min(max(0.5 * ratio, min(s.least_forcing, s.forcing)), s.forcing)
        if iterations >= LATE:
            self.forcing = min(self.forcing, LATE_FORCING)
        self.decrement = decrement


@dataclass(frozen=True)
class Shifted:
    """Newton's method with the safeguard mu M, until forces balance.

    Args:
        tolerance: largest vertex displacement of the last increment.
        force_tolerance: of the largest force on a free vertex, over ``force_scale``.
        force_scale: [N] at x, what forces are compared with.
        mass: (n,) [kg].
        max_iterations: steps.
        try_exact: the exact Hessian after some full steps.
        meets: try it after as many shortened ones, too: where edges meet that are nearly parallel
            the projected one lacks the mollifier's part, and its directions go too far for ever.
        farthest: displacement of one step beyond which nothing holds what moves. Under a load that
            only the safeguard resists, a step is the acceleration over mu: 98 km under gravity.
    """

    tolerance: float
    force_tolerance: float
    force_scale: Callable[[WarpArray], float]
    mass: WarpArray
    max_iterations: int = 400
    try_exact: bool = True
    meets: bool = False
    farthest: float = float("inf")

    def directions(self, s: Search) -> "ShiftedDirections":
        """For a search that begins."""
        return ShiftedDirections(self, s)


class ShiftedDirections:
    """-(H + mu M)^-1 g, with the exact H where that may be positive definite."""

    stale = True  # always

    def __init__(self, settings: Shifted, s: Search) -> None:
        self.settings, self.mu, self.forcing = settings, LEAST, MOST_FORCING
        self.full, self.patience = 0, PATIENCE  # full steps in a row, and how many EXACT waits for
        self.halved = 0  # shortened ones in a row
        self.decrement, self.attempts, self.at_balance = 0.0, 0, 0
        self.force = self.last = float("inf")
        n = s.x.shape[0]
        self.anchor, self._squares = kernel.empty(n, vec3), kernel.empty(n)
        self.moved = True  # since the force was measured

    def done(self, s: Search) -> Outcome | None:
        """Where forces balance and the last increment is small."""
        o = self.settings
        if self.moved:
            self.force, self.moved = max_norm(s.g) / o.force_scale(s.x), False
            combine(s.x, 0.0, s.x, self.anchor)
            self._measure_at_balance()
        if not (np.isfinite(s.value) and np.isfinite(self.force)):
            return Outcome.NOT_FINITE
        if self.force == 0.0 or (self.force <= o.force_tolerance and self.last <= o.tolerance):
            return Outcome.CONVERGED
        self.attempts += 1
        return Outcome.MAX_ITERATIONS if self.attempts > o.max_iterations else None

    def _measure_at_balance(self) -> None:
        """Let the safeguard go where forces have been in balance for a while: steps that the line
        search halves again and again, as under contact, never let it shrink by themselves, and
        while it is there no increment says how far it is.
        """
        at_rest = self.force <= self.settings.force_tolerance and self.mu > LEAST
        self.at_balance = self.at_balance + 1 if at_rest else 0
        if self.at_balance >= BALANCED:
            self.mu, self.at_balance = LEAST, 0

    def direction(self, s: Search) -> tuple[WarpArray | None, Outcome | None]:
        """With the exact Hessian after some full steps; else with the one that stands for it."""
        if self._waited:
            d, outcome = self._solved(s, Psd.EXACT)
            if outcome.ok and s.slope < 0.0:
                return d, None
            self._wait_longer()
        d, outcome = self._solved(s, None)
        if outcome.ok:
            return d, None
        if outcome is Outcome.INDEFINITE and self.mu < MOST:
            self._grow()  # projected, so singular to round-off: something that nothing holds
            return None, None
        return None, outcome

    @property
    def _waited(self) -> bool:
        """Whether the exact Hessian is tried."""
        halved = self.halved if self.settings.meets else 0
        return self.settings.try_exact and max(self.full, halved) >= self.patience

    def _wait_longer(self) -> None:
        most = MOST_PATIENCE if self.settings.meets else self.settings.max_iterations
        self.full, self.halved = 0, 0
        self.patience = max(self.patience, min(2 * self.patience, most))

    def _solved(self, s: Search, psd: Psd | None) -> tuple[WarpArray, Outcome]:
        A = s.problem.matrix_at(s.x, psd)
        add_diagonal(A, self.settings.mass, self.mu)
        prepare(s, A)
        return solved(s, self.forcing)

    def arrives(self, s: Search, d: WarpArray) -> None:
        """Never: forces have to be looked at."""

    def merit(self, s: Search, x: WarpArray) -> float:
        """mu/2 |x - x_k|_M^2."""
        return 0.5 * self.mu * weighted_distance(x, self.anchor, self.settings.mass, self._squares)

    def truncates(self) -> bool:
        """Never: the safeguard shortens steps."""
        return False

    def went(self, s: Search, step: float, slope: float, length: float) -> Outcome | None:
        """The next mu, and the next forcing term from how fast g.A^-1 g falls."""
        # A step that the safeguard shortened says nothing about the distance that is left.
        self.last = length if self.mu == LEAST else float("inf")
        self.full = self.full + 1 if step == 1.0 else 0
        exact = self.halved >= self.patience and step == 1.0  # it helps: go on with it
        self.halved = self.halved if exact else self.halved + 1 if step < 1.0 else 0
        if step < SHORT:
            self._grow()
        elif step == 1.0:
            smaller = self.mu / SHRINK
            self.mu = smaller if smaller >= FIRST else LEAST
        if self.decrement > 0:
            ratio = -slope / self.decrement  # of squared energy norms
            self.forcing = float(np.clip(0.5 * ratio, LEAST_FORCING, MOST_FORCING))
        self.decrement, self.moved = -slope, True
        return Outcome.UNHELD if step * length > self.settings.farthest else None

    def _grow(self) -> None:
        self.mu = min(max(GROW * self.mu, FIRST), MOST)

    def stuck(self, s: Search) -> Outcome | None:
        """From the exact Hessian back to the projected one; then nearer and nearer."""
        if self._waited:
            self._wait_longer()
            return None
        at_rest = self.force <= self.settings.force_tolerance
        if not at_rest and self.mu < MOST:
            self._grow()  # a kink in the forces: look closer
            return None
        return Outcome.CONVERGED if at_rest else Outcome.STALLED
