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
                low = row_start[v]
                high = row_start[v + 1]
                while low < high:
                    middle = (low + high) / 2
                    if column[middle] < wanted:
                        low = middle + 1
                    else:
                        high = middle
                if low < row_start[v + 1] and column[low] == wanted:
                    block = values[low]
                    for r in range(factor.shape[1]):
                        block += wp.outer(factor[i, r, j], factor[i, r, b])
                    values[low] = block
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
        own = elastic.row.astype(np.int64) * n + elastic.column
        keys = np.unique(np.concatenate([own, block_keys(stencil, n)]))
        row, column = keys // n, (keys % n).astype(np.int32)
        start = np.zeros(n + 1, dtype=np.int32)
        np.cumsum(np.bincount(row, minlength=n), out=start[1:])
        near = elastic.near or elastic
        pattern = BlockPattern(n, start, column, near)
        source = np.full(len(keys), -1, dtype=np.int32)
        source[np.searchsorted(keys, own)] = np.arange(len(own))
        matrix = BlockCsr.zeros(pattern)
        return JoinedPattern(elastic, pattern, matrix, kernel.array(source, wp.int32))

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


def block_keys(stencil: Ints, n: int) -> Ints:
    """Numbers row n + column of all blocks of pairs (m,4) between vertices below n, with
    repetitions.
    """
    s = stencil.astype(np.int64)
    key = s[:, :, None] * n + s[:, None, :]
    return np.asarray(key[(s[:, :, None] < n) & (s[:, None, :] < n)])
