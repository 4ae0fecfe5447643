"""Embedding: vertices that are fixed linear combinations of other points, y = W x.

The vertices are those of a surface that is drawn and that collides; the points are the unknowns of
the simulation (control points of splines).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.discretization.samples import as_wide

if TYPE_CHECKING:
    import scipy.sparse as sp


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
