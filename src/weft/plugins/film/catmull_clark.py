"""Catmull-Clark subdivision of polygons, with creases, corners and borders as OpenSubdiv has them.

Catmull and Clark 1978; semi-sharp creases: DeRose, Kass and Truong 1998, with the fractional rule
of OpenSubdiv (``sdc/scheme.h``). A level is a linear map: one matrix moves the surface with its
cage.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array, eye_array, vstack

from weft.base.arrays import AnyArray, Bools, Floats

INFINITE = 10.0  # sharpness from which a crease stays sharp at every level (UsdGeomMesh)


@dataclass(frozen=True, eq=False)
class Subdivision:
    """Polygons of a level of a subdivision surface, and how they follow from the cage.

    Args:
        counts: (m,) number of corners of each polygon.
        ids: (c,) vertex of each corner. The vertices of the cage keep their numbers.
        edges: (k,2) sharp edges.
        sharpness: (k,) how many levels they stay sharp; 10 and more: for ever.
        corners: (n,) the same of vertices; 0: smooth.
        points: (n,N) weights of the N vertices of the cage.
        values: (c,C) weights of values at the C corners of the cage, which are linear in a polygon.
        polygon: (m,) the polygon of the cage that each belongs to.
    """

    counts: AnyArray
    ids: AnyArray
    edges: AnyArray
    sharpness: Floats
    corners: Floats
    points: csr_array
    values: csr_array
    polygon: AnyArray

    def refine(self) -> "Subdivision":
        """Return the next level, which has a quad for every corner."""
        n, m, c, ids = len(self.corners), len(self.counts), len(self.ids), self.ids
        face, every = np.repeat(np.arange(m), self.counts), np.arange(c)
        last = np.cumsum(self.counts) - 1
        ahead, back = every + 1, every - 1
        ahead[last], back[last - self.counts + 1] = last - self.counts + 1, last
        keys, edge = np.unique(_key(np.stack([ids, ids[ahead]], axis=1), n), return_inverse=True)
        pairs, ne = np.stack(np.divmod(keys, n), axis=1), len(keys)
        sharp = np.where(np.bincount(edge) == 2, 0.0, INFINITE)  # borders
        found = np.isin(_key(self.edges, n), keys)
        place = np.searchsorted(keys, _key(self.edges[found], n))
        sharp[place] = np.maximum(sharp[place], self.sharpness[found])
        to_face = _means(face, ids, (m, n))
        middle = _means(np.repeat(np.arange(ne), 2), pairs.reshape(-1), (ne, n))
        smooth = (middle + _means(edge, face, (ne, m)) @ to_face) / 2
        to_edge = _blend(np.minimum(sharp, 1.0), middle, smooth)
        around = _means(pairs.reshape(-1), np.repeat(np.arange(ne), 2), (n, ne))
        valence = np.maximum(np.bincount(pairs.reshape(-1), minlength=n), 1)
        smooth = diags_array(1 / valence) @ (
            _means(ids, face, (n, m)) @ to_face
            + 2 * around @ middle
            + diags_array(valence - 3.0)  # of the vertex itself
        )
        touches = (around > 0).astype(float)

        def vertex_rule(sharp: Floats, corners: Floats) -> csr_array:
            count = touches @ (sharp > 0)
            fixed, crease = (corners > 0) | (count > 2), count == 2
            along = (eye_array(n) + touches @ diags_array((sharp > 0) / 2.0) @ middle) / 2
            return _blend(fixed, eye_array(n), _blend(crease, along, smooth))

        less, fewer = _next_level(sharp), _next_level(self.corners)
        ends, ends_here = (sharp > 0) & (less == 0), (self.corners > 0) & (fewer == 0)
        total = touches @ np.where(ends, sharp, 0.0) + np.where(ends_here, self.corners, 0.0)
        part = np.minimum(total / np.maximum(touches @ ends + ends_here, 1), 1.0)
        to_vertex = _blend(part, vertex_rule(sharp, self.corners), vertex_rule(less, fewer))
        step = vstack([to_vertex, to_edge, to_face], format="csr")
        same, middle_of = eye_array(c, format="csr"), _means(face, every, (m, c))
        halves = [(same + same[to]) / 2 for to in (ahead, back)]
        each = vstack([same, halves[0], middle_of[face], halves[1]], format="csr")
        first, second = np.stack([pairs[:, 0], n + np.arange(ne), pairs[:, 1]])[[[0, 1], [1, 2]]]
        return Subdivision(
            np.full(c, 4),
            np.stack([ids, n + edge, n + ne + face, n + edge[back]], axis=1).reshape(-1),
            np.concatenate([first.T[less > 0], second.T[less > 0]]),
            np.tile(less[less > 0], 2),
            np.concatenate([fewer, np.zeros(ne + m)]),
            csr_array(step @ self.points),
            csr_array(each[np.arange(4 * c).reshape(4, c).T.reshape(-1)] @ self.values),
            self.polygon[face],
        )


def cage(
    counts: AnyArray, ids: AnyArray, n: int, edges: AnyArray, sharpness: Floats, corners: Floats
) -> Subdivision:
    """Return the cage of a subdivision surface of n vertices: polygons, sharp edges and vertices.

    Vertices without polygons have to be sharp.
    """
    points, values = eye_array(n, format="csr"), eye_array(len(ids), format="csr")
    polygon = np.arange(len(counts))
    return Subdivision(counts, ids, edges, sharpness, corners, points, values, polygon)


def _key(pairs: AnyArray, n: int) -> AnyArray:
    """Return a number for every pair (k,2) of vertices, in either order."""
    return np.asarray(np.sort(pairs, axis=1).astype(np.int64) @ np.array([n, 1]))


def _next_level(sharpness: Floats) -> Floats:
    return np.where(sharpness < INFINITE, np.maximum(sharpness - 1, 0.0), sharpness)


def _means(rows: AnyArray, columns: AnyArray, shape: tuple[int, int]) -> csr_array:
    """Return a matrix whose rows are means over columns."""
    weights = 1 / np.bincount(rows, minlength=shape[0])[rows]
    return csr_array(coo_array((weights, (rows, columns)), shape))


def _blend(part: Floats | Bools, one: csr_array, other: csr_array) -> csr_array:
    """Return the rows of one matrix by a part of each, and of another one by the rest."""
    return csr_array(diags_array(1.0 * part) @ one + diags_array(1.0 - part) @ other)
