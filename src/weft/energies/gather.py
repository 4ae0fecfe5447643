"""Gathers that add local gradients and Hessians of elements to the rows of a vector or a matrix.

Row v visits the elements around v and adds to its own blocks alone. So slices of rows may run on
several threads, and no number is written by two threads. A layout (``BlockLayout``) says how row a
of element i is added to the matrix, from what the element's kernel wrote: a few lines of C++, which
are a fifth to a third faster than what Warp compiles from the same lines in Python.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints
from weft.kernel import (
    DataType,
    IntArray,
    IntArray2d,
    Kernel,
    Mat33Array,
    Mat33Array2d,
    Mat33Array3d,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Scratch,
    Vec2Array2d,
    Vec3Array,
    Vec3Array2d,
    WarpArray,
    WarpFunction,
    WarpStruct,
    mat33,
    vec3,
)
from weft.kernel.cpu.native_code import native
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern, clear_row
from weft.solve.sparse.incidence import Incidence


@wp.struct
class Entries:
    """Elements around every vertex, and the places of their blocks in the matrix."""

    start: IntArray  # (n+1,)
    element: IntArray  # (i,)
    place: IntArray  # (i,) of the vertex in the element
    block: IntArray2d  # (i,k) block (vertex of entry i, b-th vertex of its element)


@dataclass(frozen=True, eq=False)
class GatherMap:
    """Index maps from the local arrays of one energy to vertices and to one pattern."""

    incidence: Incidence
    entries: WarpStruct  # Entries
    n: int  # vertices
    around: float  # mean number of elements around a vertex
    first: int = 0  # first vertex with an element
    last: int = 0  # one more than the last vertex with an element

    @staticmethod
    def of(stencil: Ints, pattern: BlockPattern) -> "GatherMap":
        """Build the maps of a stencil.

        Args:
            stencil: (m,k) vertices of each element.
            pattern: of the matrix. Its further points have rows too, because the first term that
                writes into the matrix clears all rows.
        """
        return GatherMap._of(stencil, pattern.n, pattern)

    @staticmethod
    def of_gradient(stencil: Ints, n: int) -> "GatherMap":
        """Build the maps of a stencil (m,k) to n vertices, for gradients only."""
        return GatherMap._of(stencil, n, None)

    @staticmethod
    def _of(stencil: Ints, n: int, pattern: BlockPattern | None) -> "GatherMap":
        incidence = Incidence.of(stencil, n)
        entries = Entries()
        entries.start, entries.element = incidence.start, incidence.element
        entries.place = incidence.place
        if pattern is not None:
            columns = stencil[kernel.numpy(incidence.element)]
            rows = np.repeat(incidence.vertex_of[:, None], stencil.shape[1], axis=1)
            entries.block = kernel.array(pattern.find(rows, columns), wp.int32)
        first, last = (int(stencil.min()), int(stencil.max()) + 1) if stencil.size else (0, 0)
        return GatherMap(incidence, entries, n, stencil.size / max(last - first, 1), first, last)

    def range(self, whole: bool = False) -> tuple[int, int]:
        """Return the number of vertices to visit and the first one.

        Only the vertices of the energy are visited, which may be one of fifty sheets. All vertices
        are visited if ``whole`` is true.
        """
        if whole:
            return self.n, 0
        return self.last - self.first, self.first

    def add_gradient(self, local: WarpArray, g: WarpArray) -> None:
        """Add local gradients (m,k) vec3 to g."""
        i, work = self.incidence, self.around
        arrays = (i.start, i.element, i.place, local, g)
        n, begin = self.range()
        kernel.launch(gather_gradient, n, *arrays, work=work, begin=begin)

    def add_rows(self, layout: "BlockLayout", local: WarpArray, A: BlockCsr) -> None:
        """Add local Hessians in a layout to A."""
        work = self.around * self.entries.block.shape[1] / 3
        clear = A.claim()
        n, begin = self.range(whole=clear != 0)
        to = (A.pattern.device_row_start, clear, A.values)
        kernel.launch(layout.add_rows, n, self.entries, local, *to, work=work, begin=begin)


@wp.kernel(module=wp.get_module("weft.gather"))
def gather_gradient(
    o: int, start: IntArray, element: IntArray, place: IntArray, local: Vec3Array2d, g: Vec3Array
):
    """Add the local gradients (m,k) of the elements around v to g[v]."""
    v = o + wp.tid()
    sum = vec3(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        sum += local[element[m], place[m]]
    g[v] += sum


def gather_rows(name: str, Local: DataType, add: WarpFunction) -> Kernel:
    """Build the kernel of a layout.

    Args:
        name: of the kernel's Warp module.
        Local: type of the local Hessians.
        add: Warp function ``add(local, i, a, blocks, m, values)``, which adds row a of element i to
            the blocks (m, ...) of the matrix.
    """

    @wp.kernel(module=wp.get_module(f"weft.rows.{name}"))
    def add_rows(
        o: int, entries: Entries, local: Local, row_start: IntArray, clear: int, values: Mat33Array
    ):
        v = o + wp.tid()
        clear_row(v, row_start, clear, values)
        for m in range(entries.start[v], entries.start[v + 1]):
            add(local, entries.element[m], entries.place[m], entries.block, m, values)

    return add_rows


@dataclass(frozen=True)
class BlockLayout:
    """A storage layout of the Hessians of m elements with k vertices."""

    add_rows: Kernel
    take: Callable[[Scratch, int, int], WarpArray]  # the array that an element's kernel writes
    full: Callable[[WarpStruct, int], Floats]  # (m,k,k,3,3) of that array's numbers and k


@wp.func
def packed_index(j: int, k: int, size: int):
    """Return the place of block (j,k), j <= k, among the blocks on and above the diagonal."""
    return (size - 1) * j - (j * (j - 1)) / 2 + k


@wp.func_native(native("gather.h", "add_packed"))
def add_packed(local: Mat33Array2d, i: int, a: int, blocks: IntArray2d, m: int, values: Mat33Array):
    """Add the blocks of row a from those on and above the diagonal."""


def _unpack(local: Floats, k: int) -> Floats:
    """Return full Hessians (m,k,k,3,3) from the blocks on and above the diagonal."""
    full = np.empty((len(local), k, k, 3, 3))
    for place, (a, b) in enumerate(zip(*np.triu_indices(k))):
        full[:, a, b] = local[:, place]
        full[:, b, a] = np.swapaxes(local[:, place], 1, 2)
    return full


@wp.func_native(native("gather.h", "add_factor"))
def add_factor(local: Vec3Array2d, i: int, a: int, blocks: IntArray2d, m: int, values: Mat33Array):
    """Add f_a f_b^T for every vertex b."""


@wp.func_native(native("gather.h", "add_full"))
def add_full(local: Mat33Array3d, i: int, a: int, blocks: IntArray2d, m: int, values: Mat33Array):
    """Add every block as it is."""


SYMMETRIC = BlockLayout(  # (m, k(k+1)/2) mat33: blocks on and above the diagonal
    gather_rows("symmetric", wp.array2d(dtype=mat33), add_packed),
    lambda scratch, m, k: scratch.take((m, k * (k + 1) // 2), mat33),
    _unpack,
)
FACTOR = BlockLayout(  # (m,k) vec3: the Hessian is the outer product of this with itself
    gather_rows("factor", wp.array2d(dtype=vec3), add_factor),
    lambda scratch, m, k: scratch.take((m, k), vec3),
    lambda f, k: np.asarray(np.einsum("mai,mbj->mabij", f, f)),
)
FULL = BlockLayout(  # (m,k,k) mat33
    gather_rows("full", wp.array3d(dtype=mat33), add_full),
    lambda scratch, m, k: scratch.take((m, k, k), mat33),
    lambda blocks, k: blocks,
)


@wp.struct
class Sampled:
    """Hessians of membranes: those of psi(F) at samples, with the shape function gradients."""

    dN: Vec2Array2d  # (q,k) [1/m]
    weight: ScalarArray  # (q,) [m^2]
    scale: Scalar
    H: Mat33Array2d  # (q,3) uu, uv, vv


@wp.func_native(native("gather.h", "add_sampled"))
def add_sampled(local: Sampled, q: int, a: int, blocks: IntArray2d, m: int, values: Mat33Array):
    """Add w_q dN_a . H_q . dN_b for every vertex b. Kim 2020, eq. 20."""


def _pull_back(local: WarpStruct, k: int) -> Floats:
    """Return full Hessians (q,k,k,3,3) from those of psi(F)."""
    H, dN, w = (kernel.numpy(a) for a in (local.H, local.dN, local.weight))
    uu, uv, vv = H[:, 0], H[:, 1], H[:, 2]
    full = np.stack([np.stack([uu, uv], 1), np.stack([np.swapaxes(uv, 1, 2), vv], 1)], 1)
    return np.asarray(np.einsum("q,qai,qijmn,qbj->qabmn", w, dN, full, dN))


SAMPLED = BlockLayout(  # Sampled
    gather_rows("sampled", Sampled, add_sampled),
    lambda scratch, m, k: scratch.take((m, 3), mat33),
    _pull_back,
)


@wp.struct
class Shared:
    """Hessians of energies that depend on the places of samples only: scale N_a N_b K_q."""

    N: ScalarArray2d  # (q,k)
    K: Mat33Array  # (q,)
    scale: Scalar


@wp.func_native(native("gather.h", "add_shared"))
def add_shared(local: Shared, q: int, a: int, blocks: IntArray2d, m: int, values: Mat33Array):
    """Add scale N_a N_b K_q for every vertex b."""


def _spread_shared(local: WarpStruct, k: int) -> Floats:
    """Return full Hessians (q,k,k,3,3) from K."""
    N, K = kernel.numpy(local.N), kernel.numpy(local.K)
    return np.asarray(np.einsum(",qa,qb,qij->qabij", local.scale, N, N, K))


SHARED = BlockLayout(  # Shared
    gather_rows("shared", Shared, add_shared),
    lambda scratch, m, k: scratch.take(m, mat33),
    _spread_shared,
)
