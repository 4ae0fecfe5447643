"""A matrix with contacts: the elastic pattern and the blocks of the pairs, in one.

The pattern is kept as long as it holds all pairs of the present set, so that what solvers prepared
for it (factorization order, aggregates) stays good while contacts only come and go within it.
"""

import dataclasses
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Ints
from weft.kernel import WarpArray, mat33, vec3
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence

_module = wp.get_module("weft.contact_rows")


@wp.kernel(module=_module)
def copy_blocks(
    o: int,
    source: wp.array(dtype=wp.int32),
    values: wp.array(dtype=mat33),
    out: wp.array(dtype=mat33),
):
    """out[b] = values[source[b]], or zero where there is none."""
    b = o + wp.tid()
    if source[b] >= 0:
        out[b] = values[source[b]]
    else:
        out[b] = mat33(wp.float64(0.0))


@wp.func
def first_not_below(column: wp.array(dtype=wp.int32), low: int, high: int, wanted: int):
    """Where a column stands, or would stand, in a sorted row from low to high."""
    while low < high:
        middle = (low + high) >> 1
        if column[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@wp.func
def place_of(column: wp.array(dtype=wp.int32), low: int, high: int, wanted: int):
    """Index of a column in a sorted row from low to high, or -1."""
    at = first_not_below(column, low, high, wanted)
    found = int(-1)
    if at < high and column[at] == wanted:
        found = at
    return found


@wp.kernel(module=_module)
def collect_columns(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    stencil: wp.array2d(dtype=wp.int32),
    row_start: wp.array(dtype=wp.int32),
    column: wp.array(dtype=wp.int32),
    room: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.int32),
    count: wp.array(dtype=wp.int32),
):
    """Columns of row v, sorted and each once, from ``out[room[v]]`` on: those of the elastic row,
    and of the pairs around v.
    """
    v = o + wp.tid()
    n = count.shape[0]
    first = room[v]
    k = int(0)
    for b in range(row_start[v], row_start[v + 1]):
        out[first + k] = column[b]
        k += 1
    for m in range(start[v], start[v + 1]):
        for b in range(4):
            c = stencil[element[m], b]
            if c < n:
                at = first_not_below(out, first, first + k, c)
                if at == first + k or out[at] != c:
                    i = first + k
                    while i > at:
                        out[i] = out[i - 1]
                        i -= 1
                    out[at] = c
                    k += 1
    count[v] = k


@wp.kernel(module=_module)
def pack_columns(
    o: int,
    room: wp.array(dtype=wp.int32),
    found: wp.array(dtype=wp.int32),
    start: wp.array(dtype=wp.int32),
    row_start: wp.array(dtype=wp.int32),
    column: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.int32),
    source: wp.array(dtype=wp.int32),
):
    """Rows one after the other, and which block of the elastic pattern each block is, or -1."""
    v = o + wp.tid()
    for i in range(start[v + 1] - start[v]):
        c = found[room[v] + i]
        out[start[v] + i] = c
        source[start[v] + i] = place_of(column, row_start[v], row_start[v + 1], c)


@wp.kernel(module=_module)
def add_contact_rows(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    stencil: wp.array2d(dtype=wp.int32),
    factor: wp.array3d(dtype=vec3),
    row_start: wp.array(dtype=wp.int32),
    column: wp.array(dtype=wp.int32),
    values: wp.array(dtype=mat33),
    missing: wp.array(dtype=wp.int32),
):
    """Row v += sum over the pairs around v of f_r[v] f_r[b]^T, r over their three factors.

    Blocks with a body's vertex do not exist; ``missing[v]`` says that another one does not.
    """
    v = o + wp.tid()
    lost = int(0)
    for m in range(start[v], start[v + 1]):
        i = element[m]
        j = place[m]
        for b in range(factor.shape[2]):
            wanted = stencil[i, b]
            if wanted < missing.shape[0]:
                at = place_of(column, row_start[v], row_start[v + 1], wanted)
                if at >= 0:
                    block = values[at]
                    for r in range(factor.shape[1]):
                        block += wp.outer(factor[i, r, j], factor[i, r, b])
                    values[at] = block
                else:
                    lost = 1
    missing[v] = lost


@dataclass(frozen=True, eq=False)
class JoinedPattern:
    """An elastic pattern with more blocks."""

    elastic: BlockPattern
    pattern: BlockPattern  # with the blocks of contact
    matrix: BlockCsr  # on it
    source: WarpArray  # (b,) int32 elastic block of each, or -1

    @staticmethod
    def of(elastic: BlockPattern, stencil: Ints) -> "JoinedPattern":
        """With the blocks of all pairs (m,4)."""
        n = elastic.n
        i = Incidence.of(stencil, max(n, int(stencil.max(initial=0)) + 1))
        first = kernel.numpy(i.start)[: n + 1]
        own = (elastic.device_row_start, elastic.device_column)
        room = np.zeros(n + 1, dtype=np.int32)
        room[1:] = kernel.numpy(elastic.device_row_start)[1:] + 4 * first[1:]
        found, count = kernel.empty(int(room[-1]), wp.int32), kernel.empty(n, wp.int32)
        pairs = (i.start, i.element, kernel.array(stencil, wp.int32))
        places = kernel.array(room, wp.int32)
        kernel.launch(collect_columns, n, *pairs, *own, places, found, count)
        start = np.zeros(n + 1, dtype=np.int32)
        np.cumsum(kernel.numpy(count), out=start[1:])
        column, source = (kernel.empty(int(start[-1]), wp.int32) for _ in range(2))
        rows = kernel.array(start, wp.int32)
        kernel.launch(pack_columns, n, places, found, rows, *own, column, source)
        near = elastic.near or elastic
        pattern = BlockPattern(n, start, np.array(kernel.numpy(column)), near)
        return JoinedPattern(elastic, pattern, BlockCsr.zeros(pattern), source)

    def add(self, A: BlockCsr, stencil: Ints, factors: WarpArray) -> BlockCsr | None:
        """A on the larger pattern, plus the outer products of the factors (m,3,4) of pairs (m,4);
        None where a block of a pair is not in the pattern.
        """
        p, out = self.pattern, self.matrix
        kernel.launch(copy_blocks, p.n_blocks, self.source, A.values, out.values)
        i = Incidence.of(stencil, max(p.n, int(stencil.max(initial=0)) + 1))
        missing = kernel.empty(p.n, wp.int32)
        pairs = (i.start, i.element, i.place, kernel.array(stencil, wp.int32), factors)
        rows = (p.device_row_start, p.device_column)
        kernel.launch(add_contact_rows, p.n, *pairs, *rows, out.values, missing)
        return None if kernel.numpy(missing).any() else dataclasses.replace(out)
