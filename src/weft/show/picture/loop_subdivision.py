"""A smooth surface through the vertices of a mesh, for pictures, by Loop's subdivision.

The scheme is that of Loop 1987, "Smooth subdivision surfaces based on triangles", with Warren's
weights. Its control points are moved so that the surface passes through the vertices. Borders
become cubic splines of their own vertices, and their corners stay. So do sharp edges, such as
pressed folds: they are creases of Hoppe et al. 1994, "Piecewise smooth surface reconstruction".
"""

import numpy as np
from scipy.sparse import csr_matrix

from weft.base.arrays import AnyArray, Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.discretization.mesh import are_among, divide_faces, unique_edges
from weft.discretization.polygon import turn_angles

FITS = 4  # corrections of the control points; each removes at least a quarter of the error
CORNER = np.radians(50.0)  # a border that turns by more has a corner


class LoopSubdivision:
    """A mesh with 4^levels faces for each face of another.

    Material coordinates are subdivided as the surface of a mesh of their own, which is cut along
    seams, so that lines of the material stay as smooth as the cloth.

    Args:
        faces: (m,3).
        uv: (m,3,2) [m] material coordinates of the corners.
        n: number of vertices.
        levels: at least 1.
        sharp: (k,2) vertices of edges at which the surface is not smooth; None: none.

    Attributes:
        faces: (4^levels m, 3); the first n vertices are those of the mesh.
        uv: (4^levels m, 3, 2).
        n_fine: number of vertices.
        parent: (4^levels m,) the face that each came from.
        sharp: (2^levels k,2) vertices of the parts of the sharp edges; None: there are none.
    """

    def __init__(
        self, faces: Faces, uv: CornerUv, n: int, levels: int, sharp: Ints | None = None
    ) -> None:
        corners = np.concatenate([faces.reshape(-1, 1), np.round(uv.reshape(-1, 2) * 1e7)], axis=1)
        _, first, ids = np.unique(corners, axis=0, return_index=True, return_inverse=True)
        flat_faces: Faces = ids.reshape(-1, 3).astype(np.int32)
        flat = uv.reshape(-1, 2)[first]
        self._surface = _Loop(faces, _corners(faces, uv, n), levels, sharp)
        material = _Loop(flat_faces, _corners(flat_faces, uv, len(flat)), levels)
        self.faces: Faces = self._surface.faces.astype(np.int32)
        self.uv: CornerUv = material.through(flat)[material.faces]
        self.sharp = self._surface.sharp
        self.n_fine = self._surface.smooth.shape[0]
        self.parent: Ints = np.tile(np.arange(len(faces), dtype=np.int32), 4**levels)

    def positions(self, x: Positions) -> Positions:
        """Return (N,3) [m] of the smooth surface through x (n,3) [m]."""
        return self._surface.through(x)

    def values(self, values: Floats) -> Floats:
        """Return (N,) values, linear in each face of the mesh, from values (n,) at its vertices."""
        return np.asarray(self._surface.linear @ values)


class _Loop:
    """Weights of several subdivisions of faces; ``kept`` (n,) vertices do not move, and edges
    between ``sharp`` (k,2) vertices are creases.
    """

    def __init__(self, faces: Faces, kept: Bools, levels: int, sharp: Ints | None = None) -> None:
        n = len(kept)
        self.smooth, self.linear = _identity(n), _identity(n)
        for _ in range(levels):
            edge, here = _Edges(faces, sharp), len(kept)
            self.smooth = edge.loop(kept) @ self.smooth
            self.linear = edge.midpoints(here) @ self.linear
            faces = edge.children(here)
            sharp = None if sharp is None else edge.sharp_children(here)
            kept = np.concatenate([kept, np.zeros(edge.count, dtype=bool)])
        self.faces, self.sharp = faces, sharp
        self._at_vertices = self.smooth[:n]

    def through(self, x: Floats) -> Floats:
        """Return (N,k) of the smooth surface through x (n,k).

        Control points are found by fixed-point iteration: each one moves by the error at its
        vertex.
        """
        control = x
        for _ in range(FITS):
            control = control + (x - self._at_vertices @ control)
        return np.asarray(self.smooth @ control)


class _Edges:
    """Edges of faces, and the vertex weights of one subdivision.

    Args:
        faces: (m,3).
        sharp: (k,2) vertices of edges that count as borders of the faces on both of their sides.
    """

    def __init__(self, faces: Faces, sharp: Ints | None = None) -> None:
        f = faces.astype(np.int64)
        self.faces = f
        opposite = np.roll(f, -2, axis=1).reshape(-1)
        self.ends, side_edge = unique_edges(faces)
        self.of_side: Ints = side_edge.reshape(-1, 3)
        self.count, uses = len(self.ends), np.bincount(side_edge)
        self._sharp = are_among(self.ends, np.zeros((0, 2), np.int32) if sharp is None else sharp)
        self.inner = (uses == 2) & ~self._sharp
        order = np.argsort(side_edge, kind="stable")
        first = np.concatenate([[0], np.cumsum(uses)[:-1]])[self.inner]
        self.wings = np.stack([opposite[order[first]], opposite[order[first + 1]]], axis=1)

    def midpoints(self, n: int) -> csr_matrix:
        """Return (n + edges, n) weights that keep vertices and put edges at their middle."""
        rows = np.repeat(n + np.arange(self.count), 2)
        stay = np.arange(n)
        at = np.concatenate([stay, rows]), np.concatenate([stay, self.ends.reshape(-1)])
        weights = np.concatenate([np.ones(n), np.full(len(rows), 0.5)])
        return csr_matrix((weights, at), shape=(n + self.count, n))

    def loop(self, kept: Bools) -> csr_matrix:
        """Return (n + edges, n) weights of Loop's scheme; ``kept`` (n,) vertices do not move."""
        n = len(kept)
        rim = self.ends[~self.inner]
        rims = np.bincount(rim.reshape(-1), minlength=n)
        valence = np.maximum(np.bincount(self.ends.reshape(-1), minlength=n), 1)
        inside = (rims == 0) & ~kept
        along = (rims == 2) & ~kept
        beta = np.where(valence > 3, 3.0 / (8.0 * valence), 3.0 / 16.0)
        own = np.where(inside, 1.0 - valence * beta, np.where(along, 0.75, 1.0))
        every = np.arange(n)
        rows: list[AnyArray] = [every]
        columns: list[AnyArray] = [every]
        weights = [own]

        def add(row: AnyArray, column: AnyArray, weight: Floats | float) -> None:
            rows.append(row)
            columns.append(column)
            weights.append(np.broadcast_to(weight, row.shape))

        for a, b in ((0, 1), (1, 0)):
            i, j = self.ends[:, a], self.ends[:, b]
            add(i, j, np.where(inside[i], beta[i], 0.0))
            add(rim[:, a], rim[:, b], np.where(along[rim[:, a]], 0.125, 0.0))
            edge = n + np.arange(self.count)
            add(edge, i, np.where(self.inner, 0.375, 0.5))
            add(edge[self.inner], self.wings[:, a], 0.125)
        at = np.concatenate(rows), np.concatenate(columns)
        found = csr_matrix((np.concatenate(weights), at), shape=(n + self.count, n))
        found.eliminate_zeros()
        return found

    def sharp_children(self, n: int) -> Ints:
        """Return (2k,2) both halves of the sharp edges."""
        ids, middle = self.ends[self._sharp], n + np.flatnonzero(self._sharp)
        return np.concatenate([np.stack([end, middle], axis=1) for end in ids.T])

    def children(self, n: int) -> Faces:
        """Return (4m,3) faces: three at the corners, then the middle one, each a block of m."""
        return divide_faces(self.faces, n + self.of_side)


def _corners(faces: Faces, uv: CornerUv, n: int) -> Bools:
    """Return (n,) where the border of the material turns by more than ``CORNER``."""
    edges = _Edges(faces)
    on_border = np.zeros(n, dtype=bool)
    on_border[edges.ends[~edges.inner].reshape(-1)] = True
    to_next = np.roll(uv, -1, axis=1) - uv
    to_last = np.roll(uv, 1, axis=1) - uv
    angle = np.abs(turn_angles(to_next, to_last))
    total = np.bincount(faces.reshape(-1), angle.reshape(-1), n)
    return np.asarray(on_border & (np.abs(total - np.pi) > CORNER))


def _identity(n: int) -> csr_matrix:
    from scipy.sparse import identity

    return identity(n, format="csr")
