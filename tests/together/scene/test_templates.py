"""Scene files that include others, and variables in their values."""

import json

import numpy as np
import pytest

import weft
from tests.plugins.lab.sweep.conftest import InThisProcess, run_on
from tests.refusals import refused
from weft.base.errors import RunError, SceneError, SweepError
from weft.discretization.mesh import grid
from weft.io.obj import write_obj
from weft.plugins.lab.sweep import worker
from weft.run.recorded_scene import scene_of
from weft.run.run import Run
from weft.scene import template
from weft.scene.build import load_scene
from weft.scene.file import read_source
from weft.scene.identity import identity

FABRIC = "cloth: {fabric: silk}\ndamping: 5 ms\n"
CHARACTER = """\
include: ../looks/fabric.yaml
variables:
  width: 40 cm
  corner: top
  shot:
description: cape of shot ${shot}
cloth:
  sheet:
    nx: 5
    ny: 4
    width: ${width}
    height: "${width}"
pins:
  - corners: ${corner}
gravity: [0, -9.81, 0]
integrator: {backward_euler: {tolerance: 1 mm/s}}
"""
SHOT = """\
include: [../characters/anna.yaml]
variables:
  shot: 010
cloth:
  fabric: cotton
step: 20 ms
seconds: 0.1 s
fps: 10
"""


@pytest.fixture
def shot(tmp_path):
    """A shot, which includes a character, which includes a fabric: three folders."""
    files = {"looks/fabric": FABRIC, "characters/anna": CHARACTER, "shots/010": SHOT}
    for name, text in files.items():
        write(tmp_path / f"{name}.yaml", text)
    return tmp_path / "shots" / "010.yaml"


def write(path, text):
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return path


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_later_files_win_and_blocks_are_merged(shot):
    tree = read_source(shot).tree
    assert tree["cloth"] == {
        "fabric": "cotton",
        "sheet": {"nx": 5, "ny": 4, "width": "40 cm", "height": "40 cm"},
    }
    assert tree["damping"] == "5 ms" and tree["description"] == "cape of shot 8"  # YAML's 010
    assert not tree.keys() & {"include", "variables"}
    change(shot, "variables:", "pins: [{vertices: [0]}]\nintegrator: {bdf2: {}}\nvariables:")
    tree = read_source(shot).tree
    assert tree["pins"] == [{"vertices": [0]}], "lists are replaced"
    assert tree["integrator"] == {"bdf2": {}}, "another integrator has other settings"
    assert load_scene(shot).frames == 1


def test_variables_keep_their_type_and_are_written_into_text(shot):
    change(shot, "shot: 010", 'shot: "010"\n  where: [0, 1, 0]\n  n: 7')
    change(
        shot, "  fabric: cotton", "  fabric: cotton\n  translation: ${where}\n  sheet: {nx: '${n}'}"
    )
    tree = read_source(shot, ["variables.width=0.5", "cloth.sheet.ny=9"]).tree
    assert tree["cloth"]["translation"] == [0, 1, 0]
    assert tree["cloth"]["sheet"] == {"nx": 7, "ny": 9, "width": 0.5, "height": 0.5}
    assert tree["description"] == "cape of shot 010"


def test_variables_of_variables(shot):
    change(shot, "shot: 010", "shot: ${sequence}_010\n  sequence: ab")
    assert read_source(shot).tree["description"] == "cape of shot ab_010"
    change(shot, "sequence: ab", "sequence: x${shot}")
    with refused(SceneError, ("", "010.yaml:4", "in its own value")):
        read_source(shot)


def test_files_are_relative_to_the_file_that_names_them(shot):
    folder = shot.parents[1]
    mesh = grid(4, 4, 0.4, 0.4)
    for name in ("characters/cape.obj", "shots/take2/cape.obj"):
        (folder / name).parent.mkdir(exist_ok=True)
        write_obj(folder / name, mesh.vertices, mesh.faces, mesh.corner_uv)
    text = FABRIC.replace("silk", "silk, mesh: {file: '${file}'}")
    write(folder / "characters/anna.yaml", "variables: {file: cape.obj}\n" + text)
    write(shot, "include: ../characters/anna.yaml\n")
    assert load_scene(shot).scene.cloth.n_vertices == 16
    value = "${folder}/cape.obj\n  folder: ./take2"
    write(shot, f"include: ../characters/anna.yaml\nvariables:\n  file: {value}\n")
    assert load_scene(shot).scene.cloth.n_vertices == 16


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("include: [../characters/anna.yaml]", "include: [../characters/bob.yaml]", "010.yaml:1"),
        ("include: [../characters/anna.yaml]", "include: 010.yaml", "010.yaml:1"),
        ("  shot: 010", "  shot:", "010.yaml:3"),
        ("  shot: 010", "  shot: [1, 2]", "anna.yaml:6"),
        ("fabric: cotton", "fabric: ${fabrik}", "010.yaml:5"),
        ("variables:\n  shot: 010", "variables: 3", "010.yaml:2"),
        ("fps: 10", "gravity: [0, ${width}, 0]", "010.yaml:8"),
    ],
)
def test_mistakes_are_named_with_their_line(shot, old, new, where):
    change(shot, old, new)
    with refused(SceneError, ("", where)):
        load_scene(shot)


def test_a_name_on_the_command_line_is_known(shot):
    with refused(SceneError, ("", "widht", "'width'")):
        read_source(shot, ["variables.widht=1"])


def test_errors_name_the_file_that_has_the_field(shot):
    change(shot.parents[1] / "characters/anna.yaml", "ny: 4", "ny: 1")
    with refused(SceneError, ("", "../characters/anna.yaml:10")):
        load_scene(shot)


def test_a_cycle_is_named_where_it_closes(shot):
    change(shot.parents[1] / "looks/fabric.yaml", "damping", "include: ../shots/010.yaml\ndamping")
    with refused(SceneError, ("", "../looks/fabric.yaml:2", "010.yaml")):
        read_source(shot)


def test_files_that_multiply_end(tmp_path):
    """Twenty levels, each of which includes the next one twice."""
    for k in range(20):
        write(tmp_path / f"{k}.yaml", f"include: [{k + 1}.yaml, {k + 1}.yaml]\n")
    write(tmp_path / "20.yaml", FABRIC)
    with refused(SceneError, ("", "at most 100 files")):
        read_source(tmp_path / "0.yaml")


@pytest.mark.parametrize("text", ["${%d}${%d}", '["${%d}", "${%d}"]'])
def test_variables_that_multiply_end(tmp_path, text, monkeypatch):
    monkeypatch.setattr(template, "MOST_USES", 1000)
    lines = [f"  {k}: {text % (k + 1, k + 1)}" for k in range(12)]
    scene = "\n".join(["variables:", *lines, "  12: x", "description: ${0}", FABRIC])
    path = write(tmp_path / "scene.yaml", scene)
    with refused(SceneError, ("", "too many variables in variables")):
        read_source(path)


def test_the_command_line_chooses_what_is_included(shot):
    other = CHARACTER.replace("nx: 5", "nx: 6")
    write(shot.parents[1] / "characters/bob.yaml", other)
    tree = read_source(shot, ["include.0=../characters/bob.yaml"]).tree
    assert tree["cloth"]["sheet"]["nx"] == 6


def test_a_run_records_all_of_it_and_resumes_only_without_changes(shot, tmp_path):
    loaded = load_scene(shot)
    run = weft.simulate(loaded.scene, frames=1, fps=loaded.fps, out=tmp_path / "run")
    recorded = json.loads((run.path / "manifest.json").read_text())["description"]
    assert recorded == read_source(shot).tree
    assert identity(scene_of(Run(run.path)).scene) == identity(loaded.scene)
    character = shot.parents[1] / "characters/anna.yaml"
    change(character, "corner: top", "corner: bottom")
    with pytest.raises(RunError, match="pins"):
        changed = load_scene(shot).scene
        weft.simulate(changed, frames=2, fps=loaded.fps, out=run.path, resume=True)


def test_a_sweep_of_variables(shot, tmp_path):
    sweep = write(
        tmp_path / "wedge.yaml",
        f"scene: {shot}\nset: {{variables.shot: '020'}}\n"
        f"vary: {{variables.width: [30 cm, 40 cm]}}\nout: {tmp_path / 'wedge'}\n",
    )
    folder = run_on(InThisProcess(), sweep)
    widths = [np.ptp(Run(folder.place(s) / "run").positions(0)[:, 0]) for s in folder.plan]
    assert sorted(widths) == pytest.approx([0.3, 0.4])
    about = Run(folder.place(folder.plan[0]) / "run").manifest["description"]
    assert about["description"] == "cape of shot 020"
    change(shot.parents[1] / "looks/fabric.yaml", "5 ms", "6 ms")
    with refused(SweepError, ("", "the scene file")):
        run_on(InThisProcess(), sweep)
    worker._open.cache_clear()
    with refused(SweepError, ("", "changed since")):
        worker.open_unchanged(folder.path)
