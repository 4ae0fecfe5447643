"""Derivatives by the rest shape.

The parameters are the material coordinates of the vertices of triangles, or the control points of
splines at rest. Terms depend on them by tables (``energies.rest_shape``), masses and contact among
them; the derivatives by tables are added up step by step, and taken to material points at the end
by ``rest_triangles`` or ``rest_splines``. Meshes and knots stay as they are: triangulating a new
outline would also move vertices. ``outline`` moves the inside of an outline along with it.
"""

from typing import Any

import numpy as np

from weft.adjoint.losses import by_corner, membrane_samples
from weft.adjoint.material import cut, material_points, recut
from weft.adjoint.rest_splines import SplineRest
from weft.adjoint.rest_triangles import TriangleRest
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.energies.base import Bound
from weft.energies.state import StateDerivatives


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
        splines = self.cloth.embedding is not None
        self.shape: TriangleRest | SplineRest = (SplineRest if splines else TriangleRest)(
            self.cloth
        )
        self.tables = [self._zeros(term) for term in self.model.assembly.terms]

    def _zeros(self, term: Bound) -> dict[str, Floats]:
        """Return zero derivatives by the tables of a term.

        Raises:
            SceneError: a term whose tables are not known, or not for this kind of cloth.
        """
        zeros = term.zero_tables()
        try:
            if zeros is None:
                raise NotImplementedError
            term.pull_back_tables(zeros, self.shape)  # adds zeros, or raises
        except NotImplementedError:
            known = "energies whose tables are known: docs/gradients.md"
            raise SceneError("parameter rest", got=f"energy {term.name}", expected=known) from None
        return zeros

    @property
    def matters(self) -> bool:
        """True: every run depends on the rest shape."""
        return True

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        for term, tables in zip(back.phi.terms_of_phi, self.tables, strict=True):
            if tables:
                found = term.by_tables(back.phi.step, back.x, -back.z, back.pulled.at)
                for name, by in found.items():
                    tables[name] += by

    def end(self, back: StateDerivatives) -> Floats:
        """Return the derivative (k,2)."""
        for term, tables in zip(self.model.assembly.terms, self.tables, strict=True):
            term.pull_back_tables(tables, self.shape)
        return self.shape.result()

    def explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> Floats:
        """Return (k,2) derivatives of a loss that knows the model, at the same positions.

        Rows of the loss's derivative are those of the membranes in turn.

        Raises:
            SceneError: a loss without ``by_corner``.
        """
        found = by_corner(loss, x, v, t)
        if found.ndim == 0:
            return np.asarray(0.0)
        shape = TriangleRest(self.cloth)
        rows = [samples.stencil for samples in membrane_samples(self.model)]
        shape.add_corners(np.concatenate(rows), found)
        return shape.result()
