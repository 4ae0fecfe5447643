"""Exact balls and capsules: contact with a center or a segment at the distance of the radius."""

import dataclasses
import re
from functools import partial

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import compared
from tests.engine.contact.builders import along, parts_of
from tests.refusals import refused
from tests.resuming import resumes_bitwise
from tests.stepping import nothing_crosses
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
    cloth, bodies = more.pop("cloth", None) or level(), [body, *more.pop("bodies", [])]
    return weft.Scene(cloth, bodies=bodies, contact=contact, step=0.02, **more)


def room_of(scene, x, t=0.0):
    """The least distance of vertices and of points inside faces and edges from the surface of the
    first body, which does not turn.
    """
    body = scene.bodies[0]
    corners = x[scene.cloth.faces]
    weights = np.array([[1, 1, 1], [1, 1, 0], [0, 1, 1], [4, 1, 1], [1, 3, 0]])
    inside = np.einsum("wc,mci->wmi", weights / weights.sum(1, keepdims=True), corners)
    moved = body.at(t).mean(0) - body.at(0.0).mean(0)
    a, b = body.core.points[[0, -1]] + moved
    y = np.concatenate([x, inside.reshape(-1, 3)]) - a
    part = np.clip(y @ (b - a) / max((b - a) @ (b - a), 1e-300), 0, 1)
    return np.linalg.norm(y - part[:, None] * (b - a), axis=1) - body.core.radius


WIDE, LOW = level(21, 0.3), level(21, 0.3, 0.06)
FAST = BALL.move((0, -0.2, 0), along(0, 0.6, 0, seconds=0.04))
RESTS = {
    "ball": (falling(BALL, cloth=WIDE), 25, 20),
    "capsule": (falling(ROLL, cloth=LOW), 25, 20),  # along which edges of the cloth are
    "capsule aslant": (falling(ROLL.move((0, 0, 0), rotation=(0, 45, 0)), cloth=LOW), 25, 20),
    "thickness": (falling(BALL, contact={"thickness": 2e-3}), 15, 0),
    "fast": (falling(FAST, cloth=level(height=0), pins=[Pin([0, 12, 156, 168])]), 3, 0),
}


@pytest.mark.parametrize("case", RESTS)
def test_cloth_rests_on_the_sphere_not_on_its_faces(case):
    scene, n, touching = RESTS[case]
    model, kept = prepare(scene).model, scene.contact.thickness
    for part in parts_of(scene, n):
        nothing_crosses(model, part.state, part.report)
        room = room_of(scene, part.state.x, part.state.t)
        assert room.min() > kept
        if part.report.contact["count"]:
            assert kept < part.report.contact["least_distance"] < GAP + kept
    assert (room < GAP + kept).sum() > touching
    assert model.contact.reach == GAP + kept  # the radius is not a thickness of other pairs


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
        (BALL, {"cloth": level(4, 0.02, 0.0)}),  # cloth that starts inside: it may be a room
        (BALL, {"attachments": [weft.AttachToBody([84], "ball", stiffness=10.0)]}),
    ],
    ids=["mesh", "rigid", "turns", "release", "pass", "resolve", "inside", "attached"],
)
def test_contact_is_with_the_faces(body, more):
    more = {"cloth": level(height=RADIUS + 0.002), **more}
    contact = prepare(falling(body, **more)).model.contact
    assert len(contact.cores) == 0 and contact.mesh.cores is None


def test_thin_pinches_leave_the_radius():
    """Part of a thickness is kept where bodies pinch cloth; a ball keeps its size."""
    scene = falling(BALL, contact={"thickness": 2e-3, "pinch": "thin"})
    thickness = prepare(scene).model.contact.mesh.sides.total_thickness
    assert thickness(1.0).max() == pytest.approx(2e-3 + 2 * RADIUS)
    assert thickness(0.5).max() == pytest.approx(1e-3 + 2 * RADIUS)


def test_the_room_between_bodies_is_between_their_surfaces():
    """A table closes on cloth that lies on a ball; the message names both places and the room."""
    table = plate(0.5, 0.5, 0.25, name="table")
    table = table.move((0, 0.2, 0), along(0, -0.0985, 0, seconds=0.2, between="smooth"))
    cloth, contact = level(height=RADIUS + 0.012), {"thickness": 2e-3}
    scene = falling(BALL, cloth=cloth, bodies=[table], contact=contact)
    with pytest.raises(SimulationError) as failed:
        weft.simulate(scene, frames=12, fps=50.0, progress=False)
    text = str(failed.value)
    room = float(re.search(r"([0-9.]+) mm apart", text)[1])
    place = [float(a) for a in re.search(r"'ball' at \((.*?)\)", text)[1].split(",")]
    assert 2.0 < room < 8.0
    assert np.linalg.norm(place) == pytest.approx(RADIUS, rel=1e-2)


def test_runs_go_on_bitwise(tmp_path):
    whole = resumes_bitwise(partial(falling, BALL), 12, [7], tmp_path)
    assert len(whole.body_positions(12)) == len(BALL.vertices)
    points = whole.contacts(12)[0]
    assert (np.abs(np.linalg.norm(points, axis=1) - RADIUS) < GAP).sum() > 10


LAYERS = weft.join([level(4, 0.1, RADIUS + 4.5e-3), level(5, 0.1, RADIUS + 8.5e-3)])


@pytest.mark.parametrize("body, cloth", [(BALL, LAYERS), (ROLL, level(5, 0.12, 0.053))])
def test_gradients_of_runs(body, cloth):
    """Pairs with a core keep its radius besides the thickness, pairs of cloth do not."""
    tight, kept = weft.StepSettings(tolerance=1e-9), {"thickness": 1e-3 * (body is BALL)}
    names = ["contact.friction", "contact.gap", "gravity", "contact.thickness"]
    scene = falling(body, cloth=cloth, settings=tight, contact=kept).with_(step=0.01)
    found, expected, _ = compared(scene, names[: 3 + (body is BALL)], frames=3, h=1e-4)
    assert found == pytest.approx(expected, rel=1e-3)


def test_a_pair_with_a_core_pushes_as_other_pairs():
    """At half the gap, the force is of the size from which the stiffness is chosen."""
    contact = prepare(falling(BALL, cloth=level(2, 0.1, RADIUS + GAP / 2))).model.contact
    x = level(2, 0.1, RADIUS + GAP / 2).vertices
    force = contact_loads(contact, x, 0.0, np.ones(4))["contact_forces"].max()
    assert 0.2 < force / contact.force_at_half_gap < 1.5


def test_a_change_of_the_scene_keeps_the_exact_ball():
    scene = falling(BALL, changes=[weft.Change(0.1, {"gravity.1": -5.0})])
    assert build_changed_model(scene.at(0.2)).contact.cores


@pytest.mark.parametrize("thickness", [0.0, 1e-3])
def test_a_corner_above_a_ball_is_a_point_at_its_distance(thickness):
    """A pair of two points: the center of the ball, and the corner, beside a floor that is last."""
    cloth = weft.sheet(3, 3, 0.04, 0.04).move((0, 0, 0), rotation=(0, 0, 45))
    cloth = cloth.move((0, 0, 0), rotation=(30, 0, 0))
    corner = np.argmin(cloth.vertices[:, 1])
    cloth = cloth.move(np.array([0, RADIUS + 2e-3, 0]) - cloth.vertices[corner])
    floor = plate(0.5, 0.5, 0.25).move((0, -0.5, 0))
    pins = [Pin(np.delete(np.arange(cloth.n_vertices), corner))]
    contact = {"thickness": thickness}
    scene = falling(BALL, cloth=cloth, pins=pins, bodies=[floor], contact=contact)
    (part,) = parts_of(scene, 1)
    room = np.linalg.norm(part.state.x[corner]) - RADIUS
    assert part.report.contact["least_distance"] == pytest.approx(room, rel=1e-9)
    assert thickness < room < GAP
