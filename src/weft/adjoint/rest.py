"""Derivatives by the rest shape.

The parameters are the material coordinates of the vertices of triangles, or the control points of
splines at rest. Terms depend on them by tables (``energies.rest_shape``), masses and contact among
them; the derivatives by tables are added up step by step, and taken to material points at the end
by ``rest_triangles`` or ``rest_splines``. Meshes and knots stay as they are: triangulating a new
outline would also move vertices. ``material.Outline`` moves the inside of
an outline along with it.
"""

from typing import Any

import numpy as np

from weft.adjoint.losses import by_corner, membrane_samples
from weft.adjoint.parameters import ParameterDerivative
from weft.adjoint.recorded_run import RecordedRun
from weft.adjoint.rest_splines import SplineRest
from weft.adjoint.rest_triangles import TriangleRest
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.energies.base import Bound


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
            (bool(scene.pressed), "lines that are pressed in"),
            (any(f.maps for f in self.cloth.fabrics), "a fabric with maps"),
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
        self.explicit: Any = 0.0  # (k,2) by way of the loss itself

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

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        for term, tables in zip(back.phi.terms_of_phi, self.tables, strict=True):
            if tables:
                found = term.by_tables(back.phi.step, back.x, -back.z, back.pulled.at)
                for name, by in found.items():
                    tables[name] += by

    def add_explicit(self, loss: Any, x: Floats, v: Floats, t: Floats) -> None:
        """Add the derivative of a loss that knows the model, at the same positions.

        Rows of the loss's derivative are those of the membranes in turn.

        Raises:
            SceneError: a loss without ``by_corner``.
        """
        found = by_corner(loss.of(self.model), x, v, t)
        if found.ndim > 0:
            shape = TriangleRest(self.cloth)
            rows = [samples.stencil for samples in membrane_samples(self.model)]
            shape.add_corners(np.concatenate(rows), found)
            self.explicit = shape.result()

    def result(self) -> Floats:
        """Return the derivative (k,2)."""
        for term, tables in zip(self.model.assembly.terms, self.tables, strict=True):
            term.pull_back_tables(tables, self.shape)
        return np.asarray(self.shape.result() + self.explicit)
