"""Linear triangles: one sample for each face, on which F is constant.

Kim 2020, eqs. 2-3 (Dm_inv there).
"""

import numpy as np

from weft.base.arrays import CornerUv, Gradients
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import triangle_sides
from weft.discretization.samples import Samples


def triangle_gradients(corner_uv: CornerUv) -> Gradients:
    """Return the gradients (m,3,2) [1/m] of the shape functions of triangles with area.

    Args:
        corner_uv: (m,3,2) [m] material coordinates.
    """
    # Columns of Dm are the material edges from corner 0; rows of Dm_inv are the gradients of N_1
    # and N_2.
    Dm_inv = np.linalg.inv(np.stack(triangle_sides(corner_uv), axis=2))
    return np.concatenate([-Dm_inv.sum(axis=1, keepdims=True), Dm_inv], axis=1)


def linear_triangle(mesh: TriangleMesh) -> Samples:
    """Return the samples of a triangle mesh, from its material coordinates.

    Faces of mirrored UV islands get positive weights like all others.
    """
    gradient = triangle_gradients(mesh.corner_uv)
    return Samples(mesh.faces, gradient, mesh.rest_area, mesh.n_vertices)
