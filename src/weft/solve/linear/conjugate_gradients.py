"""Conjugate gradients with a 3x3 block-Jacobi preconditioner, in three fused kernels per iteration.

Each kernel index owns a chunk of rows and its partial sums, so dot products do not depend on the
number of threads. The solve stops by the energy norm of the error, estimated from the decrease of
the quadratic model over the last iterations (Hestenes & Stiefel 1952; Strakos & Tichy 2002),
because the 2-norm of the residual does not see smooth error.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.kernel import (
    IntArray,
    Mat33Array,
    Recorded,
    Scalar,
    ScalarArray,
    Vec3Array,
    WarpArray,
    mat33,
    vec3,
)
from weft.solve.linear.solver import LinearSolution, Outcome, Stop
from weft.solve.sparse.block_csr import BlockCsr

CHUNK = 64  # rows whose dot products one kernel index sums
CHUNKS_WORTH_SLICING = 100  # below, one thread is as fast (docs/decisions/0002)
DELAY = 12  # iterations over which the decrease of the model is summed

_module = wp.get_module("weft.pcg")


@wp.kernel(module=_module)
def invert_diagonal(o: int, diagonal: IntArray, values: Mat33Array, out: Mat33Array):
    """Invert every diagonal block; a singular one is replaced by its mean diagonal entry."""
    v = o + wp.tid()
    D = values[diagonal[v]]
    scale = wp.trace(D)
    det = wp.determinant(D)
    if wp.abs(det) > Scalar(1e-30) * scale * scale * wp.abs(scale):
        out[v] = wp.inverse(D)
    else:
        out[v] = wp.identity(n=3, dtype=Scalar) / wp.max(scale / Scalar(3.0), Scalar(1e-300))


@wp.kernel(module=_module)
def start(
    o: int,
    n: int,
    chunk: int,
    inverse: Mat33Array,
    b: Vec3Array,
    x: Vec3Array,
    r: Vec3Array,
    p: Vec3Array,
    partial: ScalarArray,
):
    """Set x = 0, r = b and p = P^-1 r, and compute partial sums of r.P^-1 r."""
    c = o + wp.tid()
    sum = Scalar(0.0)
    for v in range(c * chunk, wp.min(n, (c + 1) * chunk)):
        z = inverse[v] * b[v]
        x[v] = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
        r[v] = b[v]
        p[v] = z
        sum += wp.dot(b[v], z)
    partial[c] = sum


@wp.kernel(module=_module)
def multiply(
    o: int,
    n: int,
    chunk: int,
    row_start: IntArray,
    column: IntArray,
    values: Mat33Array,
    p: Vec3Array,
    q: Vec3Array,
    partial: ScalarArray,
):
    """Compute q = A p and partial sums of p.q."""
    c = o + wp.tid()
    sum = Scalar(0.0)
    for v in range(c * chunk, wp.min(n, (c + 1) * chunk)):
        y = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
        for b in range(row_start[v], row_start[v + 1]):
            y += values[b] * p[column[b]]
        q[v] = y
        sum += wp.dot(p[v], y)
    partial[c] = sum


@wp.kernel(module=_module)
def advance(
    o: int,
    n: int,
    chunk: int,
    a: Scalar,
    inverse: Mat33Array,
    p: Vec3Array,
    q: Vec3Array,
    x: Vec3Array,
    r: Vec3Array,
    z: Vec3Array,
    partial: ScalarArray,
):
    """Compute x += a p, r -= a q, z = P^-1 r and partial sums of r.z."""
    c = o + wp.tid()
    rz = Scalar(0.0)
    for v in range(c * chunk, wp.min(n, (c + 1) * chunk)):
        x[v] = x[v] + a * p[v]
        s = r[v] - a * q[v]
        r[v] = s
        y = inverse[v] * s
        z[v] = y
        rz += wp.dot(s, y)
    partial[c] = rz


@wp.kernel(module=_module)
def turn(o: int, n: int, chunk: int, b: Scalar, z: Vec3Array, p: Vec3Array):
    """Compute the next search direction p = z + b p."""
    c = o + wp.tid()
    for v in range(c * chunk, wp.min(n, (c + 1) * chunk)):
        p[v] = z[v] + b * p[v]


@dataclass(frozen=True)
class BlockJacobiPcg:
    """Conjugate gradients, preconditioned by the inverse diagonal blocks.

    Args:
        max_iterations: 0: ten times the number of block rows, at least 500.
        stop: error that the tolerance bounds.
    """

    max_iterations: int = 0
    stop: Stop = Stop.ENERGY

    name = "pcg"
    is_direct = False

    def prepare(self, A: BlockCsr, previous: Any = None) -> "PreparedPcg":
        """Invert the diagonal blocks of A; work arrays of ``previous`` are reused."""
        vectors = (
            previous.vectors
            if isinstance(previous, PreparedPcg) and previous.A.pattern is A.pattern
            else PcgVectors(A.n)
        )
        kernel.launch(invert_diagonal, A.n, A.pattern.device_diagonal, A.values, vectors.inverse)
        return PreparedPcg(A, vectors, self.max_iterations or max(500, 10 * A.n), self.stop)


class EnergyError:
    """Estimate of the relative error in the energy norm, from the decrease of the quadratic model.

    The squared error ``delay`` iterations ago is at least the sum of the gains since then (Hestenes
    & Stiefel 1952; Strakos & Tichy 2002). The estimate is infinite during the first iterations.
    """

    def __init__(self, delay: int) -> None:
        self._recent: deque[float] = deque(maxlen=delay)
        self._total = 0.0

    def after(self, gain: float) -> float:
        """Return the estimate after an iteration.

        Args:
            gain: a_j (r_j.z_j), twice the decrease of the quadratic model.
        """
        self._recent.append(gain)
        self._total += gain
        if len(self._recent) < (self._recent.maxlen or 1):
            return float("inf")
        return float((sum(self._recent) / self._total) ** 0.5)


@dataclass(eq=False)
class PcgVectors:
    """Work arrays of the solver, shared by all matrices of one pattern."""

    n: int

    def __post_init__(self) -> None:
        self.chunks = -(-self.n // CHUNK)
        self.inverse = kernel.empty(self.n, mat33)
        self.r, self.z, self.p, self.q = (kernel.empty(self.n, vec3) for _ in range(4))
        self.p_dot_q, self.r_dot_z = (kernel.empty(self.chunks) for _ in range(2))


@dataclass(frozen=True, eq=False)
class PreparedPcg:
    """Matrix with its block-Jacobi preconditioner."""

    A: BlockCsr
    vectors: PcgVectors
    max_iterations: int
    stop: Stop = Stop.ENERGY

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b from x = 0.

        ``residual`` is the error that ``stop`` names; the solve ends when it is at most
        ``tolerance``. The outcome is INDEFINITE if p.Ap <= 0, with x from before that iteration.
        """
        v, n, A = self.vectors, self.A.n, self.A
        x = kernel.empty(n, vec3)
        size = (n, CHUNK)
        kernel.launch(start, v.chunks, *size, v.inverse, b, x, v.r, v.p, v.r_dot_z)
        p_dot_q, r_dot_z = _sum(v.p_dot_q), _sum(v.r_dot_z)
        rz = r_dot_z()
        if rz == 0.0:
            return LinearSolution(x, Outcome.CONVERGED, 0, 0.0)
        if rz < 0.0:
            return LinearSolution(x, Outcome.INDEFINITE, 0, float("inf"))
        if not np.isfinite(rz):
            return LinearSolution(x, Outcome.NOT_FINITE, 0, float("inf"))
        sliced = {"slice_above": CHUNKS_WORTH_SLICING}
        pattern = A.pattern
        rows = (pattern.device_row_start, pattern.device_column, A.values)
        product = Recorded(multiply, v.chunks, *size, *rows, v.p, v.q, v.p_dot_q, **sliced)
        update = Recorded(
            advance, v.chunks, *(*size, 0.0, v.inverse, v.p, v.q, x, v.r, v.z, v.r_dot_z), **sliced
        )
        direction = Recorded(turn, v.chunks, *size, 0.0, v.z, v.p, **sliced)
        estimate, error = EnergyError(DELAY), 1.0
        # r.P^-1 r is a square, so eps^2 of its first value is round-off.
        first, smallest = rz, np.finfo(np.float64).eps ** 2
        for iteration in range(1, self.max_iterations + 1):
            product.launch()
            curvature = p_dot_q()
            if not curvature > 0.0:
                outcome = Outcome.INDEFINITE if np.isfinite(curvature) else Outcome.NOT_FINITE
                return LinearSolution(x, outcome, iteration, error)
            a = rz / curvature
            update.set(2, a)
            update.launch()
            error = estimate.after(a * rz)
            rz_new = r_dot_z()
            if rz_new < 0.0:  # a diagonal block is indefinite, so the matrix is
                return LinearSolution(x, Outcome.INDEFINITE, iteration, error)
            if self.stop is Stop.PRECONDITIONED:
                error = (rz_new / first) ** 0.5
            if rz_new <= smallest * first or error <= tolerance:
                return LinearSolution(x, Outcome.CONVERGED, iteration, error)
            direction.set(2, rz_new / rz)
            direction.launch()
            rz = rz_new
        return LinearSolution(x, Outcome.MAX_ITERATIONS, self.max_iterations, error)


def _sum(a: WarpArray) -> Callable[[], float]:
    """Return a function that sums a device array; on the CPU it reads a view created once."""
    if kernel.is_cpu():
        view = a.numpy()
        return lambda: float(view.sum())
    return lambda: kernel.total(a)
