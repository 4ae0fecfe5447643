"""The look `stress`, principal stress in files and pages, and curvature that is even."""

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import weft
from tests.refusals import refused
from weft.base.errors import RunError
from weft.cli.commands import app
from weft.cloth.fields import face_stress, principal_stress, vertex_mean
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.laws.baraff_witkin import BaraffWitkin
from weft.scene.build import load_scene
from weft.scene.membrane_law import physics
from weft.show import looks
from weft.show.picture.style import Style
from weft.show.viewer.page import content_of

pytestmark = pytest.mark.quick

SCENE = """
cloth: {sheet: {nx: 5, ny: 6, width: 20 cm, height: 30 cm}}
pins:
- border: top
- {border: bottom, path: {hold: true, keyframes: [{time: 0.1, translation: [0, 0, 6 mm]}]}}
gravity: [0, 0, 0]
seconds: 0.1 s
fps: 20
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same sheet, pulled, with stress recorded and without."""
    folder, made = tmp_path_factory.mktemp("stress"), {}
    for name, more in (("with", "record: [stress]\n"), ("without", "")):
        (folder / f"{name}.yaml").write_text(SCENE + more)
        scene = load_scene(folder / f"{name}.yaml").scene
        made[name] = weft.simulate(scene, frames=2, fps=20, out=folder / name, progress=False)
        made["scene"] = scene
    return made


def test_principal_stress_is_that_of_cauchy():
    """Eigenvalues of P F^T/J in space, P = dpsi/dF of the law, of any F and however turned."""
    law, rng = BaraffWitkin((300.0, 200.0), 40.0), np.random.default_rng(2)
    F = np.eye(3)[:, :2] + 0.3 * rng.normal(size=(20, 3, 2))
    high, low = principal_stress(F, face_stress(F, [(law, 20)]))
    J = np.linalg.norm(np.cross(F[:, :, 0], F[:, :, 1]), axis=1)
    sigma = law.stress(F) @ np.swapaxes(F, 1, 2) / J[:, None, None]
    in_plane = np.sort(np.linalg.eigvals(sigma).real, axis=1)
    found = np.sort(np.stack([high, low, np.zeros(20)], axis=1), axis=1)
    np.testing.assert_allclose(found, in_plane, atol=1e-9 * np.abs(found).max())


def test_a_pull_has_force_over_width(runs):
    """2 % along the weft: the look's numbers are what pins pull with over the width, in the middle;
    the same from laws as recorded.
    """
    scene, run = runs["scene"], runs["with"]
    recorded = run.field("stress")
    made = runs["without"].field("stress", physics=physics(scene))
    np.testing.assert_allclose(made, recorded, atol=1e-9 * np.abs(recorded).max())
    F = linear_triangle(run.mesh).deformation_gradient(run.positions())
    high, _ = principal_stress(F, recorded)
    assert np.median(high) == pytest.approx(0.02 * scene.cloth.fabric.stretch_weft, rel=0.02)


def test_the_look_stress(runs, tmp_path):
    """Drawn of what was recorded, and with laws else; refused by name without both."""
    style, bare = Style(width=320, height=180, look="stress"), runs["without"]
    runs["with"].render(tmp_path / "a.png", style=style)
    with refused(RunError, "field stress", got="law", hint="`record`"):
        bare.render(tmp_path / "c.png", style=style)
    words = ("--look", "stress", "--width", "320", "--height", "180")
    said = CliRunner().invoke(app, ["render", str(bare.path), str(tmp_path / "d.png"), *words])
    assert said.exit_code == 0, said.output
    a, d = (np.asarray(Image.open(tmp_path / f"{k}.png")).astype(int) for k in "ad")
    assert np.abs(d - a).max() <= 1 and a.std() > 5
    assert "stress" not in content_of(bare).about["scales"]
    drawn, recorded = content_of(bare, physics=physics(runs["scene"])), content_of(runs["with"])
    assert drawn.about["scales"]["stress"] == recorded.about["scales"]["stress"]
    scale = looks.LOOKS["stress"].scale(np.array([-3.0, 0.0, 42.0]))
    assert (scale.low, scale.high, scale.unit) == (0.0, 50.0, "N/m")


def test_principal_stress_in_files(runs, tmp_path):
    """VTKHDF and npz have it at faces and vertices, beside warp, weft and shear."""
    h5py = pytest.importorskip("h5py")
    run = runs["with"]
    run.export(tmp_path / "a.vtkhdf")
    with h5py.File(tmp_path / "a.vtkhdf") as file:
        cells = file["VTKHDF/CellData"]
        high, low = (cells[f"stress_{end}"][-len(run.faces) :] for end in ("max", "min"))
        assert len(cells["stress"]) == 3 * len(run.faces)
    assert (high >= low).all() and high.max() > 0
    run.export(tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as file:
        np.testing.assert_allclose(file["cell_stress_max"][-1], high, rtol=1e-5)
        means = vertex_mean(run.mesh, high)
        np.testing.assert_allclose(file["point_stress_max"][-1], means, rtol=1e-4)


def rolled(mesh):
    """Curvature that is found at the vertices of a sheet on a cylinder of radius 0.5."""
    u = mesh.vertices[:, 0]
    x = np.stack([0.5 * np.sin(2 * u), 0.5 * np.cos(2 * u), mesh.vertices[:, 2]], axis=1)
    return np.abs(looks.mean_curvature(mesh, x))


@pytest.mark.parametrize("pattern", ["regular", "alternating", "random"])
def test_curvature_is_even(pattern):
    """A cylinder of radius 0.5 has the mean curvature 1 at every vertex, at borders and corners
    too, whichever way diagonals go; at random ones around it.
    """
    H = rolled(grid(21, 21, 1.0, 1.0, pattern, 0))
    if pattern == "random":
        assert H.mean() == pytest.approx(1.0, abs=0.02) and H.std() < 0.15
        return
    np.testing.assert_allclose(H, 1.0, atol=1e-3)


def test_curvature_of_a_strip_of_one_square_is_not_lost():
    """All of its faces lack a hinge: what they have counts."""
    assert 0.4 < np.median(rolled(grid(21, 2, 1.0, 0.05))) <= 1.1
