"""Initial positions of a patch's control points in space.

Meng et al. 2025, supplement, section 3.3.
"""

import numpy as np

from weft.base.arrays import Bools, CornerUv, Floats, Positions
from weft.discretization.polygon import cross

# tau: a point with a barycentric coordinate below -tau or above 1 + tau is moved to the edge.
OUTSIDE = 0.5
_NEAR = 16  # number of nearest triangles, by their centers, that are searched for a point
_SLACK = 1e-9  # tolerance of barycentric coordinates, so that points on an edge count as inside


def lift(points: Floats, corner_uv: CornerUv, corners: Floats) -> Positions:
    """Map material points to space by the triangles that contain them, (n,3) [m]. Eq. 30.

    A point outside all triangles is extrapolated from the triangle with the nearest center. If it
    is far outside that triangle, it is first moved to the triangle's edge.

    Args:
        points: (n,2) [m] in the material plane.
        corner_uv: (m,3,2) [m] triangles in the material plane.
        corners: (m,3,3) [m] the same triangles in space.
    """
    from scipy.spatial import cKDTree

    center = corner_uv.mean(1)
    count = min(_NEAR, len(center))
    _, near = cKDTree(center).query(points, k=count)
    near = near.reshape(len(points), count)
    weights = _barycentric(points[:, None], corner_uv[near])
    inside: Bools = np.all(weights >= -_SLACK, axis=2)
    choice = np.where(inside.any(1), inside.argmax(1), 0)
    each = np.arange(len(points))
    face, w = near[each, choice], weights[each, choice]
    beyond: Bools = (w < -OUTSIDE) | (w > 1 + OUTSIDE)
    far = ~inside.any(1) & beyond.any(1)
    w[far] = _on_edge(points[far], corner_uv[face[far]])
    return np.asarray(np.einsum("nk,nki->ni", w, corners[face]))


def _barycentric(p: Floats, t: Floats) -> Floats:
    """Return the barycentric coordinates (...,3) of points (...,2) in triangles (...,3,2)."""
    a, b, d = t[..., 1, :] - t[..., 0, :], t[..., 2, :] - t[..., 0, :], p - t[..., 0, :]
    det = cross(a, b)
    u, v = cross(d, b) / det, cross(a, d) / det
    return np.stack([1 - u - v, u, v], axis=-1)


def _on_edge(p: Floats, t: Floats) -> Floats:
    """Return barycentric coordinates (n,3) of the points on triangle edges nearest to p (n,2)."""
    best, found = np.full(len(p), np.inf), np.zeros((len(p), 3))
    for i, j in ((0, 1), (1, 2), (2, 0)):
        a, e = t[:, i], t[:, j] - t[:, i]
        s = np.clip(((p - a) * e).sum(1) / np.maximum((e**2).sum(1), 1e-300), 0.0, 1.0)
        distance = ((a + s[:, None] * e - p) ** 2).sum(1)
        w = np.zeros((len(p), 3))
        w[:, i], w[:, j] = 1 - s, s
        nearer = distance < best
        best, found[nearer] = np.where(nearer, distance, best), w[nearer]
    return found
