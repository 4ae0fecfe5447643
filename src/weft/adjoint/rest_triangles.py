"""Derivatives by the material coordinates of triangle corners, from derivatives by tables.

Slopes G of shape functions change by dG_a = -sum_b (G_a . dX_b) G_b, areas by dw = w sum_b G_b .
dX_b. Weights of hinges are differentiated in ``energies.elastic.hinge_weights``. Other tables of
hinges depend on the two faces of an edge, and are differentiated edge by edge, by quotients of four
points.
"""

from collections.abc import Callable, Sequence

import numpy as np

from weft.adjoint.material import material_points
from weft.base.arrays import Floats, Ints
from weft.base.differences import FOURTH_ORDER
from weft.cloth.cloth import Cloth
from weft.discretization.samples import Samples
from weft.energies.by_constants import ByName
from weft.energies.elastic.hinge_weights import HingeGeometry, by_areas
from weft.energies.rest_shape import RestShape, Tables

PART = 1e-3  # step of difference quotients over the length of an edge; relative error 1e-11


class TriangleRest(RestShape):
    """Derivatives by the material points of a cloth, by way of the corners (m,3,2) of its faces.

    Args:
        cloth: a cloth of triangles, of one fabric or several.
    """

    def __init__(self, cloth: Cloth) -> None:
        self.cloth, self.mesh = cloth, cloth.mesh
        self._keys = self._key(self.mesh.faces)
        self._order = np.argsort(self._keys)
        fabrics = [r.fabric for r in cloth.regions]
        D = np.array([(f.bending_warp, f.bending_weft) for f in fabrics])
        self.rigidity = D[cloth.region_of_faces]
        self.density = np.array([f.density for f in fabrics])[cloth.region_of_faces]
        self.by_corner = np.zeros_like(self.mesh.corner_uv)
        # Any corner of a vertex will do where a vertex belongs to one panel.
        self._corner = np.zeros(self.mesh.n_vertices, dtype=np.int64)
        self._corner[self.mesh.faces.ravel()] = np.arange(self.mesh.faces.size)

    def _key(self, triples: Ints) -> Ints:
        a, b, c = np.sort(np.asarray(triples, dtype=np.int64), axis=1).T
        n = self.mesh.n_vertices
        return np.asarray((a * n + b) * n + c)

    def faces(self, triples: Ints) -> Ints:
        """Return (q,) indices of the faces that have the three vertices (q,3)."""
        at = np.searchsorted(self._keys, self._key(triples), sorter=self._order)
        return np.asarray(self._order[at])

    def result(self) -> Floats:
        """Return (k,2) derivatives by material points."""
        points, number = material_points(self.cloth)
        out = np.zeros_like(points)
        np.add.at(out, number, self.by_corner)
        return out

    def add_corners(self, triples: Ints, by: Floats) -> None:
        """Add derivatives (q,3,2) by the corners of the faces with the vertices (q,3)."""
        np.add.at(self.by_corner, self.faces(triples), by)

    def add_masses(self, by: Floats) -> None:
        """Add derivatives by masses: a vertex has a third of the mass of its faces."""
        every = np.pad(by, (0, max(0, self.mesh.n_vertices - len(by))))
        self._add_areas(self.density / 3, every)

    def add_relative_areas(self, ids: Ints, by: Floats) -> None:
        """Add derivatives by the relative change of the areas around vertices."""
        n, area = self.mesh.n_vertices, self.mesh.vertex_area
        self._add_areas(1 / 3, np.bincount(ids, by, n) / area)

    def _add_areas(self, part: Floats | float, by: Floats) -> None:
        """Add derivatives (n,) by a number at vertices: a part of the area of each of its faces."""
        self.by_corner += by_areas(self.mesh, part * by[self.mesh.faces].sum(1))

    def add_contact(self, by_total_mass: float, by_positions: Floats) -> None:
        """Add derivatives by the mass of all faces, and by flat positions of vertices."""
        if self.mesh.vertex_uv is not None:
            flat = by_positions[: self.mesh.n_vertices, :2]
            np.add.at(self.by_corner.reshape(-1, 2), self._corner, flat)
        self.by_corner += by_areas(self.mesh, self.density * by_total_mass)

    def add_samples(self, samples: Samples, by: ByName) -> None:
        """Add derivatives by samples, which are one per face; shares are constant."""
        s = samples
        T = np.einsum("qaj,qbj->qab", by["gradient"], s.gradient)
        areas = (s.weight * by["weight"])[:, None, None] * s.gradient
        self.add_corners(s.stencil, areas - np.einsum("qab,qaj->qbj", T, s.gradient))

    def add_hinge_weights(
        self, hinges: Ints, by: Floats, rigidity: Callable[[Floats], Floats] | None = None
    ) -> None:
        """Add derivatives by weights; the rigidity of a hinge is the mean of its two faces."""
        faces = self._around(hinges)
        ends = np.repeat(hinges[:, None, :2], 2, axis=1)
        D = self.rigidity if rigidity is None else rigidity(self.rigidity)
        both = np.repeat(D[faces].mean(1)[:, None], 2, axis=1)
        self.add_seam_weights(HingeGeometry(faces, ends, both, np.full(len(hinges), np.nan)), by)

    def add_seam_weights(self, across: HingeGeometry, by: Floats) -> None:
        """Add derivatives by the weights of hinges that know their geometry."""
        self.by_corner += across.by_corner(self.mesh, by)

    def add_hinge_tables(self, hinges: Ints, made: Tables, by: Sequence[Floats]) -> None:
        """Add derivatives by tables that hinges make of the corners of their two faces."""
        faces, place = self._places(hinges)
        local = _by_corners(made, self.hinge_corners(hinges), by)
        np.add.at(self.by_corner, (faces[:, :, None], place), local)

    def add_hinge_areas(self, hinges: Ints, by: Floats) -> None:
        """Add derivatives by the sum of the two areas at hinges."""
        by_face = np.zeros(len(self.mesh.faces))
        np.add.at(by_face, self._around(hinges), by[:, None])
        self.by_corner += by_areas(self.mesh, by_face)

    def hinge_corners(self, hinges: Ints) -> Floats:
        """Return the material corners (h,2,3,2) [m] of edge start, end and tip of both faces."""
        faces, place = self._places(hinges)
        return self.mesh.corner_uv[faces[:, :, None], place]

    def rigidity_of_pairs(self, pairs: Ints) -> tuple[Ints, Floats]:
        """Return the hinges (m,4) of all pairs of a mesh of one fabric, and its rigidity (2,)."""
        for fabric, surface in self.cloth.elements:
            hinges = surface.mesh.hinges  # type: ignore[attr-defined]
            if np.array_equal(hinges[:, 2:], pairs):
                return hinges, np.array([fabric.bending_warp, fabric.bending_weft])
        raise NotImplementedError

    def add_lengths(self, pairs: Ints, by: Floats) -> None:
        """Add derivatives by material distances of pairs of vertices of one panel."""
        corner, flat = self._corner[pairs], self.by_corner.reshape(-1, 2)
        uv = self.mesh.corner_uv.reshape(-1, 2)[corner]
        d = uv[:, 1] - uv[:, 0]
        pull = by[:, None] * d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-300)
        for end, sign in ((0, -1.0), (1, 1.0)):
            np.add.at(flat, corner[:, end], sign * pull)

    def _around(self, hinges: Ints) -> Ints:
        """Return (h,2) the faces on either side of hinges (h,4)."""
        left, right = (self.faces(hinges[:, [0, 1, tip]]) for tip in (2, 3))
        return np.stack([left, right], axis=1)

    def _places(self, hinges: Ints) -> tuple[Ints, Ints]:
        """Return the faces (h,2) of hinges, and where start, end and tip are in them (h,2,3)."""
        faces = self._around(hinges)
        ids = np.stack([hinges[:, [0, 1, 2]], hinges[:, [0, 1, 3]]], axis=1)
        return faces, np.argmax(self.mesh.faces[faces][:, :, None, :] == ids[..., None], axis=-1)


def _by_corners(made: Tables, corners: Floats, by: Sequence[Floats]) -> Floats:
    """Return (h,2,3,2) derivatives by material corners of sum(by * made(corners)), row by row."""
    out = np.zeros_like(corners)
    size = PART * np.linalg.norm(corners[:, 0, 1] - corners[:, 0, 0], axis=1)
    for at in np.ndindex(2, 3, 2):
        for k, weight in FOURTH_ORDER:
            moved = np.array(corners)
            moved[:, *at] += k * size
            for table, slope in zip(made(moved), by, strict=True):
                s = (table * slope).reshape(len(size), -1).sum(1)
                out[:, *at] += weight * s / size
    return out
