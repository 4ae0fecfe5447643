"""What moves a cloth: control points of splines, and vertices of what is made of triangles. The
vertices that are seen and touched are fixed combinations of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft.arrays import CornerUv, Faces, Ints, Positions
from weft.discretization.bspline import Patch
from weft.discretization.embedding import Embedding
from weft.discretization.spline_surface import SplineSurface, Tessellation, grid_faces
from weft.mesh import TriangleMesh


@dataclass(frozen=True, eq=False)
class Triangles:
    """A piece whose vertices are points themselves."""

    points: Ints  # (k,) their numbers, in the order of the vertices
    faces: Faces  # (m,3) in points' numbers
    corner_uv: CornerUv  # (m,3,2) [m]
    n_points: int

    def tessellated(self, density: int = 1) -> Tessellation:
        """The triangles themselves, whatever the density."""
        place = np.zeros(self.n_points, dtype=np.int32)
        place[self.points] = np.arange(len(self.points), dtype=np.int32)
        own = Embedding(self.points[:, None], np.ones((len(self.points), 1)), self.n_points)
        whole = np.zeros(len(self.faces), dtype=np.int32)
        return Tessellation(own, place[self.faces], self.corner_uv, whole)


Piece = SplineSurface | Triangles


@dataclass(frozen=True, eq=False)
class Control:
    """Points, and the pieces of cloth that they move; a piece's numbers are those of all points."""

    points: Positions  # (N,3) [m]
    pieces: Sequence[Piece]
    density: int = 1  # samples a knot span of what is touched

    @cached_property
    def shown(self) -> "Shown":
        """The triangles that are touched."""
        return self.tessellated(self.density)

    def tessellated(self, density: int) -> "Shown":
        """Triangles, ``density`` samples to a knot span of splines."""
        parts = [piece.tessellated(density) for piece in self.pieces]
        first = np.concatenate([[0], np.cumsum([len(p.embedding) for p in parts])])
        return Shown(
            Embedding.joined([p.embedding for p in parts], len(self.points)),
            np.concatenate([p.faces + f for p, f in zip(parts, first)]).astype(np.int32),
            np.concatenate([p.corner_uv for p in parts]),
            first,
            parts,
        )

    def mesh(self, source: str) -> TriangleMesh:
        """What is touched, where the points are."""
        s = self.shown
        return TriangleMesh(s.embedding.of(self.points), s.faces, s.corner_uv, {}, source)

    def net(self) -> tuple[Faces, CornerUv]:
        """Faces between the points, two to a quadrilateral of a control net, and their material
        coordinates.
        """
        faces, corner_uv = [], []
        for piece in self.pieces:
            if isinstance(piece, Triangles):
                faces.append(piece.faces)
                corner_uv.append(piece.corner_uv)
                continue
            for patch, ids in zip(piece.patches, piece.ids):
                corners = grid_faces(*ids.shape)
                faces.append(ids.reshape(-1)[corners])
                corner_uv.append(patch.rest.reshape(-1, 2)[corners])
        return np.concatenate(faces), np.concatenate(corner_uv)

    def arrays(self) -> dict[str, Any]:
        """What a file needs to make this again (``of_arrays``), without the points."""
        out: dict[str, Any] = {"control.density": self.density, "control.n": len(self.points)}
        for k, piece in enumerate(self.pieces):
            if isinstance(piece, Triangles):
                parts = {"points": piece.points, "faces": piece.faces, "uv": piece.corner_uv}
                out.update({f"control.{k}.{name}": value for name, value in parts.items()})
                continue
            for j, (patch, ids) in enumerate(zip(piece.patches, piece.ids)):
                out[f"control.{k}.{j}.rest"], out[f"control.{k}.{j}.ids"] = patch.rest, ids
        return out

    def identity(self) -> list[Any]:
        """What tells two of these apart, besides points and triangles, as plain values."""
        found: list[Any] = [self.density]
        for piece in self.pieces:
            if isinstance(piece, SplineSurface):
                rests = [p.rest.tolist() for p in piece.patches]
                ties = None if piece.ties is None else piece.ties.coefficient.tolist()
                ids, joints = [i.tolist() for i in piece.ids], [repr(j) for j in piece.joints]
                kind = (piece.rule.value, piece.bending.value)
                found.append([rests, ids, kind, joints, ties])
        return found

    @staticmethod
    def of_arrays(arrays: Mapping[str, Any]) -> "Control | None":
        """From a file's arrays; None where there are none of these."""
        if "control.n" not in arrays:
            return None
        n = int(arrays["control.n"])
        pieces: list[Piece] = []
        while any(name.startswith(f"control.{len(pieces)}.") for name in arrays):
            at = f"control.{len(pieces)}"
            if f"{at}.points" in arrays:
                points, faces, uv = (arrays[f"{at}.{name}"] for name in ("points", "faces", "uv"))
                pieces.append(Triangles(points, faces, uv, n))
                continue
            patches: list[Patch] = []
            ids: list[Ints] = []
            while f"{at}.{len(ids)}.ids" in arrays:
                patches.append(Patch(arrays[f"{at}.{len(ids)}.rest"]))
                ids.append(arrays[f"{at}.{len(ids)}.ids"])
            pieces.append(SplineSurface(patches, ids, n))
        return Control(np.zeros((n, 3)), pieces, int(arrays["control.density"]))


@dataclass(frozen=True, eq=False)
class Shown:
    """Triangles of all pieces, one after the other."""

    embedding: Embedding
    faces: Faces
    corner_uv: CornerUv
    first: Ints  # (pieces+1,) vertex with which each piece begins
    parts: Sequence[Tessellation]  # of each piece, in its own numbers
