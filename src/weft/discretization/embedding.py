"""Points that are fixed combinations of others, y = W x: the vertices of a surface that is seen and
touched, of the points that move it.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.discretization.samples import as_wide


@dataclass(frozen=True, eq=False)
class Embedding:
    """y_i = sum_a weight_ia x[stencil_ia]."""

    stencil: Ints  # (n,k) points that move vertex i
    weight: Floats  # (n,k), each row sums to one
    n_points: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "stencil", np.ascontiguousarray(self.stencil, dtype=np.int32))
        object.__setattr__(self, "weight", np.ascontiguousarray(self.weight, dtype=np.float64))

    def __len__(self) -> int:
        return len(self.stencil)

    @cached_property
    def matrix(self) -> Any:
        """(n,n_points) SciPy CSR W, without zeros."""
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
        """Whether the vertices are the points."""
        return self.stencil.shape == (self.n_points, 1) and np.array_equal(
            self.stencil[:, 0], np.arange(self.n_points)
        )

    def of(self, x: Floats) -> Floats:
        """(n,d) of points (n_points or more, d)."""
        return np.asarray(self.matrix @ x[: self.n_points])

    def wider(self, n_points: int) -> "Embedding":
        """The same beside more points."""
        if n_points == self.n_points:
            return self
        return Embedding(self.stencil, self.weight, n_points)

    @staticmethod
    def joined(parts: "list[Embedding]", n_points: int) -> "Embedding":
        """The vertices of all, one after the other; numbers of points are common already."""
        stencil, weight = as_wide([p.stencil for p in parts], [p.weight for p in parts])
        return Embedding(stencil, weight, n_points)
