"""With a Blender: scenes that go from Blender through weft and back."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial import cKDTree

import weft
from tests.engine.io.files import read_moving
from weft.scene.build import load_scene

needs_bpy = pytest.mark.skipif(find_spec("bpy") is None, reason="no bpy")

CONVERT = Path(weft.__file__).parents[2] / "blender" / "convert_character.py"
MAKE = """
import bpy, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.mesh.primitive_grid_add(x_subdivisions=6, y_subdivisions=5, size=0.5, location=(0, 0, 1))
thing = bpy.context.object
thing.name = "Tablecloth"
mesh = thing.data
pin = mesh.attributes.new("pin", "FLOAT", "POINT")
pin.data.foreach_set("value", [float(v.co.y > 0.24) for v in mesh.vertices])
bpy.ops.wm.usd_export(filepath=sys.argv[-1], export_materials=False)
"""
LOOK = """
import bpy, sys, array
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
bpy.ops.wm.usd_import(filepath=sys.argv[-2])
thing = bpy.data.objects["cloth"]
out = open(sys.argv[-1], "wb")
for frame in range(scene.frame_start, scene.frame_end + 1):
    scene.frame_set(frame)
    mesh = thing.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    x = array.array("f", bytes(12 * len(mesh.vertices)))
    mesh.vertices.foreach_get("co", x)
    out.write(x.tobytes())
out.close()
ids = array.array("i", bytes(4 * len(mesh.loops)))
mesh.loops.foreach_get("vertex_index", ids)
open(sys.argv[-1] + ".faces", "wb").write(ids.tobytes())
"""


WALK = """
import bpy, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.mesh.primitive_grid_add(x_subdivisions=3, y_subdivisions=2, size=1)
wave = bpy.context.object.modifiers.new("wave", "WAVE")
bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 5
bpy.ops.wm.usd_export(filepath=sys.argv[-2], export_materials=False, export_animation=True)
scene, out = bpy.context.scene, open(sys.argv[-1], "wb")
for frame in range(1, 6):
    scene.frame_set(frame)
    mesh = bpy.context.object.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    for v in mesh.vertices:
        out.write(__import__("struct").pack("<3f", *v.co))
"""


ARM = """
import bpy, sys, math, struct
bpy.ops.wm.read_factory_settings(use_empty=True)
scene = bpy.context.scene
scene.frame_start, scene.frame_end = 1, 9
bones = bpy.data.armatures.new("bones")
rig = bpy.data.objects.new("rig", bones)
scene.collection.objects.link(rig)
bpy.context.view_layer.objects.active = rig
bpy.ops.object.mode_set(mode="EDIT")
low, high = bones.edit_bones.new("low"), bones.edit_bones.new("high")
low.head, low.tail, high.head, high.tail = (0, 0, 0), (0, 0, 1), (0, 0, 1), (0, 0.1, 2)
high.parent = low
bpy.ops.object.mode_set(mode="OBJECT")
bpy.ops.mesh.primitive_cylinder_add(vertices=7, radius=0.3, depth=2, location=(0, 0, 1))
body = bpy.context.object
bpy.ops.object.transform_apply()
for name in ("low", "high"):
    group = body.vertex_groups.new(name=name)
    for v in body.data.vertices:
        up = min(1, max(0, v.co.z / 2 + 0.1 * v.co.x))
        group.add([v.index], up if name == "high" else 1 - up, "REPLACE")
body.parent = rig
body.modifiers.new("rig", "ARMATURE").object = rig
bone = rig.pose.bones["high"]
bone.rotation_mode = "QUATERNION"
for frame, angle in ((1, 0.0), (9, 1.2)):
    bone.rotation_quaternion = (math.cos(angle / 2), math.sin(angle / 2), 0, 0)
    bone.keyframe_insert("rotation_quaternion", frame=frame)
path = sys.argv[-2]
if path.endswith("glb"):
    bpy.ops.export_scene.gltf(filepath=path)
elif path.endswith("fbx"):
    bpy.ops.export_scene.fbx(filepath=path, add_leaf_bones=False)
else:
    bpy.ops.wm.usd_export(filepath=path, export_animation=True, export_armatures=True)
with open(sys.argv[-1], "wb") as out:
    for frame in range(1, 10):
        scene.frame_set(frame)
        mesh = body.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
        for v in mesh.vertices:
            out.write(struct.pack("<3f", *v.co))
"""


def in_bpy(code, *arguments):
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-2000:]


def y_up(seen):
    return np.stack([seen[..., 0], seen[..., 2], -seen[..., 1]], -1)


def assert_posed(found, seen):
    """Points of a file are where Blender shows nine frames of an arm, in any order."""
    seen = y_up(np.fromfile(seen, "<f4").reshape(9, -1, 3))
    times, x, _ = read_moving(found, 24.0)
    np.testing.assert_allclose(times, np.arange(9) / 24, atol=1e-6)
    assert x.shape == seen.shape
    order = cKDTree(x[0]).query(seen[0])[1]  # glTF may number vertices anew
    assert len(set(order)) == seen.shape[1]
    np.testing.assert_allclose(x[:, order], seen, atol=2e-5)
    assert np.abs(seen[8] - seen[0]).max() > 0.3


@pytest.mark.blender
@needs_bpy
def test_blender_weft_blender_vertex_for_vertex(tmp_path):
    """Blender's grid, z up, pinned where it is painted; simulated; back in Blender every vertex of
    every frame is, in float32, the run's.
    """
    pytest.importorskip("pxr.Usd")
    in_bpy(MAKE, tmp_path / "in.usdc")
    (tmp_path / "s.yaml").write_text(
        "cloth: {mesh: {file: in.usdc, uv_scale: 0.5}}\npins: [{weights: pin}]\nseconds: 0.2 s\n"
    )
    loaded = load_scene(tmp_path / "s.yaml")
    (pin,) = loaded.scene.pins
    assert len(pin.vertices) == 7 and (loaded.scene.cloth.vertices[:, 1] == 1).all()
    run = weft.simulate(loaded.scene, frames=6, out=tmp_path / "r", progress=False, fsync=False)
    run.export(tmp_path / "out.usdc", up="z")
    in_bpy(LOOK, tmp_path / "out.usdc", tmp_path / "seen")
    seen = np.fromfile(tmp_path / "seen", np.float32).reshape(7, -1, 3)
    for k in range(7):
        x = run.positions(k)
        z_up = np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)
        np.testing.assert_array_equal(seen[k], z_up.astype(np.float32))
    faces = np.fromfile(tmp_path / "seen.faces", np.int32).reshape(-1, 3)
    np.testing.assert_array_equal(faces, run.faces)
    assert np.abs(seen[-1] - seen[0]).max() > 0.05


@pytest.mark.blender
@needs_bpy
def test_a_body_that_blender_animates(tmp_path):
    """Its modifiers deform it; Blender writes its faces at every frame, all the same."""
    pytest.importorskip("pxr.Usd")
    in_bpy(WALK, tmp_path / "walk.usdc", tmp_path / "seen")
    seen = np.fromfile(tmp_path / "seen", "<f4").reshape(5, -1, 3)
    times, x, _ = read_moving(tmp_path / "walk.usdc")
    np.testing.assert_allclose(times, np.arange(5) / 24)
    np.testing.assert_allclose(x, y_up(seen))
    assert np.abs(seen[4] - seen[0]).max() > 0.01


@pytest.mark.blender
@needs_bpy
@pytest.mark.parametrize("suffix", [".glb", ".usdc"])
def test_a_skin_that_blender_poses(tmp_path, suffix):
    """Two bones, every vertex between them, nine frames: where Blender's own armature puts it."""
    if suffix == ".usdc":
        pytest.importorskip("pxr.Usd")
    in_bpy(ARM, tmp_path / f"a{suffix}", tmp_path / "seen")
    assert_posed(tmp_path / f"a{suffix}", tmp_path / "seen")


@pytest.mark.blender
@needs_bpy
@pytest.mark.parametrize("suffix", [".fbx", ".glb"])
def test_a_converted_character(tmp_path, suffix):
    """The script for Blender reads its skin and writes points that move as Blender shows them."""
    pytest.importorskip("pxr.Usd")
    path, found = tmp_path / f"a{suffix}", tmp_path / "a.usdc"
    in_bpy(ARM, path, tmp_path / "seen")
    done = subprocess.run([sys.executable, CONVERT, "--", path, found], capture_output=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert_posed(found, tmp_path / "seen")
