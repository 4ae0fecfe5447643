"""Regions of faces, as files of every kind say them; polygons are triangles afterwards."""

import numpy as np
import pytest

from tests.engine.io.files import GRID, QUADS, define, gltf
from weft.io import read_mesh

pytestmark = pytest.mark.quick

LEFT = [k for k in range(12) if k % 4 < 2]  # of the quads
OF_LEFT = sorted([2 * k for k in LEFT] + [2 * k + 1 for k in LEFT])


def test_usd_subsets(tmp_path):
    """Subsets of faces; one of points is a group alone. A mirrored mesh has the same ones."""
    pytest.importorskip("pxr.Usd")
    from pxr import Usd, UsdGeom

    opened = Usd.Stage.CreateNew(str(tmp_path / "a.usda"))
    for name, factor in (("plain", 1), ("mirrored", -1)):
        mesh = define(opened, f"/{name}", GRID.vertices, QUADS, GRID.vertex_uv)
        UsdGeom.Xformable(mesh).AddScaleOp().Set((factor, 1, 1))
        UsdGeom.Subset.CreateGeomSubset(mesh, "left", "face", LEFT)
        UsdGeom.Subset.CreateGeomSubset(mesh, "corner", "point", [0])
    opened.Save()
    for name in ("plain", "mirrored"):
        found = read_mesh(tmp_path / "a.usda", scale=1.0, prim=name)
        assert {k: v.tolist() for k, v in found.regions.items()} == {"left": OF_LEFT}
        assert found.groups["corner"].tolist() == [0]


def test_obj_groups_and_materials(tmp_path):
    """``g``, ``o`` and ``usemtl``; where a group and a material share a name it is the group's."""
    lines = ["v {} {} {}".format(*x) for x in GRID.vertices.tolist()]
    lines += ["vt {} {}".format(*uv) for uv in GRID.vertex_uv.tolist()]
    lines += ["o sheet", "usemtl blue wool"]
    for k, quad in enumerate(QUADS):
        lines += ["usemtl left", "g left both"] if k == 6 else ["g both"] if k == 7 else []
        lines.append("f " + " ".join(f"{i + 1}/{i + 1}" for i in quad))
    (tmp_path / "a.obj").write_text("\n".join(lines))
    found = {k: v.tolist() for k, v in read_mesh(tmp_path / "a.obj").regions.items()}
    assert found["blue wool"] == list(range(12)) and found["sheet"] == list(range(24))
    assert found["left"] == [12, 13] and found["both"] == list(range(12, 24))


@pytest.mark.parametrize("name", ["material", "vertex_i"])  # any name
@pytest.mark.parametrize("kind", ["ascii", "binary_little_endian"])
def test_ply_numbers_of_faces(tmp_path, kind, name):
    """A whole number of the faces; one that is no whole number makes none."""
    head = (
        f"ply\nformat {kind} 1.0\nelement vertex {GRID.n_vertices}\nproperty float x\n"
        "property float y\nproperty float z\nproperty float s\nproperty float t\n"
        f"element face {len(QUADS)}\nproperty list uchar int vertex_indices\n"
        f"property uchar {name}\nproperty float heat\nend_header\n"
    )
    points = np.hstack([GRID.vertices, GRID.vertex_uv]).astype("<f4")
    rows = np.zeros(12, [("n", "u1"), ("ids", "<i4", 4), ("m", "u1"), ("h", "<f4")])
    rows["n"], rows["ids"], rows["m"] = 4, QUADS, [7 if k in LEFT else 2 for k in range(12)]
    data = points.tobytes() + rows.tobytes()
    if kind == "ascii":
        lines = [*points.tolist(), *([n, *ids, m, h] for n, ids, m, h in rows.tolist())]
        data = "\n".join(" ".join(map(str, line)) for line in lines).encode()
    (tmp_path / "a.ply").write_bytes(head.encode() + data)
    found = read_mesh(tmp_path / "a.ply").regions
    assert list(found) == [f"{name} 2", f"{name} 7"]
    assert found[f"{name} 7"].tolist() == OF_LEFT


def test_gltf_materials(tmp_path):
    """Primitives of a material, two of them of the same; one without is in no region."""
    x = np.array([[k % 2, k // 2, 0.0] for k in range(6)])
    faces = [[0, 1, 2], [1, 3, 2], [2, 3, 4], [3, 5, 4]]
    prims = [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2 + k} for k in range(4)]
    prims[0]["material"], prims[1]["material"], prims[3]["material"] = 0, 1, 0
    materials = [{"name": "red"}, {"name": "blue"}]
    tree = {"nodes": [{"mesh": 0}], "meshes": [{"primitives": prims}], "materials": materials}
    ids = [np.array(f, np.uint16) for f in faces]
    found = read_mesh(gltf(tree, [x, x[:, :2], *ids], tmp_path / "a.gltf"))
    assert {k: v.tolist() for k, v in found.regions.items()} == {"red": [0, 3], "blue": [1]}
    assert found.faces.tolist() == faces
