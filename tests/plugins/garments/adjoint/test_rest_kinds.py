"""Derivatives by the rest shape of every kind of cloth that has them: at a fixed x, term by term,
and of whole runs.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import hung, noise, quotient
from tests.plugins.garments.adjoint.recut import of_runs, of_terms, patched, sewn, splines
from tests.refusals import refused
from weft.adjoint import Outline, Strain, cut, material_points, recut
from weft.adjoint.adjoint import Adjoint
from weft.base.errors import SceneError
from weft.energies.elastic.pair_geometry import strip_factor, strip_slopes

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


@pytest.mark.parametrize("bending", ["quadratic", "pairs"])
def test_other_bending(bending):
    check_terms(hung(bending=bending, bend=0.15), ["membrane", "bending"])


def test_pairs_as_they_are():
    form = weft.BucklingForm(calibrate=False, compression=3.0)
    check_terms(hung(buckling=form, bend=0.15), ["bending"])


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
    "scene",
    [
        lambda: patched(integrator="bdf2", wind=WIND),
        lambda: hung(bending="quadratic"),
        lambda: hung("bdf2", bending="pairs", bend=0.15),
    ],
    ids=["regions", "quadratic", "pairs"],
)
def test_runs(scene):
    got, expected = of_runs(scene())
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
    from weft.energies.seams.sewing import Sewing
    from weft.plugins.garments.scene.outfit import Outfit

    scene = sewn()
    points, _ = material_points(scene.cloth)
    cloth = cut(scene.cloth, points * [1.1, 0.95] + 0.02 * points[:, ::-1] ** 2)
    moved = recut(scene, cloth)
    x = np.random.default_rng(0).normal(size=cloth.points.shape)
    outfit = dataclasses.replace(_outfit(Outfit), cloth=cloth)
    anew = outfit.energies(Sewing(closing=0.02, settle=0.2, onset=0.05), damping=0.05)
    for one, other, old in zip(moved.energies, anew, scene.energies, strict=True):
        np.testing.assert_allclose(one.gradient(x), other.gradient(x), rtol=1e-12, atol=1e-15)
        if one.name in ("elastics", "seams"):
            assert np.abs(one.gradient(x) - old.gradient(x)).max() > 1e-6
    np.testing.assert_allclose(moved.energies[-1].mass, cloth.mass)


def _outfit(Outfit):
    from tests.plugins.garments.adjoint.recut import SEWN
    from weft.plugins.garments.patterns.cutting import cut as cut_garment
    from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern

    return Outfit.of([("it", cut_garment(parse_yaml_pattern(SEWN), 0.05), None)])


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


def test_strain_of_several_fabrics():
    """A loss that knows the rest shape, over two membranes."""
    scene, loss = patched(), Strain(0.0)
    got, expected = of_runs(scene, loss=loss)
    assert got == pytest.approx(expected, rel=1e-6)


def test_strip_factor_and_its_slopes():
    rng = np.random.default_rng(2)
    angle, area = rng.uniform(0, np.pi, 30), rng.uniform(1, 2, 30)
    c, s = np.cos(angle), np.sin(angle)
    along = np.stack([c * c, s * s, c * s], axis=1)
    way, more, by = rng.normal(size=along.shape), rng.normal(size=30), np.array([0.7, -1.3])
    got = strip_slopes(along, area, by)
    slope = quotient(lambda t: by @ strip_factor(along + t * way, area + t * more), 1e-5)
    assert (got[0] * way).sum() + (got[1] * more).sum() == pytest.approx(slope, rel=1e-7)


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
