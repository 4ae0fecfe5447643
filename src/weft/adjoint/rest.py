"""Derivatives by the rest shape: material coordinates of the vertices of triangles, in closed form.

With Dm the material edges of a face, F = Ds Dm^-1 and w its area, a cotangent R by F gives -F^T R
Dm^-T by Dm, and the energy itself w tr(Dm^-1 dDm). Hinges know the rest shape by their weight 5/4 D
l^2/A, masses by the area around a vertex, contact by the mean mass and by the rest lengths of
nearly parallel edges (``parallel``). Meshes stay as they are: what triangulates an outline would
move vertices, too; ``outline`` moves what is inside of one along with it.
"""

from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.lagged import measure_gradient
from weft.adjoint.losses import by_corner
from weft.adjoint.membranes import start_of_membrane
from weft.adjoint.step_back import Back, StepBack
from weft.adjoint.touching import Touching
from weft.arrays import Floats, Ints
from weft.contact.term import ContactTerm
from weft.energies.gravity import BoundGravity
from weft.energies.hinge_bending import STRIP, HingeBending, material_edges
from weft.energies.inertia import Inertia
from weft.energies.local import BoundLocal
from weft.energies.membrane import BoundMembrane
from weft.errors import SceneError
from weft.kernel import WarpArray, mat32, mat33
from weft.mesh import TriangleMesh
from weft.psd import Psd

KNOWN = (BoundMembrane, Inertia, BoundGravity, ContactTerm)


def material_points(mesh: TriangleMesh) -> tuple[Floats, Ints]:
    """(k,2) [m] the points of the flat panels, and (m,3) which of them is each corner of a face.

    They are the vertices, in their order, unless a vertex lies on a seam: then it has several.
    """
    if mesh.vertex_uv is not None:
        return mesh.vertex_uv, mesh.faces
    place = np.round(mesh.corner_uv.reshape(-1, 2), 9)
    keys = np.column_stack([mesh.faces.reshape(-1), place])
    _, first, number = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    points = mesh.corner_uv.reshape(-1, 2)[first]
    return points, number.reshape(-1, 3).astype(np.int32)


class Rest:
    """By material coordinates (k,2) of the vertices, or where seams give some of them several, of
    ``material_points``.

    Raises:
        SceneError: splines, several fabrics, or an energy whose rest shape is another matter: each
            by name.
    """

    name, unit = "rest", "m"

    def __init__(self, scene: Any) -> None:
        self.scene, self.model = scene, scene.model()
        cloth = scene.cloth
        for bad, name in (
            (cloth.embedding is not None, "splines"),
            (len(cloth.fabrics) > 1, "several fabrics"),
            (scene.conditions is not None, "the conditions of 1998"),
            (bool(cloth.fabric.keyed), "a fabric that changes in time (keys)"),
            (scene.rest_angles != "flat", f"rest_angles {scene.rest_angles}"),
        ):
            if bad:
                raise SceneError("parameter rest", got=name, expected="one flat cloth of triangles")
        for term in self.model.assembly.terms:
            plain = isinstance(term, BoundLocal) and type(term.energy) is HingeBending
            if not (isinstance(term, KNOWN) or plain):
                raise SceneError(
                    "parameter rest", got=f"energy {term.name}",
                    expected="membranes, hinges, gravity and inertia alone",
                )  # fmt: skip
        self.mesh = cloth.mesh
        self.by_corner = np.zeros((len(self.mesh.faces), 3, 2))
        self.by_mass = np.zeros(len(self.model.mass))
        self.by_flat = np.zeros((self.mesh.n_vertices, 2))  # of contact
        self.by_weight: dict[str, Floats] = {}

    @property
    def matters(self) -> bool:
        """Always."""
        return True

    def add(self, back: StepBack) -> None:
        """Of one step."""
        step, x, by = back.phi.step, np.array(kernel.numpy(back.x)), -back.z
        for term in back.phi.terms_of_phi:
            if isinstance(term, BoundMembrane):
                self.by_corner += self._membrane(term, back, by)
            elif isinstance(term, BoundLocal):
                self._hinges(term, back.x, by)
            elif isinstance(term, BoundGravity):
                g = np.array([float(a) for a in term._field[1]])
                self.by_mass -= by @ g
            elif isinstance(term, Inertia) and step.scale is not None:
                self.by_mass += (by * (x - step.predicted)).sum(1) / step.scale
        if back.touching is not None:
            self._contact(back.touching)

    def _contact(self, touching: Touching) -> None:
        """By how stiff it is, and by what it takes for parallel."""
        contact = touching.term.contact
        self.by_mass += touching.by_stiffness / float(contact.mass.sum())
        if self.mesh.vertex_uv is not None and len(touching.by_rest):
            self.by_flat += touching.by_rest[: self.mesh.n_vertices, :2]

    def _membrane(self, term: BoundMembrane, back: StepBack, by: Floats) -> Floats:
        """(m,3,2) by the corners' coordinates."""
        s, q = term.membrane.samples, len(term.membrane.samples.weight)
        F, L = s.deformation_gradient(kernel.numpy(back.x)), s.deformation_gradient(by)
        P, Q = stress_and_slope(term, F, L, q)
        w = s.weight[:, None, None]
        pulled = np.einsum("qki,qkj->qij", F, w * Q) + np.einsum("qki,qkj->qij", L, w * P)
        start = start_of_membrane(term, back.phi.step, back.x, by)
        if start is not None:
            pulled += np.einsum("qki,qkj->qij", start.now, start.by_now)
            pulled += np.einsum("qki,qkj->qij", start.past, start.by_past)
        amount = s.weight * np.einsum("qij,qij->q", P, L)
        inverse_t = np.swapaxes(s.gradient[:, 1:, :], 1, 2)  # Dm^-T
        by_Dm = amount[:, None, None] * inverse_t - np.einsum("qij,qjk->qik", pulled, inverse_t)
        return by_edges(by_Dm)

    def _hinges(self, term: BoundLocal, x: WarpArray, by: Floats) -> None:
        """By the weight of every hinge."""
        e = term.energy
        local = kernel.empty(term.shape, kernel.vec3)
        term._launch(term.kernels.gradient, x, local)
        s = np.einsum("mai,mai->m", kernel.numpy(local), by[e.stencil])
        weight = e.weight  # type: ignore[attr-defined]
        slope = np.divide(s, weight, out=np.zeros_like(s), where=weight > 0)
        if (weight == 0).any():
            slope = np.where(weight > 0, slope, self._bare(term, x, by))
        self.by_weight[e.name] = self.by_weight.get(e.name, np.zeros(len(s))) + slope

    @staticmethod
    def _bare(term: BoundLocal, x: WarpArray, by: Floats) -> Floats:
        """s of hinges of weight 1, undamped: where a weight is zero nothing is damped either."""
        slope = np.einsum("mai,mai->m", measure_gradient(term, x), by[term.energy.stencil])
        from weft.energies.hinge_bending import dihedral_angles

        return np.asarray(slope * dihedral_angles(np.array(kernel.numpy(x)), term.energy.stencil))

    def end(self, back: Back) -> Floats:
        """(k,2): of membranes, hinges, masses and contact."""
        mesh, fabric = self.mesh, self.scene.cloth.fabric
        by = np.array(self.by_corner)
        by_area = fabric.density / 3 * self.by_mass[mesh.faces].sum(1)
        for by_weight in self.by_weight.values():
            by_edge, by_areas = _hinge_weights(mesh, fabric, by_weight)
            np.add.at(by_area, mesh.hinge_faces, by_areas[:, None])
            for side in (0, 1):
                face, rows = mesh.hinge_faces[:, side], np.arange(len(mesh.hinges))
                corners = mesh.faces[face]
                for end, sign in ((0, -1.0), (1, 1.0)):
                    corner = np.argmax(corners == mesh.hinges[:, [end]], axis=1)
                    np.add.at(by, (face, corner), sign * by_edge[rows, side])
        uv = mesh.corner_uv
        Dm = np.stack([uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]], axis=2)
        inverse_t = np.swapaxes(np.linalg.inv(Dm), 1, 2)
        by += by_edges((by_area * mesh.rest_area)[:, None, None] * inverse_t)
        return self.of_corners(by) if mesh.vertex_uv is None else self.of_corners(by) + self.by_flat

    def explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> Floats:
        """(k,2) of a loss that knows the model, at the same positions.

        Raises:
            SceneError: one that does not say how it changes with the rest shape.
        """
        return self.of_corners(by_corner(loss, x, v, t))

    def of_corners(self, by: Floats) -> Floats:
        """(k,2) by material points, from (m,3,2) by corners of faces."""
        points, number = material_points(self.mesh)
        out = np.zeros_like(points)
        np.add.at(out, number, by)
        return out


def by_edges(by_Dm: Floats) -> Floats:
    """(m,3,2) by corners, from (m,2,2) by the matrix whose columns are the edges from corner 0."""
    one, two = by_Dm[:, :, 0], by_Dm[:, :, 1]
    return np.stack([-one - two, one, two], axis=1)


def stress_and_slope(term: BoundMembrane, F: Floats, L: Floats, q: int) -> tuple[Floats, Floats]:
    """P(F), and d(P : L)/dF, each (q,3,2), damping included."""
    law, parameters = term._now
    at, P, H = kernel.array(F, mat32), kernel.empty(q, mat32), kernel.empty((q, 3), mat33)
    kernel.launch_each(q, *law.stages("pk1", at, parameters, P))
    kernel.launch_each(q, *law.stages(Psd.EXACT, at, parameters, H))
    uu, uv, vv = np.moveaxis(np.array(kernel.numpy(H)), 1, 0)
    l0, l1 = L[:, :, 0], L[:, :, 1]
    q0 = np.einsum("qij,qj->qi", uu, l0) + np.einsum("qij,qj->qi", uv, l1)
    q1 = np.einsum("qji,qj->qi", uv, l0) + np.einsum("qij,qj->qi", vv, l1)
    return np.array(kernel.numpy(P)), np.stack([q0, q1], axis=2)


def _hinge_weights(mesh: Any, fabric: Any, by: Floats) -> tuple[Floats, Floats]:
    """(h,2,2) by the material edge on either side, and (h,) by the sum of the areas."""
    edge, D = material_edges(mesh), np.array([fabric.bending_weft, fabric.bending_warp])
    area = mesh.rest_area[mesh.hinge_faces].sum(1)
    weight = STRIP * (edge**2 @ D).mean(1) / area
    by_edge = (STRIP * by / area)[:, None, None] * edge * D
    return np.asarray(by_edge), np.asarray(-by * weight / area)
