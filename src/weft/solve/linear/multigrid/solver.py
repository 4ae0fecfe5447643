"""Conjugate gradients with smoothed-aggregation multigrid.

The number of iterations hardly grows with the size of the mesh. The preconditioner is a cycle
through a ``Hierarchy`` in float32; the conjugate gradients around it are in float64 and stop in the
energy norm (``conjugate_gradients``). Measurements: docs/decisions/0007.
"""

import dataclasses
from dataclasses import dataclass

from weft.kernel import WarpArray
from weft.solve.linear.block_jacobi import BlockJacobiPcg
from weft.solve.linear.conjugate_gradients import ConjugateGradients, End
from weft.solve.linear.direct import factorize
from weft.solve.linear.multigrid.hierarchy import LARGEST, Hierarchy
from weft.solve.linear.solver import LinearSolution, PreparedSolver, Stop
from weft.solve.sparse.block_csr import BlockCsr

DELAY = 1  # iterations over which the decrease of the model is summed; with multigrid, one suffices
MAX_ITERATIONS = 200
DIRECT = 150_000  # vertices up to which a factorization takes over after a failed solve
# Factor on the assumed largest eigenvalue if the smoother is indefinite; most times it is applied.
WIDER, MOST_WIDENINGS = 4 / 3, 6


@dataclass(frozen=True)
class Multigrid:
    """Linear solver: conjugate gradients with a smoothed-aggregation multigrid preconditioner.

    Args:
        stop: error that the tolerance bounds.
    """

    stop: Stop = Stop.ENERGY

    name = "multigrid"
    is_direct = False

    def prepare(self, A: BlockCsr, previous: PreparedSolver | None = None) -> "PreparedMultigrid":
        """Compute the hierarchy of A; patterns of ``previous`` are reused if A's is the same.

        What earlier solves of a search found out about eigenvalues is reused whether the pattern
        is the same or not: when a pattern grows depends on earlier contacts, and results must not.
        """
        earlier = previous if isinstance(previous, PreparedMultigrid) else None
        if earlier is not None and earlier.A.pattern is A.pattern:
            work = earlier.work
        else:
            work = MultigridWork(Hierarchy(A.pattern))
            if earlier is not None:
                work.hierarchy.high = earlier.hierarchy.high
        work.hierarchy.refresh(A)
        return PreparedMultigrid(A, work, self.stop)


class MultigridWork:
    """Hierarchy and conjugate gradients, shared by all matrices of a pattern."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        self.hierarchy = hierarchy
        self._of_cycle: dict[bool, ConjugateGradients] = {}

    @property
    def iterations(self) -> ConjugateGradients:
        """Conjugate gradients with the cycle that the hierarchy has chosen."""
        h = self.hierarchy
        if h.once not in self._of_cycle:
            f = h.levels[0]
            rows = (f.start, f.end, f.column, f.index)
            self._of_cycle[h.once] = ConjugateGradients(rows, h, DELAY, f.work)
        return self._of_cycle[h.once]


@dataclass(frozen=True, eq=False)
class PreparedMultigrid:
    """Matrix with its multigrid hierarchy."""

    A: BlockCsr
    work: MultigridWork
    stop: Stop = Stop.ENERGY

    @property
    def hierarchy(self) -> Hierarchy:
        """Return the hierarchy of the matrix's pattern."""
        return self.work.hierarchy

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b from x = 0; see ``ConjugateGradients.solve``.

        If the preconditioner turns out to be indefinite, the smoother's range of eigenvalues is
        widened and the solve starts again. A direct solver (or block-Jacobi for large meshes) takes
        over if that does not help, if the coarsest matrix is indefinite, or if the iterations run
        out.
        """
        self.hierarchy.aim(tolerance)
        solution, end = self._iterate(b, tolerance)
        for _ in range(MOST_WIDENINGS):
            if end is not End.INDEFINITE_PRECONDITIONER:
                break
            self.hierarchy.tune(WIDER * self.hierarchy.high)
            solution, end = self._iterate(b, tolerance)
        if end in (End.INDEFINITE_PRECONDITIONER, End.NO_PRECONDITIONER, End.MAX_ITERATIONS):
            return self._rescue(b, tolerance, solution.iterations)
        return solution

    def _iterate(self, b: WarpArray, tolerance: float) -> tuple[LinearSolution, End]:
        """Run conjugate gradients with the present smoothers."""
        settings = (tolerance, MAX_ITERATIONS, self.stop)
        return self.work.iterations.solve(self.A.values, b, *settings)

    def forget(self) -> None:
        """Reset the assumed largest eigenvalue of D^-1 A to its default."""
        self.hierarchy.high = LARGEST

    def _rescue(self, b: WarpArray, tolerance: float, spent: int) -> LinearSolution:
        """Solve by a direct factorization, or by block-Jacobi if memory would not suffice."""
        if self.A.n <= DIRECT:
            other: PreparedSolver = factorize(self.A)
        else:
            other = BlockJacobiPcg(stop=self.stop).prepare(self.A.without_zeros())
        solution = other.solve(b, tolerance)
        iterations = solution.iterations + spent
        return dataclasses.replace(solution, iterations=iterations, rescued=True)
