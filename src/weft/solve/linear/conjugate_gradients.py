"""Preconditioned conjugate gradients whose scalars stay on the device.

One loop serves every preconditioner: a preconditioner is a list of launches that compute z = M^-1 r
(``block_jacobi``, ``multigrid``). A solve is a recorded loop (``kernel.RecordedLoop``), which is
one captured graph on CUDA. Step lengths, the stop test and the outcome are computed by kernels of
one thread; the host reads them once, when the solve has ended.

The right-hand side is divided by a power of two near its norm. The division is exact, and
residuals fit the range of preconditioners in float32. Dot products are sums over blocks of rows
(``kernel.granularity``), so they do not depend on the number of threads.

The solve stops by the energy norm of the error, estimated from the decrease of the quadratic model
over the last iterations, because the 2-norm of the residual does not see smooth error. The squared
error ``delay`` iterations ago is at least the sum of the decreases since then (Hestenes & Stiefel
1952; Strakos & Tichy 2002).
"""

import enum
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
import warp as wp

from weft import kernel
from weft.kernel import (
    IntArray,
    Kernel,
    Mat33Array,
    Recorded,
    RecordedLoop,
    Scalar,
    ScalarArray,
    Vec3Array,
    WarpArray,
    vec3,
)
from weft.solve.linear.solver import LinearSolution, Outcome, Stop
from weft.solve.sparse.block_arithmetic import row_times_double

_VALUES = 4  # position of the matrix values among the arguments of the kernel ``multiply``

_module = wp.get_module("weft.conjugate_gradients")

# r.M^-1 r is a square, so eps^2 of its first value is round-off.
ROUND_OFF = wp.constant(wp.float64(np.finfo(np.float64).eps ** 2))


class Number(enum.IntEnum):
    """Numbers of a solve, by their index in an array on the device."""

    TOLERANCE = 0  # of the error
    MOST = 1  # iterations
    BY_ENERGY = 2  # 1: the error is measured in the energy norm
    SIZE = 3  # by which the right-hand side is divided
    R_DOT_Z = 4
    FIRST = 5  # r.z of the first iteration
    FACTOR = 6  # on the last direction
    LENGTH = 7  # of the step along the direction
    TOTAL = 8  # sum of all gains, which are twice the decreases of the quadratic model
    ITERATION = 9
    ERROR = 10
    END = 11  # a value of ``End``


class End(enum.IntEnum):
    """Ends of a solve."""

    NOT_YET = 0
    CONVERGED = 1
    MAX_ITERATIONS = 2
    NOT_FINITE = 3
    INDEFINITE_MATRIX = 4
    INDEFINITE_PRECONDITIONER = 5
    NO_PRECONDITIONER = 6


OUTCOMES = {
    End.CONVERGED: Outcome.CONVERGED,
    End.MAX_ITERATIONS: Outcome.MAX_ITERATIONS,
    End.NOT_FINITE: Outcome.NOT_FINITE,
    End.INDEFINITE_MATRIX: Outcome.INDEFINITE,
    End.INDEFINITE_PRECONDITIONER: Outcome.INDEFINITE,
    End.NO_PRECONDITIONER: Outcome.INDEFINITE,
}


@wp.struct
class Rows:
    """Rows of a matrix of 3x3 blocks, each with a start and an end of its own."""

    start: IntArray  # (n,) first entry of each row
    end: IntArray  # (n,) entry after the last one of each row
    column: IntArray  # of each entry
    index: IntArray  # of each entry: its block in the values of the matrix


@wp.struct
class Vectors:
    """Vectors of conjugate gradients, (n,) each."""

    x: Vec3Array  # the solution
    r: Vec3Array  # the residual b - A x
    z: Vec3Array  # M^-1 r
    p: Vec3Array  # the search direction
    q: Vec3Array  # A p


@wp.kernel(module=_module)
def begin(o: int, tolerance: Scalar, most: int, by_energy: int, numbers: ScalarArray):
    """Store the settings of a solve, and reset its numbers."""
    for k in range(o, numbers.shape[0]):
        numbers[k] = Scalar(0.0)
    numbers[Number.TOLERANCE] = tolerance
    numbers[Number.MOST] = Scalar(most)
    numbers[Number.BY_ENERGY] = Scalar(by_energy)
    numbers[Number.ERROR] = Scalar(1.0)


@wp.func
def end_loop(how: int, iterations: Scalar, numbers: ScalarArray, go: IntArray):
    """End the loop with an outcome."""
    numbers[Number.END] = Scalar(how)
    numbers[Number.ITERATION] = iterations
    go[0] = 0


@wp.func
def sum_range(values: ScalarArray, first: int, last: int):
    """Return the sum of a range of numbers, added in ascending order."""
    sum = Scalar(0.0)
    for k in range(first, last):
        sum += values[k]
    return sum


@wp.kernel(module=_module)
def sum_blocks(o: int, n: int, width: int, values: ScalarArray, out: ScalarArray):
    """Sum each block of ``width`` numbers in ascending order."""
    c = o + wp.tid()
    out[c] = sum_range(values, c * width, wp.min(n, (c + 1) * width))


@wp.kernel(module=_module)
def dot_products(o: int, n: int, width: int, a: Vec3Array, b: Vec3Array, partial: ScalarArray):
    """Compute the sum of a.b over each block of ``width`` rows."""
    c = o + wp.tid()
    sum = Scalar(0.0)
    for v in range(c * width, wp.min(n, (c + 1) * width)):
        sum += wp.dot(a[v], b[v])
    partial[c] = sum


@wp.kernel(module=_module)
def choose_size(o: int, partial: ScalarArray, usable: IntArray, numbers: ScalarArray, go: IntArray):
    """Compute the power of two by which b is divided; b = 0 is solved by x = 0."""
    square = sum_range(partial, o, partial.shape[0])
    size = Scalar(1.0)
    go[0] = 1
    if square == Scalar(0.0):
        numbers[Number.ERROR] = Scalar(0.0)
        end_loop(End.CONVERGED, Scalar(0.0), numbers, go)
    elif not wp.isfinite(square):
        numbers[Number.ERROR] = Scalar(wp.inf)
        end_loop(End.NOT_FINITE, Scalar(0.0), numbers, go)
    else:
        norm = wp.sqrt(square)
        while size <= norm:
            size *= Scalar(2.0)
        while Scalar(0.5) * size > norm:
            size *= Scalar(0.5)
    numbers[Number.SIZE] = size
    if go[0] == 1 and usable[0] == 0:
        end_loop(End.NO_PRECONDITIONER, Scalar(0.0), numbers, go)


@wp.kernel(module=_module)
def start(o: int, numbers: ScalarArray, s: Vectors):
    """Set x = 0, divide the residual (which is b) by the size, and set p = 0."""
    v = o + wp.tid()
    zero = vec3(Scalar(0.0))
    s.x[v] = zero
    s.p[v] = zero
    s.r[v] = (Scalar(1.0) / numbers[Number.SIZE]) * s.r[v]


@wp.kernel(module=_module)
def next_direction(o: int, partial: ScalarArray, numbers: ScalarArray, go: IntArray):
    """Compute r.z and the factor on the last direction, which is 0 in the first iteration."""
    before = numbers[Number.R_DOT_Z]
    rz = sum_range(partial, o, partial.shape[0])
    numbers[Number.R_DOT_Z] = rz
    numbers[Number.FACTOR] = Scalar(0.0)
    if numbers[Number.ITERATION] == Scalar(0.0):
        numbers[Number.FIRST] = rz
        return
    numbers[Number.FACTOR] = rz / before
    first = numbers[Number.FIRST]
    stops = wp.abs(rz) <= ROUND_OFF * first
    if numbers[Number.BY_ENERGY] == Scalar(0.0):
        numbers[Number.ERROR] = wp.sqrt(wp.max(rz, Scalar(0.0)) / first)
        stops = stops or (rz > Scalar(0.0) and numbers[Number.ERROR] <= numbers[Number.TOLERANCE])
    if stops:
        end_loop(End.CONVERGED, numbers[Number.ITERATION], numbers, go)


@wp.kernel(module=_module)
def turn(o: int, numbers: ScalarArray, s: Vectors):
    """Compute the direction p = z + factor p."""
    v = o + wp.tid()
    s.p[v] = s.z[v] + numbers[Number.FACTOR] * s.p[v]


@wp.kernel(module=_module)
def multiply(
    o: int,
    n: int,
    width: int,
    go: IntArray,
    A: Rows,
    values: Mat33Array,
    s: Vectors,
    partial: ScalarArray,
):
    """Compute q = A p, and the sum of p.q over each block of ``width`` rows."""
    c = o + wp.tid()
    if go[0] == 0:
        return
    sum = Scalar(0.0)
    for v in range(c * width, wp.min(n, (c + 1) * width)):
        y = row_times_double(A.start[v], A.end[v], A.column, A.index, values, s.p)
        s.q[v] = y
        sum += wp.dot(s.p[v], y)
    partial[c] = sum


@wp.kernel(module=_module)
def next_step(o: int, partial: ScalarArray, gains: ScalarArray, numbers: ScalarArray, go: IntArray):
    """Compute the step length along p, and end the loop if this step is the last one.

    The step length is 0 if the matrix or the preconditioner is not positive definite.
    """
    numbers[Number.LENGTH] = Scalar(0.0)
    if go[0] == 0:
        return
    curvature = sum_range(partial, o, partial.shape[0])
    rz = numbers[Number.R_DOT_Z]
    iteration = numbers[Number.ITERATION] + Scalar(1.0)
    numbers[Number.ITERATION] = iteration
    if not (wp.isfinite(curvature) and wp.isfinite(rz)):
        end_loop(End.NOT_FINITE, iteration, numbers, go)
    elif curvature <= Scalar(0.0):
        end_loop(End.INDEFINITE_MATRIX, iteration, numbers, go)
    elif rz <= Scalar(0.0):
        end_loop(End.INDEFINITE_PRECONDITIONER, iteration, numbers, go)
    else:
        numbers[Number.LENGTH] = rz / curvature
        gain = numbers[Number.LENGTH] * rz
        numbers[Number.TOTAL] = numbers[Number.TOTAL] + gain
        delay = gains.shape[0]
        k = int(iteration)
        gains[(k - 1) % delay] = gain
        if numbers[Number.BY_ENERGY] != Scalar(0.0) and k >= delay:
            recent = Scalar(0.0)
            for i in range(delay):  # the oldest first
                recent += gains[(k + i) % delay]
            numbers[Number.ERROR] = wp.sqrt(recent / numbers[Number.TOTAL])
            if numbers[Number.ERROR] <= numbers[Number.TOLERANCE]:
                end_loop(End.CONVERGED, iteration, numbers, go)
        if go[0] == 1 and iteration >= numbers[Number.MOST]:
            end_loop(End.MAX_ITERATIONS, iteration, numbers, go)


@wp.kernel(module=_module)
def descend(o: int, numbers: ScalarArray, s: Vectors):
    """Move x by length p, and r by -length q."""
    v = o + wp.tid()
    length = numbers[Number.LENGTH]
    if length != Scalar(0.0):
        s.x[v] = s.x[v] + length * s.p[v]
        s.r[v] = s.r[v] - length * s.q[v]


@wp.kernel(module=_module)
def finish(o: int, numbers: ScalarArray, s: Vectors):
    """Multiply the solution by the size."""
    v = o + wp.tid()
    s.x[v] = numbers[Number.SIZE] * s.x[v]


class Preconditioner(Protocol):
    """Interface of a preconditioner M, symmetric and positive definite."""

    usable: WarpArray  # (1,) int32: 0 if there is no preconditioner for the matrix

    def precondition(self, r: WarpArray, z: WarpArray) -> Sequence[Recorded]:
        """Record the launches that compute z = M^-1 r, (n,) vec3 each."""


class ConjugateGradients:
    """Solver for matrices of one pattern with one preconditioner.

    Args:
        rows: of the matrix: (n,) first entry of each row, (n,) entry after its last one; of each
            entry, its column, and its block in the values of the matrix.
        preconditioner: the preconditioner.
        delay: iterations over which the decrease of the quadratic model is summed; few are enough
            for a good preconditioner.
        work: number of entries of a row of the matrix.
    """

    def __init__(
        self,
        rows: Sequence[WarpArray],
        preconditioner: Preconditioner,
        delay: int,
        work: float,
    ) -> None:
        self.n, self._width = int(rows[0].shape[0]), kernel.rows_per_index()
        self._work = (work + 1) * self._width  # 1: the row's own numbers
        self.rows, self.vectors = Rows(), Vectors()
        self.rows.start, self.rows.end, self.rows.column, self.rows.index = rows
        for name in ("x", "r", "z", "p", "q"):
            setattr(self.vectors, name, kernel.empty(self.n, vec3))
        self.numbers, self._gains = kernel.empty(len(Number)), kernel.empty(delay)
        self._go, self._preconditioner = kernel.empty(1, wp.int32), preconditioner

    def solve(
        self, values: WarpArray, b: WarpArray, tolerance: float, most: int, stop: Stop
    ) -> tuple[LinearSolution, End]:
        """Solve A x = b from x = 0.

        ``residual`` of the solution is the error that ``stop`` names; the solve ends when it is at
        most ``tolerance``. The outcome is INDEFINITE if p.A p or r.M^-1 r is not positive, with x
        from before that iteration.

        Args:
            values: (k,) mat33 blocks of A.
            b: (n,) vec3 right-hand side.
            tolerance: largest relative error.
            most: largest number of iterations.
            stop: error that the tolerance bounds.

        Returns:
            The solution, and how the solve ended.
        """
        loop = self.loop
        for k, value in enumerate((tolerance, most, int(stop is Stop.ENERGY))):
            loop.set(self._settings, k, value)
        loop.set(self.product, _VALUES, values)
        kernel.copy(b, self.vectors.r)
        loop.run()
        x = kernel.empty(self.n, vec3)
        kernel.copy(self.vectors.x, x)
        numbers = kernel.scalars(self.numbers)
        how = End(int(numbers[Number.END]))
        iterations, error = int(numbers[Number.ITERATION]), float(numbers[Number.ERROR])
        return LinearSolution(x, OUTCOMES[how], iterations, error), how

    @cached_property
    def loop(self) -> RecordedLoop:
        """The launches of a solve; those of an iteration are repeated until it has ended."""
        n, v, numbers, go = self.n, self.vectors, self.numbers, self._go
        before = [
            self._settings,
            *self._dot_product(v.r, v.r, choose_size, self._preconditioner.usable, numbers, go),
            Recorded(start, n, numbers, v),
        ]
        iteration = [
            *self._preconditioner.precondition(v.r, v.z),
            *self._dot_product(v.r, v.z, next_direction, numbers, go),
            Recorded(turn, n, numbers, v),
            self.product,
            *self._sum(self._partial, next_step, self._gains, numbers, go),
            Recorded(descend, n, numbers, v),
        ]
        return RecordedLoop(before, iteration, [Recorded(finish, n, numbers, v)], go)

    @cached_property
    def _settings(self) -> Recorded:
        """Launch that stores the settings of a solve."""
        return Recorded(begin, 1, 0.0, 0, 0, self.numbers)

    @cached_property
    def _partial(self) -> WarpArray:
        """Sums over blocks of rows."""
        return kernel.empty(-(-self.n // self._width))

    @cached_property
    def product(self) -> Recorded:
        """Launch that multiplies the matrix by the direction."""
        own = (self.n, self._width, self._go, self.rows, None, self.vectors, self._partial)
        return Recorded(multiply, self._partial.shape[0], *own, work=self._work)

    def _dot_product(
        self, a: WarpArray, b: WarpArray, use: Kernel, *args: WarpArray
    ) -> Iterator[Recorded]:
        """Record the launches that compute a.b and give it to the kernel ``use``."""
        own = (self.n, self._width, a, b, self._partial)
        yield Recorded(dot_products, self._partial.shape[0], *own, work=self._work)
        yield from self._sum(self._partial, use, *args)

    def _sum(self, partial: WarpArray, use: Kernel, *args: WarpArray) -> Iterator[Recorded]:
        """Record the launches that sum ``partial``, then the kernel ``use`` that takes the sum.

        While there are more numbers than one thread sums, they are first summed in blocks.
        """
        while partial.shape[0] > kernel.numbers_per_sum():
            n = partial.shape[0]
            fewer = kernel.empty(-(-n // kernel.ROWS))
            yield Recorded(sum_blocks, fewer.shape[0], n, kernel.ROWS, partial, fewer)
            partial = fewer
        yield Recorded(use, 1, partial, *args)
