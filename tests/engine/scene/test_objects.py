"""Scenes take objects: energies and a stepper of the user's own. A scene builds its model once."""

import dataclasses

import numpy as np
import pytest

import weft
from weft import kernel
from weft.base.errors import SceneError
from weft.energies.elastic.quadratic_form import QuadraticForm
from weft.integrators.adaptive import Adaptive
from weft.integrators.assembly import sum_energies
from weft.integrators.model import Model
from weft.run.check_scene import check
from weft.scene.build import load_scene
from weft.scene.identity import identity
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

CLOTH = weft.sheet(6, 5, width=0.5, height=0.4, fabric="cotton")


def scene(**fields):
    return weft.Scene(CLOTH, [weft.Pin(CLOTH.corners("top"))], **fields)


def spring(a=0, b=25, k=50.0, name="spring"):
    """1/2 k |x_a - x_b|^2."""
    return QuadraticForm(
        np.array([[a, b]], dtype=np.int32), np.array([[1.0, -1.0]]), np.array([k]), name
    )


class Counted:
    """Backward Euler that counts its steps: a stepper that no list of weft's knows."""

    order = 1

    def __init__(self, factor=1.0):
        self.factor, self._steps, self._inner = factor, 0, weft.BackwardEuler()

    def init(self, model, state):
        return self._inner.init(model, state)

    def step(self, model, state, memory, dt):
        self._steps += 1
        return self._inner.step(model, state, memory, dt)


@pytest.fixture
def built(monkeypatch):
    """How many models have been built."""
    count, original = [], Model.__init__

    def counting(self, *values, **fields):
        count.append(self)
        original(self, *values, **fields)

    monkeypatch.setattr(Model, "__init__", counting)
    return count


def test_an_energy_of_the_users_adds_to_the_model():
    plain, more = scene(), scene(energies=[spring()])
    names = [e.name for e in prepare(more).model.energies]
    assert names == [*(e.name for e in prepare(plain).model.energies), "spring"]
    x = prepare(plain).state.x
    at = kernel.array(x, kernel.vec3)
    terms = sum_energies(prepare(more).model.assembly.bound, at)
    assert terms["spring"] == pytest.approx(25.0 * ((x[0] - x[25]) ** 2).sum())


@pytest.mark.parametrize(
    "energies, message",
    [
        ([object()], "scene.energies[0] = <object object"),
        ([spring(b=30)], "scene.energies 0.stencil = 0 to 30: expected vertices from 0 to 29"),
        ([spring(), spring()], "scene.energies 1.name = 'spring'"),
    ],
)
def test_energies_that_are_refused(energies, message):
    with pytest.raises(SceneError) as caught:
        prepare(scene(energies=energies))
    assert message in str(caught.value)


def test_a_stepper_takes_the_place_of_the_integrator(tmp_path):
    own = Counted()
    run, named = (
        weft.simulate(made, frames=2, fps=20, out=tmp_path / made.integrator_name, progress=False)
        for made in (scene(integrator=own), scene())
    )
    assert own._steps == len(run.metrics) > 0
    np.testing.assert_array_equal(run.positions(2), named.positions(2))


def test_the_stepper_is_given_and_named():
    own = weft.Bdf2(weft.StepSettings(1e-3))
    made = scene(integrator=own)
    assert prepare(made).stepper is own and made.integrator_name == "bdf2"
    adaptive = prepare(scene(integrator=own, adaptive=weft.AdaptiveSettings())).stepper
    assert isinstance(adaptive, Adaptive) and adaptive.stepper is own


def test_copies_keep_the_stepper():
    own = Counted()
    made = scene(integrator=own)
    assert prepare(made.with_(step=0.01)).stepper is own
    assert prepare(dataclasses.replace(made, damping=0.1)).stepper is own
    assert isinstance(prepare(made.with_(integrator="bdf2")).stepper, weft.Bdf2)
    other = scene().with_(settings=weft.StepSettings(1e-5))
    assert prepare(other).stepper.settings.tolerance == 1e-5


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"integrator": object()}, "scene.integrator = "),
        ({"integrator": weft.Bdf2}, "an object with init"),
        ({"integrator": weft.Bdf2(), "settings": weft.StepSettings()}, "expected one or the other"),
        ({"settings": weft.Settings1998()}, "expected StepSettings, with integrator backward_eul"),
    ],
)
def test_steppers_that_are_refused(fields, message):
    with pytest.raises(SceneError) as caught:
        scene(**fields)
    assert message in str(caught.value)


def test_identity_knows_objects():
    """Equal objects are equal; what they are made of counts. Without objects nothing is added."""
    same = [identity(scene(energies=[spring()], integrator=Counted())) for _ in range(2)]
    assert same[0] == same[1]
    others = [
        scene(),
        scene(energies=[spring()]),
        scene(energies=[spring(k=51.0)]),
        scene(integrator=Counted()),
        scene(integrator=Counted(2.0)),
        scene(integrator=weft.Bdf2(weft.StepSettings(1e-3))),
    ]
    texts = [repr(identity(s)) for s in others]
    assert len({*texts, repr(same[0])}) == len(others) + 1
    assert "energies" not in identity(others[0]) and "stepper" not in identity(others[0])


def test_a_scene_builds_its_model_once(built, tmp_path):
    """Check, the untangled start and the run share it."""
    path = tmp_path / "s.yaml"
    path.write_text(
        "cloth: {sheet: {nx: 5, ny: 4}, translation: [0, 1, 0]}\npins: [{corners: top}]\n"
        "contact: {gap: 1 mm, resolve: true}\nbodies: [{plate: {}}]\n"
    )
    check(path)
    resolving = len(built)  # with the one that ``resolved`` spreads, without contact's thickness
    assert resolving == 1
    loaded = load_scene(path)
    weft.simulate(loaded.scene, frames=1, fps=20, out=tmp_path / "run", progress=False)
    simulation = prepare(loaded.scene)
    assert len(built) == 2 and prepare(loaded.scene) is simulation is prepare(simulation)
    assert prepare(loaded.scene.with_(gravity=(0, 0, 0))).model is not simulation.model
