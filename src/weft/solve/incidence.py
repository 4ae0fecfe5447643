"""Incidence: for each vertex, the local elements that touch it and its place in them.

This turns "scatter element values to vertices" into a gather over vertices (DESIGN: gather, never
scatter).
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Ints
from weft.kernel import WarpArray


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
        k = stencil.shape[1]
        flat = stencil.reshape(-1)
        order = np.argsort(flat, kind="stable")
        start = np.zeros(n_vertices + 1, dtype=np.int32)
        np.cumsum(np.bincount(flat, minlength=n_vertices), out=start[1:])
        return Incidence(
            kernel.array(start, wp.int32),
            kernel.array((order // k).astype(np.int32), wp.int32),
            kernel.array((order % k).astype(np.int32), wp.int32),
        )
