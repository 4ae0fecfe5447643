"""Connected components of vertices, edges or faces that are joined in pairs."""

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Ints


def component_labels(pairs: ArrayLike, n: int) -> Ints:
    """Return the component of each of n things, (n,), numbered from 0.

    Args:
        pairs: (k,2) numbers of things that belong together.
        n: number of things.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    one, two = np.asarray(pairs).T
    graph = coo_matrix((np.ones(len(one)), (one, two)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int32)
