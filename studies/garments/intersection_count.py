"""Count of intersecting triangles that shares no code with weft's contact: candidates by a k-d
tree, and a segment against a triangle in double precision (Moller and Trumbore 1997).
"""

import numpy as np
from scipy.spatial import cKDTree

from weft.base.arrays import Bools, Faces, Floats, Ints, Positions

ROOM = 1e-9  # [m] boxes are enlarged by it
PARALLEL = 1e-12  # sine of the angle from which a segment crosses a triangle's plane


def count_intersections(x: Positions, faces: Faces, cloth: int, names: Ints) -> int:
    """Return the number of pairs of faces that intersect.

    Faces that share a vertex do not count, nor do pairs of faces that are both of bodies.

    Args:
        x: (n,3) [m] vertices.
        faces: (m,3).
        cloth: the number of faces, the first ones, that are of the cloth.
        names: (n,) of every vertex; the same for vertices that are sewn together.
    """
    pairs = _candidates(x[faces], cloth)
    apart = names[faces]
    shared = (apart[pairs[:, 0]][:, :, None] == apart[pairs[:, 1]][:, None, :]).any((1, 2))
    pairs = pairs[~shared]
    corners = x[faces]
    meet = np.zeros(len(pairs), dtype=bool)
    for one, other in ((0, 1), (1, 0)):
        triangle, edges = corners[pairs[:, one]], corners[pairs[:, other]]
        for k in range(3):
            meet |= _crosses(edges[:, k], edges[:, (k + 1) % 3], triangle)
    return int(meet.sum())


def _candidates(corners: Floats, cloth: int) -> Ints:
    """Return the pairs (p,2) of faces whose boxes overlap; the first face of a pair is of cloth."""
    low, high = corners.min(1) - ROOM, corners.max(1) + ROOM
    middle = (low + high) / 2
    radius = np.linalg.norm(high - low, axis=1) / 2
    tree = cKDTree(middle)
    near = tree.query_ball_point(middle[:cloth], radius[:cloth] + radius.max())
    first = np.repeat(np.arange(cloth), [len(n) for n in near])
    second = np.concatenate([np.asarray(n, dtype=np.int64) for n in near])
    keep = (second > first) & ((low[first] <= high[second]) & (low[second] <= high[first])).all(1)
    return np.stack([first[keep], second[keep]], axis=1)


def _crosses(a: Positions, b: Positions, triangle: Floats) -> Bools:
    """Return whether the segment from a to b (p,3) crosses the triangle (p,3,3)."""
    along, e, f = b - a, triangle[:, 1] - triangle[:, 0], triangle[:, 2] - triangle[:, 0]
    across = np.cross(along, f)
    det = np.einsum("ij,ij->i", e, across)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1 / det
        start = a - triangle[:, 0]
        u = np.einsum("ij,ij->i", start, across) * inverse
        second = np.cross(start, e)
        v = np.einsum("ij,ij->i", along, second) * inverse
        t = np.einsum("ij,ij->i", f, second) * inverse
        inside = (u >= 0) & (v >= 0) & (u + v <= 1) & (t >= 0) & (t <= 1)
    scale = np.linalg.norm(along, axis=1) * np.linalg.norm(e, axis=1) * np.linalg.norm(f, axis=1)
    return np.asarray(inside & (np.abs(det) > PARALLEL * scale))
