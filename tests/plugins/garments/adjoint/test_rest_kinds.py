"""Derivatives by the rest shape of every kind of cloth that has them: at a fixed x, term by term,
and of whole runs.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import hung, noise
from tests.plugins.garments.adjoint.recut import (
    of_runs,
    of_terms,
    outfit,
    patched,
    sewing,
    sewn,
    splines,
)
from tests.refusals import refused
from weft.adjoint import Outline, Strain, cut, material_points, recut
from weft.adjoint.adjoint import Adjoint
from weft.base.errors import SceneError

WIND = weft.Wind((1.0, 0.2, 0.5))
GUSTS = weft.Wind((1.0, 0.2, 0.5), gusts=weft.Gusts(intensity=0.3, length=0.5))


def check_terms(scene, names, **how):
    """Those of these names are no zeros, and all agree."""
    found = of_terms(scene, **how)
    assert set(names) <= set(found)
    for name, (got, expected) in found.items():
        if name in names:
            assert abs(expected) > 1e-6 and got == pytest.approx(expected, rel=1e-7), name
        else:
            assert got == pytest.approx(expected, rel=1e-7, abs=1e-9), name


def test_fabrics_of_regions():
    names = ["membrane", "membrane 2", "bending", "bending 2", "bending between regions"]
    check_terms(patched(), [*names, "gravity", "inertia"])
    check_terms(patched(bending="quadratic"), names)


PAIRS = weft.BucklingForm(calibrate=False, compression=3.0)


@pytest.mark.parametrize(
    "how", [{"bending": "quadratic"}, {"bending": "pairs"}, {"buckling": PAIRS}]
)
def test_other_bending(how):
    check_terms(hung(bend=0.15, **how), ["membrane", "bending"])


def test_goals_by_the_areas_that_they_stand_for():
    """With a weight, damped, in a step and in a run; of splines they are refused by name."""
    goal = {"stiffness_per_area": 900.0, "damping": 0.02, "name": "goal"}
    pulled = weft.Goal(range(16), weight=np.linspace(0.0, 1.0, 16), **goal)
    check_terms(hung(attachments=[pulled]), ["goal", "membrane", "gravity"])
    got, expected = of_runs(hung("bdf2", attachments=[pulled]))
    assert got == pytest.approx(expected, rel=1e-6)
    scene = splines()
    scene = scene.with_(attachments=[weft.Goal(range(scene.cloth.n_vertices), **goal)])
    with refused(SceneError, "parameter rest", got="goal"):
        Adjoint(scene, noise(scene.cloth.n_vertices), ["rest"], frames=1, fps=100)()


@pytest.mark.slow
@pytest.mark.parametrize("n", [(4, 5), (6, 5)], ids=["small", "dual cells"])
def test_splines_at_a_fixed_place(n):
    check_terms(splines(n=n, wind=GUSTS), ["membrane", "bending", "wind", "gravity", "inertia"])


def test_what_is_sewn():
    """While seams close they pull alone; then they fold, elastics pull, drag goes on."""
    names = ["membrane", "membrane 2", "bending", "bending 2", "elastics", "drag"]
    check_terms(sewn(), names, t=0.005)
    check_terms(sewn(), [*names, "seams", "gravity"], t=0.05)


@pytest.mark.parametrize(
    "scene, loss",
    [
        (lambda: patched(integrator="bdf2", wind=WIND), None),
        (patched, Strain(0.0)),  # knows the rest shape, over two membranes
        (lambda: hung(bending="quadratic"), None),
        (lambda: hung("bdf2", bending="pairs", bend=0.15), None),
    ],
    ids=["regions", "strain", "quadratic", "pairs"],
)
def test_runs(scene, loss):
    got, expected = of_runs(scene(), loss=loss)
    assert got == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_runs_of_splines(integrator):
    got, expected = of_runs(splines(integrator, wind=WIND))
    assert got == pytest.approx(expected, rel=1e-6)


@pytest.mark.slow
def test_splines_that_touch():
    cloth = weft.spline_sheet(4, 4, 0.12, 0.12, fabric={"preset": "cotton", "damping": "0.01 s"})
    cloth = cloth.move((0.013, 0.0021, 0.007), (0, 17, 0))
    body = weft.contact.plate(0.6, 0.6, size=0.3, name="table")
    scene = weft.Scene(
        cloth,
        bodies=[body],
        contact=weft.SelfContact(gap=0.003, friction=0.3),
        step=0.005,
        settings=weft.StepSettings(tolerance=1e-9),
        velocity=(0.2, -0.03, 0.1),
    )
    got, expected = of_runs(scene, h=4e-7, fps=200)  # at 2e-6 pairs change: 6e-5
    assert got == pytest.approx(expected, rel=3e-6)


@pytest.mark.slow
def test_a_garment_by_its_panels():
    """Through the closing of its seams, and after it."""
    got, expected = of_runs(sewn(), h=1e-6, frames=4)
    assert got == pytest.approx(expected, rel=1e-5)


def test_a_recut_garment_is_the_one_that_is_sewn_anew():
    """Energies of a scene that is cut otherwise are those of an outfit made from its cloth."""
    scene = sewn()
    points, _ = material_points(scene.cloth)
    cloth = cut(scene.cloth, points * [1.1, 0.95] + 0.02 * points[:, ::-1] ** 2)
    moved, x = recut(scene, cloth), np.random.default_rng(0).normal(size=cloth.points.shape)
    anew = sewing(dataclasses.replace(outfit(), cloth=cloth))
    for one, other, old in zip(moved.energies, anew, scene.energies, strict=True):
        np.testing.assert_allclose(one.gradient(x), other.gradient(x), rtol=1e-12, atol=1e-15)
        if one.name in ("elastics", "seams"):
            assert np.abs(one.gradient(x) - old.gradient(x)).max() > 1e-6
    np.testing.assert_allclose(moved.energies[-1].mass, cloth.mass)


def test_outline_of_a_garment_and_of_splines():
    """What is inside goes along, panel by panel; the transpose holds."""
    rng = np.random.default_rng(0)
    for cloth in (sewn().cloth, splines().cloth):
        outline, (points, _) = Outline(cloth), material_points(cloth)
        shift, by = 1e-3 * rng.normal(size=outline.points.shape), rng.normal(size=points.shape)
        change = material_points(outline.move_border(shift))[0] - points
        np.testing.assert_allclose(change[outline.ids], shift, atol=1e-12)
        assert float((change * by).sum()) == pytest.approx(
            float((outline.pull_back(by) * shift).sum())
        )


def test_rest_refuses_what_it_does_not_know():
    sheet = weft.sheet(3, 3)
    pins = [weft.Pin(sheet.corners("top"))]
    limited = weft.sheet(3, 3, fabric={"preset": "cotton", "limit_warp": 0.2})
    folded = {"rest_angles": "as-given"}
    for scene, name in (
        (weft.Scene(sheet, pins, **folded), ("parameter rest", "rest_angles as-given")),
        (weft.Scene(limited, pins), ("parameter rest", "energy strain limit")),
        (patched(bending="pairs"), ("parameter rest", "energy bending between regions")),
    ):
        with refused(SceneError, name):
            Adjoint(scene, noise(scene.cloth.n_vertices), ["rest"], frames=1, fps=100)()
