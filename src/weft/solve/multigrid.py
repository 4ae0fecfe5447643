"""Conjugate gradients with smoothed-aggregation multigrid: iterations that hardly grow with size.

Aggregates and prolongators come from the block pattern and are made once (``aggregation``); for
every matrix only the Galerkin products P^T A P and the smoothers are renewed. The preconditioner is
a W-cycle with two block-Jacobi-Chebyshev steps before and after each coarse correction, in float32;
the conjugate gradients around it are in float64 and stop in the energy norm (see ``pcg``).
"""

import dataclasses
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
import warp as wp
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController

from weft import kernel
from weft.arrays import Floats, Ints
from weft.kernel import Recorded, WarpArray, vec3
from weft.solve import multigrid_kernels as k
from weft.solve.aggregation import Coarsening, Csr, coarsenings
from weft.solve.base import LinearSolution, LinearSolver, Outcome, Stop
from weft.solve.block_csr import BlockCsr, BlockPattern, multiply_rows
from weft.solve.direct import Pardiso, Splu, have_pardiso
from weft.solve.pcg import BlockJacobiPcg, EnergyError
from weft.solve.vectors import combine, dot, largest_part

DELAY = 1  # iterations over which the decrease of the model is watched: it falls fast here
MAX_ITERATIONS = 200
DIRECT = 150_000  # vertices up to which a factorization takes over
LARGEST = 3.0  # eigenvalue of D^-1 A: at most 4 with stencils of 4 vertices, 2.74 seen (decision 7)
LESS = 0.98  # of what the matrix before needed, tried first: rows of splines need more
WIDER, MOST_WIDENINGS = 4 / 3, 6  # where a matrix has larger ones, and the smoother is not definite
RANGE = 12.0  # of eigenvalues that the smoother damps: from LARGEST/RANGE to LARGEST
HEAVY = 250  # rows of a Galerkin product worth slicing: each does hundreds of block products
ONE_LAUNCH = 1000  # vertices of a second-to-last level that one thread visits in one launch (CPU)
COEFFICIENTS = 19  # place of the smoother's among the arguments of that launch
ROUNDOFF = 1e-5  # relative, of a matrix in float32 of a few hundred rows
DENSE = 200  # vertices of a last level that is inverted; a larger one is only smoothed


@dataclass(frozen=True)
class Multigrid:
    """PCG with smoothed-aggregation multigrid; ``stop`` says what the tolerance bounds."""

    stop: Stop = Stop.ENERGY

    name = "multigrid"
    is_direct = False

    def prepare(self, A: BlockCsr, previous: Any = None) -> "PreparedMultigrid":
        """Renew the hierarchy; its patterns are kept from ``previous`` while A's pattern holds."""
        if isinstance(previous, PreparedMultigrid) and previous.A.pattern is A.pattern:
            hierarchy = previous.hierarchy
        else:
            hierarchy = Hierarchy(A.pattern)
        hierarchy.refresh(A)
        return PreparedMultigrid(A, hierarchy, self.stop)


class Level:
    """A matrix in float32 with its smoother, and the launches of a visit, packed once."""

    def __init__(self, rows: Csr) -> None:
        n = rows.n
        self.rows, self.n = rows, n
        self.worth = kernel.slice_above(rows.nnz / max(n, 1))  # slicing a visit of all rows
        self.values = kernel.empty(rows.nnz, wp.mat33f)
        self.inverse = kernel.empty(n, wp.mat33f)
        self.b, self.x, self.r, self.d = (kernel.zeros(n, wp.vec3f) for _ in range(4))

    @property
    def matrix(self) -> tuple[WarpArray, WarpArray, WarpArray]:
        """Row starts, columns and values, as kernels take them."""
        return self.rows.start, self.rows.column, self.values

    @cached_property
    def residual(self) -> Recorded:
        """r = b - A x."""
        own = (self.b, self.x, self.r)
        return Recorded(k.residual, self.n, *self.matrix, *own, slice_above=self.worth)

    @cached_property
    def _smoothing(self) -> tuple[Recorded, Recorded, Recorded]:
        """First step from zero (of b), first step of a correction (of r), second step of either."""
        first = (k.chebyshev_first, self.n, self.inverse)
        matrix = (*self.matrix, self.inverse)
        return (
            Recorded(*first, self.b, 0.0, 1, self.d, self.x),
            Recorded(*first, self.r, 0.0, 0, self.d, self.x),
            Recorded(
                k.chebyshev_second,
                self.n,
                *matrix,
                self.r,
                self.d,
                0.0,
                0.0,
                self.x,
                slice_above=self.worth,
            ),
        )

    def smooth_from_zero(self) -> None:
        """x = two Chebyshev steps for A x = b."""
        fresh, _, second = self._smoothing
        fresh.launch()
        second.set(4, self.b)
        second.launch()

    def smooth(self) -> None:
        """Two more steps from x."""
        _, more, second = self._smoothing
        self.residual.launch()
        more.launch()
        second.set(4, self.r)
        second.launch()

    def tune(self, high: float) -> None:
        """Chebyshev's coefficients for eigenvalues up to ``high`` (Saad 2003, algorithm 12.1)."""
        low = high / RANGE
        theta, delta = 0.5 * (high + low), 0.5 * (high - low)
        first, second = delta / theta, 1.0 / (2 * theta / delta - delta / theta)
        self.coefficients = (1.0 / theta, second * first, 2 * second / delta)
        for launch in self._smoothing[:2]:
            launch.set(2, self.coefficients[0])
        self._smoothing[2].set(6, self.coefficients[1])
        self._smoothing[2].set(7, self.coefficients[2])


class Transfer:
    """Between a level and the next coarser one."""

    def __init__(self, c: Coarsening, fine: Level, coarse: Level) -> None:
        self.c, self.by, self.fine, self.coarse = c, c.by, fine, coarse
        P, Pt = c.by.P, c.by.Pt
        self.weight = kernel.empty(P.nnz, wp.float32)
        self.ap = kernel.empty(c.AP.nnz, wp.mat33f)
        to_coarse = (Pt.start, Pt.column, c.by.entry, self.weight)
        self.restrict = Recorded(k.restrict_rows, Pt.n, *to_coarse, fine.r, coarse.b)
        to_fine = (P.start, P.column, self.weight)
        self.prolong = Recorded(k.prolong_rows, P.n, *to_fine, coarse.x, fine.x)

    def visit(self, dense: WarpArray) -> Recorded:
        """A visit of the fine level as one launch, the coarse one being solved by ``dense``."""
        by, f = self.by, self.fine
        to_coarse = (by.Pt.start, by.Pt.column, by.entry)
        to_fine = (by.P.start, by.P.column, self.weight)
        vectors = (f.b, f.x, f.r, f.d)
        last = (dense, self.coarse.b, self.coarse.x, *f.coefficients)
        return Recorded(
            k.last_visit, 1, 1, f.n, *f.matrix, f.inverse, *vectors, *to_coarse, *to_fine, *last
        )

    def refresh(self, keep: WarpArray | None) -> None:
        """The coarse matrix P^T A P; ``keep`` is zero at pinned vertices of the finest level."""
        c, by, fine, coarse = self.c, self.by, self.fine, self.coarse
        P, Pt = by.P, by.Pt
        if keep is None:
            wp.copy(self.weight, by.weight)
        else:
            kernel.launch(k.mask_prolongator, P.n, P.start, by.weight, keep, self.weight)
        p = (P.start, P.column, self.weight)
        ap = (c.AP.start, c.AP.column, self.ap)
        kernel.launch(k.multiply_by_prolongator, P.n, *fine.matrix, *p, *ap, slice_above=HEAVY)
        pt = (Pt.start, Pt.column, by.entry, self.weight)
        kernel.launch(
            k.coarse_rows, Pt.n, *pt, *ap, *coarse.matrix, coarse.inverse, slice_above=HEAVY
        )


class Hierarchy:
    """All levels of a pattern."""

    def __init__(self, pattern: BlockPattern) -> None:
        steps = coarsenings(pattern)
        fine = Csr(pattern.device_row_start, pattern.device_column, pattern.n, pattern.n_blocks)
        self.levels = [Level(fine), *(Level(c.coarse) for c in steps)]
        self.transfers = [Transfer(c, *self.levels[i : i + 2]) for i, c in enumerate(steps)]
        self.keep = kernel.empty(pattern.n, wp.float32)
        n = self.levels[-1].n
        self.dense = kernel.empty((n, n), wp.mat33f) if n <= DENSE else None
        small = len(steps) > 0 and self.levels[-2].n <= ONE_LAUNCH and kernel.is_cpu()
        self.in_one = small and self.dense is not None
        self.definite = True  # as far as the coarsest level shows
        self.high = LARGEST  # eigenvalue of D^-1 A that the last matrix needed
        self.last: Recorded | None = None  # a visit of the second-to-last level

    def refresh(self, A: BlockCsr) -> None:
        """Take the values of a matrix."""
        fine = self.levels[0]
        p = A.pattern
        rows = (p.device_row_start, p.device_column, A.values)
        own = (fine.values, fine.inverse, self.keep)
        kernel.launch(k.take_fine, p.n, *rows, *own, slice_above=fine.worth)
        for i, transfer in enumerate(self.transfers):
            transfer.refresh(self.keep if i == 0 else None)
        self.tune(max(LARGEST, LESS * self.high))
        if self.dense is not None:
            self._invert_last()

    def tune(self, high: float) -> None:
        """Set up the smoothers for eigenvalues of D^-1 A up to ``high``."""
        self.high = high
        for level in self.levels if self.dense is None else self.levels[:-1]:
            level.tune(high)
        if self.in_one and self.last is None:
            self.last = self.transfers[-1].visit(self.dense)
        if self.last is not None:
            for i, value in enumerate(self.levels[-2].coefficients):
                self.last.set(COEFFICIENTS + i, value)

    @cached_property
    def _last_blocks(self) -> tuple[Ints, Ints]:
        """Rows and columns of the coarsest matrix, on the host."""
        rows = self.levels[-1].rows
        start, column = (np.array(kernel.numpy(a)) for a in (rows.start, rows.column))
        return np.repeat(np.arange(rows.n, dtype=np.int32), np.diff(start)), column

    def _invert_last(self) -> None:
        """Invert the coarsest matrix, on the host: at most ``DENSE`` rows, whatever the mesh."""
        level = self.levels[-1]
        n, (rows, columns) = level.n, self._last_blocks
        full = np.zeros((n, 3, n, 3))
        full[rows, :, columns, :] = kernel.numpy(level.values)
        matrix = full.reshape(3 * n, 3 * n)
        matrix = 0.5 * (matrix + matrix.T)
        if not np.isfinite(matrix).all():
            matrix = np.eye(3 * n)
        # A rigid motion that no pin holds costs inertia only: a relative shift keeps this safe.
        matrix[np.diag_indices(3 * n)] *= 1 + 1e-6
        inverse, self.definite = _inverse(matrix)
        blocks = inverse.reshape(n, 3, n, 3).transpose(0, 2, 1, 3).astype(np.float32)
        assert self.dense is not None
        self.dense.assign(kernel.array(blocks, wp.mat33f))

    def apply(self, r: WarpArray, z: WarpArray) -> None:
        """z = M^-1 r for (n,) vec3 arrays; a symmetric positive definite operation."""
        n, fine = self.levels[0].n, self.levels[0]
        size = largest_part(r)
        if not 0.0 < size < float("inf"):
            z.fill_(vec3(0.0, 0.0, 0.0))
            return
        kernel.launch(k.lower, n, r, 1.0 / size, fine.b)
        self._cycle(0, fresh=True)
        kernel.launch(k.lift, n, fine.x, size, z)

    def _cycle(self, i: int, fresh: bool) -> None:
        level = self.levels[i]
        if i == len(self.levels) - 1:
            self._solve_last(level, fresh)
            return
        if self.last is not None and i == len(self.levels) - 2:
            self.last.set(0, int(fresh))
            self.last.launch()
            return
        if fresh:
            level.smooth_from_zero()
        else:
            level.smooth()
        level.residual.launch()
        self.transfers[i].restrict.launch()
        self._cycle(i + 1, fresh=True)
        if i + 1 < len(self.levels) - 1:
            self._cycle(i + 1, fresh=False)
        self.transfers[i].prolong.launch()
        level.smooth()

    def _solve_last(self, level: Level, fresh: bool) -> None:
        if self.dense is not None:
            kernel.launch(k.dense_rows, level.n, self.dense, level.b, level.x)
            return
        level.smooth_from_zero() if fresh else level.smooth()
        for _ in range(4):
            level.smooth()


@cache
def _blas() -> ThreadpoolController:
    """The threads of NumPy's and SciPy's linear algebra."""
    return ThreadpoolController()


def _inverse(matrix: Floats) -> tuple[Floats, bool]:
    """The inverse of a symmetric matrix, and whether it is positive definite.

    A negative eigenvalue of a coarse matrix, beyond its round-off, is one of the finest too.
    """
    with _blas().limit(limits=1):  # waiting threads cost more than they win at this size
        factor, failed = lapack.dpotrf(matrix, lower=1)
        if failed == 0:
            lower, _ = lapack.dpotri(factor, lower=1)
            return np.tril(lower) + np.tril(lower, -1).T, True
        values, vectors = np.linalg.eigh(matrix)
    size = float(np.abs(values).max())
    used = np.abs(values) > 1e-12 * size
    inverse = (vectors[:, used] / values[used]) @ vectors[:, used].T
    return inverse, bool(values[0] >= -ROUNDOFF * size)


@dataclass(frozen=True, eq=False)
class PreparedMultigrid:
    """A matrix with its hierarchy."""

    A: BlockCsr
    hierarchy: Hierarchy
    stop: Stop = Stop.ENERGY

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b from x = 0; ``residual`` and outcomes as for ``PreparedPcg``.

        A preconditioner that turns out not to be definite is made so, and the solve starts again;
        where that does not help, the coarsest matrix is not definite either, or the iterations run
        out, a direct solver takes over.
        """
        if not self.hierarchy.definite:
            return self._rescue(b, tolerance, 0)
        solution, definite = self._iterate(b, tolerance)
        for _ in range(MOST_WIDENINGS):
            if definite:
                break
            self.hierarchy.tune(WIDER * self.hierarchy.high)
            solution, definite = self._iterate(b, tolerance)
        if definite and solution.outcome is not Outcome.MAX_ITERATIONS:
            return solution
        return self._rescue(b, tolerance, solution.iterations)

    def forget(self) -> None:
        """Begin again with the eigenvalues that most matrices have."""
        self.hierarchy.high = LARGEST

    def _rescue(self, b: WarpArray, tolerance: float, spent: int) -> LinearSolution:
        """A direct factorization, or block-Jacobi where one would not fit into memory."""
        other: LinearSolver = BlockJacobiPcg(stop=self.stop)
        if self.A.n <= DIRECT:
            other = Pardiso() if have_pardiso() else Splu()
        # Blocks of zeros may be there or not, as contacts went: they would change the order.
        solution = other.prepare(self.A.without_zeros()).solve(b, tolerance)
        iterations = solution.iterations + spent
        return dataclasses.replace(solution, iterations=iterations, rescued=True)

    def _iterate(self, b: WarpArray, tolerance: float) -> tuple[LinearSolution, bool]:
        """Conjugate gradients; False where r.M^-1 r was negative."""
        n, pattern = self.A.n, self.A.pattern
        x = kernel.zeros(n, vec3)
        r, z, p, q = (kernel.empty(n, vec3) for _ in range(4))
        wp.copy(r, b)
        self.hierarchy.apply(r, z)
        rz = dot(r, z)
        if not np.isfinite(dot(r, r)):
            return LinearSolution(x, Outcome.NOT_FINITE, 0, float("inf")), True
        if largest_part(r) == 0.0:
            return LinearSolution(x, Outcome.CONVERGED, 0, 0.0), True
        wp.copy(p, z)
        rows = (pattern.device_row_start, pattern.device_column, self.A.values)
        worth = self.hierarchy.levels[0].worth
        product = Recorded(multiply_rows, n, *rows, p, q, slice_above=worth)
        estimate, error = EnergyError(DELAY), 1.0
        first, smallest = rz, np.finfo(np.float64).eps ** 2
        for iteration in range(1, MAX_ITERATIONS + 1):
            product.launch()
            curvature = dot(p, q)
            if not (curvature > 0.0 and rz > 0.0):
                finite = np.isfinite(curvature) and np.isfinite(rz)
                outcome = Outcome.INDEFINITE if finite else Outcome.NOT_FINITE
                return LinearSolution(x, outcome, iteration, error), curvature <= 0.0 or not finite
            a = rz / curvature
            kernel.launch(k.descend, n, a, p, q, x, r)
            error = estimate.after(a * rz)
            if self.stop is Stop.ENERGY and error <= tolerance:
                return LinearSolution(x, Outcome.CONVERGED, iteration, error), True
            self.hierarchy.apply(r, z)
            rz_new = dot(r, z)
            if self.stop is Stop.PRECONDITIONED:
                error = (max(rz_new, 0.0) / first) ** 0.5
            if abs(rz_new) <= smallest * first or (rz_new > 0 and error <= tolerance):
                return LinearSolution(x, Outcome.CONVERGED, iteration, error), True
            combine(z, rz_new / rz, p, p)
            rz = rz_new
        return LinearSolution(x, Outcome.MAX_ITERATIONS, MAX_ITERATIONS, error), True
