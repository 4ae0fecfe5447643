"""Bending energies of the study: what each costs on surfaces that it should know."""

import numpy as np
import pytest

from studies.bending import GRIDS
from studies.bending_meshes import KINDS, sheet
from studies.bending_models import MODELS, plane
from studies.bending_plates import NARROW_LOAD, clamped_plate, lateral_buckling, surface_energy
from studies.bending_splines import clamped_spline, spline_buckling, spline_surface_energy
from studies.bending_strips import heavy_strip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("label", MODELS)
def test_affine_maps_cost_nothing(label, kind):
    mesh = sheet(kind, 6, 8, 1.0, 0.7)
    form = MODELS[label](mesh, 0.3)
    x = form.complete(plane(mesh) @ [[1.0, 0.2, -0.4], [0.3, 2.0, 0.5]] + [1, 2, 3])
    quadric = form.complete(plane(mesh) ** 2)
    assert np.abs(form.rows @ x).max() < 1e-9 * np.abs(form.rows @ quadric).max()


@pytest.mark.parametrize("kind", KINDS)
def test_midedge_normals_know_a_saddle(kind):
    saddle = surface_energy(MODELS["midedge normals"], kind, 8, "saddle", 0.25)
    assert saddle == pytest.approx(2 * (1 - 0.25), rel=1e-9)


def test_plates_and_strips_of_midedge_normals_are_the_closed_forms():
    model = MODELS["midedge normals"]
    assert clamped_plate(model, "irregular", 16) == pytest.approx(1.0, abs=0.06)
    load = lateral_buckling(model, "parallel", 4, 0.05, 0.0)
    assert load == pytest.approx(NARROW_LOAD, rel=0.03)
    assert heavy_strip(model, "irregular", 20).ratio == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("kind", GRIDS)
def test_splines_know_surfaces_plates_and_strips(kind):
    assert spline_surface_energy(kind, 6, "cylinder 30") == pytest.approx(1.0, rel=1e-9)
    assert spline_surface_energy(kind, 6, "saddle") == pytest.approx(2.0, rel=1e-9)
    assert clamped_spline(kind, 16) == pytest.approx(1.0, abs=0.02)
    assert spline_buckling(kind, 2, 0.05) == pytest.approx(NARROW_LOAD, rel=0.04)
