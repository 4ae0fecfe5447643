"""The rest shape of a mesh file: its mesh, its texture coordinates, another file or time."""

import warnings

import numpy as np
import pytest

from tests.engine.io.files import GRID, define
from tests.plugins.film.film_assets import CAPE, CAPE_U, cape_points, cape_quads, write_cape
from tests.refusals import refused
from weft.base.errors import DegenerateFacesError, MeshError
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.discretization.samples import principal_stretches
from weft.io import read_mesh
from weft.io.obj import write_obj
from weft.run.check_scene import check
from weft.scene.build import load_scene

pytestmark = pytest.mark.quick


@pytest.fixture(autouse=True)
def _warnings_fail():
    with warnings.catch_warnings(action="error"):
        yield


@pytest.fixture
def cape(tmp_path):
    pytest.importorskip("pxr.Usd")
    write_cape(tmp_path / "cape.usda")
    return tmp_path / "cape.usda"


def stretches(mesh, x=None):
    F = linear_triangle(mesh).deformation_gradient(mesh.vertices if x is None else x)
    return np.array(principal_stretches(F)), F


def roof(tmp_path, uv):
    """Two planes of 1 m at a right angle, with texture coordinates (12,2) of a 4 x 2 grid."""
    mesh = grid(3, 2, 2.0, 1.0)
    x = np.array(mesh.vertices)
    x[x[:, 0] > 0.5] += [-1, 1, 0]
    write_obj(tmp_path / "roof.obj", x, mesh.faces, uv(mesh.corner_uv))
    return tmp_path / "roof.obj"


def test_an_atlas_gives_the_directions_alone(cape):
    """The mesh is its own rest shape; the warp runs around the cape on either island."""
    with pytest.warns(UserWarning, match=f"cape.usda{CAPE}: its texture coordinates .* stretch"):
        mesh = read_mesh(cape)
    high_low, F = stretches(mesh)
    np.testing.assert_allclose(high_low, 1.0, atol=1e-6)
    np.testing.assert_allclose(F[:, 1, 0], 0.0, atol=1e-6)  # y is up: the warp is level
    np.testing.assert_allclose(F[:, :, 1], [[0.0, 1.0, 0.0]] * len(F), atol=1e-6)
    (row,) = [w for w in check(cape).warnings if "flat pattern" in w]
    assert "rest: mesh" in row and "uv_scale" in row
    assert not check(cape, rest="mesh").warnings
    assert np.array_equal(read_mesh(cape, rest="mesh").corner_uv, mesh.corner_uv)


def test_a_shear_of_the_atlas_shears_no_directions(tmp_path):
    """Warp and weft are at right angles, as near to the axes of the atlas as that allows."""
    path = roof(tmp_path, lambda uv: uv @ [[9.0, 0.0], [3.0, 9.0]])
    high_low, F = stretches(read_mesh(path, rest="mesh"))
    np.testing.assert_allclose(high_low, 1.0, atol=1e-12)
    angle = np.arctan2(3, 18)  # of the polar decomposition of that shear
    np.testing.assert_allclose(F[0, :, 0], [np.cos(angle), 0, -np.sin(angle)], atol=1e-12)


@pytest.mark.parametrize("size", [0.8, 1.0, 1.25])
def test_coordinates_that_are_nearly_isometric_are_the_rest_shape(tmp_path, size):
    path = roof(tmp_path, lambda uv: size * uv)
    expected = size * grid(3, 2, 2.0, 1.0).corner_uv
    np.testing.assert_allclose(read_mesh(path).corner_uv, expected, atol=1e-12)


def test_coordinates_that_are_asked_for_are_the_rest_shape(tmp_path):
    """However far they are from the mesh; a warp turns them and keeps lengths."""
    path = roof(tmp_path, lambda uv: uv * [5.0, 2.0])
    mesh = read_mesh(path, rest="uv")
    assert mesh.rest_area.sum() == pytest.approx(20.0)
    turned = read_mesh(path, rest="uv", warp=(0, 0, 1))
    np.testing.assert_allclose(stretches(turned)[0], stretches(mesh)[0], atol=1e-12)
    F = stretches(turned)[1]
    np.testing.assert_allclose(F[:, :, 0] / 0.5, [[0.0, 0.0, 1.0]] * 4, atol=1e-12)


def test_another_file_gives_the_rest_shape(tmp_path):
    """Polygons may be cut along other diagonals there."""
    x, quads = cape_points() / 100, np.array(cape_quads()) + 1
    v, u = np.divmod(np.arange(99), CAPE_U)
    flat = np.column_stack([0.05 * u, 0.07 * v, 0 * u])
    skew = flat + 0.02 * np.sin(40 * flat[:, [1, 0, 2]]) * [1, 1, 0]
    for name, points in (("start", x), ("rest", skew), ("other", x[:-CAPE_U])):
        kept = quads[(quads <= len(points)).all(1)]
        text = [f"v {a} {b} {c}\n" for a, b, c in points]
        text += [f"f {' '.join(map(str, q))}\n" for q in kept.tolist()]
        (tmp_path / f"{name}.obj").write_text("".join(text))
    start, rest = tmp_path / "start.obj", tmp_path / "rest.obj"
    mesh = read_mesh(start, rest=rest, warp=(1, 0, 0))
    assert not np.array_equal(mesh.faces, read_mesh(rest, warp=(1, 0, 0)).faces)
    np.testing.assert_allclose(mesh.vertices, x)
    high_low, F = stretches(mesh, skew)
    np.testing.assert_allclose(high_low, 1.0, atol=1e-12)
    np.testing.assert_allclose(F[:, :, 0], [[1.0, 0.0, 0.0]] * len(F), atol=1e-12)
    with refused(MeshError, "rest", where="other.obj", got="90 vertices", expected="99 vertices"):
        read_mesh(start, rest=tmp_path / "other.obj", warp=(1, 0, 0))
    (tmp_path / "s.yaml").write_text(
        "cloth: {mesh: {file: start.obj, rest: rest.obj, warp: [1, 0, 0]}}\n"
    )
    made = load_scene(tmp_path / "s.yaml").scene.cloth.mesh
    np.testing.assert_array_equal(made.corner_uv, mesh.corner_uv)
    assert any("strained at the start" in w for w in check(tmp_path / "s.yaml").warnings)


def test_another_time_gives_the_rest_shape(tmp_path):
    """A time code of the mesh's own samples; others are refused by the path of the prim."""
    pytest.importorskip("pxr.Usd")
    from pxr import Usd, UsdGeom, Vt

    path = tmp_path / "a.usda"
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    points = define(stage, "/shot/cloth", GRID.vertices, GRID.faces, GRID.vertex_uv).GetPointsAttr()
    for code, size in ((976, 1.0), (1001, 1.1)):
        points.Set(Vt.Vec3fArray.FromNumpy(np.float32(size * GRID.vertices)), code)
    stage.Save()
    found = read_mesh(path, rest=1001)
    np.testing.assert_allclose(found.vertices, GRID.vertices, atol=1e-6)
    np.testing.assert_allclose(stretches(found)[0], 1 / 1.1, atol=1e-6)
    with refused(MeshError, "frame", got="900", where="a.usda/shot/cloth", expected="976 to 1001"):
        read_mesh(path, rest=900)
    write_obj(tmp_path / "a.obj", GRID.vertices, GRID.faces, GRID.corner_uv)
    with refused(MeshError, "frame", where="a.obj", expected="USD"):
        read_mesh(tmp_path / "a.obj", rest=1001)


def test_coordinates_that_fold_over_are_named(tmp_path):
    """A vertex dragged across its neighbors; a half that is mirrored as a whole is fine."""
    mesh = grid(9, 9, 1.0, 1.0)
    uv = mesh.corner_uv
    path = tmp_path / "a.obj"
    dragged = np.where((mesh.faces == 40)[..., None], uv + [0.2, 0.0], uv)
    write_obj(path, mesh.vertices, mesh.faces, dragged)
    with pytest.warns(UserWarning, match=r"a\.obj: texture coordinates fold over: . of 128"):
        read_mesh(path)
    assert any("fold over" in w for w in check(path).warnings)
    read_mesh(path, warp=(1, 0, 0))
    mirrored = np.stack([np.abs(uv[..., 0] - 0.5), uv[..., 1]], axis=-1)
    write_obj(path, mesh.vertices, mesh.faces, mirrored)
    read_mesh(path)


def test_rest_shapes_that_cannot_be_are_refused(tmp_path):
    path = roof(tmp_path, lambda uv: uv)
    with refused(MeshError, "uv_scale", expected="rest: mesh"):
        read_mesh(path, rest="mesh", uv_scale=2.0)
    bare = tmp_path / "bare.obj"
    bare.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    for rest in ("mesh", "uv"):
        with refused(MeshError, "material coordinates", got="none"):
            read_mesh(bare, rest=rest)
    point = roof(tmp_path, lambda uv: 0 * uv)
    with refused(DegenerateFacesError, "material area of faces"):
        read_mesh(point, rest="mesh")
