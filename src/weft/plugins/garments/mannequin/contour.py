"""Closed triangle mesh of the zero set of a signed distance.

Surface nets: one vertex in every cell of a grid that the surface crosses, one quad around every
edge of the grid that it crosses. Gibson's surface nets (1998) have one vertex per cell, so that
sheets which meet in a cell are glued together; here they stay separate (dual marching cubes:
Nielson 2004). On a face whose corners alternate in sign, the corners inside are taken to be
separate. Then the vertices move along the surface towards the middle of their neighbors and are
projected back onto it, while edges flip to make the mesh Delaunay.
"""

from functools import cache
from itertools import product

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Ints, Positions
from weft.base.errors import MannequinError
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import are_among, cut_quads, half_edges, unique_edges
from weft.plugins.garments.mannequin.solids import FAR, Ids, Union, smooth_minimum

ROUNDS, FLIPS = 14, 12  # rounds of sliding; limit of rounds in ``flip_edges``
STEP = 0.6  # part of the way to the middle of the neighbors
FAIRING = (0.5, -0.53)  # steps to the middle and back (Taubin 1995) that smooth blends of solids
FAIRED = 14  # number of such pairs of steps
ATTEMPTS = 6  # number of grids that are tried, each shifted by a part of a cell

CORNERS = np.array(list(product((0, 1), repeat=3)))  # number 4i + 2j + k
# An edge of a cell by its axis and its place (0 or 1) along the two next axes: 4 axis + 2u + v.
EDGES = np.zeros((12, 2, 3), dtype=np.int64)
for _axis, _u, _v in product(range(3), (0, 1), (0, 1)):
    EDGES[4 * _axis + 2 * _u + _v, :, (_axis + 1) % 3] = _u
    EDGES[4 * _axis + 2 * _u + _v, :, (_axis + 2) % 3] = _v
    EDGES[4 * _axis + 2 * _u + _v, 1, _axis] = 1
INNER = (0.05, 0.95)  # part of an edge to which crossings are clamped
_WEIGHTS = np.array([4, 2, 1])


def surface_nets(shape: Union, size: float, shift: Floats) -> tuple[Positions, Ids]:
    """Return the quads of a surface on a grid.

    Args:
        shape: the solids.
        size: [m] of the cells.
        shift: (3,) [m] of the grid.

    Returns:
        Vertices (b,3) [m] and quads (q,4), counter-clockwise seen from outside.
    """
    low, high = shape.box()
    first = np.floor(low / size) - 3
    counts = (np.ceil(high / size) + 3 - first).astype(np.int64)
    origin = first * size + shift
    values = sample_grid(shape, origin, counts, size)
    inside = values < 0
    n = counts - 1
    config = np.zeros(tuple(n), dtype=np.int64)
    for bit, (i, j, k) in enumerate(CORNERS):
        config |= inside[i : n[0] + i, j : n[1] + j, k : n[2] + k].astype(np.int64) << bit
    sheets, number = _table()
    start = (np.cumsum(number[config].reshape(-1)) - number[config].reshape(-1)).reshape(n)
    total = np.zeros((int(number[config].sum()), 3))
    count = np.zeros(len(total))
    quads = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        head, tail = [slice(None)] * 3, [slice(None)] * 3
        head[axis], tail[axis] = slice(0, -1), slice(1, None)
        a, b = values[tuple(head)], values[tuple(tail)]
        edges = np.argwhere((a < 0) != (b < 0))
        one, two = a[tuple(edges.T)], b[tuple(edges.T)]
        where = edges.astype(np.float64)
        where[:, axis] += np.clip(one / (one - two), *INNER)  # so that vertices do not coincide
        ring = []
        for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):  # position of the edge in each of 4 cells
            cell = edges.copy()
            cell[:, u] -= du
            cell[:, v] -= dv
            at = tuple(cell.T)
            ids = start[at] + sheets[config[at], 4 * axis + 2 * du + dv]
            for i in range(3):
                total[:, i] += np.bincount(ids, where[:, i], len(total))
            count += np.bincount(ids, minlength=len(total))
            ring.append(ids)
        quad = np.stack(ring, axis=1)
        quads.append(np.where((one < 0)[:, None], quad, quad[:, ::-1]))
    return origin + size * total / count[:, None], np.concatenate(quads)


def sample_grid(shape: Union, origin: Floats, counts: Ids, size: float) -> Floats:
    """Return the distances (nx,ny,nz) [m] on a grid; every solid is evaluated only near its box.

    Args:
        shape: the solids.
        origin: (3,) [m] first point of the grid.
        counts: (3,) numbers of points.
        size: [m] of the cells.
    """
    values = np.full(tuple(counts), FAR)
    axes = [origin[i] + size * np.arange(counts[i]) for i in range(3)]
    for solid in shape.solids:
        low, high = solid.box()
        margin = shape.reach + 1.5 * size
        cut = tuple(
            slice(*np.searchsorted(a, (lo - margin, hi + margin)))
            for a, lo, hi in zip(axes, low, high)
        )
        points = np.stack(np.meshgrid(*(a[c] for a, c in zip(axes, cut)), indexing="ij"), -1)
        d = solid.distance(points.reshape(-1, 3)).reshape(points.shape[:3])
        values[cut] = smooth_minimum(values[cut], d, solid.blend)
    return values


@cache
def _table() -> tuple[Ids, Ids]:
    """Return, for every pattern of corners inside, (256,12) the sheet that crosses each edge of a
    cell, and (256,) the number of sheets.
    """
    sheets, number = np.zeros((256, 12), dtype=np.int64), np.zeros(256, dtype=np.int64)
    for config in range(256):
        inside = np.array([config >> bit & 1 for bit in range(8)], dtype=bool)
        label = _labels(inside)
        names: dict[tuple[int, int], int] = {}
        for e, (p, q) in enumerate(EDGES):
            a, b = int(p @ _WEIGHTS), int(q @ _WEIGHTS)
            if inside[a] != inside[b]:
                pair = (label[a], label[b]) if inside[a] else (label[b], label[a])
                sheets[config, e] = names.setdefault(pair, len(names))
        number[config] = len(names)
    return sheets, number


def _labels(inside: Bools) -> list[int]:
    """Return the components of the 8 corners: those inside are joined along edges, those outside
    across faces, too.
    """
    label, signs = list(range(8)), inside.tolist()
    for _ in range(4):
        for a, b in product(range(8), repeat=2):
            if signs[a] == signs[b] and (a ^ b).bit_count() <= (1 if signs[a] else 2):
                label[a] = label[b] = min(label[a], label[b])
    return label


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
    return total / count[:, None]


def flip_edges(x: Positions, faces: Faces) -> Faces:
    """Return the faces after edge flips that make the mesh intrinsically Delaunay.

    At most ``FLIPS`` rounds are made. Flips that fold the surface or repeat an edge are left out.
    """
    faces = np.array(faces)
    for _ in range(FLIPS):
        left, right, a, b, c, d = _edges(faces)
        bad = _angle(x, c, a, b) + _angle(x, d, a, b) > np.pi + 1e-3
        bad &= _normals_agree(x, a, b, c, d)
        bad &= ~are_among(np.stack([c, d], axis=1), unique_edges(faces)[0])
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
    a, b = half_edges(faces).astype(np.int64).T
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


def _independent_edges(edges: Ids, corners: Ids, n: int) -> Ids:
    """Return a subset of the edges, no two of which share a corner of their faces, because all
    flips of a round are applied at once.
    """
    first = np.full(n, np.iinfo(np.int64).max)
    np.minimum.at(first, corners[edges], edges[:, None])
    return np.asarray(edges[(first[corners[edges]] == edges[:, None]).all(1)])


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
    return np.concatenate(cut_quads(quads, ~short)).astype(np.int32)


def is_manifold(faces: Faces) -> bool:
    """Return whether a mesh is a closed, oriented manifold.

    Every edge must have two faces of the same orientation, and every vertex one fan of faces.
    """
    a, b = half_edges(faces).astype(np.int64).T
    n = int(faces.max()) + 1
    code, back = a * n + b, b * n + a
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
