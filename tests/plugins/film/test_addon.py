"""Blender's add-on, in Blender without a window: a cloth goes out, is simulated, and comes back."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from functools import partial
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest

import weft
from weft.fabric.fabric import preset_names
from weft.scene.build import load_scene

ROOT = Path(__file__).parents[3]
ADDON = ROOT / "blender" / "weft_blender"
SCRIPT = Path(__file__).with_name("in_blender.py")

pytestmark = [
    pytest.mark.skipif(not ADDON.exists(), reason="the add-on is not in the sdist"),
]
needs_bpy = [
    pytest.mark.blender,
    pytest.mark.skipif(find_spec("bpy") is None, reason="no bpy: pip install bpy"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the script saw in Blender, and the folder of the files that the add-on wrote."""
    folder = tmp_path_factory.mktemp("addon")
    (folder / "tmp").mkdir()
    command = f"{sys.executable} -m weft.cli.main"
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(ADDON.parent), command, str(folder / "found.json")],
        capture_output=True,
        text=True,
        timeout=3600,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "found.json").read_text())


def test_it_is_a_program_of_its_own():
    """Nothing of weft is imported; every file says its license, which the add-on brings along."""
    for path in ADDON.glob("*.py"):
        text = path.read_text()
        assert text.startswith("# SPDX-License-Identifier: GPL-3.0-or-later\n"), path.name
        for node in ast.walk(ast.parse(text)):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module]
            assert not any(n.split(".")[0] == "weft" for n in names), path.name
    assert "GNU GENERAL PUBLIC LICENSE" in (ADDON / "LICENSE").read_text()[:100]


def test_manifest():
    """What Blender asks of an extension; the version is weft's."""
    about = tomllib.loads((ADDON / "blender_manifest.toml").read_text())
    assert about["schema_version"] == "1.0.0" and about["type"] == "add-on"
    assert about["id"] == ADDON.name and about["id"].isidentifier()
    assert re.fullmatch(r"\d+\.\d+\.\d+", about["version"]) and about["version"] in weft.__version__
    assert len(about["tagline"]) <= 64 and about["tagline"][-1].isalnum()
    assert about["license"] == ["SPDX:GPL-3.0-or-later"]
    assert all(len(reason) <= 64 and reason[-1] != "." for reason in about["permissions"].values())


class TestInBlender:
    pytestmark = needs_bpy

    def test_vertex_for_vertex(self, found):
        """A turned and scaled object, below a subdivision: in the world at every frame, as the run
        has it, to what float32 holds.
        """
        files = Path(found["files"])
        run = weft.Run(files / "run")
        assert len(run) == len(found["frames"]) == 5
        for k, seen in enumerate(found["frames"]):
            x = run.positions(k)
            world = np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)
            np.testing.assert_allclose(seen, world, atol=1e-6)
        assert np.abs(np.subtract(found["frames"][-1], found["frames"][0])).max() > 0.02
        assert found["order"] == ["Weft", "subdivided"]

    def test_what_weft_was_given(self, found):
        """Regions by material, pins by weight, a ball that moves, material coordinates of one's
        own length.
        """
        scene = load_scene(Path(found["files"]) / "scene.yaml").scene
        cloth = scene.cloth
        assert [(r.name, r.fabric.name) for r in cloth.regions] == [
            ("inner", "silk"),
            ("outer 2", "denim"),
        ]
        (pin,) = scene.pins
        np.testing.assert_allclose(cloth.vertices[pin.vertices, 1], 0.9)
        assert len(pin.vertices) == 9 and pin.name == "held"
        assert cloth.mesh.rest_area.sum() == pytest.approx(0.75 * 0.5, rel=1e-5)
        (ball,) = scene.bodies
        height = [ball.at(t)[:, 1].mean() for t in (0.0, 4 / 25)]
        np.testing.assert_allclose(height, [0.6, 0.66], atol=1e-5)
        assert scene.gravity == pytest.approx((0, -9.81, 0), abs=1e-4)
        assert scene.contact is not None and scene.contact.friction.static == 0.3

    def test_fabrics_are_those_of_weft(self, found):
        assert found["fabrics"] == list(preset_names())

    def test_problems_are_named(self, found):
        assert "select a mesh" in found["nothing"]
        assert "no vertex group 'nobody'" in found["group"]
        assert "slik" in found["fabric"] and "did you mean 'silk'" in found["fabric"]
        assert "same number: bending, friction, friction" in found["twice"]
        assert "no vertex group 'nobody'" in found["no group"]
        assert "/nowhere/weft" in found["command"] and "Preferences" in found["command"]

    def test_a_stopped_run_is_read_as_far_as_it_is(self, found):
        ended, frames = found["stopped"]
        assert ended and frames == 990
        assert 2 <= found["cache"] < 990

    def test_a_cloth_follows_its_animation(self, found):
        """Under an armature, a parent that moves, and a solidifier above: it starts as it is posed,
        pinned vertices go where the armature would have them, the others are its own.
        """
        assert found["cape order"] == ["rig", "Weft", "thick"]
        run = weft.Run(Path(found["cape files"]) / "run")
        cape, posed = np.array(found["cape"]), np.array(found["animated"])
        assert len(run) == len(cape) == 6
        for k, seen in enumerate(cape):
            x = run.positions(k)
            np.testing.assert_allclose(seen, np.stack([x[:, 0], -x[:, 2], x[:, 1]], 1), atol=1e-6)
        np.testing.assert_allclose(cape[0], posed[0], atol=1e-6)
        top = np.flatnonzero(np.arange(49) >= 42)
        assert np.linalg.norm(posed[-1, top] - posed[0, top], axis=1).min() > 0.05
        np.testing.assert_allclose(cape[:, top], posed[:, top], atol=2e-4)
        assert np.abs(cape[-1] - posed[-1]).max() > 2e-3
        assert found["now"] == 103

    def test_what_weft_was_given_of_the_animation(self, found):
        """The mesh at rest apart from its start, goals by weight with keyframes, maps by weight."""
        files = Path(found["cape files"])
        scene = load_scene(files / "scene.yaml").scene
        mesh, w = scene.cloth.mesh, np.repeat(np.linspace(0, 1, 7), 7)
        assert mesh.rest_area.sum() == pytest.approx(0.16, rel=1e-5)
        np.testing.assert_allclose(mesh.weights["pose"], w, atol=1e-6)
        top, pose = scene.attachments
        assert (top.name, pose.name) == ("top", "goal pose")
        assert not scene.pins and top.guide.at(0.1).shape == (49, 3)
        np.testing.assert_allclose(pose.weight, w, atol=1e-6)
        key = scene.keyed["attachments.1.stiffness_per_area"]
        assert key.at(0.0) == pytest.approx(3000) and key.at(0.2) == pytest.approx(1000)
        maps = scene.cloth.fabric.maps
        assert maps["bending_warp"].to == pytest.approx(4e-5) and maps["bending_warp"].weights
        assert scene.contact.friction.low == pytest.approx(0.2)

    def test_another_object_guides(self, found):
        """One of other vertices, by nearest faces; pins stay with the animation."""
        top, pose = load_scene(Path(found["guided files"]) / "scene.yaml").scene.attachments
        assert pose.nearest and len(pose.guide.vertices) == 16
        assert not top.nearest and len(top.guide.vertices) == 49

    def test_a_run_is_watched_stopped_and_continued(self, found):
        """Frames that come later are appended to the cache; what was stopped goes on."""
        first, second, words = found["live"]
        assert 3 <= first <= second < 6 and words == ""
        assert "no run that was stopped" in found["again"]
        assert found["shown"] == 100 + first
        assert found["ended"] == [
            ["FINISHED"],
            "INFO",
            f"{second} frames: stopped, Go On continues",
        ]
        assert {"pins", "goals", "guide", "number", "low", "rest", "follow"} <= set(found["drawn"])
        assert found["appended"] and found["maps"] == ["friction"]

    def test_nothing_is_left(self, found):
        assert found["left"] == []


def test_a_script_converts_characters(tmp_path):
    """With a stand-in for Blender: which meshes are chosen, which frames, and what is refused."""
    spec = spec_from_file_location("convert", ADDON.parent / "convert_character.py")
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    said = script.parse(["a.fbx", "a.usdc", "--mesh", "body"])
    assert (said.source, said.target, said.mesh) == (Path("a.fbx"), Path("a.usdc"), ["body"])
    bpy, chosen = MagicMock(), {}
    things = []
    for name, kind in (("body", "MESH"), ("hair", "MESH"), ("rig", "ARMATURE")):
        thing = SimpleNamespace(name=name, type=kind)
        thing.select_set = partial(chosen.__setitem__, name)
        things.append(thing)
    bpy.context.scene.objects = things
    script.select(bpy, said.mesh)
    assert chosen == {"body": True, "hair": False}
    with pytest.raises(ValueError, match="boddy; there are: body, hair"):
        script.select(bpy, ["boddy"])
    bpy.data.actions = [SimpleNamespace(frame_range=(1, 30)), SimpleNamespace(frame_range=(0, 20))]
    (tmp_path / "a.fbx").write_bytes(b"")
    (tmp_path / "a.obj").write_bytes(b"")
    script.read(bpy, tmp_path / "a.fbx")
    assert (bpy.context.scene.frame_start, bpy.context.scene.frame_end) == (0, 30)
    with pytest.raises(ValueError, match=r"\.obj: expected \.fbx"):
        script.read(bpy, tmp_path / "a.obj")
    with pytest.raises(FileNotFoundError):
        script.read(bpy, tmp_path / "b.fbx")
