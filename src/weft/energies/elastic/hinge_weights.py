"""Hinge weights from the material coordinates of two faces, and derivatives of the weights.

    w = 5/4 D l^2/A,   D l^2 = D_warp e_v^2 + D_weft e_u^2

with e the edge on either side and D l^2 the mean of both sides (``hinge_bending``). The sides may
differ: at a seam each has an edge and a fabric of its own. A seam may also have its own stiffness
per length: then w is that stiffness times the mean length. ``HingeGeometry`` computes the weights
(``weights``) and pulls derivatives by weights back to the rest shape (``by_corner``).
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.discretization.mesh import TriangleMesh
from weft.energies.rest_mesh import RestMesh, by_areas

# Hinge weight over D l^2/A, because a free strip of a grid relaxes to 4/5
# (docs/explanations/bending.md).
STRIP = 1.25


@dataclass(frozen=True, eq=False)
class HingeGeometry:
    """Hinges by their faces.

    Args:
        faces: (h,2) of a mesh, one on either side.
        edges: (h,2,2) both ends of the edge, as a vertex of either face.
        rigidity: (h,2,2) [N m] flexural (warp, weft) on either side.
        own: (h,) [N m/rad per m] stiffness of a seam by itself; not finite: as the fabrics bend.
    """

    faces: Ints
    edges: Ints
    rigidity: Floats
    own: Floats

    @staticmethod
    def of(hinges: Ints, faces: Ints, rigidity: Floats | tuple[float, float]) -> "HingeGeometry":
        """Return the geometry of hinges (h,4) inside a mesh.

        Args:
            hinges: both ends of the edge, and both tips.
            faces: (h,2) on either side.
            rigidity: [N m] of the hinges (h,2,2), or of all of them (2,).
        """
        ends = np.repeat(hinges[:, None, :2], 2, axis=1)
        D = np.broadcast_to(rigidity, (len(hinges), 2, 2))
        return HingeGeometry(faces, ends, D, np.full(len(hinges), np.nan))

    @staticmethod
    def between(rest: RestMesh, hinges: Ints, rigidity: Floats | None = None) -> "HingeGeometry":
        """Return the geometry of hinges (h,4) whose rigidity is the mean of their two faces.

        Args:
            rest: the mesh and its fabrics.
            hinges: both ends of the edge, and both tips.
            rigidity: (f,2) of the faces; None: that of the fabrics.
        """
        faces = rest.faces_at(hinges)
        D = (rest.rigidity if rigidity is None else rigidity)[faces].mean(1)
        return HingeGeometry.of(hinges, faces, np.repeat(D[:, None], 2, axis=1))

    @staticmethod
    def concatenate(several: "list[HingeGeometry]") -> "HingeGeometry":
        """Concatenate several tables of hinges."""
        none = HingeGeometry(
            np.zeros((0, 2), np.int32),
            np.zeros((0, 2, 2), np.int32),
            np.zeros((0, 2, 2)),
            np.zeros(0),
        )
        rows = ("faces", "edges", "rigidity", "own")
        return HingeGeometry(
            *(np.concatenate([getattr(a, k) for a in (none, *several)]) for k in rows)
        )

    def corners(self, mesh: TriangleMesh) -> Ints:
        """Return the corners of the faces that the edges' ends are, (h,2,2)."""
        held = mesh.faces[self.faces][:, :, None, :] == self.edges[..., None]
        return np.asarray(np.argmax(held, axis=-1))

    def along(self, mesh: TriangleMesh) -> Floats:
        """Return the edges in the material coordinates of their faces, (h,2,2) [m]."""
        uv = mesh.corner_uv[self.faces[:, :, None], self.corners(mesh)]
        return uv[:, :, 1] - uv[:, :, 0]

    def lengths(self, mesh: TriangleMesh) -> Floats:
        """Return the length of each edge, the mean of both sides, (h,) [m]."""
        return np.asarray(np.linalg.norm(self.along(mesh), axis=-1).mean(1))

    def weights(self, mesh: TriangleMesh) -> Floats:
        """Return the weights of the hinges, (h,) [J]."""
        edges, own = self.along(mesh), np.isfinite(self.own)
        length_sq = (edges**2).sum(-1)
        share = edges**2 / np.maximum(length_sq, 1e-300)[..., None]
        D = share[..., 1] * self.rigidity[..., 0] + share[..., 0] * self.rigidity[..., 1]
        area = mesh.rest_area[self.faces].sum(1)
        bent = STRIP * (D * length_sq).mean(1) / area
        seam = np.where(own, self.own, 0.0) * self.lengths(mesh)
        return np.where(own, seam, bent)

    def by_corner(self, mesh: TriangleMesh, by: Floats) -> Floats:
        """Return derivatives by the material coordinates of every face's corners, (m,3,2).

        Args:
            mesh: the mesh.
            by: (h,) derivatives by the weights.
        """
        edge, own = self.along(mesh), np.isfinite(self.own)
        area = mesh.rest_area[self.faces].sum(1)
        length = np.linalg.norm(edge, axis=-1)[..., None]
        free = np.where(own, 0.0, by)
        by_edge = (STRIP * free / area)[:, None, None] * edge * self.rigidity[..., ::-1]
        held = np.where(own, by * np.where(own, self.own, 0.0), 0.0)
        by_edge += 0.5 * held[:, None, None] * edge / np.maximum(length, 1e-300)
        out = np.zeros_like(mesh.corner_uv)
        place = self.corners(mesh)
        for end, sign in ((0, -1.0), (1, 1.0)):
            np.add.at(out, (self.faces, place[:, :, end]), sign * by_edge)
        by_area = np.zeros(len(mesh.faces))
        np.add.at(by_area, self.faces, (-free * self.weights(mesh) / area)[:, None])
        return out + by_areas(mesh, by_area)
