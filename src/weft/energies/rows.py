"""How local Hessians reach the rows of a matrix: one gather for every layout of local blocks.

Row v walks the elements around v and adds to its own blocks alone: slices may run on several
threads, and nothing is written twice at once. A layout says how block (a, b) of element i is read
from what the element's kernel wrote; reading is split in what row (i, a) needs once, and the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints
from weft.kernel import Scalar, Scratch, WarpArray, mat33, vec2, vec3
from weft.solve.block_csr import BlockCsr, BlockPattern, clear_row
from weft.solve.incidence import Incidence


@wp.struct
class Entries:
    """The elements around every vertex, and where their blocks are in the matrix."""

    start: wp.array(dtype=wp.int32)  # (n+1,)
    element: wp.array(dtype=wp.int32)  # (i,)
    place: wp.array(dtype=wp.int32)  # (i,) of the vertex in the element
    block: wp.array2d(dtype=wp.int32)  # (i,k) block (vertex of entry i, b-th vertex of its element)


@dataclass(frozen=True, eq=False)
class RowMap:
    """The maps of one energy on one pattern."""

    incidence: Incidence
    entries: Any  # Entries
    n: int  # vertices
    around: float  # mean number of elements around a vertex

    @staticmethod
    def of(stencil: Ints, n: int, pattern: BlockPattern | None) -> "RowMap":
        """Of (m,k) stencils over n vertices; without a pattern for gradients alone.

        On a pattern of more points, these have rows too: whoever is first to write clears them.
        """
        n = n if pattern is None else pattern.n
        incidence = Incidence.of(stencil, n)
        entries = Entries()
        entries.start, entries.element = incidence.start, incidence.element
        entries.place = incidence.place
        if pattern is not None:
            columns = stencil[kernel.numpy(incidence.element)]
            rows = np.repeat(incidence.vertex_of[:, None], stencil.shape[1], axis=1)
            entries.block = kernel.array(pattern.find(rows, columns), wp.int32)
        return RowMap(incidence, entries, n, stencil.size / max(n, 1))

    def add_gradient(self, local: WarpArray, g: WarpArray) -> None:
        """g += local gradients (m,k) vec3."""
        i, worth = self.incidence, kernel.slice_above(self.around)
        arrays = (i.start, i.element, i.place, local, g)
        kernel.launch(gather_gradient, self.n, *arrays, slice_above=worth)

    def add_rows(self, layout: "Layout", local: Any, A: BlockCsr) -> None:
        """A += local Hessians in a layout."""
        worth = kernel.slice_above(self.around * self.entries.block.shape[1] / 3)
        to = (A.pattern.device_row_start, A.claim(), A.values)
        kernel.launch(layout.add_rows, self.n, self.entries, local, *to, slice_above=worth)


@wp.kernel(module=wp.get_module("weft.gather"))
def gather_gradient(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    local: wp.array2d(dtype=vec3),
    g: wp.array(dtype=vec3),
):
    """g[v] += the local gradients (m,k) of the elements around v."""
    v = o + wp.tid()
    sum = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        sum += local[element[m], place[m]]
    g[v] += sum


def gather_rows(name: str, Local: Any, row: Any, block: Any) -> Any:
    """The kernel of a layout, from ``row(local, i, a, k)`` and ``block(local, row, i, a, b)``,
    for elements of k vertices.
    """

    @wp.kernel(module=wp.get_module(f"weft.rows.{name}"))
    def add_rows(
        o: int,
        entries: Entries,
        local: Local,
        row_start: wp.array(dtype=wp.int32),
        clear: int,
        values: wp.array(dtype=mat33),
    ):
        v = o + wp.tid()
        clear_row(v, row_start, clear, values)
        for m in range(entries.start[v], entries.start[v + 1]):
            i = entries.element[m]
            a = entries.place[m]
            r = row(local, i, a, entries.block.shape[1])
            for b in range(entries.block.shape[1]):
                values[entries.block[m, b]] += block(local, r, i, a, b)

    return add_rows


@dataclass(frozen=True)
class Layout:
    """A way to store the Hessians of m elements of k vertices."""

    add_rows: Any  # kernel
    take: Callable[[Scratch, int, int], WarpArray]  # the array that an element's kernel writes
    full: Callable[[Any, int], Floats]  # (m,k,k,3,3) of that array's numbers and k


@wp.func
def packed(j: int, k: int, size: int):
    """Place of block (j,k), j <= k, of a symmetric matrix among those on and above the diagonal."""
    return (size - 1) * j - (j * (j - 1)) / 2 + k


@wp.func
def packed_row(local: wp.array2d(dtype=mat33), i: int, a: int, k: int):
    """How many vertices an element has."""
    return k


@wp.func
def packed_block(local: wp.array2d(dtype=mat33), k: int, i: int, a: int, b: int):
    """From the blocks on and above the diagonal."""
    if a <= b:
        return local[i, packed(a, b, k)]
    return wp.transpose(local[i, packed(b, a, k)])


def _unpacked(local: Floats, k: int) -> Floats:
    full = np.empty((len(local), k, k, 3, 3))
    for place, (a, b) in enumerate(zip(*np.triu_indices(k))):
        full[:, a, b] = local[:, place]
        full[:, b, a] = np.swapaxes(local[:, place], 1, 2)
    return full


@wp.func
def factor_row(local: wp.array2d(dtype=vec3), i: int, a: int, k: int):
    """The factor of vertex a."""
    return local[i, a]


@wp.func
def factor_block(local: wp.array2d(dtype=vec3), f: vec3, i: int, a: int, b: int):
    """f_a f_b^T."""
    return wp.outer(f, local[i, b])


@wp.func
def full_block(local: wp.array3d(dtype=mat33), k: int, i: int, a: int, b: int):
    """Every block as it is."""
    return local[i, a, b]


@wp.func
def full_row(local: wp.array3d(dtype=mat33), i: int, a: int, k: int):
    """How many vertices an element has; not needed."""
    return k


SYMMETRIC = Layout(  # (m, k(k+1)/2) mat33: blocks on and above the diagonal
    gather_rows("symmetric", wp.array2d(dtype=mat33), packed_row, packed_block),
    lambda scratch, m, k: scratch.take((m, k * (k + 1) // 2), mat33),
    _unpacked,
)
FACTOR = Layout(  # (m,k) vec3: the Hessian is the outer product of this with itself
    gather_rows("factor", wp.array2d(dtype=vec3), factor_row, factor_block),
    lambda scratch, m, k: scratch.take((m, k), vec3),
    lambda f, k: np.asarray(np.einsum("mai,mbj->mabij", f, f)),
)
FULL = Layout(  # (m,k,k) mat33
    gather_rows("full", wp.array3d(dtype=mat33), full_row, full_block),
    lambda scratch, m, k: scratch.take((m, k, k), mat33),
    lambda blocks, k: blocks,
)


@wp.struct
class Sampled:
    """Hessians of membranes: of psi(F) at samples, with the gradients that pull them back."""

    dN: wp.array2d(dtype=vec2)  # (q,k) [1/m]
    weight: wp.array(dtype=Scalar)  # (q,) [m^2]
    scale: Scalar
    H: wp.array2d(dtype=mat33)  # (q,3) uu, uv, vv


@wp.struct
class SampledRow:
    """dN_a . H for both material directions."""

    u: mat33
    v: mat33


@wp.func
def sampled_row(local: Sampled, q: int, a: int, k: int):
    """w_q dN_a . H_q."""
    d = (local.scale * local.weight[q]) * local.dN[q, a]
    uv = local.H[q, 1]
    r = SampledRow()
    r.u = d[0] * local.H[q, 0] + d[1] * wp.transpose(uv)
    r.v = d[0] * uv + d[1] * local.H[q, 2]
    return r


@wp.func
def sampled_block(local: Sampled, r: SampledRow, q: int, a: int, b: int):
    """w_q dN_a . H_q . dN_b. Kim 2020, eq. 20."""
    return local.dN[q, b][0] * r.u + local.dN[q, b][1] * r.v


def _pulled_back(local: Any, k: int) -> Floats:
    H, dN, w = (kernel.numpy(a) for a in (local.H, local.dN, local.weight))
    uu, uv, vv = H[:, 0], H[:, 1], H[:, 2]
    full = np.stack([np.stack([uu, uv], 1), np.stack([np.swapaxes(uv, 1, 2), vv], 1)], 1)
    return np.asarray(np.einsum("q,qai,qijmn,qbj->qabmn", w, dN, full, dN))


SAMPLED = Layout(  # Sampled
    gather_rows("sampled", Sampled, sampled_row, sampled_block),
    lambda scratch, m, k: scratch.take((m, 3), mat33),
    _pulled_back,
)


@wp.struct
class Shared:
    """Hessians of what depends on the places of samples alone: scale N_a N_b K_q."""

    N: wp.array2d(dtype=Scalar)  # (q,k)
    K: wp.array(dtype=mat33)  # (q,)
    scale: Scalar


@wp.func
def shared_row(local: Shared, q: int, a: int, k: int):
    """scale N_a K_q."""
    return (local.scale * local.N[q, a]) * local.K[q]


@wp.func
def shared_block(local: Shared, r: mat33, q: int, a: int, b: int):
    """scale N_a N_b K_q."""
    return local.N[q, b] * r


def _shared(local: Any, k: int) -> Floats:
    N, K = kernel.numpy(local.N), kernel.numpy(local.K)
    return np.asarray(np.einsum(",qa,qb,qij->qabij", local.scale, N, N, K))


SHARED = Layout(  # Shared
    gather_rows("shared", Shared, shared_row, shared_block),
    lambda scratch, m, k: scratch.take(m, mat33),
    _shared,
)
