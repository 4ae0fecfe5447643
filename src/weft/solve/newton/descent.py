"""Search directions: projected Newton for time steps, shifted Newton for equilibria.

Newton's increment does not depend on the resolution of the mesh, so its size decides when to stop.
With a direct solver a factorization is reused as long as that pays: simplified Newton increments
(old matrix, new gradient; Deuflhard 2004, section 2.1) follow while each is at most half of the one
before.

Equilibria have no inertia. Every iteration solves (H + mu M) d = -g with the mass matrix M and
searches along d. The shift mu [1/s^2] is a safeguard as in the method of Levenberg and Marquardt.
At its lower bound it only makes motions definite that nothing resists (a rigid motion that no pin
stops). It grows when the line search has to shorten the step, which happens where cloth buckles,
and falls again after full steps. It changes the path of the iterates, never the equilibrium.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.solve.linear.direct import factorize
from weft.solve.linear.low_rank import solve_updated
from weft.solve.linear.solver import Outcome, PreparedSolver
from weft.solve.newton.minimize import RemainingError, Search
from weft.solve.newton.psd import Psd
from weft.solve.newton.residual_bounds import ResidualBounds
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal
from weft.solve.sparse.vectors import (
    combine,
    fractions_longer_and_mean_square,
    max_norm,
    negate,
    size_and_slope,
    weighted_distances,
)

CONTRACTION = 0.5  # ratio of two simplified increments above which a new factorization pays
LAST = 0.01  # ratio below which a simplified increment may be the last one of a step
LEAST, FIRST, MOST = 1e-4, 1.0, 1e8  # [1/s^2] mu: lower bound, first raised value, upper bound
GROW, SHRINK, SHORT = 4.0, 4.0, 0.5  # mu grows after steps shorter than SHORT
MOSTLY = 0.5  # least step length with which a search ends at an increment below ``enough``
# A search also ends at an increment that is below ``enough`` but for this fraction of the vertices,
# if its root mean square is at most this part of ``enough``: the largest of ten thousand
# increments is that of one loose vertex.
FEW, QUIET = 0.005, 0.3
LATE, LATE_FORCING = 70, 0.1  # after LATE iterations the forcing term is at most LATE_FORCING
MOST_EFFORT = 4  # factor on ``effort`` while energy terms are far from balance
BALANCED = 4  # iterations in balance with mu above its lower bound, after which mu is reset to it
PATIENCE = 4  # full steps before the exact Hessian is tried; doubled each time it is indefinite
MOST_PATIENCE = 16  # upper bound of the patience with contact
MOST_FORCING, LEAST_FORCING = 0.1, 1e-3  # forcing terms of equilibria (Eisenstat & Walker 1996)


def solve(
    s: Search, forcing: float, prepared: PreparedSolver | None = None
) -> tuple[WarpArray, Outcome]:
    """Compute the direction -A^-1 g with the matrix prepared last, or as ``prepared``.

    Rank-one terms of the Hessian are included by Woodbury's formula.

    Returns:
        The direction (n,) vec3, and the outcome of the linear solve.
    """
    updates = s.problem.updates_at(s.x)
    with s.problem.phases("solve"):
        solution = solve_updated(prepared or s.prepared, s.g, forcing, updates)
    s.linear_iterations += solution.iterations
    s.rescues += solution.rescued
    negate(solution.x)
    return solution.x, solution.outcome


def solve_by_factorization(s: Search, A: BlockCsr) -> tuple[WarpArray, Outcome]:
    """Compute the direction as ``solve`` does, by a factorization of the matrix A."""
    with s.problem.phases("solve"):
        factor = factorize(A)
    s.rescues += 1
    return solve(s, 0.0, factor)


def prepare(s: Search, A: BlockCsr) -> None:
    """Prepare the matrix A, factorized or with a preconditioner, for the solves that follow."""
    s.iterations += 1
    with s.problem.phases("solve"):
        s.prepared = s.solver.prepare(A, s.prepared)


@dataclass(frozen=True)
class Newton:
    """Settings of projected Newton's method, the descent of a time step.

    Args:
        tolerance: largest vertex displacement of the last increment, in the units of x.
        max_iterations: largest number of matrices.
        forcing: largest relative error of an iterative linear solve, in the energy norm.
        least_forcing: lower bound of the forcing term as Newton's decrements fall.
        effort: number of matrices after which the search stops, converged or not; 0: no such limit.
        enough: increment below which the search stops as well, if no energy term is far from
            balance and the line search takes at least half of the increment. A few vertices
            (``FEW``) may exceed it while the cloth as a whole moves much less (``QUIET``).
        left: root mean square of the rest of an increment that the line search did not take. Above
            this value ``effort`` does not stop the search, because cloth that contact held back
            throughout the search would stay in the air.
        bounds: for models with rigid bodies: of the residual with which an iterative solver's
            direction may end the search; a factorization takes over where it is larger. None: no
            rigid bodies.
    """

    tolerance: float
    max_iterations: int = 100
    forcing: float = 0.5
    least_forcing: float = 0.3
    effort: int = 0
    enough: float = 0.0
    left: float = float("inf")
    bounds: ResidualBounds | None = None

    def directions(self, s: Search) -> "NewtonDirections":
        """Return the directions for a search that begins."""
        return NewtonDirections(self)


class NewtonDirections:
    """Directions -A^-1 g with a new matrix or, while that pays, with the last one."""

    mu, force = 0.0, float("nan")

    def __init__(self, settings: Newton) -> None:
        self.settings, self.forcing, self.decrement = settings, settings.forcing, 0.0
        # Whether the next direction needs a new matrix, and the size of the last increment.
        self.stale, self.before = True, float("inf")
        self.factorizes = False  # whether a factorization has taken over from an iterative solver
        self.settled = True  # whether the direction of the last matrix was small to all terms
        # Root mean squares: of the last direction, and of the part of it that was not taken.
        self.size = self.left = 0.0
        self.far = 1.0  # fraction of vertices that the last direction moves by more than ``enough``

    def done(self, s: Search) -> Outcome | None:
        """Return MAX_ITERATIONS or STOPPED if the limits on matrices are reached, else None.

        ``effort`` is multiplied by ``MOST_EFFORT`` in two cases: an energy term is far from balance
        (else cloth under pressure would come nearer by a tenth in step after step), or the line
        search left more than ``left`` of the last increment.
        """
        o = self.settings
        if not self.stale:
            return None
        most = o.effort if self.settled and self.left <= o.left else MOST_EFFORT * o.effort
        if o.effort and s.iterations >= most:
            return Outcome.STOPPED
        return Outcome.MAX_ITERATIONS if s.iterations >= o.max_iterations else None

    def direction(self, s: Search) -> tuple[WarpArray | None, Outcome | None]:
        """Return -A^-1 g, or None if a simplified increment does not contract enough.

        In the second case the next direction gets a new matrix.
        """
        o, fresh = self.settings, self.stale
        d, outcome = self._newest(s) if fresh else solve(s, self.forcing)
        s.increment, s.slope = size_and_slope(d, s.g)
        if fresh and outcome.ok and self._is_inaccurate(s, d):
            self.factorizes = True
            d, outcome = solve_by_factorization(s, s.prepared.A)
            s.increment, s.slope = size_and_slope(d, s.g)
        self._tighten(-s.slope, s.iterations)
        if not outcome.ok:
            return None, outcome
        if not s.increment < float("inf"):
            return None, Outcome.NOT_FINITE
        if o.effort:
            (longer, self.far), square = fractions_longer_and_mean_square(
                d, (o.tolerance, o.enough)
            )
            s.left, self.size = RemainingError(longer, 0.5 * self.decrement), float(np.sqrt(square))
        if not fresh and s.increment > max(CONTRACTION * self.before, o.tolerance):
            self.stale = True
            return None, None
        if fresh:
            self.settled = s.problem.is_settled_at(s.x, d)
        return d, None

    def _newest(self, s: Search) -> tuple[WarpArray, Outcome]:
        """Return the direction of a new matrix.

        The iterative solver does not prepare it if a factorization has taken over.
        """
        A = s.problem.matrix_at(s.x)
        self.before, self.stale = float("inf"), False
        if self.factorizes:
            s.iterations += 1
            return solve_by_factorization(s, A)
        prepare(s, A)
        return solve(s, self.forcing)

    def _is_inaccurate(self, s: Search, d: WarpArray) -> bool:
        """Return whether d, by an iterative solver, may end the search although its residual at
        rigid bodies exceeds the bounds.
        """
        o = self.settings
        may_end = s.increment <= max(o.tolerance, o.enough)
        if o.bounds is None or not may_end or s.solver.is_direct or self.factorizes:
            return False
        return o.bounds.is_exceeded(s.prepared.A, d, s.g)

    def arrives(self, s: Search, d: WarpArray) -> Outcome | None:
        """Return CONVERGED if the increment is below the tolerance and small to every energy.

        A simplified increment (old matrix) may be small although many would follow: a sheet that
        swings down would lag behind by a twentieth of its way. So it has to be Newton's own, or
        hardly anything beside the one before it.
        """
        last = self.before == float("inf") or s.increment <= LAST * self.before
        converged = last and self.settled and s.increment <= self.settings.tolerance
        return Outcome.CONVERGED if converged else None

    def merit(self, s: Search, x: WarpArray) -> float:
        """Return 0: the model adds nothing to the value."""
        return 0.0

    def truncates(self) -> bool:
        """Return True: directions may be shortened vertex by vertex."""
        return True

    def went(self, s: Search, step: float, slope: float, length: float) -> Outcome | None:
        """Keep the matrix after a full step if a second solve costs little; else ask for a new one.

        Returns STOPPED if most of an increment was taken that is small enough to be the last one.
        """
        small = s.increment <= self.settings.tolerance  # and yet the search goes on
        self.stale = not s.solver.is_direct or step < 1.0 or small or not self.settled
        self.before, self.left = s.increment, (1.0 - step) * self.size
        enough = self.settings.enough
        quiet = self.far <= FEW and self.size <= QUIET * enough
        ends = self.settled and step >= MOSTLY and (quiet or s.increment <= enough)
        return Outcome.STOPPED if ends else None

    def stuck(self, s: Search) -> Outcome | None:
        """Return STALLED: there is no other direction to try."""
        return Outcome.STALLED

    def _tighten(self, decrement: float, iterations: int) -> None:
        """Update the forcing term from the decrement g.A^-1 g (Eisenstat & Walker 1996, choice 2).

        The decrement is the square of the energy norm of the error, which sees smooth error; the
        2-norm of the residual does not. Searches that take long get more accurate directions,
        because loose ones can go round in circles.
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
    """Settings of Newton's method with the shift mu M, the descent of an equilibrium.

    Args:
        tolerance: largest vertex displacement of the last increment, in the units of x.
        force_tolerance: bound of the largest force on a free vertex, over ``force_scale``.
        force_scale: function of x; [N] force that the forces at x are compared with.
        mass: (n,) [kg] lumped masses.
        max_iterations: largest number of attempted steps.
        try_exact: try the exact Hessian after some full steps.
        meets: try the exact Hessian after as many shortened steps, too. Where edges meet that are
            nearly parallel, the projected Hessian lacks the part of the mollifier, and its
            directions stay too long.
        farthest: largest displacement of one step; beyond it nothing resists the motion. Under a
            load that only the shift resists, a step is the acceleration over mu: 98 km under
            gravity.
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
        """Return the directions for a search that begins."""
        return ShiftedDirections(self, s)


class ShiftedDirections:
    """Directions -(H + mu M)^-1 g, with the exact Hessian where it may be positive definite."""

    def __init__(self, settings: Shifted, s: Search) -> None:
        self.settings, self.mu, self.forcing = settings, LEAST, MOST_FORCING
        # Full steps in a row, and their number before the exact Hessian is tried.
        self.full, self.patience = 0, PATIENCE
        self.halved = 0  # shortened steps in a row
        self.decrement, self.attempts, self.at_balance = 0.0, 0, 0
        self.force = self.last = float("inf")
        n = s.x.shape[0]
        self.anchor, self._squares = kernel.empty(n, vec3), kernel.empty(n)
        self.moved = True  # whether x has changed since the force was measured

    def done(self, s: Search) -> Outcome | None:
        """Return CONVERGED if forces balance and the last increment is small, else None.

        The search also ends if a value is not finite, or at the iteration limit.
        """
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
        """Reset mu to its lower bound if forces have been in balance for ``BALANCED`` iterations.

        Steps that the line search shortens again and again, as under contact, never let mu shrink
        by itself; and while mu is above its lower bound, the increment does not measure the
        distance to the equilibrium.
        """
        at_rest = self.force <= self.settings.force_tolerance and self.mu > LEAST
        self.at_balance = self.at_balance + 1 if at_rest else 0
        if self.at_balance >= BALANCED:
            self.mu, self.at_balance = LEAST, 0

    def direction(self, s: Search) -> tuple[WarpArray | None, Outcome | None]:
        """Return a direction of the exact Hessian, after enough full steps, or the projected one.

        If the projected matrix is singular to round-off, mu grows and no direction is returned.
        """
        if self._waited:
            d, outcome = self._solve_shifted(s, Psd.EXACT)
            if outcome.ok and s.slope < 0.0:
                return d, None
            self._wait_longer()
        d, outcome = self._solve_shifted(s, None)
        if outcome.ok:
            return d, None
        if outcome is Outcome.INDEFINITE and self.mu < MOST:
            # The matrix is projected, so it is only singular to round-off: nothing resists some
            # motion but the shift.
            self._grow()
            return None, None
        return None, outcome

    @property
    def _waited(self) -> bool:
        """Return whether the exact Hessian is to be tried."""
        halved = self.halved if self.settings.meets else 0
        return self.settings.try_exact and max(self.full, halved) >= self.patience

    def _wait_longer(self) -> None:
        """Double the number of steps before the exact Hessian is tried again."""
        most = MOST_PATIENCE if self.settings.meets else self.settings.max_iterations
        self.full, self.halved = 0, 0
        self.patience = max(self.patience, min(2 * self.patience, most))

    def _solve_shifted(self, s: Search, psd: Psd | None) -> tuple[WarpArray, Outcome]:
        """Assemble and prepare H + mu M, and solve for the direction."""
        A = s.problem.matrix_at(s.x, psd)
        add_diagonal(A, self.settings.mass, self.mu)
        prepare(s, A)
        d, outcome = solve(s, self.forcing)
        s.increment, s.slope = size_and_slope(d, s.g)
        return d, outcome

    def arrives(self, s: Search, d: WarpArray) -> None:
        """Return None: the forces at the end of the step have to be measured first."""

    def merit(self, s: Search, x: WarpArray) -> float:
        """Return the energy of the shift, mu/2 |x - x_k|_M^2."""
        mass = self.settings.mass
        return 0.5 * self.mu * kernel.total(weighted_distances(x, self.anchor, mass, self._squares))

    def truncates(self) -> bool:
        """Return False: the shift shortens the steps."""
        return False

    def went(self, s: Search, step: float, slope: float, length: float) -> Outcome | None:
        """Update mu from the step length, and the forcing term from the decrease of g.A^-1 g.

        Returns UNHELD if the displacement exceeds ``farthest``.
        """
        # The length of a step that the shift shortened does not bound the distance to the solution.
        self.last = length if self.mu == LEAST else float("inf")
        self.full = self.full + 1 if step == 1.0 else 0
        # A full step after many shortened ones shows that the exact Hessian helps: stay with it.
        exact = self.halved >= self.patience and step == 1.0
        self.halved = self.halved if exact else self.halved + 1 if step < 1.0 else 0
        if step < SHORT:
            self._grow()
        elif step == 1.0:
            smaller = self.mu / SHRINK
            self.mu = smaller if smaller >= FIRST else LEAST
        if self.decrement > 0:
            ratio = -slope / self.decrement  # ratio of squared energy norms
            self.forcing = float(np.clip(0.5 * ratio, LEAST_FORCING, MOST_FORCING))
        self.decrement, self.moved = -slope, True
        return Outcome.UNHELD if step * length > self.settings.farthest else None

    def _grow(self) -> None:
        """Increase mu up to its upper bound."""
        self.mu = min(max(GROW * self.mu, FIRST), MOST)

    def stuck(self, s: Search) -> Outcome | None:
        """Return to the projected Hessian, then increase mu; if both are exhausted, end the search.

        The outcome is CONVERGED if forces balance, else STALLED.
        """
        if self._waited:
            self._wait_longer()
            return None
        at_rest = self.force <= self.settings.force_tolerance
        if not at_rest and self.mu < MOST:
            self._grow()  # at a kink in the forces only short steps lower the value
            return None
        return Outcome.CONVERGED if at_rest else Outcome.STALLED
