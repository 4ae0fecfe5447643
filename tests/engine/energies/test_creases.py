"""Creases and set: what a state keeps, on every integrator; what resumes; what is refused."""

from functools import partial

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.resuming import resumes_bitwise
from tests.stepping import steps as advance
from weft.base.errors import FabricError, LawError, SceneError
from weft.energies.elastic.creases import angle_per_curvature, crease_angles
from weft.energies.elastic.hinge_bending import dihedral_angles
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

CREASING = {"preset": "cotton", "crease_yield": "15 1/m", "crease_hardening": 0.3}
FADING = {**CREASING, "crease_recovery": "2 s", "crease_lasting": "40 %"}


def folding(fabric=CREASING, **changes):
    """A sheet whose right half is folded up to 150 degrees in 0.2 s, and let go."""
    cloth = weft.sheet(9, 5, 0.16, 0.08, fabric=fabric)
    x = cloth.vertices[:, 0]
    turn = [weft.Keyframe(0.0), weft.Keyframe(0.2, rotation=np.radians(150))]
    path = weft.Path(turn, "linear", axis=(0, 0, 1), center=(0.0, 0.0, 0.0), hold=True)
    left, right = np.flatnonzero(x < 1e-6), np.flatnonzero(x > 1e-6)
    pins = [weft.Pin(left), weft.Pin(right, 0.25, path)]
    how = {"gravity": (0.0, 0.0, 0.0), "damping": 0.3, "step": 0.01}
    return weft.Scene(cloth, pins, **{**how, **changes})


def fold_angle(x, scene):
    """[rad] of the fold along the middle column, 0: flat."""
    mesh = scene.cloth.mesh
    on = (np.abs(mesh.vertices[mesh.hinges[:, :2], 0]) < 1e-6).all(1)
    return float(np.abs(dihedral_angles(x, mesh.hinges[on])).mean())


def kept(scene):
    """[rad] that stays of 150 degrees: (theta - y)/(1 + h)."""
    y = 15.0 * angle_per_curvature(scene.cloth.mesh).max()
    return (np.radians(150) - y) / 1.3


def run(scene, steps, dt=0.01):
    *_, (state, memory, _) = advance(scene, steps, dt)
    return state, memory


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "bdf2_semi_implicit"])
def test_a_fold_opens_only_so_far(integrator):
    """Whatever solves the steps."""
    damping = 0.05 if integrator == "bdf2_semi_implicit" else 0.3
    scene = folding(integrator=integrator, damping=damping)
    state, memory = run(scene, 200)
    assert fold_angle(state.x, scene) == pytest.approx(kept(scene), abs=0.08)
    assert np.abs(crease_angles(memory)).max() == pytest.approx(kept(scene), rel=0.03)


def test_equilibria_keep_creases():
    scene = folding(integrator="quasi_static")
    _, memory = run(scene, 2, 0.1)
    assert np.abs(crease_angles(memory)).max() == pytest.approx(kept(scene), rel=1e-3)


def test_creases_recover_in_time():
    scene = folding(FADING)
    _, held = run(scene, 25)
    _, later = run(scene, 125)
    before, after = (np.abs(crease_angles(m)).max() for m in (held, later))
    assert after == pytest.approx(before * (0.4 + 0.6 * np.exp(-1.0 / 2.0)), rel=0.02)


def test_resume_is_bitwise(tmp_path):
    """A run that is broken off while it folds, and goes on, is the one that was not."""
    steps = weft.AdaptiveSettings()
    fabric = {**FADING, "yield": "0.5 %"}
    make = partial(folding, fabric, adaptive=steps)
    whole = resumes_bitwise(make, 6, [2], tmp_path, fps=30)
    assert np.abs(whole.folder.frame(6)["memory.bending.set"]).max() > 0.5


def pulled(cloth, until=None, **how):
    """The strip is pulled 5 percent longer in 0.1 s."""
    pull = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.1, (0.01, 0.0, 0.0))], hold=True)
    ends = [weft.Pin(cloth.border("left")), weft.Pin(cloth.border("right"), until, pull)]
    return weft.Scene(cloth, ends, gravity=(0.0, 0.0, 0.0), step=0.01, **how)


def test_a_pulled_strip_stays_longer():
    fabric = {"preset": "cotton", "yield": "1 %", "yield_hardening": 1.0}
    cloth = weft.sheet(9, 5, 0.2, 0.1, fabric=fabric)
    state, memory = run(pulled(cloth, 0.2, damping=0.005), 80)
    right = state.x[cloth.border("right"), 0].mean() - state.x[cloth.border("left"), 0].mean()
    assert right / 0.2 - 1 == pytest.approx(0.02, abs=2e-3)
    assert memory["membrane.set"].shape == (len(cloth.faces), 2, 4)


REFUSED = {
    ("fabric custom", "creases"): {"integrator": "baraff_witkin_1998"},
    ("crease_yield", "bending quadratic", "hinges"): {"bending": "quadratic"},
}


@pytest.mark.parametrize("said", REFUSED)
def test_refused_by_name(said):
    with refused(SceneError, said):
        prepare(folding(**REFUSED[said]))


def test_splines_and_laws_without_rest_lengths_are_refused():
    cloth = weft.spline_sheet(6, 5, 0.2, 0.1, fabric=CREASING)
    with refused(SceneError, "fabric custom.crease_yield"):
        prepare(weft.Scene(cloth))
    drawn = weft.sheet(4, 4, fabric={"preset": "cotton", "yield": "1 %"})
    with refused(LawError, "fabric yield", got="arap"):
        prepare(weft.Scene(drawn, law=weft.laws.Arap(100.0)))


BAD = {
    ("crease_hardening", "crease_yield"): {"crease_hardening": 1.0},
    ("crease_lasting", "crease_recovery"): {"crease_yield": "1 1/m", "crease_lasting": 0.5},
}


@pytest.mark.parametrize("said", BAD)
def test_bad_numbers(said):
    with refused(FabricError, said):
        weft.Fabric.of({"preset": "cotton", **BAD[said]})


def test_pressed_lines():
    """Hinges along the line have the angle; released, the sheet folds itself there."""
    cloth = weft.sheet(9, 5, 0.16, 0.08)
    line = weft.Pressed([(0.08, 0.0), (0.08, 0.08)], "60 deg")
    x = cloth.vertices[:, 0]
    # It moves at 1e-3 m/s: with the usual tolerance, 1e-2 m/s, multigrid leaves it at 108 degrees.
    scene = weft.Scene(
        cloth,
        [weft.Pin(np.flatnonzero(x < -0.01))],
        gravity=(0.0, 0.0, 0.0),
        damping=0.3,
        step=0.02,
        pressed=[line],
        settings=weft.StepSettings(tolerance=1e-4),
    )
    bending = next(e for e in prepare(scene).model.energies if e.name == "bending")
    assert sorted(set(bending.rest_angle.tolist())) == [-np.radians(60), 0.0]
    state, _ = run(scene, 200, 0.02)
    assert fold_angle(state.x, scene) == pytest.approx(np.radians(60), abs=0.02)
    with refused(weft.WeftError, "pressed line", got="0 m", expected="0.05 m"):
        prepare(scene.with_(pressed=[weft.Pressed([(0.001, 0.0), (0.001, 0.05)], 1.0)]))
