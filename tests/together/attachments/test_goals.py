"""Cloth that is drawn to a guide: closed forms, derivatives, contact, files and refusals."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import DampingInStep, InStep
from tests.engine.adjoint.cases import compared
from tests.refusals import refused
from tests.stepping import stepped
from weft.base.errors import SceneError, SceneProblems
from weft.bodies.body import Body
from weft.bodies.motion.point_sequence import BodyFrames
from weft.bodies.rigid.settings import Rigid
from weft.bodies.shapes.primitives import sphere
from weft.cloth.attachments.goal import GuideAnchor
from weft.energies.springs.goals import Goals
from weft.energies.state import State
from weft.energies.step import Step
from weft.scene.build import load_scene
from weft.scene.points import attached_points

STIFF, G = 400.0, 9.81  # [N/m^3], [m/s^2]
TIGHT = weft.StepSettings(tolerance=1e-10)
SPEED = np.array([0.3, -0.2, 0.5])  # [m/s]


def moving(cloth, speed=SPEED, seconds=2.0):
    """A guide of the cloth's own mesh that moves at a constant speed."""
    x = np.array(cloth.vertices)
    return Body(
        x,
        cloth.faces,
        name="guide",
        frames=BodyFrames(np.array([0.0, seconds]), np.stack([x, x + seconds * speed])),
    )


def drawn(n=4, guide=None, **more):
    """A sheet that is drawn to where it starts."""
    cloth = weft.sheet(n, n, 0.4, 0.4, fabric="cotton")
    settings = {"stiffness_per_area": STIFF, "name": "goal"} | more
    still = Body(np.array(cloth.vertices), cloth.faces, name="guide")
    goal = weft.Goal(range(n * n), guide=guide or still, **settings)
    return weft.Scene(cloth, attachments=[goal], settings=TIGHT, step=0.01)


@pytest.mark.parametrize("make", [weft.sheet, weft.spline_sheet])
def test_it_hangs_by_density_times_g_over_stiffness(make):
    """Every point alike, so that the cloth does not resist, with a weight."""
    cloth = make(5, 5, 0.4, 0.4, fabric="cotton")
    guide = Body(np.array(cloth.vertices), cloth.faces, name="guide")
    ids = range(cloth.n_vertices)
    goal = weft.Goal(ids, guide=guide, stiffness_per_area=STIFF, weight=0.5, name="goal")
    scene = weft.Scene(cloth, attachments=[goal], integrator="quasi_static", step=1.0)
    model, state, reports = stepped(scene, 2)
    drop = cloth.fabric.density * G / (0.5 * STIFF)
    way = model.vertices(state.x) - cloth.vertices
    if make is weft.sheet:
        np.testing.assert_allclose(way, np.broadcast_to([0, -drop, 0], way.shape), atol=1e-7)
    mean = cloth.mesh.vertex_area @ way / 0.16
    np.testing.assert_allclose(mean, [0, -drop, 0], atol=1e-6)
    weight = cloth.fabric.density * 0.16 * G
    force = reports[-1].attachments["goal"]["force"]
    np.testing.assert_allclose(force, [0, weight, 0], atol=1e-5 * weight)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_it_relaxes_to_a_moving_guide_as_a_damped_oscillator(integrator):
    """rho u'' = -k (u + b u') with u relative to a guide of constant speed; without damping
    relative to the guide, u would lag behind by b times the speed.
    """
    b, h, count = 0.04, 1e-3, 40
    cloth = weft.sheet(4, 4, 0.4, 0.4, fabric="cotton")
    shift = np.array([0.02, 0.01, -0.03])
    start = State(np.array(cloth.vertices) + shift, np.tile(SPEED, (16, 1)))
    scene = drawn(4, moving(cloth), damping=b).with_(gravity=(0, 0, 0), integrator=integrator)
    _, state, _ = stepped(scene.with_(start_state=start, step=h), count)
    off = state.x - cloth.vertices - count * h * SPEED
    p, q = np.roots([cloth.fabric.density, STIFF * b, STIFF])
    t = count * h
    expected = np.real((q * np.exp(p * t) - p * np.exp(q * t)) / (q - p))
    most = 3e-4 if integrator == "backward_euler" else 1e-5
    np.testing.assert_allclose(off, np.broadcast_to(expected * shift, off.shape), atol=most)


def in_step(seed=1):
    """Goals of combinations of points on a moving guide, and a step of two of the past."""
    rng = np.random.default_rng(seed)
    mesh = weft.sheet(3, 3).mesh
    x = np.array(mesh.vertices)
    frames = BodyFrames(np.array([0.0, 1.0]), np.stack([x, x + rng.normal(size=x.shape)]))
    anchor = GuideAnchor(Body(x, mesh.faces, frames=frames), np.arange(4, dtype=np.int32))
    points = np.array([[0, 1], [2, 4], [5, 6], [3, 8]], np.int32)
    goals = Goals(points, np.tile([0.4, 0.6], (4, 1)), 30.0, rng.uniform(1, 2, 4), anchor, 0.05)
    now, origin = (x + 0.1 * rng.normal(size=x.shape) for _ in range(2))
    none, free = np.zeros((0, 3)), np.zeros(9, bool)
    state = State(now, 0 * now, 0.2)
    step = Step(state, 0.03, now, 1e-4, origin, 0.02, free, now, (none, none))
    return goals, step, rng.normal(size=x.shape), x


def test_derivatives_in_a_step():
    goals, step, d, x = in_step()
    elastic = dataclasses.replace(goals, damping=0.0)
    InStep(goals, 9, step).assert_derivatives(x, d)
    InStep(elastic, 9).assert_equals(elastic, x)
    damping = DampingInStep(goals, elastic, 9, step)
    damping.assert_derivatives(x, d)
    carried = goals.drawn(step.origin) + 0.02 / 0.03 * (
        goals.place.at(None, 0.23) - goals.place.at(None, 0.2)
    )
    off = ((goals.drawn(x) - carried) ** 2).sum(1)
    lost = 0.5 * 30.0 * goals.area * 0.05 / 0.02 * off
    assert damping.value(x) == pytest.approx(lost.sum(), rel=1e-12)


@pytest.mark.parametrize(
    "name", ["attachments.goal.stiffness_per_area", "attachments.goal.damping", "velocities"]
)
def test_gradients_of_runs(name):
    """Against differences of runs."""
    cloth = weft.sheet(4, 4, 0.4, 0.4, fabric="cotton")
    scene = drawn(4, moving(cloth), damping=0.03)
    got, expected, _ = compared(scene, [name], frames=3, h=1e-4)
    assert got == pytest.approx(expected, rel=1e-5)


def test_guides_of_another_mesh_carry_points_beside_their_faces():
    """A guide that turns carries the cloth with it, exactly; and only where its weight is not 0."""
    cloth = weft.sheet(5, 5, 0.3, 0.3)
    keys = [weft.Keyframe(0.0), weft.Keyframe(1.0, (0.1, 0, 0), 1.0)]
    turn = weft.Path(keys, center=(0, 0, 0), hold=True)
    guide = sphere(0.5, size=0.1, name="ball").move((0, -0.55, 0), turn)
    weight = np.arange(25.0)
    goal = weft.Goal(
        range(25), guide=guide, nearest=True, stiffness_per_area=1e5, weight=weight, damping=0.1
    )
    (made,) = attached_points(weft.Scene(cloth, attachments=[goal])).energies
    np.testing.assert_array_equal(made.points[:, 0], np.arange(1, 25))
    np.testing.assert_allclose(made.area, weight[1:] * cloth.mesh.vertex_area[1:])
    x = cloth.vertices[1:]
    assert np.allclose(made.place.at(None, 1.0), turn.positions(x, 1.0), atol=1e-9)
    assert np.allclose(made.place.start, x)


def test_a_body_of_the_scene_is_a_guide_too():
    cloth = weft.sheet(4, 4, 0.4, 0.4).move((0, 0.15, 0))
    ball = sphere(0.1, size=0.03, name="ball")
    named = weft.Goal([0], body="ball", stiffness_per_area=1.0)
    contact = weft.SelfContact(gap=0.005)
    scene = weft.Scene(cloth, attachments=[named], bodies=[ball], contact=contact)
    (made,) = attached_points(scene).energies
    assert made.place.follows_bodies
    solid = dataclasses.replace(ball, rigid=Rigid(mass=1.0))
    with refused(SceneError, "guide", got="rigid"):
        attached_points(scene.with_(bodies=[solid]))


FILE = """
cloth: {sheet: {nx: 4, ny: 4, width: 40 cm, height: 40 cm}}
seconds: 0.4
step: 10 ms
attachments:
  - kind: goal
    name: goal
    guide: {mesh: {file: guide.npz, hold: true}, translation: [0, 10 cm, 0]}
    stiffness_per_area: {keys: [[0 s, 0 N/m^3], [0.1 s, 0 N/m^3], [0.2 s, 5000 N/m^3]]}
    damping: 50 ms
"""


def write(folder, change=("", ""), n=4):
    cloth = weft.sheet(n, n, 0.4, 0.4)
    x = np.array(cloth.vertices)
    np.savez(
        folder / "guide.npz",
        positions=np.stack([x, x + [0, 0.1, 0]]),
        faces=cloth.faces,
        times=np.array([0.0, 0.4]),
    )
    (folder / "scene.yaml").write_text(FILE.replace(*change))
    return folder / "scene.yaml"


def test_a_file_frees_cloth_and_draws_it_to_the_guide(tmp_path):
    """Free fall to 0.1 s, then to the guide, which is 10 cm and more above."""
    scene = load_scene(write(tmp_path)).scene
    run = weft.simulate(scene, frames=12, fps=30, out=tmp_path / "run", progress=False)
    assert run.positions(3)[:, 1].max() < -0.03
    off = run.positions(12) - scene.cloth.vertices - [0, 0.2, 0]
    assert np.abs(off).max() < 0.01


@pytest.mark.parametrize(
    "change, n, what",
    [
        (
            ("{mesh: {file: guide.npz, hold: true}", "{mesh: {file: guide.npz}"),
            5,
            ("goal.guide: guide.npz", "25 vertices and 32", "16 vertices and 18", "nearest"),
        ),
        (("hold: true", "fps: 100"), 4, ("guide.npz.frames", "0.4 s")),
        (
            ("damping: 50 ms", "stiffness: 4 N/m"),
            4,
            ("attachments.0", "stiffness is not a field of kind goal"),
        ),
        (("damping: 50 ms", "body: ball"), 4, ("guide", "a guide and a body")),
        (("damping: 50 ms", "release: {force: 3 N}"), 4, ("attachments.0", "release")),
        (("damping: 50 ms", "weight: -1"), 4, "weight"),
    ],
)
@pytest.mark.filterwarnings("ignore:guide.npz")
def test_refusals(tmp_path, change, n, what):
    path = write(tmp_path, change, n)
    with refused((SceneError, SceneProblems), what):
        load_scene(path)


def test_a_guide_with_other_numbers_of_its_vertices_is_refused():
    cloth = weft.sheet(4, 4, 0.4, 0.4)
    order = np.random.default_rng(0).permutation(16)
    faces = np.argsort(order)[cloth.faces].astype(np.int32)
    guide = Body(np.array(cloth.vertices)[order], faces, name="shuffled")
    with refused(SceneError, ("guide: shuffled", "nearest")):
        attached_points(drawn(4, guide))


def test_weights_of_other_vertices_are_refused():
    with refused(SceneError, ("goal.weight", "3 numbers", "16")):
        drawn(4, weight=[1.0, 1.0, 1.0])
