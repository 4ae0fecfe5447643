"""Triangles at rest, and derivatives by the material coordinates of their corners.

Energies depend on the rest shape by tables: masses, weights, slopes of shape functions. An energy
takes derivatives by its tables to the corners of the faces itself (``by_corner_uv``), with the
functions of this module: areas, samples, and tables that a hinge makes of its two faces. Slopes G
of shape functions change by dG_a = -sum_b (G_a . dX_b) G_b, areas by dw = w sum_b G_b . dX_b.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.differences import FOURTH_ORDER
from weft.discretization.mesh import TriangleMesh
from weft.discretization.samples import Samples
from weft.energies.by_constants import ByName

PART = 1e-3  # step of difference quotients over the length of an edge; relative error 1e-11


@dataclass(frozen=True, eq=False)
class RestMesh:
    """A mesh of cloth at rest, with the fabrics of its faces.

    Derivatives by the material coordinates of the corners of all faces are (f,3,2).

    Args:
        mesh: the mesh.
        density: (f,) [kg/m^2] of the faces.
        rigidity: (f,2) [N m] of bending the warp and the weft of the faces.
        fabrics: hinges (h,4) and rigidity (2,) of each surface of one fabric.
    """

    mesh: TriangleMesh
    density: Floats
    rigidity: Floats
    fabrics: Sequence[tuple[Ints, Floats]]

    @cached_property
    def _keys(self) -> tuple[Ints, Ints]:
        """Keys of the faces' vertices, and the order that sorts them."""
        keys = self._key(self.mesh.faces)
        return keys, np.asarray(np.argsort(keys), dtype=keys.dtype)

    def _key(self, triples: Ints) -> Ints:
        a, b, c = np.sort(np.asarray(triples, dtype=np.int64), axis=1).T
        n = self.mesh.n_vertices
        return np.asarray((a * n + b) * n + c)

    def faces(self, triples: Ints) -> Ints:
        """Return (q,) indices of the faces that have the three vertices (q,3)."""
        keys, order = self._keys
        return np.asarray(order[np.searchsorted(keys, self._key(triples), sorter=order)])

    def faces_at(self, hinges: Ints) -> Ints:
        """Return (h,2) the faces on either side of hinges (h,4)."""
        left, right = (self.faces(hinges[:, [0, 1, tip]]) for tip in (2, 3))
        return np.stack([left, right], axis=1)

    @cached_property
    def corner(self) -> Ints:
        """A corner of every vertex, (n,), as index of all corners; of a panel any one will do."""
        found: Ints = np.zeros(self.mesh.n_vertices, dtype=np.int32)
        found[self.mesh.faces.ravel()] = np.arange(self.mesh.faces.size)
        return found

    def hinge_corners(self, hinges: Ints) -> Floats:
        """Return the material corners (h,2,3,2) [m] of edge start, end and tip of both faces."""
        faces, place = self._places(hinges)
        return self.mesh.corner_uv[faces[:, :, None], place]

    def _places(self, hinges: Ints) -> tuple[Ints, Ints]:
        """Return the faces (h,2) of hinges, and where start, end and tip are in them (h,2,3)."""
        faces = self.faces_at(hinges)
        ids = np.stack([hinges[:, [0, 1, 2]], hinges[:, [0, 1, 3]]], axis=1)
        return faces, np.argmax(self.mesh.faces[faces][:, :, None, :] == ids[..., None], axis=-1)

    def by_corners(self, triples: Ints, by: Floats) -> Floats:
        """Return derivatives, from those (q,3,2) by corners of the faces with vertices (q,3)."""
        out = np.zeros_like(self.mesh.corner_uv)
        np.add.at(out, self.faces(triples), by)
        return out

    def by_vertex_areas(self, by: Floats, part: Floats | float = 1 / 3) -> Floats:
        """Return derivatives, from those (n,) by a number at vertices, a part of the areas of all
        faces around them.
        """
        every = np.pad(by, (0, max(0, self.mesh.n_vertices - len(by))))
        return by_areas(self.mesh, part * every[self.mesh.faces].sum(1))

    def by_samples(self, samples: Samples, by: ByName) -> Floats:
        """Return derivatives, from those by samples, one per face; values at them are constant.

        Args:
            samples: the samples.
            by: ``gradient`` (q,3,2) by slopes dN/dX, ``weight`` (q,) by areas.
        """
        s = samples
        T = np.einsum("qaj,qbj->qab", by["gradient"], s.gradient)
        areas = (s.weight * by["weight"])[:, None, None] * s.gradient
        return self.by_corners(s.stencil, areas - np.einsum("qab,qaj->qbj", T, s.gradient))

    def by_hinge_tables(
        self, hinges: Ints, tables: Callable[[Floats], Sequence[Floats]], by: Sequence[Floats]
    ) -> Floats:
        """Return derivatives, from those by tables that hinges make of their faces' corners.

        They are quotients of four points, row by row.

        Args:
            hinges: (h,4) vertices.
            tables: returns the tables for material corners (h,2,3,2) of edge start, end and tip.
            by: derivatives by each table.
        """
        faces, place = self._places(hinges)
        corners = self.mesh.corner_uv[faces[:, :, None], place]
        local = np.zeros_like(corners)
        size = PART * np.linalg.norm(corners[:, 0, 1] - corners[:, 0, 0], axis=1)
        for at in np.ndindex(2, 3, 2):
            for k, weight in FOURTH_ORDER:
                moved = np.array(corners)
                moved[:, *at] += k * size
                for table, slope in zip(tables(moved), by, strict=True):
                    s = (table * slope).reshape(len(size), -1).sum(1)
                    local[:, *at] += weight * s / size
        out = np.zeros_like(self.mesh.corner_uv)
        np.add.at(out, (faces[:, :, None], place), local)
        return out

    def by_lengths(self, pairs: Ints, by: Floats) -> Floats:
        """Return derivatives, from those (m,) by material distances of pairs (m,2) in a panel."""
        out = np.zeros_like(self.mesh.corner_uv)
        corner, flat = self.corner[pairs], out.reshape(-1, 2)
        uv = self.mesh.corner_uv.reshape(-1, 2)[corner]
        d = uv[:, 1] - uv[:, 0]
        pull = by[:, None] * d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-300)
        for end, sign in ((0, -1.0), (1, 1.0)):
            np.add.at(flat, corner[:, end], sign * pull)
        return out


def by_areas(mesh: TriangleMesh, by: Floats) -> Floats:
    """Return derivatives by the material coordinates of every face's corners, (m,3,2).

    Args:
        mesh: the mesh.
        by: (m,) derivatives by the areas of the faces.
    """
    uv = mesh.corner_uv
    opposite = np.roll(uv, -2, axis=1) - np.roll(uv, -1, axis=1)  # the edge after each corner
    turned = np.stack([-opposite[..., 1], opposite[..., 0]], axis=-1)
    side = np.sign(mesh.signed_material_area) * by / 2
    return side[:, None, None] * turned
