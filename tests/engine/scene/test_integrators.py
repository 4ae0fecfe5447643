"""The integrator's block: a name, or a name with settings of its own."""

import dataclasses
import warnings

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import SceneError
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laws.base import Psd
from weft.scene.build import load_scene
from weft.scene.integrators import INTEGRATORS
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Stop

pytestmark = pytest.mark.quick

BASE = "cloth: {sheet: {nx: 5, ny: 4}}\npins: [{corners: top}]\n"


@pytest.fixture
def load(tmp_path):
    """The scene of a text, with overrides; a warning is an error."""

    def loaded(text, overrides=(), **options):
        path = tmp_path / "s.yaml"
        path.write_text(BASE + text)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return load_scene(path, overrides, **options).scene

    return loaded


@pytest.mark.parametrize("name", INTEGRATORS)
def test_a_name_has_all_defaults(load, name):
    settings = INTEGRATORS[name].settings()
    for text in (name, f"{{{name}: {{}}}}"):
        scene = load(f"integrator: {text}\n")
        assert scene.integrator == name and scene.settings == settings
        assert isinstance(prepare(scene).stepper, INTEGRATORS[name].stepper)


@pytest.mark.parametrize(
    "text, settings",
    [
        (
            "{backward_euler: {psd: gauss_newton, forcing: 0.1}}",
            weft.StepSettings(psd=Psd.GAUSS_NEWTON, forcing=0.1),
        ),
        (
            "{baraff_witkin_1998: {stop: preconditioned}}",
            weft.Settings1998(stop=Stop.PRECONDITIONED),
        ),
        (
            "{quasi_static: {tolerance: 1 um, imperfection: 0, try_exact: false}}",
            QuasiStaticSettings(1e-6, imperfection=0.0, try_exact=False),
        ),
    ],
)
def test_settings_stand_below_the_name(load, text, settings):
    assert load(f"integrator: {text}\n").settings == settings


@pytest.mark.parametrize("text", ["", "integrator: bdf2\n", "integrator: {bdf2: {psd: exact}}\n"])
def test_one_setting_from_the_command_line(load, text):
    scene = load(text, ["integrator.bdf2.tolerance=1 mm/s"])
    assert scene.integrator == "bdf2" and scene.settings.tolerance == 1e-3
    assert (scene.settings.psd is Psd.EXACT) == ("exact" in text)


def test_a_setting_of_another_integrator_from_the_command_line(load):
    what = "--set integrator.quasi_static.seed"
    with refused(SceneError, what, got="bdf2", hint="--set integrator=quasi_static"):
        load("integrator: bdf2\n", ["integrator.quasi_static.seed=1"])
    both = ["integrator=quasi_static", "integrator.quasi_static.seed=1"]
    assert load("integrator: bdf2\n", both).settings.seed == 1


@pytest.mark.parametrize(
    "text, message",
    [
        ("bdf3", "field integrator.bdf3 (s.yaml:3): expected one of backward_euler, bdf2"),
        ("{bdf2: {stop: energy}}", "field integrator.bdf2.stop (s.yaml:3): expected one of toler"),
        ("{bdf2: {tolerance: 0}}", "integrator.bdf2.tolerance = 0 (s.yaml:3): must be > 0 [m/s]"),
        (
            "{bdf2: {}, bdf2_semi_implicit: {}}",
            "integrator = a block of 2 (s.yaml:3): expected one name",
        ),
        ("{bdf2: 5}", "integrator.bdf2 = 5 (s.yaml:3): expected a block of fields"),
    ],
)
def test_problems(load, text, message):
    with pytest.raises(SceneError) as caught:
        load(f"integrator: {text}\n")
    assert message in str(caught.value)


def test_an_integrator_in_place_of_the_files(load):
    """What ``weft settle`` asks for: own settings of the file where it has them."""
    text = "integrator: {bdf2: {psd: exact}}\n"
    assert load(text, integrator="quasi_static").settings == QuasiStaticSettings()
    text = "integrator: {quasi_static: {seed: 3}}\n"
    more = ["integrator.quasi_static.load_steps=2"]
    settings = load(text, more, integrator="quasi_static").settings
    assert settings == QuasiStaticSettings(seed=3, load_steps=2)


@pytest.mark.parametrize(
    "text, friction", [("0.3", (0.3, 0.3)), ("{static: 0.3, kinetic: 0.2}", (0.3, 0.2))]
)
def test_a_number_stands_for_the_field_that_is_required(load, text, friction):
    contact = load(f"contact: {{gap: 1 mm, friction: {text}}}\n").contact
    assert (contact.friction.static, contact.friction.sliding) == friction


def test_what_a_dataclass_refuses_has_a_line(load):
    with pytest.raises(SceneError) as caught:
        load("adaptive:\n  limit: 0.1\n  most_successes: 2\n")
    message = "adaptive.most_successes = 2 (s.yaml:5): must be >= successes, 4"
    assert message in str(caught.value)


def test_effort_chooses_step_and_iterations(tmp_path):
    """``interactive`` shortens steps and stops them; metrics say what is left."""
    cloth = weft.sheet(9, 9, 0.3, 0.3, fabric="silk")
    scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))])
    quick = scene.with_(settings=weft.StepSettings(effort="interactive"))
    assert quick.step == 1e-2 and quick.with_(step=1e-3).step == 1e-3
    tight = scene.with_(settings=weft.StepSettings(effort=1, tolerance=1e-9))
    run = weft.simulate(tight, frames=2, fps=25, out=tmp_path / "run", progress=False)
    assert {m["outcome"] for m in run.metrics} == {"STOPPED"}
    assert all(m["iterations"] == 1 and 0 < m["unsettled"] <= 1 for m in run.metrics)


def test_what_ends_a_step_early():
    """Systems are solved to a tenth; slow cloth ends its steps after smaller increments."""
    scene = weft.Scene(weft.sheet(5, 5, 0.3, 0.3))

    def newton(speed, **settings):
        model, state = prepare(scene).model, prepare(scene).state
        moving = dataclasses.replace(state, v=np.full_like(state.x, speed / np.sqrt(3)))
        stepper = BackwardEuler(weft.StepSettings(**settings))
        return stepper.settings.newton(stepper.plan(model, moving, {}, 0.01), model.rigid_bodies)

    enough = [newton(v, effort="interactive").early.enough / 0.01 for v in (0.0, 1.0, 3.0)]
    assert np.allclose(enough, [0.1, 0.15, 0.2])
    assert newton(3.0, effort=3).early.enough == 0.0 and newton(3.0).early is None
    assert [newton(0.0, effort=e).forcing for e in ("interactive", 3)] == [0.1, 0.1]
    assert newton(0.0).forcing == 0.5 and newton(0.0, effort=3, forcing=0.02).forcing == 0.02
