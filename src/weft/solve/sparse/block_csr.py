"""Square sparse matrices of 3x3 blocks in compressed rows, over a pattern that does not change."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import warp as wp
from numpy.typing import NDArray

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Ints
from weft.kernel import IntArray, Mat33Array, Scalar, ScalarArray, Vec3Array, WarpArray, mat33, vec3


@wp.struct
class BlockRows:
    """A matrix of 3x3 blocks in the form that kernels take."""

    start: IntArray  # (n+1,) first block of each row
    column: IntArray  # (b,) column of each block, ascending within a row
    values: Mat33Array  # (b,)


@dataclass(frozen=True, eq=False)
class BlockPattern:
    """Pattern of a block matrix: the 3x3 blocks that are stored.

    All diagonal blocks are stored, and columns ascend within a row.
    """

    n: int  # rows of blocks
    row_start: Ints  # (n+1,)
    column: Ints  # (b,)
    near: "BlockPattern | None" = None  # blocks of neighbors on the surface; None: all blocks
    # Pattern that this one extends by more blocks, for example of contacts; None: not extended.
    base: "BlockPattern | None" = None

    @staticmethod
    def of(n: int, stencils: Sequence[Ints]) -> "BlockPattern":
        """Build the pattern in which all vertices of a stencil are coupled with one another.

        If stencils differ in size, the smallest ones that cover a surface (triangles, where hinges
        and pairs exist as well) define which vertices are neighbors on the surface, ``near``.

        Args:
            n: number of vertices.
            stencils: (m,k) vertex indices each.
        """
        widths = {s.shape[1] for s in stencils}
        if len(widths) > 1:
            least = min((w for w in widths if w > 2), default=min(widths))
            near = BlockPattern._union(n, [s for s in stencils if s.shape[1] == least])
            return dataclasses.replace(BlockPattern._union(n, stencils), near=near)
        return BlockPattern._union(n, stencils)

    @staticmethod
    def _union(n: int, stencils: Sequence[Ints]) -> "BlockPattern":
        """Build the pattern from the union of the stencils' cliques and the diagonal."""
        rows: list[AnyArray] = [np.arange(n)]
        columns: list[AnyArray] = [np.arange(n)]
        m = n  # rows of the incidence matrix: one for each vertex alone, then one per stencil
        for stencil in stencils:
            rows.append(m + np.repeat(np.arange(len(stencil)), stencil.shape[1]))
            columns.append(stencil.reshape(-1))
            m += len(stencil)
        places = np.concatenate(rows), np.concatenate(columns)
        touched = sp.csr_matrix((np.ones(len(places[0]), bool), places), (m, n))
        who = (touched.T.tocsr() @ touched).sorted_indices()
        return BlockPattern(n, who.indptr.astype(np.int32), who.indices.astype(np.int32))

    @property
    def n_blocks(self) -> int:
        """Return the number of stored blocks."""
        return len(self.column)

    @cached_property
    def scratch(self) -> kernel.Scratch:
        """Return work memory that is shared by everything that uses this pattern."""
        return kernel.Scratch()

    @property
    def row(self) -> Ints:
        """Return the row of each block, (b,)."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.row_start))

    def find(self, row: Ints, column: Ints) -> Ints:
        """Return the block numbers of (row, column) pairs, all of which must be in the pattern."""
        wanted = row.astype(np.int64) * self.n + column
        return np.searchsorted(self._keys, wanted).astype(np.int32)

    @cached_property
    def _keys(self) -> NDArray[np.int64]:
        """Return one ascending number per block, (b,), row * n + column."""
        return self.row.astype(np.int64) * self.n + self.column

    @cached_property
    def diagonal(self) -> Ints:
        """Return the block number of each diagonal block, (n,)."""
        ids = np.arange(self.n, dtype=np.int32)
        return self.find(ids, ids)

    @cached_property
    def device_row_start(self) -> WarpArray:
        """Return ``row_start`` on the device."""
        return kernel.array(self.row_start, wp.int32)

    @cached_property
    def device_column(self) -> WarpArray:
        """Return ``column`` on the device."""
        return kernel.array(self.column, wp.int32)

    @cached_property
    def device_index(self) -> WarpArray:
        """Number of each block, (b,) int32 on the device."""
        return kernel.array(np.arange(self.n_blocks, dtype=np.int32), wp.int32)

    @cached_property
    def device_diagonal(self) -> WarpArray:
        """Return ``diagonal`` on the device."""
        return kernel.array(self.diagonal, wp.int32)


@dataclass(eq=False)
class BlockCsr:
    """Block matrix on a pattern: ``values[b]`` is the 3x3 block number b.

    ``begin`` starts a new assembly without clearing the values. The first energy that writes into
    the matrix clears each row in the pass that writes it (``claim``, ``clear_row``), which saves a
    pass over memory.
    """

    pattern: BlockPattern
    values: WarpArray  # (b,) mat33
    _stale: bool = False

    def begin(self) -> "BlockCsr":
        """Mark the values as stale and return this matrix, ready for assembly."""
        self._stale = True
        return self

    def claim(self) -> int:
        """Return 1 if the values are stale, and mark them as valid.

        A caller that gets 1 has to clear every row before it adds to the row, and has to write all
        rows.
        """
        stale, self._stale = self._stale, False
        return int(stale)

    def finish(self) -> "BlockCsr":
        """Return this matrix after assembly, with all blocks zero if nothing was written."""
        if self.claim():
            self.values.zero_()
        return self

    @staticmethod
    def zeros(pattern: BlockPattern) -> "BlockCsr":
        """Return a matrix with all blocks zero."""
        return BlockCsr(pattern, kernel.zeros(pattern.n_blocks, mat33))

    @property
    def n(self) -> int:
        """Return the number of block rows."""
        return self.pattern.n

    @property
    def rows(self) -> BlockRows:
        """Return this matrix in the form that kernels take."""
        out, p = BlockRows(), self.pattern
        out.start, out.column, out.values = p.device_row_start, p.device_column, self.values
        return out

    def without_zeros(self) -> "BlockCsr":
        """Return a copy without the off-diagonal blocks that are zero."""
        p, values = self.pattern, kernel.numpy(self.values)
        row = p.row
        kept = (values != 0.0).any(axis=(1, 2)) | (row == p.column)
        start = np.zeros(p.n + 1, dtype=np.int32)
        np.cumsum(np.bincount(row[kept], minlength=p.n), out=start[1:])
        pattern = BlockPattern(p.n, start, p.column[kept])
        return BlockCsr(pattern, kernel.array(values[kept], mat33))

    def to_scipy(self) -> "sp.bsr_matrix":
        """Return a SciPy BSR matrix of shape (3n,3n); on the CPU it shares the block values."""
        p = self.pattern
        values = kernel.numpy(self.values)
        return sp.bsr_matrix((values, p.column, p.row_start), shape=(3 * p.n, 3 * p.n))

    def multiply(self, x: WarpArray, out: WarpArray) -> None:
        """Write A x into ``out``, both (n,) vec3."""
        p = self.pattern
        kernel.launch(multiply_rows, p.n, p.device_row_start, p.device_column, self.values, x, out)

    def __matmul__(self, x: Floats) -> Floats:
        """Return A x for x of shape (n,3)."""
        out = kernel.empty(self.n, vec3)
        self.multiply(kernel.array(np.asarray(x, dtype=np.float64), vec3), out)
        return np.array(kernel.numpy(out))


@wp.func
def block_at(column: IntArray, first: int, end: int, wanted: int):
    """Return the number of the block with the column ``wanted`` in the row [first, end), or -1.

    The columns of a row ascend.
    """
    low = int(first)
    high = int(end)
    while low < high:
        middle = (low + high) >> 1
        if column[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    found = int(-1)
    if low < end:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if column[low] == wanted:
            found = low
    return found


@wp.func
def clear_row(v: int, row_start: IntArray, clear: int, values: Mat33Array):
    """Set the blocks of row v to zero if ``clear`` (from ``BlockCsr.claim``) is not 0."""
    if clear != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))


@wp.kernel(module=wp.get_module("weft.block_csr"))
def multiply_rows(
    o: int, row_start: IntArray, column: IntArray, values: Mat33Array, x: Vec3Array, out: Vec3Array
):
    """Compute one block row of A x."""
    v = o + wp.tid()
    y = vec3(Scalar(0.0))
    for b in range(row_start[v], row_start[v + 1]):
        y += values[b] * x[column[b]]
    out[v] = y


@wp.kernel(module=wp.get_module("weft.block_csr"))
def close_rows(
    o: int,
    row_start: IntArray,
    column: IntArray,
    diagonal: IntArray,
    fixed: IntArray,
    values: Mat33Array,
):
    """Give fixed vertices an identity row and column, so that they are decoupled exactly."""
    v = o + wp.tid()
    if fixed[v] != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))
        values[diagonal[v]] = wp.identity(n=3, dtype=Scalar)
    else:
        for b in range(row_start[v], row_start[v + 1]):
            if fixed[column[b]] != 0:
                values[b] = mat33(Scalar(0.0))


@wp.kernel(module=wp.get_module("weft.block_csr"))
def shift_diagonal(
    o: int, diagonal: IntArray, scale: Scalar, shift: ScalarArray, values: Mat33Array
):
    """Compute A += scale diag(shift)."""
    v = o + wp.tid()
    values[diagonal[v]] += (scale * shift[v]) * wp.identity(n=3, dtype=Scalar)


@wp.kernel(module=wp.get_module("weft.block_csr"))
def scale_blocks(o: int, scale: Scalar, values: Mat33Array):
    """Compute A = scale A."""
    b = o + wp.tid()
    values[b] = scale * values[b]


def close(A: BlockCsr, fixed: WarpArray) -> None:
    """Replace the rows and columns of fixed vertices by those of the identity matrix.

    Args:
        A: modified.
        fixed: (n,) int32, not 0 at fixed vertices.
    """
    p = A.pattern
    rows = (p.device_row_start, p.device_column, p.device_diagonal)
    work = p.n_blocks / p.n
    kernel.launch(close_rows, p.n, *rows, fixed, A.values, work=work)


def add_diagonal(A: BlockCsr, shift: WarpArray, scale: float = 1.0) -> None:
    """Compute A += scale diag(shift), with shift (n,)."""
    A.finish()
    p = A.pattern
    kernel.launch(shift_diagonal, p.n, p.device_diagonal, Scalar(scale), shift, A.values)


def scale_by(A: BlockCsr, scale: float) -> None:
    """Multiply A by a number in place."""
    kernel.launch(scale_blocks, A.pattern.n_blocks, Scalar(scale), A.values)
