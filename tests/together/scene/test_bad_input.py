"""Whatever a file says: a named error with its place, and never a traceback or a full memory."""

import contextlib
import io
import re
import resource
import struct
import zipfile

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base import machine
from weft.base.errors import FabricError, MeshError, RunError, SceneError, WeftError
from weft.base.yaml_lines import parse_yaml
from weft.bodies.shapes import primitives
from weft.contact import plate
from weft.fabric.fabric import fabric
from weft.io import read_mesh, read_surface
from weft.io.archive import Broken, arrays_of, read_npz
from weft.run.check_scene import check
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

SHEET = "cloth: {sheet: {nx: 5, ny: 5}}\n"


@pytest.fixture(autouse=True)
def bounded():
    """No test of this file may take more than 8 GiB of address space beyond what there is."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (40 << 30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize(
    "text, match",
    [
        ("cloth: &a\n  sheet: *a\n", ("YAML", "alias", "scene.yaml:1")),
        (
            "a: &a [x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{c}: &{c} [{','.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi")
            ),
            ("YAML", "aliases"),
        ),
        ("cloth: " + "[" * 900 + "]" * 900, ("YAML", "50 levels")),
        (SHEET + "seconds: 2001-99-99\n", ("seconds", "'2001-99-99'")),
        (SHEET + "seconds: " + "9" * 5000, ("YAML", "integer", "scene.yaml:2")),
        (SHEET + "seconds: 1" + "0" * 25, ("", "integer")),
        (SHEET + "seconds: 1.0e+400", ("", "float64")),
        (SHEET + "seconds: !!python/object/apply:os.system ['true']", ("YAML", "tag")),
        (SHEET + "? [a, b]\n: 3\n", ("YAML", "key")),
        (SHEET + "seconds: 1\nseconds: 2\n", ("seconds", "second time")),
        (SHEET + "<<: 3\n", ("YAML", "<<")),
        ('cloth: {mesh: {file: "a\\0b.obj"}}', ("YAML", "character")),
        ('cloth: {mesh: {file: "a\\ud800b.obj"}}', "YAML"),
        (SHEET + "seconds: \x00", "YAML"),
        (SHEET + "a: *nothing", ("YAML", "'nothing'")),
        ("%YAML 9.9\n---\na: b", "YAML"),
        ("a: b\n---\nc: d\n", "YAML"),
        ("", ("scene", "`cloth:`")),
        ("cloth: {sheet: {nx: 5, ny: 5, width: 1 kN^99999}}", "width"),
        ("cloth: {sheet: {nx: 5, ny: 5, width: 1e-170}}", ("width", "1e-12 [m]")),
        (
            SHEET.replace("}}", "}, translation: [0, 9999999999999999999, 0]}"),
            ("cloth.translation.1", "1e+09 m"),
        ),
        (
            "cloth: {sheet: {nx: 5, ny: 5, width: 1e-9, height: 1e-9}, translation: [9, 0, 0]}",
            ("", "float64"),
        ),
        ("cloth: {sheet: {nx: 5, ny: 5}, rotation: [null, 0, 0]}", r"rotation.0"),
        ("cloth: {sheet: {nx: 5, ny: 5}, fabric: {preset: 5}}", "preset"),
        (SHEET + "pins: [{vertices: [99999999999]}]", ("pins.0.vertices", "0 to 24")),
        (SHEET + "pins: 5", "pins"),
        (SHEET + "seconds: 1e8\nfps: 10000", ("seconds", "1e+12 frames")),
        (SHEET + "seconds: 0.001\nfps: 30", ("seconds", "30 fps")),
        (SHEET + "bodies: [{mesh: {file: a.obj, fps: true}}]", ("fps", "yes or no")),
        (SHEET + "wind: {velocity: [1e300, 0, 0]}", ("wind.velocity.0", "1e+06")),
        (
            SHEET + "gravity: [0, {keys: [[0, 1], [-1e300, 2]]}, 0]",
            ("quantity", "gravity.1.keys.1", "1e+09 s"),
        ),
        (SHEET + "gravity: [0, {keys: [[0, 1], [1, null]]}, 0]", ("gravity.1.keys.1", "nothing")),
        (
            SHEET + "contact: {friction: {keys: [[0, {static: 0.3, kinetic: 0.1}]]}}",
            "contact.friction.keys.0",
        ),
        ("cloth: {sheet: {nx: 5000, ny: 5000}}", ("sheet.nx", "GiB")),
        (
            SHEET + "bodies: [{capsule: {radius: 1, length: 1, size: 1e-5}}]",
            ("bodies.0.size", "GiB"),
        ),
        (
            "cloth: {panel: {outline: [[0,0],[1,0],[1,1],[0,1]], size: 1e-7}}",
            ("size", "4000000 vertices"),
        ),
        (
            "cloth: {panel: {outline: [[0,0],[1,0],[1,1],[0,1]]}, discretization: bspline, "
            "spline: {spans: [100000,100000]}}",
            ("spline.spans", "GiB"),
        ),
        (
            "cloth: {panel: {outline: [[0,0],[1,0],[1,1],[0,1]], size: 0.2}, "
            "discretization: bspline, spline: {spans: [-3, 2]}}",
            "spans",
        ),
        (
            "cloth: {panel: {outline: [[0, 0], [1e-6, 0], [1, 1], [0, 1]], size: 0.1}}",
            ("outline", "1e-06 m"),
        ),
        ("cloth: {mesh: {file: /dev/zero}}", ("mesh file", "/dev/zero", ".obj, .ply")),
        (SHEET + "bodies: [{mesh: {file: '**', fps: 3}}]", "mesh"),
    ],
)
def test_a_scene_file(tmp_path, text, match):
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    with refused(SceneError, match) as caught:
        load_scene(path)
    assert len(str(caught.value)) < 4000


def test_a_scene_that_is_no_text(tmp_path):
    (tmp_path / "s.yaml").write_bytes(b"a: \xc3\x28")
    for name in (tmp_path / "s.yaml", "no\0such.yaml", ".", "x" * 5000):
        with pytest.raises(SceneError):
            load_scene(name)


@pytest.mark.parametrize(
    "text",
    [
        "a.b={",
        "seconds=!!x 1",
        "seconds=" + "[" * 999,
        "=",
        "pins.99999999999999999999=1",
        "²=1",
        "cloth.sheet.nx.deeper=1",
        "seconds=\0",
        "seconds=" + "9" * 6000,
        "x" * 9999 + "=1",
    ],
)
def test_an_override(tmp_path, text):
    path = tmp_path / "scene.yaml"
    path.write_text(SHEET)
    with pytest.raises(SceneError) as caught:
        load_scene(path, [text])
    assert len(str(caught.value)) < 4000


def test_what_yaml_says_still_holds():
    """Plain values are those of PyYAML, lines are those of the file."""
    import yaml

    text = "a: {b: [1, 2.5, 1e-3, true, null, ~, 'x', 0x1f]}\nc: &x {d: 1}\ne: {<<: *x, f: 2}\n"
    tree = parse_yaml(text, "t", WeftError)
    assert tree.value == yaml.safe_load(text)
    assert (tree.lines["a", "b", 2], tree.lines["e", "f"]) == (1, 3)


def test_a_fabric_of_itself(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.yaml").write_text("preset: loop.yaml\n")
    with refused(FabricError, "loop.yaml.preset", got="itself"):
        fabric("loop.yaml")


PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list {list} vertex_indices
end_header
0 0 0 1 0 0 0 0 1 {face}
"""


def ply(lists="uchar int", face="3 0 1 2", change=("", "")):
    return PLY.format(list=lists, face=face).replace(*change)


@pytest.mark.parametrize(
    "text",
    [
        ply("float float", "3 nan 1 2"),
        ply("float float", "nan 0 1 2"),
        ply("int int", "-3 0 1 2"),
        ply(face="200 0 1 2"),
        ply(face="3 0 1 99999999999"),
        ply(change=("vertex 3", "vertex 2000000000")),
        ply(change=("face 1", "face 0")),
        ply(change=("0 0 0 1", "nan 0 0 1")),
        ply(change=("list uchar int", "int")),
        ply(change=("property float x", "property x")),
        ply(change=("element face 1", "property list int int u\nelement face 1")),
        "ply\nend_header",
        "",
    ],
)
def test_a_ply_file(tmp_path, text):
    path = tmp_path / "a.ply"
    path.write_text(text)
    with pytest.raises(MeshError):
        read_mesh(path, warp=(1.0, 0.0, 0.0))
    with pytest.raises(MeshError):
        read_surface(path)


def test_rows_of_nothing_take_no_time(tmp_path):
    path = tmp_path / "a.ply"
    path.write_text(ply(change=("element vertex", "element foo 2000000000\nelement vertex")))
    assert len(read_surface(path)[1]) == 1


@pytest.mark.parametrize("kind", ["<", ">"])
def test_a_binary_ply_file_cut_anywhere(tmp_path, kind):
    order = "little" if kind == "<" else "big"
    head = PLY.format(list="int int", face="").split("end_header")[0]
    head = head.replace("ascii", f"binary_{order}_endian") + "end_header\n"
    body = struct.pack(f"{kind}9f4i", 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 0, 1, 2)
    path = tmp_path / "a.ply"
    path.write_bytes(head.encode() + body)
    assert len(read_surface(path)[1]) == 1
    for k in range(len(head) + len(body)):
        path.write_bytes((head.encode() + body)[:k])
        with pytest.raises(MeshError):
            read_surface(path)
    for count in (-3, 2**31 - 1):
        path.write_bytes(head.encode() + body[:36] + struct.pack(f"{kind}i", count) + body[40:])
        with pytest.raises(MeshError):
            read_surface(path)


@pytest.mark.parametrize(
    "text",
    [
        "v 0 0 nan\n",
        "v 1 2\n",
        "v 0 0 0\nf 1 1 1\n",
        "v\n",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 " + "9" * 6000,
        "\\\n" * 50,
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1.5 2 3\n",
        "".join(f"v {i} {i * i} 0\n" for i in range(1200))
        + "f "
        + " ".join(map(str, range(1, 1200))),
    ],
)
def test_an_obj_file(tmp_path, text):
    path = tmp_path / "a.obj"
    path.write_text(text)
    with pytest.raises(MeshError):
        read_mesh(path, warp=(1.0, 0.0, 0.0))


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def bomb():
    """A gigabyte of zeros in a megabyte, which says that it is 10^15 numbers."""
    file, header = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("positions.npy", header.getvalue() + b"\0" * 1000)
    return file.getvalue()


GOOD = npz(positions=np.zeros((2, 4, 3)), faces=np.array([[0, 1, 2], [1, 2, 3]]))
ARCHIVES = {
    "empty": b"",
    "cut": GOOD[:-30],
    "flipped": GOOD[:200] + b"\xff" + GOOD[201:],
    "shape that lies": bomb(),
    "no faces": npz(positions=np.zeros((2, 4, 3))),
    "wrong shape": npz(positions=np.zeros((4, 3)), faces=np.zeros((1, 3), int)),
    "float faces": npz(positions=np.zeros((2, 4, 3)), faces=np.zeros((1, 3))),
    "faces beyond": npz(positions=np.zeros((2, 4, 3)), faces=np.full((1, 3), 2**40)),
    "nan": npz(positions=np.full((2, 4, 3), np.nan), faces=np.array([[0, 1, 2]])),
    "no arrays": npz(),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_of_a_body(tmp_path, name):
    (tmp_path / "b.npz").write_bytes(ARCHIVES[name])
    (tmp_path / "s.yaml").write_text(SHEET + "bodies: [{mesh: {file: b.npz, fps: 10, hold: true}}]")
    with refused(SceneError, "frames", where="s.yaml:2"):
        load_scene(tmp_path / "s.yaml")


def test_an_archive_with_every_byte_changed(tmp_path):
    """An error of a kind that readers catch, or arrays; nothing else, whatever the byte."""
    for k in range(len(GOOD)):
        data = bytearray(GOOD)
        data[k] ^= 0xFF
        with contextlib.suppress(Broken):
            arrays_of(io.BytesIO(bytes(data)))
    with refused(RunError, "x", got="FileNotFoundError"):
        read_npz(tmp_path / "x.npz", what="x", expected="y", error=RunError)


@pytest.mark.parametrize(
    "scene, match",
    [
        ("cloth: {sheet: {nx: 5, ny: 5, width: 1e-9, height: 1e-9}}", "tolerance"),
        (
            "cloth: {sheet: {nx: 5, ny: 5}, fabric: {preset: cotton, stretch: 1e10 N/m}}",
            "all fabrics that weft knows.*stretch_warp",
        ),
        (
            SHEET
            + "bodies: [&b {sphere: {radius: 0.1}, translation: [0, -1, 0]}"
            + ", *b" * 63
            + "]",
            "64 of one shape in one place",
        ),
        (
            SHEET + "bodies: [{sphere: {radius: 0.1, size: 1e-3}, translation: [0, -1, 0]}]",
            "at most 1280",
        ),
    ],
)
def test_what_is_absurd_is_asked_about(tmp_path, scene, match, monkeypatch):
    monkeypatch.setattr(primitives, "MOST_FACES", 1000)
    path = tmp_path / "scene.yaml"
    path.write_text(scene)
    found = check(path)
    assert not found.errors
    assert any(re.search(match, w) for w in found.warnings)


def test_a_scene_that_no_memory_holds(monkeypatch):
    """The sum over cloth and bodies is compared with the machine before the model is built."""
    scene = weft.Scene(weft.sheet(5, 5), bodies=[plate(1.0, 1.0).move((0.0, -1.0, 0.0))])
    monkeypatch.setattr(machine, "memory", lambda: 450_000)
    with refused(SceneError, "scene", got="25 vertices of cloth", expected="of this machine"):
        prepare(scene)
    monkeypatch.setattr(machine, "memory", lambda: 1 << 20)
    assert prepare(scene).model.mass.shape == (25,)


def test_an_entry_of_a_list_that_the_file_leaves_out(tmp_path):
    from weft.scene.file import read_source

    path = tmp_path / "scene.yaml"
    path.write_text("cloth: {sheet: {nx: 3, ny: 3}}\n")
    assert read_source(path, ["gravity.1=-1.62"]).tree["gravity"] == [0, -1.62, 0]
    with refused(SceneError, "--set gravity.3", expected="0 to 2", hint="'gravity=[...]'"):
        read_source(path, ["gravity.3=1"])
    with refused(SceneError, "--set pins.0.until", got="0", hint="'pins=[...]'"):
        read_source(path, ["pins.0.until=1 s"])


@pytest.mark.parametrize("height, outlook", [(0, "needs a correction"), (48, "may need")])
def test_a_start_that_intersects_is_told_in_lines_that_can_be_read(tmp_path, height, outlook):
    """Names and a next step in place of the numbers of faces."""
    path = tmp_path / "scene.yaml"
    path.write_text(f"""
cloth:
  {{name: towel, sheet: {{nx: 9, ny: 9, width: 20 cm, height: 20 cm}},
   translation: [0, {height} mm, 0]}}
bodies: [{{name: ball, sphere: {{radius: 5 cm, size: 1 cm}}}}]
contact: {{gap: 2 mm}}
seconds: 0.1
""")
    with pytest.raises(SceneError) as refusal:
        load_scene(path)
    first, fate, then = str(refusal.value).split("\n")
    assert "ball" in first and max(map(len, (first, fate, then))) < 240
    assert fate.strip().startswith(outlook) and then.startswith("  next: ")
    assert "contact.resolve" not in fate
