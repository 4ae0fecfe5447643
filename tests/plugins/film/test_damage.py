"""Damaged files of every format that is read: a named error or a result, no other exception."""

import json
import random
from functools import partial

import numpy as np
import pytest

from tests.engine.io.files import gltf, read_moving
from tests.fuzz.mutations import changed_bytes
from tests.refusals import refused
from weft.base.errors import MeshError
from weft.discretization.mesh import grid
from weft.io import read_cache, read_mesh, read_surface, write_animation
from weft.io.animation import Animation, AnimationFrame, SurfaceTopology

# Damaged files of a format; each of USD is tried in a process of its own first.
MUTATIONS = {".usdc": 12, ".glb": 40, ".gltf": 40, ".pc2": 40}


def moving():
    mesh = grid(4, 3, 1.0, 1.0)
    frames = [mesh.vertices + [0, 0.1 * k, 0] for k in range(3)]
    shape = SurfaceTopology(
        "cloth", mesh.faces, mesh.corner_uv, [("all", np.arange(len(mesh.faces)))]
    )
    return Animation([shape], 3, lambda k: AnimationFrame(k / 30, [frames[k]], np.zeros((12, 3))))


@pytest.mark.parametrize(
    "suffix", [pytest.param(s, marks=[pytest.mark.campaign] * (s == ".usdc")) for s in MUTATIONS]
)
def test_damage_is_named(tmp_path, suffix):
    if suffix == ".usdc":
        pytest.importorskip("pxr.Usd")
    path, named = tmp_path / f"a{suffix}", 0
    write_animation(path, moving())
    whole, rng = path.read_bytes(), random.Random(3)
    readers = [read_surface, read_moving, partial(read_mesh, warp=(1, 0.2, 0.1))]
    for _ in range(MUTATIONS[suffix]):
        path.write_bytes(changed_bytes(rng, whole))
        for read in [partial(read_cache, fps=24.0)] if suffix == ".pc2" else readers:
            try:
                read(path)
            except MeshError as error:
                named += 1
                assert 0 < len(str(error)) < 3000
    assert named > MUTATIONS[suffix] // 4


@pytest.mark.parametrize("suffix", [".usdc", ".glb", ".gltf"])
@pytest.mark.parametrize("data", [b"", b"PXR-USDC", b"glTF\2\0\0\0", b"{}", b"#usda 1.0"])
def test_what_is_no_mesh_at_all(tmp_path, suffix, data):
    if suffix == ".usdc":
        pytest.importorskip("pxr.Usd")
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    with refused(MeshError, "USD file" if suffix == ".usdc" else "glTF file"):
        read_mesh(path)
    path.unlink()
    with refused(MeshError, "mesh file"):
        read_surface(path)


IMPOSSIBLE = [  # a part of the tree, what it says, and the words that the error has
    ("asset", {"version": "1.0"}, "1.0"),
    ("extensionsRequired", ["KHR_draco_mesh_compression"], "KHR_draco_mesh_compression"),
    ("buffers", [{"uri": "../secret.bin", "byteLength": 4}], "../secret.bin"),
    ("buffers", [{"uri": "none.bin", "byteLength": 4}], "none.bin"),
    ("nodes", [{"children": [0], "mesh": 0}], "nodes"),
    ("nodes", [], "no mesh"),
    (
        "nodes",
        [{"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {}}}],
        "EXT_mesh_gpu_instancing",
    ),
    ("meshes", [{"primitives": [{"mode": 1, "attributes": {"POSITION": 0}}]}], "triangles"),
    ("meshes", [{"primitives": [{"attributes": {"POSITION": -1}}]}], "accessors -1"),
]


@pytest.mark.parametrize("part, said, match", IMPOSSIBLE)
def test_gltf_that_says_something_impossible(tmp_path, part, said, match):
    x = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1]], dtype=float)
    meshes = [{"primitives": [{"attributes": {"POSITION": 0}}]}]
    path = gltf({"meshes": meshes, "nodes": [{"mesh": 0}]}, [x], tmp_path / "a.gltf")
    assert len(read_surface(path)[1]) == 1
    path.write_text(json.dumps({**json.loads(path.read_text()), part: said}))
    with refused(MeshError, ("", match)):
        read_surface(path)
