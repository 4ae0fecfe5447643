"""Cloth that is bent at the start and flat at rest says by how much it would open."""

import numpy as np
import pytest

import weft
from weft.io.obj import write_obj
from weft.run.bends import about_bends
from weft.run.check_scene import check
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick


def folded(angle):
    """A sheet that is folded along a line of vertices, without stretch."""
    sheet = weft.sheet(9, 5, 0.8, 0.4)
    x = sheet.vertices.copy()
    right = np.maximum(x[:, 0], 0.0)
    x[:, 0] += right * (np.cos(angle) - 1)
    x[:, 1] += right * np.sin(angle)
    return sheet.with_points(x)


def said(scene):
    return list(about_bends(scene.cloth, prepare(scene).model.energies))


@pytest.mark.parametrize("bending", ["hinges", "quadratic", "fitted", "pairs"])
def test_a_fold_says_its_angle(bending):
    (text,) = said(weft.Scene(folded(np.radians(60)), bending=bending))
    assert "up to 60 degrees" in text and "at 4 of" in text and "flat at rest" in text
    assert said(weft.Scene(folded(np.radians(5)), bending=bending)) == []
    assert said(weft.Scene(folded(0.0).move((0, 1, 0), (40, 20, 0)), bending=bending)) == []


def test_rest_angles_count():
    cloth = folded(np.radians(60))
    assert said(weft.Scene(cloth, rest_angles="as-given")) == []
    assert said(weft.Scene(cloth, rest_angles="as-given", bending="pairs")) == []
    (text,) = said(weft.Scene(cloth, rest_angles=folded(np.radians(20)).vertices))
    assert "up to 40 degrees" in text and "other rest angles" in text
    several = weft.join([weft.sheet(3, 3).move((0, 1, 0)), folded(1.0)], ["one", "two"])
    (text,) = said(weft.Scene(several))
    assert text.startswith("two is bent")


def test_a_part_without_hinges_hides_no_other():
    uv = [[[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]]
    bent = folded(1.0)
    triangle = weft.Cloth(weft.TriangleMesh(np.eye(3), [[0, 1, 2]], uv), bent.fabric)
    (text,) = said(weft.Scene(weft.join([triangle, bent], ["one", "two"])))
    assert text.startswith("two is bent")


def test_a_smooth_bend_says_its_sum():
    """A tube of many small angles opens all the same."""
    sheet = weft.sheet(121, 5, 1.2, 0.4)
    u, _, v = sheet.vertices.T
    x = np.stack([np.sin(2 * u) / 2, -np.cos(2 * u) / 2, v], axis=1)
    (text,) = said(weft.Scene(sheet.with_points(x)))
    total = np.degrees(2.0) * np.sqrt(1.2 * 0.4)  # the curvature is 2/m
    assert "at 0 of" in text
    assert float(text.split("and by ")[1].split()[0]) == pytest.approx(total, rel=0.03)


def test_files_and_runs_say_it(tmp_path):
    cloth = folded(np.radians(60))
    write_obj(tmp_path / "a.obj", cloth.vertices, cloth.faces, cloth.corner_uv)
    path = tmp_path / "scene.yaml"
    path.write_text("cloth: {mesh: {file: a.obj}}\n")
    assert any("up to 60 degrees" in w for w in check(path).warnings)
    with pytest.warns(UserWarning, match="up to 60 degrees"):
        weft.simulate(weft.Scene(cloth), frames=1, fps=100, out=tmp_path / "run")


@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_the_rim_of_a_pillow_is_a_seam(shift):
    """Two sheets on each other, sewn at two edges, with one place in the texture or two."""
    sheet = weft.sheet(5, 5, 0.4, 0.4)
    x, n, faces = sheet.vertices, sheet.n_vertices, sheet.faces
    joined = np.arange(n, 2 * n)
    rim = np.isclose(np.abs(x[:, 0]), 0.2)
    joined[rim] = np.flatnonzero(rim)
    used, faces = np.unique(np.concatenate([faces, joined[faces][:, ::-1]]), return_inverse=True)
    points = np.concatenate([x, x - [0, 2e-3, 0] * ~rim[:, None]])[used]
    uv = np.concatenate([sheet.corner_uv, sheet.corner_uv[:, ::-1] + [shift, 0]])
    mesh = weft.TriangleMesh(points, faces.reshape(-1, 3).astype(np.int32), uv)
    assert np.isin(np.unique(joined[rim]), mesh.hinges[:, :2]).any()
    assert said(weft.Scene(weft.Cloth(mesh, sheet.fabric))) == []
