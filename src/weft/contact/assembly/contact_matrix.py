"""The system matrix with contact: the elastic pattern joined with the blocks of the pairs.

The pattern is kept as long as it holds all pairs of the present set. So what solvers prepared for
it (order of elimination, aggregates) stays valid while contacts come and go within it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.contact.contact_set import PairSet
from weft.kernel import (
    ByteArray,
    DataType,
    IntArray,
    IntArray2d,
    Kernel,
    Mat33Array,
    Mat33Array3d,
    Vec3Array3d,
    WarpArray,
    WarpFunction,
    mat33,
    vec3,
)
from weft.kernel.cpu.native_code import native
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern, BlockRows, block_at
from weft.solve.sparse.incidence import Incidence, IncidenceRows

_module = wp.get_module("weft.contact_rows")
PARTS = 256  # number of parts of the rows on devices other than the CPU


@wp.func_native(native("contact_matrix.h", "copy_row"))
def copy_row(first: int, end: int, source: IntArray, values: Mat33Array, out: Mat33Array):
    """Copy out[b] = values[source[b]], or zero where source[b] < 0, for first <= b < end."""


@wp.kernel(module=_module)
def copy_blocks(o: int, source: IntArray, values: Mat33Array, out: Mat33Array):
    """Copy out[b] = values[source[b]], or zero where source[b] < 0, for all blocks."""
    b = o + wp.tid()
    copy_row(b, b + 1, source, values, out)


@wp.kernel(module=_module)
def collect_columns(
    o: int,
    parts: int,
    start: IntArray,
    element: IntArray,
    stencil: IntArray2d,
    row_start: IntArray,
    column: IntArray,
    seen: IntArray2d,
    out: IntArray,
    count: IntArray,
):
    """Collect the columns of the rows of one part, sorted and each once.

    The columns of row v are those of the elastic row and the vertices of all pairs around v; rows
    have room for all of them, with repetitions. ``seen`` (parts,n), initially -1, holds the last
    row of the part in which a column occurred, so that no row has to be searched for it.
    """
    s = o + wp.tid()
    n = count.shape[0]
    size = (n + parts - 1) / parts
    for v in range(s * size, wp.min((s + 1) * size, n)):
        first = row_start[v] + 4 * start[v]
        k = int(0)
        for b in range(row_start[v], row_start[v + 1]):
            out[first + k] = column[b]
            seen[s, column[b]] = v
            k += 1
        for m in range(start[v], start[v + 1]):
            for b in range(4):
                c = stencil[element[m], b]
                if c < n:  # noqa: SIM102 (kernels evaluate both sides of `and`)
                    if seen[s, c] != v:
                        seen[s, c] = v
                        i = first + k
                        while i > first and out[wp.max(i - 1, 0)] > c:
                            out[i] = out[i - 1]
                            i -= 1
                        out[i] = c
                        k += 1
        count[v] = k


@wp.kernel(module=_module)
def pack_columns(
    o: int,
    first: IntArray,
    collected: IntArray,
    start: IntArray,
    row_start: IntArray,
    out: IntArray,
):
    """Write the rows of ``collect_columns`` one after the other."""
    v = o + wp.tid()
    room = row_start[v] + 4 * first[v]
    for i in range(start[v + 1] - start[v]):
        out[start[v] + i] = collected[room + i]


@wp.kernel(module=_module)
def find_base_blocks(
    o: int,
    start: IntArray,
    column: IntArray,
    base_start: IntArray,
    base_column: IntArray,
    out: IntArray,
):
    """Write the number of each block of row v in the base pattern, or -1."""
    v = o + wp.tid()
    for b in range(start[v], start[v + 1]):
        out[b] = block_at(base_column, base_start[v], base_start[v + 1], column[b])


@wp.func
def lump_factors(local: Vec3Array3d, i: int, a: int):
    """Return the block of vertex a of a block-diagonal matrix that bounds the Hessian of pair i.

    With the blocks sum_r f_r[a] f_r[a]^T sum_b |f_r[b]| / |f_r[a]| of all four vertices, the matrix
    is at least the pair's Hessian in every direction, by the inequality of Cauchy and Schwarz.
    """
    block = mat33(wp.float64(0.0))
    for r in range(local.shape[1]):
        own = wp.length(local[i, r, a])
        if own > wp.float64(0.0):
            sum = wp.float64(0.0)
            for b in range(4):
                sum += wp.length(local[i, r, b])
            block += (sum / own) * wp.outer(local[i, r, a], local[i, r, a])
    return block


@wp.func
def lump_blocks(local: Mat33Array3d, i: int, a: int):
    """Return that block for a positive semidefinite Hessian: four times its block (a,a), because a
    pair has four vertices.
    """
    return wp.float64(4.0) * local[i, a, a]


@wp.func_native(native("contact_matrix.h", "add_factored"))
def add_factored(  # type: ignore[empty-body]
    local: Vec3Array3d,
    i: int,
    a: int,
    stencil: IntArray2d,
    n: int,
    first: int,
    end: int,
    column: IntArray,
    values: Mat33Array,
) -> int:
    """Add sum_r f_r[a] f_r[b]^T to the row of vertex a of pair i, for every vertex b < n of the
    pair.

    The row has the blocks ``first`` to ``end`` - 1. Returns 1 if a nonzero block has no place
    there, else 0.
    """


@wp.func_native(native("contact_matrix.h", "add_given"))
def add_given(  # type: ignore[empty-body]
    local: Mat33Array3d,
    i: int,
    a: int,
    stencil: IntArray2d,
    n: int,
    first: int,
    end: int,
    column: IntArray,
    values: Mat33Array,
) -> int:
    """Add the blocks (a,b) of pair i to the row of its vertex a; arguments and result as for
    ``add_factored``.
    """


def make_search_kernel(Local: DataType, add: WarpFunction, alone: WarpFunction) -> Kernel:
    """Return a kernel that adds the blocks of pairs to matrix rows, found by a search in each row.

    The kernel first copies the elastic matrix if it gets one, else it adds to the present values.

    Args:
        Local: Warp type of the local arrays.
        add: function that adds the blocks of one vertex of a pair.
        alone: function that returns the lumped diagonal block of a vertex of a pair.
    """

    @wp.kernel(module=_module)
    def add_rows(
        o: int,
        pairs: IncidenceRows,
        stencil: IntArray2d,
        local: Local,
        source: IntArray,
        elastic: Mat33Array,
        A: BlockRows,
        late: ByteArray,
        missing: IntArray,
    ):
        # Blocks with a body's vertex have no place in the matrix; ``missing[0]`` reports any other
        # block without a place. Pairs in ``late`` have diagonal blocks only (lumped).
        v = o + wp.tid()
        n = A.start.shape[0] - 1
        first = A.start[v]
        end = A.start[v + 1]
        if source.shape[0] > 0:
            copy_row(first, end, source, elastic, A.values)
        for m in range(pairs.start[v], pairs.start[v + 1]):
            i = pairs.element[m]
            a = pairs.place[m]
            comes_late = int(0)
            if late.shape[0] > 0:
                comes_late = int(late[i])
            if comes_late != 0:
                at = block_at(A.column, first, end, v)
                A.values[at] = A.values[at] + alone(local, i, a)
            elif add(local, i, a, stencil, n, first, end, A.column, A.values) != 0:
                missing[0] = 1

    return add_rows


ADD_FACTORS = make_search_kernel(wp.array3d(dtype=vec3), add_factored, lump_factors)
ADD_BLOCKS = make_search_kernel(wp.array3d(dtype=mat33), add_given, lump_blocks)


@dataclass(frozen=True, eq=False)
class PairBlocks:
    """Hessians of pairs on the device."""

    pairs: PairSet
    local: WarpArray  # (m,r,4) vec3 factors, or (m,4,4) mat33 blocks
    late: WarpArray | None = None  # (m,) uint8 1: lumped (``lumped_pairs``); None: no pair is

    def add(
        self, A: BlockCsr, missing: WarpArray, begin: tuple[WarpArray, WarpArray] | None = None
    ) -> None:
        """Add the blocks to the matrix A; blocks of vertices that A does not have are left out.

        Args:
            A: the matrix.
            missing: (1,) int32, set to 1 if the pattern lacks a block.
            begin: (b,) int32 source block of each block, or -1, and the source's values, from which
                A is filled first; None: A keeps its values.
        """
        i = self.pairs.incidence(A.n)
        add = ADD_BLOCKS if self.local.dtype is mat33 else ADD_FACTORS
        source = (kernel.empty(0, wp.int32), A.values) if begin is None else begin
        late = kernel.empty(0, wp.uint8) if self.late is None else self.late
        about = (i.rows, self.pairs.device[0], self.local, *source, A.rows, late, missing)
        kernel.launch(add, A.n, *about)


@dataclass(frozen=True, eq=False)
class ExtendedMatrix:
    """A matrix on a pattern that extends the pattern ``base`` of another matrix A by more blocks.

    Its values are overwritten by every sum.
    """

    matrix: BlockCsr
    source: WarpArray  # (b,) int32 block of A for each block, or -1

    @staticmethod
    def of(pattern: BlockPattern, values: WarpArray | None = None) -> "ExtendedMatrix":
        """Prepare sums on a pattern that has a ``base``, in memory for its values if that is
        given.
        """
        assert pattern.base is not None
        own = (pattern.device_row_start, pattern.device_column)
        base = (pattern.base.device_row_start, pattern.base.device_column)
        source = kernel.empty(pattern.n_blocks, wp.int32)
        kernel.launch(find_base_blocks, pattern.n, *own, *base, source)
        values = kernel.empty(pattern.n_blocks, mat33) if values is None else values
        return ExtendedMatrix(BlockCsr(pattern, values), source)

    def extends(self, A: BlockCsr) -> bool:
        """Return whether A has the pattern that this one extends."""
        return self.matrix.pattern.base is A.pattern

    def copy_of(self, A: BlockCsr) -> BlockCsr:
        """Return A on the extended pattern."""
        out = self.matrix
        kernel.launch(copy_blocks, out.pattern.n_blocks, self.source, A.values, out.values)
        return BlockCsr(out.pattern, out.values)

    def add(self, A: BlockCsr, blocks: Sequence[PairBlocks]) -> BlockCsr | None:
        """Return A plus the blocks of pairs on the extended pattern; None if that lacks a block."""
        out, missing = self.matrix, kernel.zeros(1, wp.int32)
        for number, pairs in enumerate(blocks):
            pairs.add(out, missing, None if number else (self.source, A.values))
        return None if kernel.scalar(missing) else BlockCsr(out.pattern, out.values)


def pattern_with_pairs(elastic: BlockPattern, stencil: WarpArray) -> BlockPattern:
    """Extend a pattern by the blocks of pairs.

    Args:
        elastic: the pattern that is extended.
        stencil: (m,4) int32 vertices of the pairs; vertices beyond the pattern have no blocks.
    """
    n = elastic.n
    i = Incidence.on_device(stencil, n)
    own = (elastic.device_row_start, elastic.device_column)
    most = elastic.n_blocks + 16 * stencil.shape[0]  # a pair has 16 blocks
    collected, count = kernel.empty(most, wp.int32), kernel.zeros(n + 1, wp.int32)
    counts = count[:n]
    parts = kernel.parts(n) if kernel.is_cpu() else min(n, PARTS)
    seen = kernel.empty((parts, n), wp.int32)
    seen.fill_(-1)
    rows = (parts, i.start, i.element, stencil, *own, seen, collected, counts)
    kernel.launch(collect_columns, parts, *rows, work=kernel.HEAVY)
    start = kernel.empty(n + 1, wp.int32)
    column = kernel.empty(kernel.scan(count, start), wp.int32)
    kernel.launch(pack_columns, n, i.start, collected, start, own[0], column)
    starts, columns = (np.array(kernel.numpy(a)) for a in (start, column))
    return BlockPattern(n, starts, columns, base=elastic)


def stack(stencils: Sequence[WarpArray]) -> WarpArray:
    """Return all stencils one after the other, (m,4)."""
    out = kernel.empty((sum(s.shape[0] for s in stencils), 4), wp.int32)
    begin = 0
    for s in stencils:
        if s.shape[0]:
            wp.copy(out, s, dest_offset=4 * begin, count=4 * s.shape[0])
        begin += s.shape[0]
    return out
