"""Derivatives by the rest shape.

The parameters are the material coordinates of the vertices of triangles, or the control points of
splines at rest. Terms depend on them by tables (``rest_terms``), which are computed triangle by
triangle (``rest_triangles``) or patch by patch (``rest_splines``); masses depend on the area around
a vertex; contact depends on the mean mass and on the rest lengths of nearly parallel edges
(``mollifier_threshold``). Meshes and knots stay as they are: triangulating a new outline would also
move vertices. ``outline`` moves the inside of an outline along with it.
"""

from typing import Any

import numpy as np

from weft import kernel
from weft.adjoint.losses import by_corner
from weft.adjoint.material import cut, material_points, recut
from weft.adjoint.rest_buckling_pairs import ByPairs
from weft.adjoint.rest_splines import SplineRest
from weft.adjoint.rest_terms import ByBonds, FormTables, Handled, HingeWeights, SampleTables
from weft.adjoint.rest_triangles import TriangleRest
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.contact.contact_energy import ContactEnergy
from weft.contact.derivatives.contact_slopes import ContactSlopes
from weft.energies.air.lift_and_drag import BoundAir
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.curvature_damping import CurvatureDamping
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.hinge_geometry import by_areas
from weft.energies.elastic.membrane import BoundMembrane
from weft.energies.elastic.quadratic_bending import BoundQuadratic
from weft.energies.elastic.quadratic_form import BoundQuadraticForm
from weft.energies.inertia import Inertia
from weft.energies.loads.drag import BoundDrag
from weft.energies.loads.gravity import BoundGravity
from weft.energies.loads.pressure import BoundPressure
from weft.energies.springs.bonds import BoundBonds
from weft.energies.springs.point_springs import BoundPointSprings
from weft.energies.springs.ring_spacing import BoundSpacing
from weft.energies.state import StateDerivatives

WEIGHING = (Inertia, BoundGravity, BoundDrag)
# Terms without tables: they depend on positions only. How contact depends on the rest shape is
# accumulated by ``Rest._contact``.
SPATIAL = (ContactEnergy, BoundPointSprings, BoundSpacing, BoundPressure)
EXPECTED = "energies whose tables are known: docs/gradients.md"


class Rest:
    """Parameter ``rest``: the ``material_points`` (k,2) [m] of the cloth.

    Raises:
        SceneError: an energy whose dependence on the rest shape is not known, by name.
    """

    name, unit = "rest", "m"
    size = 0.01

    @staticmethod
    def value(scene: Any) -> Floats:
        """Return the material points (k,2) [m] of the cloth of a scene."""
        return np.array(material_points(scene.cloth)[0])

    @staticmethod
    def at(scene: Any, value: Floats) -> Any:
        """Return the scene with a cloth that has these material points (k,2) [m]."""
        return recut(scene, cut(scene.cloth, value))

    def __init__(self, scene: Any) -> None:
        self.scene, self.model, self.cloth = scene, scene.model(), scene.cloth
        for bad, name in (
            (scene.conditions is not None, "the conditions of 1998"),
            (scene.rest_angles != "flat", f"rest_angles {scene.rest_angles}"),
            (bool(scene.pressed), "lines that are pressed in"),
            (any(f.keyed for f in scene.cloth.fabrics), "a fabric that changes in time (keys)"),
        ):
            if bad:
                raise SceneError(
                    "parameter rest", got=name, expected="flat cloth that stays as it is"
                )
        calibrate = scene.buckling is None or scene.buckling.calibrate
        self.of: TriangleRest | SplineRest
        if self.cloth.embedding is None:
            self.of = TriangleRest(self.cloth, calibrate)
        else:
            self.of = SplineRest(self.cloth)
        self.handled: dict[str, Handled] = {}
        for term in self.model.assembly.terms:
            self._know(term)
        self.by_mass = np.zeros(len(self.model.mass))
        self.by_firm = 0.0  # derivative by the logarithm of contact's stiffness
        self.by_flat = np.zeros((self.cloth.n_vertices, 2))  # by rest positions of contact

    def _know(self, term: Any) -> None:
        """Choose the accumulator for the tables of a term.

        Raises:
            SceneError: a term whose tables are not known.
        """
        if isinstance(term, (*WEIGHING, *SPATIAL)) or self.of.is_spatial(term):
            return
        made: Handled | None = None
        energy = getattr(term, "energy", None)
        if getattr(energy, "foldings", ()):
            raise SceneError(
                "parameter rest",
                got="a seam whose fold changes in time (keys)",
                expected="seams that stay as they are",
            )
        if type(term) is BoundMembrane or type(term) is BoundAir:
            made = SampleTables(term)
        elif isinstance(term, BoundBonds):
            made = ByBonds(term)
        elif isinstance(term, BoundQuadratic):
            damping = None if term.rate is None else term.rate.energy
            made = FormTables(term.form.form, damping)  # type: ignore[arg-type]
        elif type(energy) is HingeBending or getattr(energy, "across", None) is not None:
            made = HingeWeights(term)
        elif type(energy) is BucklingBending and "between" not in term.name:
            made = ByPairs(term)
        elif type(term) is BoundQuadraticForm and isinstance(self.of, SplineRest):
            made = FormTables(term.form)
        elif type(energy) is CurvatureDamping and isinstance(
            self.handled.get(term.name), FormTables
        ):
            made = self.handled[term.name]  # the bending term before it has the same name
            made.damping = energy  # type: ignore[union-attr]
        if not self.of.knows(made):
            raise SceneError("parameter rest", got=f"energy {term.name}", expected=EXPECTED)
        assert made is not None
        self.handled[term.name] = made

    @property
    def matters(self) -> bool:
        """True: every run depends on the rest shape."""
        return True

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        by = -back.z
        for handled in self.handled.values():
            handled.add(back, by)
        for term in back.phi.terms_of_phi:
            self._weigh(term, back, by)
        if back.touching is not None:
            self._contact(back.touching)

    def _weigh(self, term: Any, back: ReverseStep, by: Floats) -> None:
        """Add the derivatives of a term by the masses of points."""
        step, x = back.phi.step, np.asarray(kernel.numpy(back.x))
        if isinstance(term, BoundGravity):
            field, part = np.asarray(term.gravity.acceleration), term.gravity.part(step.t)
            self.by_mass -= part * (by @ field)
        elif isinstance(term, BoundDrag) and term._acts:
            rates = np.pad(term.drag.rates(step.t), (0, len(by) - len(term.drag.mass)))
            self.by_mass += rates / step.span * (by * (x - step.origin)).sum(1)
        elif isinstance(term, Inertia) and step.scale is not None:
            self.by_mass += (by * (x - step.predicted)).sum(1) / step.scale

    def _contact(self, touching: ContactSlopes) -> None:
        """Add the derivatives of contact by its stiffness and by rest lengths of parallel edges."""
        self.by_firm += touching.by_stiffness
        if self.cloth.mesh.vertex_uv is not None:
            self.by_flat += touching.by_rest_positions()[: self.cloth.n_vertices, :2]

    def end(self, back: StateDerivatives) -> Floats:
        """Return the derivative (k,2)."""
        found = self.of.by_points(self.handled, self.by_mass)
        return np.asarray(found + self.of.of_corners(self._touched()))

    def _touched(self) -> Floats:
        """Return (m,3,2) derivatives of contact by the corners of the contact surface's faces."""
        mesh, contact = self.cloth.mesh, self.model.contact
        out: Floats = np.zeros_like(mesh.corner_uv)
        if contact is None:
            return out
        density = np.array([r.fabric.density for r in self.cloth.regions])
        each = density[self.cloth.region_of_faces] * self.by_firm / float(contact.mass.sum())
        # Any corner of a vertex will do: in one panel all have equal coordinates.
        first = np.zeros(mesh.n_vertices, dtype=np.int64)
        first[mesh.faces.ravel()] = np.arange(mesh.faces.size)
        np.add.at(out.reshape(-1, 2), first, self.by_flat)
        return np.asarray(out + by_areas(mesh, each))

    def explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> Floats:
        """Return (k,2) derivatives of a loss that knows the model, at the same positions.

        Rows of the loss's derivative are those of the membranes in turn.

        Raises:
            SceneError: a loss without ``by_corner``.
        """
        found = by_corner(loss, x, v, t)
        if found.ndim == 0:
            return np.asarray(0.0)
        out = np.zeros_like(self.cloth.mesh.corner_uv)
        rows = [
            h.samples.stencil
            for h in self.handled.values()
            if isinstance(h, SampleTables) and isinstance(h.term, BoundMembrane)
        ]
        np.add.at(out, self.of.faces(np.concatenate(rows)), found)
        return self.of.of_corners(out)
