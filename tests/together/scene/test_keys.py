"""Numbers that change in time: each kind against scenes of constant numbers, closed forms, resume,
and what is refused.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.refusals import refused
from tests.stepping import steps
from tests.together.energies.test_pressure import ball
from weft.base.errors import SceneError, SceneProblems, WeftError
from weft.base.keyframes import Keys
from weft.contact import sphere
from weft.contact.settings import Between, Friction
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

STEP, JUMP = 0.01, 0.03
COTTON = weft.Fabric.of("cotton")


def jump(before, after):
    return Keys([(0.0, before), (JUMP, after)], "hold")


def sheet(**changes):
    cloth = weft.sheet(7, 6, 0.3, 0.25, fabric=COTTON)
    x = np.array(cloth.vertices)
    x[:, 1] += 0.02 * np.sin(20 * x[:, 0])
    cloth = dataclasses.replace(cloth, mesh=cloth.mesh.with_vertices(x))
    return weft.Scene(cloth, [weft.Pin(cloth.border("left"))], step=STEP, **changes)


def spline(**changes):
    cloth = weft.spline_sheet(6, 5, 0.3, 0.25, fabric=COTTON)
    return weft.Scene(cloth, [weft.Pin(cloth.border("left"))], step=STEP, **changes)


def sliding(**changes):
    """A sheet that slides over a ball with friction."""
    cloth = weft.sheet(7, 7, 0.3, 0.3, fabric=COTTON).move((0.0, 0.0015, 0.0))
    ball = sphere(0.4, 0.05).move((0.0, -0.4, 0.0))
    return weft.Scene(cloth, bodies=[ball], velocity=(0.3, 0, 0), step=STEP, **changes)


def rough(friction, stick=1e-3, **more):
    return weft.SelfContact(gap=2e-3, friction=friction, stick=stick, **more)


def balloon(**changes):
    """A closed lens of cloth."""
    return weft.Scene(weft.Cloth(ball(5), COTTON), step=STEP, gravity=(0.0, 0.0, 0.0), **changes)


def wind(**own):
    return {"wind": weft.Wind(**{"velocity": (0.0, 0.0, 3.0), **own})}


def scenes_of(path, before, after, make):
    """The scene whose number at the path jumps, and those of before and after; ``make`` makes
    a scene of a number and of keyframes.
    """
    keyed = {path: jump(before, after)}
    return make(before, keyed=keyed), make(before, keyed={}), make(after, keyed={})


def arguments_of(make, said):
    """How scenes are made whose arguments ``said`` makes of a number."""

    def made(value, keyed):
        return make(**said(value), keyed=keyed)

    return made


def pair_of(friction):
    return rough(0.1, pairs=[Between(("cloth", "sphere"), Friction(friction))])


KINDS = {
    "gravity.1": (-9.81, 3.0, arguments_of(sheet, lambda v: {"gravity": (0.0, v, 0.0)})),
    "pressure": (10.0, 60.0, arguments_of(balloon, lambda v: {"pressure": v})),
    "pressure.pressure": (
        10.0,
        60.0,
        arguments_of(balloon, lambda v: {"pressure": weft.Gas(v, 0.03)}),
    ),
    "wind.velocity.2": (3.0, -5.0, arguments_of(sheet, lambda v: wind(velocity=(0.0, 0.0, v)))),
    "wind.drag": (1.17, 3.0, arguments_of(sheet, lambda v: wind(drag=v))),
    "contact.friction": (0.0, 0.6, arguments_of(sliding, lambda v: {"contact": rough(v)})),
    "contact.pairs.0.friction": (
        0.0,
        0.6,
        arguments_of(sliding, lambda v: {"contact": pair_of(v)}),
    ),
    "contact.stick": (1e-3, 1e-1, arguments_of(sliding, lambda v: {"contact": rough(0.5, v)})),
}


def run(scene, n, state=None, memory=None):
    """State and memory after n steps."""
    begin = None if state is None else (state, memory)
    (*_, (state, memory, _)) = steps(scene, n, begin=begin)
    return state, memory


def check_jump(keyed, before, after):
    """Steps that end before the jump are those of the one, the others those of the other."""
    state, memory = run(before, 2)
    got, _ = run(keyed, 2)
    np.testing.assert_array_equal(got.x, state.x)
    expected, _ = run(after, 4, state, memory)
    got, _ = run(keyed, 6)
    np.testing.assert_allclose(got.x, expected.x, rtol=0, atol=1e-9)
    other, _ = run(before, 6)
    assert np.abs(got.x - other.x).max() > 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_jumps_is_one_scene_and_then_the_other(kind):
    check_jump(*scenes_of(kind, *KINDS[kind]))


@pytest.mark.parametrize(
    "integrator", ["backward_euler", "bdf2", "bdf2_semi_implicit", "baraff_witkin_1998"]
)
def test_gravity_that_turns_makes_velocities_to_round_off(integrator):
    """Free cloth is a point: backward differences of its velocity are g of the step's end."""
    gx, gy = Keys([(0.0, 0.0), (0.1, 5.0)]), Keys([(0.0, -9.81), (0.1, 0.0)], "smooth")
    cloth, turn = weft.sheet(4, 4, fabric="cotton"), {"gravity.0": gx, "gravity.1": gy}
    state, _ = run(weft.Scene(cloth, integrator=integrator, keyed=turn, step=STEP), 8)
    v, last = np.zeros(3), np.zeros(3)
    for k in range(1, 9):
        added = STEP * np.array([gx.at(k * STEP), gy.at(k * STEP), 0.0])
        second = integrator.startswith("bdf2") and k > 1
        v, last = (4 * v - last + 2 * added) / 3 if second else v + added, v
    np.testing.assert_allclose(state.v, np.tile(v, (16, 1)), atol=1e-6)


def test_equilibria_hang_along_gravity_that_turns():
    """A light strip hangs along the gravity of the step's end."""
    keyed = {
        "gravity.2": Keys([(0.0, 0.0), (1.0, 9.81)]),
        "gravity.1": Keys([(0.0, -9.81), (1.0, 0.0)]),
    }
    cloth = weft.sheet(3, 11, 0.05, 0.5, fabric={"preset": "cotton", "bending": "1e-9 N*m"})
    cloth = cloth.move((0, 0, 0), (90, 0, 0))
    scene = weft.Scene(
        cloth,
        [weft.Pin(cloth.border("top"))],
        integrator="quasi_static",
        settings=QuasiStaticSettings(1e-7, 1e-6, 2000),
        keyed=keyed,
    )
    for k, (state, *_) in enumerate(steps(scene, 2, 0.25), 1):
        hang = state.x[cloth.border("bottom")].mean(0) - state.x[cloth.border("top")].mean(0)
        assert hang[2] / -hang[1] == pytest.approx(k / (4 - k), rel=1e-3)


@pytest.mark.parametrize("t", [0.25, 1.0])
def test_pressure_on_a_ramp_stretches_a_balloon_as_constant_pressure_does(t):
    ramp = {"pressure": Keys([(0.0, 0.0), (1.0, 40.0)])}
    solver = QuasiStatic(QuasiStaticSettings(1e-9, 1e-7, 2000))
    found = []
    for scene in (balloon(pressure=0.0, keyed=ramp), balloon(pressure=40.0 * t)):
        found.append(solver.solve(prepare(scene).model, scene.cloth.vertices, t))
        assert found[-1].outcome.ok
    np.testing.assert_allclose(found[0].x, found[1].x, atol=1e-7)


def test_keys():
    points = [(0.0, 1.0), (1.0, 3.0), (2.0, 3.0), (4.0, -1.0)]
    linear, smooth, hold = (Keys(points, b) for b in ("linear", "smooth", "hold"))
    assert [linear.at(t) for t in (-1, 0.5, 1.5, 3, 9)] == [1.0, 2.0, 3.0, 1.0, -1.0]
    assert [hold.at(t) for t in (-1, 0.5, 1.0, 3.9, 4)] == [1.0, 1.0, 3.0, 3.0, -1.0]
    assert [smooth.at(t) for t, _ in points] == [v for _, v in points]
    inside = [smooth.at(t) for t in np.linspace(0, 2, 41)]
    assert max(inside) <= 3.0 and (np.diff(inside) >= 0).all()
    assert Keys([(1.0, 5.0)]).at(0.0) == 5.0


FILE = """\
cloth:
  sheet: {nx: 7, ny: 7}
  fabric: cotton
pins: [{corners: top}]
gravity: [{keys: [[0 s, 0], [1 s, 5]]}, {keys: [[0, -9.81 m/s^2], [500 ms, -1]]}, 0]
wind:
  velocity: [0, 0, {keys: [[0 s, 0], [0.2 s, 6 m/s]]}]
  drag: {keys: [[0 s, 1.2], [1 s, 1.4]], between: smooth}
contact: {friction: {keys: [[0 s, 0.1], [0.1 s, 0.5]], between: hold}}
step: 10 ms
seconds: 0.2 s
"""
REFUSED = {
    ("keys.between", "'cubic'"): "wind.drag.between=cubic",
    "wind.drag, key 1": "wind.drag.keys.1.1=-3",
    ("field of wind.drag", "'beetween'", "'between'"): "wind.drag.beetween=smooth",
    "cloth.fabric.shear": "cloth.fabric={preset: cotton, shear: {keys: [[0 s, 10 N/m]]}}",
    ("gravity.0: keys", "0 s, then -1 s"): "gravity.0.keys.1.0=-1 s",
    "gravity.0, key 1": "gravity.0.keys.1.1=.nan",
    "wind.velocity.2, key 1": "wind.velocity.2.keys.1.1=6 m",
    ("contact.friction.keys", "[]"): "contact.friction.keys=[]",
    ("step", "keyframes", "`adaptive`"): "step={keys: [[0 s, 1 ms]]}",
    ("gravity", "keyframes", "component"): "gravity={keys: [[0 s, [0, 0, 0]]]}",
}


@pytest.mark.parametrize("said", REFUSED)
def test_refused_with_its_line(tmp_path, said):
    (tmp_path / "s.yaml").write_text(FILE)
    with refused(SceneProblems, said):
        load_scene(tmp_path / "s.yaml", [REFUSED[said]])


def test_a_file_s_numbers_and_paths_into_its_keys(tmp_path):
    """What ``--set`` and sweeps reach: one key's number, or its time."""
    (tmp_path / "s.yaml").write_text(FILE)
    scene = load_scene(tmp_path / "s.yaml", ["gravity.1.keys.1.1=-2 m/s^2"]).scene
    assert scene.keyed["gravity.1"] == Keys([(0.0, -9.81), (0.5, -2.0)])
    assert scene.keyed["wind.drag"] == Keys([(0.0, 1.2), (1.0, 1.4)], "smooth")
    assert scene.at_keys(0.25).gravity == (1.25, (-9.81 - 2.0) / 2, 0)
    assert scene.at_keys(0.1).contact.friction.static == 0.5


def test_other_keys_are_another_scene(tmp_path):
    (tmp_path / "s.yaml").write_text(FILE)
    how = {"fps": 25, "out": tmp_path / "b", "progress": False, "fsync": False}
    weft.simulate(load_scene(tmp_path / "s.yaml").scene, frames=1, **how)
    other = load_scene(tmp_path / "s.yaml", ["gravity.1.keys.1.1=-3"]).scene
    with refused(WeftError, "run folder", got="keyed.gravity.1"):
        weft.simulate(other, frames=2, resume=True, **how)


def test_paths_in_python():
    with refused(SceneError, "step", got="keyframes"):
        sheet(keyed={"step": jump(0.01, 0.02)})
    with refused(SceneError, "keyed wind.density"):
        sheet(keyed={"wind.density": jump(1.0, 2.0)})
    with refused(SceneError, "scene.keyed", expected="Keys"):
        sheet(keyed={"gravity.1": [(0, 1)]})
    with refused(SceneError, "wind.density", hint="t = 0.03 s"):
        sheet(**wind(), keyed={"wind.density": jump(1.0, -2.0)})
    with refused(SceneError, "keyed pressure", got="Gas"):
        balloon(pressure=weft.Gas(1.0, 0.03), keyed={"pressure": jump(1.0, 2.0)})
