"""Conjugate gradients with smoothed-aggregation multigrid: iterations that hardly grow with size.

The preconditioner is a cycle through a ``Hierarchy``, in float32; the conjugate gradients around it
are in float64 and stop in the energy norm (see ``pcg``). Each kernel index that adds up owns a
chunk of rows, so that sums do not depend on the number of threads.
"""

import dataclasses
from dataclasses import dataclass
from math import frexp, isfinite
from typing import Any

import numpy as np

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.solve import multigrid_kernels as k
from weft.solve.base import LinearSolution, LinearSolver, Outcome, Stop
from weft.solve.block_csr import BlockCsr
from weft.solve.direct import Pardiso, Splu, have_pardiso
from weft.solve.hierarchy import LARGEST, Hierarchy
from weft.solve.pcg import CHUNK, BlockJacobiPcg, EnergyError
from weft.solve.vectors import largest_part

DELAY = 1  # iterations over which the decrease of the model is watched: it falls fast here
MAX_ITERATIONS = 200
DIRECT = 150_000  # vertices up to which a factorization takes over
WIDER, MOST_WIDENINGS = 4 / 3, 6  # where a matrix has larger ones, and the smoother is not definite


@dataclass(frozen=True)
class Multigrid:
    """PCG with smoothed-aggregation multigrid; ``stop`` says what the tolerance bounds."""

    stop: Stop = Stop.ENERGY

    name = "multigrid"
    is_direct = False

    def prepare(self, A: BlockCsr, previous: Any = None) -> "PreparedMultigrid":
        """Renew the hierarchy; its patterns are kept from ``previous`` while A's pattern holds."""
        if isinstance(previous, PreparedMultigrid) and previous.A.pattern is A.pattern:
            work = previous.work
        else:
            work = Work(Hierarchy(A.pattern))
        work.hierarchy.refresh(A)
        return PreparedMultigrid(A, work, self.stop)


class Work:
    """A hierarchy with the vectors of conjugate gradients, kept between matrices of a pattern."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        fine = hierarchy.levels[0]
        self.hierarchy, self.fine, self.n = hierarchy, fine, fine.n
        self.chunks = -(-fine.n // CHUNK)
        self.r, self.p, self.q = (kernel.empty(fine.n, vec3) for _ in range(3))
        self._sums = kernel.empty(self.chunks)

    def begin(self, b: WarpArray, scale: float, x: WarpArray) -> None:
        """x = 0 and r = b."""
        f = self.fine
        kernel.launch(k.begin, self.n, b, scale, f.inverse, f.step, x, self.r, f.b, f.d)

    def multiply(self, values: WarpArray) -> float:
        """q = A p; returns p.q."""
        f = self.fine
        rows = (f.start, f.end, f.column, f.index, values)
        own = (self.n, CHUNK, *rows, self.p, self.q, self._sums)
        kernel.launch(k.multiply, self.chunks, *own, slice_above=f.worth // CHUNK)
        return kernel.total(self._sums)

    def descend(self, a: float, scale: float, x: WarpArray) -> None:
        """x += a p, r -= a q."""
        f, way = self.fine, (a, self.p, self.q)
        kernel.launch(k.descend, self.n, *way, scale, f.inverse, f.step, x, self.r, f.b, f.d)

    def precondition(self) -> float:
        """z = M^-1 r, scaled as ``begin`` and ``descend`` said; returns r.z, scaled."""
        self.hierarchy.cycle()
        own = (self.n, CHUNK, self.r, self.fine.x, self._sums)
        kernel.launch(k.product, self.chunks, *own, slice_above=self.fine.worth // CHUNK)
        return kernel.total(self._sums)

    def turn(self, size: float, b: float, fresh: bool = False) -> None:
        """p = size z + b p, or without p where there is none."""
        kernel.launch(k.turn, self.n, size, self.fine.x, b, int(fresh), self.p)


@dataclass(frozen=True, eq=False)
class PreparedMultigrid:
    """A matrix with its hierarchy."""

    A: BlockCsr
    work: Work
    stop: Stop = Stop.ENERGY

    @property
    def hierarchy(self) -> Hierarchy:
        """Of its pattern."""
        return self.work.hierarchy

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b from x = 0; ``residual`` and outcomes as for ``PreparedPcg``.

        A preconditioner that turns out not to be definite is made so, and the solve starts again;
        where that does not help, the coarsest matrix is not definite either, or the iterations run
        out, a direct solver takes over.
        """
        if not self.hierarchy.definite:
            return self._rescue(b, tolerance, 0)
        self.hierarchy.aim(tolerance)
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
        work, largest = self.work, largest_part(b)
        if not 0.0 < largest < float("inf"):
            x, outcome = kernel.zeros(self.A.n, vec3), Outcome.CONVERGED
            if largest != 0.0:
                return LinearSolution(x, Outcome.NOT_FINITE, 0, float("inf")), True
            return LinearSolution(x, outcome, 0, 0.0), True
        size = 2.0 ** frexp(largest)[1]  # a power of two: dividing by it changes no digit
        x = kernel.empty(self.A.n, vec3)
        work.begin(b, 1.0 / size, x)
        rz = size * work.precondition()
        work.turn(size, 0.0, fresh=True)
        estimate, error = EnergyError(DELAY), 1.0
        first, smallest = rz, np.finfo(np.float64).eps ** 2
        for iteration in range(1, MAX_ITERATIONS + 1):
            curvature = work.multiply(self.A.values)
            if not (curvature > 0.0 and rz > 0.0):
                finite = isfinite(curvature) and isfinite(rz)
                outcome = Outcome.INDEFINITE if finite else Outcome.NOT_FINITE
                return LinearSolution(x, outcome, iteration, error), curvature <= 0.0 or not finite
            a = rz / curvature
            work.descend(a, 1.0 / size, x)
            error = estimate.after(a * rz)
            if self.stop is Stop.ENERGY and error <= tolerance:
                return LinearSolution(x, Outcome.CONVERGED, iteration, error), True
            rz_new = size * work.precondition()
            if self.stop is Stop.PRECONDITIONED:
                error = (max(rz_new, 0.0) / first) ** 0.5
            if abs(rz_new) <= smallest * first or (rz_new > 0 and error <= tolerance):
                return LinearSolution(x, Outcome.CONVERGED, iteration, error), True
            work.turn(size, rz_new / rz)
            rz = rz_new
        return LinearSolution(x, Outcome.MAX_ITERATIONS, MAX_ITERATIONS, error), True
