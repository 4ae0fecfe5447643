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
from weft.contact import capsule, intersections, sphere
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


@pytest.mark.parametrize("depth", [7e-3, 30e-3])
def test_a_tube_that_is_wholly_inside(depth):
    cloth = tube(0.1 - depth)
    assert len(prepare(start(cloth, trunk())).model.contact.crossings(cloth.vertices)) == 0
    scene = start(cloth, trunk())
    assert_outside(scene, 1.1 * 0.1 / (0.1 - depth) + 0.05)
    assert f"pushed {len(cloth.vertices)} vertices of cloth out of trunk" in str(
        untangled_start(scene)
    )


def split_at_every_face(body):
    return Body(
        body.vertices[body.faces].reshape(-1, 3), np.arange(3 * len(body.faces)).reshape(-1, 3)
    )


def inside_out(body):
    return Body(body.vertices, body.faces[:, ::-1])


@pytest.mark.parametrize("change", [split_at_every_face, inside_out])
def test_bodies_of_any_orientation_and_split_vertices(change):
    assert_outside(start(tube(0.085), change(trunk())), 1.35)


def test_a_tube_that_is_partly_inside():
    assert_outside(start(tube(0.11, center=(0.03, 0, 0)), trunk()), 1.3)


def test_layers_keep_their_order():
    radii = (0.085, 0.09, 0.095)
    cloth = weft.join([tube(r) for r in radii])
    scene = start(cloth, trunk())
    assert_outside(scene, 1.35)
    n = len(cloth.vertices) // 3
    r = np.hypot(*prepare(scene).state.x[:, [0, 2]].T)
    assert r[:n].mean() < r[n : 2 * n].mean() < r[2 * n :].mean()


def test_a_coarse_box(tmp_path):
    """Its eight corners are far from the cloth; energy does not jump when it is simulated."""
    from weft.contact import box

    cloth = weft.sheet(9, 9, 0.2, 0.2).move((0.01, 0.08, 0))
    scene = start(cloth, box((0.6, 0.2, 0.6), 1.0))
    assert_outside(scene, 1.05)
    done = weft.simulate(scene, frames=2, fps=50, out=tmp_path / "run", progress=False)
    assert [m["intersections"] for m in done.metrics if "intersections" in m] == [0, 0]
    assert max(m["energies"]["membrane"] for m in done.metrics) < 1e-3
    assert np.abs(done.positions(2) - done.positions(0)).max() < 0.01


@pytest.mark.parametrize("height, way", [(0.01, 1.0), (-0.01, -1.0)])
def test_out_of_a_thin_arm_by_the_shorter_way(height, way):
    arm = capsule(0.025, 0.2, 0.015, name="arm").move((0, 0, 0), None, (90, 0, 0))
    cloth = weft.sheet(11, 11, 0.12, 0.12).move((0, height, 0))
    scene = start(cloth, arm)
    assert_outside(scene, 1.2)
    middle = np.argmin((cloth.vertices**2).sum(1))
    assert way * prepare(scene).state.x[middle, 1] > 0.025


@pytest.mark.parametrize(
    "cloth, got",
    [
        (tube(0.04, 20, 9, center=(-0.05, 0, 0)), "leads to the inside of cloth"),
        (weft.sheet(9, 9, 0.2, 0.2).move((0, 0, 0), (80, 0, 0)), "before (cloth and arm"),
    ],
    ids=["sleeve", "sheet"],
)
def test_no_side_of_a_thin_arm_is_right(cloth, got):
    """A sleeve whose wall is beyond the middle of the arm, and a sheet in the middle."""
    with refused(SceneError, "contact.resolve", got=got):
        prepare(start(cloth, capsule(0.025, 0.3, 0.015, name="arm")))


def test_too_deep():
    cloth = weft.sheet(9, 9, 0.4, 0.4).move((0, 0.06, 0))
    with refused(SceneError, "contact.resolve", got="cloth is 39", expected="at most 31 mm"):
        prepare(start(cloth, sphere(0.1, 0.04)))


def test_pins_inside_are_named():
    cloth = tube(0.09)
    pins = [Pin(np.arange(3, dtype=np.int32), name="waist")]
    with refused(SceneError, "contact.resolve", got="waist holds 3 vertices of cloth inside trunk"):
        prepare(start(cloth, trunk(), pins=pins))


def test_an_open_body_has_no_inside():
    whole = trunk()
    faces = whole.faces[whole.vertices[whole.faces].mean(1)[:, 1] < 0.15]
    shell = Body(whole.vertices, faces, name="shell")
    assert Solid(whole.vertices, whole.faces).has_inside
    assert not Solid(shell.vertices, shell.faces).has_inside
    with refused(SceneError, "contact.resolve", hint="shell: open"):
        prepare(start(tube(0.095, center=(0.02, 0, 0)), shell))


def test_cloth_in_a_room_stays():
    room = sphere(0.5, 0.2, name="room")
    cloth = weft.sheet(5, 5, 0.2, 0.2)
    scene = start(cloth, room)
    with pytest.warns(UserWarning, match="inside room near .* stays there"):
        np.testing.assert_array_equal(prepare(scene).state.x, cloth.vertices)


def test_no_room_between_bodies():
    """Cloth inside two bodies that overlap."""
    left, right = (
        sphere(0.1, 0.04, name=n).move((x, 0, 0)) for n, x in (("a", -0.09), ("b", 0.09))
    )
    cloth = weft.sheet(7, 7, 0.05, 0.05).move((0, 0, 0), (0, 0, 90))
    with refused(SceneError, "contact.resolve", got="no room to push cloth out of a, "):
        prepare(start(cloth, left, right))


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
    assert len(intersections(solid.erode(0.02), body.faces)) == 0


@pytest.mark.parametrize("size", [1e30, 0.0])
def test_a_body_of_no_size_or_of_any_has_no_inside(size):
    body = sphere(0.1, 0.05)
    assert Solid(body.vertices, body.faces).has_inside
    assert not Solid(size * body.vertices, body.faces).has_inside
