"""Embedding: vertices that are fixed linear combinations of other points, y = W x.

The vertices are those of a surface that is drawn and that collides; the points are the unknowns of
the simulation (control points of splines).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Bools, Floats, Ints
from weft.discretization.samples import as_wide

if TYPE_CHECKING:
    import scipy.sparse as sp

DETERMINED = 1e-9  # tolerance: a point is determined if its null-space part is smaller
# t_a: four points c + t_a have the center c, and second moments alike in all directions.
CORNERS = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])


@dataclass(frozen=True, eq=False)
class Embedding:
    """Linear map from points to vertices, y_i = sum_a weight_ia x[stencil_ia]."""

    stencil: Ints  # (n,k) points on which vertex i depends
    weight: Floats  # (n,k), each row sums to one
    n_points: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "stencil", np.ascontiguousarray(self.stencil, dtype=np.int32))
        object.__setattr__(self, "weight", np.ascontiguousarray(self.weight, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.stencil)

    @cached_property
    def matrix(self) -> "sp.csr_matrix":
        """Return W, (n,n_points), as a SciPy CSR matrix without stored zeros."""
        import scipy.sparse as sp

        n, k = self.stencil.shape
        rows = np.repeat(np.arange(n), k)
        shape = (n, self.n_points)
        W = sp.csr_matrix((self.weight.reshape(-1), (rows, self.stencil.reshape(-1))), shape=shape)
        W.eliminate_zeros()
        W.sort_indices()
        return W

    @cached_property
    def is_identity(self) -> bool:
        """Return whether the vertices are the points themselves."""
        return self.stencil.shape == (self.n_points, 1) and np.array_equal(
            self.stencil[:, 0], np.arange(self.n_points)
        )

    def of(self, x: Floats) -> Floats:
        """Return the vertices (n,d) for points x (n_points or more, d)."""
        return np.asarray(self.matrix @ x[: self.n_points])

    def wider(self, n_points: int) -> "Embedding":
        """Return the same map for a larger number of points."""
        if n_points == self.n_points:
            return self
        return Embedding(self.stencil, self.weight, n_points)

    @staticmethod
    def concatenate(parts: "list[Embedding]", n_points: int) -> "Embedding":
        """Concatenate embeddings whose stencils already use the point indices of the cloth."""
        stencil, weight = as_wide([p.stencil for p in parts], [p.weight for p in parts])
        return Embedding(stencil, weight, n_points)


def determined_points(W: "sp.csr_matrix", known: Ints) -> Ints:
    """Return the columns x_j that the equations W x = y determine, sorted.

    ``known`` are columns that are known already. Connected components of the graph of rows and
    columns are independent, so that each one needs only a small dense singular value decomposition.
    """
    import scipy.sparse as sp

    open_ = np.ones(W.shape[1], dtype=bool)
    open_[known] = False
    left = np.flatnonzero(open_)
    W = W.tocsr()[:, left]
    W = W[np.diff(W.indptr) > 0]
    if W.shape[0] == 0:
        return known.astype(np.int32)
    rows = W.shape[0]
    graph = sp.bmat([[None, W], [W.T, None]]).tocsr()
    _, label = sp.csgraph.connected_components(graph, directed=False)
    used = np.unique(W.indices)
    found: list[Ints] = [known]
    for component in np.unique(label[:rows]):
        columns = used[label[rows + used] == component]
        dense = W[np.flatnonzero(label[:rows] == component)][:, columns].toarray()
        found.append(left[columns[_fixed_by(dense)]])
    return np.sort(np.concatenate(found)).astype(np.int32)


def _fixed_by(dense: Floats) -> Bools:
    """Return (c,) which unknowns have no part in the null space of a matrix (r,c)."""
    _, s, vt = np.linalg.svd(dense, full_matrices=True)
    rank = int((s > DETERMINED * s[0]).sum())
    return np.asarray((np.abs(vt[rank:]) < DETERMINED).all(0))
