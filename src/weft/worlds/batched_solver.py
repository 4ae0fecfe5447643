"""The matrices of a group side by side, as each world's search sees them: as its own solver."""

from collections.abc import Sequence
from typing import Any

import warp as wp

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.solve.linear.batched_cholesky import LaneFactors, Symbolic, solution
from weft.solve.linear.solver import LinearSolution
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


class GroupLanes:
    """Factors of the matrices of all worlds of a group, and directions of those that ask."""

    def __init__(self, pattern: BlockPattern, of: int, symbolic: Symbolic) -> None:
        self.factors = LaneFactors(pattern, of, symbolic)
        n = pattern.n
        self._b, self._x = kernel.zeros(of * n, vec3), kernel.zeros(of * n, vec3)
        self._parts = [
            (self._b[n * w : n * (w + 1)], self._x[n * w : n * (w + 1)]) for w in range(of)
        ]
        self.worlds = [WorldLane(self, w) for w in range(of)]

    def prepare(self, values: WarpArray, stale: Sequence[int]) -> None:
        """New matrices for some worlds, of all blocks."""
        self.factors.factorize(values, stale)
        definite = self.factors.definite
        for w in stale:
            self.worlds[w].definite = bool(definite[w])

    def solve(self, g: WarpArray, now: Sequence[int]) -> None:
        """A^-1 g for some worlds, which each of them is given when it asks."""
        self.factors.solve(g, now, self._x)
        for w in now:
            self.worlds[w].known = self._parts[w][1]

    def alone(self, b: WarpArray, w: int) -> WarpArray:
        """A^-1 b for one world and another right-hand side, (n,) vec3."""
        out, (own, x) = kernel.empty(b.shape[0], vec3), self._parts[w]
        wp.copy(out, x)
        wp.copy(own, b)
        self.factors.solve(self._b, (w,), self._x)
        kept = wp.clone(x)
        wp.copy(x, out)
        return kept


class WorldLane:
    """The solver of one world, which its group works for."""

    name = "lanes"
    is_direct = True

    def __init__(self, group: GroupLanes, w: int) -> None:
        self.group, self.w = group, w
        self.known: WarpArray | None = None  # the solution that is asked for next
        self.definite = False

    def prepare(self, A: BlockCsr, previous: Any = None) -> "WorldLane":
        """Done, with those of other worlds."""
        return self

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """A^-1 b."""
        x, self.known = self.known, None
        return solution(self.group.alone(b, self.w) if x is None else x, self.definite)
