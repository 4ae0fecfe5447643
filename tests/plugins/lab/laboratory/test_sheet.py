"""Data sheets, and `weft fabrics test` that writes them."""

import csv
import json

import numpy as np
import pytest
from PIL import Image

from tests.command import call_weft
from tests.refusals import refused
from weft.base.errors import FabricError
from weft.fabric.fabric import preset_names
from weft.plugins.lab.laboratory.reference_values import DRAPE_COEFFICIENTS
from weft.plugins.lab.laboratory.sheet import select_tests

SMALL = ("--size", "14 mm", "--drapings", "1")


@pytest.fixture
def weft(monkeypatch, capsys):
    return lambda *arguments: call_weft(monkeypatch, capsys, *arguments)


def test_names():
    assert list(select_tests(())) == ["tensile", "shear", "bending", "cantilever", "cusick"]
    assert list(select_tests(["cusick", "shear"])) == ["shear", "cusick"]
    with refused(FabricError, "test", got="'cusik'", hint="'cusick'"):
        select_tests(["cusik"])
    assert set(DRAPE_COEFFICIENTS) <= set(preset_names())
    known = DRAPE_COEFFICIENTS["silk"]  # 20 to 40 %
    found = [known.misses(c) for c in (0.3, 0.5, 0.1)]
    assert found == pytest.approx([0.0, 0.1, -0.1])


@pytest.mark.campaign
def test_everything_is_written(weft, tmp_path):
    """Takes many seconds, because every test of the laboratory runs once."""
    pytest.importorskip("matplotlib")
    status, out, err = weft("fabrics", "test", "cotton", *SMALL, "--out", tmp_path / "lab")
    assert status == 0, err
    words = ("bias", "gf/(cm deg)", "2HB = ", "bending length", "DC =", "published: 60 to 76 %")
    assert all(word in out for word in words)
    assert "cusick: draping 1 of 1" in err and "wrote" in err
    files = sorted(p.name for p in (tmp_path / "lab").iterdir())
    tables = [f"cotton-{name}.csv" for name in select_tests(())]
    pictures = [f"cotton-{n}.png" for n in ("curves", "draped-above", "draped-perspective")]
    assert files == sorted([*tables, *pictures, "cotton.json"])
    rows = list(csv.DictReader((tmp_path / "lab" / "cotton-cantilever.csv").open()))
    assert [r["direction"] for r in rows] == ["warp", "weft"]
    assert float(rows[0]["exact [uN m]"]) == pytest.approx(float(rows[0]["given [uN m]"]), rel=0.01)
    data = json.loads((tmp_path / "lab" / "cotton.json").read_text())
    assert data["fabric"] == "cotton" and len(data["tensile"]["rows"]) == 18
    assert np.asarray(Image.open(tmp_path / "lab" / "cotton-draped-above.png")).std() > 5


def test_without_matplotlib(weft, tmp_path, monkeypatch):
    from weft.plugins.lab.laboratory import pictures

    monkeypatch.setattr(pictures.importlib.util, "find_spec", lambda name: None)
    status, out, err = weft("fabrics", "test", "silk", "--tests", "shear", "--out", tmp_path)
    assert status == 0 and "weft[plots]" in err and "shear" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["silk-shear.csv", "silk.json"]


def test_a_file(weft, tmp_path):
    (tmp_path / "mine.yaml").write_text("preset: silk\nname: a/../b\nshear: 20 N/m\n")
    words = (tmp_path / "mine.yaml", "--tests", "shear", "--json", "--out", tmp_path / "lab")
    status, out, _ = weft("fabrics", "test", *words)
    assert status == 0 and set(json.loads(out)) == {"fabric", "title", "shear"}
    assert (tmp_path / "lab" / "a_.._b-shear.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cottn",), "did you mean 'cotton'"),
        (("cotton", "--tests", "drape"), "one of tensile, shear, bending, cantilever, cusick"),
        (("cotton", "--tests", "cusick", "--size", "5 cm"), "1 mm to 15 mm"),
        (("nowhere.yaml",), "nowhere.yaml"),
        (("silk", "--tests", "shear", "--out", "file"), "choose another place"),
    ],
)
def test_bad_input(weft, tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    status, _, err = weft("fabrics", "test", *words)
    assert status == 2 and said in err and "Traceback" not in err
