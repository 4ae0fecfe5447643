"""Outlines of flat panels as parameters: border points move, and inner points follow.

The triangulation stays; for splines it is that of the control nets, whose border points are those
of the patches' sides. Inner points follow like those of a membrane under tension (harmonic, with
the cotangent weights of the original panels). A moved outline is therefore a linear map of the
border points, and its transpose takes derivatives by ``rest`` to derivatives by the outline.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from weft.adjoint.material import cut, material_points
from weft.base.arrays import Floats, Ints
from weft.base.errors import MeshError
from weft.base.runtime_types import checked
from weft.cloth.cloth import Cloth
from weft.discretization.mesh import unique_edges


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
        return np.asarray(self._points[self.ids])

    def moved(self, shift: Floats) -> Cloth:
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
            _signed(points[self._number]) * _signed(self._points[self._number]) <= 0
        )
        if len(turned):
            raise MeshError(
                "outline",
                got=f"{len(turned)} triangles turned over, first {turned[:5].tolist()}",
                expected="an outline that leaves room for its triangles",
                hint="move it by less, or mesh the new outline",
            )
        return cut(self.cloth, points)

    def pulled(self, by_rest: Floats) -> Floats:
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
            cross = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
            w = 0.5 * (a * b).sum(1) / cross
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


def _signed(corners: Floats) -> Floats:
    """Return (m,) twice the areas of triangles (m,3,2), negative if they are turned over."""
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])
