"""Material files of ARCSim: what is read, what is refused, and where cloth of them goes.

The numbers are invented.
"""

import dataclasses
import json

import numpy as np
import pytest

import weft
from tests.engine.adjoint.cases import TIGHT, compared
from tests.refusals import refused
from weft.adjoint.adjoint import Adjoint
from weft.base.errors import FabricError, SceneError, WeftError
from weft.fabric.fabric import fabric
from weft.laws import DataDriven
from weft.plugins.lab.laboratory.loop import bending_loop
from weft.scene.build import load_scene
from weft.scene.membrane_law import membrane_law
from weft.scene.prepare import prepare

TABLES = {
    "density": 0.2,
    "bending": [
        [9e-5, 7e-5, 6e-5, 5.5e-5, 5.2e-5],
        [11e-5, 9e-5, 7e-5, 6e-5, 5.6e-5],
        [15e-5, 11e-5, 9e-5, 8e-5, 7.5e-5],
    ],
    "stretching": [
        [600, 60, 420, 25],
        [1500, 150, 520, 40],
        [1300, 170, 600, 60],
        [900, 220, 800, 90],
        [700, 160, 1000, 60],
        [640, 140, 1150, 45],
    ],
}


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(name="twill.json", **changes):
        tree = {k: v for k, v in {**TABLES, **changes}.items() if v is not None}
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(tree, indent=1))
        return name

    return write


def test_numbers_are_those_at_rest(write, tmp_path):
    """k = 2 c, shear c33, rigidity a fifth of the bending number; comments and 9e-05 are read."""
    path = tmp_path / write()
    path.write_text(path.read_text().replace("{", '{ // "twill"\n /* of\n two lines */', 1))
    f = fabric(str(path))
    assert (f.density, f.stretch_warp, f.stretch_weft, f.shear) == (0.2, 1200, 840, 25)
    assert (f.bending_warp, f.bending_weft) == pytest.approx((3e-5, 1.8e-5))
    assert f.origin("shear") == "measured" and f.name == "twill"
    other = fabric({"preset": "cotton", "arcsim": str(path), "shear": "50 N/m"})
    assert (other.shear, other.density, other.thickness) == (50, 0.2, fabric("cotton").thickness)
    rows = other.arcsim.stiffnesses((1200.0, 840.0), 50.0)
    np.testing.assert_allclose(rows, 2 * np.array(TABLES["stretching"]) * [1, 1, 1, 2])


def test_material_of_a_scene(write, tmp_path):
    write("data/twill.json")
    own = {"thicken": 2, "bending_mult": 3, "density_mult": 0.5, "damping": 1e-3}
    material = {"data": "data/twill.json", **own, "strain_limits": [0.95, 1.05], "yield_curv": 200}
    (tmp_path / "worn.json").write_text(json.dumps(material))
    with pytest.warns(UserWarning, match="yield_curv"):
        f = fabric("worn.json")
    assert (f.density, f.stretch_warp, f.damping) == (0.2, 2400, 1e-3)
    assert f.bending_warp == pytest.approx(6 * 3e-5)
    assert (f.limit_warp, f.limit_weft) == pytest.approx((0.05, 0.05))


@pytest.mark.parametrize(
    "changes, what, parts",
    [
        ({"density": None}, "density", {"got": "nothing"}),
        ({"stretching": TABLES["stretching"][:5]}, "stretching", {"expected": "6 rows of 4"}),
        ({"bending": [[1e-5] * 5, [1e-5] * 4, [1e-5] * 5]}, "bending", {"got": "rows of 5, 4, 5"}),
        ({"bending": [[0.0] * 5] * 3}, "bending.0.0", {"expected": "> 0"}),
        ({"thicken": 0}, "thicken", {"where": "twill.json:"}),
    ],
)
def test_refused(write, changes, what, parts):
    with refused(FabricError, what, **parts):
        fabric(write(**changes))


def test_refused_files(write, tmp_path):
    with refused(FabricError, "ARCSim file", where="nothing.json"):
        fabric({"arcsim": "nothing.json"})
    (tmp_path / "bad.json").write_text('{"density": [1,\n')
    with refused(FabricError, where="bad.json:2"):
        fabric("bad.json")
    for given in ({"crease_yield": "20 1/m"}, {"curve": [["1 %", "5 N/m"]]}):
        with refused(FabricError, got="with arcsim"):
            fabric({"arcsim": write(), **given})


def test_scene_file_finds_its_material(write, tmp_path, monkeypatch):
    write("materials/twill.json")
    scene = tmp_path / "scene.yaml"
    block = "{{sheet: {{nx: 4, ny: 4}}, fabric: {}}}"
    monkeypatch.chdir("/")
    for given in ("{arcsim: materials/twill.json, thickness: 1 mm}", "materials/twill.json"):
        scene.write_text(f"cloth: {block.format(given)}\nseconds: 0.1 s\n")
        made = load_scene(scene).scene
        assert made.cloth.fabric.arcsim.bending[1][0] == pytest.approx(11e-5)
        assert isinstance(membrane_law(made, made.cloth.fabric), DataDriven)


def hanging(made, **more):
    cloth = weft.sheet(5, 5, 0.2, 0.2, fabric=made)
    return weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))], **more)


def test_worlds_of_other_tables_are_what_they_are_alone(write):
    names = [write(), write("soft.json", stretching=[[60, 6, 42, 5]] * 6)]
    scenes = [hanging(fabric(name)) for name in names]
    together = weft.batch(scenes, fps=50).run("60 ms")
    for scene, frames in zip(scenes, together):
        np.testing.assert_array_equal(frames, weft.batch([scene], fps=50).run("60 ms")[0])


def test_derivatives_of_runs(write):
    """By the numbers that scale the tables."""
    scene = hanging(fabric(write(damping=0.02)), step=0.01, settings=TIGHT)
    x = np.array(scene.cloth.points)
    x[:, 2] += 0.002 * np.sin(40 * x[:, 0] + 25 * x[:, 1])
    scene = scene.with_(cloth=scene.cloth.with_points(x), velocity=(0.1, 0.0, -0.2))
    names = [f"fabric.{n}" for n in ("density", "stretch_warp", "shear", "bending_weft", "damping")]
    got, expected, _ = compared(scene, names)
    assert got == pytest.approx(expected, rel=1e-4)


def test_splines(write):
    cloth = weft.spline_sheet(6, 6, 0.2, 0.2, fabric=fabric(write()))
    scene = weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))])
    (frames,) = weft.batch([scene], fps=20).run(0.05)
    assert np.abs(frames[-1] - frames[0]).max() > 1e-3


def test_refused_in_scenes(write):
    with refused(WeftError, got="data_driven"):
        prepare(hanging(fabric({"arcsim": write(), "yield": "3 %"})))
    with refused(SceneError, got="energy bending"):
        Adjoint(hanging(fabric(write())), lambda *a: a, ["rest"], frames=1, fps=100)()


def test_maps_scale_tables(write):
    """Where painted weights are 1 cloth is that of the other numbers, in all columns."""
    plain = fabric(write())
    other = dataclasses.replace(plain, shear=50.0, bending_warp=6e-5, bending_weft=3.6e-5)
    maps = {n: weft.FabricMap("w", getattr(other, n)) for n in ("shear", "bending_warp")}
    maps["bending_weft"] = weft.FabricMap("w", 3.6e-5)
    cloth = weft.sheet(5, 5, 0.2, 0.2)
    mesh = dataclasses.replace(cloth.mesh, weights={"w": np.ones(25)})
    cloth = weft.Cloth(mesh, dataclasses.replace(plain, maps=maps))
    painted = prepare(weft.Scene(cloth)).model.energies
    x = cloth.points + 0.01 * np.sin(40 * cloth.points[:, [1, 2, 0]])
    for one, two in zip(painted, prepare(hanging(other)).model.energies):
        np.testing.assert_allclose(one.gradient(x), two.gradient(x), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("direction, row", [("warp", 2), ("weft", 0)])
def test_pure_bending_gives_the_table_back(write, direction, row):
    """KES-FB2 in the laboratory: moment per width over curvature is a fifth of the numbers."""
    loop = bending_loop(fabric(write()), direction)
    rigidity = 0.2 * np.interp(abs(loop.strain), np.arange(5) * 10.0, TABLES["bending"][row])
    np.testing.assert_allclose(loop.load, rigidity * loop.strain, rtol=0.05, atol=1e-9)
