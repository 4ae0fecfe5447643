"""Conjugate gradients with smoothed-aggregation multigrid: iterations that hardly grow with size.

The preconditioner is a cycle through a ``Hierarchy``, in float32; the conjugate gradients around it
are in float64 and stop in the energy norm (see ``conjugate_gradients``). Each kernel index that
adds up owns a chunk of rows, so that sums do not depend on the number of threads.
"""

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from math import frexp, isfinite
from typing import Any

import numpy as np

from weft import kernel
from weft.kernel import Recorded, RecordedLaunches, WarpArray, vec3
from weft.solve.linear.conjugate_gradients import CHUNK, BlockJacobiPcg, EnergyError
from weft.solve.linear.direct import Pardiso, Splu, have_pardiso
from weft.solve.linear.multigrid import cycle_kernels as k
from weft.solve.linear.multigrid.hierarchy import LARGEST, Hierarchy
from weft.solve.linear.solver import LinearSolution, LinearSolver, Outcome, Stop
from weft.solve.sparse.block_csr import BlockCsr
from weft.solve.sparse.vectors import largest_part

DELAY = 1  # iterations over which the decrease of the model is watched: it falls fast here
MAX_ITERATIONS = 200
DIRECT = 150_000  # vertices up to which a factorization takes over
FEW = 1024  # numbers that one thread adds up
_VALUES = 6  # which argument of ``multiply`` the matrix is
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
            work = MultigridWork(Hierarchy(A.pattern))
        work.hierarchy.refresh(A)
        return PreparedMultigrid(A, work, self.stop)


class MultigridWork:
    """A hierarchy with the vectors of conjugate gradients, kept between matrices of a pattern."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        fine = hierarchy.levels[0]
        self.hierarchy, self.fine, self.n = hierarchy, fine, fine.n
        self.x, self.r, self.p, self.q = (kernel.empty(fine.n, vec3) for _ in range(4))
        self.numbers = kernel.empty(k.NUMBERS)  # of ``cycle_kernels``
        self._chains: dict[bool, tuple[RecordedLaunches, int]] = {}

    def begin(self, b: WarpArray, size: float) -> None:
        """x = 0 and r = b, of this size."""
        f = self.fine
        kernel.launch(k.no_direction, 1, size, self.numbers)
        own = (self.numbers, f.inverse, f.step, self.x, self.r, f.b, f.d)
        kernel.launch(k.begin, self.n, b, *own)

    def chain(self, values: WarpArray) -> tuple[RecordedLaunches, int]:
        """An iteration with a matrix: a cycle and the direction that it gives; the step along it,
        from which launch on.
        """
        once = self.hierarchy.once
        if once not in self._chains:
            first = [*self.hierarchy.cycle(), *self._direction()]
            self._chains[once] = RecordedLaunches([*first, *self._step(values)]), len(first)
        chain, middle = self._chains[once]
        chain.set(middle, _VALUES, values)
        return chain, middle

    def _direction(self) -> Iterator[Recorded]:
        """p from r and the cycle's z."""
        f, chunks = self.fine, -(-self.n // CHUNK)
        partial, worth = kernel.empty(chunks), f.worth // CHUNK
        yield Recorded(k.product, chunks, self.n, CHUNK, self.r, f.x, partial, slice_above=worth)
        yield from self._added(partial, k.next_direction)
        yield Recorded(k.turn, self.n, self.numbers, f.x, self.p)

    def _step(self, values: WarpArray) -> Iterator[Recorded]:
        """x and r a step along p farther."""
        f, chunks = self.fine, -(-self.n // CHUNK)
        partial, worth = kernel.empty(chunks), f.worth // CHUNK
        rows = (f.start, f.end, f.column, f.index, values)
        own = (self.n, CHUNK, *rows, self.p, self.q, partial)
        yield Recorded(k.multiply, chunks, *own, slice_above=worth)
        yield from self._added(partial, k.next_step)
        moved = (self.p, self.q, f.inverse, f.step, self.x, self.r, f.b, f.d)
        yield Recorded(k.descend, self.n, self.numbers, *moved)

    def _added(self, partial: WarpArray, use: Any) -> Iterator[Recorded]:
        """A kernel that takes a sum of numbers, after those that make them few."""
        while partial.shape[0] > FEW:
            n = partial.shape[0]
            fewer = kernel.empty(-(-n // CHUNK))
            yield Recorded(k.sum_chunks, fewer.shape[0], n, CHUNK, partial, fewer)
            partial = fewer
        yield Recorded(use, 1, partial, self.numbers)

    def number(self, which: Any) -> float:
        """One of ``numbers``."""
        return float(kernel.scalar(self.numbers, int(which)))


@dataclass(frozen=True, eq=False)
class PreparedMultigrid:
    """A matrix with its hierarchy."""

    A: BlockCsr
    work: MultigridWork
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
        work.begin(b, size)
        chain, middle = work.chain(self.A.values)
        ahead = self.stop is Stop.ENERGY  # nothing is asked between a direction and its step

        def ended(outcome: Outcome, iteration: int) -> LinearSolution:
            x = kernel.empty(self.A.n, vec3)
            kernel.copy(work.x, x)
            return LinearSolution(x, outcome, iteration, error)

        estimate, error = EnergyError(DELAY), 1.0
        first, smallest = 0.0, np.finfo(np.float64).eps ** 2
        for iteration in range(1, MAX_ITERATIONS + 1):
            chain.replay(0, None if ahead else middle)
            rz = work.number(k.R_DOT_Z)
            first = first or rz
            if iteration > 1:
                if not ahead:
                    error = (max(rz, 0.0) / first) ** 0.5
                if abs(rz) <= smallest * first or (not ahead and rz > 0 and error <= tolerance):
                    return ended(Outcome.CONVERGED, iteration - 1), True
            if not ahead:
                chain.replay(middle)
            curvature = work.number(k.CURVATURE)
            if not (curvature > 0.0 and rz > 0.0):
                finite = isfinite(curvature) and isfinite(rz)
                outcome = Outcome.INDEFINITE if finite else Outcome.NOT_FINITE
                return ended(outcome, iteration), curvature <= 0.0 or not finite
            if ahead:
                error = estimate.after(work.number(k.GAIN))
                if error <= tolerance:
                    return ended(Outcome.CONVERGED, iteration), True
        return ended(Outcome.MAX_ITERATIONS, MAX_ITERATIONS), True
