"""Normals at the vertices of a triangle mesh that moves."""

import numpy as np

from weft.base.arrays import Floats, Ints, Positions


class VertexNormals:
    """Area-weighted vertex normals, by a sparse product, which is faster than adding up by
    index.
    """

    def __init__(self, faces: Ints, n_vertices: int) -> None:
        from scipy.sparse import csr_matrix

        m = len(faces)
        rows = (np.ones(3 * m), np.ascontiguousarray(faces).reshape(-1), 3 * np.arange(m + 1))
        self.faces = faces
        self.sum = csr_matrix(rows, shape=(m, n_vertices)).T.tocsr()

    def __call__(self, x: Positions) -> Floats:
        """Return (n,3) unit normals at positions x (n,3); zero at isolated vertices."""
        a, b, c = (x[self.faces[:, i]].T for i in range(3))
        u, v = b - a, c - a
        normal = np.stack(
            [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]],
            axis=1,
        )
        total = self.sum @ normal
        length = np.sqrt(np.einsum("ni,ni->n", total, total))[:, None]
        return np.asarray(total / np.where(length > 0, length, 1.0))
