"""Where a patch's control points start in space. Meng et al. 2025, supplement, section 3.3."""

import numpy as np
from scipy.spatial import cKDTree

from weft.base.arrays import Bools, CornerUv, Floats, Positions

OUTSIDE = 0.5  # tau: barycentric coordinates beyond -tau or 1 + tau are taken back to the edge
_NEAR = 16  # triangles, by their centers, in which a point is looked for
_SLACK = 1e-9


def lifted(points: Floats, corner_uv: CornerUv, corners: Floats) -> Positions:
    """(n,3) [m] of material points, by the triangles that hold them. Eq. 30.

    Args:
        points: (n,2) [m] in the material plane.
        corner_uv: (m,3,2) [m] triangles there.
        corners: (m,3,3) [m] the same triangles in space.

    Points outside take the triangle whose center is nearest; those far outside it are taken to its
    edge first.
    """
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
    """(...,3) coordinates of points (...,2) in triangles (...,3,2)."""
    a, b, d = t[..., 1, :] - t[..., 0, :], t[..., 2, :] - t[..., 0, :], p - t[..., 0, :]
    det = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    u = (d[..., 0] * b[..., 1] - d[..., 1] * b[..., 0]) / det
    v = (a[..., 0] * d[..., 1] - a[..., 1] * d[..., 0]) / det
    return np.stack([1 - u - v, u, v], axis=-1)


def _on_edge(p: Floats, t: Floats) -> Floats:
    """(n,3) coordinates of the points of triangles (n,3,2) nearest to p (n,2), on their edges."""
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
