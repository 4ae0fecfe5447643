"""Plane sections of a mesh, and the tape that measures them.

A section's parts are the connected loops of the cut; a tape follows the convex hull of a part.
"""

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import half_edges


def cut_loop(x: Positions, faces: Faces, point: Floats, normal: Floats) -> Floats:
    """Return one closed part (n,3) [m] of a mesh's cut by a plane: that around a point.

    The part with the center nearest to the point is returned; (0,3) if the plane cuts nothing.

    Args:
        x: (b,3) [m] vertices.
        faces: (m,3).
        point: (3,) [m] in the plane.
        normal: (3,) of the plane.
    """
    points, label = cut_edges(x, faces, point, normal)
    if len(points) == 0:
        return points
    middles = np.array([points[label == k].mean(0) for k in range(int(label.max()) + 1)])
    best = int(np.argmin(((middles - point) ** 2).sum(1)))
    return np.asarray(points[label == best])


def cut_edges(x: Positions, faces: Faces, point: Floats, normal: Floats) -> tuple[Floats, Ints]:
    """Return the points (n,3) [m] where a plane cuts the edges of a mesh, and (n,) the part of the
    cut to which each one belongs.
    """
    unit = np.asarray(normal, dtype=np.float64) / np.linalg.norm(normal)
    side = (x - point) @ unit
    side = np.where(side == 0, 1e-12, side)  # no vertex lies in the plane: cuts are closed loops
    above = (side > 0)[faces]
    cut = faces[above.any(axis=1) & ~above.all(axis=1)]
    edges = np.sort(half_edges(cut).reshape(-1, 3, 2), axis=-1)  # (c,3,2)
    crossed = (side[edges[..., 0]] > 0) != (side[edges[..., 1]] > 0)
    pairs = edges[crossed].reshape(-1, 2, 2)  # two crossed edges of every face
    code = pairs[..., 0].astype(np.int64) * len(x) + pairs[..., 1]
    names, ids = np.unique(code, return_inverse=True)
    ids = ids.reshape(-1, 2)
    a, b = names // len(x), names % len(x)
    where = side[a] / (side[a] - side[b])
    points = x[a] + where[:, None] * (x[b] - x[a])
    return points, component_labels(ids, len(names))


def girth(
    x: Positions, faces: Faces, point: Floats, normal: Floats, *, whole: bool = False
) -> float:
    """Return the length [m] of a tape pulled tight around a mesh in a plane.

    The length is the perimeter of the convex hull of the cut.

    Args:
        x: (b,3) [m] vertices.
        faces: (m,3).
        point: (3,) [m] inside the part that is measured.
        normal: (3,) of the plane.
        whole: measure around all parts of the cut, not only the one around the point.
    """
    points = cut_edges(x, faces, point, normal)[0] if whole else cut_loop(x, faces, point, normal)
    return tape_length(points, normal)


def tape_length(points: Floats, normal: Floats) -> float:
    """Return the perimeter [m] of the convex hull of points (n,3) [m] in a plane with a normal."""
    unit = np.asarray(normal, dtype=np.float64) / np.linalg.norm(normal)
    across = np.cross(unit, np.eye(3)[int(np.argmin(np.abs(unit)))])
    across /= np.linalg.norm(across)
    return hull_perimeter(np.stack([points @ across, points @ np.cross(unit, across)], axis=1))


def hull_perimeter(points: Floats) -> float:
    """Return the perimeter [m] of the convex hull of points (n,2) [m]."""
    from scipy.spatial import ConvexHull

    return float(ConvexHull(points).area)  # SciPy's ``area`` of a plane hull is its perimeter
