"""The triangles of a picture: cloth, possibly as a smooth or thick surface, and bodies."""

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.contact.exact.intersections import intersections
from weft.discretization.mesh import TriangleMesh
from weft.show.picture.loop_subdivision import Subdivided
from weft.show.picture.normals import Normals
from weft.show.picture.shell import Shell

TRIES = 3  # rounds of replacing intersecting parts of the smooth surface
MOST_LOOKED_AT = 100_000  # larger smooth surfaces are not checked, because the search takes long


class Drawing:
    """Geometry of a picture: the drawn surface of the cloth, and bodies.

    Args:
        mesh: the cloth, and after it the bodies, if any.
        n_faces: of the cloth.
        n: vertices of the cloth.
        smooth: subdivisions.
        thickness: [m], or None for a surface.

    Attributes:
        faces: (M,3), the cloth's first.
        uv: (M,3,2) [m].
        parent: (M,) face of ``mesh``.
        n_cloth: drawn vertices of the cloth; those of bodies follow.
        n_cloth_faces: drawn faces of the cloth.
        rims: ids of faces along the borders of thick cloth.
    """

    def __init__(
        self, mesh: TriangleMesh, n_faces: int, n: int, smooth: int, thickness: float | None
    ) -> None:
        faces, uv = mesh.faces[:n_faces], mesh.corner_uv[:n_faces]
        self._n, self._thickness = n, thickness
        parent: Ints = np.arange(n_faces, dtype=np.int32)
        self._fine = Subdivided(faces, uv, n, smooth) if smooth else None
        middle = n
        if self._fine is not None:
            faces, uv, parent = self._fine.faces, self._fine.uv, self._fine.parent
            middle = self._fine.n_fine
        self._normals = Normals(faces, middle)
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
        self._body_normals = Normals(self._bodies, mesh.n_vertices - n) if len(bodies) else None
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
        normal = self._normals(cloth)
        if self._shell is not None and self._thickness is not None:
            cloth, normal = self._shell.around(cloth, normal, self._thickness)
        if self._body_normals is None:
            return cloth, normal
        return np.concatenate([cloth, bodies]), np.concatenate([normal, self._body_normals(bodies)])

    def _smooth(self, fine: Subdivided, cloth: Positions, bodies: Positions) -> Positions:
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
        return np.concatenate([cloth, bodies])
