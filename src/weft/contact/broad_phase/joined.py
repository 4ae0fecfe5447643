"""Joined vertices: sewn together, or tied to one another. Primitives with them are no pair.

Vertices that are sewn together count as one vertex, so they share a number. Ties hold for two
vertices alone: two cloths that are tied to one body still meet each other and the rest of the body.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Faces, Ints
from weft.kernel import IntArray


@wp.struct
class Joined:
    """Joined vertices in the form that kernels take; empty arrays: there are none."""

    sewn: IntArray  # (v,) the same number for vertices that are sewn together
    first: IntArray  # (v+1,) where the ties of each vertex begin
    tied: IntArray  # vertices to which each vertex is tied


@wp.func
def has_joined(j: Joined):
    """Return whether there are joined vertices."""
    return j.sewn.shape[0] > 0 or j.first.shape[0] > 0


@wp.func
def shares(a: wp.vec3i, b: wp.vec3i):
    """Return whether two triples of vertices have one in common."""
    if a[0] == b[0] or a[0] == b[1] or a[0] == b[2]:
        return True
    if a[1] == b[0] or a[1] == b[1] or a[1] == b[2]:
        return True
    return a[2] == b[0] or a[2] == b[1] or a[2] == b[2]


@wp.func
def are_joined(a: wp.vec3i, b: wp.vec3i, j: Joined):
    """Return whether a vertex of a primitive is sewn or tied to a vertex of another one."""
    found = bool(False)
    if j.sewn.shape[0] > 0:
        mine = wp.vec3i(j.sewn[a[0]], j.sewn[a[1]], j.sewn[a[2]])
        found = shares(mine, wp.vec3i(j.sewn[b[0]], j.sewn[b[1]], j.sewn[b[2]]))
    if j.first.shape[0] > 0:
        for k in range(3):
            for e in range(j.first[a[k]], j.first[a[k] + 1]):
                w = j.tied[e]
                if w == b[0] or w == b[1] or w == b[2]:
                    found = True
    return found


@dataclass(frozen=True, eq=False)
class JoinedVertices:
    """The vertices of a mesh that are sewn together or tied.

    Args:
        n: number of vertices.
        sewn: (n,) the same number for vertices that are sewn together; None: none are.
        ties: (k,2) vertices that are tied to each other.
    """

    n: int
    sewn: Ints | None = None
    ties: Ints | None = None

    @property
    def numbers(self) -> Ints:
        """Return the same number for vertices that count as one, (n,)."""
        return np.arange(self.n, dtype=np.int32) if self.sewn is None else np.asarray(self.sewn)

    @cached_property
    def tie_matrix(self) -> sp.csr_matrix:
        """The ties as a symmetric matrix (n,n) of ones."""
        ties = np.zeros((0, 2), dtype=np.int32) if self.ties is None else np.asarray(self.ties)
        both = np.concatenate([ties, ties[:, ::-1]])
        matrix = sp.coo_matrix((np.ones(len(both)), both.T), (self.n, self.n)).tocsr()
        matrix.data[:] = 1.0
        return matrix

    @cached_property
    def struct(self) -> Joined:
        """The joined vertices on the device."""
        out = Joined()
        if self.sewn is not None:
            out.sewn = kernel.array(np.asarray(self.sewn, np.int32), wp.int32)
        if self.tie_matrix.nnz:
            out.first = kernel.array(self.tie_matrix.indptr.astype(np.int32), wp.int32)
            out.tied = kernel.array(self.tie_matrix.indices.astype(np.int32), wp.int32)
        return out

    def join(self, one: Faces, other: Faces) -> Bools:
        """Return which pairs of faces (k,3) have two different vertices that are joined, (k,)."""
        a, b = np.asarray(one)[:, :, None], np.asarray(other)[:, None, :]
        numbers = self.numbers
        found = (numbers[a] == numbers[b]) & (a != b)
        if self.tie_matrix.nnz and len(one):
            a, b = np.broadcast_arrays(a, b)
            tied = np.asarray(self.tie_matrix[a.reshape(-1), b.reshape(-1)]) > 0
            found |= tied.reshape(a.shape)
        return np.asarray(found.any((1, 2)))
