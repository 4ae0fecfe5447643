"""The levels of smoothed-aggregation multigrid for one pattern, and a cycle through them.

Aggregates and prolongators come from the block pattern and are made once (``aggregation``); for
every matrix only the Galerkin products P^T A P and the smoothers are renewed. A cycle is a W-cycle
with two block-Jacobi-Chebyshev steps before and after each coarse correction, in float32; where
solves are loose, the finest level, which costs most, takes one step before and after and is visited
once.
"""

from functools import cache, cached_property

import numpy as np
import warp as wp
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController

from weft import kernel
from weft.base.arrays import Floats
from weft.kernel import Recorded, WarpArray, mat33
from weft.solve.linear.conjugate_gradients import CHUNK
from weft.solve.linear.multigrid import cycle_kernels as k
from weft.solve.linear.multigrid import dense_kernels
from weft.solve.linear.multigrid import galerkin_kernels as g
from weft.solve.linear.multigrid.aggregation import COARSEST, Coarsening, Csr, coarsenings
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

LARGEST = 3.2  # eigenvalue of D^-1 A: at most 4 with stencils of 4 vertices; 2.7 to 3.2 seen
LESS = 0.98  # of what the matrix before needed, tried first: rows of splines need more
RANGE = 12.0  # of eigenvalues that the smoother damps: from LARGEST/RANGE to LARGEST
ONE_RANGE = 3.5  # the same where it takes one step,
LOOSE = 0.05  # as it does for errors from here on: tight solves of taut cloth take longer so
HEAVY = 2500  # rows of a Galerkin product worth slicing: each does hundreds of block products
ONE_LAUNCH = 1000  # vertices of a second-to-last level that one thread visits in one launch (CPU)
ROUNDOFF = 1e-5  # relative, of a matrix in float32 of a few hundred rows
SHIFT = 1e-6  # relative, of the last level's: a rigid motion that no pin holds costs inertia only
DENSE = 200  # vertices of a last level that is inverted; a larger one is only smoothed


class Level:
    """A matrix in float32 with its smoother, and the launches of a visit, packed once.

    Rows are without blocks of zeros: each has a start and an end.
    """

    def __init__(self, rows: Csr) -> None:
        n = rows.n
        self.rows, self.n = rows, n
        self.worth = kernel.slice_above(rows.nnz / max(n, 1))  # slicing a visit of all rows
        self.start, self.end = rows.start, kernel.empty(n, wp.int32)
        self.column = kernel.empty(rows.nnz, wp.int32)
        self.index = kernel.empty(rows.nnz, wp.int32)  # of the pattern's block
        self.values = kernel.empty(rows.nnz, wp.mat33f)
        self.inverse = kernel.empty(n, wp.mat33f)
        self.keep = kernel.zeros(n, wp.float32)  # 0 where pinned
        self.keep.fill_(1.0)
        self.b, self.x, self.r, self.d = (kernel.zeros(n, wp.vec3f) for _ in range(4))
        self.step = kernel.zeros(3, wp.float32)  # Chebyshev's coefficients

    @property
    def matrix(self) -> tuple[WarpArray, WarpArray, WarpArray, WarpArray]:
        """Where rows start and end, columns and values, as kernels take them."""
        return self.start, self.end, self.column, self.values

    @cached_property
    def residual(self) -> Recorded:
        """r = b - A x."""
        own = (self.b, self.x, self.r)
        return Recorded(k.residual, self.n, *self.matrix, *own, slice_above=self.worth)

    @cached_property
    def _again(self) -> Recorded:
        """r = b - A x and a first step from there."""
        own = (self.inverse, self.b, self.x, self.step, self.r, self.d)
        return Recorded(k.residual_and_first, self.n, *self.matrix, *own, slice_above=self.worth)

    @cached_property
    def _second(self) -> tuple[Recorded, Recorded]:
        """Second step of a correction (of r), and from zero (of b)."""
        steps = []
        for fresh, right in enumerate((self.r, self.b)):
            own = (self.inverse, right, self.d, fresh, self.step, self.x)
            steps.append(Recorded(k.second, self.n, *self.matrix, *own, slice_above=self.worth))
        return steps[0], steps[1]

    @property
    def smooth_from_zero(self) -> list[Recorded]:
        """x = two Chebyshev steps for A x = b; whoever wrote b has taken the first."""
        return [self._second[1]]

    @property
    def smooth(self) -> list[Recorded]:
        """Two more steps from x."""
        return [self._again, self._second[0]]

    @cached_property
    def first_residual(self) -> Recorded:
        """r = b - A d, of the first step from zero."""
        own = (self.b, self.d, self.r)
        return Recorded(k.residual, self.n, *self.matrix, *own, slice_above=self.worth)

    @cached_property
    def step_from_corrected(self) -> Recorded:
        """x = one step from what the coarse level has made of d, in r."""
        own = (self.inverse, self.b, self.r, self.step, self.x)
        return Recorded(k.step_from, self.n, *self.matrix, *own, slice_above=self.worth)

    def tune(self, high: float, span: float = RANGE) -> None:
        """Chebyshev's coefficients for eigenvalues from ``high / span`` to ``high`` (Saad 2003,
        algorithm 12.1).
        """
        low = high / span
        theta, delta = 0.5 * (high + low), 0.5 * (high - low)
        first, second = delta / theta, 1.0 / (2 * theta / delta - delta / theta)
        steps = np.array([1.0 / theta, second * first, 2 * second / delta], np.float32)
        self.step.assign(kernel.array(steps, wp.float32))


class Transfer:
    """Between a level and the next coarser one."""

    def __init__(self, c: Coarsening, fine: Level, coarse: Level) -> None:
        self.c, self.by, self.fine, self.coarse = c, c.by, fine, coarse
        self.weight = kernel.empty(c.by.P.nnz, wp.float32)
        self.ap = kernel.empty(c.AP.rows.nnz, wp.mat33f)

    @property
    def to_coarse(self) -> tuple[WarpArray, WarpArray, WarpArray, WarpArray]:
        """P^T, as kernels take it."""
        return self.by.Pt.start, self.by.Pt.column, self.by.entry, self.weight

    @cached_property
    def restrict(self) -> Recorded:
        """The coarse right side."""
        coarse = self.coarse
        own = (self.fine.r, coarse.inverse, coarse.step, coarse.b, coarse.d)
        return Recorded(k.restrict_rows, coarse.n, *self.to_coarse, *own)

    @cached_property
    def prolong(self) -> Recorded:
        """x += the coarse correction."""
        return self._prolonged(self.fine.x, self.fine.x)

    @cached_property
    def prolong_first(self) -> Recorded:
        """r = d + the coarse correction."""
        return self._prolonged(self.fine.d, self.fine.r)

    def _prolonged(self, x: WarpArray, out: WarpArray) -> Recorded:
        P = self.by.P
        return Recorded(k.prolong_rows, P.n, P.start, P.column, self.weight, self.coarse.x, x, out)

    def visit(self, dense: WarpArray, fresh: bool) -> Recorded:
        """A visit of the fine level as one launch, the coarse one being solved by ``dense``."""
        P, f = self.by.P, self.fine
        vectors = (f.b, f.x, f.r, f.d)
        ways = (*self.to_coarse[:3], P.start, P.column, self.weight)
        last = (dense, self.coarse.b, self.coarse.x, f.step)
        own = (int(fresh), f.n, *f.matrix, f.inverse)
        return Recorded(k.last_visit, 1, *own, *vectors, *ways, *last)

    def refresh(self) -> None:
        """The coarse matrix P^T A P."""
        c, by, fine, coarse = self.c, self.by, self.fine, self.coarse
        P, AP, out = by.P, c.AP, c.coarse
        kernel.launch(
            g.multiply_by_prolongator,
            fine.n,
            fine.start,
            fine.end,
            fine.column,
            fine.index,
            fine.values,
            fine.keep,
            P.start,
            by.weight,
            AP.first,
            AP.slot,
            AP.rows.start,
            self.ap,
            self.weight,
            slice_above=HEAVY,
        )
        kernel.launch(
            g.coarse_rows,
            coarse.n,
            *self.to_coarse,
            AP.rows.start,
            self.ap,
            out.first,
            out.slot,
            out.rows.start,
            out.rows.column,
            coarse.end,
            coarse.column,
            coarse.index,
            coarse.values,
            coarse.inverse,
            slice_above=HEAVY,
        )


class Hierarchy:
    """All levels of a pattern."""

    def __init__(self, pattern: BlockPattern) -> None:
        steps = coarsenings(pattern)
        fine = Csr(pattern.device_row_start, pattern.device_column, pattern.n, pattern.n_blocks)
        self.levels = [Level(fine), *(Level(c.coarse.rows) for c in steps)]
        self.levels[0].start = kernel.empty(pattern.n, wp.int32)
        self.transfers = [Transfer(c, *self.levels[i : i + 2]) for i, c in enumerate(steps)]
        n = self.levels[-1].n
        self.dense = kernel.empty((n, n), wp.mat33f) if n <= DENSE else None
        small = len(steps) > 0 and self.levels[-2].n <= ONE_LAUNCH and kernel.is_cpu()
        self.in_one = small and self.dense is not None
        self._may_once = len(steps) > (1 if self.in_one else 0)
        self.once = self._may_once  # whether the finest takes one step
        self._definite = kernel.empty(1, wp.int32)
        self.definite = True  # as far as the coarsest level shows
        self.high = LARGEST  # eigenvalue of D^-1 A that the last matrix needed
        self._tuned = 0.0, False  # eigenvalue that the smoothers are set up for, and ``once``

    def refresh(self, A: BlockCsr) -> None:
        """Take the values of a matrix."""
        f, p = self.levels[0], A.pattern
        rows = (p.device_row_start, p.device_column, A.values)
        own = (f.start, f.end, f.column, f.index, f.values, f.inverse, f.keep)
        chunks, worth = -(-p.n // CHUNK), f.worth // CHUNK
        kernel.launch(g.take_fine, chunks, p.n, CHUNK, *rows, *own, slice_above=worth)
        for transfer in self.transfers:
            transfer.refresh()
        self.tune(max(LARGEST, LESS * self.high))
        if self.dense is not None:
            self._invert_last()

    def aim(self, tolerance: float) -> None:
        """Set up cycles for solves to this error."""
        self.once = self._may_once and tolerance >= LOOSE
        self.tune(self.high)

    def tune(self, high: float) -> None:
        """Set up the smoothers for eigenvalues of D^-1 A up to ``high``."""
        self.high = high
        if (high, self.once) == self._tuned:
            return
        self._tuned = high, self.once
        for i, level in enumerate(self.levels):
            level.tune(high, ONE_RANGE if i == 0 and self.once else RANGE)

    @cached_property
    def _last(self) -> tuple[Recorded, Recorded]:
        """Visits of the second-to-last level: again, and from zero."""
        visit = self.transfers[-1].visit
        return visit(self.dense, False), visit(self.dense, True)

    @cached_property
    def _inverted(self) -> Recorded:
        """The inverse of a small last level."""
        n = self.levels[-1].n
        own = (kernel.empty((3 * n, 3 * n)), self.dense, self._definite)
        return Recorded(dense_kernels.invert, 1, SHIFT, *self.levels[-1].matrix, *own)

    def _invert_last(self) -> None:
        """Invert the coarsest matrix: where that is too large for a kernel of one thread, or not
        definite, on the host; at most ``DENSE`` rows, whatever the mesh.
        """
        level = self.levels[-1]
        n = level.n
        if n <= COARSEST and kernel.is_cpu():
            self._inverted.launch()
            if kernel.scalar(self._definite):
                self.definite = True
                return
        full = kernel.empty((n, n), mat33)
        kernel.launch(dense_kernels.dense_matrix, n, *level.matrix, full)
        matrix = kernel.numpy(full).transpose(0, 2, 1, 3).reshape(3 * n, 3 * n)
        matrix = 0.5 * (matrix + matrix.T)
        if not np.isfinite(matrix).all():
            matrix = np.eye(3 * n)
        matrix[np.diag_indices(3 * n)] *= 1 + SHIFT
        inverse, self.definite = _inverse(matrix)
        blocks = inverse.reshape(n, 3, n, 3).transpose(0, 2, 1, 3).astype(np.float32)
        assert self.dense is not None
        self.dense.assign(kernel.array(blocks, wp.mat33f))

    def cycle(self) -> list[Recorded]:
        """Launches that make x = M^-1 b of the finest level, a symmetric positive definite
        operation; its first Chebyshev step d is taken.
        """
        if not self.once:
            return self._cycle(0, fresh=True)
        fine, transfer = self.levels[0], self.transfers[0]
        down = [fine.first_residual, transfer.restrict]
        return [
            *down,
            *self._cycle(1, fresh=True),
            transfer.prolong_first,
            fine.step_from_corrected,
        ]

    def _cycle(self, i: int, fresh: bool) -> list[Recorded]:
        level = self.levels[i]
        if i == len(self.levels) - 1:
            return self._on_last(level, fresh)
        if self.in_one and i == len(self.levels) - 2:
            return [self._last[fresh]]
        out = level.smooth_from_zero if fresh else level.smooth
        out = [*out, level.residual, self.transfers[i].restrict, *self._cycle(i + 1, fresh=True)]
        if i + 1 < len(self.levels) - 1:
            out += self._cycle(i + 1, fresh=False)
        return [*out, self.transfers[i].prolong, *level.smooth]

    def _on_last(self, level: Level, fresh: bool) -> list[Recorded]:
        if self.dense is not None:
            return [Recorded(k.dense_rows, level.n, self.dense, level.b, level.x)]
        return [*(level.smooth_from_zero if fresh else level.smooth), *(4 * level.smooth)]


@cache
def _blas() -> ThreadpoolController:
    """The threads of NumPy's and SciPy's linear algebra."""
    return ThreadpoolController()


def _inverse(matrix: Floats) -> tuple[Floats, bool]:
    """The inverse of a symmetric matrix, and whether it is positive definite.

    A negative eigenvalue of a coarse matrix, beyond its round-off, is one of the finest too.
    """
    with _blas().limit(limits=1):  # waiting threads cost more than they win at this size
        return _inverse_of(matrix)


def _inverse_of(matrix: Floats) -> tuple[Floats, bool]:
    factor, failed = lapack.dpotrf(matrix, lower=1)
    if failed == 0:
        lower, _ = lapack.dpotri(factor, lower=1)
        return np.tril(lower) + np.tril(lower, -1).T, True
    values, vectors = np.linalg.eigh(matrix)
    size = float(np.abs(values).max())
    used = np.abs(values) > 1e-12 * size
    inverse = (vectors[:, used] / values[used]) @ vectors[:, used].T
    return inverse, bool(values[0] >= -ROUNDOFF * size)
