"""Derivatives by the rest shape.

The parameters are the material coordinates of the vertices of triangles, or the control points of
splines at rest. Terms depend on them by tables, masses and contact among them; the derivatives by
tables are added up step by step, and taken to material points at the end by the terms themselves
(``DifferentiableTerm.by_corner_uv``) or, of splines, by ``rest_splines``. Meshes and knots stay as
they are: triangulating a new outline would also move vertices. ``material.Outline`` moves the
inside of an outline along with it.
"""

from typing import Any

import numpy as np

from weft.adjoint.losses import by_corner, membrane_samples
from weft.adjoint.material import material_points
from weft.adjoint.parameters import ParameterDerivative
from weft.adjoint.recorded_run import RecordedRun
from weft.adjoint.rest_splines import SplineRest
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats, Ints
from weft.base.errors import SceneError
from weft.cloth.cloth import Cloth
from weft.energies.by_constants import ByName
from weft.energies.derivative import DifferentiableTerm, differentiable
from weft.energies.rest_mesh import RestMesh


class RestDerivative(ParameterDerivative):
    """The derivative by the ``material_points`` (k,2) [m] of the cloth.

    Args:
        scene: a ``weft.Scene``.
        run: its run.

    Raises:
        SceneError: an energy whose dependence on the rest shape is not known, by name.
    """

    def __init__(self, scene: Any, run: RecordedRun) -> None:
        self.model, self.cloth = run.model, scene.cloth
        for bad, name in (
            (scene.conditions is not None, "the conditions of 1998"),
            (scene.rest_angles != "flat", f"rest_angles {scene.rest_angles}"),
            (bool(scene.pressed), "pressed lines"),
            (any(f.maps for f in self.cloth.fabrics), "a fabric with maps"),
        ):
            if bad:
                raise SceneError("parameter rest", got=name, expected="flat cloth without these")
        self.splines = None if self.cloth.embedding is None else SplineRest(self.cloth)
        self.mesh = rest_mesh(self.cloth)
        self.tables = [self._zeros(term) for term in differentiable(self.model.assembly.terms)]
        self.by_corner: Floats = np.zeros_like(self.mesh.mesh.corner_uv)  # of the loss itself

    def _zeros(self, term: DifferentiableTerm) -> dict[str, Floats]:
        """Return zero derivatives by the tables of a term.

        Raises:
            SceneError: a term whose tables are not known, or not for this kind of cloth.
        """
        zeros = term.zero_tables()
        try:
            if zeros is None:
                raise NotImplementedError
            self._pull_back(term, zeros)  # adds zeros, or raises
        except NotImplementedError:
            known = "energies with known derivatives: docs/explanations/gradients.md"
            raise SceneError("parameter rest", got=f"energy {term.name}", expected=known) from None
        return zeros

    def _pull_back(self, term: DifferentiableTerm, tables: ByName) -> Floats | float:
        """Return derivatives (f,3,2) by corners of triangles; add those of splines to theirs."""
        if not tables:
            return 0.0
        if self.splines is None:
            return term.by_corner_uv(tables, self.mesh)
        self.splines.add(term, tables)
        return 0.0

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        terms = differentiable(back.phi.terms_of_phi)
        for term, tables in zip(terms, self.tables, strict=True):
            if tables:
                found = term.by_tables(back.phi.step, back.x, -back.z, back.pulled.at)
                for name, by in found.items():
                    tables[name] += by

    def add_explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> None:
        """Add the derivative of a loss that knows the model, at the same positions.

        Rows of the loss's derivative are those of the membranes in turn.

        Raises:
            SceneError: a loss without ``by_corner``, or cloth of splines.
        """
        found = by_corner(loss.of(self.model), x, v, t)
        if found.ndim > 0:
            if self.splines is not None:
                raise SceneError("loss and parameter rest", got="splines", expected="triangles")
            rows = [samples.stencil for samples in membrane_samples(self.model)]
            self.by_corner += self.mesh.by_corners(np.concatenate(rows), found)

    def result(self) -> Floats:
        """Return the derivative (k,2)."""
        out = self.by_corner
        terms = differentiable(self.model.assembly.terms)
        for term, tables in zip(terms, self.tables, strict=True):
            out = out + self._pull_back(term, tables)
        if self.splines is not None:
            return self.splines.result()
        points, number = material_points(self.cloth)
        by_points = np.zeros_like(points)
        np.add.at(by_points, number, out)
        return by_points


def rest_mesh(cloth: Cloth) -> RestMesh:
    """Return the mesh of cloth at rest, with its fabrics."""
    fabrics = [r.fabric for r in cloth.regions]
    D = np.array([(f.bending_warp, f.bending_weft) for f in fabrics])
    density = np.array([f.density for f in fabrics])
    of: list[tuple[Ints, Floats]] = [
        (surface.mesh.hinges, np.array([f.bending_warp, f.bending_weft]))
        for f, surface in cloth.elements
        if hasattr(surface, "mesh")
    ]
    rows = cloth.region_of_faces
    return RestMesh(cloth.mesh, density[rows], D[rows], of)
