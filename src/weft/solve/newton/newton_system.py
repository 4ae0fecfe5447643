"""Linear systems of one minimization: the matrix prepared last, and a count of the work."""

from typing import Any

from weft.kernel import WarpArray
from weft.solve.linear.direct import factorize
from weft.solve.linear.low_rank import solve_updated
from weft.solve.linear.solver import AdaptivePrepared, LinearSolver, Outcome, PreparedSolver
from weft.solve.newton.problem import Problem
from weft.solve.sparse.block_csr import BlockCsr
from weft.solve.sparse.vectors import negate


class NewtonSystem:
    """Linear systems A d = -g of one minimization.

    Args:
        problem: the function; its matrix lacks the rank-one terms of the Hessian.
        solver: linear solver of the matrices.
        previous: a result of ``solver.prepare`` for the same pattern, whose symbolic work is
            reused; None: none.
    """

    def __init__(
        self, problem: Problem, solver: LinearSolver, previous: PreparedSolver | None
    ) -> None:
        self.problem, self.solver = problem, solver
        self.prepared: Any = previous  # by ``solver``
        if isinstance(previous, AdaptivePrepared):  # a run that resumes takes the same steps
            previous.forget()
        self.iterations = self.linear_iterations = self.rescues = 0
        self.least_forcing = 1.0  # of the iterative solves

    def prepare(self, A: BlockCsr) -> None:
        """Prepare a new matrix, factorized or with a preconditioner, for the solves that follow."""
        self.iterations += 1
        with self.problem.phases("solve"):
            self.prepared = self.solver.prepare(A, self.prepared)

    def solve(
        self, x: WarpArray, g: WarpArray, forcing: float, prepared: PreparedSolver | None = None
    ) -> tuple[WarpArray, Outcome]:
        """Compute the direction -A^-1 g with the matrix prepared last, or as ``prepared``.

        Rank-one terms of the Hessian are included by Woodbury's formula.

        Args:
            x: (n,) vec3 iterate.
            g: (n,) vec3 gradient at x.
            forcing: largest relative error of an iterative solve, in the energy norm.
            prepared: another matrix; None: the one prepared last.

        Returns:
            The direction (n,) vec3, and the outcome of the linear solve.
        """
        updates = self.problem.updates_at(x)
        with self.problem.phases("solve"):
            solution = solve_updated(prepared or self.prepared, g, forcing, updates)
        if solution.iterations:
            self.least_forcing = min(self.least_forcing, forcing)
        self.linear_iterations += solution.iterations
        self.rescues += solution.rescued
        negate(solution.x)
        return solution.x, solution.outcome

    def factorize_and_solve(
        self, x: WarpArray, g: WarpArray, A: BlockCsr | None = None
    ) -> tuple[WarpArray, Outcome]:
        """Compute the direction as ``solve`` does, by a factorization of a new matrix A, or of the
        matrix prepared last.
        """
        if A is not None:
            self.iterations += 1
        with self.problem.phases("solve"):
            factor = factorize(self.prepared.A if A is None else A)
        self.rescues += 1
        return self.solve(x, g, 0.0, factor)
