"""Search directions of time steps: projected Newton.

With a direct solver a factorization is reused as long as that pays: simplified Newton increments
(old matrix, new gradient; Deuflhard 2004, section 2.1) follow while each is at most half of the one
before.
"""

from dataclasses import dataclass

from weft.kernel import WarpArray
from weft.solve.linear.solver import Outcome
from weft.solve.newton.direction import SearchDirection, SearchPoint, StoppingRule
from weft.solve.newton.newton_system import NewtonSystem
from weft.solve.newton.residual_bounds import ResidualBounds
from weft.solve.newton.stopping import EarlyStopping, IncrementRule
from weft.solve.sparse.vectors import size_and_slope

CONTRACTION = 0.5  # ratio of two simplified increments above which a new factorization pays
LAST = 0.01  # ratio below which a simplified increment may be the last one of a step


@dataclass(frozen=True)
class Newton:
    """Settings of projected Newton's method, with which a time step is minimized.

    Args:
        tolerance: largest vertex displacement of the last increment, in the units of x.
        max_iterations: largest number of matrices.
        forcing: largest relative error of an iterative linear solve, in the energy norm.
        least_forcing: lower bound of the forcing term as Newton's decrements fall.
        early: ends the search before it has converged; None: it has to converge.
        bounds: for models with rigid bodies: of the residual with which an iterative solver's
            direction may end the search; a factorization takes over where it is larger. None: no
            rigid bodies.
    """

    tolerance: float
    max_iterations: int = 100
    forcing: float = 0.5
    least_forcing: float = 0.3
    early: EarlyStopping | None = None
    bounds: ResidualBounds | None = None

    @property
    def largest_last(self) -> float:
        """Largest increment with which a search may end."""
        return self.tolerance if self.early is None else max(self.tolerance, self.early.enough)

    def begin(self, system: NewtonSystem, n: int) -> tuple["NewtonDescent", StoppingRule]:
        """Return descent and stopping rule of a minimization of n points."""
        limits = self.tolerance, self.max_iterations
        rule = IncrementRule(*limits) if self.early is None else self.early.rule(*limits)
        return NewtonDescent(self, system), rule


class NewtonDescent:
    """Directions -A^-1 g with a new matrix or, while that pays, with the last one."""

    truncates = True

    def __init__(self, settings: Newton, system: NewtonSystem) -> None:
        self.settings, self.system = settings, system
        self.forcing, self.decrement = settings.forcing, 0.0
        # Whether the next direction needs a new matrix, and the size of the last increment.
        self.needs_matrix, self.before = True, float("inf")
        self.factorizes = False  # whether a factorization has taken over from an iterative solver
        self.settled = True  # whether the direction of the last matrix was small to all terms

    def propose(self, at: SearchPoint) -> SearchDirection:
        """Return -A^-1 g; a simplified increment is refused if it does not contract enough.

        In that case the next direction gets a new matrix.
        """
        o, system, has_new_matrix = self.settings, self.system, self.needs_matrix
        if has_new_matrix:
            d, outcome = self._solve_with_new_matrix(at)
        else:
            d, outcome = system.solve(at.x, at.g, self.forcing)
        length, slope = size_and_slope(d, at.g)
        if has_new_matrix and outcome.ok and self._is_inaccurate(at, d, length):
            self.factorizes = True
            d, outcome = system.factorize_and_solve(at.x, at.g)
            length, slope = size_and_slope(d, at.g)
        self._tighten(-slope)
        if not outcome.ok:
            return SearchDirection(d, length, slope, failure=outcome)
        if not length < float("inf"):
            return SearchDirection(d, length, slope, failure=Outcome.NOT_FINITE)
        if not has_new_matrix and length > max(CONTRACTION * self.before, o.tolerance):
            self.needs_matrix = True
            return SearchDirection(d, length, slope, refused=True, settled=self.settled)
        if has_new_matrix:
            self.settled = system.problem.is_settled_at(at.x, d)
        is_newton = self.before == float("inf") or length <= LAST * self.before
        return SearchDirection(d, length, slope, settled=self.settled, is_newton=is_newton)

    def _solve_with_new_matrix(self, at: SearchPoint) -> tuple[WarpArray, Outcome]:
        """Return the direction of a new matrix.

        The iterative solver does not prepare it if a factorization has taken over.
        """
        A = self.system.problem.matrix_at(at.x)
        self.before, self.needs_matrix = float("inf"), False
        if self.factorizes:
            return self.system.factorize_and_solve(at.x, at.g, A)
        self.system.prepare(A)
        return self.system.solve(at.x, at.g, self.forcing)

    def _is_inaccurate(self, at: SearchPoint, d: WarpArray, length: float) -> bool:
        """Return whether d, by an iterative solver, may end the search although its residual at
        rigid bodies exceeds the bounds.
        """
        o, system = self.settings, self.system
        if o.bounds is None or length > o.largest_last:
            return False
        if system.solver.is_direct or self.factorizes:
            return False
        return o.bounds.is_exceeded(system.prepared.A, d, at.g)

    def merit(self, x: WarpArray) -> float:
        """Return 0: the model adds nothing to the value."""
        return 0.0

    def after_step(self, direction: SearchDirection, step: float) -> None:
        """Keep the matrix after a full step if a second solve costs little."""
        is_small = direction.length <= self.settings.tolerance  # and yet the search goes on
        reuses = self.system.solver.is_direct and step == 1.0 and not is_small and self.settled
        self.needs_matrix, self.before = not reuses, direction.length

    def has_other(self) -> bool:
        """Return False."""
        return False

    def _tighten(self, decrement: float) -> None:
        """Update the forcing term from the decrement g.A^-1 g (Eisenstat & Walker 1996, choice 2).

        The decrement is the square of the energy norm of the error, which sees smooth error; the
        2-norm of the residual does not.
        """
        s = self.settings
        if self.decrement > 0.0 and decrement > 0.0:
            ratio = decrement / self.decrement
            self.forcing = min(max(0.5 * ratio, min(s.least_forcing, s.forcing)), s.forcing)
        self.decrement = decrement
