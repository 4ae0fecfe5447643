"""Untangle surfaces that intersect, by shortening their intersection contours.

The method is that of Volino & Magnenat-Thalmann (2006). Where an edge with direction E passes
through a face with normal N, the contour continues in every face i of the edge along R_i, away from
the edge. A displacement d of the edge moves the crossing point by d - E (N.d)/(N.E), so the contour
gets shorter along

    D = sum_i [R_i - (R_i.E)/(N.E) N]

Edge and face are moved apart along D, in small steps, until no contour is left. The method needs no
closed surfaces and no memory of which side was which. It resolves small intersections, not deep
ones.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Faces, Floats, Ints, Positions
from weft.contact.contact import Contact
from weft.discretization.mesh import half_edges

MOST_ROUNDS = 400  # largest number of rounds
PATIENCE = 40  # rounds in which the number of intersections has to fall
STEP = 0.25  # of the gap: largest displacement in a round


@dataclass(frozen=True, eq=False)
class Crossing:
    """Edges that pass through faces."""

    edge: Ints  # (h,2) vertices
    face: Ints  # (h,3) vertices
    along: Floats  # (h,) position on the edge, 0 to 1
    inside: Floats  # (h,3) barycentric coordinates on the face
    direction: Floats  # (h,3) unit D


def remove_intersections(contact: Contact, x: Positions, free: Bools) -> tuple[Positions, Ints]:
    """Move vertices of x until no faces intersect, or until that no longer helps.

    Args:
        contact: the surfaces; bodies are where they are at time 0.
        x: (n,3) [m] positions, which may intersect.
        free: (n,) vertices that may be moved.

    Returns:
        (n,3) [m] positions near x, and the pairs of faces (k,2) that still intersect.
    """
    x = np.array(x, dtype=np.float64)
    faces = contact.mesh.faces
    body = contact.body_positions(0.0)
    mobile = np.concatenate([free, np.zeros(len(body), dtype=bool)])
    least, since = np.inf, 0
    for _ in range(MOST_ROUNDS):
        pairs = contact.crossings(x)
        least, since = (len(pairs), 0) if len(pairs) < least else (least, since + 1)
        if len(pairs) == 0 or since == PATIENCE:
            break
        y = np.concatenate([x, body])
        move = _moves(y, crossings_of(y, faces, pairs), mobile)
        length = np.linalg.norm(move, axis=1)
        most = float(length.max(initial=0.0))
        if most == 0.0:
            break
        x += (STEP * contact.gap / most) * move[: len(x)]
    return x, pairs


def crossings_of(y: Positions, faces: Faces, pairs: Ints) -> Crossing:
    """Return where the edges of pairs of faces pass through the other face.

    Args:
        y: (n+b,3) [m] vertices of cloth and bodies.
        faces: (m,3) vertices.
        pairs: (k,2) faces that intersect.
    """
    table = _faces_of_edges(faces)
    edges, through = [], []
    for one, other in ((0, 1), (1, 0)):
        corners = faces[pairs[:, one]]
        for k in range(3):
            edges.append(np.sort(corners[:, [k, (k + 1) % 3]], axis=1))
            through.append(pairs[:, other])
    both = np.unique(np.column_stack([np.concatenate(edges), np.concatenate(through)]), axis=0)
    edge, face = both[:, :2], faces[both[:, 2]]
    p, q = y[edge[:, 0]], y[edge[:, 1]]
    a, b, c = (y[face[:, k]] for k in range(3))
    normal = np.cross(b - a, c - a)
    high, low = (((r - a) * normal).sum(1) for r in (p, q))
    apart = ~(edge[:, :, None] == face[:, None, :]).any((1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        along = high / (high - low)
        point = p + along[:, None] * (q - p)
        area = (normal * normal).sum(1)
        wb = (np.cross(point - a, c - a) * normal).sum(1) / area
        wc = (np.cross(b - a, point - a) * normal).sum(1) / area
    inside = np.column_stack([1 - wb - wc, wb, wc])
    hit = apart & (high * low < 0) & (inside >= 0).all(1)
    edge, face, along, inside = edge[hit], face[hit], along[hit], inside[hit]
    unit = normal[hit] / np.sqrt(area[hit])[:, None]
    direction = _shortening(y, edge, unit, faces, table)
    size = np.linalg.norm(direction, axis=1)
    # A contour that goes straight on gives no direction: the edge moves along the face's normal,
    # the shorter way out.
    out = np.where(along < 0.5, 1.0, -1.0) * np.sign(low[hit] - high[hit])
    flat = size < 1e-6
    direction[flat] = (out[:, None] * unit)[flat]
    size = np.maximum(np.linalg.norm(direction, axis=1), 1e-300)
    return Crossing(edge, face, along, inside, direction / size[:, None])


def _shortening(y: Positions, edge: Ints, normal: Floats, faces: Faces, table: Ints) -> Floats:
    """Return D of edges (h,2) that pass through faces with unit normals (h,3), (h,3)."""
    e = y[edge[:, 1]] - y[edge[:, 0]]
    along = (e * normal).sum(1)
    total = np.zeros((len(edge), 3))
    keys = table[:, 0] * (int(faces.max()) + 1) + table[:, 1]
    wanted = edge[:, 0] * np.int64(int(faces.max()) + 1) + edge[:, 1]
    first, last = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
    for k in range(int((last - first).max(initial=0))):
        has = first + k < last
        owner = faces[table[np.minimum(first + k, len(table) - 1), 2]]
        third = np.where(has, owner.sum(1) - edge.sum(1), edge[:, 0])  # not of another edge's face
        own = np.cross(e, y[third] - y[edge[:, 0]])
        r = np.cross(own, normal)
        inward = np.cross(own, e)  # in the face, orthogonal to the edge, towards the third vertex
        r *= np.sign((r * inward).sum(1))[:, None]
        r /= np.maximum(np.linalg.norm(r, axis=1), 1e-300)[:, None]
        part = r - ((r * e).sum(1) / along)[:, None] * normal
        # At most unit length: a part is unbounded if the edge is nearly parallel to the face.
        size = np.maximum(np.linalg.norm(part, axis=1), 1.0)
        total += np.where(has[:, None], part / size[:, None], 0.0)
    return total


def _moves(y: Positions, found: Crossing, mobile: Bools) -> Floats:
    """Return the mean displacement of every vertex, (n+b,3): edges move along D, faces
    against it.
    """
    weights = np.column_stack([1 - found.along, found.along, -found.inside])
    ids = np.concatenate([found.edge, found.face], axis=1)
    weights = np.where(mobile[ids], weights, 0.0)
    norm = np.maximum((weights**2).sum(1, keepdims=True), 1e-12)
    shift = (weights / norm)[:, :, None] * found.direction[:, None, :]
    total, count = np.zeros_like(y), np.zeros(len(y))
    np.add.at(total, ids.reshape(-1), shift.reshape(-1, 3))
    np.add.at(count, ids.reshape(-1), (weights != 0).reshape(-1).astype(np.float64))
    return total / np.maximum(count, 1.0)[:, None]


def _faces_of_edges(faces: Faces) -> Ints:
    """Return the lower and the higher vertex of every side of every face, and the face, (3m,3),
    sorted.
    """
    sides = np.sort(half_edges(faces).astype(np.int64), axis=1)
    table = np.column_stack([sides, np.repeat(np.arange(len(faces)), 3)])
    return table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
