"""Exact balls and capsules: contact with a center or a segment at the distance of the radius."""

import dataclasses
import re

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import compared
from tests.refusals import refused
from tests.stepping import nothing_crosses, steps
from weft.base.errors import SceneError, SimulationError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.bodies.rigid.settings import Rigid
from weft.contact import capsule, plate, sphere
from weft.contact.contact_forces import contact_loads
from weft.scene.build_model import build_changed_model
from weft.scene.prepare import prepare

GAP, RADIUS = 4e-3, 0.1
BALL = sphere(RADIUS, 0.06, name="ball")  # edges of 6 cm: faces are up to 5 mm inside the sphere
ROLL = capsule(0.05, 0.3, 0.05, name="roll").move((0, 0, 0), rotation=(90, 0, 0))


def level(n=13, side=0.4, height=RADIUS + 0.01, **more):
    """A level sheet above the origin."""
    cloth = weft.sheet(n, n, side, side, **more)
    x = np.array(cloth.vertices)
    x -= (x.max(0) + x.min(0)) / 2
    flat = np.argmin(np.ptp(x, axis=0))
    x = np.roll(x, 1 - flat, axis=1) + [0.003, height, 0.005]
    return dataclasses.replace(cloth, mesh=cloth.mesh.with_vertices(x))


def falling(body, **more):
    contact = weft.SelfContact(GAP, friction=0.3, **more.pop("contact", {}))
    cloth = more.pop("cloth", None) or level()
    return weft.Scene(cloth, bodies=[body], contact=contact, step=0.02, **more)


def of_segment(x, a, b):
    """Distance of points (n,3) from the segment a b."""
    t = np.clip((x - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
    return np.linalg.norm(x - a - t[:, None] * (b - a), axis=1)


def samples(cloth, x):
    """Vertices, and points inside faces and edges."""
    corners = x[cloth.faces]
    weights = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 1], [4, 1, 1], [1, 3, 0]])
    inside = np.einsum("wc,mci->wmi", weights / weights.sum(1, keepdims=True), corners)
    return np.concatenate([x, inside.reshape(-1, 3)])


def test_cloth_rests_on_the_sphere_not_on_its_faces():
    scene = falling(BALL, cloth=level(21, 0.3))
    for state, _, report in steps(scene, 25):
        nothing_crosses(prepare(scene).model, state, report)
        far = np.linalg.norm(samples(scene.cloth, state.x), axis=1)
        assert far.min() > RADIUS
        if report.contact["count"]:
            assert 0 < report.contact["least_distance"] < GAP
    assert (far < RADIUS + GAP).sum() > 20


@pytest.mark.parametrize("turn", [0.0, 45.0])
def test_cloth_hangs_over_a_capsule(turn):
    """Edges of the cloth are parallel to the segment at 0 degrees."""
    body = ROLL.move((0, 0, 0), rotation=(0, turn, 0))
    scene = falling(body, cloth=level(21, 0.3, 0.06))
    a, b = body.core.points
    for state, _, report in steps(scene, 25):
        nothing_crosses(prepare(scene).model, state, report)
        assert of_segment(samples(scene.cloth, state.x), a, b).min() > 0.05
    assert (of_segment(samples(scene.cloth, state.x), a, b) < 0.05 + GAP).sum() > 20
    assert state.x[:, 1].min() < -0.02


def test_a_ball_that_moves_fast_does_not_pass_through_cloth():
    path = Path([Keyframe(0.0), Keyframe(0.04, (0.0, 0.6, 0.0))], "linear", hold=True)
    ball = BALL.move((0.0, -0.2, 0.0), path)
    cloth = level(height=0.0)
    corners = [Pin(np.array([0, 12, 156, 168]))]
    run = weft.simulate(
        falling(ball, cloth=cloth, pins=corners), frames=3, fps=50.0, progress=False
    )
    for frame in range(4):
        center = ball.at(frame / 50.0).mean(0)
        assert np.linalg.norm(samples(cloth, run.positions(frame)) - center, axis=1).min() > RADIUS


def test_friction_carries_cloth_along():
    """Cloth that lies on a capsule moves with it."""
    path = Path([Keyframe(0.4), Keyframe(0.8, (0.0, 0.0, 0.1))], hold=True)
    body = ROLL.move((0, 0, 0), path)
    scene = falling(body, cloth=level(9, 0.16, 0.0545), contact={"stick": 1e-4})
    ends = [state.x.mean(0) for state, _, _ in steps(scene, 50)]
    assert ends[-1][2] - ends[19][2] == pytest.approx(0.1, rel=0.05)


def test_other_thicknesses_keep_their_room():
    """The radius is not a thickness of other pairs: the cloth may meet itself and a plate."""
    scene = falling(BALL, contact={"thickness": 2e-3})
    made = prepare(scene).model.contact
    assert made.reach == GAP + 2e-3
    for state, _, _ in steps(scene, 15):
        far = np.linalg.norm(samples(scene.cloth, state.x), axis=1).min()
        assert far > RADIUS + 2e-3
    table = plate(0.5, 0.5, 0.25).move((0, -0.05, 0))
    assert prepare(scene.with_(bodies=[BALL, table])).model.contact.reach == GAP + 2e-3


def test_cloth_that_starts_inside_meets_the_faces():
    """The inside of a sphere may be a room."""
    made = prepare(falling(BALL, cloth=level(4, 0.02, 0.0)))
    assert made.model.contact.mesh.cores is None


def test_a_face_that_dips_into_the_sphere_is_refused():
    """Its vertices are outside, and it is inside the sphere, above a face of the sphere."""
    coarse = sphere(RADIUS, 0.12, name="ball")
    out = coarse.vertices[coarse.faces[0]].mean(0)
    u = np.linalg.svd(out[None])[2]
    cloth = weft.sheet(2, 2, 0.08, 0.08)
    x = np.array(cloth.vertices) - cloth.vertices.mean(0)
    flat = np.argmin(np.ptp(x, axis=0))
    x = np.delete(x, flat, axis=1) @ u[1:] + (RADIUS - 2e-3) * out / np.linalg.norm(out)
    assert np.linalg.norm(x, axis=1).min() > RADIUS
    cloth = dataclasses.replace(cloth, mesh=cloth.mesh.with_vertices(x))
    contact = weft.SelfContact(1e-3)
    by_faces = sphere(RADIUS, 0.12, mesh=True)
    prepare(weft.Scene(cloth, bodies=[by_faces], contact=contact))
    with refused(SceneError, "cloth at the start", got="cloth and ball intersect"):
        prepare(weft.Scene(cloth, bodies=[coarse], contact=contact))


@pytest.mark.parametrize(
    "body, more",
    [
        (sphere(RADIUS, 0.06, mesh=True), {}),
        (dataclasses.replace(BALL, rigid=Rigid(mass=1.0)), {}),
        (BALL.move((0, 0, 0), Path([Keyframe(0, (0, 0, 0), 0), Keyframe(1, rotation=1.0)])), {}),
        (BALL, {"contact": {"pinch": "release"}}),
        (BALL, {"contact": {"prescribed": "pass"}}),
        (BALL, {"contact": {"resolve": True}}),
        (BALL, {"attachments": [weft.AttachToBody([84], "ball", stiffness=10.0)]}),
    ],
    ids=["mesh", "rigid", "turns", "release", "pass", "resolve", "attached"],
)
def test_contact_is_with_the_faces(body, more):
    cloth = level(height=RADIUS + 0.002)
    contact = prepare(falling(body, cloth=cloth, **more)).model.contact
    assert len(contact.cores) == 0 and contact.mesh.cores is None


def test_thin_pinches_leave_the_radius():
    """Part of a thickness is kept where bodies pinch cloth; a ball keeps its size."""
    contact = prepare(falling(BALL, contact={"pinch": "thin", "thickness": 2e-3})).model.contact
    whole, half = (contact.mesh.sides.total_thickness(p) for p in (1.0, 0.5))
    assert whole.max() == pytest.approx(2e-3 + 2 * RADIUS)
    assert half.max() == pytest.approx(1e-3 + 2 * RADIUS)
    table = plate(0.5, 0.5, 0.25, name="table").move((0, 0.2, 0))
    down = Path([Keyframe(0.0), Keyframe(0.2, (0, -0.0975, 0))], hold=True)
    pressed = falling(
        BALL,
        cloth=level(height=RADIUS + 0.012),
        contact={"pinch": "thin", "thickness": 2e-3},
    ).with_(bodies=[BALL, table.move((0, 0, 0), down)])
    run = weft.simulate(pressed, frames=12, fps=50.0, progress=False)
    parts = [m["contact"]["pinched"]["part"] for m in run.metrics if "pinched" in m["contact"]]
    assert 0 < parts[-1] < 1
    assert np.linalg.norm(samples(pressed.cloth, run.positions(12)), axis=1).min() > RADIUS


def test_the_room_between_bodies_is_between_their_surfaces():
    """A table closes on cloth that lies on a ball; the message names both places and the room."""
    down = Path([Keyframe(0.0), Keyframe(0.2, (0, -0.0985, 0))], hold=True)
    table = plate(0.5, 0.5, 0.25, name="table").move((0, 0.2, 0), down)
    scene = falling(BALL, cloth=level(height=RADIUS + 0.012), contact={"thickness": 2e-3})
    with pytest.raises(SimulationError) as failed:
        weft.simulate(scene.with_(bodies=[BALL, table]), frames=12, fps=50.0, progress=False)
    text = str(failed.value)
    room = float(re.search(r"([0-9.]+) mm apart", text)[1])
    x, y, z = (float(a) for a in re.search(r"'ball' at \((.*?)\)", text)[1].split(","))
    assert 2.0 < room < 8.0
    assert np.linalg.norm([x, y, z]) == pytest.approx(RADIUS, rel=1e-2)


def test_runs_go_on_bitwise(tmp_path):
    scene = falling(BALL)
    how = {"fps": 50.0, "progress": False}
    whole = weft.simulate(scene, frames=12, out=tmp_path / "whole", **how)
    weft.simulate(scene, frames=7, out=tmp_path / "parts", **how)
    parts = weft.simulate(scene, frames=12, out=tmp_path / "parts", resume=True, **how)
    np.testing.assert_array_equal(whole.positions(12), parts.positions(12))
    assert len(whole.body_positions(12)) == len(BALL.vertices)
    points = whole.contacts(12)[0]
    assert (np.abs(np.linalg.norm(points, axis=1) - RADIUS) < GAP).sum() > 10


def test_forces_are_the_derivative_of_the_energy():
    scene = falling(BALL)
    *_, (state, memory, report) = steps(scene, 14)
    assert report.contact["count"] > 0
    ready = prepare(scene)
    phi = ready.stepper.potential(ready.model, state, memory, 0.02)
    d, h = np.random.default_rng(0).normal(size=state.x.shape), 1e-7
    quotient = (phi.value(state.x + h * d) - phi.value(state.x - h * d)) / (2 * h)
    assert phi.terms(state.x)["contact"] > 0
    assert float((phi.gradient(state.x) * d).sum()) == pytest.approx(quotient, rel=1e-4)


@pytest.mark.parametrize("body, height", [(BALL, RADIUS + 3e-3), (ROLL, 0.053)])
def test_gradients_of_runs(body, height):
    cloth = level(5, 0.12, height)
    tight = weft.StepSettings(tolerance=1e-9)
    names = ["fabric.density", "contact.friction", "contact.gap"]
    scene = falling(body, cloth=cloth, settings=tight).with_(step=0.01)
    found, expected, _ = compared(scene, names, frames=3, h=1e-4)
    assert found == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("name", ["contact.thickness", "contact.gap"])
def test_tangents_where_cloth_meets_itself_on_a_ball(name):
    """Pairs with a core keep its radius besides the thickness, pairs of cloth do not."""
    lower, upper = level(4, 0.1, RADIUS + 4.5e-3), level(5, 0.1, RADIUS + 8.5e-3)
    cloth, tight = weft.join([lower, upper]), weft.StepSettings(tolerance=1e-9)
    contact = {"thickness": 1e-3}
    scene = falling(BALL, cloth=cloth, settings=tight, contact=contact).with_(step=0.01)
    rollout = weft.adjoint.Rollout(scene, [name], frames=3, fps=100.0)
    dx, _ = rollout.tangent(name)
    value = float(rollout.parameter(name).value)
    ends = [np.asarray(rollout.with_values({name: value * k}).run().x) for k in (1.0001, 0.9999)]
    quotient = (ends[0] - ends[1]) / (0.0002 * value)
    np.testing.assert_allclose(dx, quotient, atol=1e-5 * np.abs(quotient).max())


def test_a_pair_with_a_core_pushes_as_other_pairs():
    """At half the gap, the force is of the size from which the stiffness is chosen."""
    contact = prepare(falling(BALL, cloth=level(2, 0.1, RADIUS + GAP / 2))).model.contact
    x = level(2, 0.1, RADIUS + GAP / 2).vertices
    force = contact_loads(contact, x, 0.0, np.ones(4))["contact_forces"].max()
    assert 0.2 < force / contact.force_at_half_gap < 1.5


def test_a_change_of_the_scene_keeps_the_exact_ball():
    change = weft.Change(0.1, {"gravity.1": -5.0})
    scene = falling(BALL, changes=[change])
    run = weft.simulate(scene, frames=8, fps=50.0, progress=False)
    assert np.linalg.norm(samples(scene.cloth, run.positions(8)), axis=1).min() > RADIUS
    assert build_changed_model(scene.at(0.2)).contact.cores
