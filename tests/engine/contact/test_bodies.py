"""Bodies: shapes, cloth that rests on them, is pushed and carried by them, and pictures of both."""

import numpy as np
import pytest
from PIL import Image

import weft
from tests.refusals import refused
from tests.stepping import stepped
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.contact import Body, intersections, plate, sphere
from weft.laws import Psd
from weft.scene.build import load_scene
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

GAP = 5e-3


def crossings(scene, x, t):
    """Pairs of faces of the cloth with anything."""
    cloth = scene.cloth
    faces, points, first = [cloth.faces], [x], len(x)
    for body in scene.bodies:
        faces.append(body.faces + first)
        points.append(body.at(t))
        first += len(body.vertices)
    pairs = intersections(np.concatenate(points), np.concatenate(faces))
    return int((pairs[:, 0] < len(cloth.faces)).sum())


def run(scene, steps):
    def watch(model, state, report):
        assert crossings(scene, state.x, state.t) == 0

    return stepped(scene, steps, 0.02, watch)[:2]


def test_shapes():
    ball = sphere(0.3, 0.1)
    np.testing.assert_allclose(np.linalg.norm(ball.vertices, axis=1), 0.3, rtol=1e-12)
    a, b, c = np.moveaxis(ball.vertices[ball.faces], 1, 0)
    volume = np.einsum("mi,mi->", a, np.cross(b, c)) / 6
    assert 0.95 < volume / (4 / 3 * np.pi * 0.3**3) < 1  # closed, facing outwards
    assert np.linalg.norm(b - a, axis=1).max() <= 0.1
    table = plate(1.0, 0.5, 0.25)
    assert np.ptp(table.vertices, axis=0).tolist() == [1.0, 0.0, 0.5]
    assert len(intersections(ball.vertices, ball.faces)) == 0


def test_a_sheet_falls_on_a_sphere_and_stays():
    cloth = weft.sheet(13, 13, 0.4, 0.4).move((0.01, 0.215, 0.005))
    ball = sphere(0.1, 0.04).move((0, 0.1, 0))
    scene = Scene(cloth, bodies=[ball], contact=weft.SelfContact(GAP, friction=0.5))
    model, state = run(scene, 30)
    middle = state.x[len(state.x) // 2]
    assert 0.2 < middle[1] < 0.21 and state.x[:, 1].min() < 0.15
    assert 0 < model.contact.least_distance(state.x) < GAP


def test_a_moving_plate_pushes_and_a_table_holds():
    """Pressed between two plates: the cloth stays between them, and the run goes on."""
    cloth = weft.sheet(9, 9, 0.2, 0.2, fabric="felt").move((0, 4e-3, 0))
    down = Path([Keyframe(0.0), Keyframe(0.4, (0.0, -0.012, 0.0))], "linear", hold=True)
    press = plate(0.3, 0.3).move((0, 0.02, 0), down)
    scene = Scene(cloth, bodies=[plate(0.5, 0.5), press], contact=weft.SelfContact(GAP))
    _, state = run(scene, 25)
    assert (state.x[:, 1] > 0).all() and (state.x[:, 1] < 0.008).all()


def test_friction_carries_cloth_along_with_a_moving_plate():
    """A table that moves sideways by 0.2 m: without friction the cloth stays, but for what edges
    that cross give it; with friction it comes along.
    """
    aside = Path([Keyframe(0.0), Keyframe(1.0, (0.4, 0.0, 0.0))], "smooth", hold=True)
    table = Body(plate(2.0, 2.0).vertices, plate(2.0, 2.0).faces, aside)
    moved = {}
    for mu in (0.0, 0.6):
        cloth = weft.sheet(7, 7, 0.2, 0.2).move((0.013, 3e-3, 0.021), (0, 17, 0))
        contact = weft.SelfContact(GAP, friction=mu)
        _, state = run(Scene(cloth, bodies=[table], contact=contact, damping=0.0), 25)
        moved[mu] = float((state.x - cloth.vertices)[:, 0].mean())
    there = float(aside.positions(np.zeros((1, 3)), 0.5)[0, 0])
    assert abs(moved[0.0]) < 1e-2
    assert moved[0.6] == pytest.approx(there, rel=0.05)


def test_potential_with_bodies(rng):
    """Value and gradient of Phi; the matrix has no rows of bodies."""
    cloth = weft.sheet(6, 6, 0.2, 0.2).move((0.003, 0.103, 0.002))
    scene = Scene(cloth, bodies=[sphere(0.1, 0.05)], contact=weft.SelfContact(0.02, friction=0.3))
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    phi = stepper.potential(model, state, stepper.init(model, state), 0.02)
    x = state.x + 1e-4 * rng.normal(size=state.x.shape)
    d = 1e-4 * rng.normal(size=x.shape)
    assert phi.terms(x)["contact"] > 0 and phi.terms(x)["friction"] > 0
    h, slope = 1e-4, (phi.gradient(x) * d).sum()
    assert (phi.value(x + h * d) - phi.value(x - h * d)) / (2 * h) == pytest.approx(slope, rel=1e-4)
    H = phi.hessian(x, Psd.PROJECTED).toarray()
    assert H.shape == (108, 108) and np.linalg.eigvalsh(H).min() > 0


def test_a_body_that_would_jump_through_is_met_in_shorter_steps(tmp_path):
    """A sphere that comes at a hanging sheet with 3 m/s, in steps of 1/25 s: 12 cm, 15 gaps."""
    cloth = weft.sheet(11, 11, 0.5, 0.5).move((0, 0.3, 0), (90, 0, 0))
    shot = Path([Keyframe(0.0), Keyframe(0.08, (0.0, 0.0, 0.24))], "linear", hold=True)
    ball = sphere(0.06, 0.04).move((0, 0.3, -0.1), shot)
    scene = Scene(
        cloth,
        [Pin(cloth.corners("top"))],
        bodies=[ball],
        contact=weft.SelfContact(8e-3),
        step=0.04,
    )
    done = weft.simulate(scene, frames=2, fps=25, out=tmp_path / "shot", progress=False)
    for frame in range(3):
        assert crossings(scene, done.positions(frame), frame / 25) == 0
    assert done.positions(-1)[:, 2].max() > 0.15  # carried along
    np.testing.assert_allclose(done.body_positions(-1), ball.at(0.08), atol=1e-12)


def test_files_and_pictures(tmp_path):
    """A scene file with bodies; the run knows where they were, and the picture shows them."""
    (tmp_path / "scene.yaml").write_text(
        "cloth: {sheet: {nx: 9, ny: 9, width: 30 cm, height: 30 cm}, translation: [0, 11 cm, 0]}\n"
        "contact: {gap: 5 mm, friction: 0.2}\n"
        "bodies:\n"
        "  - {name: ball, sphere: {radius: 10 cm, size: 6 cm}}\n"
        "  - {plate: {width: 1 m, depth: 1 m}, translation: [0, -10 cm, 0],\n"
        "     path: {keyframes: [{time: 0}, {time: 1 s, translation: [0, 1 cm, 0]}]}}\n"
        "seconds: 1 s\n"
    )
    scene = load_scene(tmp_path / "scene.yaml").scene
    assert [b.name for b in scene.bodies] == ["ball", "bodies.1"]
    done = weft.simulate(scene, frames=2, fps=50, out=tmp_path / "run", progress=False)
    assert len(done.body_faces) == len(scene.bodies[0].faces) + len(scene.bodies[1].faces)
    done.render(tmp_path / "a.png", look="plain")
    image = np.asarray(Image.open(tmp_path / "a.png").convert("RGB")).astype(int)
    gray = (np.abs(image - image.mean(2, keepdims=True)).max(2) < 3) & (image.mean(2) < 190)
    blue = image[..., 2] > image[..., 0] + 30
    assert gray.sum() > 20_000 and blue.sum() > 20_000
    done.render(tmp_path / "b.png", look="strain")


def test_errors(tmp_path):
    cloth = weft.sheet(7, 7, 0.3, 0.3)
    through = plate(0.1, 0.1)
    turned = Body(through.vertices[:, [1, 0, 2]], through.faces)
    with refused(SceneError, "cloth at the start", got="cloth and body"):
        prepare(Scene(cloth, bodies=[turned]))
    with refused(SceneError, "sphere.radius"):
        sphere(-1.0, 0.1)
    with refused(SceneError, "plate.depth"):
        plate(1.0, 0.0)
    with refused(SceneError, "body.faces"):
        Body(np.zeros((3, 3)), np.array([[0, 1, 3]]))
    with refused(SceneError, "body.vertices"):
        Body(np.full((3, 3), np.nan), np.array([[0, 1, 2]]))
    assert Scene(cloth, bodies=[plate(1.0, 1.0).move((0, -1, 0))]).contact is not None
    path = tmp_path / "scene.yaml"
    text = "cloth: {sheet: {}}\ncontact: {gap: 2 mm}\nbodies: [{name: floor}]\n"
    path.write_text(text)
    with refused(SceneError, "bodies.0"):
        load_scene(path)
    path.write_text(text.replace("name: floor", "sphere: {radius: 0}"))
    with refused(SceneError, "radius"):
        load_scene(path)
