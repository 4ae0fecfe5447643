"""Conjugate gradients with smoothed-aggregation multigrid.

The number of iterations hardly grows with the size of the mesh. The preconditioner is a cycle
through a ``Hierarchy`` in float32; the conjugate gradients around it are in float64 and stop in the
energy norm (see ``conjugate_gradients``). Each kernel index of a sum owns a chunk of rows, so that
sums do not depend on the number of threads. Measurements: docs/decisions/0007.
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

DELAY = 1  # iterations over which the decrease of the model is summed; with multigrid, one suffices
MAX_ITERATIONS = 200
DIRECT = 150_000  # vertices up to which a factorization takes over after a failed solve
FEW = 1024  # numbers that one thread sums
_VALUES = 6  # position of the matrix values among the arguments of the kernel ``multiply``
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

    def prepare(self, A: BlockCsr, previous: Any = None) -> "PreparedMultigrid":
        """Compute the hierarchy of A; patterns of ``previous`` are reused if A's is the same."""
        if isinstance(previous, PreparedMultigrid) and previous.A.pattern is A.pattern:
            work = previous.work
        else:
            work = MultigridWork(Hierarchy(A.pattern))
        work.hierarchy.refresh(A)
        return PreparedMultigrid(A, work, self.stop)


class MultigridWork:
    """Hierarchy and vectors of conjugate gradients, shared by all matrices of a pattern."""

    def __init__(self, hierarchy: Hierarchy) -> None:
        fine = hierarchy.levels[0]
        self.hierarchy, self.fine, self.n = hierarchy, fine, fine.n
        self.x, self.r, self.p, self.q = (kernel.empty(fine.n, vec3) for _ in range(4))
        self.numbers = kernel.empty(k.NUMBERS)  # scalars of conjugate gradients, ``cycle_kernels``
        self._chains: dict[bool, tuple[RecordedLaunches, int]] = {}

    def begin(self, b: WarpArray, size: float) -> None:
        """Set x = 0 and r = b; ``size`` divides the residual before it is rounded to float32."""
        f = self.fine
        kernel.launch(k.reset_scalars, 1, size, self.numbers)
        own = (self.numbers, f.inverse, f.step, self.x, self.r, f.b, f.d)
        kernel.launch(k.begin, self.n, b, *own)

    def chain(self, values: WarpArray) -> tuple[RecordedLaunches, int]:
        """Return the recorded launches of one iteration with these matrix values.

        The launches are the cycle and the new direction, then the step along the direction. The
        number returned is the index of the first launch of the step.
        """
        once = self.hierarchy.once
        if once not in self._chains:
            first = [*self.hierarchy.cycle(), *self._direction()]
            self._chains[once] = RecordedLaunches([*first, *self._step(values)]), len(first)
        chain, middle = self._chains[once]
        chain.set(middle, _VALUES, values)
        return chain, middle

    def _direction(self) -> Iterator[Recorded]:
        """Record the launches that compute the direction p from r and the cycle's result z."""
        f, chunks = self.fine, -(-self.n // CHUNK)
        partial, worth = kernel.empty(chunks), f.worth // CHUNK
        yield Recorded(k.product, chunks, self.n, CHUNK, self.r, f.x, partial, slice_above=worth)
        yield from self._added(partial, k.next_direction)
        yield Recorded(k.turn, self.n, self.numbers, f.x, self.p)

    def _step(self, values: WarpArray) -> Iterator[Recorded]:
        """Record the launches that move x and r by a step along p."""
        f, chunks = self.fine, -(-self.n // CHUNK)
        partial, worth = kernel.empty(chunks), f.worth // CHUNK
        rows = (f.start, f.end, f.column, f.index, values)
        own = (self.n, CHUNK, *rows, self.p, self.q, partial)
        yield Recorded(k.multiply, chunks, *own, slice_above=worth)
        yield from self._added(partial, k.next_step)
        moved = (self.p, self.q, f.inverse, f.step, self.x, self.r, f.b, f.d)
        yield Recorded(k.descend, self.n, self.numbers, *moved)

    def _added(self, partial: WarpArray, use: Any) -> Iterator[Recorded]:
        """Record the launches that sum ``partial``, then the kernel ``use`` that takes the sum.

        While there are more than ``FEW`` numbers, they are first summed in chunks.
        """
        while partial.shape[0] > FEW:
            n = partial.shape[0]
            fewer = kernel.empty(-(-n // CHUNK))
            yield Recorded(k.sum_chunks, fewer.shape[0], n, CHUNK, partial, fewer)
            partial = fewer
        yield Recorded(use, 1, partial, self.numbers)

    def number(self, which: Any) -> float:
        """Return one of ``numbers``, by its index in ``cycle_kernels``."""
        return float(kernel.scalar(self.numbers, int(which)))


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
        """Solve A x = b from x = 0; ``residual`` and outcomes are those of ``PreparedPcg``.

        If the preconditioner turns out to be indefinite, the smoother's range of eigenvalues is
        widened and the solve starts again. A direct solver (or block-Jacobi for large meshes) takes
        over if that does not help, if the coarsest matrix is indefinite, or if the iterations run
        out.
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
        """Reset the assumed largest eigenvalue of D^-1 A to its default."""
        self.hierarchy.high = LARGEST

    def _rescue(self, b: WarpArray, tolerance: float, spent: int) -> LinearSolution:
        """Solve by a direct factorization, or by block-Jacobi if memory would not suffice."""
        other: LinearSolver = BlockJacobiPcg(stop=self.stop)
        if self.A.n <= DIRECT:
            other = Pardiso() if have_pardiso() else Splu()
        # Blocks of zeros depend on earlier contacts. They would change the elimination order, and
        # with it the last bits of the result.
        solution = other.prepare(self.A.without_zeros()).solve(b, tolerance)
        iterations = solution.iterations + spent
        return dataclasses.replace(solution, iterations=iterations, rescued=True)

    def _iterate(self, b: WarpArray, tolerance: float) -> tuple[LinearSolution, bool]:
        """Run conjugate gradients; return the solution, and False if r.M^-1 r was negative."""
        work, largest = self.work, largest_part(b)
        if not 0.0 < largest < float("inf"):
            x, outcome = kernel.zeros(self.A.n, vec3), Outcome.CONVERGED
            if largest != 0.0:
                return LinearSolution(x, Outcome.NOT_FINITE, 0, float("inf")), True
            return LinearSolution(x, outcome, 0, 0.0), True
        size = 2.0 ** frexp(largest)[1]  # a power of two, so that the division is exact
        work.begin(b, size)
        chain, middle = work.chain(self.A.values)
        # With the energy norm, nothing is checked between a direction and the step along it, so an
        # iteration is one replay.
        ahead = self.stop is Stop.ENERGY

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
