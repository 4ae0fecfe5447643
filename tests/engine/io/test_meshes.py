"""OBJ and PLY: round trips, other programs' dialects, and every error with its line."""

import igl
import numpy as np
import pytest

from tests.refusals import refused
from weft import io
from weft.base.errors import MeshError
from weft.discretization.mesh import TriangleMesh, grid
from weft.io import read_mesh
from weft.io.animation import Animation, SurfaceTopology
from weft.io.obj import write_obj
from weft.io.ply import write_ply
from weft.io.surface import triangulate

pytestmark = pytest.mark.quick

GRID = grid(5, 4, 1.0, 0.7, "random")
SEAM = TriangleMesh(
    [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]],
    [[0, 1, 2], [1, 3, 2]],
    np.array([[[0, 0], [1, 0], [0, 1]], [[5, 0], [5, 1], [4, 1]]], dtype=float),
)


@pytest.mark.parametrize("mesh", [GRID, SEAM], ids=["grid", "seam"])
@pytest.mark.parametrize("suffix, write", [(".obj", write_obj), (".ply", write_ply)])
def test_round_trip_is_bitwise(tmp_path, mesh, suffix, write):
    path = tmp_path / f"mesh{suffix}"
    write(path, mesh.vertices, mesh.faces, mesh.corner_uv)
    back = read_mesh(path)
    np.testing.assert_array_equal(back.vertices, mesh.vertices)
    np.testing.assert_array_equal(back.faces, mesh.faces)
    np.testing.assert_array_equal(back.corner_uv, mesh.corner_uv)


@pytest.mark.parametrize("suffix, write", [(".obj", write_obj), (".ply", write_ply)])
def test_igl_reads_what_we_write(tmp_path, suffix, write):
    path = tmp_path / f"mesh{suffix}"
    write(path, GRID.vertices, GRID.faces, GRID.corner_uv)
    v, f = igl.read_triangle_mesh(str(path))
    np.testing.assert_allclose(v, GRID.vertices, atol=1e-9)
    np.testing.assert_array_equal(f, GRID.faces)


OBJ = """# a quad and a triangle, negative indices, groups, a continued line
o shirt
v 0 0 0
v 100 0 0 1.0
v 100 100 0
v 0 100 0
v 200 0 0
vt 0 0
vt 1 0 0
vt 1 1
vt 0 1
vt 2 0
vn 0 0 1
usemtl red
s off
g front panel
f 1/1/1 2/2/1 3/3/1 \\
  4/4/1
g back
f -4/-4/-1 -1/-1/-1 -3/-3/-1
"""


def written(path, text):
    path.write_text(text)
    return path


def test_obj_dialect(tmp_path):
    path = written(tmp_path / "a.obj", OBJ)
    assert read_mesh(path, scale=0.01, rest="uv").rest_area.sum() == pytest.approx(1.5e-4)
    mesh = read_mesh(path, scale=0.01, uv_scale=1.0)
    assert len(mesh.faces) == 3 and mesh.rest_area.sum() == pytest.approx(1.5)
    assert mesh.faces[2].tolist() == [1, 4, 2]
    assert {k: v.tolist() for k, v in mesh.groups.items()} == {
        "shirt": [0, 1, 2, 3, 4],
        "front": [0, 1, 2, 3],
        "panel": [0, 1, 2, 3],
        "front panel": [0, 1, 2, 3],
        "back": [1, 2, 4],
    }


def test_groups_come_in_the_order_of_the_file(tmp_path):
    """Not in that of a set of strings, which changes from one Python process to the next."""
    names = [f"n{k}" for k in range(20)]
    text = OBJ.replace("g front panel", f"g {' '.join(names)}")
    groups = read_mesh(written(tmp_path / "a.obj", text)).groups
    assert list(groups) == ["shirt", *names, " ".join(names), "back"]


@pytest.mark.parametrize("k", [3, 5, 13])
def test_polygons_are_triangulated(k, rng):
    """Convex or star-shaped, in any plane: k-2 triangles that cover the area, none turned over."""
    angle = (np.arange(k) + rng.uniform(0, 0.4, k)) * 2 * np.pi / k
    radius = rng.uniform(0.4, 1.0, k)
    flat = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    frame = np.linalg.qr(rng.normal(size=(3, 3)))[0][:, :2]
    triangles = triangulate(flat @ frame.T)
    assert len(triangles) == k - 2
    a, b, c = np.moveaxis(flat[np.array(triangles)], 1, 0)
    areas = np.linalg.det(np.stack([b - a, c - a], axis=1)) / 2
    x, y = flat.T
    assert (areas > -1e-12).all()
    assert areas.sum() == pytest.approx(0.5 * (x @ np.roll(y, -1) - y @ np.roll(x, -1)))


def test_warp_direction_gives_material_coordinates(tmp_path):
    """A roof of two planes: each face unfolds in its own plane, at its true size."""
    roof = "v 0 0 0\nv 0 0 2\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 2 1 4\n"
    mesh = read_mesh(written(tmp_path / "roof.obj", roof), warp=(0, 0, 1))
    np.testing.assert_allclose(mesh.rest_area, np.sqrt(2))
    np.testing.assert_allclose(mesh.corner_uv[0, 1] - mesh.corner_uv[0, 0], [2, 0], atol=1e-12)


TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
TEXTURED = TRIANGLE + "vt 0 0\nvt 4 0\nvt 0 4\n"


@pytest.mark.parametrize(
    "text, arguments, match",
    [
        (TRIANGLE + "f 1 2 4\n", {}, ("vertex index", "4", "1 to 3", "bad.obj:4")),
        (TRIANGLE + "vt 0 0\nf 1/1 2/1 3/9\n", {}, ("texture index", "9")),
        ("v 0 nan 0\n", {}, ("position", "bad.obj:1")),
        (TRIANGLE, {}, ("faces", 0)),
        (TRIANGLE + "f 1 2 2\n", {}, ("face", "1 2 2")),
        (TRIANGLE + "f 1 2 3\n", {}, "material coordinates"),
        (TRIANGLE + "f 1 2 3\n", {"warp": (0, 0, 1)}, ("warp direction", "0, 0, 1")),
        (TRIANGLE + "f 1 2 3\n", {"warp": (1, 0, 0), "scale": 0.0}, "scale"),
        (TEXTURED + "f 1/1 2/2 3\n", {}, ("face", "1/1 2/2 3")),
        (TEXTURED + "f 1/1 2/2 3/3\nf 1 3 2\n", {}, ("face", "bad.obj:8")),
        (TEXTURED + "f 1/1 2/2 3/2\n", {}, ("material area of faces", "1 of 1")),
        (TEXTURED + "f 1/1 2/2 3/3\n", {"warp": (0, 1, 0), "uv_scale": 2.0}, "uv_scale"),
        (TRIANGLE + "f 1 2 3\n", {"warp": (0, 1, 0), "uv_scale": 2.0}, "uv_scale"),
    ],
)
def test_bad_obj(tmp_path, text, arguments, match):
    with refused(MeshError, match):
        read_mesh(written(tmp_path / "bad.obj", text), **arguments)


PLY = """ply
format ascii 1.0
comment made elsewhere
element vertex 4
property float x
property float y
property float z
property float s
property float t
element face 1
property list uchar int vertex_index
end_header
0 0 0 0 0
1 0 0 1 0
1 1 0 1 1
0 1 0 0 1
4 0 1 2 3
"""


def test_ascii_ply_with_vertex_coordinates(tmp_path):
    mesh = read_mesh(written(tmp_path / "a.ply", PLY))
    assert len(mesh.faces) == 2 and mesh.rest_area.sum() == pytest.approx(1)


def test_big_endian_mixed_polygons(tmp_path):
    head = (
        PLY.split("end_header")[0].replace("ascii", "binary_big_endian").replace("face 1", "face 2")
    )
    rows = [line.split() for line in PLY.split("end_header")[1].splitlines()[1:5]]
    body = np.array(rows, ">f4").tobytes()
    body += bytes([4]) + np.array([0, 1, 2, 3], ">i4").tobytes()
    body += bytes([3]) + np.array([2, 1, 0], ">i4").tobytes()
    path = tmp_path / "a.ply"
    path.write_bytes(head.encode() + b"end_header\n" + body)
    assert read_mesh(path).faces.shape == (3, 3)


@pytest.mark.parametrize(
    "text, what",
    [
        ("plx\n", "PLY file"),
        (PLY.replace("4 0 1 2 3", "4 0 1 2 9"), "vertex indices of face 0"),
        (PLY.replace("0 1 0 0 1", "0 nan 0 0 1"), "PLY file"),
        *(
            (PLY.replace(*change), "PLY file")
            for change in (
                ("4 0 1 2 3", "4 0 1 2"),
                ("float x", "floot x"),
                ("float x", "list uchar float x"),
                ("element vertex 4", "element vertex -4"),
                ("element face 1", "element faces 1"),
                ("list uchar int vertex_index", "int vertex_index"),
                ("end_header", "property int texcoord\nend_header"),
                ("format ascii 1.0", "format ebcdic 1.0"),
            )
        ),
    ],
)
def test_bad_ply(tmp_path, text, what):
    with pytest.raises(MeshError) as caught:
        read_mesh(written(tmp_path / "bad.ply", text))
    assert caught.value.what == what


def test_a_format_is_one_line(tmp_path, monkeypatch):
    """What stands in ``FORMATS`` is read as cloth and as a body, and written."""
    assert io.suffixes("read").startswith(".obj, .ply")
    monkeypatch.setattr(io, "FORMATS", {**io.FORMATS, ".mine": io.FORMATS[".obj"]})
    mesh, path = grid(4, 3, 1.0, 1.0), tmp_path / "a.MINE"
    io.write_mesh(path, mesh.vertices, mesh.faces, mesh.corner_uv)
    np.testing.assert_array_equal(io.read_mesh(path).vertices, mesh.vertices)
    np.testing.assert_array_equal(io.read_surface(path, scale=2.0)[0], 2 * mesh.vertices)
    notes = []
    mine = io.Format(animate=lambda path, film: notes.append((path.name, film.count)) or ["a note"])
    monkeypatch.setattr(io, "FORMATS", {**io.FORMATS, ".film": mine})
    film = Animation([SurfaceTopology("cloth", mesh.faces)], 3, lambda k: None)
    assert io.write_animation(tmp_path / "b.film", film) == ["a note"]
    assert notes == [("b.film", 3)]


def test_a_warp_direction_wins_over_texture_coordinates(tmp_path):
    """The mesh is then its own rest shape; its coordinates would make it four times as wide."""
    path = written(tmp_path / "a.obj", TEXTURED + "f 1/1 2/2 3/3\n")
    assert read_mesh(path, rest="uv").rest_area.sum() == pytest.approx(8.0)
    mesh = read_mesh(path, warp=(0, 1, 0))
    np.testing.assert_allclose(mesh.rest_area, 0.5)
    np.testing.assert_allclose(mesh.corner_uv[0, 2] - mesh.corner_uv[0, 0], [1, 0], atol=1e-12)
