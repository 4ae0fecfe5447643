"""Ties of attachments to bodies: the pairs of vertices whose primitives contact must leave out."""

import numpy as np

from weft import kernel
from weft.base.arrays import Ints, Positions
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.distance.distance import PairKind
from weft.contact.exact.crossings import Crossings


def needed_ties(mesh: CollisionMesh, y: Positions, ties: Ints, n: int) -> Ints:
    """Return those of the ties that contact needs, (j,2).

    A tie between cloth and body is needed where primitives of both are within the reach of contact
    at the start, or intersect. A tie between two vertices of the cloth is always needed.

    Args:
        mesh: the surfaces, without ties.
        y: (n+b,3) [m] vertices at the start.
        ties: (k,2) vertices that are tied, that of the cloth first.
        n: number of vertices of the cloth.
    """
    reach = mesh.gap + mesh.sides.thickest
    near = find_candidates(mesh, y, reach)
    pairs, kinds = (np.array(kernel.numpy(a)) for a in near.device)
    touch = near.distances(y) <= reach
    edges = kinds[touch] == PairKind.EDGE_EDGE
    crossing = mesh.faces[Crossings.of(mesh, y).forbidden]
    sides = (
        (pairs[touch][edges, :2], pairs[touch][edges, 2:]),
        (pairs[touch][~edges, :1], pairs[touch][~edges, 1:]),
        (crossing[:, 0], crossing[:, 1]),
    )
    keys = [_keys(a, b, len(y)) for one, other in sides for a, b in ((one, other), (other, one))]
    met = np.isin(_keys(ties[:, :1], ties[:, 1:], len(y)), np.concatenate(keys))
    return np.asarray(ties[met | (ties[:, 1] < n)])


def _keys(one: Ints, other: Ints, n: int) -> Ints:
    """Return a number for each pair of a vertex of ``one`` (m,a) and one of ``other`` (m,b)."""
    return np.asarray((one[:, :, None].astype(np.int64) * n + other[:, None, :]).reshape(-1))
