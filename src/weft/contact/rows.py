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
    block: wp.array2d(dtype=wp.int32),
    factor: wp.array3d(dtype=vec3),
    values: wp.array(dtype=mat33),
):
    """Row v += sum over the pairs around v of f_r[v] f_r[b]^T, r over their three factors.

    Blocks with a body's vertex do not exist.
    """
    v = o + wp.tid()
    for m in range(start[v], start[v + 1]):
        i = element[m]
        j = place[m]
        for r in range(factor.shape[1]):
            f = factor[i, r, j]
            for b in range(factor.shape[2]):
                if block[m, b] >= 0:
                    values[block[m, b]] += wp.outer(f, factor[i, r, b])


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

    def holds(self, stencil: Ints) -> bool:
        """Whether all blocks of the pairs are there."""
        p = self.pattern
        keys = p.row.astype(np.int64) * p.n + p.column
        wanted = block_keys(stencil, p.n)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return bool((keys[place] == wanted).all())

    def add(self, A: BlockCsr, stencil: Ints, factors: WarpArray) -> BlockCsr:
        """A on the larger pattern, plus the outer products of the factors (m,3,4)."""
        p, out = self.pattern, self.matrix
        kernel.launch(copy_blocks, p.n_blocks, self.source, A.values, out.values)
        i = Incidence.of(stencil, max(p.n, int(stencil.max(initial=0)) + 1))
        columns = stencil[kernel.numpy(i.element)]
        rows = np.minimum(i.vertex_of[:, None], p.n - 1) + 0 * columns
        block = np.where(columns < p.n, p.find(rows, np.minimum(columns, p.n - 1)), -1)
        entries = (i.start, i.element, i.place, kernel.array(block.astype(np.int32), wp.int32))
        kernel.launch(add_contact_rows, p.n, *entries, factors, out.values)
        return dataclasses.replace(out)


def block_keys(stencil: Ints, n: int) -> Ints:
    """Numbers row n + column of all blocks of pairs (m,4) between vertices below n, with
    repetitions.
    """
    s = stencil.astype(np.int64)
    key = s[:, :, None] * n + s[:, None, :]
    return np.asarray(key[(s[:, :, None] < n) & (s[:, None, :] < n)])
