"""Conjugate gradients, preconditioned by the inverses of the 3x3 diagonal blocks (block Jacobi)."""

import weakref
from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.kernel import (
    IntArray,
    Mat33Array,
    Recorded,
    Scalar,
    Vec3Array,
    WarpArray,
    mat33,
)
from weft.solve.linear.conjugate_gradients import ConjugateGradients
from weft.solve.linear.solver import LinearSolution, PreparedSolver, Stop
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

DELAY = 12  # iterations over which the decrease of the model is summed

_module = wp.get_module("weft.block_jacobi")


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
def list_blocks(
    o: int,
    start: IntArray,
    column: IntArray,
    values: Mat33Array,
    end: IntArray,
    columns: IntArray,
    index: IntArray,
):
    """List the blocks of a row that are not zero: their columns, and their places in ``values``.

    Rows are summed in two parts, alternately. Blocks of zeros, which a pattern keeps of earlier
    contacts, would move the others between the parts and change the last bits of the sum.
    """
    v = o + wp.tid()
    to = start[v]
    for b in range(start[v], start[v + 1]):
        D = values[b]
        numbers = int(0)
        for i in range(3):
            for j in range(3):
                if D[i, j] != Scalar(0.0):  # NaN as well
                    numbers += 1
        if numbers > 0:
            columns[to] = column[b]
            index[to] = b
            to += 1
    end[v] = to


@wp.kernel(module=_module)
def multiply_diagonal(o: int, inverse: Mat33Array, r: Vec3Array, z: Vec3Array):
    """Compute z = D^-1 r."""
    v = o + wp.tid()
    z[v] = inverse[v] * r[v]


@dataclass(frozen=True)
class BlockJacobiPcg:
    """Linear solver: conjugate gradients, preconditioned by the inverse diagonal blocks.

    Args:
        max_iterations: 0: ten times the number of block rows, at least 500.
        stop: error that the tolerance bounds.
    """

    max_iterations: int = 0
    stop: Stop = Stop.ENERGY

    name = "pcg"
    is_direct = False

    def prepare(self, A: BlockCsr, previous: PreparedSolver | None = None) -> "PreparedPcg":
        """Invert the diagonal blocks of A and list the blocks that are not zero.

        Work arrays of ``previous`` are reused.
        """
        p = A.pattern
        same = isinstance(previous, PreparedPcg) and previous.A.pattern is p
        work = previous.work if isinstance(previous, PreparedPcg) and same else PcgWork(p)
        kernel.launch(invert_diagonal, A.n, p.device_diagonal, A.values, work.inverse)
        kernel.launch(list_blocks, A.n, p.device_row_start, p.device_column, A.values, *work.blocks)
        return PreparedPcg(A, work, self.max_iterations or max(500, 10 * A.n), self.stop)


class PcgWork:
    """Inverse diagonal blocks and conjugate gradients, shared by all matrices of a pattern."""

    def __init__(self, pattern: BlockPattern) -> None:
        self.inverse, self.usable = kernel.empty(pattern.n, mat33), kernel.zeros(1, wp.int32)
        self.usable.fill_(1)
        work = pattern.n_blocks / max(pattern.n, 1)
        sizes = (pattern.n, pattern.n_blocks, pattern.n_blocks)
        self.blocks = tuple(kernel.empty(size, wp.int32) for size in sizes)  # of ``list_blocks``
        rows = (pattern.device_row_start[:-1], *self.blocks)
        self.iterations = ConjugateGradients(rows, weakref.proxy(self), DELAY, work)

    def precondition(self, r: WarpArray, z: WarpArray) -> list[Recorded]:
        """Record the launch that computes z = D^-1 r."""
        return [Recorded(multiply_diagonal, r.shape[0], self.inverse, r, z)]


@dataclass(frozen=True, eq=False)
class PreparedPcg:
    """Matrix with its block-Jacobi preconditioner."""

    A: BlockCsr
    work: PcgWork
    max_iterations: int
    stop: Stop = Stop.ENERGY

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b from x = 0; see ``ConjugateGradients.solve``."""
        settings = (tolerance, self.max_iterations, self.stop)
        return self.work.iterations.solve(self.A.values, b, *settings)[0]
