"""Incidence: for each vertex, the local elements that touch it and its place in them.

This turns "scatter element values to vertices" into a gather over vertices (DESIGN: gather, never
scatter).
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Ints
from weft.kernel import WarpArray

_module = wp.get_module("weft.incidence")


@wp.kernel(module=_module)
def list_entries(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    vertex: wp.array(dtype=wp.int32),
    entry: wp.array(dtype=wp.int32),
):
    """Vertex and number of every entry of the stencils."""
    i = o + wp.tid()
    for a in range(stencil.shape[1]):
        e = i * stencil.shape[1] + a
        vertex[e] = stencil[i, a]
        entry[e] = e


@wp.kernel(module=_module)
def first_entries(
    o: int, vertex: wp.array(dtype=wp.int32), count: int, start: wp.array(dtype=wp.int32)
):
    """Where the entries of every vertex begin among sorted ones."""
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
def split_entries(
    o: int,
    entry: wp.array(dtype=wp.int32),
    k: int,
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
):
    """Element and place of sorted entries."""
    m = o + wp.tid()
    element[m] = entry[m] / k
    place[m] = entry[m] % k


@wp.kernel(module=_module)
def sort_entries(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
):
    """All of it by counting, in one thread; ``start``, of zeros, is a vertex longer until then."""
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


@dataclass(frozen=True)
class Incidence:
    """Compressed lists.

    Vertex v meets element ``element[m]`` at place ``place[m]`` for start[v] <= m < start[v+1].
    """

    start: WarpArray  # (n+1,) int32
    element: WarpArray  # (i,) int32
    place: WarpArray  # (i,) int32

    @property
    def vertex_of(self) -> Ints:
        """(i,) the vertex of each entry, for building maps."""
        count = np.diff(kernel.numpy(self.start))
        return np.repeat(np.arange(len(count), dtype=np.int32), count)

    @staticmethod
    def of(stencil: Ints, n_vertices: int) -> "Incidence":
        """The incidence of (m,k) stencils over n vertices; elements ascend at each vertex."""
        return Incidence.on_device(
            kernel.array(np.ascontiguousarray(stencil, np.int32), wp.int32), n_vertices
        )

    @staticmethod
    def on_device(stencil: WarpArray, n_vertices: int) -> "Incidence":
        """The same of stencils on the device; vertices from ``n_vertices`` on are left out."""
        m, k = stencil.shape
        if kernel.is_cpu():
            start = kernel.zeros(n_vertices + 2, wp.int32)
            element, place = (kernel.empty(m * k, wp.int32) for _ in range(2))
            kernel.launch(sort_entries, 1, stencil, start, element, place)
            return Incidence(start[: n_vertices + 1], element, place)
        vertex, entry = (kernel.empty(max(2 * m * k, 1), wp.int32) for _ in range(2))
        kernel.launch(list_entries, m, stencil, vertex, entry)
        kernel.sort_pairs(vertex, entry, m * k)
        start = kernel.empty(n_vertices + 1, wp.int32)
        kernel.launch(first_entries, n_vertices + 1, vertex, m * k, start)
        element, place = (kernel.empty(m * k, wp.int32) for _ in range(2))
        kernel.launch(split_entries, m * k, entry, k, element, place)
        return Incidence(start, element, place)
