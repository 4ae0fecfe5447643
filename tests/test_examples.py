"""Examples run with public names only, in 50 lines, and print the number that is known here.

``LENGTHS`` lists examples that may have more lines.
"""

import re
import runpy
import warnings
from pathlib import Path

import pytest

from tests.stepping import steps
from weft.scene.build import load_scene

EXAMPLES = Path(__file__).parents[1] / "examples"
# Packages of plugins are tried in test_plugins.py, test_plugin_air.py and test_plugin_torus.py.
FILES = [
    p for p in EXAMPLES.rglob("*") if not p.relative_to(EXAMPLES).parts[0].startswith("plugin")
]
# What an example prints, and the number there. Folds of loosely solved steps may differ;
# optimizations of the napkin and of the flag begin at 11.64 cm and 325 cm.
# Steps end at a tolerance, so their ends differ by linear solver: where PARDISO is not installed,
# own_energy prints 0.467 for 0.475, splines 0.984 for 1.02, gripper 0.256 for 0.267.
NUMBERS = {
    "essence.py": (r"lowest point: (-\d\.\d+) m", pytest.approx(-0.301, abs=0.03)),
    "hanging_sheet.py": (r"lowest point: (-\d\.\d+) m", pytest.approx(-1.012, abs=0.01)),
    "potential_in_hand.py": (r"over the weight: (\S+)", pytest.approx(0.0, abs=1e-6)),
    "stretch_law.py": (r"exact Hessian: (\S+)", -47.965),
    "moving_pins.py": (r"\[0\.0, (0\.\d+),", 0.3),
    "own_law.py": (r"\[(\d+\.\d+),", 11.25),
    "own_energy.py": (r"has (\S+) of", pytest.approx(0.471, abs=0.012)),
    "energy_map.py": (r"over that: (\S+)", 1.0),
    "gradient.py": (r"by density (-\S+) m", pytest.approx(-0.0066, rel=0.05)),
    "splines.py": (r"ratio: (\S+)", pytest.approx(1.0, abs=0.05)),
    "gripper.py": (r"\[0\.009, (0\.\d+),", pytest.approx(0.262, abs=0.02)),
    "camera.py": (r"cloth covers (\S+) of", pytest.approx(0.092, abs=0.01)),
    "batch.py": (r"apart by (\S+) m", 0.0),
    "fold.py": (r"folded: (\S+)", pytest.approx(0.83, abs=0.05)),
    "throw_into_pose.py": (r"before and after: \d+ and (\S+) cm", pytest.approx(37.4, abs=8)),
    "compare_laws.py": (r"'Baraff-Witkin': (-\d\.\d+)", pytest.approx(-0.62, abs=0.02)),
    "fit_tube.py": (r"wider by \[[ \d.]*[1-9].*strained by (\S+) %", pytest.approx(2.75, abs=0.25)),
    "lay_napkin.py": (
        r"before and after: \S+ and (\S+) cm",
        pytest.approx(0.01, abs=0.1),
    ),
    "recover_fabric.py": (r"bending_warp: (\S+) ", pytest.approx(1.961e-5, rel=0.05)),
    "swing_flag.py": (
        r"before and after: \d+ and (\S+) cm",
        pytest.approx(0.68, abs=0.6),
    ),
}
IN_NUMPY = ("own_energy.py",)
LENGTHS = {"essence.py": 400}  # lines of examples that are longer than 50
# optimizations; and what tests/test_essence.py does with a smaller sheet
LONG = (
    "fit_tube.py",
    "lay_napkin.py",
    "recover_fabric.py",
    "swing_flag.py",
    "throw_into_pose.py",
    "essence.py",
)
# 3 to 15 s each: CI and `make test-all` run them.
CAMPAIGN = (
    "camera.py",
    "gripper.py",
    "compare_laws.py",
    "batch.py",
    "fold.py",
    "splines.py",
    "shirt_and_jacket.yaml",
    "trousers.yaml",
    "skirt_and_top.yaml",
)


def listed(name):
    """A parameter with the mark of an example that takes long."""
    file = Path(name).name
    long = [pytest.mark.slow] * (file in LONG) + [pytest.mark.campaign] * (file in CAMPAIGN)
    return pytest.param(name, marks=long, id=name)


def test_every_example_is_listed():
    assert {p.name for p in EXAMPLES.glob("*.py")} == NUMBERS.keys()


@pytest.mark.parametrize("name", [listed(n) for n in NUMBERS])
def test_example(name, capsys, tmp_path, monkeypatch):
    """It prints its number; one that runs in NumPy is warned of, and no other."""
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert any("runs in NumPy: slow" in str(w.message) for w in said) == (name in IN_NUMPY)
    pattern, expected = NUMBERS[name]
    found = re.search(pattern, capsys.readouterr().out)
    assert found and float(found[1]) == expected


def test_length_and_names():
    wrong = []
    for path in FILES:
        if path.suffix in (".py", ".yaml"):
            text = path.read_text()
            most = LENGTHS.get(path.name, 120 if path.parent.name == "patterns" else 50)
            if len(text.splitlines()) > most or re.search(r"from weft\.|import weft\.", text):
                wrong.append(path.name)  # too long, or other than public names
    assert wrong == []


SCENES = {
    str(p.relative_to(EXAMPLES)): p
    for p in sorted(FILES)
    if p.suffix == ".yaml"
    and p.parent.name not in ("contact", "patterns", "fabrics")
    and "\nscene:" not in p.read_text()
}


@pytest.mark.parametrize("name", [listed(n) for n in SCENES])
def test_scene(name):
    """Scenes load, and their first two steps converge; those of contact: contact/test_stress.py;
    sweeps: sweep/test_cli.py; data of fabrics: fitting/test_file.py, fitting/test_drape.py.
    """
    path = SCENES[name]
    small = ["cloth.sheet.nx=13", "cloth.sheet.ny=13"]
    text = path.read_text()
    if "cloths:" in text:
        small = [f"cloths.{k}.sheet.n{a}=13" for k in (0, 1) for a in "xy"]
    if "mesh:" in text or "rod:" in text:
        small = []
    if "panel" in text:
        small = ["cloth.panel.size=7 cm"]
    if "garment:" in text:
        count = text.count("garment:")
        of = ["cloth"] if "cloth:" in text else [f"cloths.{k}" for k in range(count)]
        size = "2.6 cm" if len(of) > 1 and "jacket" in text else "5 cm"  # sleeves start on cones
        small = [f"{cloth}.garment.size={size}" for cloth in of]
        small += ["cloth.spline.span_size=9 cm"] if "span_size:" in text else []
    if path.parent.name == "arms":
        pytest.importorskip("mujoco", reason="no MuJoCo: pip install 'weft[arms]'")
    scene = load_scene(path, small).scene
    assert len(list(steps(scene, 2))) == 2
