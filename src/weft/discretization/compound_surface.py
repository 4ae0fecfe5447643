"""Cloth as a whole: its points, and the pieces of triangles or splines that the points move."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import Arrays, CornerUv, Faces, Ints, Positions
from weft.base.errors import SceneError
from weft.discretization.embedding import Embedding, determined_points
from weft.discretization.mesh import TriangleMesh
from weft.discretization.rod import Rod
from weft.discretization.spline_surface import SplineSurface
from weft.discretization.surface import Surface, Tessellation
from weft.discretization.triangles import Triangles


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Points of a cloth, and the pieces that they move."""

    points: Positions  # (N,3) [m] control points of splines, vertices of triangles
    pieces: Sequence[Surface]

    @staticmethod
    def of_mesh(mesh: TriangleMesh) -> "Surfaces":
        """Return a cloth that is one piece of triangles."""
        own = np.arange(mesh.n_vertices, dtype=np.int32)
        return Surfaces(mesh.vertices, [Triangles(mesh, own)])

    def at(self, points: Positions) -> "Surfaces":
        """Return this cloth with its points at other positions (N,3) [m]."""
        return Surfaces(points, [p.among(points, 0) for p in self.pieces])

    @property
    def density(self) -> int:
        """Return the largest number of samples in each knot span, over all pieces."""
        return max(p.density for p in self.pieces)

    @cached_property
    def shown(self) -> Tessellation:
        """Return the triangles that are drawn and that collide, piece after piece."""
        return self.tessellate()

    def tessellate(self, density: int | None = None) -> Tessellation:
        """Return triangles with ``density`` samples in each knot span of splines.

        None: the density with which they collide.
        """
        parts = [p.shown if density is None else p.tessellate(density) for p in self.pieces]
        return Tessellation.concatenate(parts, len(self.points))

    @cached_property
    def embedding(self) -> Embedding | None:
        """Return the vertices as combinations of the points; None if they are the points."""
        return None if self.shown.embedding.is_identity else self.shown.embedding

    def net(self) -> tuple[Faces, CornerUv]:
        """Return faces between the points, (m,3), and their material coordinates, (m,3,2) [m].

        A quadrilateral of a control net gives two faces.
        """
        faces, corner_uv = zip(*(p.net() for p in self.pieces))
        return np.concatenate(faces), np.concatenate(corner_uv)

    def between(self, vertices: Ints) -> tuple[Embedding, Ints]:
        """Return what else has to be pinned where vertices are pinned.

        Args:
            vertices: indices of pinned vertices of ``shown``.

        Returns:
            Places halfway between neighboring pinned vertices (the line between two pinned vertices
            is pinned, too), and the control points of spans that are pinned as a whole.
        """
        sizes = [len(p.shown.embedding) for p in self.pieces]
        pinned = np.zeros(sum(sizes), dtype=bool)
        pinned[vertices] = True
        each = np.split(pinned, np.cumsum(sizes)[:-1])
        lines, whole = zip(*(p.between(own) for p, own in zip(self.pieces, each)))
        return Embedding.concatenate(list(lines), len(self.points)), np.unique(
            np.concatenate(whole)
        )

    def determined_by(self, vertices: Ints) -> Ints:
        """Return the points that vertices of ``shown`` and the lines between them determine,
        sorted.
        """
        import scipy.sparse as sp

        lines, whole = self.between(vertices)
        rows = self.shown.embedding.matrix[vertices]
        return determined_points(sp.vstack([rows, lines.matrix]), whole)

    def require(self, *fields: str) -> None:
        """Check that every piece supports these fields of a scene.

        Raises:
            SceneError: a piece does not.
        """
        for piece, name in itertools.product(self.pieces, fields):
            if name in piece.unsupported:
                got, hint = f"with {piece.kind}", piece.unsupported[name]
                raise SceneError(f"scene.{name}", got=got, expected="nothing", hint=hint)

    def arrays(self) -> Arrays:
        """Return the arrays that, with its mesh, restore this cloth; empty for triangles alone."""
        if self.embedding is None:
            return {}
        out: dict[str, Any] = {"control.density": self.density, "control.n": len(self.points)}
        for k, piece in enumerate(self.pieces):
            out.update({f"control.{k}.{name}": value for name, value in piece.arrays().items()})
        return out

    @staticmethod
    def of_arrays(arrays: Arrays, mesh: TriangleMesh) -> "Surfaces":
        """Restore a cloth from its arrays in a file and from its mesh."""
        if "control.n" not in arrays:
            return Surfaces.of_mesh(mesh)
        n, pieces = int(arrays["control.n"]), list[Surface]()
        while True:
            at = f"control.{len(pieces)}."
            own = {k.removeprefix(at): v for k, v in arrays.items() if k.startswith(at)}
            if not own:
                return Surfaces(np.zeros((n, 3)), pieces)
            kind: type[Surface] = Triangles if "points" in own else SplineSurface
            kind = Rod if "arc" in own else kind
            pieces.append(kind.of_arrays({"density": arrays["control.density"], **own}, n))


def merge_pieces(pieces: Sequence[Surface]) -> list[Surface]:
    """Merge pieces of one fabric into fewer, kind by kind."""
    kinds = dict.fromkeys(type(p) for p in pieces)
    return [s for kind in kinds for s in kind.as_one([p for p in pieces if type(p) is kind])]
