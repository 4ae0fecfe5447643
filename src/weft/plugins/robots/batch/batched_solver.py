"""Linear solver of a group of worlds.

Matrices are factorized side by side; the search of each world sees a solver of its own.
"""

from collections.abc import Sequence

import warp as wp

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.solve.linear.batched_cholesky import BatchedFactors, SymbolicCholesky, solution
from weft.solve.linear.direct import direct_solver
from weft.solve.linear.solver import LinearSolution, PreparedSolver
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


class GroupLanes:
    """Factors of the matrices of all worlds of a group, and the solutions that searches ask for."""

    def __init__(self, pattern: BlockPattern, of: int, symbolic: SymbolicCholesky) -> None:
        # In eight lanes, and each alone: a few matrices are faster one by one.
        self.factors = BatchedFactors(pattern, of, symbolic)
        self.few = BatchedFactors(pattern, of, symbolic, width=1)
        n = pattern.n
        self._b, self._x = kernel.zeros(of * n, vec3), kernel.zeros(of * n, vec3)
        self._parts = [
            (self._b[n * w : n * (w + 1)], self._x[n * w : n * (w + 1)]) for w in range(of)
        ]
        self.worlds = [WorldLane(self, w) for w in range(of)]

    def prepare(self, values: WarpArray, stale: Sequence[int]) -> None:
        """Factorize new matrices of some worlds; ``values`` holds the blocks of all worlds.

        Matrices with blocks beyond the pattern are left to their searches.
        """
        mine = [w for w in stale if self.worlds[w].in_lane]
        if mine:
            factors = self.few if len(mine) <= self.few.symbolic.few else self.factors
            factors.factorize(values, mine)
            definite = factors.definite
            for w in mine:
                self.worlds[w].factors, self.worlds[w].definite = factors, bool(definite[w])

    def solve(self, g: WarpArray, now: Sequence[int]) -> None:
        """Solve A x = g for some worlds; each gets its solution when its search asks for it."""
        mine = [w for w in now if self.worlds[w].in_lane]
        for factors in (self.factors, self.few):
            some = [w for w in mine if self.worlds[w].factors is factors]
            if some:
                factors.solve(g, some, self._x)
        for w in mine:
            self.worlds[w].known = self._parts[w][1]

    def alone(self, b: WarpArray, w: int) -> WarpArray:
        """Return A^-1 b for one world and another right-hand side b (n,) vec3."""
        out, (own, x) = kernel.empty(b.shape[0], vec3), self._parts[w]
        wp.copy(out, x)
        wp.copy(own, b)
        self.worlds[w].factors.solve(self._b, (w,), self._x)
        kept = wp.clone(x)
        wp.copy(x, out)
        return kept


class WorldLane:
    """The linear solver of one world; its group does the work where the matrix is in a lane."""

    name = "lanes"
    is_direct = True

    def __init__(self, group: GroupLanes, w: int) -> None:
        self.group, self.w = group, w
        self.factors = group.factors  # that hold the matrix which was prepared last
        self.known: WarpArray | None = None  # solution for the next question
        self.definite = False
        # As in ``PreparedLane``.
        self.in_lane = True
        self._direct: PreparedSolver | None = None

    def prepare(self, A: BlockCsr, previous: PreparedSolver | None = None) -> "WorldLane":
        """Factorize A if it is not in a lane: the group has factorized all others already."""
        if not self.in_lane:
            self._direct = direct_solver().prepare(A, self._direct)
        return self

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Return A^-1 b: the solution that the group computed, or a new solve for another b."""
        if not self.in_lane and self._direct is not None:
            return self._direct.solve(b, tolerance)
        x, self.known = self.known, None
        return solution(self.group.alone(b, self.w) if x is None else x, self.definite)
