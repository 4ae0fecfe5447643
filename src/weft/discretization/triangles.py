"""Cloth of linear triangles, whose vertices are the points of the cloth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from weft.base.arrays import Arrays, Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.discretization.embedding import Embedding
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples
from weft.discretization.surface import Surface, Tessellation


@dataclass(frozen=True, eq=False)
class Triangles(Surface):
    """Piece of cloth made of linear triangles; its hinges are those of ``mesh``."""

    mesh: TriangleMesh  # faces of this piece; the vertices are all points of the cloth
    own: Ints  # (k,) points of this piece, ascending
    kind: ClassVar[str] = "triangles"
    unsupported: ClassVar[Mapping[str, str]] = {}
    density = 1

    @property
    def area(self) -> Floats:
        """Return a third of the material area [m^2] around each point, (N,)."""
        return self.mesh.vertex_area

    def samples(self) -> Samples:
        """Return one quadrature point for each face."""
        return linear_triangle(self.mesh)

    def tessellate(self, density: int) -> Tessellation:
        """Return the triangles themselves; ``density`` is not used."""
        m, stencil = self.mesh, self.own[:, None]
        faces = np.searchsorted(self.own, m.faces).astype(np.int32)
        embedding = Embedding(stencil, np.ones(stencil.shape), m.n_vertices)
        return Tessellation(embedding, faces, m.corner_uv, np.zeros(len(faces), dtype=np.int32))

    def net(self) -> tuple[Faces, CornerUv]:
        """Return the triangles themselves."""
        return self.mesh.faces, self.mesh.corner_uv

    def between(self, pinned: Bools) -> tuple[Embedding, Ints]:
        """Return no places and no points: places between pinned vertices move no other point."""
        none = np.zeros((0, 1), dtype=np.int32)
        return Embedding(none, none.astype(np.float64), self.mesh.n_vertices), none[:, 0]

    def among(self, points: Positions, first: int) -> "Triangles":
        """Return these triangles as a piece of a larger cloth; points begin at index ``first``."""
        m, f = self.mesh, np.int32(first)
        return Triangles(TriangleMesh(points, m.faces + f, m.corner_uv, {}, m.source), self.own + f)

    @classmethod
    def as_one(cls, several: Sequence[Self]) -> Sequence[Self]:
        """Merge the faces of all pieces into one mesh."""
        if len(several) == 1:
            return several
        meshes, own = [s.mesh for s in several], np.concatenate([s.own for s in several])
        faces = np.concatenate([m.faces for m in meshes])
        uv = np.concatenate([m.corner_uv for m in meshes])
        return [cls(TriangleMesh(meshes[0].vertices, faces, uv, {}, meshes[0].source), own)]

    def of_faces(self, rows: Ints) -> "Triangles":
        """Return the piece of these faces, given by index, on the same points."""
        m = self.mesh
        mesh = TriangleMesh(m.vertices, m.faces[rows], m.corner_uv[rows], {}, m.source)
        return Triangles(mesh, np.unique(mesh.faces).astype(np.int32))

    def arrays(self) -> Arrays:
        """Return point indices, faces and material coordinates."""
        return {"points": self.own, "faces": self.mesh.faces, "uv": self.mesh.corner_uv}

    @classmethod
    def of_arrays(cls, arrays: Arrays, n_points: int) -> Self:
        """Restore the triangles from their arrays in a file, with all points at the origin."""
        mesh = TriangleMesh(np.zeros((n_points, 3)), arrays["faces"], arrays["uv"])
        return cls(mesh, arrays["points"])

    def facts(self) -> str:
        """Return an empty string."""
        return ""
