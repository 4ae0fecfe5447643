"""What a whole cloth is made of: points that move, and pieces of triangles or splines."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import CornerUv, Faces, Ints, Positions
from weft.base.errors import SceneError
from weft.discretization.embedding import Embedding
from weft.discretization.mesh import TriangleMesh
from weft.discretization.spline_surface import SplineSurface
from weft.discretization.surface import Surface, Tessellation
from weft.discretization.triangles import Triangles


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Points, and the pieces that they move."""

    points: Positions  # (N,3) [m] control points of splines, vertices of triangles
    pieces: Sequence[Surface]

    @staticmethod
    def of_mesh(mesh: TriangleMesh) -> "Surfaces":
        """One piece of triangles."""
        own = np.arange(mesh.n_vertices, dtype=np.int32)
        return Surfaces(mesh.vertices, [Triangles(mesh, own)])

    def at(self, points: Positions) -> "Surfaces":
        """The same with the points elsewhere."""
        return Surfaces(points, [p.among(points, 0) for p in self.pieces])

    @property
    def density(self) -> int:
        """Samples a knot span of what is touched, at most."""
        return max(p.density for p in self.pieces)

    @cached_property
    def shown(self) -> Tessellation:
        """The triangles that are touched, piece after piece."""
        return self.tessellated()

    def tessellated(self, density: int | None = None) -> Tessellation:
        """Triangles, ``density`` samples to a knot span of splines; None: as they are touched."""
        parts = [p.shown if density is None else p.tessellated(density) for p in self.pieces]
        return Tessellation.joined(parts, len(self.points))

    @cached_property
    def embedding(self) -> Embedding | None:
        """Vertices as combinations of the points; None where they are the points."""
        return None if self.shown.embedding.is_identity else self.shown.embedding

    def net(self) -> tuple[Faces, CornerUv]:
        """Faces between the points, two to a quadrilateral of a control net, and their material
        coordinates.
        """
        faces, corner_uv = zip(*(p.net() for p in self.pieces))
        return np.concatenate(faces), np.concatenate(corner_uv)

    def between(self, vertices: Ints) -> tuple[Embedding, Ints]:
        """Places halfway between neighboring vertices that are all pinned (where two are, so is the
        line between them), and the control points of spans that are pinned whole.
        """
        sizes = [len(p.shown.embedding) for p in self.pieces]
        pinned = np.zeros(sum(sizes), dtype=bool)
        pinned[vertices] = True
        each = np.split(pinned, np.cumsum(sizes)[:-1])
        lines, whole = zip(*(p.between(own) for p, own in zip(self.pieces, each)))
        return Embedding.joined(list(lines), len(self.points)), np.unique(np.concatenate(whole))

    def require(self, *fields: str) -> None:
        """That every piece has these fields of a scene.

        Raises:
            SceneError: one has not.
        """
        for piece, name in itertools.product(self.pieces, fields):
            if name in piece.lacks:
                got, hint = f"with {piece.kind}", piece.lacks[name]
                raise SceneError(f"scene.{name}", got=got, expected="nothing", hint=hint)

    def arrays(self) -> dict[str, Any]:
        """What a file needs to make this again, beside a mesh; nothing for triangles alone."""
        if self.embedding is None:
            return {}
        out: dict[str, Any] = {"control.density": self.density, "control.n": len(self.points)}
        for k, piece in enumerate(self.pieces):
            out.update({f"control.{k}.{name}": value for name, value in piece.arrays().items()})
        return out

    @staticmethod
    def of_arrays(arrays: Mapping[str, Any], mesh: TriangleMesh) -> "Surfaces":
        """From a file's arrays, and the mesh beside them."""
        if "control.n" not in arrays:
            return Surfaces.of_mesh(mesh)
        n, pieces = int(arrays["control.n"]), list[Surface]()
        while True:
            at = f"control.{len(pieces)}."
            own = {k.removeprefix(at): v for k, v in arrays.items() if k.startswith(at)}
            if not own:
                return Surfaces(np.zeros((n, 3)), pieces)
            kind: type[Surface] = Triangles if "points" in own else SplineSurface
            pieces.append(kind.of_arrays({"density": arrays["control.density"], **own}, n))


def gathered(pieces: Sequence[Surface]) -> list[Surface]:
    """Pieces of one fabric as fewer, kind by kind."""
    kinds = dict.fromkeys(type(p) for p in pieces)
    return [s for kind in kinds for s in kind.as_one([p for p in pieces if type(p) is kind])]
