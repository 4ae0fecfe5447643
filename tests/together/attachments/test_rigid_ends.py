"""Cloth that is tied to rigid bodies: both are pulled alike, on triangles and splines, with every
integrator; contact, runs that resume, and bad input.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import InStep, clamp, rotations, still
from tests.refusals import refused
from tests.resuming import whole_and_resumed
from tests.stepping import stepped, steps
from weft.contact import box, capsule
from weft.discretization.polygon import arc_lengths
from weft.energies.springs.point_springs import PointSprings
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.plugins.lab.validate.rigid import rigid_body
from weft.scene.build import load_scene
from weft.scene.prepare import prepare
from weft.solve.newton.psd import Psd

POLE = [(-0.2, 0.03, 0.0), (0.01, 0.03, 0.0), (0.2, 0.03, 0.0)]
DOWN = np.array([0.0, -9.81, 0.0])


def cloth_of(kind):
    """A sheet in the plane z = 0 that hangs down from y = 0."""
    make = weft.sheet if kind == "triangles" else weft.spline_sheet
    return make(6, 6, 0.3, 0.3).move((0.0, -0.15, 0.0), (90.0, 0.0, 0.0))


def rod(joints=(), y=0.03, **how):
    body = capsule(0.01, 0.4, 0.01, "rod").move((0.0, y, 0.0), None, (0, 0, 90))
    return rigid_body(body, mass=0.2, joints=joints, **how)


def every_kind(cloth):
    top, low = cloth.border("top"), cloth.corners("bottom")
    return [
        weft.AttachToBody(top[:1], "rod", name="clip"),
        weft.Rope(top[1:-1], body="rod", length=0.03, name="ropes"),
        weft.Spring(
            top[-1:], body="rod", at=(0.2, 0.03, 0.0), stiffness=50.0, damping=0.01, name="spring"
        ),
        weft.Rope(low[:1], body="rod", length=0.5, name="slack"),
        weft.Slide(top[2:4], POLE, body="rod", radius=0.03, friction=0.2, name="rings"),
    ]


def scene_of(kind="triangles", integrator="backward_euler", **more):
    cloth = cloth_of(kind)
    ropes = [
        weft.contact.Joint("rope", (s, 0.03, 0.0), at=(s, 0.3, 0.0), name=f"rope at {s}")
        for s in (-0.18, 0.18)
    ]
    return weft.Scene(
        cloth,
        bodies=[rod(ropes, spin=(0.0, 1.0, 0.0))],
        attachments=every_kind(cloth),
        integrator=integrator,
        damping=0.0,
        step=0.01,
        contact=weft.SelfContact(gap=3e-3),
        **more,
    )


@pytest.mark.parametrize("surface", ["triangles", "splines"])
@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2", "quasi_static"])
def test_every_kind_with_every_integrator(integrator, surface):
    """What the rod carries is what ropes hold; in steps of backward Euler what attachments pull the
    cloth with and its weight change its momentum, and what pulls the rod changes that of the rod.
    """
    exact = weft.StepSettings(tolerance=1e-6)
    if integrator == "quasi_static":
        exact = QuasiStaticSettings(force_tolerance=1e-5)
    scene = scene_of(surface, integrator, settings=exact)
    taken = list(steps(scene, 2 if integrator == "quasi_static" else 4))
    model, (before, *_), (state, _, report) = prepare(scene).model, *taken[-2:]
    said = report.attachments
    names = {"clip", "ropes", "spring", "slack", "rings"}
    assert said.keys() == names | {"rope at -0.18", "rope at 0.18"}
    assert (said["clip"]["holds"], said["rings"]["holds"], said["slack"]["largest"]) == (1, 2, 0)
    own = model.rigid_bodies.affine[0].own
    weight = model.mass[:, None] * DOWN
    hold = np.sum([v["force"] for k, v in said.items() if k not in names], axis=0)
    pull = np.sum([said[k]["force"] for k in names], axis=0)
    if integrator == "quasi_static":
        np.testing.assert_allclose(hold, -weight.sum(0), atol=1e-4)
        np.testing.assert_allclose(pull, -np.delete(weight, own, 0).sum(0), atol=1e-4)
    if integrator == "backward_euler":
        rate = model.mass[:, None] * (state.v - before.v) / 0.01
        size = 1e-3 * np.abs(weight.sum(0)).max()
        cloth = np.delete(rate - weight, own, 0).sum(0)
        np.testing.assert_allclose(pull, cloth, atol=size)
        np.testing.assert_allclose(hold - pull, (rate - weight)[own].sum(0), atol=size)


def rings_of(rng):
    """Three rings beside a pole of two segments, one beyond its end; points of body and rings."""
    nodes = np.array([[0.9, 0.2, -0.3, 0.2], [0.1, 0.6, 0.2, 0.1], [-0.2, 0.1, 0.5, 0.6]])
    x = np.concatenate([np.zeros((6, 3)), rng.normal(size=(4, 3))])
    rail = nodes @ x[6:]
    along = arc_lengths(rail)
    places = [
        rail[0] + 0.3 * (rail[1] - rail[0]),
        rail[1] + 0.6 * (rail[2] - rail[1]),
        rail[2] + 0.2 * (rail[2] - rail[1]),
    ]
    c, ring = np.array([[0.3, 0.7]] * 3), np.arange(6).reshape(3, 2)
    for ids, place in zip(ring, places):
        spread = 0.05 * rng.normal(size=3)
        x[ids] = place + np.array([0.7, -0.3])[:, None] * spread + 0.03 * rng.normal(size=3)
    rigid_body = PointSprings(
        np.concatenate([ring, np.tile(np.arange(6, 10), (3, 1))], axis=1),
        c,
        np.array([50.0, 80.0, 60.0]),
        "rings",
        length=0.02,
        nodes=nodes,
        along=along,
        friction=0.3,
        slip=0.05,
    )
    return rigid_body, x


@pytest.mark.parametrize("radius", [0.0, 0.02])
@pytest.mark.parametrize("slip", ["none", "soft", "slides"])
def test_derivatives_of_rings(slip, radius):
    """Exact, with a pole that turns and stretches, and friction; forces of ring and body balance,
    and have no torque: rigid motions of both cost nothing.
    """
    rng = np.random.default_rng(4)
    rings, x = rings_of(rng)
    rings = dataclasses.replace(rings, length=radius)
    step = None
    if slip != "none":
        root = rings.coordinates(x)[:, 1] - {"soft": 0.02, "slides": 0.2}[slip]
        step = dataclasses.replace(still(x, dt=0.01, span=0.01), memory={"rings root": root})
    face, d = InStep(rings, len(x), step), rng.normal(size=x.shape)
    face.assert_derivatives(x, d, 1e-7, 1e-6)
    H, force = face.matrix(x), face.gradient(x)
    np.testing.assert_allclose(H, H.T, atol=1e-9 * np.abs(H).max())
    size = np.abs(force).max()
    assert np.abs(force.sum(0)).max() < 1e-9 * size
    assert np.abs(np.cross(x, force).sum(0)).max() < 1e-9 * size
    R = rotations(1)[0]
    np.testing.assert_allclose(face.value(x @ R.T + 1.0), face.value(x), rtol=1e-9)


@pytest.mark.parametrize("psd", [Psd.PROJECTED, Psd.GAUSS_NEWTON])
def test_matrices_of_rings_are_clamped(psd, device):
    """Ring by ring: what the exact matrix lacks are its negative eigenvalues."""
    rings, x = rings_of(np.random.default_rng(4))
    step = still(x, dt=0.01, span=0.01)
    law = rings.parameters(step).law.numpy()
    assert (law["friction"] > 0).all() and (law["pressed"] > 0).all()
    for k in range(3):
        names = ("points", "c", "stiffness")
        one = dataclasses.replace(rings, **{n: getattr(rings, n)[k : k + 1] for n in names})
        face = InStep(one, len(x), step)
        exact = face.matrix(x)
        scale = np.abs(exact).max()
        np.testing.assert_allclose(face.matrix(x, psd), clamp(exact[None])[0], atol=1e-11 * scale)


@pytest.mark.parametrize("mu", [0.0, 0.3, 0.6])
def test_rings_slide_down_a_rod(mu):
    """On one that is held aslant they slide with g (sin a - mu cos a), and rest where tan a < mu;
    what they press a weld holds.
    """
    a = np.radians(25.0)
    cloth = weft.sheet(2, 2, 0.01, 0.01).move((0.0, 0.0, 0.0), (90.0, 0.0, -25.0))
    x0 = cloth.vertices[cloth.corners("top")].mean(0)
    way = np.array([np.cos(a), -np.sin(a), 0.0])
    pole = [tuple(x0 - 0.2 * way), tuple(x0 + 0.6 * way)]
    bar = box((0.05, 0.05, 0.05), 0.05, "bar").move((0.0, 0.5, 0.0))
    bar = rigid_body(bar, mass=1.0, joints=[weft.contact.Joint("weld")])
    slide = weft.Slide(cloth.corners("top"), pole, body="bar", friction=mu, name="rings")
    how = {"integrator": "bdf2", "settings": weft.StepSettings(tolerance=1e-6)}
    scene = weft.Scene(cloth, bodies=[bar], attachments=[slide], **how)
    _, state, _ = stepped(scene, 60, 2e-3)
    speed = float(state.v[:4].mean(0) @ way)
    if np.tan(a) < mu:
        assert abs(speed) < 0.02
    else:
        assert speed == pytest.approx(9.81 * (np.sin(a) - mu * np.cos(a)) * 0.12, rel=0.08)


def test_runs_resume_bitwise(tmp_path):
    whole_and_resumed(scene_of(integrator="bdf2"), tmp_path, fps=50)


BODIES = "bodies: [{name: rod, capsule: {radius: 1 cm, length: 40 cm}, translation: [0, 3 cm, 0], rigid: {mass: 1 kg}}]\n"  # noqa: E501


@pytest.mark.parametrize(
    "block, match",
    [
        ("kind: body, border: top, body: rood", ("body", "'rood'", "'rod'")),
        ("kind: body, border: top, body: rod", ("within", "rod")),
        ("kind: rope, border: top, body: rod, length: 1 mm", "length"),
        (
            "kind: slide, border: top, body: rod, along: [[-1, 1, -0.5], [1, 1, -0.5]], "
            "spacing: 1 cm",
            ("spacing", "0.01 m, on the rigid body 'rod'"),
        ),
    ],
)
def test_named_errors(tmp_path, block, match):
    path = tmp_path / "scene.yaml"
    sheet = "cloth: {sheet: {nx: 5, ny: 5}, translation: [0, 1 m, 0]}\n"
    path.write_text(sheet + BODIES + "attachments:\n  - {" + block + "}\n")
    with refused(weft.WeftError, match) as caught:
        load_scene(path)
    assert "scene.yaml:" in str(caught.value)
