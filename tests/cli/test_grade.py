"""``weft grade``: files of a nest, and what is refused before anything is written."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.cli import main as cli
from weft.cli.commands import app
from weft.garment import read_pattern

pytest.importorskip("shapely", reason="pip install 'weft[garments]'")
ROOT = Path(__file__).parents[2]
SKIRT = ROOT / "examples" / "garments" / "patterns" / "skirt.yaml"


def test_a_nest_of_all_formats(tmp_path):
    out = tmp_path / "new" / "nest"
    done = CliRunner().invoke(app, ["grade", str(SKIRT), "--sizes", "38,44", "--out", str(out)])
    assert done.exit_code == 0, done.output
    names = {p.name for p in out.iterdir()}
    assert names == {"nest.svg", "nest.dxf", "nest.pdf", "nest.seams.yaml"}
    wide = read_pattern(SKIRT, {"size": 44}).panels[0].corners
    assert abs(read_pattern(out / "nest.dxf").panels[0].corners - wide).max() < 1e-6


@pytest.mark.parametrize(
    "args, word",
    [
        ([SKIRT, "--sizes", "46:36"], "36:46"),
        ([SKIRT, "--sizes", "36:99"], "32, 34 to 52"),
        ([SKIRT, "--sizes", "36", "--figure", "dog"], "of a man"),
        ([SKIRT, "--sizes", "36", "--allowance", "1 m"], "10 cm"),
        ([SKIRT, "--sizes", "36", "--paper", "A5"], "A4, A3"),
        ([SKIRT.with_name("poncho.yaml"), "--sizes", "36"], "docs/sizes.md"),
        ([SKIRT.with_name("none.yaml"), "--sizes", "36"], "none.yaml"),
        ([ROOT / "src/weft/scenes/drape.yaml", "--sizes", "36"], "a pattern file"),
        ([ROOT / "tests/garment/files/every_edge.json", "--sizes", "36"], "docs/garments.md"),
    ],
)
def test_what_cannot_be_graded(tmp_path, monkeypatch, capsys, args, word):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["weft", "grade", *map(str, args)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2 and word in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.rglob("*.svg")) == []


def test_a_folder_that_is_a_file(tmp_path, monkeypatch, capsys):
    (tmp_path / "taken").write_text("")
    out = str(tmp_path / "taken")
    monkeypatch.setattr("sys.argv", ["weft", "grade", str(SKIRT), "--sizes", "36", "--out", out])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2 and "taken" in capsys.readouterr().err
