"""Fit files: what is read, what is refused by name and line, and what the command writes."""

import dataclasses
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.refusals import refused
from weft.base.errors import FabricError, WeftError
from weft.cli.commands import app
from weft.fabric.fabric import fabric
from weft.plugins.lab.fitting.drape_equilibrium import DrapeTester
from weft.plugins.lab.fitting.file import FabricProblems, read_fit
from weft.plugins.lab.fitting.fit import fit
from weft.plugins.lab.fitting.report import write_preset
from weft.plugins.lab.fitting.tensile import TensileTest

EXAMPLES = Path(__file__).parents[4] / "examples" / "fabrics"
WEIGHT = "  - {kind: value, field: density, value: 150 g/m^2, uncertainty: 1 %}\n"


def file(tmp_path, measurements, head="start: cotton\n", name="sheet.yaml"):
    path = tmp_path / name
    path.write_text(f"{head}measurements:\n{measurements}")
    return path


def test_laboratory_units(tmp_path):
    """gf/cm, degrees and 1/cm in, SI out: 1 gf/cm = 0.980665 N/m."""
    path = file(
        tmp_path,
        "  - {kind: tensile, cut: warp, units: ['%', gf/cm], points: [[0, 0], [1, 40], [2, 80]]}\n"
        "  - {kind: shear, points: [[1 deg, 0.6 gf/cm], [2 deg, 1.2 gf/cm]]}\n"
        "  - {kind: bending, direction: weft, points: [[1 1/cm, 0.06 gf*cm/cm]]}\n"
        "  - {kind: bending, direction: warp, modulus: 0.07 gf*cm^2/cm}\n"
        "  - {kind: cantilever, direction: warp, overhang: [38 mm, 40 mm]}\n" + WEIGHT,
    )
    strip, shear, bend, b, overhang, weight = read_fit(path).measurements
    assert strip.strain.tolist() == [0.01, 0.02]
    assert strip.data == pytest.approx([39.2266, 78.4532])
    assert strip.sigma == pytest.approx(0.05 * strip.data)
    found = fit([shear], fabric("cotton")).fabric.shear
    assert found == pytest.approx(0.6 * 0.980665 / np.radians(1), rel=2e-3)
    assert fit([bend], fabric("cotton")).fabric.bending_weft == pytest.approx(0.06 * 9.80665e-5)
    assert b.data == pytest.approx(0.07 * 9.80665e-5)
    assert overhang.data == pytest.approx(0.0195)
    assert overhang.sigma == pytest.approx(5e-4)  # of the mean of two, a millimeter apart
    assert (weight.data, weight.sigma) == (0.15, 0.0015)


def test_csv(tmp_path):
    """Columns by name, units in the head, rows of one cut: tables of `weft fabrics test`."""
    read = read_fit(EXAMPLES / "virtual_wool.yaml")
    bias = read.measurements[3]
    assert isinstance(bias, TensileTest) and bias.cut == "bias"
    assert bias.strain.tolist() == [0.01, 0.02, 0.04, 0.06, 0.08, 0.1]
    assert bias.data[0] == pytest.approx(0.96838)
    (tmp_path / "a.csv").write_text("k,M\n0.5,0.03\n1.0,0.06\n")
    path = file(
        tmp_path,
        "  - {kind: bending, direction: warp, file: a.csv, columns: [k, M],"
        " units: [1/cm, gf*cm/cm]}\n",
    )
    (bend,) = read_fit(path).measurements
    assert bend.per_field.tolist() == [50.0, 100.0]
    assert bend.data == pytest.approx([0.03 * 9.80665e-3, 0.06 * 9.80665e-3])


def test_curves_are_taken_as_they_are(tmp_path):
    path = file(
        tmp_path,
        "  - {kind: tensile, cut: warp, as: curve,"
        " points: [[1 %, 20 N/m], [2 %, 60 N/m], [4 %, 200 N/m]]}\n" + WEIGHT,
    )
    read = read_fit(path)
    assert read.start.curve_warp.points == ((0.01, 20.0), (0.02, 60.0), (0.04, 200.0))
    assert read.start.stretch_warp == pytest.approx(2000.0)
    assert read.fixed == ("curve_warp", "stretch_warp")
    curved = "{preset: cotton, curve: [[1 %, 20 N/m], [2 %, 60 N/m]]}"
    (tmp_path / "curved.yaml").write_text(curved)
    assert fabric(tmp_path / "curved.yaml").curve_warp is not None
    strip = "  - {kind: tensile, cut: warp, points: [[1 %, 40 N/m]]}\n"
    straight = file(tmp_path, strip, "start: curved.yaml\n")
    assert read_fit(straight).start.curve_warp is None


def test_hysteresis_becomes_that_of_the_fabric(tmp_path):
    """Of a branch twice its constant, also of two branches; of a sheet the number itself."""
    branch = "  - {kind: bending, direction: warp, hysteresis: true, points: [%s]}\n"
    points = (
        "[0.5 1/cm, 0.08 gf*cm/cm], [1 1/cm, 0.11 gf*cm/cm], [1.5 1/cm, 0.14 gf*cm/cm]",
        "[0.5 1/cm, 0.10 gf*cm/cm], [1 1/cm, 0.13 gf*cm/cm], [1.5 1/cm, 0.16 gf*cm/cm]",
    )
    found = read_fit(file(tmp_path, "".join(branch % p for p in points))).start
    mean = (0.1 + 0.14) / 2 * 9.80665e-3
    assert found.bending_hysteresis_warp == pytest.approx(mean, rel=1e-9)
    sheet = "  - {kind: kes, B: [0.07 gf*cm^2/cm, 0.05 gf*cm^2/cm], 2HG: 1.2 gf/cm,"
    path = file(tmp_path, sheet + " 2HB: [0.03 gf*cm/cm, 0.02 gf*cm/cm]}\n")
    read = read_fit(path)
    preset = tmp_path / "out.yaml"
    cloth = write_preset(preset, read, fit(read.measurements, read.start))
    assert cloth.shear_hysteresis == pytest.approx(1.2 * 0.980665, rel=1e-4)
    assert cloth.bending_hysteresis_weft == pytest.approx(0.02 * 9.80665e-3, rel=1e-3)
    assert cloth.sources["shear_hysteresis"].startswith("measured: KES")


def test_drapes_are_fitted_without_friction():
    """A drape from scratch and the model that it is followed with are of one cloth."""
    tester = DrapeTester.of(14e-3)
    rubs = dataclasses.replace(fabric("cotton"), bending_hysteresis_warp=1e-3, bending_slip=10.0)
    fresh, plain = (tester.fresh(f) for f in (rubs, fabric("cotton")))
    assert np.array_equal(fresh.x, plain.x) and fresh.fabric is rubs
    assert not any("friction" in e.name for e in tester.model(rubs).energies)


def test_sheets(tmp_path):
    """FAST and KES as characteristic values."""
    path = file(
        tmp_path,
        "  - {kind: fast, E5: [0.0 %, 1 %], E100: [2.5 %, 4 %], EB5: 4 %, C: [18 mm, 17 mm],"
        " W: 150 g/m^2, T2: 0.4 mm, as: straight}\n"
        "  - {kind: kes, EMT: [5 %, 7 %], LT: [0.6, 0.6], G: [0.5 gf/(cm*deg), 0.7 gf/(cm*deg)],"
        " B: [0.07 gf*cm^2/cm, 0.05 gf*cm^2/cm], name: K}\n",
    )
    with refused(FabricError, "FAST tensile warp with curve_warp"):
        read_fit(path)
    path.write_text(path.read_text().replace("EMT: [5 %, 7 %], LT: [0.6, 0.6], ", ""))
    named = {m.name: m for m in read_fit(path).measurements}
    assert named["FAST tensile warp"].strain.tolist() == [0.025]  # the 0 % says nothing
    assert named["FAST EB5"].length == 0.1
    assert named["K G"].data == pytest.approx(33.7, rel=5e-3)
    kes = file(tmp_path, "  - {kind: kes, EMT: [5 %, 7 %], LT: [0.6, 0.7]}\n" + WEIGHT)
    start = read_fit(kes).start
    # Work of the curve over that of the straight line is LT.
    work = start.curve_warp.work[-1] / (0.5 * 0.05 * 500 * 0.980665)
    assert work == pytest.approx(0.6, abs=0.02)


BAD = {
    "  - {kind: bending, direction: warp, modulus: []}\n": ("measurements.0.modulus", "0 entries"),
    "  - {kind: tensil, cut: warp}\n": ("measurements.0.kind", "'tensil'", "'tensile'"),
    "  - {kind: tensile, cut: up, points: [[1 %, 1 N/m]]}\n": ("cut", "'up'", "sheet.yaml:3"),
    "  - {kind: tensile, cut: warp}\n": ("measurements.0", "points, file", "sheet.yaml:3"),
    "  - {kind: tensile, cut: warp, pts: []}\n": ("field measurements.0.pts", "sheet.yaml:3"),
    "  - kind: tensile\n    cut: warp\n    points: [[1 %, 40 gf]]\n": (
        "measurements.0.points.0.1",
        "sheet.yaml:5",
    ),
    "  - {kind: tensile, cut: warp, points: [[300 %, 40 gf/cm]]}\n": (
        "measurements.0.points",
        "strain of 3",
    ),
    "  - kind: tensile\n    cut: warp\n    points:\n      - [1 %, 40 gf/cm]\n"
    "      - [0.5 %, 60 gf/cm]\n": ("tensile warp: strain", "0.005 after 0.01", "sheet.yaml:7"),
    "  - {kind: tensile, cut: warp, points: [[1 %, -4 gf/cm]]}\n": ("force", "-3.923"),
    "  - {kind: tensile, cut: warp, points: [[0, 0]]}\n": ("tensile warp", "only the origin"),
    "  - {kind: tensile, cut: bias, as: curve, points: [[1 %, 4 gf/cm]]}\n": (
        "measurements.0.as",
        "curve",
        "straight",
    ),
    "  - {kind: tensile, cut: warp, file: none.csv}\n": "measurements.0.file",
    "  - {kind: shear, points: [[80 deg, 4 gf/cm]]}\n": ("measurements.0.points", "45"),
    "  - {kind: shear, modulus: -1 gf/(cm*deg)}\n": ("measurements.0.modulus", "'-1 gf/(cm*deg)'"),
    "  - {kind: shear, hysteresis: true, points: [[1 deg, 1 gf/cm]]}\n": (
        "measurements.0.points",
        "2",
    ),
    "  - {kind: cantilever, direction: warp}\n": ("measurements.0", "bending_length, overhang"),
    "  - {kind: cusick, drape_coefficient: 62}\n": ("measurements.0.drape_coefficient", "62"),
    "  - {kind: value, field: weight, value: 1 kg/m^2}\n": ("measurements.0.field", "'density'"),
    "  - {kind: value, feld: density, value: 1 kg/m^2}\n": ("field", "nothing", "feld"),
    "  - {kind: value, field: density, value: 1 kg/m^2, uncertainty: 0 %}\n": (
        "measurements.0.uncertainty",
        "1e-09",
    ),
    "  - {kind: kes, LT: [0.6, 0.6]}\n": ("measurements.0.LT", "EMT"),
    "  - {kind: fast}\n": ("measurements.0", "E5"),
    "  - {kind: value, field: density, value: 150 kg/m^2}\n": (
        "density by density",
        "150",
        "sheet.yaml:3",
    ),
    "  - {kind: bending, direction: warp, modulus: 70 gf*cm^2/cm}\n": "bending_warp by bending",
    "  - {kind: shear, modulus: 1e-6 gf/(cm*deg)}\n": ("shear by shear", "below"),
    "  - {kind: cantilever, direction: weft, bending_length: 18 cm}\n": "bending_weft by",
    "  - {kind: tensile, cut: warp, points: [[1, 3 N/m]]}\n": "stretch_warp by",
    "  - 3\n": "measurements.0",
    "  []\n": ("measurements", "0 blocks"),
}
BAD_HEADS = {
    "start: cottn\n": ("fabric", "'cottn'", "'cotton'"),
    "hold: density\n": ("hold", "'density'"),
    "hold: [weight]\n": ("hold.0", "'weight'", "sheet.yaml:1"),
    "name: a/b\n": ("name", "'a/b'"),
    "starts: cotton\n": ("field starts", "'start'", "sheet.yaml:1"),
}


@pytest.mark.parametrize(
    "head, text, said",
    [
        *(("start: cotton\n", text, said) for text, said in BAD.items()),
        *((head, WEIGHT, said) for head, said in BAD_HEADS.items()),
    ],
)
def test_bad_input(tmp_path, head, text, said):
    with refused(WeftError, said) as caught:
        read_fit(file(tmp_path, text, head))
    assert "sheet.yaml" in str(caught.value)


def test_all_problems_at_once(tmp_path):
    with pytest.raises(FabricProblems) as caught:
        read_fit(file(tmp_path, "  - {kind: shear}\n" + WEIGHT + "  - {kind: fest}\n"))
    assert [p.where for p in caught.value.problems] == ["sheet.yaml:3", "sheet.yaml:5"]


def test_unusual_is_taken_when_said(tmp_path):
    text = "  - {kind: value, field: density, value: %s}\n"
    assert read_fit(file(tmp_path, text % "90 kg/m^2, unusual: true")).measurements[0].data == 90.0
    with pytest.warns(UserWarning, match="times above all fabrics"):
        read_fit(file(tmp_path, text % "4 kg/m^2"))


SHEET = (
    WEIGHT + "  - {kind: tensile, cut: warp, points: [[1 %, 40 N/m], [2 %, 81 N/m]], source: S}\n"
    "  - {kind: tensile, cut: weft, as: curve, points: [[1 %, 30 N/m], [2 %, 90 N/m]]}\n"
    "  - {kind: cantilever, direction: warp, bending_length: 19 mm}\n"
)


@pytest.mark.parametrize(
    "weight, thickness, asked",
    [
        ("150 g/m^2", "0.32 mm", None),
        ("1500 g/m^2", "0.32 mm", "refused"),
        ("150 g/m^2", "3.2 mm", "refused"),
        ("150 g/m^2", "1.6 mm", "told"),
    ],
)
def test_weights_and_thicknesses_ten_times_off_are_caught(tmp_path, weight, thickness, asked):
    """By weight over thickness; `unusual: true` lets them pass."""
    value = "  - {kind: value, field: %s, value: %s, uncertainty: 1 %%}\n"
    text = value % ("density", weight) + value % ("thickness", thickness)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if asked == "refused":
            with refused(WeftError, "weight over thickness", got="kg/m^3"):
                read_fit(file(tmp_path, text))
        else:
            read_fit(file(tmp_path, text))
    said = [w for w in caught if "weight over thickness" in str(w.message)]
    assert len(said) == (asked == "told")
    read_fit(file(tmp_path, text.replace("}", ", unusual: true}", 1)))


def test_the_command_writes_a_preset(tmp_path):
    """It loads with its numbers and sources; report and pictures are beside it."""
    out = tmp_path / "made.yaml"
    done = CliRunner().invoke(
        app, ["fabrics", "fit", str(file(tmp_path, SHEET)), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    made = fabric(out)
    assert made.density == pytest.approx(0.15) and made.name == "sheet"
    assert made.stretch_warp == pytest.approx(4010, rel=0.01)
    assert made.curve_weft.points[-1] == (0.02, 90.0)
    assert made.origin("stretch_warp") == "measured" and "data: S" in made.sources["stretch_warp"]
    assert made.origin("shear") == "estimated" and "that of cotton" in made.sources["shear"]
    told = json.loads(out.with_suffix(".json").read_text())
    density = told["fields"]["density"]
    assert density["standard_deviation"] == pytest.approx(0.0015, rel=1e-3)
    assert out.with_suffix(".png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "made.txt"], "a .yaml file"),
        (["--out", "nowhere/made.yaml"], "a folder that exists"),
        (["--out", "folder.yaml"], "a file that can be written"),
        (["--out", "sheet.yaml"], "another file than the fit file"),
    ],
)
def test_bad_arguments(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    file(tmp_path, WEIGHT)
    (tmp_path / "folder.yaml").mkdir()
    never = lambda *_, **__: pytest.fail("a fit began")  # noqa: E731
    monkeypatch.setattr("weft.plugins.lab.fitting.fit.fit", never)
    done = CliRunner().invoke(app, ["fabrics", "fit", "sheet.yaml", *arguments])
    assert done.exit_code != 0 and said in f"{done.output}{done.exception}"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda p: p.name)
def test_examples_are_read(path):
    if "picture:" in path.read_text():
        pytest.importorskip("skimage", reason="no scikit-image: pip install 'weft[photographs]'")
    assert read_fit(path).measurements
