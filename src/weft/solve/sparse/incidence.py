"""Incidence lists: for each vertex, the elements that contain it and its local index in each.

With these lists, a scatter of element values to vertices becomes a gather by each vertex, so that
sums do not depend on the order of threads and need no atomic operations.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Ints
from weft.kernel import IntArray, IntArray2d, WarpArray

_module = wp.get_module("weft.incidence")


@wp.kernel(module=_module)
def list_entries(o: int, stencil: IntArray2d, vertex: IntArray, entry: IntArray):
    """Write vertex and index of every entry of the stencils."""
    i = o + wp.tid()
    for a in range(stencil.shape[1]):
        e = i * stencil.shape[1] + a
        vertex[e] = stencil[i, a]
        entry[e] = e


@wp.kernel(module=_module)
def first_entries(o: int, vertex: IntArray, count: int, start: IntArray):
    """Find the first sorted entry of every vertex by binary search."""
    v = o + wp.tid()
    low = int(0)
    high = count
    while low < high:
        middle = (low + high) >> 1
        if vertex[middle] < v:
            low = middle + 1
        else:
            high = middle
    start[v] = low


@wp.kernel(module=_module)
def split_entries(o: int, entry: IntArray, k: int, element: IntArray, place: IntArray):
    """Split sorted entry numbers into element and local index."""
    m = o + wp.tid()
    element[m] = entry[m] / k
    place[m] = entry[m] % k


@wp.kernel(module=_module)
def sort_entries(o: int, stencil: IntArray2d, start: IntArray, element: IntArray, place: IntArray):
    """Build all lists by a counting sort in one thread.

    ``start`` has two entries more than there are vertices and begins with zeros. Counts are stored
    two places later, so that after the prefix sum ``start[v+1]`` can serve as the write position of
    vertex v; at the end ``start[v]`` is the first entry of vertex v.
    """
    n = start.shape[0] - 2
    for i in range(stencil.shape[0]):
        for a in range(stencil.shape[1]):
            v = stencil[i, a]
            if v < n:
                start[v + 2] = start[v + 2] + 1
    for v in range(2, n + 2):
        start[v] = start[v] + start[v - 1]
    for i in range(stencil.shape[0]):
        for a in range(stencil.shape[1]):
            v = stencil[i, a]
            if v < n:
                at = start[v + 1]
                element[at] = i
                place[at] = a
                start[v + 1] = at + 1


@wp.struct
class IncidenceRows:
    """Incidence lists in the form that kernels take."""

    start: IntArray  # (n+1,) first entry of each vertex
    element: IntArray  # (i,)
    place: IntArray  # (i,) local index of the vertex in the element


@dataclass(frozen=True)
class Incidence:
    """Lists of the elements of each vertex, in compressed rows.

    For start[v] <= m < start[v+1], vertex v is number ``place[m]`` of element ``element[m]``.
    """

    start: WarpArray  # (n+1,) int32; a further entry is not used
    element: WarpArray  # (i,) int32
    place: WarpArray  # (i,) int32

    @cached_property
    def rows(self) -> IncidenceRows:
        """Return the lists in the form that kernels take."""
        out = IncidenceRows()
        out.start, out.element, out.place = self.start, self.element, self.place
        return out

    @property
    def vertex_of(self) -> Ints:
        """Return the vertex of each entry, (i,), for building maps."""
        count = np.diff(kernel.numpy(self.start))  # 0 after the last vertex
        return np.repeat(np.arange(len(count), dtype=np.int32), count)

    @staticmethod
    def of(stencil: Ints, n_vertices: int) -> "Incidence":
        """Build the incidence lists of (m,k) stencils over n vertices.

        Elements ascend in the list of each vertex.
        """
        return Incidence.on_device(
            kernel.array(np.ascontiguousarray(stencil, np.int32), wp.int32), n_vertices
        )

    @staticmethod
    def on_device(stencil: WarpArray, n_vertices: int) -> "Incidence":
        """Build the incidence lists of (m,k) stencils that are on the device.

        Vertices from ``n_vertices`` on are left out.
        """
        m, k = stencil.shape
        if kernel.is_cpu():
            start = kernel.zeros(n_vertices + 2, wp.int32)
            element, place = (kernel.empty(m * k, wp.int32) for _ in range(2))
            kernel.launch(sort_entries, 1, stencil, start, element, place)
            return Incidence(start, element, place)  # a view of start would take longer than this
        vertex, entry = (kernel.empty(max(2 * m * k, 1), wp.int32) for _ in range(2))
        kernel.launch(list_entries, m, stencil, vertex, entry)
        kernel.sort_pairs(vertex, entry, m * k)
        start = kernel.empty(n_vertices + 1, wp.int32)
        kernel.launch(first_entries, n_vertices + 1, vertex, m * k, start)
        element, place = (kernel.empty(m * k, wp.int32) for _ in range(2))
        kernel.launch(split_entries, m * k, entry, k, element, place)
        return Incidence(start, element, place)
