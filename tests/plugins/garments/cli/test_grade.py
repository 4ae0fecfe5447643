"""``weft grade``: files of a nest, sizes that are worn, and what is refused before it begins."""

import csv
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.command import call_weft
from weft.base.errors import SceneError, SimulationError
from weft.cli.commands import app
from weft.plugins.garments.bodies.sizes import sizes_between
from weft.plugins.garments.cli.grade import ease_texts
from weft.plugins.garments.patterns import read_pattern
from weft.plugins.garments.quality import grading
from weft.plugins.garments.quality.grading import plan_sizes
from weft.scene.file import read_source, validate

pytest.importorskip("shapely", reason="pip install 'weft[garments]'")
ROOT = Path(__file__).parents[4]
FILES = ROOT / "tests/plugins/garments/patterns/files"
SKIRT = ROOT / "examples" / "garments" / "patterns" / "skirt.yaml"


SCENE = """
cloths:
  - {{name: skirt, garment: {{pattern: {pattern}, size: 6 cm, measures: {{{measures}}}}}}}
  - {{name: cape, garment: {{pattern: {cape}, size: 6 cm}}, translation: [0, 0.2, 0]}}
bodies: [{{name: body, {body}}}]
contact: {{gap: 2 mm}}
seconds: 0.1
fps: 10
"""


def write_scene(path, measures="", body="mannequin: {figure: woman}", pattern=SKIRT):
    cape = SKIRT.with_name("poncho.yaml")
    path.write_text(SCENE.format(pattern=pattern, measures=measures, body=body, cape=cape))
    return path


def planned(folder, **given):
    """The runs of size 40 of a scene."""
    scene = write_scene(folder / "scene.yaml", **given)
    return plan_sizes(SKIRT, sizes_between("40"), scene, folder / "runs")


def grade(*args):
    return CliRunner().invoke(app, ["grade", str(SKIRT), *map(str, args)])


def test_a_nest_and_a_scene(tmp_path):
    """Without a scene of one's own, a mannequin of the figure stands in what the pattern gives."""
    out = tmp_path / "new" / "nest"
    done = grade("--sizes", "38,44", "--out", out, "--print-only")
    assert done.exit_code == 0, done.output
    wide = read_pattern(SKIRT, {"size": 44}).panels[0].corners
    assert abs(read_pattern(out / "nest.svg").panels[0].corners - wide).max() < 1e-6
    runs = plan_sizes(SKIRT, sizes_between("38,44"), out / "scene.yaml", out / "runs")
    loaded = [read_source(run.scene, run.overrides) for run in runs]
    bodies = [validate(source).bodies[0].mannequin for source in loaded]
    assert [body.given["hips"] for body in bodies] == [0.96, 1.08]


def test_a_scene_of_ones_own(tmp_path):
    """Its garments that have sizes get them; the poncho, which has none, stays."""
    (run,) = planned(tmp_path, measures="length: 60 cm")
    assert run.overrides == [
        "cloths.0.garment.measures.size=40",
        "bodies.0.mannequin.figure=woman",
        "bodies.0.mannequin.size=40",
    ]
    assert run.folder == tmp_path / "runs" / "40"
    block = validate(read_source(run.scene, run.overrides)).cloths[0].garment
    assert block.measures == {"length": "60 cm", "size": 40}


@pytest.mark.parametrize(
    "given, word",
    [
        ({"measures": "hips: 104 cm"}, "cloths.0.garment.measures.hips"),
        ({"body": "mannequin: {chest: 90 cm}"}, "bodies.0.mannequin.chest"),
        ({"body": "sphere: {radius: 10 cm}"}, "no mannequin"),
        ({"pattern": SKIRT.with_name("top.yaml")}, "skirt.yaml"),
    ],
)
def test_scenes_that_have_no_sizes(tmp_path, given, word):
    with pytest.raises(SceneError, match=word):
        planned(tmp_path, **given)


def test_a_size_that_fails_is_a_row(tmp_path, monkeypatch):
    """The row has the state and the message, and the girths of the body."""

    def fail(*_):
        raise SimulationError("step 3", got="MAX_ITERATIONS")

    monkeypatch.setattr(grading, "load_scene", fail)
    (run,) = planned(tmp_path)
    row = grading.measure_size(run, grading.run_size(run, 1))
    assert (row["size"], row["state"], row["hips_cm"]) == ("40", "not converged", 100.0)
    assert "MAX_ITERATIONS" in row["message"] and row["ease_hips_cm"] is None


def test_several_garments_have_columns_and_numbers_of_their_own(tmp_path):
    """The row of a size that failed has none of them."""
    names = [grading.ease_column(*of) for of in (("skirt", "waist"), ("my top", "chest"))]
    rows = [dict.fromkeys(grading.COLUMNS), dict.fromkeys(grading.COLUMNS)]
    rows[1] |= dict(zip(names, (1.25, 14.0)))
    path = grading.write_table(tmp_path / "sizes.csv", rows)
    with path.open() as file:
        read = list(csv.DictReader(file))
    assert names == ["ease_skirt_waist_cm", "ease_my_top_chest_cm"]
    assert [[row[n] for n in names] for row in read] == [["", ""], ["1.25", "14.0"]]
    assert ease_texts(rows[0]) == "-/-/-"
    assert ease_texts(rows[1]) == "skirt -/1.2/-, my_top 14.0/-/-"


@pytest.mark.slow
def test_sizes_are_simulated_and_compared(tmp_path):
    """After the first frame a skirt still lies where it starts, and is not worn. The ease at the
    waist is that of both halves of its waistband on paper. The second call runs nothing."""
    scene, out = write_scene(tmp_path / "scene.yaml"), tmp_path / "out"
    cape = next(line for line in scene.read_text().splitlines() if "cape" in line)
    scene.write_text(scene.read_text().replace(cape, ""))
    args = ("--sizes", "38,46", "--wear", scene, "--out", out, "--allowance", "0 cm")
    done = grade(*args)
    assert done.exit_code == 1, done.output
    with (out / "sizes.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row, size in zip(rows, sizes_between("38,46"), strict=True):
        assert (row["size"], row["state"], row["ease_chest_cm"]) == (str(size), "not worn", "")
        assert "seam side_left open" in row["message"]
        band = read_pattern(SKIRT, {"size": size.number}).panel("band_front")
        tape = float(row["ease_waist_cm"]) / 100 + size.body["waist"]
        assert tape == pytest.approx(2 * np.ptp(band.corners[:, 0]), rel=0.01)
        assert float(row["hips_cm"]) == pytest.approx(100 * size.body["hips"])
    assert (out / "sizes.png").stat().st_size > 10_000
    frames = {p: p.stat().st_mtime_ns for p in (out / "runs").rglob("00000*.npz")}
    assert grade(*args).exit_code == 1 and len(frames) == 4
    assert frames == {p: p.stat().st_mtime_ns for p in frames}


@pytest.mark.parametrize(
    "pattern, args, word",
    [
        (SKIRT, ["--sizes", "36:99"], "32, 34 to 52"),
        (SKIRT, ["--sizes", "36", "--figure", "dog"], "of a man"),
        (SKIRT, ["--sizes", "36", "--allowance", "1 m"], "10 cm"),
        (SKIRT, ["--sizes", "36", "--out", "taken"], "taken"),
        (SKIRT.with_name("poncho.yaml"), ["--sizes", "36"], "docs/guides/sizes.md"),
        (ROOT / "src/weft/scenes/drape.yaml", ["--sizes", "36"], "a pattern file"),
        (FILES / "every_edge.json", ["--sizes", "36"], "docs/guides/garment-files.md"),
    ],
)
def test_what_cannot_be_graded(tmp_path, monkeypatch, capsys, pattern, args, word):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").write_text("")
    status, _, said = call_weft(monkeypatch, capsys, "grade", pattern, *args)
    assert status == 2 and word in " ".join(said.split())
    assert list(tmp_path.rglob("*.svg")) == []
