"""Mistakes that users make in Python: each ends in one weft error whose text names the argument.

What is no mistake although it looks like one (a whole number written as 3.0, text with a unit, a
list for an array) is taken, and listed as such. Every public callable checks its arguments.
"""

import enum
import inspect

import numpy as np
import pytest

import weft
import weft.contact as contact
from tests.refusals import refused
from weft.base.runtime_types import is_checked
from weft.plugins.garments import mannequin as bodies
from weft.plugins.garments.mannequin import mannequin
from weft.scene.prepare import prepare

CLOTH = weft.sheet(5, 5, 0.2, 0.2)
SCENE = weft.Scene(CLOTH, pins=[weft.Pin([0, 4])])
BALL = contact.sphere(0.05, 0.04)
NAN = float("nan")
CORNERS = [("0 cm", "0 cm"), ("50 cm", 0), (0, "50 cm")]


def fabric(**changes):
    numbers = {
        "density": 0.1,
        "stretch_warp": 100.0,
        "stretch_weft": 100.0,
        "shear": 50.0,
        "bending_warp": 1e-6,
        "bending_weft": 1e-6,
    }
    return weft.Fabric(**{**numbers, **changes})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("mistakes") / "run"
    return weft.simulate(SCENE, frames=2, out=out, progress=False)


@pytest.fixture(scope="module")
def one():
    """A model, its start and a stepper."""
    ready = prepare(SCENE)
    model, state, stepper = ready.model, ready.state, ready.stepper
    return model, state, stepper, stepper.init(model, state)


CALLS = [  # a call, and the words that its error has
    (lambda: weft.simulate(CLOTH, frames=1), ("simulate.scene", "Cloth", "a Scene")),
    (lambda: weft.simulate("no.yaml", frames=1), ("scene file", "no.yaml")),
    (lambda: weft.simulate(SCENE, frames="3"), ("simulate.frames", "'3'")),
    (lambda: weft.simulate(SCENE, frames=2, fps="30"), ("", "simulate.fps", "'30 1/s'")),
    (lambda: weft.simulate(SCENE, frames=2, fps=0), ("simulate.fps", "0")),
    (lambda: weft.simulate(SCENE), ("length", "seconds=None, frames=None")),
    (lambda: weft.simulate(SCENE, frame=2), ("simulate.frame", "'frames'")),
    (lambda: weft.batch(SCENE), ("batch.scenes", "put the value into a list")),
    (lambda: weft.batch([]), ("batch of scenes", "none")),
    (lambda: weft.laws.Arap("100 N"), ("unit", "Arap.stiffness")),
    (lambda: weft.laws.BaraffWitkin(100.0, 10.0), ("BaraffWitkin.stretch", "100.0", "2")),
    (lambda: weft.laws.StrainLimit(1.1), ("StrainLimit.stretch", "1.1")),
    (
        lambda: weft.Scene(CLOTH, law=weft.laws.Arap),
        ("scene.law", "the class Arap", "weft.laws.Arap(...)"),
    ),
    (
        lambda: prepare(weft.Scene(CLOTH, law=lambda f: 3)).model,
        ("scene.law: what the function returns", "3", "a Law"),
    ),
    (lambda: weft.Scene(CLOTH, velocity=(NAN, 0, 0)), ("scene.velocity", "nan at [0]")),
    (lambda: weft.Scene(CLOTH, rest_angles=["flat"]), ("", "scene.rest_angles")),
    (lambda: contact.Body(BALL.vertices, BALL.faces + 0.4), ("body.faces", "0.4")),
    (lambda: contact.height_field("hills.png", 1, 1), ("height_field.heights", "'hills.png'")),
    (lambda: contact.BodyFrames(1.0, np.zeros((1, 4, 3))), ("frames.times", "1.0")),
    (lambda: weft.State(CLOTH.points, CLOTH.points[:3]), ("state.v", "weft.State.at_rest(x)")),
    (lambda: CLOTH.border(3), ("cloth.border.which", "3")),
    (lambda: CLOTH.in_box((0, 0), (1, 1)), ("cloth.in_box.low", "shape (2,)")),
    (lambda: weft.sheet(5, 5, seed=-1, pattern="random"), ("sheet.seed", "-1")),
    (lambda: weft.join([CLOTH, CLOTH], ["a", "b"], [1e-3]), ("join.thickness", "1 of them")),
    (lambda: mannequin(3), ("mannequin.figure", "3")),
    (lambda: weft.check_derivatives(weft.laws.Arap), ("check_derivatives.thing", "the class Arap")),
]


@pytest.mark.parametrize("call, text", CALLS, ids=[str(text)[:40] for _, text in CALLS])
def test_mistake(call, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused(weft.WeftError, text):
        call()


OF_RUNS = [
    (lambda run: run.positions("1"), ("run.positions.frame", "'1'")),
    (lambda run: run.positions(99), ("frame", 99, "0 to 2")),
    (lambda run: run.export("a.npz", fps=-1), ("run.animation.fps", "-1")),
    (lambda run: run.view(look=3), ("run.view.look", "'looks'")),
    (lambda run: weft.Adjoint(run, lambda x, v, t: (0, x), frames=1), "Adjoint of a run"),
]


@pytest.mark.parametrize("call, text", OF_RUNS, ids=[str(text)[:40] for _, text in OF_RUNS])
def test_mistake_with_a_run(call, text, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with refused(weft.WeftError, text):
        call(run)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dt", [-0.01, NAN, 0, float("inf"), "10 mm", True, None])
def test_a_step_needs_a_time(one, dt):
    model, state, stepper, memory = one
    with refused(weft.WeftError, ("", "stepper.step.dt")):
        stepper.step(model, state, memory, dt)


def test_a_state_of_another_model(one):
    model, state, stepper, memory = one
    with refused(weft.WeftError, "state.x", got="24 points", expected="25"):
        stepper.step(model, weft.State(state.x[:-1], state.v[:-1]), memory, 0.01)


def test_what_is_no_mistake(run, one, tmp_path, monkeypatch):
    """Whole numbers of any type, lists for arrays, text with units: exactly what was meant."""
    monkeypatch.chdir(tmp_path)
    model, state, stepper, memory = one
    again = weft.simulate(SCENE, frames=2.0, fps=None, out="again", progress=False)
    assert (len(again), again.fps) == (3, 30.0)
    np.testing.assert_array_equal(run.positions(1.0), run.positions(1))
    assert run.save("a.obj", frame=1.0).is_file()
    assert weft.laws.Arap("100 N/m") == weft.laws.Arap(100.0)
    assert contact.Between(["cloth", "ball"], 0.3).friction == contact.Friction(0.3)
    assert contact.intersections(CLOTH.points, CLOTH.faces.tolist()).shape == (0, 2)
    splines = weft.as_splines(CLOTH, spans=np.int64(3))
    assert len(splines.points) == len(weft.as_splines(CLOTH, spans=3).points)
    there = stepper.step(model, state, memory, 0.01)[0]
    for x, dt in ((state.x.tolist(), 0.01), (state.x, "10 ms")):
        reached = stepper.step(model, weft.State(x, state.v), memory, dt)[0]
        np.testing.assert_array_equal(reached.x, there.x)


def test_a_scene_file_is_simulated(tmp_path, monkeypatch):
    """Length and frame rate are the file's, unless they are given."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(
        "cloth: {sheet: {nx: 4, ny: 4}}\npins: [{corners: top}]\nseconds: 0.1 s\nfps: 50\n"
    )
    made = weft.simulate("s.yaml", out="a", progress=False)
    assert (len(made), made.fps) == (6, 50.0)
    shorter = weft.simulate(tmp_path / "s.yaml", seconds="20 ms", fps=100, out="b", progress=False)
    assert (len(shorter), shorter.fps) == (3, 100.0)


UNITS = [
    (lambda: fabric(shear="5 gf/(cm*deg)").shear, 280.94),
    (lambda: weft.sheet(3, 3, "1 m", "50 cm").vertices[:, 2].max(), 0.25),
    (lambda: prepare(weft.Scene(CLOTH, velocity=("1 cm/s", 0, 0))).state.v[0, 0], 0.01),
    (lambda: CLOTH.move(("1 cm", 0, 0)).points[:, 0].max(), 0.11),
    (lambda: BALL.move((0, "1 m", 0), rotation=("90 deg", 0, 0)).vertices[:, 1].max(), 1.05),
    (lambda: weft.Gripper(("1 cm", 0, 0)).wait("500 ms").now.time, 0.5),
    (lambda: mannequin(height="170 cm").measures.height, 1.7),
    (lambda: np.ptp(weft.spline_sheet(4, 4, "20 cm", "0.3 m").points[:, 0]), 0.2),
    (lambda: np.ptp(weft.triangulate(CORNERS, size="10 cm").vertices[:, 0]), 0.5),
    (lambda: weft.Keyframe("500 ms", (0, 0, 0), "180 deg").rotation, np.pi),
    (lambda: weft.join([CLOTH, CLOTH], thickness=["1 mm", None]).parts[0].thickness, 1e-3),
]


@pytest.mark.parametrize("make, value", UNITS)
def test_units_are_taken(make, value):
    assert make() == pytest.approx(value, rel=1e-3)


# Results, which weft makes and users read.
NOT_CALLED = {
    "StepReport",
    "Held",
    "AdjointReport",
    "Derivative",
    "Measurements",
    "Measures",
    "MotionFrames",
}
# Methods that weft calls in every time step, or while it builds a scene, of classes that do not
# name them as ``unchecked``.
NOT_DECORATED = [
    "Attachment.numbers",
    "Attachment.updated",
    "Attachment.weights",
    "BackwardEuler.init",
    "BackwardEuler.plan",
    "BackwardEuler.pull_back",
    "BackwardEuler.remember",
    "SingleLaw.parameter_array",
]


def public_callables():
    """Those of the engine, and of the plugins' public names."""
    packages = [(p, p.__all__) for p in (weft, contact, weft.laws, weft.adjoint, bodies)]
    packages += [(weft.robotics, ("env", "vector_env")), (weft, weft.extensions.names("names"))]
    for package, names in packages:
        for name in names:
            thing = getattr(package, name)
            if callable(thing) and thing.__module__.startswith("weft"):
                yield f"{package.__name__}.{name}", thing


def functions_of(thing):
    """A function; the constructor and the public methods of a class that users call."""
    if inspect.isclass(thing):
        if issubclass(thing, enum.Enum | Exception) or thing.__name__ in NOT_CALLED:
            return
        for name in (*(n for n in dir(thing) if not n.startswith("_")), "__init__"):
            member = inspect.getattr_static(thing, name)
            yield getattr(member, "__func__", member)
    else:
        yield thing


def is_unchecked(function):
    """Whether it takes arguments that nothing checks, and no class says that nothing shall."""
    if not inspect.isfunction(function) or is_checked(function):
        return False
    return bool(inspect.signature(function).parameters.keys() - {"self"}) and (
        "__signature__" not in vars(function)
    )


def test_every_public_callable_checks_its_arguments():
    """And the validator of each can be made of its annotations."""
    functions = [f for _, thing in public_callables() for f in functions_of(thing)]
    assert len(functions) > 200
    unchecked = {f.__qualname__ for f in functions if is_unchecked(f)}
    assert sorted(unchecked) == NOT_DECORATED
    doors = [f._door for f in functions if hasattr(f, "_door")]
    assert all(door._bind is not None for door in doors)
