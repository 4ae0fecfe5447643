"""Pull a matrix of vertices back to the points that move them: A + W^T H W for y = W x.

H is the matrix of the vertices, A that of the points, and W has the weights of the points in the
vertices. The product is multiplied out in two steps, H W by vertex and W^T (H W) by point, because
a row of H W is shared by all points that move its vertex. Which blocks there are is found by SciPy
for sparse matrices of ones, once for two patterns.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.kernel import IntArray, Scalar, WarpArray, mat33
from weft.solve.sparse.block_csr import (
    BlockCsr,
    BlockPattern,
    BlockRows,
    block_at,
    clear_row,
)
from weft.solve.sparse.scalar_csr import ScalarCsr, ScalarRows

_module = wp.get_module("weft.pull_back")


@wp.kernel(module=_module)
def multiply_by_weights(o: int, used: IntArray, H: BlockRows, W: ScalarRows, out: BlockRows):
    """Compute row i of H W; if ``used`` is not empty, only of the vertices that it marks."""
    i = o + wp.tid()
    needed = int(1)
    if used.shape[0] > 0:
        needed = used[i]
    if needed != 0:
        low = out.start[i]
        high = out.start[i + 1]
        for b in range(low, high):
            out.values[b] = mat33(Scalar(0.0))
        for b in range(H.start[i], H.start[i + 1]):
            t = H.column[b]
            block = H.values[b]
            for a in range(W.start[t], W.start[t + 1]):
                at = block_at(out.column, low, high, W.column[a])
                out.values[at] = out.values[at] + W.value[a] * block


@wp.kernel(module=_module)
def add_pulled_rows(
    o: int, used: IntArray, transposed: ScalarRows, HW: BlockRows, clear: int, A: BlockRows
):
    """Add sum_i W_iv (row i of H W) to row v of A, for the used vertices i that point v moves."""
    v = o + wp.tid()
    clear_row(v, A.start, clear, A.values)
    low = A.start[v]
    high = A.start[v + 1]
    for m in range(transposed.start[v], transposed.start[v + 1]):
        i = transposed.column[m]
        needed = int(1)
        if used.shape[0] > 0:
            needed = used[i]
        if needed != 0:
            w = transposed.value[m]
            for b in range(HW.start[i], HW.start[i + 1]):
                at = block_at(A.column, low, high, HW.column[b])
                A.values[at] = A.values[at] + w * HW.values[b]


@dataclass(frozen=True, eq=False)
class Interpolation:
    """Vertices as weighted sums of points, y = W x, on the device."""

    matrix: sp.csr_matrix  # (n,N) SciPy CSR matrix of the weights W

    @cached_property
    def rows(self) -> ScalarCsr:
        """Return W."""
        return ScalarCsr.of(self.matrix)

    @cached_property
    def transposed(self) -> ScalarCsr:
        """Return W^T."""
        return ScalarCsr.of(self.matrix.T.tocsr())

    def to_vertices(self, x: WarpArray, out: WarpArray) -> None:
        """Write W x to the first n entries of ``out``, for points x (N,) vec3."""
        self.rows.multiply(x, out)

    def pull_back(self, g: WarpArray, out: WarpArray) -> None:
        """Add W^T g to ``out`` (N,) vec3, for a gradient g by the vertices (n,) vec3."""
        self.transposed.multiply(g, out, add=True)


@dataclass(frozen=True, eq=False)
class PullBack:
    """Products W^T H W for one pattern of H, added to matrices on one pattern."""

    interpolation: Interpolation
    source: BlockPattern  # of H
    target: BlockPattern  # of the sum; it has all blocks of W^T H W
    product: BlockRows  # H W, its values are overwritten

    @staticmethod
    def of(interpolation: Interpolation, source: BlockPattern, target: BlockPattern) -> "PullBack":
        """Prepare products for the pattern ``source`` of H.

        Args:
            interpolation: the weights W (n,N).
            source: pattern of the n vertices.
            target: pattern of the N points, with all blocks of W^T H W.
        """
        return PullBack(interpolation, source, target, _product(interpolation, source)[0])

    @staticmethod
    def extending(
        interpolation: Interpolation, source: BlockPattern, base: BlockPattern
    ) -> "PullBack":
        """Prepare products for a pattern of the points ``base``, extended by the blocks of W^T H W;
        arguments as for ``of``.
        """
        product, HW = _product(interpolation, source)
        C = (_ones(interpolation.matrix).T @ HW + _ones_of(base)).tocsr()
        C.sort_indices()
        starts, columns = C.indptr.astype(np.int32), C.indices.astype(np.int32)
        target = BlockPattern(base.n, starts, columns, base=base)
        return PullBack(interpolation, source, target, product)

    def add(self, H: BlockCsr, A: BlockCsr, used: WarpArray | None = None) -> None:
        """Add W^T H W to A.

        Args:
            H: matrix on the pattern ``source``.
            A: matrix on the pattern ``target``.
            used: (n,) int32, 0 for vertices whose rows of H are zero; None: all rows are used.
        """
        used = kernel.empty(0, wp.int32) if used is None else used
        W, clear = self.interpolation, A.claim()
        kernel.launch(multiply_by_weights, H.n, used, H.rows, W.rows.rows, self.product)
        kernel.launch(add_pulled_rows, A.n, used, W.transposed.rows, self.product, clear, A.rows)


def _product(interpolation: Interpolation, source: BlockPattern) -> tuple[BlockRows, sp.csr_matrix]:
    """Return H W without values for a pattern of H, on the device and as a SciPy matrix."""
    HW = (_ones_of(source) @ _ones(interpolation.matrix)).tocsr()
    HW.sort_indices()
    out = BlockRows()
    out.start = kernel.array(HW.indptr.astype(np.int32), wp.int32)
    out.column = kernel.array(HW.indices.astype(np.int32), wp.int32)
    out.values = kernel.empty(HW.nnz, mat33)
    return out, HW


def _ones(W: sp.csr_matrix) -> sp.csr_matrix:
    """Return the weights as a sparse matrix of ones."""
    return sp.csr_matrix((np.ones(W.nnz, np.int32), W.indices, W.indptr), shape=W.shape)


def _ones_of(pattern: BlockPattern) -> sp.csr_matrix:
    """Return a pattern as a sparse matrix of ones."""
    ones = np.ones(pattern.n_blocks, np.int32)
    return sp.csr_matrix((ones, pattern.column, pattern.row_start), shape=(pattern.n, pattern.n))
