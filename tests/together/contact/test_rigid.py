"""Rigid bodies: their four points, motions with every integrator, contact, runs, and bad input."""

import dataclasses
from functools import partial

import numpy as np
import pytest

import weft
from tests.engine.contact.builders import along
from tests.refusals import refused
from tests.resuming import resumes_bitwise
from tests.stepping import nothing_crosses, stepped
from weft.base.errors import SceneError, WeftError
from weft.bodies.motion.pins import Keyframe, Path
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.mass_properties import mass_properties
from weft.contact import Joint, Rigid, box, capsule, plane, plate, ring, sphere
from weft.plugins.lab.validate.rigid import rigid_body, slide, top
from weft.run.check_scene import check
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

CLOTH = weft.sheet(5, 5, 0.3, 0.3)
AWAY = CLOTH.move((3.0, 0.0, 0.0))


def scene_of(bodies, cloth=AWAY, **more):
    pins = more.pop("pins", [weft.Pin(cloth.corners("all"))])
    more.setdefault("contact", weft.SelfContact(gap=2e-3))
    return weft.Scene(cloth, pins, bodies=bodies, **{"step": 0.01, **more})


@pytest.mark.parametrize(
    "body", [box((0.1, 0.2, 0.3), 0.2), capsule(0.05, 0.2, 0.02), ring(0.2, 0.05, 0.03)]
)
def test_moments_against_a_sum_over_tetrahedra(body):
    """Volume, center and second moments equal those by quadrature of degree 2 on tetrahedra."""
    body = body.move((1.0, -2.0, 0.5), None, (20, 30, 40))
    a, b, c = np.moveaxis(body.vertices[body.faces] - (1.1, -2.0, 0.4), 1, 0)
    volume = np.einsum("mi,mi->m", a, np.cross(b, c)) / 6
    s5 = np.sqrt(5.0)
    p, q = (5 + 3 * s5) / 20, (5 - s5) / 20
    corners = np.stack([0 * a, a, b, c], 1)
    points = np.einsum("ka,mai->mki", q * np.ones((4, 4)) + (p - q) * np.eye(4), corners)
    center = np.einsum("m,mki->i", volume, points) / 4 / volume.sum()
    off = points - center
    second = np.einsum("m,mki,mkj->ij", volume, off, off) / 4 / volume.sum()
    solid = mass_properties(body.vertices, body.faces)
    assert solid.volume == pytest.approx(volume.sum(), rel=1e-12)
    np.testing.assert_allclose(solid.center, center + (1.1, -2.0, 0.4), atol=1e-12)
    np.testing.assert_allclose(solid.second, second, atol=1e-12)
    inwards = mass_properties(body.vertices, body.faces[:, ::-1])
    np.testing.assert_allclose(inwards.second, solid.second, atol=1e-14)


def test_four_points_have_the_bodys_inertia():
    """Their mass, center and second moments; weights give the vertices back, and affine motions."""
    body = box((0.1, 0.2, 0.3), 0.07).move((1.0, 2.0, 3.0), None, (10, 20, 30))
    affine = AffineBody(body, Rigid(mass=2.5), 0)
    p = affine.points
    np.testing.assert_allclose(p.mean(0), affine.solid.center, atol=1e-12)
    off = p - p.mean(0)
    np.testing.assert_allclose(off.T @ off / 4, affine.solid.second, atol=1e-14)
    W = affine.weights(body.vertices)
    np.testing.assert_allclose(W.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(W @ p, body.vertices, atol=1e-12)
    A = np.random.default_rng(1).normal(size=(3, 3))
    np.testing.assert_allclose(W @ (p @ A.T + 1), body.vertices @ A.T + 1, atol=1e-12)


def test_angular_momentum_and_spin_at_the_start():
    """L = I w, and w is what was said."""
    spin, body = (1.0, -2.0, 3.0), box((0.1, 0.2, 0.3), 0.3)
    scene = scene_of([rigid_body(body, mass=2.0, spin=spin, velocity=(0.0, 0.0, 1.0))])
    affine, state = prepare(scene).model.rigid_bodies.affine[0], prepare(scene).state
    linear, angular = affine.momentum(state.x, state.v)
    np.testing.assert_allclose(linear, (0, 0, 2.0), atol=1e-12)
    moments = 2.0 / 12 * np.array([0.13, 0.1, 0.05])
    np.testing.assert_allclose(angular, moments * spin, atol=1e-12)
    np.testing.assert_allclose(affine.spin(state.x, state.v), spin, atol=1e-12)


def test_a_top_to_second_order():
    """BDF2's error in precession and in angular momentum falls as h^2."""
    off = np.array([np.subtract(top(h, 0.12)[:2], (top(h, 0.12)[2], 1.0)) for h in (4e-3, 2e-3)])
    assert np.log2(np.abs(off[0] / off[1])) == pytest.approx([2.0, 2.0], abs=0.4)


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
@pytest.mark.parametrize("make", [weft.sheet, weft.spline_sheet])
def test_a_ball_lies_on_cloth(integrator, make):
    """It is held, nothing intersects, and the pins carry everything."""
    cloth = make(9, 9, 0.4, 0.4)
    rim = [weft.Pin(cloth.border(side)) for side in ("left", "right")]
    ball = rigid_body(sphere(0.06, 0.04).move((0.01, 0.064, -0.01)), mass=0.2)
    how = {"integrator": integrator, "contact": weft.SelfContact(gap=2e-3, friction=0.3)}
    scene = scene_of([ball], cloth, pins=rim, **how)
    model, state, reports = stepped(scene, 70, watch=nothing_crosses)
    assert model.rigid_bodies.affine[0].describe_motion(state.x, state.v)["center"][1] > 0.02
    assert reports[-1].contact["count"] > 0 and reports[-1].terms["rigidity"] < 1e-3


def test_slopes_stick_and_slide_by_their_angle():
    """tan a < mu holds at 15 degrees with mu = 0.3, and not at 18.4; the angle is 16.7."""
    assert np.abs(slide(15.0, 0.3)[-10:]).max() < 1e-4
    faster = slide(18.4, 0.3)
    assert faster[-1] > faster[len(faster) // 2] + 0.03


def test_bodies_meet_one_another_and_keep_momentum():
    """Two boxes that fly at each other: nothing passes through, the momentum of both stays."""
    left = rigid_body(box((0.1, 0.1, 0.1), 0.1, "left"), mass=1.0, velocity=(1.0, 0.1, 0.0))
    right = rigid_body(
        box((0.1, 0.1, 0.1), 0.05, "right").move((0.17, 0.02, 0.01), None, (10, 20, 30)),
        mass=2.0,
        velocity=(-1.0, 0.0, 0.0),
    )
    scene = scene_of(
        [left, right],
        gravity=(0.0, 0.0, 0.0),
        integrator="bdf2",
        contact=weft.SelfContact(2e-3, friction=0.4),
        settings=weft.StepSettings(tolerance=1e-6),
    )
    start, mass = prepare(scene).state, prepare(scene).model.mass[-8:]
    _, state, reports = stepped(scene, 30, 5e-3, nothing_crosses)
    assert 0 < min(report.contact["least_distance"] or 1 for report in reports) < 2e-3
    np.testing.assert_allclose(mass @ state.v[-8:], mass @ start.v[-8:], atol=1e-5)
    assert state.v[-8:-4, 0].mean() < 0  # it was pushed back


def test_a_moving_body_pushes_a_rigid_one():
    """A plate that rises lifts a box, however far in one step."""
    lift = plate(0.4, 0.4, 0.2, "lift").move((0, 0, 0), along(0, 0.2, 0, seconds=0.2))
    brick = rigid_body(box((0.1, 0.1, 0.1), 0.1, "brick").move((0.0, 0.052, 0.0)), mass=1.0)
    _, state, _ = stepped(scene_of([lift, brick]), 20, watch=nothing_crosses)
    assert state.x[-4:, 1].mean() > 0.25


def rolling():
    """A ball that spins falls on cloth on a floor."""
    ball = sphere(0.05, 0.04, "ball").move((0.0, 0.06, 0.0))
    bodies = [rigid_body(ball, mass=0.1, spin=(0, 5, 0)), plane(4.0).move((0.0, -0.02, 0.0))]
    contact = weft.SelfContact(gap=2e-3, friction=0.5)
    return scene_of(bodies, CLOTH, pins=[], contact=contact, integrator="bdf2")


def test_runs_resume_bitwise_and_tell_of_bodies(tmp_path):
    """Frames hold all bodies in the scene's order; metrics where rigid ones are."""
    whole, start = resumes_bitwise(rolling, 6, [3], tmp_path), sphere(0.05, 0.04)
    assert whole.positions().shape == (25, 3)
    ball, n = whole.metrics[-1]["bodies"][0], len(start.vertices)
    assert ball["name"] == "ball" and len(whole.body_positions()) == n + 25
    shown = whole.body_positions()[:n]
    center = mass_properties(shown, start.faces).center
    np.testing.assert_allclose(center, ball["center"], atol=1e-9)
    turned = start.vertices @ np.array(ball["rotation"]).T + ball["center"]
    np.testing.assert_allclose(shown, turned, atol=1e-5)
    assert whole.body_positions()[n:, 1].max() == -0.02
    assert {"rigidity", "contact"} <= whole.metrics[-1]["energies"].keys()
    whole.save(tmp_path / "last.obj")


BALL = sphere(0.1, 0.05, "ball")
OPEN = dataclasses.replace(BALL, faces=BALL.faces[1:])
MOVED = Path([Keyframe(0.0)], hold=True)
THICK = weft.SelfContact(gap=2e-3, thickness=2e-3)


def model_of(body, *others, cloth=AWAY, **more):
    """The model of a scene with a rigid body and others."""
    return prepare(scene_of([rigid_body(body, mass=1.0), *others], cloth, **more)).model


REFUSED = {
    "open": (partial(model_of, OPEN), ("ball.rigid", "3 border edges")),
    "neither": (Rigid, ("rigid.mass, rigid.density", "neither")),
    "joint": (partial(Joint, "screw"), ("kind", "'screw'", "ball")),
    "path": (
        partial(dataclasses.replace, BALL, path=MOVED, rigid=Rigid(1.0)),
        ("ball.rigid", "path"),
    ),
    "intersecting": (
        partial(model_of, BALL, plate(1, 1, name="floor")),
        ("bodies at the start", "84 pairs of faces", "ball and floor"),
    ),
    "too near": (
        partial(model_of, BALL, plane(name="floor").move((0, -0.101, 0)), contact=THICK),
        ("bodies at the start", "ball and floor", "0.001 m"),
    ),
    "resolve": (
        partial(model_of, BALL, contact=weft.SelfContact(resolve=True)),
        ("resolve", "rigid bodies"),
    ),
    "one solve": (
        partial(model_of, BALL, integrator="bdf2_semi_implicit"),
        ("ball.rigid", "bdf2_semi_implicit", "backward_euler"),
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, words = REFUSED[case]
    with refused(SceneError, words):
        make()


def test_scene_files(tmp_path):
    """Units, joints, and what is wrong at its line."""
    text = """cloth: {sheet: {nx: 3, ny: 3}}
bodies:
  - name: ball
    sphere: {radius: 5 cm}
    translation: [0, 20 cm, 0]
    rigid:
      mass: 300 g
      velocity: [0, 36 km/h, 0]
      spin: [0, 180 deg/s, 0]
      joints:
        - {kind: ball, point: [0, 1 m, 0]}
"""
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    (body,) = load_scene(path).scene.bodies
    assert body.rigid.mass == 0.3 and body.rigid.velocity == (0.0, 10.0, 0.0)
    assert body.rigid.spin == pytest.approx((0.0, np.pi, 0.0))
    assert body.rigid.joints[0] == Joint("ball", (0.0, 1.0, 0.0))
    (told,) = [fact for fact in check(path).facts if "rigid" in fact]
    assert told.startswith("ball: rigid, 0.3 kg")
    path.write_text(text.replace("mass: 300 g", "mass: -300 g"))
    with refused(WeftError, "bodies.0.rigid.mass", where="scene.yaml:7"):
        load_scene(path)


def test_attachments_to_bodies_beside_rigid_ones():
    """They follow the others, with the ids of bodies' vertices in the right places."""
    ball = rigid_body(sphere(0.05, 0.04, "ball").move((0.0, 0.3, 0.0)), mass=0.1)
    pole = capsule(0.02, 0.4, 0.02, "pole").move((0.0, 0.0, -0.175), None, (0, 0, 90))
    tie = weft.AttachToBody(CLOTH.border("top"), "pole")
    scene = scene_of([ball, pole], CLOTH, pins=[], attachments=[tie])
    _, state, _ = stepped(scene, 20)
    assert state.x[CLOTH.border("top"), 1].min() > -0.02
