"""Files that promise more than they hold, and pipes: refused by name, before the work."""

import json
import os
import re
import signal
import struct
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from tests.engine.io.files import define, gltf
from tests.refusals import refused
from tests.together.cli.test_cli import run  # noqa: F401 (fixtures)
from weft.base.errors import MeshError
from weft.io import read_mesh
from weft.plugins.film.gltf.gltf_scene import gltf_contents, gltf_moving

pytestmark = pytest.mark.quick

BODY = """cloth: {{sheet: {{nx: 5, ny: 5}}}}
contact: {{}}
bodies: [{{name: b, {body}, translation: [0, -3, 0]}}]
seconds: 0.1
"""
CORNERS, IDS = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.uint16([0, 1, 2])


def tree_of(nodes=({"mesh": 0},), **more):
    """The tree of a glTF file of triangles at nodes of the scene; positions, then indices."""
    mesh = {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}
    scenes = [{"nodes": [0]}]
    return {"scene": 0, "scenes": scenes, "nodes": list(nodes), "meshes": [mesh], **more}


def zeros(path, count, **more):
    """A glTF file whose positions are so many zeros that it does not hold."""
    gltf(tree_of(**more), [CORNERS, IDS], path)
    tree = json.loads(path.read_text())
    tree["accessors"][0] = {"componentType": 5126, "count": count, "type": "VEC3"}
    path.write_text(json.dumps(tree))
    return path


def test_arrays_that_a_gltf_file_does_not_hold(tmp_path):
    path = tmp_path / "a.gltf"
    with refused(MeshError, "glTF file", got="498000000 values"):
        gltf_contents(zeros(path, 166_000_000), None, one=True)
    several = {"nodes": [{"mesh": 0}] * 10, "scenes": [{"nodes": list(range(10))}]}
    with refused(MeshError, "glTF file", got="10800027 values"):
        gltf_contents(zeros(path, 400_000, **several), None, one=False)
    assert len(gltf_contents(zeros(path, 3), None, one=True).x) == 1  # zeros are welded


def test_poses_that_a_gltf_file_does_not_hold(tmp_path):
    """Two keys an hour apart, looked at 30 times a second, of 5 000 nodes."""
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    animation = {"samplers": [{"input": 2, "output": 3}], "channels": [channel]}
    nodes = [{"mesh": 0, "children": list(range(1, 5000))}, *[{}] * 4999]
    arrays = [CORNERS, IDS, np.float32([0, 3000]), CORNERS[:2]]
    path = gltf(tree_of(nodes, animations=[animation]), arrays, tmp_path / "a.gltf")
    with refused(MeshError, "glTF file", got="450005000 transforms"):
        gltf_moving(path, None, None)


def test_a_chain_of_nodes_is_placed_in_linear_time(tmp_path):
    """20 000 nodes, each one step beside the one before: quadratic, they take twenty minutes."""
    n = 20_000
    nodes = [{"translation": [1, 0, 0], "children": [k + 1]} for k in range(n)]
    nodes.append({"mesh": 0})
    path = gltf(tree_of(nodes), [CORNERS, IDS], tmp_path / "a.gltf")
    with limit(60):
        found = gltf_contents(path, None, one=True)
    assert found.x[:, 0].min() == n
    ring = [{"mesh": 0, "children": [1]}, {"children": [0]}]
    path = gltf(tree_of(ring), [CORNERS, IDS], tmp_path / "a.gltf")
    with refused(MeshError, "glTF file", got="nodes"):
        gltf_contents(path, None, one=True)


def test_instances_of_instances(tmp_path):
    """A million triangles in three kilobytes."""
    pytest.importorskip("pxr")
    levels = [
        'def "l0" { def Mesh "m" { int[] faceVertexCounts = [3]\n'
        "int[] faceVertexIndices = [0, 1, 2]\n"
        "point3f[] points = [(0,0,0), (1,0,0), (0,1,0)]\n}\n}\n"
    ]
    for k in range(1, 7):
        inner = "".join(
            f'def "i{i}" (instanceable = true\nreferences = </l{k - 1}>) {{}}\n' for i in range(10)
        )
        levels.append(f'def "l{k}" {{\n{inner}}}\n')
    (tmp_path / "a.usda").write_text("#usda 1.0\n" + "".join(levels))
    with refused(MeshError, "USD file", got="10000 meshes"):
        read_mesh(tmp_path / "a.usda", warp=(1, 0, 0))


def test_a_usd_file_with_a_damaged_count(tmp_path):
    """Every count of the file's sections, one after the other: some ask for gigabytes."""
    pytest.importorskip("pxr")
    from pxr import Usd

    stage = Usd.Stage.CreateNew(str(tmp_path / "a.usdc"))
    define(stage, "/m", CORNERS, [[0, 1, 2]])
    stage.GetRootLayer().Save()
    del stage
    data = (tmp_path / "a.usdc").read_bytes()
    toc = struct.unpack_from("<q", data, 16)[0]
    for k in range(struct.unpack_from("<Q", data, toc)[0]):
        _, start, _ = struct.unpack_from("<16sqq", data, toc + 8 + 32 * k)
        damaged = bytearray(data)
        struct.pack_into("<Q", damaged, start, 1 << 28)
        (tmp_path / "b.usdc").write_bytes(damaged)
        with refused(MeshError, "USD file"):
            read_mesh(tmp_path / "b.usdc", warp=(1, 0, 0))


def test_groups_beyond_the_faces(tmp_path):
    names = " ".join(f"g{k}" for k in range(2000))
    faces = "f 1 2 3\n" * 2000
    (tmp_path / "a.obj").write_text(f"g {names}\nv 0 0 0\nv 1 0 0\nv 0 0 1\n{faces}")
    with limit(60), refused(MeshError, "groups", got=2001):
        read_mesh(tmp_path / "a.obj", warp=(1, 0, 0))


def png(path, side):
    """Write a PNG that claims so many pixels a side and holds none."""

    def chunk(kind, data):
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    head = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"")) + chunk(b"IEND", b"")
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + body)


@pytest.mark.parametrize("side", [12_000, 100_000])
def test_an_image_that_claims_too_many_pixels(run, tmp_path, side):  # noqa: F811
    png(tmp_path / "a.png", side)
    body = "height_field: {file: a.png, width: 1, depth: 1, low: 0, high: 0.1}"
    (tmp_path / "s.yaml").write_text(BODY.format(body=body))
    status, out, err = run("check", tmp_path / "s.yaml")
    assert status == 1 and "b.file" in out and "more than 1e+08 pixels" in out, out + err


@pytest.mark.parametrize("radii", ["100,1e400", "1e400,100", "1e308,1e-308", "nan,1"])
def test_arcs_without_a_shape(run, tmp_path, radii):  # noqa: F811
    pytest.importorskip("svgpathtools")
    (tmp_path / "a.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="20cm" height="20cm" viewBox="0 0 200 200">'
        f'<path id="a" d="M 0,0 L 100,0 A {radii} 0 0 1 0,180 Z"/></svg>'
    )
    status, out, err = run("check", tmp_path / "a.svg")
    assert status in (0, 1) and "has a mistake" not in err
    assert ("path" in out) if status else "NaN" not in out


@contextmanager
def limit(seconds):
    """Raise in a block that takes so many seconds, in whatever it waits for."""

    def late(*_):
        raise AssertionError(f"more than {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


COMMANDS = ["check", "run", "settle", "sweep run", "fabrics", "fabrics test", "fabrics fit"]
SUFFIXES = ["obj", "ply", "usda", "glb", "svg", "dxf", "json"]
HEIGHTS = ", width: 1, depth: 1, low: 0, high: 0.1}"
FILES = [
    BODY.format(body="mesh: {file: p.npz, fps: 10}"),
    BODY.format(body="mesh: {file: p.obj, hold: true}"),
    BODY.format(body="distance_grid: {file: p.npz}"),
    *(BODY.format(body=f"height_field: {{file: p.{s}{HEIGHTS}") for s in ("png", "csv", "npy")),
    "cloth: {sheet: {nx: 5, ny: 5}, fabric: p.yaml}",
    "scene: s.yaml\ndesign: csv\nfile: p.csv",
]


@pytest.mark.parametrize(
    "words, text",
    [
        *((f"{command} p.yaml", "") for command in COMMANDS),
        *((f"check p.{suffix}", "") for suffix in SUFFIXES),
        *(("sweep run w.yaml" if "design" in text else "check w.yaml", text) for text in FILES),
    ],
)
def test_a_pipe_in_place_of_a_file(words, text, tmp_path, monkeypatch, run):  # noqa: F811
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text("cloth: {sheet: {nx: 5, ny: 5}}\nseconds: 0.1\n")
    Path("w.yaml").write_text(text)
    os.mkfifo(re.search(r"\bp\.\w+", text or words)[0])
    with limit(60):
        status, out, err = run(*words.split())
    assert status in (1, 2) and ("not a regular file" in out + err or "p.csv" in out + err)
