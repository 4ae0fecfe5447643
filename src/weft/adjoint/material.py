"""Material points of a cloth (its flat pattern), and the same cloth with other material points.

Triangles have one point for every vertex, or several for a vertex on a seam of the mesh. Splines
have the control points of their patches at rest, patch after patch. Meshes, knots and seams stay.

An ``Outline`` moves border points, and inner points follow like those of a membrane under tension
(harmonic, with the cotangent weights of the original panels); for splines the border is that of the
control nets. A moved outline is therefore a linear map of the border points, and its transpose
takes derivatives by ``rest`` to derivatives by the outline.
"""

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft.base.arrays import Faces, Floats, Ints
from weft.base.errors import MeshError, SceneError
from weft.base.runtime_types import checked
from weft.cloth.cloth import Cloth
from weft.discretization.bspline import Patch
from weft.discretization.compound_surface import Surfaces
from weft.discretization.mesh import TriangleMesh, unique_edges
from weft.discretization.polygon import cross, triangle_sides
from weft.discretization.spline_surface import SplineSurface, grid_faces
from weft.discretization.triangles import Triangles


@checked(MeshError)
def material_points(cloth: Cloth | TriangleMesh) -> tuple[Floats, Faces]:
    """Return the points of the flat panels, and the points of the corners of each face.

    For triangles they are the vertices in their order, unless a vertex lies on a seam of the mesh:
    then it has several points. For splines they are control points, patch after patch, and the
    faces are those of the control nets.

    Returns:
        (k,2) [m] points, and (m,3) index of the point of each corner of a face.

    Raises:
        SceneError: triangles beside splines.
    """
    if isinstance(cloth, TriangleMesh):
        return _of_mesh(cloth)
    if cloth.embedding is None:
        return _of_mesh(cloth.mesh)
    rests, faces, first = [], [], 0
    for surface in spline_surfaces(cloth):
        for patch in surface.patches:
            rests.append(patch.rest.reshape(-1, 2))
            faces.append(grid_faces(*patch.shape) + first)
            first += len(rests[-1])
    return np.concatenate(rests), np.concatenate(faces).astype(np.int32)


def _of_mesh(mesh: TriangleMesh) -> tuple[Floats, Ints]:
    if mesh.vertex_uv is not None:
        return mesh.vertex_uv, mesh.faces
    place = np.round(mesh.corner_uv.reshape(-1, 2), 9)
    keys = np.column_stack([mesh.faces.reshape(-1), place])
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    points = mesh.corner_uv.reshape(-1, 2)[first]
    return points, number.reshape(-1, 3).astype(np.int32)


def spline_surfaces(cloth: Cloth) -> list[SplineSurface]:
    """Return the pieces of a cloth that consists of splines only.

    Raises:
        SceneError: triangles beside splines.
    """
    found = [s for s in cloth.surfaces.pieces if isinstance(s, SplineSurface)]
    if len(found) < len(cloth.surfaces.pieces):
        raise SceneError(
            "material points", got="triangles beside splines", expected="one kind of cloth"
        )
    return found


@checked(MeshError)
def cut(cloth: Cloth, points: Floats) -> Cloth:
    """Return the cloth with other material points; its points in space stay where they are.

    Args:
        cloth: of triangles, or of splines.
        points: (k,2) [m], as many as ``material_points``.

    Raises:
        MeshError: another shape, or triangles without area.
        SceneError: triangles beside splines.
    """
    points = np.asarray(points, dtype=np.float64)
    old, number = material_points(cloth)
    if points.shape != old.shape:
        raise MeshError("material points", got=f"shape {points.shape}", expected=f"{old.shape}")
    if cloth.embedding is None:
        return _of_triangles(cloth, points[number])
    pieces, first = [], 0
    for surface in spline_surfaces(cloth):
        patches = []
        for patch in surface.patches:
            count = patch.shape[0] * patch.shape[1]
            patches.append(Patch(points[first : first + count].reshape(patch.rest.shape)))
            first += count
        pieces.append(dataclasses.replace(surface, patches=patches))
    made = Surfaces(cloth.points, pieces)
    mesh = dataclasses.replace(cloth.mesh, corner_uv=made.shown.corner_uv)
    return dataclasses.replace(cloth, mesh=mesh, made_of=made)


def _of_triangles(cloth: Cloth, corner_uv: Floats) -> Cloth:
    mesh = dataclasses.replace(cloth.mesh, corner_uv=corner_uv)
    made = None
    if cloth.made_of is not None:
        pieces = []
        for part, piece in cloth.pieces:
            assert isinstance(piece, Triangles)
            own = dataclasses.replace(piece.mesh, corner_uv=corner_uv[part.faces])
            pieces.append(dataclasses.replace(piece, mesh=own))
        made = Surfaces(cloth.points, pieces)
    return dataclasses.replace(cloth, mesh=mesh, made_of=made)


@checked(MeshError)
def recut(scene: Any, cloth: Cloth) -> Any:
    """Return a scene with a cloth that is cut in another way, and sewn anew.

    Seams, elastics and the drag of sewing take their constants from the new panels.

    Args:
        scene: a ``weft.Scene``.
        cloth: a cloth with as many vertices and faces (``Outline.move_border``, ``cut``).
    """
    mass = cloth.mass
    sewn = [e.recut(cloth.mesh, mass) if hasattr(e, "recut") else e for e in scene.energies]
    return scene.with_(cloth=cloth, energies=sewn)


@checked(MeshError, "outline")
@dataclass(frozen=True, eq=False)
class Outline:
    """The outlines of all panels of a cloth.

    Args:
        cloth: a cloth of triangles (also a garment), or of splines, with its present panels.
    """

    cloth: Cloth

    @cached_property
    def ids(self) -> Ints:
        """Indices (b,) of the border points among the ``material_points``."""
        edges, half = unique_edges(self._number)
        return np.unique(edges[np.bincount(half, minlength=len(edges)) == 1]).astype(np.int32)

    @property
    def points(self) -> Floats:
        """Border points (b,2) [m]."""
        return self._points[self.ids]

    def move_border(self, shift: Floats) -> Cloth:
        """Return the cloth with moved border points; its vertices in space stay where they are.

        Args:
            shift: (b,2) [m] displacements of the border points.

        Raises:
            MeshError: another shape, or a triangle that the displacement turns over.
        """
        shift = np.asarray(shift, dtype=np.float64)
        if shift.shape != (len(self.ids), 2):
            raise MeshError("outline", got=f"shape {shift.shape}", expected=f"({len(self.ids)}, 2)")
        every = np.zeros_like(self._points)
        every[self.ids] = shift
        inner, solve, border = self._inside
        every[inner] = -solve(border @ shift)
        points = self._points + every
        turned = np.flatnonzero(
            _doubled_areas(points[self._number]) * _doubled_areas(self._points[self._number]) <= 0
        )
        if len(turned):
            raise MeshError(
                "outline",
                got=f"{len(turned)} triangles turned over, first {turned[:5].tolist()}",
                expected="an outline with enough room for its triangles",
                hint="move the outline less, or mesh the new outline",
            )
        return cut(self.cloth, points)

    def pull_back(self, by_rest: Floats) -> Floats:
        """Return derivatives by border points (b,2), from derivatives by ``rest`` (k,2)."""
        by = np.asarray(by_rest, dtype=np.float64)
        inner, solve, border = self._inside
        return np.asarray(by[self.ids] - border.T @ solve(by[inner]))

    @cached_property
    def _table(self) -> tuple[Floats, Ints]:
        return material_points(self.cloth)

    @property
    def _points(self) -> Floats:
        return self._table[0]

    @property
    def _number(self) -> Ints:
        return self._table[1]

    @cached_property
    def _inside(self) -> tuple[Ints, Any, Any]:
        """Inner points, a solver for their Laplacian, and the Laplacian's columns of the border."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.linalg import splu

        n, f = len(self._points), self._number
        uv = self._points[f]
        rows, columns, values = [], [], []
        for k in range(3):
            i, j = (k + 1) % 3, (k + 2) % 3
            a, b = uv[:, i] - uv[:, k], uv[:, j] - uv[:, k]
            w = 0.5 * (a * b).sum(1) / np.abs(cross(a, b))
            for p, q, s in ((i, j, -1), (j, i, -1), (i, i, 1), (j, j, 1)):
                rows.append(f[:, p])
                columns.append(f[:, q])
                values.append(s * w)
        L = coo_matrix(
            (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (n, n)
        ).tocsc()
        inner = np.setdiff1d(np.arange(n), self.ids)
        if len(inner) == 0:
            return inner, lambda b: b, L[inner][:, self.ids]
        return inner, splu(L[inner][:, inner].tocsc()).solve, L[inner][:, self.ids]


def _doubled_areas(corners: Floats) -> Floats:
    """Return (m,) twice the areas of triangles (m,3,2), negative if they are turned over."""
    return cross(*triangle_sides(corners))
