"""Files that promise more than they hold, and pipes: refused by name, before the work."""

import base64
import json
import os
import signal
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.refusals import refused
from tests.together.cli.test_cli import run  # noqa: F401 (fixtures)
from weft.base.errors import MeshError, SceneError
from weft.io import read_mesh
from weft.plugins.film.gltf.gltf_scene import gltf_contents, gltf_moving
from weft.scene.build import load_scene

pytestmark = pytest.mark.quick

BODY = """cloth: {{sheet: {{nx: 5, ny: 5}}}}
contact: {{}}
bodies: [{{name: b, {body}, translation: [0, -3, 0]}}]
seconds: 0.1
"""
TRIANGLE = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], "<f4").tobytes() + b"\0\0\1\0\2\0\0\0"


def uri(data):
    return "data:;base64," + base64.b64encode(data).decode()


def gltf(path, accessors=(), nodes=({"mesh": 0},), roots=(0,), animation=None, meshes=1):
    """Write a glTF of one triangle; accessors 0 and 1 are its positions and indices."""
    mesh = {"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}
    tree = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": list(roots)}],
        "nodes": list(nodes),
        "meshes": [mesh] * meshes,
        "buffers": [{"byteLength": 44, "uri": uri(TRIANGLE)}],
        "bufferViews": [
            {"buffer": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 6},
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        ],
    }
    for number, accessor in dict(accessors).items():
        tree["accessors"][number:] = [accessor, *tree["accessors"][number + 1 :]]
    if animation:
        tree["animations"] = [animation]
    path.write_text(json.dumps(tree))
    return path


def test_arrays_that_a_gltf_file_does_not_hold(tmp_path):
    zeros = {"componentType": 5126, "count": 166_000_000, "type": "VEC3"}
    with refused(MeshError, "glTF file", got="498000000 values"):
        gltf_contents(gltf(tmp_path / "a.gltf", {0: zeros}), None, one=True)
    several = {**zeros, "count": 400_000}
    nodes = [{"mesh": 0}] * 10
    with refused(MeshError, "glTF file", got="10800027 values"):
        gltf_contents(gltf(tmp_path / "b.gltf", {0: several}, nodes, range(10)), None, one=False)
    few = gltf(tmp_path / "c.gltf", {0: {**zeros, "count": 3}})
    assert len(gltf_contents(few, None, one=True).x) == 1  # zeros are welded


def test_poses_that_a_gltf_file_does_not_hold(tmp_path):
    """Two keys an hour apart, looked at 30 times a second, of 5 000 nodes."""
    times = {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "byteOffset": 8}
    path = tmp_path / "a.gltf"
    sampler = {"input": 2, "output": 3}
    channel = {"sampler": 0, "target": {"node": 0, "path": "translation"}}
    nodes = [{"mesh": 0, "children": list(range(1, 5000))}, *[{}] * 4999]
    gltf(
        path,
        {2: times, 3: {**times, "count": 2, "type": "VEC3", "byteOffset": 0}},
        nodes,
        animation={"samplers": [sampler], "channels": [channel]},
    )
    tree = json.loads(path.read_text())
    data = bytearray(TRIANGLE)
    data[8:16] = struct.pack("<ff", 0.0, 3000.0)
    tree["buffers"][0]["uri"] = uri(data)
    path.write_text(json.dumps(tree))
    with refused(MeshError, "glTF file", got="450005000 transforms"):
        gltf_moving(path, None, None)


def test_a_chain_of_nodes_is_placed_in_linear_time(tmp_path):
    """20 000 nodes, each one step beside the one before: quadratic, they take twenty minutes."""
    n = 20_000
    nodes = [{"translation": [1, 0, 0], "children": [k + 1]} for k in range(n)]
    nodes.append({"mesh": 0})
    with limit(60):
        found = gltf_contents(gltf(tmp_path / "deep.gltf", nodes=nodes), None, one=True)
    assert found.x[:, 0].min() == n
    ring = [{"mesh": 0, "children": [1]}, {"children": [0]}]
    with refused(MeshError, "glTF file", got="nodes"):
        gltf_contents(gltf(tmp_path / "ring.gltf", nodes=ring), None, one=True)


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
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(tmp_path / "a.usdc"))
    mesh = UsdGeom.Mesh.Define(stage, "/m")
    mesh.CreateFaceVertexCountsAttr([3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2])
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
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


def test_aliases_that_multiply(run, tmp_path):  # noqa: F811
    levels = [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 9)}]" for k in range(1, 8)]
    (tmp_path / "s.yaml").write_text("\n".join(["a0: &a0 [1, 2]", *levels]) + "\n")
    with limit(60):
        status, out, _ = run("check", tmp_path / "s.yaml")
    assert status == 1 and "aliases that multiply" in out


def test_numbers_of_400_digits(run, tmp_path):  # noqa: F811
    big = "1" + "0" * 400
    panel = {
        "translation": [0, 0, 0],
        "rotation": [0, 0, 0],
        "vertices": [[0, 0], [1, 0], [1, 1]],
        "edges": [{"endpoints": [k, (k + 1) % 3]} for k in range(3)],
    }
    pattern = {
        "pattern": {"panels": {"a": panel}, "stitches": [], "panel_order": ["a"]},
        "properties": {"units_in_meter": 100},
    }
    text = json.dumps(pattern).replace("[1, 0]", f"[{big}, 0]")
    (tmp_path / "a.json").write_text(text)
    status, out, err = run("check", tmp_path / "a.json")
    assert status == 1 and "vertices.1.0" in out + err and "number" in out + err


@pytest.mark.parametrize("radii", ["100,1e400", "1e400,100", "1e308,1e-308", "nan,1"])
def test_arcs_without_a_shape(run, tmp_path, radii):  # noqa: F811
    pytest.importorskip("svgpathtools")
    (tmp_path / "a.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="20cm" height="20cm" viewBox="0 0 200 200">'
        f'<path id="a" d="M 0,0 L 100,0 A {radii} 0 0 1 0,180 Z"/></svg>'
    )
    status, out, err = run("check", tmp_path / "a.svg")
    assert status in (0, 1) and "does not expect" not in err
    assert ("path" in out) if status else "NaN" not in out


class limit:
    """Raise in a block that takes so many seconds, in whatever it waits for."""

    def __init__(self, seconds):
        self.seconds = seconds

    def __enter__(self):
        def late(*_):
            raise AssertionError(f"more than {self.seconds} s")

        self.before = signal.signal(signal.SIGALRM, late)
        signal.alarm(self.seconds)

    def __exit__(self, *_):
        signal.alarm(0)
        signal.signal(signal.SIGALRM, self.before)


PIPES = [
    *(
        f"{words} PIPE.yaml"
        for words in (
            "check",
            "run",
            "settle",
            "sweep run",
            "fabrics",
            "fabrics test",
            "fabrics fit",
        )
    ),
    *(f"check PIPE.{suffix}" for suffix in ("obj", "ply", "usda", "glb", "svg", "dxf", "json")),
]
BODIES = [
    "mesh: {file: p.npz, fps: 10}",
    "mesh: {file: p.obj, hold: true}",
    "distance_grid: {file: p.npz}",
    *(
        f"height_field: {{file: p.{suffix}, width: 1, depth: 1, low: 0, high: 0.1}}"
        for suffix in ("png", "csv", "npy")
    ),
]


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    """A function that makes named pipes in an empty folder."""
    if not hasattr(os, "mkfifo"):
        pytest.skip("no named pipes here")
    monkeypatch.chdir(tmp_path)
    return lambda *suffixes: [os.mkfifo(f"p.{s}") for s in suffixes]


@pytest.mark.parametrize("words", PIPES)
def test_a_pipe_in_place_of_a_file(words, pipe, run):  # noqa: F811
    pipe(words.rpartition(".")[2])
    with limit(60):
        status, out, err = run(*words.replace("PIPE", "p").split())
    assert status in (1, 2) and "no ordinary file" in out + err


@pytest.mark.parametrize("body", BODIES)
def test_a_pipe_in_place_of_the_file_of_a_body(body, pipe, run):  # noqa: F811
    pipe("npz", "obj", "png", "csv", "npy")
    Path("s.yaml").write_text(BODY.format(body=body))
    with limit(60):
        status, out, err = run("check", "s.yaml")
    assert status == 1 and "no ordinary file" in out + err


def test_a_pipe_in_place_of_a_fabric(pipe, run):  # noqa: F811
    pipe("yaml")
    Path("s.yaml").write_text("cloth: {sheet: {nx: 5, ny: 5}, fabric: p.yaml}\nseconds: 0.1\n")
    with limit(60):
        status, out, err = run("check", "s.yaml")
    assert status == 1 and "no ordinary file" in out + err, out + err


def test_a_pipe_in_place_of_values_of_a_sweep(pipe, run):  # noqa: F811
    pipe("csv")
    Path("s.yaml").write_text("cloth: {sheet: {nx: 5, ny: 5}}\nseconds: 0.1\n")
    Path("w.yaml").write_text("scene: s.yaml\ndesign: csv\nfile: p.csv\n")
    with limit(60):
        status, out, err = run("sweep", "run", "w.yaml")
    assert status == 2 and "p.csv" in out + err, out + err


def test_a_scene_whose_file_is_a_pipe_names_it(pipe):
    pipe("yaml")
    with limit(60), refused(SceneError, "scene file", where="p.yaml"):
        load_scene(Path("p.yaml"))
