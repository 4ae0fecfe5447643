"""Cloth of linear triangles: its vertices are the points that move it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from weft.base.arrays import Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.discretization.embedding import Embedding
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples
from weft.discretization.surface import Surface, Tessellation


@dataclass(frozen=True, eq=False)
class Triangles(Surface):
    """Faces between points; hinges are those of ``mesh``."""

    mesh: TriangleMesh  # its faces; the vertices are all points of the cloth
    own: Ints  # (k,) its points, ascending
    kind: ClassVar[str] = "triangles"
    lacks: ClassVar[Mapping[str, str]] = {}
    density = 1

    @property
    def area(self) -> Floats:
        """(N,) [m^2] a third of the material around each point."""
        return self.mesh.vertex_area

    def samples(self) -> Samples:
        """One a face."""
        return linear_triangle(self.mesh)

    def tessellated(self, density: int) -> Tessellation:
        """The triangles themselves, whatever the density."""
        m, stencil = self.mesh, self.own[:, None]
        faces = np.searchsorted(self.own, m.faces).astype(np.int32)
        embedding = Embedding(stencil, np.ones(stencil.shape), m.n_vertices)
        return Tessellation(embedding, faces, m.corner_uv, np.zeros(len(faces), dtype=np.int32))

    def net(self) -> tuple[Faces, CornerUv]:
        """The triangles themselves."""
        return self.mesh.faces, self.mesh.corner_uv

    def between(self, pinned: Bools) -> tuple[Embedding, Ints]:
        """Nothing: what is between pinned vertices moves no other point."""
        none = np.zeros((0, 1), dtype=np.int32)
        return Embedding(none, none.astype(np.float64), self.mesh.n_vertices), none[:, 0]

    def among(self, points: Positions, first: int) -> "Triangles":
        """The same as a piece of more, its points from number ``first`` on."""
        m, f = self.mesh, np.int32(first)
        return Triangles(TriangleMesh(points, m.faces + f, m.corner_uv, {}, m.source), self.own + f)

    @classmethod
    def as_one(cls, several: Sequence[Self]) -> Sequence[Self]:
        """All faces in one mesh."""
        if len(several) == 1:
            return several
        meshes, own = [s.mesh for s in several], np.concatenate([s.own for s in several])
        faces = np.concatenate([m.faces for m in meshes])
        uv = np.concatenate([m.corner_uv for m in meshes])
        return [cls(TriangleMesh(meshes[0].vertices, faces, uv, {}, meshes[0].source), own)]

    def of_faces(self, rows: Ints) -> "Triangles":
        """Some of its faces, by number, on the same points."""
        m = self.mesh
        mesh = TriangleMesh(m.vertices, m.faces[rows], m.corner_uv[rows], {}, m.source)
        return Triangles(mesh, np.unique(mesh.faces).astype(np.int32))

    def arrays(self) -> Mapping[str, Any]:
        """Points, faces and material coordinates."""
        return {"points": self.own, "faces": self.mesh.faces, "uv": self.mesh.corner_uv}

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Any], n_points: int) -> Self:
        """From a file's arrays."""
        mesh = TriangleMesh(np.zeros((n_points, 3)), arrays["faces"], arrays["uv"])
        return cls(mesh, arrays["points"])

    def facts(self) -> str:
        """Nothing."""
        return ""
