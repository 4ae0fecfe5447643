"""Mannequins in scene files, in Python and on the command line."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import weft
from tests.refusals import refused
from weft.base.errors import SceneProblems
from weft.cli.commands import app
from weft.contact import load_frames
from weft.io import read_surface
from weft.scene.build import load_scene

SCENE = """
cloth: {{sheet: {{nx: 3, ny: 3, width: 0.2, height: 0.2}}, translation: [0, 2, 0]}}
bodies:
  - name: body
    mannequin: {{{says}}}
contact: {{}}
seconds: 0.1
"""


def write(tmp_path, says):
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE.format(says=says))
    return path


def test_scene_with_a_walk(tmp_path):
    says = "figure: woman, height: 168 cm, chest: 90 cm, size: 20 mm, motion: walk, hold: 0.2 s"
    says += ", blend: 0.5 s, cycles: 1, speed: 1 m/s, fps: 20"
    (body,) = load_scene(write(tmp_path, says)).scene.bodies
    assert body.name == "body" and body.flaws == []
    made = weft.Mannequin.of("woman", height="168 cm", chest="90 cm", size="20 mm")
    np.testing.assert_allclose(body.at(0.0), made.vertices, atol=1e-6)
    assert body.frames.hold and body.frames.times[1] == pytest.approx(0.05)
    assert np.abs(body.at(1.3) - body.at(0.0)).max() > 0.1


@pytest.mark.parametrize(
    "says, text",
    [
        ("figure: robot", "figure"),
        ("chest: 80 cm, waist: 110 cm", ("waist", "1.1 m with chest 0.8 m")),
        ("motion: walk, speed: 20 m/s", "speed"),
        ("size: 1 mm", "mannequin.size"),
    ],
)
def test_scenes_that_cannot_be(tmp_path, says, text):
    with refused(SceneProblems, text, where="scene.yaml"):
        load_scene(write(tmp_path, says))


def test_command(tmp_path):
    mesh, motion = tmp_path / "it.obj", tmp_path / "walk.npz"

    def run(*words):
        done = CliRunner().invoke(app, ["mannequin", *map(str, words), "--set", "height=160 cm"])
        assert done.exit_code == 0, done.output
        return done.output

    said = run(mesh, "--pose", "arms_down")
    assert "waist" in said and "it.obj" in said
    x, faces = read_surface(mesh)
    made = weft.Mannequin.of("woman", height=1.6)
    np.testing.assert_allclose(x, made.pose_vertices("arms_down"), atol=1e-6)
    run(motion, "--fps", 10, "--cycles", 0.5, "--hold", "0 s", "--blend", "0.3 s", "--forward")
    frames, again = load_frames(motion)
    np.testing.assert_allclose(np.diff(frames.times), 0.1)
    np.testing.assert_array_equal(again, faces)
    assert frames.positions.shape[1:] == x.shape and len(frames.times) > 8
    assert json.loads(run("--json"))["height"] == pytest.approx(1.6)
