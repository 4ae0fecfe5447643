"""Data sheets, and `weft fabrics test` that writes them."""

import csv
import json

import numpy as np
import pytest
from PIL import Image

from tests.command import call_weft
from tests.refusals import refused
from weft.base.errors import FabricError
from weft.fabric.fabric import fabric, preset_names
from weft.plugins.lab.laboratory.reference_values import DRAPE_COEFFICIENTS
from weft.plugins.lab.laboratory.sheet import select_tests, sheet

SMALL = ("--size", "14 mm", "--drapings", "1")


@pytest.fixture
def weft(monkeypatch, capsys):
    return lambda *arguments: call_weft(monkeypatch, capsys, *arguments)


def test_names():
    assert list(select_tests(())) == ["tensile", "shear", "bending", "cantilever", "cusick"]
    assert list(select_tests(["cusick", "shear"])) == ["shear", "cusick"]
    with refused(FabricError, "test", got="'cusik'", hint="'cusick'"):
        select_tests(["cusik"])


def test_published_are_presets():
    assert set(DRAPE_COEFFICIENTS) <= set(preset_names())
    known = DRAPE_COEFFICIENTS["silk"]
    assert (known.misses(0.3), known.misses(0.5)) == (0.0, pytest.approx(0.1))
    assert known.misses(0.1) == pytest.approx(-0.1)
    assert DRAPE_COEFFICIENTS["faille"].text == "28.3 %" and known.text == "20 to 40 %"


def test_only_what_is_asked_for_runs():
    said = []
    found = sheet(fabric("linen"), ["shear"], say=said.append)
    assert [t.name for t in found.tables] == ["shear"] and len(said) == 1
    assert found.cusick is None and not found.tensile


def test_everything_is_written(weft, tmp_path):
    pytest.importorskip("matplotlib")
    status, out, err = weft("fabrics", "test", "cotton", *SMALL, "--out", tmp_path / "lab")
    assert status == 0, err
    for word in (
        "tensile",
        "bias",
        "gf/(cm deg)",
        "2HB = ",
        "bending length",
        "DC =",
        "published: 60 to 76 %",
    ):
        assert word in out
    assert "cusick: draping 1 of 1" in err and "wrote" in err
    files = sorted(p.name for p in (tmp_path / "lab").iterdir())
    assert files == [
        "cotton-bending.csv",
        "cotton-cantilever.csv",
        "cotton-curves.png",
        "cotton-cusick.csv",
        "cotton-draped-above.png",
        "cotton-draped-perspective.png",
        "cotton-shear.csv",
        "cotton-tensile.csv",
        "cotton.json",
    ]
    rows = list(csv.DictReader((tmp_path / "lab" / "cotton-cantilever.csv").open()))
    assert [r["direction"] for r in rows] == ["warp", "weft"]
    assert float(rows[0]["exact [uN m]"]) == pytest.approx(float(rows[0]["given [uN m]"]), rel=0.01)
    data = json.loads((tmp_path / "lab" / "cotton.json").read_text())
    assert data["fabric"] == "cotton" and len(data["tensile"]["rows"]) == 18
    picture = np.asarray(Image.open(tmp_path / "lab" / "cotton-draped-above.png"))
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 100


def test_without_matplotlib(weft, tmp_path, monkeypatch):
    from weft.plugins.lab.laboratory import pictures

    monkeypatch.setattr(pictures.importlib.util, "find_spec", lambda name: None)
    status, out, err = weft("fabrics", "test", "silk", "--tests", "shear", "--out", tmp_path)
    assert status == 0 and "weft[plots]" in err and "shear" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["silk-shear.csv", "silk.json"]


def test_json(weft):
    status, out, err = weft("fabrics", "test", "silk", "--tests", "shear,cantilever", "--json")
    assert (status, err) == (0, "")
    assert set(json.loads(out)) == {"fabric", "title", "shear", "cantilever"}


def test_a_file(weft, tmp_path):
    (tmp_path / "mine.yaml").write_text("preset: silk\nname: a/../b\nshear: 20 N/m\n")
    words = (tmp_path / "mine.yaml", "--tests", "shear", "--out", tmp_path / "lab")
    status, out, _ = weft("fabrics", "test", *words)
    assert status == 0 and "given 20 N/m" in out
    assert (tmp_path / "lab" / "a_.._b-shear.csv").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("cottn",), "did you mean 'cotton'"),
        (("cotton", "--tests", "drape"), "one of tensile, shear, bending, cantilever, cusick"),
        (("cotton", "--size", "5"), "--size"),
        (("cotton", "--tests", "cusick", "--size", "5 cm"), "1 mm to 15 mm"),
        (("nowhere.yaml",), "nowhere.yaml"),
    ],
)
def test_bad_input(weft, words, said):
    status, _, err = weft("fabrics", "test", *words)
    assert status == 2 and said in err and "Traceback" not in err


def test_a_file_in_the_way(weft, tmp_path):
    (tmp_path / "lab").write_text("")
    status, _, err = weft("fabrics", "test", "silk", "--tests", "shear", "--out", tmp_path / "lab")
    assert status == 2 and "choose another place" in err and "Traceback" not in err


def test_listing_still_lists(weft):
    assert "cotton" in weft("fabrics")[1]
    assert "momme" in weft("fabrics", "silk")[1]
    status, out, _ = weft("fabrics", "--help")
    assert status == 0 and "test" in out and "list" in out
