"""What readers leave out is said by kind and number; names and byte order marks are read."""

import codecs
import warnings

import numpy as np
import pytest

import weft
from tests.engine.io.files import GRID, QUADS, define, gltf
from tests.refusals import refused
from weft.base.errors import MeshError
from weft.bodies.shapes.primitives import load_body
from weft.io import read_mesh, read_motion, read_surface
from weft.scene.build import load_scene

SQUARE = """v 0 0 0
v 0 0 0.2
v 0.2 0 0.2
v 0.2 0 0
vt 0 0
vt 0 0.2
vt 0.2 0.2
vt 0.2 0
f 1/1 2/2 3/3 4/4
"""
PLY = """ply
format ascii 1.0
comment Kn\xf6pfe
element vertex 4
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
element edge 1
property int vertex1
property int vertex2
element camera 2
property float view
end_header
0 0 0
0 0 1
1 0 1
1 0 0
4 0 1 2 3
0 2
5
6
"""

CORNERS = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -0.0]])
CORNERS[3, 2] = 1


def obj(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def read_with_warnings(read, *arguments, **keywords):
    with warnings.catch_warnings(record=True, action="always") as caught:
        found = read(*arguments, **keywords)
    return found, [str(w.message) for w in caught]


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: codecs.BOM_UTF8 + text.encode(),
        lambda text: text.encode("utf-16"),
        lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    ],
    ids=["UTF-8", "UTF-16 little", "UTF-16 big"],
)
def test_a_byte_order_mark_is_no_part_of_the_first_statement(tmp_path, encode):
    plain = read_mesh(obj(tmp_path / "a.obj", SQUARE))
    marked = read_mesh(obj(tmp_path / "b.obj", encode(SQUARE)))
    np.testing.assert_array_equal(marked.vertices, plain.vertices)
    assert list(read_mesh(obj(tmp_path / "c.obj", encode("g hem\n" + SQUARE))).groups) == ["hem"]
    ply = obj(tmp_path / "a.ply", encode(PLY))
    assert len(read_with_warnings(read_surface, ply)[0][0]) == 4


def test_names_with_blanks_are_whole_and_of_latin_1(tmp_path):
    text = SQUARE.replace("f 1", "o Left Sleeve\ng Upper Row\nusemtl Knöpfe\nf 1")
    for encoding in ("utf-8", "latin-1"):
        mesh = read_mesh(obj(tmp_path / "a.obj", text.encode(encoding)))
        assert {"Left Sleeve", "Upper Row", "Upper", "Row"} <= mesh.groups.keys()
        assert "Left" not in mesh.groups and "Knöpfe" in mesh.regions


def test_statements_of_obj_are_counted(tmp_path):
    more = "l 1 3\nl 1 2\np 1\np 2\ncurv 0 1 1 2\nvn 0 1 0\ns 1\nmtllib a.mtl\n"
    colored = SQUARE.replace("v 0.2 0 0\n", "v 0.2 0 0 1 0 0\n")
    path = obj(tmp_path / "a.obj", colored + more)
    (line,) = read_with_warnings(read_mesh, path)[1]
    mesh, (more,) = read_with_warnings(read_mesh, path, sewing="edges")
    assert mesh.loose_edges.tolist() == [[0, 2]]  # the line along a side of the face is none
    assert "points" in more and "loose edges" not in more
    for part in ("loose edges", "(1)", "points `p` (2)", "`curv` (1)", "colors of vertices (1)"):
        assert part in line
    assert "sewing: edges" in line and "vn" not in line and "mtllib" not in line
    assert read_with_warnings(read_mesh, obj(tmp_path / "b.obj", SQUARE))[1] == []
    (line,) = read_with_warnings(load_body, path)[1]
    assert "loose edges (1)" in line and "sewing" not in line


def test_elements_of_ply_are_counted(tmp_path):
    path = obj(tmp_path / "a.ply", PLY.encode("latin-1"))
    mesh, (line,) = read_with_warnings(read_mesh, path, warp=(1, 0, 1), sewing="edges")
    assert "`camera` (2)" in line
    assert mesh.loose_edges.tolist() == [[0, 2]]


def test_primitives_and_animations_of_gltf_are_counted(tmp_path):
    """Strips and fans are triangles; points, lines and further animations are said."""
    x = np.float32([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 2, 0]])
    strip, fan = np.uint16([0, 1, 2, 3, 4]), np.uint16([0, 1, 3, 4])
    primitives = [
        {"attributes": {"POSITION": 0}, "indices": 1, "mode": 5},
        {"attributes": {"POSITION": 0}, "indices": 2, "mode": 6},
        {"attributes": {"POSITION": 0}, "mode": 0},
        {"attributes": {"POSITION": 0}, "mode": 1},
    ]
    still = {"samplers": [], "channels": []}
    tree = {"nodes": [{"mesh": 0}], "meshes": [{"primitives": primitives}]}
    path = gltf({**tree, "animations": [still, still]}, [x, strip, fan], tmp_path / "a.gltf")
    found, (line,) = read_with_warnings(read_surface, path)
    assert found[1].tolist() == [[0, 1, 2], [1, 3, 2], [2, 3, 4], [1, 3, 0], [3, 4, 0]]
    for part in ("points (1)", "lines (1)", "animations after the first one (1)"):
        assert part in line


def test_prims_and_values_of_usd_are_counted(tmp_path):
    pytest.importorskip("pxr")
    from pxr import Sdf, Usd, UsdGeom, UsdSkel

    path = tmp_path / "a.usda"
    stage = Usd.Stage.CreateNew(str(path))
    mesh = define(stage, "/cloth", GRID.vertices, QUADS)
    kind = Sdf.ValueTypeNames.Point3fArray
    points = mesh.GetPrim().CreateAttribute("physics:restShapePoints", kind)
    points.Set(mesh.GetPointsAttr().Get())
    mesh.CreateHoleIndicesAttr([3])
    UsdGeom.Sphere.Define(stage, "/ball")
    UsdGeom.BasisCurves.Define(stage, "/hair")
    binding = UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateJointIndicesPrimvar(False, 1).Set([0] * len(GRID.vertices))
    binding.CreateJointWeightsPrimvar(False, 1).Set([1.0] * len(GRID.vertices))
    stage.Save()
    for read in (read_surface, read_motion):
        _, (skin, line) = read_with_warnings(read, path)
        assert "SkelRoot" in skin and "/cloth" in skin
        for part in ("`physics:restShapePoints` (20)", "`holeIndices` (1)", "Sphere (1)"):
            assert part in line
    _, said = read_with_warnings(read_mesh, path, prim="/cloth", warp=(1, 0, 0))
    assert "restShapePoints" in said[1] and "Sphere" not in said[1]


BODY = """v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
v 5 5 5
vt 0 0
f 1/1 3/1 2/1
f 1 2 4
f 1 4 3
f 2 3 4
f 2 3 4
f 2 2 4
f 1 2
f 1 2 4 4
"""


def test_bodies_are_not_cloth(tmp_path):
    """Partial texture, collapsed and repeated faces and loose vertices refuse no body."""
    path = obj(tmp_path / "a.obj", BODY.replace("f 1 2 4\n", "f 1 2 4\nf 1/9 2/1 4/1\n"))
    body, (line,) = read_with_warnings(load_body, path)
    assert len(body.faces) == 4 and "collapsed faces (2)" in line and "twice (3)" in line
    with refused(MeshError, "texture index"):
        read_mesh(path)
    with refused(MeshError, ("face", "2 2 4")):
        read_mesh(obj(tmp_path / "b.obj", BODY.replace("/1", "").replace("vt", "#")))


def test_texture_of_ply_refuses_no_body(tmp_path):
    text = PLY.replace("vertex_indices\n", "vertex_indices\nproperty list uchar float texcoord\n")
    path = obj(tmp_path / "a.ply", text.replace("4 0 1 2 3", "4 0 1 2 3 2 0 0"))
    assert len(read_with_warnings(load_body, path)[0].faces) == 2
    with refused(MeshError, ("PLY file", "texcoord")):
        read_mesh(path)


TETRAHEDRON = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def binary_stl(x, faces, head=b"solid of some program"):
    rows = np.zeros(len(faces), [("n", "<f4", 3), ("x", "<f4", (3, 3)), ("a", "<u2")])
    rows["x"] = x[faces]
    return head.ljust(80) + len(faces).to_bytes(4, "little") + rows.tobytes()


def ascii_stl(x, faces):
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {a:e} {b:e} {c:e}\n" for a, b, c in x[f].tolist())
        + "endloop\nendfacet\n"
        for f in faces
    ]
    half = len(facets) // 2
    parts = "".join(facets[:half]), "".join(facets[half:])
    return "".join(f"solid part {k}\n{p}endsolid part {k}\n" for k, p in enumerate(parts)).encode()


@pytest.mark.parametrize("write", [binary_stl, ascii_stl])
def test_stl_is_welded_into_a_closed_body(tmp_path, write):
    path = obj(tmp_path / "a.STL", write(CORNERS, TETRAHEDRON))
    body = load_body(path)
    np.testing.assert_array_equal(body.vertices[body.faces], CORNERS[TETRAHEDRON])
    assert len(body.vertices) == 4 and body.flaws == []
    if write is ascii_stl:
        regions = read_mesh(path, warp=(1, 2, 3)).regions
        assert {k: v.tolist() for k, v in regions.items()} == {"part 0": [0, 1], "part 1": [2, 3]}


@pytest.mark.parametrize(
    "data", [b"", b"solid x\nvertex 1 2\n", binary_stl(CORNERS, TETRAHEDRON)[:-9]]
)
def test_damaged_stl_is_named(tmp_path, data):
    with refused(MeshError, "STL file"):
        load_body(obj(tmp_path / "a.stl", data))


PILLOW = """v 0 0 0
v 0 0 0.1
v 0.1 0 0.1
v 0.1 0 0
v 0 0.02 0
v 0 0.02 0.1
v 0.1 0.02 0.1
v 0.1 0.02 0
f 1 2 3
f 1 3 4
f 5 7 6
f 5 8 7
l 1 5
l 2 6
l 3 7
l 4 8
"""


def test_loose_edges_are_sewn(tmp_path):
    """Two cloths, of which the second one is sewn."""
    obj(tmp_path / "pillow.obj", PILLOW)
    file = tmp_path / "scene.yaml"
    file.write_text(
        "cloths:\n- {sheet: {nx: 3, ny: 3, width: 1 cm, height: 1 cm}, translation: [1, 0, 0]}\n"
        "- {mesh: {file: pillow.obj, warp: [1, 0, 0.1], sewing: edges}}\n"
        "gravity: [0, 0, 0]\nsewing: {closing: 0.2 s}\nstep: 10 ms\nseconds: 0.4\n"
    )
    loaded = load_scene(file)
    run = weft.simulate(loaded.scene, frames=loaded.frames, progress=False)
    x = run.positions()[9:]
    assert np.linalg.norm(x[:4] - x[4:], axis=1).max() < 1e-4
    with refused(MeshError, "sewing", expected="edges without faces"):
        weft.load(obj(tmp_path / "a.obj", SQUARE), sewing="edges")
