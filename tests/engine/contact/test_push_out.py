"""Cloth that starts inside a body is pushed out, or one error names where and how deep it is."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import SceneError
from weft.bodies.body import Body
from weft.bodies.erosion import Solid
from weft.bodies.motion.pins import Pin
from weft.contact import box, capsule, sphere
from weft.contact.settings import SelfContact
from weft.discretization.mesh import TriangleMesh
from weft.run.plausibility import about_cloth_inside
from weft.scene.prepare import prepare, untangled_start
from weft.scene.scene import Scene

pytestmark = pytest.mark.exact_start
GAP = 4e-3


def tube(radius, n=24, rows=5, height=0.16, center=(0.0, 0.0, 0.0)):
    """A tube of cloth around y, at rest."""
    flat = weft.sheet(n + 1, rows, 2 * np.pi * radius, height)
    u = flat.vertices[:, 0] / radius
    x = np.stack([radius * np.cos(u), flat.vertices[:, 2], radius * np.sin(u)], axis=1)
    _, first, ids = np.unique(x.round(9), axis=0, return_index=True, return_inverse=True)
    mesh = TriangleMesh(x[first] + center, ids.reshape(-1)[flat.faces], flat.mesh.corner_uv)
    return dataclasses.replace(flat, mesh=mesh)


def trunk(radius=0.1):
    return capsule(radius, 0.3, 0.04, name="trunk")


def start(cloth, *bodies, pins=(), **settings):
    contact = SelfContact(GAP, resolve=True, **settings)
    return Scene(cloth, list(pins), bodies=bodies, contact=contact, rest_angles="as-given")


def assert_outside(scene, stretch):
    """Assert that nothing intersects, all cloth is outside, and no edge is torn or collapsed."""
    ready = prepare(scene)
    x, contact = ready.state.x, ready.model.contact
    assert len(contact.crossings(x)) == 0
    assert contact.least_distance(x) > 0.1 * GAP
    assert all(Solid(b.vertices, b.faces).depth(x).max() < 0 for b in scene.bodies)
    edges = contact.mesh.edges[contact.mesh.edges[:, 1] < len(x)]
    before, after = (
        np.linalg.norm(np.diff(y[edges], axis=1), axis=2) for y in (scene.cloth.vertices, x)
    )
    assert (after / before).min() > 0.7 and (after / before).max() < stretch


def split_at_every_face(body):
    corners = body.vertices[body.faces].reshape(-1, 3)
    return Body(corners, np.arange(len(corners)).reshape(-1, 3))


def inside_out(body):
    return Body(body.vertices, body.faces[:, ::-1])


ARM = capsule(0.025, 0.2, 0.015, name="arm").move((0, 0, 0), None, (90, 0, 0))
PATCH = weft.sheet(11, 11, 0.12, 0.12)
OUTSIDE = {  # cloth, a body, and by how much edges may stretch
    "wholly inside": (tube(0.093), trunk(), 1.23),
    "wholly inside, deep": (tube(0.07), trunk(), 1.62),
    "split vertices": (tube(0.085), split_at_every_face(trunk()), 1.35),
    "inside out": (tube(0.085), inside_out(trunk()), 1.35),
    "in a coarse box": (PATCH.move((0.01, 0.08, 0)), box((0.6, 0.2, 0.6), 1.0), 1.05),
    "partly inside": (tube(0.11, center=(0.03, 0, 0)), trunk(), 1.3),
    "above the middle": (PATCH.move((0, 0.01, 0)), ARM, 1.2),
    "below the middle": (PATCH.move((0, -0.01, 0)), ARM, 1.2),
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_cloth_is_pushed_out(case):
    """Bodies may have any orientation; out of a thin arm it goes by the shorter way."""
    cloth, body, stretch = OUTSIDE[case]
    scene = start(cloth, body)
    assert_outside(scene, stretch)
    if body is ARM:
        middle, way = np.argmin((cloth.vertices**2).sum(1)), np.sign(cloth.vertices[0, 1])
        assert way * prepare(scene).state.x[middle, 1] > 0.025
    if case.startswith("wholly"):
        assert f"pushed {len(cloth.vertices)} vertices" in str(untangled_start(scene))


def test_layers_keep_their_order():
    radii = (0.085, 0.09, 0.095)
    cloth = weft.join([tube(r) for r in radii])
    scene = start(cloth, trunk())
    assert_outside(scene, 1.35)
    n = len(cloth.vertices) // 3
    r = np.hypot(*prepare(scene).state.x[:, [0, 2]].T)
    assert r[:n].mean() < r[n : 2 * n].mean() < r[2 * n :].mean()


FLAT_ARM = capsule(0.025, 0.3, 0.015, name="arm")
TWO = [sphere(0.1, 0.04, n).move((x, 0, 0)) for n, x in (("a", -0.09), ("b", 0.09))]
WAIST = Pin(np.arange(3, dtype=np.int32), name="waist")
REFUSED = {
    # a sleeve whose wall is beyond the middle of the arm, and a sheet in the middle
    "sleeve": (
        start(tube(0.04, 20, 9, center=(-0.05, 0, 0)), FLAT_ARM),
        "leads to the inside of cloth",
    ),
    "sheet": (
        start(weft.sheet(9, 9, 0.2, 0.2).move((0, 0, 0), (80, 0, 0)), FLAT_ARM),
        "24 pairs of faces still intersect, 98 before: arm and cloth",
    ),
    "too deep": (
        start(weft.sheet(9, 9, 0.4, 0.4).move((0, 0.06, 0)), sphere(0.1, 0.04)),
        "cloth is 39",
    ),
    "pins": (
        start(tube(0.09), trunk(), pins=[WAIST]),
        "waist holds 3 vertices of cloth inside trunk",
    ),
    "no room": (  # cloth inside two bodies that overlap
        start(weft.sheet(7, 7, 0.05, 0.05).move((0, 0, 0), (0, 0, 90)), *TWO),
        "no room to push cloth out of a, ",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_pushed_out_is_refused(case):
    scene, got = REFUSED[case]
    with refused(SceneError, "contact.resolve", got=got):
        prepare(scene)


def test_an_open_body_has_no_inside():
    whole = trunk()
    faces = whole.faces[whole.vertices[whole.faces].mean(1)[:, 1] < 0.15]
    shell = Body(whole.vertices, faces, name="shell")
    with refused(SceneError, "contact.resolve", hint="shell: this body is open"):
        prepare(start(tube(0.095, center=(0.02, 0, 0)), shell))


def test_cloth_in_a_room_stays():
    room = sphere(0.5, 0.2, name="room")
    cloth = weft.sheet(5, 5, 0.2, 0.2)
    scene = start(cloth, room)
    with pytest.warns(UserWarning, match="inside room near .* stays there"):
        np.testing.assert_array_equal(prepare(scene).state.x, cloth.vertices)


def test_check_warns_of_cloth_that_is_wholly_inside():
    """Nothing intersects, so the scene is accepted; a room is not warned of."""
    (warning,) = about_cloth_inside(Scene(tube(0.09), bodies=[trunk()], contact=SelfContact(GAP)))
    assert warning.startswith("cloth is inside trunk by up to 10") and "resolve: true" in warning
    cloth = weft.sheet(5, 5, 0.2, 0.2)
    assert not list(about_cloth_inside(Scene(cloth, bodies=[sphere(0.5, 0.2)])))
    assert not list(about_cloth_inside(Scene(tube(0.11), bodies=[trunk()])))


def test_erosion_goes_to_the_depth_or_to_the_middle():
    body = capsule(0.1, 0.3, 0.03)
    solid = Solid(body.vertices, body.faces)
    np.testing.assert_allclose(solid.depth(solid.erode(0.02)), 0.02, atol=2e-4)
    assert solid.depth(solid.erode(0.2)).min() > 0.08
