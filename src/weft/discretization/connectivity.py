"""Connected components of vertices, edges or faces that are joined in pairs."""

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import CornerUv, Faces, Ints


def face_islands(faces: Faces, uv: CornerUv) -> Ints:
    """Return the number of each face's island, (m,): faces that share vertices and coordinates.

    Args:
        faces: (m,3).
        uv: (m,3,2) coordinates of the corners.
    """
    corners = np.concatenate([faces[..., None], uv], axis=2)
    _, ids = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    f = ids.reshape(-1, 3)
    label = component_labels(np.concatenate([f[:, [0, 1]], f[:, [1, 2]]]), int(f.max()) + 1)
    return label[f[:, 0]]


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
