"""``weft run`` of a pattern alone: a standing mannequin wears it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from weft.cli.commands import app
from weft.cli.options import keep_changes
from weft.plugins.garments.scene.worn_scene import worn_overrides, worn_scene_text
from weft.scene.file import read_source
from weft.scene.scene_input import NewScene

SKIRT = Path("examples/garments/garmentcode/pencil_skirt_specification.json").absolute()


def invoke(*arguments):
    done = CliRunner().invoke(app, ["run", str(SKIRT), "--frames", "0", *arguments])
    return done, " ".join(done.output.split())


# Some seconds: two bodies of full size are made and measured, as the command does.
@pytest.mark.campaign
def test_a_pattern_is_run_with_a_scene_that_can_be_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done, said = invoke()
    scene = tmp_path / "pencil_skirt_specification.scene.yaml"
    assert done.exit_code == 0 and (tmp_path / "runs/pencil_skirt_specification").is_dir()
    assert "next weft quality runs/pencil_skirt_specification" in said
    changed = scene.read_text().replace("figure: woman", "figure: woman, waist: 95 cm")
    assert changed != scene.read_text()
    scene.write_text(changed)
    done, said = invoke("--out", "wide")
    assert done.exit_code == 0 and scene.read_text() == changed
    assert "another size" in said


def test_a_body_that_does_not_stand_is_refused_before_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ball = "bodies.0={sphere: {radius: 90 m, size: 20 m}}"
    done, _ = invoke("--set", ball)
    assert done.exit_code != 0 and not list(tmp_path.iterdir())
    assert "body: height = 180 m" in str(done.exception)


def test_the_scene_keeps_what_set_says(tmp_path, monkeypatch, capsys):
    """And a scene that somebody has edited keeps its comments."""
    pattern = tmp_path / "tube.yaml"
    pattern.write_text("panels: {}")
    scene = tmp_path / "tube.scene.yaml"
    changes = worn_overrides(["measures.chest=90 cm", "cloth.garment.size=5 cm", "fps=20"])
    assert changes[0] == "cloth.garment.measures.chest=90 cm"
    keep_changes(NewScene(scene, worn_scene_text(pattern, scene)), changes)
    keep_changes(NewScene(scene), ["seconds=3"])
    tree = read_source(scene).tree
    assert tree["cloth"]["garment"]["measures"] == {"chest": "90 cm"}
    assert (tree["cloth"]["garment"]["size"], tree["fps"], tree["seconds"]) == ("5 cm", 20, 3)
    assert capsys.readouterr().out == ""
    scene.write_text(scene.read_text() + "# mine\n")
    before = scene.read_text()
    keep_changes(NewScene(scene), ["seconds=4"])
    assert scene.read_text() == before and "this command only" in capsys.readouterr().out
