"""Public names: each exported once, documented, and cheap to import."""

import inspect
import subprocess
import sys

import numpy as np
import pytest

import weft
from tests.refusals import refused

pytestmark = pytest.mark.quick

NAMES = [n for n in weft.__all__ if n not in ("adjoint", "contact", "integrators", "laws")]


@pytest.mark.parametrize("name", NAMES)
def test_name(name):
    thing = getattr(weft, name)
    assert inspect.getdoc(thing), f"weft.{name} has no docstring"


def test_design_names_are_there():
    for name in (
        "sheet",
        "load",
        "Scene",
        "Pin",
        "simulate",
        "Run",
        "Psd",
        "TriangleMesh",
        "WeftError",
    ):
        assert name in weft.__all__
    assert weft.laws.BaraffWitkin and "sheet" in dir(weft)


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'shet'"):
        _ = weft.shet


def test_import_loads_nothing_heavy():
    code = (
        "import sys, weft; print(sorted({'warp', 'numpy', 'scipy', 'pydantic'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_readme_example(tmp_path, monkeypatch):
    """The README's Python example runs as printed (fewer vertices, shorter)."""
    from pathlib import Path

    text = (Path(__file__).parents[1] / "README.md").read_text()
    code = text.split("```python\n")[1].split("```")[0]
    assert len(code.strip().splitlines()) <= 12
    monkeypatch.chdir(tmp_path)
    small = code.replace("66, 66", "8, 8").replace("seconds=2.0", "seconds=0.1")
    assert small != code
    exec(compile(small, "README.md", "exec"), {})
    assert list(tmp_path.glob("*.webp")) or list(tmp_path.glob("*.png"))


def test_text_with_units_where_yaml_takes_it(tmp_path):
    """Python accepts what a scene file does."""
    sheet = weft.sheet(4, 5, "90 cm", "1 m", fabric={"preset": "silk", "density": "60 gsm"})
    assert np.ptp(sheet.vertices[:, 0]) == pytest.approx(0.9)
    assert sheet.fabric.density == pytest.approx(0.06)
    from weft.io.obj import write_obj

    path = tmp_path / "a.obj"
    write_obj(path, 100 * np.array(sheet.vertices), sheet.faces, sheet.corner_uv)
    loaded = weft.load(path, scale="1 cm", uv_scale="1 m")
    np.testing.assert_allclose(loaded.vertices, sheet.vertices, atol=1e-9)
    spline = weft.spline_sheet(4, 4, "20 cm", "0.3 m")
    assert np.ptp(spline.points[:, 0]) == pytest.approx(0.2)
    piece = weft.triangulate([("0 cm", "0 cm"), ("50 cm", 0), (0, "50 cm")], size="10 cm")
    assert np.ptp(piece.vertices[:, 0]) == pytest.approx(0.5)
    moved = sheet.move(("1 cm", 0, 0), ("90 deg", 0, 0))
    np.testing.assert_allclose(moved.vertices, sheet.move((0.01, 0, 0), (90, 0, 0)).vertices)
    path = weft.Path([weft.Keyframe("500 ms", ("2 cm", 0, 0), "180 deg")])
    pin = weft.Pin([0], until="1.5 s", path=path)
    key = pin.path.keyframes[0]
    assert (pin.until, key.time, key.translation) == (1.5, 0.5, (0.02, 0, 0))
    assert key.rotation == pytest.approx(np.pi)
    scene = weft.Scene(sheet, [pin], step="10 ms", damping="0.01 s", gravity=(0, "-9.81 m/s^2", 0))
    assert (scene.step, scene.damping, scene.gravity) == (0.01, 0.01, (0, -9.81, 0))
    two = weft.join([sheet, moved], thickness=["1 mm", None])
    assert [p.thickness for p in two.parts] == [0.001, None]
    with refused(weft.WeftError, "unit", where="sheet.width"):
        weft.sheet(4, 5, "90 kg")
    with refused(weft.WeftError, "unit", where="simulate.seconds"):
        weft.simulate(scene, seconds="2 m", out=tmp_path / "run")


def test_reprs_are_two_lines_with_units(tmp_path):
    cloth = weft.sheet(4, 4, fabric="silk")
    scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top"))])
    run = weft.simulate(scene, frames=1, out=tmp_path / "run", progress=False)
    law = weft.laws.BaraffWitkin((400.0, 300.0), 40.0) + weft.laws.DotShear(2.0)
    wanted = {
        "16 vertices, 18 triangles, 1 x 1 m of silk, 0.05 kg": cloth,
        "2 pinned, no contact": scene,
        "2 frames at 30 fps": run,
        "stretch_warp 400 N/m": law,
        "0.05 kg/m^2": cloth.fabric,
        "from spline sheet": weft.spline_sheet(4, 4),
        "stiffness 300 N/m": weft.laws.Arap(300.0),
    }
    for text, thing in wanted.items():
        assert text in repr(thing) and len(repr(thing).splitlines()) == 2, repr(thing)


def test_fabrics_that_differ_in_the_last_digit_stay_two(tmp_path):
    """Equal fabrics of a scene are one; a repr that rounds must not make different ones equal."""
    from weft.scene.build import load_scene

    one = "{sheet: {nx: 3, ny: 3}, fabric: {preset: silk, density: %s g/m^2}}"
    text = f"cloths: [{one % '60.000001'}, {one % '60.000002'}]\n"
    path = tmp_path / "two.yaml"
    path.write_text(text)
    parts = load_scene(path).scene.cloth.parts
    assert parts[0].fabric is not parts[1].fabric


def test_fabric_of():
    assert weft.Fabric.of("silk").name == "silk"
