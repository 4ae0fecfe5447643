"""Levels of smoothed-aggregation multigrid for one pattern, and the cycle through them.

Aggregates and prolongators come from the block pattern and are computed once (module
``aggregation``); for every matrix only the Galerkin products P^T A P and the smoothers are renewed.
A cycle is a W-cycle in float32, with two block-Jacobi-Chebyshev steps before and after each coarse
correction. In solves with a loose tolerance the finest level, which is the most expensive, takes
one step before and after, and the next level is visited once.
"""

from functools import cached_property

import warp as wp

from weft import kernel
from weft.kernel import Recorded, WarpArray
from weft.solve.linear.multigrid import cycle_kernels as k
from weft.solve.linear.multigrid import dense_kernels as d
from weft.solve.linear.multigrid import galerkin_kernels as g
from weft.solve.linear.multigrid.aggregation import Coarsening, Csr, coarsenings
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

# Assumed largest eigenvalue of D^-1 A; it is at most 4 with stencils of 4 vertices, and 2.7 to 3.2
# in practice. It is not estimated: a smoother tuned to less than 0.9 of it is indefinite
# (docs/decisions/0007).
LARGEST = 3.2
LESS = 0.98  # factor on the value that the last matrix needed, tried first; splines need more
RANGE = 12.0  # the smoother damps eigenvalues from LARGEST / RANGE to LARGEST
ONE_RANGE = 3.5  # the same ratio if the finest level takes one step
LOOSE = 0.05  # tolerance from which on it takes one step; tight solves of taut cloth need two
PRODUCT_WORK = 28.0  # matrix entries that take as long as a row of a Galerkin product
ONE_LAUNCH = 1000  # vertices of a second-to-last level that one thread visits in one launch (CPU)
# Relative shift of the coarsest diagonal: only inertia resists a rigid motion that no pin stops, so
# the matrix may be nearly singular.
SHIFT = 1e-6
# Vertices up to which the coarsest matrix is inverted. A larger one is only smoothed: it is that of
# many separate pieces, each one vertex, where smoothing is nearly exact (docs/decisions/0007).
DENSE = 40
_VALUES = 4  # position of the matrix values among the arguments of the kernel ``take_fine``


class Level:
    """Matrix of one level in float32, with its smoother and the recorded launches of a visit.

    Rows are stored without blocks of zeros, so each row has a start and an end of its own.
    """

    def __init__(self, rows: Csr) -> None:
        n = rows.n
        self.rows, self.n = rows, n
        self.work = max(rows.nnz, 1) / max(n, 1)  # entries of a row
        self.start, self.end = rows.start, kernel.empty(n, wp.int32)
        self.column = kernel.empty(rows.nnz, wp.int32)
        self.index = kernel.empty(rows.nnz, wp.int32)  # of each block in the pattern
        self.values = kernel.empty(rows.nnz, wp.mat33f)
        self.inverse = kernel.empty(n, wp.mat33f)
        self.keep = kernel.zeros(n, wp.float32)  # 0 where pinned
        self.keep.fill_(1.0)
        self.b, self.x, self.r, self.d = (kernel.zeros(n, wp.vec3f) for _ in range(4))
        self.step = kernel.zeros(3, wp.float32)  # Chebyshev's coefficients

    @property
    def matrix(self) -> tuple[WarpArray, WarpArray, WarpArray, WarpArray]:
        """Return row starts, row ends, columns and values, in the order that kernels take."""
        return self.start, self.end, self.column, self.values

    @cached_property
    def residual(self) -> Recorded:
        """Launch that computes r = b - A x."""
        own = (self.b, self.x, self.r)
        return Recorded(k.residual, self.n, *self.matrix, *own, work=self.work)

    @cached_property
    def _again(self) -> Recorded:
        """Launch that computes r = b - A x and the first Chebyshev step from x."""
        own = (self.inverse, self.b, self.x, self.step, self.r, self.d)
        return Recorded(k.residual_and_first, self.n, *self.matrix, *own, work=self.work)

    @cached_property
    def _second(self) -> tuple[Recorded, Recorded]:
        """Launches of the second Chebyshev step: to correct x (from r), and from x = 0 (from b)."""
        steps = []
        for fresh, right in enumerate((self.r, self.b)):
            own = (self.inverse, right, self.d, fresh, self.step, self.x)
            steps.append(Recorded(k.second, self.n, *self.matrix, *own, work=self.work))
        return steps[0], steps[1]

    @property
    def smooth_from_zero(self) -> list[Recorded]:
        """Return the launches of two Chebyshev steps for A x = b from x = 0.

        The first step is taken by the kernel that writes b.
        """
        return [self._second[1]]

    @property
    def smooth(self) -> list[Recorded]:
        """Return the launches of two more Chebyshev steps from x."""
        return [self._again, self._second[0]]

    @cached_property
    def first_residual(self) -> Recorded:
        """Launch that computes r = b - A d, with d the first step from zero."""
        own = (self.b, self.d, self.r)
        return Recorded(k.residual, self.n, *self.matrix, *own, work=self.work)

    @cached_property
    def step_from_corrected(self) -> Recorded:
        """Launch of one step to x, from d plus the coarse correction, which is stored in r."""
        own = (self.inverse, self.b, self.r, self.step, self.x)
        return Recorded(k.step_from, self.n, *self.matrix, *own, work=self.work)

    def tune(self, high: float, span: float = RANGE) -> None:
        """Set Chebyshev's coefficients for eigenvalues from ``high / span`` to ``high``.

        Saad 2003, algorithm 12.1.
        """
        low = high / span
        theta, delta = 0.5 * (high + low), 0.5 * (high - low)
        first, second = delta / theta, 1.0 / (2 * theta / delta - delta / theta)
        steps = 1.0 / theta, second * first, 2 * second / delta
        kernel.launch(k.set_coefficients, 1, *steps, self.step)


class Transfer:
    """Restriction and prolongation between a level and the next coarser one."""

    def __init__(self, c: Coarsening, fine: Level, coarse: Level) -> None:
        self.c, self.by, self.fine, self.coarse = c, c.by, fine, coarse
        self.weight = kernel.empty(c.by.P.nnz, wp.float32)
        self.ap = kernel.empty(c.AP.rows.nnz, wp.mat33f)

    @property
    def to_coarse(self) -> tuple[WarpArray, WarpArray, WarpArray, WarpArray]:
        """Return P^T, in the order in which kernels take it."""
        return self.by.Pt.start, self.by.Pt.column, self.by.entry, self.weight

    @cached_property
    def restrict(self) -> Recorded:
        """Launch that computes the coarse right-hand side P^T r."""
        coarse = self.coarse
        own = (self.fine.r, coarse.inverse, coarse.step, coarse.b, coarse.d)
        return Recorded(k.restrict_rows, coarse.n, *self.to_coarse, *own)

    @cached_property
    def prolong(self) -> Recorded:
        """Launch that adds the coarse correction to x."""
        return self._record_prolongation(self.fine.x, self.fine.x)

    @cached_property
    def prolong_first(self) -> Recorded:
        """Launch that computes r = d + the coarse correction."""
        return self._record_prolongation(self.fine.d, self.fine.r)

    def _record_prolongation(self, x: WarpArray, out: WarpArray) -> Recorded:
        """Record the launch that computes ``out`` = x + P (coarse x)."""
        P = self.by.P
        return Recorded(k.prolong_rows, P.n, P.start, P.column, self.weight, self.coarse.x, x, out)

    def visit(self, dense: WarpArray, fresh: bool) -> Recorded:
        """Record a visit of the fine level as one launch; ``dense`` is the coarse inverse."""
        P, f = self.by.P, self.fine
        vectors = (f.b, f.x, f.r, f.d)
        ways = (*self.to_coarse[:3], P.start, P.column, self.weight)
        last = (dense, self.coarse.b, self.coarse.x, f.step)
        own = (int(fresh), f.n, *f.matrix, f.inverse)
        return Recorded(k.last_visit, 1, *own, *vectors, *ways, *last)

    @cached_property
    def refresh(self) -> tuple[Recorded, Recorded]:
        """Launches that compute A P, and from it the coarse matrix P^T A P."""
        by, fine, coarse, AP, out = self.by, self.fine, self.coarse, self.c.AP, self.c.coarse
        A = (fine.start, fine.end, fine.column, fine.index, fine.values, fine.keep)
        slots = (AP.first, AP.slot, AP.rows.start)
        first = (*A, by.P.start, by.weight, *slots, self.ap, self.weight)
        places = (out.first, out.slot, out.rows.start, out.rows.column)
        own = (coarse.end, coarse.column, coarse.index, coarse.values, coarse.inverse)
        then = (*self.to_coarse, AP.rows.start, self.ap, *places, *own)
        return (
            Recorded(g.multiply_by_prolongator, fine.n, *first, work=PRODUCT_WORK),
            Recorded(g.coarse_rows, coarse.n, *then, work=PRODUCT_WORK),
        )


class Hierarchy:
    """Multigrid hierarchy of one pattern: all levels, and the transfers between them."""

    def __init__(self, pattern: BlockPattern) -> None:
        steps, self.pattern = coarsenings(pattern), pattern
        fine = Csr(pattern.device_row_start, pattern.device_column, pattern.n, pattern.n_blocks)
        self.levels = [Level(fine), *(Level(c.coarse.rows) for c in steps)]
        self.levels[0].start = kernel.empty(pattern.n, wp.int32)
        self.transfers = [Transfer(c, *self.levels[i : i + 2]) for i, c in enumerate(steps)]
        n = self.levels[-1].n
        self.dense = kernel.empty((n, n), wp.mat33f) if n <= DENSE else None
        small = len(steps) > 0 and self.levels[-2].n <= ONE_LAUNCH and kernel.is_cpu()
        self.in_one = small and self.dense is not None
        self._may_once = len(steps) > (1 if self.in_one else 0)
        self.once = self._may_once  # whether the finest level takes one step only
        # (1,) whether the matrix is positive definite, as far as the coarsest level shows
        self.usable = kernel.zeros(1, wp.int32)
        self.usable.fill_(1)
        self.high = LARGEST  # largest eigenvalue of D^-1 A that the smoothers assume
        self._tuned = 0.0, False  # eigenvalue that the smoothers are set up for, and ``once``

    def refresh(self, A: BlockCsr) -> None:
        """Compute all levels from the values of a matrix A."""
        self.take_fine.set(_VALUES, A.values)
        for launch in [self.take_fine, *(one for t in self.transfers for one in t.refresh)]:
            launch.launch()
        self.tune(max(LARGEST, LESS * self.high))
        if self.dense is not None:
            for launch in self.invert_last:
                launch.launch()

    @cached_property
    def take_fine(self) -> Recorded:
        """Launch that copies a matrix of the pattern to the finest level."""
        f, p, width = self.levels[0], self.pattern, kernel.rows_per_index()
        rows = (p.n, width, p.device_row_start, p.device_column, None)
        own = (f.start, f.end, f.column, f.index, f.values, f.inverse, f.keep)
        work = (f.work + 1) * width  # 1: the row's own numbers
        return Recorded(g.take_fine, -(-p.n // width), *rows, *own, work=work)

    def aim(self, tolerance: float) -> None:
        """Choose the cycle for solves to this relative error."""
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
        """Visits of the second-to-last level in one launch: from the present x, and from zero."""
        visit = self.transfers[-1].visit
        return visit(self.dense, False), visit(self.dense, True)

    @cached_property
    def invert_last(self) -> list[Recorded]:
        """Launches that invert the coarsest matrix: one thread of a CPU is enough for all of it."""
        level, dense, a = self.levels[-1], self.dense, kernel.empty(2 * (3 * self.levels[-1].n,))
        n, m, matrix = level.n, 3 * level.n, level.matrix
        if kernel.is_cpu():
            return [Recorded(d.invert, 1, SHIFT, *matrix, a, dense, self.usable)]
        return [
            Recorded(d.write_matrix, n, SHIFT, *matrix, a, self.usable),
            *(
                Recorded(d.factorize_column, m - 1 - j, j, SHIFT, a, self.usable)
                for j in range(m - 1)
            ),
            Recorded(d.invert_factors, m, a),
            Recorded(d.invert_pivots, m, a),
            Recorded(d.multiply_rows, n, a, dense),
        ]

    def precondition(self, r: WarpArray, z: WarpArray) -> list[Recorded]:
        """Return the launches that compute z = M^-1 r by one cycle in float32.

        M^-1 is symmetric positive definite. The kernel that copies r also takes the first Chebyshev
        step.
        """
        fine = self.levels[0]
        own = (fine.inverse, fine.step, fine.b, fine.d)
        first = Recorded(k.take_residual, fine.n, r, *own)
        last = Recorded(k.give_correction, fine.n, fine.x, z)
        if not self.once:
            return [first, *self._cycle(0, fresh=True), last]
        transfer = self.transfers[0]
        return [
            first,
            fine.first_residual,
            transfer.restrict,
            *self._cycle(1, fresh=True),
            transfer.prolong_first,
            fine.step_from_corrected,
            last,
        ]

    def _cycle(self, i: int, fresh: bool) -> list[Recorded]:
        """Return the launches of a W-cycle from level i on; ``fresh``: from x = 0."""
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
        """Return the launches of the coarsest level: the dense inverse, or else smoothing."""
        if self.dense is not None:
            return [Recorded(k.dense_rows, level.n, self.dense, level.b, level.x)]
        return [*(level.smooth_from_zero if fresh else level.smooth), *(4 * level.smooth)]
