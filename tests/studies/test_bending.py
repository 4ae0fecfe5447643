"""Bending energies of the study: what each costs on surfaces that it should know."""

import numpy as np
import pytest

from studies.bending import GRIDS
from studies.bending_meshes import KINDS, delaunay, flat_mesh, sheet, turned_strip
from studies.bending_models import MODELS, pairs, plane
from studies.bending_plates import NARROW_LOAD, clamped_plate, lateral_buckling, surface_energy
from studies.bending_splines import clamped_spline, spline_buckling, spline_surface_energy
from studies.bending_strips import heavy_strip
from weft.energies.elastic.buckling_bending import BucklingBending

FOLDED = np.array([[0, 1, 2], [1, 0, 3]], dtype=np.int32)  # two triangles with a common edge


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


def test_form_and_its_energy_agree():
    mesh = sheet("irregular", 5, 6, 1.0, 1.0)
    x = np.random.default_rng(0).normal(size=(mesh.n_vertices, 3))
    for label, model in MODELS.items():
        form = model(mesh, 0.2)
        x = form.complete(x[: mesh.n_vertices])
        energy = form.energy(2.0).value(x).sum()
        assert energy == pytest.approx(np.einsum("ni,ni", x, form.matrix() @ x), rel=1e-12), label


def test_plates_and_strips_of_midedge_normals_are_the_closed_forms():
    model = MODELS["midedge normals"]
    assert clamped_plate(model, "irregular", 16) == pytest.approx(1.0, abs=0.06)
    load = lateral_buckling(model, "parallel", 4, 0.05, 0.0)
    assert load == pytest.approx(NARROW_LOAD, rel=0.03)
    assert heavy_strip(model, "irregular", 20).ratio == pytest.approx(1.0, abs=0.01)


def test_strips_without_stiffness_in_twist_have_no_load():
    assert lateral_buckling(MODELS["cotangent"], "parallel", 2, 0.1, 0.0) < 1e-6


def test_turned_strip_covers_the_rectangle():
    mesh = turned_strip(30, 20, 6, 1.0, 0.3)
    assert mesh.rest_area.sum() == pytest.approx(0.3)
    assert len(delaunay(plane(mesh))) == len(mesh.faces)


def test_pairs_are_those_of_weft_where_triangles_keep_their_shape():
    mesh = flat_mesh(np.array([[0.0, 0], [1, 0.2], [0.3, 0.9], [0.6, -0.5]]), FOLDED)
    u, x = plane(mesh), mesh.vertices.copy()
    along = (u[1] - u[0]) / np.linalg.norm(u[1] - u[0])
    across = np.array([-along[1], along[0]])
    height, angle = (u[3] - u[0]) @ across, 1e-3
    x[3, :2] += height * (np.cos(angle) - 1) * across
    x[3, 2] = height * np.sin(angle)
    form, weft = pairs(mesh, 0.0), BucklingBending.of(mesh, (1.0, 1.0))
    z = x[:, 2]
    assert z @ form.matrix() @ z / 2 == pytest.approx(weft.value(x).sum(), rel=1e-4)


@pytest.mark.parametrize("kind", GRIDS)
def test_splines_know_surfaces_plates_and_strips(kind):
    assert spline_surface_energy(kind, 6, "cylinder 30") == pytest.approx(1.0, rel=1e-9)
    assert spline_surface_energy(kind, 6, "saddle") == pytest.approx(2.0, rel=1e-9)
    assert clamped_spline(kind, 16) == pytest.approx(1.0, abs=0.02)
    assert spline_buckling(kind, 2, 0.05) == pytest.approx(NARROW_LOAD, rel=0.04)
