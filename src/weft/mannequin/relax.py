"""Relaxation of a mesh on a smooth surface: vertices slide and edges flip to well-shaped
triangles.
"""

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Positions
from weft.mannequin.solids import Ids, Union

ROUNDS, FLIPS = 14, 12  # rounds of sliding; limit of rounds in ``flip_edges``
STEP = 0.6  # part of the way to the middle of the neighbors
FAIRING = (0.5, -0.53)  # steps to the middle and back (Taubin 1995) that smooth blends of solids
FAIRED = 14  # number of such pairs of steps


def relax_mesh(shape: Union, x: Positions, faces: Faces) -> tuple[Positions, Faces]:
    """Return the mesh with well-shaped triangles.

    Vertices are moved onto the zero set and along it to the middle of their neighbors; edges are
    flipped if the angles opposite to them sum to more than 180 degrees; then the mesh is faired.

    Args:
        shape: the solids.
        x: (b,3) [m] vertices near the zero set.
        faces: (m,3) of a closed manifold.
    """
    for k in range(ROUNDS):
        if k % 5 == 0:
            near = shape.near(x, 0.02)
        distance, normal = shape.with_gradient(x, near)
        steep = np.maximum((normal**2).sum(1), 0.05)[:, None]
        move = STEP * (_neighbor_mean(x, faces, by_length=True) - x) * (k > 0)
        move -= np.einsum("ni,ni->n", move, normal)[:, None] * normal / steep
        x = x + move - np.clip(distance[:, None] / steep, -0.01, 0.01) * normal
        if k % 3 == 2:
            faces = flip_edges(x, faces)
    for _ in range(2):
        distance, normal = shape.with_gradient(x, near)
        x = x - distance[:, None] / np.maximum((normal**2).sum(1), 0.05)[:, None] * normal
    faces = flip_edges(x, faces)
    for way in FAIRING * FAIRED:
        x = x + way * (_neighbor_mean(x, faces) - x)
    return x, faces


def _neighbor_mean(x: Positions, faces: Faces, by_length: bool = False) -> Positions:
    """Return (n,3) the mean of the neighbors of every vertex of a closed mesh.

    With ``by_length``, neighbors are weighted by the lengths of the edges, which keeps vertices
    from clustering.
    """
    n = len(x)
    ids = faces.reshape(-1)
    ahead = x[np.roll(faces, -1, axis=1).reshape(-1)]
    weight = np.linalg.norm(ahead - x[ids], axis=1) if by_length else np.ones(len(ids))
    count = np.maximum(np.bincount(ids, weight, n), 1e-12)
    total = np.stack([np.bincount(ids, weight * ahead[:, i], n) for i in range(3)], axis=1)
    return np.asarray(total / count[:, None])


def flip_edges(x: Positions, faces: Faces) -> Faces:
    """Return the faces after edge flips that make the mesh intrinsically Delaunay.

    At most ``FLIPS`` rounds are made. Flips that fold the surface or repeat an edge are left out.
    """
    faces = np.array(faces)
    for _ in range(FLIPS):
        left, right, a, b, c, d = _edges(faces)
        bad = _angle(x, c, a, b) + _angle(x, d, a, b) > np.pi + 1e-3
        bad &= _normals_agree(x, a, b, c, d) & ~_edge_exists(faces, c, d)
        chosen = _independent_edges(np.flatnonzero(bad), np.stack([a, b, c, d], axis=1), len(x))
        if len(chosen) == 0:
            break
        faces[left[chosen]] = np.stack([a[chosen], d[chosen], c[chosen]], axis=1)
        faces[right[chosen]] = np.stack([b[chosen], c[chosen], d[chosen]], axis=1)
    return faces


def _edges(faces: Faces) -> tuple[Ids, ...]:
    """Return, for every edge a-b, its left and right face, its ends, and the opposite corners (c,
    d).
    """
    n = int(faces.max()) + 1
    a, b = (
        faces.reshape(-1).astype(np.int64),
        np.roll(faces, -1, axis=1).reshape(-1).astype(np.int64),
    )
    c = np.roll(faces, -2, axis=1).reshape(-1).astype(np.int64)
    order, back = np.argsort(a * n + b), np.argsort(b * np.int64(n) + a)
    twin = np.empty(len(a), dtype=np.int64)
    twin[order] = back
    e = np.flatnonzero(a < b)
    t = twin[e]
    return e // 3, t // 3, a[e], b[e], c[e], c[t]


def _angle(x: Positions, tip: Ids, a: Ids, b: Ids) -> Floats:
    """Return the angles (n,) [rad] at the tips."""
    u, v = x[a] - x[tip], x[b] - x[tip]
    sine = np.linalg.norm(np.cross(u, v), axis=1)
    return np.asarray(np.arctan2(sine, np.einsum("ni,ni->n", u, v)))


def _normals_agree(x: Positions, a: Ids, b: Ids, c: Ids, d: Ids) -> Bools:
    """Return (n,) whether both new faces have normals like those of the old faces."""
    old = np.cross(x[b] - x[a], x[c] - x[a]) + np.cross(x[a] - x[b], x[d] - x[b])
    one = np.cross(x[d] - x[a], x[c] - x[a])
    two = np.cross(x[c] - x[b], x[d] - x[b])
    least = 0.1 * np.einsum("ni,ni->n", old, old)
    return np.asarray(
        (np.einsum("ni,ni->n", one, old) > least) & (np.einsum("ni,ni->n", two, old) > least)
    )


def _edge_exists(faces: Faces, c: Ids, d: Ids) -> Bools:
    """Return (n,) whether an edge c-d already exists."""
    n = int(faces.max()) + 1
    half = np.stack([faces, np.roll(faces, -1, axis=1)], -1).reshape(-1, 2).astype(np.int64)
    return np.isin(np.sort(np.stack([c, d], 1), 1) @ [n, 1], np.sort(half, 1) @ [n, 1])


def _independent_edges(edges: Ids, corners: Ids, n: int) -> Ids:
    """Return a subset of the edges, no two of which share a corner of their faces, because all
    flips of a round are applied at once.
    """
    first = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(first, corners[edges], edges[:, None])
    return np.asarray(edges[(first[corners[edges]] == edges[:, None]).all(1)])
