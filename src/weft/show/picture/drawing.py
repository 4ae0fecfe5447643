"""The triangles of a picture: cloth, possibly as a smooth or thick surface, and bodies."""

from itertools import pairwise

import numpy as np

from weft.base.arrays import CornerUv, Faces, Floats, Ints, Positions
from weft.contact.exact.intersections import intersections
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import TriangleMesh, are_among, unique_edges
from weft.discretization.vertex_normals import VertexNormals
from weft.show.picture.loop_subdivision import LoopSubdivision

# [rad] directions of the rim, from the front to the back
ROUND = np.radians([0.0, 45.0, 90.0, 135.0, 180.0])
RIM_TONE = 0.82  # brightness over that of the cloth, because an edge shows cut yarns
TRIES = 3  # rounds of replacing intersecting parts of the smooth surface
MOST_LOOKED_AT = 100_000  # larger smooth surfaces are not checked, because the search takes long


class Shell:
    """Closed shell around a mesh, for pictures of thick cloth.

    Args:
        faces: (m,3).
        uv: (m,3,2) [m] of the corners.
        n: number of vertices.

    Attributes:
        faces: (M,3): fronts, backs (wound as fronts are), then rims, wound outwards.
        uv: (M,3,2) [m].
        parent: (M,) face of the mesh.
        origin: (N,) vertex of the mesh.
        n_rims: number of faces of the rims.
    """

    def __init__(self, faces: Faces, uv: CornerUv, n: int) -> None:
        m = len(faces)
        face, side = _border_sides(faces)
        start, end = faces[face, side], faces[face, (side + 1) % 3]
        self._edge = start, end
        rim, local = np.unique(np.concatenate([start, end]), return_inverse=True)
        self._rim, (a, b) = rim, local.reshape(2, -1)
        k = len(rim)
        # Rings of the rim: the front's vertices, those in between, the back's.
        rings = [rim, *(2 * n + i * k + np.arange(k) for i in range(len(ROUND) - 2)), n + rim]
        quads = []
        for front, back in pairwise(rings):
            quads += [np.stack([front[a], back[a], back[b]], axis=1)]
            quads += [np.stack([front[a], back[b], front[b]], axis=1)]
        self.faces: Faces = np.concatenate([faces, faces + n, *quads]).astype(np.int32)
        self.n_rims = sum(len(q) for q in quads)
        here, there = uv[face, side], uv[face, (side + 1) % 3]
        corners = [np.stack([here, here, there], axis=1), np.stack([here, there, there], axis=1)]
        self.uv = np.concatenate([uv, uv, *(corners * (len(quads) // 2))])
        own = np.arange(m)
        self.parent: Ints = np.concatenate([own, own, np.tile(face, len(quads))])
        every = np.arange(n)
        self.origin: Ints = np.concatenate([every, every, np.tile(rim, len(ROUND) - 2)])

    def around(self, x: Positions, normal: Floats, thickness: Floats) -> tuple[Positions, Floats]:
        """Return positions (N,3) [m] and unit normals (N,3) of the shell around x (n,3) [m].

        The thickness is (n,1) [m] at the vertices, or (1,1) of all of them. Normals of backs point
        to the front, as their faces do.
        """
        start, end = self._edge
        out = np.zeros_like(x)
        side = np.cross(x[end] - x[start], normal[start] + normal[end])
        np.add.at(out, start, side)
        np.add.at(out, end, side)
        out, up = out[self._rim], normal[self._rim]
        out -= np.einsum("ni,ni->n", out, up)[:, None] * up
        length = np.linalg.norm(out, axis=1)[:, None]
        out /= np.where(length > 0, length, 1.0)
        half = np.broadcast_to(0.5 * thickness, (len(x), 1))
        turned = [np.cos(t) * up + np.sin(t) * out for t in ROUND[1:-1]]
        edge, rim = x[self._rim], half[self._rim]
        positions = [x + half * normal, x - half * normal, *(edge + rim * t for t in turned)]
        return np.concatenate(positions), np.concatenate([normal, normal, *turned])


def _border_sides(faces: Faces) -> tuple[Ints, Ints]:
    """Return face and side of every edge with one face.

    Side 0 is that from the face's first corner to its second.
    """
    edge = unique_edges(faces)[1]
    only = np.flatnonzero(np.bincount(edge)[edge] == 1).astype(np.int32)
    return only // 3, only % 3


def split_at_edges(faces: Faces, edges: Ints) -> tuple[Faces, Ints]:
    """Return the faces (m,3) of a mesh that is cut along edges, and the old vertex of each new one.

    Both sides of a sharp edge have normals of their own, so that a picture shows a kink there.

    Args:
        faces: (m,3).
        edges: (k,2) vertices; at the end of a cut, both sides share one vertex.
    """
    every, of = unique_edges(faces)
    order = np.argsort(of, kind="stable")
    twice = np.diff(of[order]) == 0
    one, two = order[:-1][twice], order[1:][twice]  # both half-edges of an edge
    smooth = ~are_among(every, edges)[of[one]]
    one, two = one[smooth], two[smooth]
    ends = [np.stack([k, k - k % 3 + (k + 1) % 3], axis=1) for k in (one, two)]  # corners
    opposite = faces.reshape(-1)[ends[0][:, 0]] == faces.reshape(-1)[ends[1][:, 1]]
    ends[1] = np.where(opposite[:, None], ends[1][:, ::-1], ends[1])
    fan = component_labels(np.concatenate(np.stack(ends, axis=2)), faces.size)
    vertex = faces.reshape(-1)
    fan = np.where(np.isin(vertex, edges), fan, -1)
    new, ids = np.unique(np.stack([vertex, fan], axis=1), axis=0, return_inverse=True)
    return ids.reshape(-1, 3).astype(np.int32), new[:, 0].astype(np.int32)


class Drawing:
    """Geometry of a picture: the drawn surface of the cloth, and bodies.

    Args:
        mesh: the cloth, and after it the bodies, if any.
        n_faces: of the cloth.
        n: vertices of the cloth.
        smooth: subdivisions.
        thickness: [m] of all of it, or (n,) at the vertices; None for a surface.
        sharp: (k,2) vertices of the cloth's edges at which it has a kink; None: none. Thick cloth
            has round kinks.

    Attributes:
        faces: (M,3), the cloth's first.
        uv: (M,3,2) [m].
        parent: (M,) face of ``mesh``.
        n_cloth: drawn vertices of the cloth; those of bodies follow.
        n_cloth_faces: drawn faces of the cloth.
        rims: ids of faces along the borders of thick cloth.
    """

    def __init__(
        self,
        mesh: TriangleMesh,
        n_faces: int,
        n: int,
        smooth: int,
        thickness: float | Floats | None,
        sharp: Ints | None = None,
    ) -> None:
        faces, uv = mesh.faces[:n_faces], mesh.corner_uv[:n_faces]
        self._n = n
        parent: Ints = np.arange(n_faces, dtype=np.int32)
        self._fine = LoopSubdivision(faces, uv, n, smooth, sharp) if smooth else None
        middle = n
        if self._fine is not None:
            faces, uv, parent = self._fine.faces, self._fine.uv, self._fine.parent
            middle, sharp = self._fine.n_fine, self._fine.sharp
        self._thickness = None if thickness is None else np.reshape(thickness, (-1, 1))
        if self._fine is not None and isinstance(thickness, np.ndarray):
            self._thickness = self._fine.values(thickness[:, None])
        self._copies: Ints | None = None
        if sharp is not None and thickness is None:
            faces, self._copies = split_at_edges(faces, sharp)
            middle = len(self._copies)
        self._normals = VertexNormals(faces, middle)
        self._shell = Shell(faces, uv, middle) if thickness is not None else None
        self.n_cloth = middle
        self.rims: Ints = np.zeros(0, dtype=np.int32)
        if self._shell is not None:
            s = self._shell
            faces, uv, parent, self.n_cloth = s.faces, s.uv, parent[s.parent], len(s.origin)
            self.rims = np.arange(len(faces) - s.n_rims, len(faces), dtype=np.int32)
        bodies = mesh.faces[n_faces:]
        self._bodies: Faces = bodies - n
        self.n_cloth_faces = len(faces)
        self._body_normals = (
            VertexNormals(self._bodies, mesh.n_vertices - n) if len(bodies) else None
        )
        self.faces: Faces = np.concatenate([faces, bodies - n + self.n_cloth]).astype(np.int32)
        self.uv = np.concatenate([uv, mesh.corner_uv[n_faces:]])
        self.parent: Ints = np.concatenate([parent, np.arange(n_faces, len(mesh.faces))])

    def at(self, x: Positions) -> tuple[Positions, Floats]:
        """Return positions (N,3) [m] and unit normals (N,3) of the drawn vertices.

        ``x`` (n+b,3) [m] are the positions of cloth and bodies.
        """
        cloth, bodies = x[: self._n], x[self._n :]
        if self._fine is not None:
            cloth = self._smooth(self._fine, cloth, bodies)
        if self._copies is not None:
            cloth = cloth[self._copies]
        normal = self._normals(cloth)
        if self._shell is not None and self._thickness is not None:
            cloth, normal = self._shell.around(cloth, normal, self._thickness)
        if self._body_normals is None:
            return cloth, normal
        return np.concatenate([cloth, bodies]), np.concatenate([normal, self._body_normals(bodies)])

    def _smooth(self, fine: LoopSubdivision, cloth: Positions, bodies: Positions) -> Positions:
        """Return the smooth surface, or flat triangles where it would intersect itself or a body.

        The triangles of the simulation do not intersect, so that they are a safe replacement.
        """
        smooth, flat = fine.positions(cloth), fine.values(cloth)
        faces, quiet = fine.faces, np.zeros(len(fine.faces) + len(self._bodies), dtype=bool)
        if len(faces) > MOST_LOOKED_AT:
            return smooth
        quiet[len(faces) :] = True
        every = np.concatenate([faces, self._bodies + len(smooth)])
        for _ in range(TRIES):
            hit = intersections(np.concatenate([smooth, bodies]), every, quiet)
            hit = hit[hit < len(faces)]
            if len(hit) == 0:
                break
            near = np.zeros(len(smooth), dtype=bool)
            near[faces[hit]] = True
            near[faces[near[faces].any(axis=1)]] = True  # and the ring of faces around them
            smooth = np.where(near[:, None], flat, smooth)
        return smooth

    def values(self, values: Floats) -> Floats:
        """Return (N,) values at drawn vertices, from values (n+b,) at the vertices of cloth and
        bodies.
        """
        cloth, bodies = values[: self._n], values[self._n :]
        if self._fine is not None:
            cloth = self._fine.values(cloth)
        if self._shell is not None:
            cloth = cloth[self._shell.origin]
        if self._copies is not None:
            cloth = cloth[self._copies]
        return np.concatenate([cloth, bodies])
