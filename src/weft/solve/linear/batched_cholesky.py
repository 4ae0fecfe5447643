"""Cholesky factorization of many small matrices with one pattern, eight at a time.

Each of the eight matrices has one lane of a vector register. Small matrices factorize slowly one by
one, because there is little arithmetic for each index that is looked up. Side by side they share
every index and fill the registers: a matrix of 17 x 17 vertices takes 0.1 ms instead of 0.6 to 0.9
ms with PARDISO. The result of a matrix does not depend on the other lanes, nor on their number: a
single matrix has a single lane, where it takes 0.6 ms, and the same bits.

The ordering is minimum degree (SuperLU's, Liu 1985) on the graph of vertices. The symbolic phase
lists all products of blocks, once for a pattern.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
import warp as wp

from weft import kernel
from weft.base.arrays import AnyArray, Bools
from weft.base.errors import SolverError
from weft.kernel import DataType, Kernel, WarpArray, vec3
from weft.solve.linear.batched_cholesky_kernels import (
    LANES,
    LaneKernels,
    lane_kernels,
)
from weft.solve.linear.direct import direct_solver
from weft.solve.linear.solver import LinearSolution, Outcome, PreparedSolver
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

LARGE = 8_000  # blocks of a factor; eight such factors take 5 MB
MOST = 2_500  # block rows; the list of products of more takes minutes and gigabytes


@dataclass(frozen=True, eq=False)
class SymbolicCholesky:
    """Symbolic factorization: the factor's blocks by column, and the products that form each."""

    place: AnyArray  # (n,) position of each row in the order of elimination
    first: AnyArray  # (n+1,) first block of each column, its diagonal
    row_of: AnyArray  # (t,) row of each block, ascending within a column
    source: AnyArray  # (t,) packed block of the matrix at this place; -1: none, a fill-in
    block: AnyArray  # (e,) blocks of the pattern that are packed: the diagonal and below
    start: AnyArray  # (t+1,) first product of each block
    left: AnyArray  # (u,) left block of each product L_left L_right^T
    right: AnyArray  # (u,) its right block
    row_start: AnyArray  # (n+1,) first entry of each row in the two lists that follow
    row_block: AnyArray  # (t-n,) blocks left of the diagonal, by row
    row_column: AnyArray  # (t-n,) their columns

    @property
    def few(self) -> int:
        """Return the largest number of matrices that factorize faster one by one than in eight
        lanes, whose factors do not fit into the caches if they are large.
        """
        return 1 if len(self.row_of) < LARGE else 3

    @property
    def diagonal(self) -> AnyArray:
        """Return the diagonal block of each block's column, (t,)."""
        return np.repeat(self.first[:-1], np.diff(self.first))

    @cached_property
    def device(self) -> dict[str, WarpArray]:
        """Return all index arrays on the device, by name."""
        names = [*self.__dataclass_fields__, "diagonal"]
        return {k: kernel.array(np.asarray(getattr(self, k), np.int32), wp.int32) for k in names}

    @staticmethod
    def of(pattern: BlockPattern) -> "SymbolicCholesky":
        """Order and eliminate a pattern symbolically.

        Raises:
            SolverError: a pattern with more than ``MOST`` block rows.
        """
        n, row, column = pattern.n, pattern.row.astype(np.int64), pattern.column.astype(np.int64)
        if n > MOST:
            raise SolverError(
                "linear solver lanes",
                got=f"{n} points",
                expected=f"at most {MOST}",
                hint="it is for many small cloths; `linear: auto` chooses for large ones",
            )
        place = _minimum_degree(pattern)
        r, c = place[row], place[column]
        below = np.flatnonzero(r >= c)
        columns = _columns(n, r[below], c[below])
        counts = np.array([len(rows) for rows in columns])
        first = np.concatenate([[0], np.cumsum(counts)])
        row_of = np.concatenate(columns)
        key = np.repeat(np.arange(n), counts) * n + row_of
        source = np.full(len(key), -1)
        source[np.searchsorted(key, c[below] * n + r[below])] = np.arange(len(below))
        target, left, right = _products(n, columns, first, key)
        order = np.argsort(target, kind="stable")
        start = np.searchsorted(target[order], np.arange(len(key) + 1))
        beside = np.flatnonzero(row_of != np.repeat(np.arange(n), counts))
        by_row = beside[np.argsort(row_of[beside], kind="stable")]
        row_start = np.searchsorted(row_of[by_row], np.arange(n + 1))
        row_column = np.repeat(np.arange(n), counts)[by_row]
        return SymbolicCholesky(
            place,
            first,
            row_of,
            source,
            below,
            start,
            left[order],
            right[order],
            row_start,
            by_row,
            row_column,
        )


def _minimum_degree(pattern: BlockPattern) -> AnyArray:
    """Return the position of each row in the minimum degree ordering, (n,)."""
    n = pattern.n
    ones = np.ones(pattern.n_blocks)
    graph = sp.csc_matrix((ones, pattern.column, pattern.row_start), shape=(n, n))
    # Diagonally dominant, so that SuperLU does not exchange rows: only its ordering is used.
    dominant = (graph + n * sp.identity(n)).tocsc()
    options = {"SymmetricMode": True}
    factor = spla.splu(dominant, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    return np.asarray(factor.perm_c, dtype=np.int64)


def _columns(n: int, row: AnyArray, column: AnyArray) -> list[AnyArray]:
    """Return the rows of each column of the factor, the diagonal first.

    A column contains the rows of the matrix, and the rows that columns before it pass on to it:
    each column passes its rows on to its parent, the first row below the diagonal (elimination
    tree, Liu 1990).
    """
    order = np.lexsort((row, column))
    given = np.split(row[order], np.searchsorted(column[order], np.arange(1, n)))
    handed: list[list[AnyArray]] = [[] for _ in range(n)]
    columns = []
    for j in range(n):
        rows = np.unique(np.concatenate([given[j], *handed[j]]))
        columns.append(rows)
        if len(rows) > 1:
            handed[int(rows[1])].append(rows[1:])
    return columns


def _products(
    n: int, columns: Sequence[AnyArray], first: AnyArray, key: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Return the target, left and right block of each product, column by column of the factors."""
    found: list[tuple[AnyArray, AnyArray, AnyArray]] = [(np.zeros(0, np.int64),) * 3]
    for k, rows in enumerate(columns):
        below = rows[1:]
        low, high = np.tril_indices(len(below))  # row, column of the target
        target = np.searchsorted(key, below[high] * n + below[low])
        found.append((target, first[k] + 1 + low, first[k] + 1 + high))
    target, left, right = (np.concatenate(a) for a in zip(*found))
    return target, left, right


class BatchedFactors:
    """Factors of ``count`` matrices with one pattern, ``width`` of them side by side."""

    def __init__(
        self,
        pattern: BlockPattern,
        count: int,
        symbolic: SymbolicCholesky | None = None,
        width: int = LANES,
    ) -> None:
        self.pattern, self.count, self.width = pattern, count, width
        self.symbolic = SymbolicCholesky.of(pattern) if symbolic is None else symbolic
        self._kernels: LaneKernels = lane_kernels(width)
        s, self._groups = self.symbolic, -(-count // width)
        rows = (9 * len(s.block), 9 * len(s.row_of), 3 * pattern.n)
        self._A, self._L, self._x = (kernel.zeros((self._groups, n, width)) for n in rows)
        self._pivot = kernel.zeros((self._groups, width))
        every = (self._A, self._L, self._x, self._pivot)
        self._lanes = [_in_lanes(a, self._kernels.dtype) for a in every]

    def factorize(self, values: WarpArray, active: Sequence[int]) -> None:
        """Factorize new values of some of the matrices; the others are not changed.

        Args:
            values: (count b,) mat33, the blocks of all matrices one after the other.
            active: indices of the matrices that are new.
        """
        d, k = self.symbolic.device, self._kernels
        n, blocks = self.count * d["block"].shape[0], self.pattern.n_blocks
        with kernel.shares(self.count, active):
            kernel.launch(k.pack_matrices, n, values, d["block"], blocks, self._A)
        A, L, _, pivot = self._lanes
        lists = (d[name] for name in ("start", "left", "right", "diagonal", "source"))
        self._launch(k.factorize, active, *lists, A, L, pivot)

    def _launch(self, of: Kernel, active: Sequence[int], *arguments: object) -> None:
        """Run a kernel for the groups of lanes that some of the matrices are in."""
        groups = sorted({w // self.width for w in active})
        if len(groups) == self._groups:
            kernel.launch(of, self._groups, *arguments)
            return
        for g in groups:
            kernel.launch(of, 1, *arguments, begin=g)

    @property
    def definite(self) -> Bools:
        """Return a mask (count,) of the matrices that are positive definite."""
        return kernel.numpy(self._pivot).reshape(-1)[: self.count] > 0.0

    def solve(self, b: WarpArray, active: Sequence[int], out: WarpArray) -> None:
        """Write A^-1 b into ``out`` for some of the matrices.

        Args:
            b: (count n,) vec3 right-hand sides.
            active: indices of the matrices to solve with.
            out: (count n,) vec3; entries of the other matrices are not changed.
        """
        d, rows, k = self.symbolic.device, self.count * self.pattern.n, self._kernels
        with kernel.shares(self.count, active):
            kernel.launch(k.pack_vectors, rows, b, d["place"], self._x)
        _, L, x, _ = self._lanes
        lists = (d[name] for name in ("row_start", "row_block", "row_column", "first", "row_of"))
        self._launch(k.substitute, active, *lists, L, x)
        with kernel.shares(self.count, active):
            kernel.launch(k.unpack_vectors, rows, self._x, d["place"], out)


def _in_lanes(a: WarpArray, dtype: DataType) -> WarpArray:
    """Return a view of the same memory whose last dimension is one vector."""
    view = wp.array(ptr=a.ptr, shape=a.shape[:-1], dtype=dtype, device=a.device)
    view.whole = a  # keep the owner of the memory alive
    return view


@dataclass(frozen=True)
class LaneCholesky:
    """Linear solver for one matrix, in a single lane.

    Contact of cloth with itself fills blocks beyond the mesh's own pattern, other ones in every
    matrix; ``direct_solver`` solves with these matrices. Contact with bodies fills none.
    """

    name = "lanes"
    is_direct = True

    def prepare(self, A: BlockCsr, previous: PreparedSolver | None = None) -> "PreparedLane":
        """Factorize A; the factors of ``previous`` are overwritten."""
        base = A.pattern.base or A.pattern
        if isinstance(previous, PreparedLane) and previous.factors.pattern is base:
            found = previous
        else:
            found = PreparedLane(BatchedFactors(base, 1, width=1), BlockCsr.zeros(base))
        found.factorize(A)
        return found


@dataclass(eq=False)
class PreparedLane:
    """Factors of one matrix."""

    factors: BatchedFactors
    matrix: BlockCsr  # work memory on the mesh's own pattern
    direct: PreparedSolver | None = None  # of the last matrix with blocks beyond it
    in_lane: bool = True  # whether the present matrix has none

    def factorize(self, A: BlockCsr) -> None:
        """Factorize A."""
        on_base = A.pattern is self.factors.pattern
        self.in_lane = on_base or A.fits_base(self.matrix)
        if self.in_lane:
            self.factors.factorize(A.values if on_base else self.matrix.values, (0,))
        else:
            self.direct = direct_solver().prepare(A, self.direct)

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b; the residual is not computed in a lane, so ``residual`` is NaN."""
        if not self.in_lane and self.direct is not None:
            return self.direct.solve(b, tolerance)
        x = kernel.empty(b.shape[0], vec3)
        self.factors.solve(b, (0,), x)
        return solution(x, bool(self.factors.definite[0]))


def solution(x: WarpArray, definite: bool) -> LinearSolution:
    """Return the solution of a solve with Cholesky factors.

    The outcome is INDEFINITE if a pivot is not positive, NOT_FINITE if x is not finite otherwise.
    """
    if np.isfinite(kernel.numpy(x)).all():
        outcome = Outcome.CONVERGED if definite else Outcome.INDEFINITE
    else:
        outcome = Outcome.NOT_FINITE if definite else Outcome.INDEFINITE
    return LinearSolution(x, outcome, 0, float("nan"))
