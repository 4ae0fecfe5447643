"""Attachments in scenes: every kind with every integrator, on triangles and splines; bodies that
turn and deform; contact; releases; what metrics say; and runs that resume.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import weft
from tests.engine.attachments.stepping import take_steps
from tests.refusals import refused
from weft.base.errors import SceneError
from weft.bodies.body import Body
from weft.bodies.motion.point_sequence import BodyFrames
from weft.bodies.shapes.primitives import sphere
from weft.scene.integrators import INTEGRATORS
from weft.scene.points import attached_points
from weft.scene.prepare import prepare

POLE = [(-1.0, 0.0, -0.15), (1.0, 0.0, -0.15)]


def cloth_of(kind):
    return (weft.sheet if kind == "triangles" else weft.spline_sheet)(7, 7, 0.3, 0.3)


def every_kind(cloth):
    top, bottom = cloth.border("top"), cloth.corners("bottom")
    low = cloth.vertices[bottom].mean(0) - [0, 0.1, 0]
    return [
        weft.Slide(top, POLE, friction=0.2, spacing=0.01, name="rings"),
        weft.Rope(bottom[:1], at=low, name="rope"),
        weft.Spring(bottom[1:], at=low, stiffness=20.0, damping=0.01, name="spring"),
        weft.AttachCloth(bottom[:1], bottom[1:], closing=0.5, name="tie"),
    ]


@pytest.mark.parametrize(
    "integrator, surface",
    [*((name, "triangles") for name in INTEGRATORS), ("backward_euler", "splines")],
)
def test_every_kind_with_every_integrator(integrator, surface):
    """Rings stay on the pole. After a step of backward Euler what attachments pull with and weight
    are the change of momentum (steps of one linear solve have forces of x_n, with their slopes).
    """
    cloth = cloth_of(surface)
    scene = weft.Scene(cloth, attachments=every_kind(cloth), integrator=integrator, damping=0.0)
    if integrator == "backward_euler":  # iterative solvers leave as much of a sum as is allowed
        scene = scene.with_(settings=weft.StepSettings(tolerance=1e-6))
    model, before, state, report = take_steps(scene, 4)
    said = report.attachments
    assert said.keys() == {"rings", "rope", "spring", "tie"}
    assert said["rings"]["holds"] == len(cloth.border("top")) and said["tie"]["holds"] == 1
    x = model.vertices(state.x)[cloth.border("top")]
    assert np.abs(x[:, 1:] - POLE[0][1:]).max() < 1e-4
    if integrator == "backward_euler":
        pull = np.sum([np.array(v["force"]) for k, v in said.items() if k != "tie"], axis=0)
        rate = (model.mass[:, None] * (state.v - before.v)).sum(0) / 0.01
        weight = model.mass.sum() * np.array([0, -9.81, 0])
        np.testing.assert_allclose(pull + weight, rate, atol=1e-3 * np.abs(weight).max())


def wobbling(times):
    """A sphere whose vertices turn and swell in time."""
    body = sphere(0.1, 0.03, "ball")
    frames = []
    for t in times:
        R = Rotation.from_rotvec([0, 0, 1.3 * t]).as_matrix()
        frames.append((1 + 0.4 * t) * body.vertices @ R.T + [0.2 * t, 0, 0])
    frames = BodyFrames(np.array(times), np.array(frames), True)
    return Body(body.vertices, body.faces, None, "ball", None, frames)


@pytest.mark.parametrize("surface", ["triangles", "splines"])
def test_points_follow_a_body_that_turns_and_deforms(surface):
    """On similar motions of the body the places are exactly those of the motion, offset included;
    the points are there to what their load stretches the tie.
    """
    cloth = cloth_of(surface).move((0.0, 0.11, 0.0))
    body = wobbling(np.linspace(0, 0.2, 9))
    ids = np.argsort(np.linalg.norm(cloth.vertices - [0, 0.11, 0], axis=1))[:2]
    scene = weft.Scene(
        cloth,
        bodies=[body],
        step=0.01,
        damping=0.0,
        gravity=(0, 0, 0),
        attachments=[weft.AttachToBody(ids, "ball", name="button")],
        contact=weft.SelfContact(gap=2e-3),
    )
    place = attached_points(scene).energies[0].place
    t = 0.15
    R = Rotation.from_rotvec([0, 0, 1.3 * t]).as_matrix()
    wanted = cloth.vertices[ids] @ R.T + [0.2 * t, 0, 0]
    at = place.at(prepare(scene).model.bodies(t), t)
    # swelling moves the face out by 0.4 t of its distance from the middle; the offset is kept
    swell = np.linalg.norm(at - wanted, axis=1)
    np.testing.assert_allclose(swell, 0.4 * t * 0.1, rtol=0.1)
    model, _, state, report = take_steps(scene, 15)
    x = model.vertices(state.x)[ids]
    most = report.attachments["button"]["largest"] / attached_points(scene).energies[0].stiffness[0]
    np.testing.assert_allclose(x, at, atol=1.01 * most + 1e-12)
    assert most < 1e-3


def test_rigid_bodies_carry_offsets_exactly():
    """A path turns the places as it turns the body."""
    path = weft.Path([weft.Keyframe(0.0), weft.Keyframe(1.0, (0.1, 0.2, 0), 0.9)], hold=True)
    body = sphere(0.1, 0.03, "ball").move((0, 0, 0), path)
    cloth = weft.sheet(3, 3, 0.1, 0.1).move((0.02, 0.13, 0.01))
    scene = weft.Scene(cloth, bodies=[body], attachments=[weft.AttachToBody([4], "ball")])
    at = attached_points(scene).energies[0].place.at(prepare(scene).model.bodies(1.0), 1.0)
    turn = Rotation.from_rotvec([0, 0.9, 0]).as_matrix()
    center = body.vertices.mean(0)
    wanted = (cloth.vertices[[4]] - center) @ turn.T + center + [0.1, 0.2, 0]
    np.testing.assert_allclose(at, wanted, atol=1e-12)


def test_what_touches_the_body_it_is_attached_to_does_not_meet_it():
    """Points attached within the gap of a body start there, and feel no contact."""
    body = weft.contact.box((0.2, 0.05, 0.2), 0.05, "block")
    cloth = weft.sheet(4, 9, 0.09, 0.24).move((0.0, 0.0255, 0.15))
    near = np.flatnonzero(cloth.vertices[:, 2] < 0.11)
    contact = weft.SelfContact(gap=4e-3, thickness=1e-3)
    with refused(SceneError, "cloth at the start", got="block"):
        prepare(weft.Scene(cloth, bodies=[body], contact=contact))
    tied = weft.AttachToBody(near, "block", name="strap")
    scene = weft.Scene(cloth, bodies=[body], contact=contact, attachments=[tied])
    _, _, state, report = take_steps(scene, 5)
    assert report.attachments["strap"]["holds"] == len(near) > 0
    assert np.abs(state.x[near] - cloth.vertices[near]).max() < 1e-3


def test_runs_resume_bitwise(tmp_path):
    """Bristles of friction and what has let go are in checkpoints; both matter to what follows."""
    cloth = weft.sheet(6, 6, 0.3, 0.3)
    top = cloth.border("top")
    release = weft.Release(force=0.024)
    pole = [(-1.0, -0.3, -0.15), (1.0, 0.3, -0.15)]
    x = np.array(cloth.vertices)
    x[:, 1] += 0.3 * x[:, 0]
    cloth = weft.Cloth(cloth.mesh.with_vertices(x), cloth.fabric)
    made = [
        weft.Slide(top, pole, friction=0.3, release=release, name="rings"),
        weft.Spring([0], at=(0.5, 0.5, 0.5), stiffness=0.4, name="spring"),
    ]
    scene = weft.Scene(cloth, attachments=made, integrator="bdf2")
    whole = weft.simulate(scene, frames=8, out=tmp_path / "whole", progress=False)
    held = [m["attachments"]["rings"]["holds"] for m in whole.metrics]
    assert held[0] == 6 and min(held) < 6, "some let go, on the way"
    frame = next(m["frame"] for m in whole.metrics if m["attachments"]["rings"]["holds"] < 6)
    assert 1 <= frame < 8
    weft.simulate(scene, frames=frame, out=tmp_path / "parts", progress=False)
    parts = weft.simulate(scene, frames=8, out=tmp_path / "parts", progress=False, resume=True)
    np.testing.assert_array_equal(whole.positions(8), parts.positions(8))
    last = whole.metrics[-1]["attachments"]["rings"]
    assert last == parts.metrics[-1]["attachments"]["rings"] and last["released"] > 0


def test_a_rod_carries_its_rings_and_ropes():
    """A pole that moves with a body takes its rings along, a radius away; ropes to it go slack."""
    path = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.3, (0, 0.2, 0))], hold=True)
    rod = weft.contact.capsule(0.01, 1.2, 0.02, "rod").move((0, 0.05, -0.15), path, (0, 0, 90))
    cloth = weft.sheet(7, 5, 0.5, 0.3)
    pole = [(-0.6, 0.05, -0.15), (0.6, 0.05, -0.15)]
    made = [
        weft.Slide(cloth.border("top"), pole, body="rod", radius=0.05, friction=0.1, name="rings"),
        weft.Rope(cloth.corners("bottom"), body="rod", length=0.45, name="rope"),
    ]
    scene = weft.Scene(
        cloth,
        bodies=[rod],
        attachments=made,
        integrator="bdf2",
        contact=weft.SelfContact(gap=3e-3),
    )
    _, _, state, report = take_steps(scene, 35)
    x = state.x[cloth.border("top")]
    np.testing.assert_allclose(np.hypot(x[:, 1] - 0.25, x[:, 2] + 0.15), 0.05, atol=1e-5)
    assert report.attachments["rope"]["largest"] == 0
    assert report.attachments["rings"]["largest"] > 0
