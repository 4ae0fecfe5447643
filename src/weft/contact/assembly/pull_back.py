"""Pull the contact matrix of a surface's vertices back to the points that move the surface.

The result is A + W^T H W, with A the matrix of the points, H that of the vertices, and W the
weights of the points in the vertices.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.contact.assembly.contact_matrix import copy_blocks, place_of
from weft.discretization.embedding import Embedding
from weft.kernel import IntArray, Mat33Array, Scalar, ScalarArray, WarpArray, mat33
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern
from weft.solve.sparse.scalar_csr import ScalarCsr

_module = wp.get_module("weft.galerkin")


@wp.kernel(module=_module)
def mark_touching(o: int, start: IntArray, touches: IntArray):
    """Mark the vertices that belong to a pair."""
    i = o + wp.tid()
    if start[i + 1] > start[i]:
        touches[i] = 1


@wp.kernel(module=_module)
def multiply_by_weights(
    o: int,
    touches: IntArray,
    row_start: IntArray,
    column: IntArray,
    H: Mat33Array,
    w_start: IntArray,
    w_column: IntArray,
    weight: ScalarArray,
    out_start: IntArray,
    out_column: IntArray,
    out: Mat33Array,
):
    """Compute row i of H W if vertex i belongs to a pair."""
    i = o + wp.tid()
    if touches[i] != 0:
        low = out_start[i]
        high = out_start[i + 1]
        for b in range(low, high):
            out[b] = mat33(Scalar(0.0))
        for b in range(row_start[i], row_start[i + 1]):
            t = column[b]
            block = H[b]
            for a in range(w_start[t], w_start[t + 1]):
                at = place_of(out_column, low, high, w_column[a])
                out[at] = out[at] + weight[a] * block


@wp.kernel(module=_module)
def add_pulled_rows(
    o: int,
    touches: IntArray,
    t_start: IntArray,
    t_column: IntArray,
    t_weight: ScalarArray,
    hw_start: IntArray,
    hw_column: IntArray,
    hw: Mat33Array,
    row_start: IntArray,
    column: IntArray,
    values: Mat33Array,
):
    """Add sum_i W_iv (row i of H W) to row v, for the vertices i that point v moves."""
    v = o + wp.tid()
    low = row_start[v]
    high = row_start[v + 1]
    for m in range(t_start[v], t_start[v + 1]):
        i = t_column[m]
        if touches[i] != 0:
            w = t_weight[m]
            for b in range(hw_start[i], hw_start[i + 1]):
                at = place_of(column, low, high, hw_column[b])
                values[at] = values[at] + w * hw[b]


@dataclass(frozen=True, eq=False)
class DeviceWeights:
    """The weights W and their transpose on the device."""

    embedding: Embedding

    @cached_property
    def rows(self) -> ScalarCsr:
        """Return W."""
        return ScalarCsr.of(self.embedding.matrix)

    @cached_property
    def transposed(self) -> ScalarCsr:
        """Return W^T."""
        return ScalarCsr.of(self.embedding.matrix.T.tocsr())

    @cached_property
    def nothing(self) -> BlockCsr:
        """Return the matrix of the vertices without contacts, which is zero and is never written
        to.
        """
        return BlockCsr.zeros(BlockPattern.of(len(self.embedding), []))

    def to_surface(self, x: WarpArray, out: WarpArray) -> None:
        """Compute out = W x for x (N,) vec3."""
        self.rows.multiply(x, out)

    def pull_back(self, g: WarpArray, out: WarpArray) -> None:
        """Add W^T g to ``out``, for g (n,) vec3."""
        self.transposed.multiply(g, out, add=True)


@dataclass(frozen=True, eq=False)
class PulledPattern:
    """The pattern of A + W^T H W for one pattern of A and one of H."""

    elastic: BlockPattern  # of A
    surface: BlockPattern  # of H
    matrix: BlockCsr  # the result, its values are overwritten
    source: WarpArray  # (b,) int32 block of A for each block, or -1
    hw_start: WarpArray  # (n+1,) int32 row starts of H W
    hw_column: WarpArray  # (k,) int32 columns of H W
    hw: WarpArray  # values of H W

    @staticmethod
    def of(elastic: BlockPattern, surface: BlockPattern, weights: DeviceWeights) -> "PulledPattern":
        """Compute the pattern with SciPy's products of sparse matrices of ones."""
        W = weights.embedding.matrix
        P = sp.csr_matrix((np.ones(W.nnz, np.int32), W.indices, W.indptr), shape=W.shape)
        S = _ones(surface)
        HW = (S @ P).tocsr()
        HW.sort_indices()
        own = _ones(elastic)
        C = (P.T @ HW + own).tocsr()
        C.sort_indices()
        starts, columns = C.indptr.astype(np.int32), C.indices.astype(np.int32)
        pattern = BlockPattern(elastic.n, starts, columns, base=elastic)
        rows = np.repeat(np.arange(elastic.n, dtype=np.int32), np.diff(elastic.row_start))
        source = np.full(pattern.n_blocks, -1, dtype=np.int32)
        source[pattern.find(rows, elastic.column)] = np.arange(elastic.n_blocks)
        return PulledPattern(
            elastic,
            surface,
            BlockCsr.zeros(pattern),
            kernel.array(source, wp.int32),
            kernel.array(HW.indptr.astype(np.int32), wp.int32),
            kernel.array(HW.indices.astype(np.int32), wp.int32),
            kernel.empty(HW.nnz, mat33),
        )

    def add(self, A: BlockCsr, H: BlockCsr, touches: WarpArray, weights: DeviceWeights) -> BlockCsr:
        """Return A + W^T H W in ``matrix``; only rows of H that ``touches`` (n,) marks are used,
        the others are zero.
        """
        p, out = self.matrix.pattern, self.matrix
        kernel.launch(copy_blocks, p.n_blocks, self.source, A.values, out.values)
        h = H.pattern
        rows = (h.device_row_start, h.device_column, H.values)
        to = (self.hw_start, self.hw_column, self.hw)
        kernel.launch(multiply_by_weights, h.n, touches, *rows, *weights.rows.arrays, *to)
        own = (p.device_row_start, p.device_column, out.values)
        kernel.launch(add_pulled_rows, p.n, touches, *weights.transposed.arrays, *to, *own)
        return BlockCsr(p, out.values)


def _ones(pattern: BlockPattern) -> sp.csr_matrix:
    """Return a pattern as a sparse matrix of ones."""
    ones = np.ones(pattern.n_blocks, np.int32)
    return sp.csr_matrix((ones, pattern.column, pattern.row_start), shape=(pattern.n, pattern.n))
