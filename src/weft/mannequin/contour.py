"""Closed triangle mesh of the zero set of a signed distance.

Surface nets: one vertex in every cell of a grid that the surface crosses, one quad around every
edge of the grid that it crosses. Then the vertices move along the surface towards the middle of
their neighbors and are projected back onto it, while edges flip to make the mesh Delaunay.
"""

import numpy as np

from weft.base.arrays import Faces, Ints, Positions
from weft.base.errors import MannequinError
from weft.discretization.connectivity import component_labels
from weft.mannequin.relax import relax_mesh
from weft.mannequin.solids import Ids, Union
from weft.mannequin.surface_nets import surface_nets

ATTEMPTS = 6  # number of grids that are tried, each shifted by a part of a cell


def contour(shape: Union, size: float) -> tuple[Positions, Faces]:
    """Return the closed triangle mesh of a shape.

    Args:
        shape: the solids.
        size: [m] size of the grid's cells, which is about the edge length.

    Returns:
        Vertices (b,3) [m] and faces (m,3), counter-clockwise seen from outside.

    Raises:
        MannequinError: no closed manifold on any of the grids that are tried.
    """
    for attempt in range(ATTEMPTS):
        shift = size * np.array([0.5, 0.31, 0.17]) * attempt / ATTEMPTS
        x, quads = surface_nets(shape, size, shift)
        faces = split_quads(x, quads)
        if is_manifold(faces):
            return relax_mesh(shape, x, faces)
    raise MannequinError(
        "mannequin", got="limbs that touch", expected="measures that leave gaps between them"
    )


def split_quads(x: Positions, quads: Ids) -> Faces:
    """Return triangles (2q,3): every quad is split along its shorter diagonal.

    Args:
        x: (b,3) [m] vertices.
        quads: (q,4).
    """
    a, b, c, d = quads.T
    short = ((x[a] - x[c]) ** 2).sum(1) <= ((x[b] - x[d]) ** 2).sum(1)
    one = np.where(short[:, None], np.stack([a, b, c], 1), np.stack([a, b, d], 1))
    two = np.where(short[:, None], np.stack([a, c, d], 1), np.stack([b, c, d], 1))
    return np.concatenate([one, two]).astype(np.int32)


def is_manifold(faces: Faces) -> bool:
    """Return whether a mesh is a closed, oriented manifold.

    Every edge must have two faces of the same orientation, and every vertex one fan of faces.
    """
    half = np.stack([faces, np.roll(faces, -1, axis=1)], -1).reshape(-1, 2).astype(np.int64)
    n = int(faces.max()) + 1
    code, back = half[:, 0] * n + half[:, 1], half[:, 1] * n + half[:, 0]
    if len(np.unique(code)) < len(code) or not np.array_equal(np.sort(code), np.sort(back)):
        return False
    return bool((_fans(faces, n) == 1).all())


def _fans(faces: Faces, n: int) -> Ints:
    """Return (n,) the number of fans that the faces around every vertex form."""
    corner = np.arange(3 * len(faces)).reshape(-1, 3)
    # Two corners at a vertex are joined if their faces share an edge at this vertex.
    ahead = np.roll(faces, -1, axis=1).astype(np.int64)
    behind = np.roll(faces, 1, axis=1).astype(np.int64)
    leaving = (faces.astype(np.int64) * n + ahead).reshape(-1)
    entering = (faces.astype(np.int64) * n + behind).reshape(-1)
    order, other = np.argsort(leaving), np.argsort(entering)
    pairs = np.stack([corner.reshape(-1)[order], corner.reshape(-1)[other]], axis=1)
    label = component_labels(pairs, 3 * len(faces))
    vertex = np.zeros(label.max(initial=-1) + 1, dtype=np.int64)
    vertex[label] = faces.reshape(-1)
    return np.bincount(vertex, minlength=n).astype(np.int32)
