"""Shapes of bodies, bodies from files, and bodies that deform."""

from functools import partial

import numpy as np
import pytest

from tests.refusals import refused
from tests.stepping import nothing_crosses, stepped
from weft.base.errors import SceneError, WeftError
from weft.bodies.motion.pins import Keyframe, Path
from weft.contact import (
    Body,
    BodyFrames,
    box,
    load_body,
    load_frames,
    plate,
    sphere,
)
from weft.io.obj import write_obj
from weft.run.check_scene import check
from weft.scene.body_schema import SOURCES, BodyBlock
from weft.scene.build import load_scene

ball = sphere(0.1, 0.05)
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
    body = load_body(tmp_path / "walk_0001.obj", 0.01)
    np.testing.assert_allclose(body.vertices, frames.positions[0])


def test_an_array_file_that_says_its_times_keeps_them(tmp_path):
    """Without a rate; another rate is obeyed, and told."""
    x = {"positions": np.stack([ball.vertices] * 3), "faces": ball.faces}
    np.savez(tmp_path / "a.npz", **x, times=[1.0, 1.1, 1.4])
    frames, _ = load_frames(tmp_path / "a.npz", start=0.5)
    np.testing.assert_allclose(frames.positions, x["positions"])
    np.testing.assert_allclose(frames.times, [0.5, 0.6, 0.9])
    with pytest.warns(UserWarning, match=r"takes 0.2 s for 0.4 s"):
        assert load_frames(tmp_path / "a.npz", 10.0)[0].times[-1] == 0.2
    np.savez(tmp_path / "b.npz", **x)
    with refused(SceneError, ("fps", "none")):
        load_frames(tmp_path / "b.npz")
    np.savez(tmp_path / "b.npz", **x, times=[1.4, 1.1, 1.0])
    with refused(SceneError, ("body.frames", "times", "b.npz")):
        load_frames(tmp_path / "b.npz")


@pytest.mark.parametrize(
    "made, name, said",
    [
        ({"skip": (2,)}, "walk_*.obj", {"got": "3", "expected": "1 to 4"}),
        ({"damage": 1}, "walk_*.obj", {"where": "walk_0002.obj"}),
        ({}, "run_*.obj", {"got": "run_*.obj"}),
        ({}, "none.npz", {"expected": "positions (k,b,3)", "where": "none.npz"}),
    ],
    ids=["one is missing", "one has other faces", "none", "no array"],
)
def test_frames_that_cannot_be_used(tmp_path, made, name, said):
    write_walk(tmp_path, **made)
    with refused(SceneError, "body.frames", **said):
        load_frames(tmp_path / name, 10.0)


nothing = np.zeros((2, 4, 3))
REFUSED = {
    "times": (partial(BodyFrames, [0.0, 0.0], nothing), {"what": "frames.times"}),
    "ends": (
        partial(BodyFrames([0.0, 1.0], nothing).check_until, 2.0, "ball"),
        {"what": "ball.frames", "got": "1 s", "expected": "2 s"},
    ),
    "other vertices": (
        partial(Body, np.eye(3), [[0, 1, 2]], frames=BodyFrames([0.0], nothing[:1])),
        {"what": "body.frames", "got": "4 vertices"},
    ),
    "faces": (partial(Body, np.zeros((3, 3)), [[0, 1, 3]]), {"what": "body.faces"}),
    "vertices": (partial(Body, np.full((3, 3), np.nan), [[0, 1, 2]]), {"what": "body.vertices"}),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    make, said = REFUSED[case]
    with refused(SceneError, **said):
        make()


def test_a_body_that_swells_lifts_the_cloth(tmp_path):
    """A scene file with frames: the sheet is pushed, and nothing intersects."""
    write_walk(tmp_path)
    (tmp_path / "scene.yaml").write_text(
        "cloth: {sheet: {nx: 7, ny: 7, width: 0.2, height: 0.2}, translation: [0, 0.107, 0]}\n"
        "contact: {gap: 5 mm, friction: 0.3}\n"
        "bodies: [{name: ball, mesh: {file: walk_*.obj, scale: 1 cm, fps: 10}}]\n"
        "step: 20 ms\nseconds: 0.3 s\n"
    )
    scene = load_scene(tmp_path / "scene.yaml").scene
    np.testing.assert_allclose(np.linalg.norm(scene.bodies[0].at(0.25), axis=1), 0.1 * 1.25)
    _, state, _ = stepped(scene, 10, watch=nothing_crosses)
    assert state.x[24, 1] > 0.115  # the middle
    with refused(WeftError, "ball.frames", hint="hold: true"):
        load_scene(tmp_path / "scene.yaml", ["seconds=0.4"])


def test_check_tells_of_flaws(tmp_path):
    assert "inside out" in Body(ball.vertices, ball.faces[:, ::-1]).flaws[0]
    assert plate(1.0, 1.0).flaws == []
    write_obj(tmp_path / "open.obj", ball.vertices, ball.faces[3:])
    (tmp_path / "scene.yaml").write_text(
        "cloth: {sheet: {nx: 5, ny: 5}, translation: [0, 1, 0]}\ncontact: {gap: 5 mm}\n"
        "bodies: [{name: bowl, mesh: {file: open.obj}}, {plate: {}}]\n"
    )
    found = check(tmp_path / "scene.yaml")
    flaws = [text for text in found.warnings if "folds" not in text]  # 25 cm are coarse
    assert not found.errors and len(flaws) == 1
    assert "bowl is open" in flaws[0]
