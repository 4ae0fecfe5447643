"""Derivatives by the material coordinates of triangle corners, from derivatives by tables.

Slopes G of shape functions change by dG_a = -sum_b (G_a . dX_b) G_b, areas by dw = w sum_b G_b .
dX_b. Hinges are differentiated in ``energies.elastic.hinge_geometry``. Tables of quadratic bending
and of pairs depend on the two faces of an edge, and are differentiated edge by edge, by quotients
of four points.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from weft.adjoint.material import material_points
from weft.adjoint.rest_buckling_pairs import ByPairs
from weft.adjoint.rest_terms import ByBonds, FormTables, Handled, HingeWeights, SampleTables
from weft.base.arrays import Floats, Ints
from weft.cloth.cloth import Cloth
from weft.energies.elastic.buckling_bending import strip_factor, unfold_pairs
from weft.energies.elastic.hinge_bending import STRIP, material_corners
from weft.energies.elastic.hinge_geometry import HingeGeometry, by_areas
from weft.energies.elastic.quadratic_bending import coefficients, strip_weights
from weft.energies.seams.seam_hinges import SeamHinges

PART = 1e-3  # step of difference quotients over the length of an edge; relative error 1e-11
FOUR = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))


class TriangleRest:
    """Derivatives by the material points of a cloth, by way of the corners (m,3,2) of its faces.

    Args:
        cloth: a cloth of triangles, of one fabric or several.
        calibrate: whether pairs bend with the fabric's rigidity (``BucklingForm``).
    """

    def __init__(self, cloth: Cloth, calibrate: bool = True) -> None:
        self.cloth, self.mesh, self.calibrate = cloth, cloth.mesh, calibrate
        self._keys = self._key(self.mesh.faces)
        self._order = np.argsort(self._keys)
        regions = [r.fabric for r in cloth.regions]
        D = np.array([(f.bending_warp, f.bending_weft) for f in regions])
        self.rigidity = D[cloth.region_of_faces]

    def _key(self, triples: Ints) -> Ints:
        a, b, c = np.sort(np.asarray(triples, dtype=np.int64), axis=1).T
        n = self.mesh.n_vertices
        return np.asarray((a * n + b) * n + c)

    def faces(self, triples: Ints) -> Ints:
        """Return (q,) indices of the faces that have the three vertices (q,3)."""
        at = np.searchsorted(self._keys, self._key(triples), sorter=self._order)
        return np.asarray(self._order[at])

    def knows(self, made: Handled | None) -> bool:
        """Return whether derivatives by a term's tables can be taken to the corners."""
        return made is not None

    def is_spatial(self, term: Any) -> bool:
        """Return False: no further terms depend on positions only (see ``rest.SPATIAL``)."""
        return False

    def by_points(self, handled: Mapping[str, Handled], by_mass: Floats) -> Floats:
        """Return (k,2) derivatives by material points, of all terms and of masses (n,)."""
        by = [self._by_corner(h) for h in handled.values()]
        return self.of_corners(np.sum([*by, self._by_mass(by_mass)], axis=0))

    def of_corners(self, by: Floats) -> Floats:
        """Return (k,2) derivatives by material points, from (m,3,2) by corners of faces."""
        points, number = material_points(self.cloth)
        out = np.zeros_like(points)
        np.add.at(out, number, by)
        return out

    def _by_corner(self, handled: Handled) -> Floats:
        found: dict[type, Callable[[Any], Floats]] = {
            SampleTables: self._samples,
            HingeWeights: self._hinges,
            FormTables: self._form,
            ByPairs: self._pairs,
            ByBonds: self._bonds,
        }
        return found[type(handled)](handled)

    def _by_mass(self, by: Floats) -> Floats:
        density = np.array([r.fabric.density for r in self.cloth.regions])
        third = density[self.cloth.region_of_faces] / 3
        return by_areas(self.mesh, third * by[self.mesh.faces].sum(1))

    def _samples(self, t: SampleTables) -> Floats:
        s, out = t.samples, np.zeros_like(self.mesh.corner_uv)
        T = np.einsum("qaj,qbj->qab", t.G, s.gradient)
        by = (s.weight * t.w)[:, None, None] * s.gradient
        np.add.at(out, self.faces(s.stencil), by - np.einsum("qab,qaj->qbj", T, s.gradient))
        return out

    def _around(self, hinges: Ints) -> Ints:
        """Return (h,2) the faces on either side of hinges (h,4)."""
        left, right = (self.faces(hinges[:, [0, 1, tip]]) for tip in (2, 3))
        return np.stack([left, right], axis=1)

    def _across(self, hinges: Ints, rigidity: Floats) -> HingeGeometry:
        """Return the geometry of hinges inside the mesh.

        The rigidity of a hinge is the mean of the rigidities (m,2) of its two faces.
        """
        faces = self._around(hinges)
        ends = np.repeat(hinges[:, None, :2], 2, axis=1)
        D = np.repeat(rigidity[faces].mean(1)[:, None], 2, axis=1)
        return HingeGeometry(faces, ends, D, np.full(len(hinges), np.nan))

    def _hinges(self, t: HingeWeights) -> Floats:
        e: Any = t.term.energy
        across = e.across if isinstance(e, SeamHinges) else None
        across = across or self._across(e.hinges, self.rigidity)
        return across.by_corner(self.mesh, t.weight)

    def _form(self, t: FormTables) -> Floats:
        hinges = t.form.stencil
        P = np.array([strip_weights((warp, weft)) for warp, weft in self.rigidity])
        out = self._across(hinges, P).by_corner(self.mesh, t.w / STRIP)
        faces, place, corners = self._corners(hinges)
        np.add.at(out, (faces[:, :, None], place), local(coefficients, corners, (t.c, t.G)))
        return out

    def _corners(self, hinges: Ints) -> tuple[Ints, Ints, Floats]:
        """Return the faces of hinges, and their corners.

        Returns:
            Faces (h,2), index of the corners start, end and tip in each (h,2,3), and their material
            coordinates (h,2,3,2) [m].
        """
        faces = self._around(hinges)
        ids = np.stack([hinges[:, [0, 1, 2]], hinges[:, [0, 1, 3]]], axis=1)
        place = np.argmax(self.mesh.faces[faces][:, :, None, :] == ids[..., None], axis=-1)
        return faces, place, self.mesh.corner_uv[faces[:, :, None], place]

    def _pairs(self, t: ByPairs) -> Floats:
        e: Any = t.term.energy
        _, _, number = e.name.partition(" ")
        fabric, surface = self.cloth.elements[int(number or 1) - 1]
        mesh: Any = surface.mesh  # type: ignore[attr-defined]
        faces, place, _ = self._corners(mesh.hinges)
        corners = material_corners(mesh)
        _, along = unfold_pairs(corners)
        D = np.array([fabric.bending_warp, fabric.bending_weft])
        factor = strip_factor(along, e.area) if self.calibrate else (1.0, 1.0)
        k, by_k = np.array(factor) * D, t.stiffness / np.maximum(e.stiffness, 1e-300) ** 2
        by_along = np.zeros_like(along)
        by_along[:, :2] = by_k[:, None] * k**2 / 2
        by_area = t.area / e.area
        if self.calibrate:
            more = strip_slopes(along, e.area, (by_k @ along[:, :2]) * k * D)
            by_along, by_area = by_along + more[0], by_area + more[1]
        out, by_face = np.zeros_like(self.mesh.corner_uv), np.zeros(len(self.mesh.faces))
        by_length = t.length / e.length
        np.add.at(
            out, (faces[:, :, None], place), local(unfold_pairs, corners, (by_length, by_along))
        )
        np.add.at(by_face, faces, by_area[:, None])
        return out + by_areas(self.mesh, by_face)

    def _bonds(self, t: ByBonds) -> Floats:
        e, mesh = t.term.energy, self.mesh
        out, first = np.zeros_like(mesh.corner_uv), np.zeros(mesh.n_vertices, dtype=np.int64)
        # Any corner of a vertex will do, because no vertex belongs to two panels.
        first[mesh.faces.ravel()] = np.arange(mesh.faces.size)
        if e.along is None:
            return out
        corner = first[e.pairs]
        uv, by = mesh.corner_uv.reshape(-1, 2)[corner], np.where(np.isnan(e.along), 0.0, t.along)
        d = uv[:, 1] - uv[:, 0]
        pull = by[:, None] * d / np.maximum(np.linalg.norm(d, axis=1, keepdims=True), 1e-300)
        for end, sign in ((0, -1.0), (1, 1.0)):
            np.add.at(out.reshape(-1, 2), corner[:, end], sign * pull)
        return out


def local(
    made: Callable[[Floats], Sequence[Floats]], corners: Floats, by: Sequence[Floats]
) -> Floats:
    """Return (h,2,3,2) derivatives by material corners of sum(by * made(corners)), row by row."""
    out = np.zeros_like(corners)
    size = PART * np.linalg.norm(corners[:, 0, 1] - corners[:, 0, 0], axis=1)
    for at in np.ndindex(2, 3, 2):
        for k, weight in FOUR:
            moved = np.array(corners)
            moved[:, *at] += k * size
            for table, slope in zip(made(moved), by, strict=True):
                rows = len(size)
                s = (table * slope).reshape(rows, -1).sum(1)
                out[:, *at] += weight * s / size
    return out


def strip_slopes(along: Floats, area: Floats, by: Floats) -> tuple[Floats, Floats]:
    """Return the derivatives of ``strip_factor`` by directions (m,3) and areas (m,) of pairs.

    ``by`` (2,) are the derivatives by its two factors, which are contracted.
    """
    q, total = along[:, [0, 2, 1]] * [1.0, 2.0, 1.0], area.sum()
    Q = 3 * np.einsum("m,mi,mj->ij", area / total, q, q)
    inverse = np.linalg.inv(Q + 1e-9 * np.trace(Q) * np.eye(3))  # as in ``strip_factor``
    by_M = -sum(b * np.outer(inverse[i], inverse[i]) for b, i in zip(by, (0, 2)))
    by_Q: Any = by_M + 1e-9 * np.trace(by_M) * np.eye(3)
    by_q = 6 * (area / total)[:, None] * (q @ by_Q)
    each = 3 * np.einsum("mi,ij,mj->m", q, by_Q, q) / total
    return by_q[:, [0, 2, 1]] * [1.0, 1.0, 2.0], np.asarray(each - (area * each).sum() / total)
