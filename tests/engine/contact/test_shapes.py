"""Shapes of bodies, bodies from files, and bodies that deform."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import SceneError, WeftError
from weft.bodies.motion.pins import Keyframe, Path
from weft.bodies.rigid.mass_properties import mass_properties
from weft.contact import (
    Body,
    BodyFrames,
    box,
    capsule,
    intersections,
    load_body,
    load_frames,
    plate,
    ring,
    sphere,
)
from weft.io.obj import write_obj
from weft.run.check_scene import check
from weft.scene.body_schema import SOURCES, BodyBlock
from weft.scene.build import load_scene
from weft.scene.prepare import prepare
from weft.scene.scene import Scene


def volume(body):
    a, b, c = np.moveaxis(body.vertices[body.faces], 1, 0)
    return np.einsum("mi,mi->", a, np.cross(b, c)) / 6


def check_closed(body, expected):
    """Closed, facing outwards, of the volume of the smooth shape, and nothing intersects."""
    assert body.flaws == [] and volume(body) == pytest.approx(expected, rel=0.02)
    assert len(intersections(body.vertices, body.faces)) == 0
    assert mass_properties(body.vertices, body.faces).volume == pytest.approx(volume(body))


CLOSED = {
    "sphere": (sphere(0.3, 0.03), 4 / 3 * np.pi * 0.3**3),
    "capsule": (capsule(0.1, 0.3, 0.01), np.pi * 0.1**2 * 0.3 + 4 / 3 * np.pi * 0.1**3),
    "box": (box((0.2, 0.3, 0.4), 0.07), 0.2 * 0.3 * 0.4),
    "ring": (ring(0.2, 0.05, 0.01), 2 * np.pi**2 * 0.2 * 0.05**2),
}


@pytest.mark.parametrize("name", CLOSED)
def test_closed_shapes(name):
    check_closed(*CLOSED[name])


SIZES = {
    "sphere": {"radius": 0.3},
    "plate": {"width": 1.0, "depth": 2.0},
    "capsule": {"radius": 0.1, "length": 0.3},
    "box": {"width": 0.2, "height": 0.3, "depth": 0.4},
    "ring": {"radius": 0.2, "thickness": 0.05},
    "mannequin": {},
    "cylinder": {"radius": 0.1, "length": 0.3},
    "cone": {"radius": 0.1, "height": 0.3, "top": 0.02},
    "disk": {"radius": 0.3},
}
WITHOUT_SIZE = ("plane", "height_field", "distance_grid", "mesh", "smpl", "urdf", "mjcf")


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in WITHOUT_SIZE])
def test_blocks_make_shapes(name):
    """Each shape of scene files is a registered source, and a field."""
    kind, block = BodyBlock(**{name: {**SIZES[name], "size": 0.02}}).shape
    body = block.make("it")
    assert kind == name and body.name == "it"


def test_flaws():
    ball = sphere(0.1, 0.05)
    assert "open" in Body(ball.vertices, ball.faces[1:]).flaws[0]
    assert "inside out" in Body(ball.vertices, ball.faces[:, ::-1]).flaws[0]
    assert plate(1.0, 1.0).flaws == []
    with refused(SceneError, "ring thickness"):
        ring(0.1, 0.2, 0.05)
    with refused(SceneError, "capsule.length"):
        capsule(0.1, 0.0, 0.05)


def test_rigid_motion():
    """Rotated, then moved, then along its path about its own center."""
    turn = Path([Keyframe(0.0), Keyframe(1.0, rotation=np.pi / 2)], "linear", hold=True)
    body = box((0.4, 0.1, 0.1), 0.1).move((1.0, 0.0, 0.0), turn, (0.0, 90.0, 0.0))
    np.testing.assert_allclose(np.ptp(body.at(0.0), axis=0), [0.1, 0.1, 0.4], atol=1e-12)
    np.testing.assert_allclose(np.ptp(body.at(1.0), axis=0), [0.4, 0.1, 0.1], atol=1e-12)
    np.testing.assert_allclose(body.at(1.0).mean(0), [1.0, 0.0, 0.0], atol=1e-9)


def write_walk(folder, count=4, skip=(), damage=None):
    """A sphere that swells, in numbered files; centimeters."""
    ball = sphere(10.0, 4.0)
    for k in range(count):
        if k in skip:
            continue
        faces = ball.faces[:-1] if k == damage else ball.faces
        write_obj(folder / f"walk_{k + 1:04d}.obj", ball.vertices * (1 + 0.1 * k), faces)
    return ball


def test_frames_from_files(tmp_path):
    ball = write_walk(tmp_path)
    frames, faces = load_frames(tmp_path / "walk_*.obj", 10.0, scale=0.01, start=0.5)
    np.testing.assert_array_equal(faces, ball.faces)
    np.testing.assert_allclose(frames.times, [0.5, 0.6, 0.7, 0.8])
    np.testing.assert_allclose(frames.at(0.0), 0.01 * ball.vertices)
    np.testing.assert_allclose(frames.at(0.65), 0.01 * ball.vertices * 1.15)
    np.testing.assert_allclose(frames.at(9.0), 0.01 * ball.vertices * 1.3)
    np.savez(tmp_path / "walk.npz", positions=frames.positions, faces=faces)
    again, _ = load_frames(tmp_path / "walk.npz", 10.0)
    np.testing.assert_allclose(again.positions, frames.positions)
    body = load_body(tmp_path / "walk_0001.obj", 0.01)
    np.testing.assert_allclose(body.vertices, frames.positions[0])


def test_an_array_file_that_says_its_times_keeps_them(tmp_path):
    """Without a rate; another rate is obeyed, and told."""
    ball, times = sphere(1.0, 0.5), np.array([1.0, 1.1, 1.4])
    x = np.stack([ball.vertices * (1 + t) for t in times])
    np.savez(tmp_path / "a.npz", positions=x, faces=ball.faces, times=times)
    frames, _ = load_frames(tmp_path / "a.npz", start=0.5)
    np.testing.assert_allclose(frames.times, [0.5, 0.6, 0.9])
    with pytest.warns(UserWarning, match=r"takes 0.2 s for 0.4 s"):
        assert load_frames(tmp_path / "a.npz", 10.0)[0].times[-1] == 0.2
    np.savez(tmp_path / "b.npz", positions=x, faces=ball.faces)
    np.savez(tmp_path / "c.npz", positions=x, faces=ball.faces, times=times[::-1])
    for name, match in (("b", ("fps", "none")), ("c", ("body.frames", "times", "c.npz"))):
        with refused(SceneError, match):
            load_frames(tmp_path / f"{name}.npz")


def test_frames_that_cannot_be_used(tmp_path):
    write_walk(tmp_path, skip=(2,))
    with refused(SceneError, "body.frames", got="3", expected="1 to 4"):
        load_frames(tmp_path / "walk_*.obj", 10.0)
    write_walk(tmp_path, damage=1)
    with refused(SceneError, "body.frames", where="walk_0002.obj"):
        load_frames(tmp_path / "walk_*.obj", 10.0)
    with refused(SceneError, "body.frames", got="run_*.obj"):
        load_frames(tmp_path / "run_*.obj", 10.0)
    with refused(SceneError, "fps", got="0"):
        load_frames(tmp_path / "walk_*.obj", 0.0)
    with refused(SceneError, "body.frames", expected="positions (k,b,3)", where="none.npz"):
        load_frames(tmp_path / "none.npz", 10.0)
    with refused(SceneError, "frames.times"):
        BodyFrames([0.0, 0.0], np.zeros((2, 4, 3)))
    with refused(SceneError, "ball.frames", got="1 s", expected="2 s"):
        BodyFrames([0.0, 1.0], np.zeros((2, 4, 3))).check_until(2.0, "ball")
    with refused(SceneError, "body.frames", got="4 vertices"):
        Body(np.eye(3), [[0, 1, 2]], frames=BodyFrames([0.0], np.zeros((1, 4, 3))))


def test_a_body_that_swells_lifts_the_cloth(tmp_path):
    """A scene file with frames: the sheet is pushed, and nothing intersects."""
    write_walk(tmp_path)
    (tmp_path / "scene.yaml").write_text(
        "cloth: {sheet: {nx: 11, ny: 11, width: 0.2, height: 0.2}, translation: [0, 0.107, 0]}\n"
        "contact: {gap: 5 mm, friction: 0.3}\n"
        "bodies:\n"
        "  - {name: ball, mesh: {file: walk_*.obj, scale: 1 cm, fps: 10}}\n"
        "step: 20 ms\nseconds: 0.3 s\nfps: 50\n"
    )
    loaded = load_scene(tmp_path / "scene.yaml")
    run = weft.simulate(loaded.scene, frames=10, fps=50, out=tmp_path / "run", progress=False)
    assert [m["intersections"] for m in run.metrics] == [0] * 10
    assert run.positions(-1)[60, 1] > 0.115  # the middle
    np.testing.assert_allclose(run.body_positions(-1), loaded.scene.bodies[0].at(0.2))
    text = (tmp_path / "scene.yaml").read_text()
    (tmp_path / "late.yaml").write_text(text.replace("seconds: 0.3", "seconds: 0.4"))
    with refused(WeftError, "ball.frames", hint="hold: true"):
        load_scene(tmp_path / "late.yaml")


def test_check_tells_of_flaws(tmp_path):
    ball = sphere(0.1, 0.05)
    write_obj(tmp_path / "open.obj", ball.vertices, ball.faces[3:])
    (tmp_path / "scene.yaml").write_text(
        "cloth: {sheet: {nx: 5, ny: 5}, translation: [0, 1, 0]}\ncontact: {gap: 5 mm}\n"
        "bodies: [{name: bowl, mesh: {file: open.obj}}, {plate: {}}]\n"
    )
    found = check(tmp_path / "scene.yaml")
    flaws = [text for text in found.warnings if "folds" not in text]  # 25 cm are coarse
    assert not found.errors and len(flaws) == 1
    assert "bowl is open" in flaws[0]


def test_bodies_pass_through_one_another():
    """A box that stands in a floor is no crossing."""
    cloth = weft.sheet(5, 5, 0.2, 0.2).move((0, 0.3, 0))
    bodies = [plate(1.0, 1.0), box((0.1, 0.2, 0.1))]
    scene = Scene(cloth, bodies=bodies, contact=weft.SelfContact(5e-3))
    assert len(prepare(scene).model.contact.crossings(cloth.vertices)) == 0
