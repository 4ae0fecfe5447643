"""The command line as a user meets it: in processes of its own where that matters."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import weft
from tests.command import call_weft
from weft.discretization.mesh import grid
from weft.io.obj import write_obj

SCENE = """\
cloth: {sheet: {nx: 7, ny: 6}, fabric: cotton}
pins: [{corners: top}]
seconds: 0.2 s
fps: 20
"""


@pytest.fixture
def scene(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "scene.yaml"
    path.write_text(SCENE)
    return path


@pytest.fixture
def run(monkeypatch, capsys):
    return lambda *arguments: call_weft(monkeypatch, capsys, *arguments)


def test_run_render_export(run, scene, tmp_path):
    words = ("run", scene, "--out", "here", "--set", "step=0.05")
    status, out, _ = run(*words, "--frames", "3")
    assert status == 0 and "weft render here" in out and len(weft.Run("here")) == 4
    assert run(*words, "--resume")[0] == 0 and len(weft.Run("here")) == 5
    status, _, err = run(*words)
    assert status == 2 and "--resume" in err
    assert run(*words, "--from", "2", "--set", "gravity=[0,0,0]")[0] == 0
    size = ("--width", "200", "--height", "120")
    assert run("render", "here", "a.png", *size, "--look", "curvature")[0] == 0
    assert Image.open("a.png").size == (200, 120)
    assert run("export", "here", "all.###.ply")[0] == 0
    assert len(list(tmp_path.glob("all.0*.ply"))) == 5


@pytest.mark.parametrize(
    "arguments, match",
    [
        (("run", "nothing.yaml"), "error: scene file"),
        (("run", "scene.yaml", "--set", "cloth.fabric=cottn"), "did you mean 'cotton'"),
        (("run", "scene.yaml", "--device", "cuda:42"), "error: device = "),
        (("render", "nothing", "a.png"), "error: run folder"),
        (("explain", "scene.clot"), "did you mean 'cloth'"),
        (("check", "scene.yaml", "--warp", "up"), None),
    ],
)
def test_errors_have_no_traceback(run, scene, arguments, match):
    status, out, err = run(*arguments)
    assert status == 2 and "Traceback" not in err + out
    assert match is None or match in err


def test_check(run, scene, tmp_path):
    status, out, _ = run("check", scene)
    assert status == 0 and "1 warning" in out and "42 vertices" in out
    assert "folds of about 223 mm by its weight need edges below 74 mm" in out
    scene.write_text(SCENE.replace("nx: 7", "nx: 1").replace("top", "tpo"))
    status, out, _ = run("check", scene)
    assert status == 1 and "scene.yaml:1" in out


def test_check_draws_degenerate_faces(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mesh = grid(6, 6, 1, 1)
    uv = np.array(mesh.corner_uv)
    uv[[3, 20], 2] = uv[[3, 20], 1]
    write_obj("bad.obj", mesh.vertices, mesh.faces, uv)
    status, out, _ = run("check", "bad.obj")
    assert status == 1 and "3, 20" in out and "bad.check.png" in out
    red, *others = np.moveaxis(np.asarray(Image.open("bad.check.png")).astype(int), -1, 0)[:3]
    assert (red > np.maximum(*others) + 60).sum() > 500


def test_check_draws_and_writes_faces_that_intersect(run, tmp_path, monkeypatch):
    """Of a sheet whose right third has been turned over and pushed through the middle."""
    monkeypatch.chdir(tmp_path)
    mesh = grid(10, 4, 0.9, 0.3)
    x = np.array(mesh.vertices)
    right = x[:, 0] > 0.15
    x[right, 0] = 0.3 - x[right, 0] + 0.01
    x[right, 1] += 0.3 * (x[right, 0] + 0.1)
    write_obj("folded.obj", x, mesh.faces, mesh.corner_uv)
    status, out, _ = run("check", "folded.obj")
    assert status == 0 and "pairs of faces intersect at the start" in out
    assert (tmp_path / "folded.check.png").exists()
    status, out, _ = run("check", tmp_path / "folded.check.obj")
    assert "pairs of faces intersect" in out


@pytest.fixture
def small(monkeypatch):
    """Scenes of demos with few vertices and frames."""
    from weft.scene import build

    original = build.load_scene
    small = ["cloth.sheet.nx=7", "cloth.sheet.ny=7", "seconds=0.1"]
    monkeypatch.setattr(build, "load_scene", lambda path, *_: original(path, small))


def test_examples(run, scene, small):
    """Every scene and script with a line; a scene runs by its name, also by the end of it; a demo
    replaces an earlier one.
    """
    status, out, _ = run("examples")
    assert status == 0 and "flag " in out and "contact/twist" in out and "own_law" in out
    lines = [ln for ln in out.splitlines() if ln.startswith("  ")]
    assert len(lines) >= 20 and all(len(ln.split(maxsplit=1)) == 2 for ln in lines)
    assert run("examples", "flag")[1].startswith("description: A silk flag")
    for name, *words in (["demo"], ["demo"], ["twist", "twist"]):
        status, out, _ = run("demo", *words)
        assert status == 0 and f"runs/{name}/{name}.png" in out
    for name, said in (("own_law", "python"), ("flagg", "did you mean 'flag'")):
        status, _, err = run("demo", name)
        assert status == 2 and said in err
    status, _, err = run("demo", "two_corners", "--quiet")
    assert (status, err) == (0, "")  # the one whose whole name it is


def test_explain_has_units_for_nested_fields(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    rows = [line.split() for line in run("explain", "scene.cloth")[1].splitlines()]
    units = {row[0]: row[1] for row in rows if len(row) > 1}
    assert units["width"] == "m" and units["rotation"] == "degrees" and units["sheet"] == "block"
    assert len(run("explain", "--all")[1].splitlines()) > 100
    assert len(run("explain")[1].splitlines()) < 60


def test_json_schema(run):
    """Quantities are numbers or text and say their unit; what is required is."""
    schema = json.loads(run("explain", "--json-schema")[1])
    width = schema["$defs"]["SheetBlock"]["properties"]["width"]
    assert width["type"] == ["number", "string"] and width["unit"] == "m"
    number, keyed = schema["properties"]["gravity"]["prefixItems"][0]["anyOf"]
    assert number["unit"] == "m/s^2" and keyed["$ref"].endswith("Keyframes")
    assert "cloth" in schema["properties"] and schema["additionalProperties"] is False


def test_validate_fails_with_status_1(run, monkeypatch):
    from weft.plugins.lab.validate import free_fall

    monkeypatch.setattr(free_fall, "GRAVITY", 9.80)
    status, out, _ = run("validate", "free-fall")
    assert status == 1 and "FAILED" in out


def test_a_missed_indicative_row_is_shown_apart_and_keeps_status_0(run, monkeypatch):
    """Free fall misses as before; the rows of another experiment come first nevertheless."""
    from weft.plugins.lab.validate import free_fall
    from weft.plugins.lab.validate.check import RowBasis, compare

    def checks():
        yield compare("free-fall/a", 1.0, 2.0, 0.1, RowBasis.INDICATIVE)
        yield compare("free-fall/b", 1.0, 1.0, 0.1, RowBasis.SELF)

    monkeypatch.setattr(free_fall, "checks", checks)
    status, out, _ = run("validate", "free-fall", "catenary")
    assert status == 0 and "FAILED" not in out
    own, apart = out.split("indicative rows")
    assert re.search(r"^free-fall/b.* ok +self$", own, re.M)
    assert re.search(r"^free-fall/a.*missed", apart, re.M)
    assert "3 of 3 ok, 0 of 1 indicative ones" in apart
    status, out, err = run("validate", "free-fall", "--json")
    assert (status, err) == (0, "")
    assert [(c["ok"], c["basis"]) for c in json.loads(out)] == [
        (False, "indicative"),
        (True, "self"),
    ]


def test_an_experiment_that_raises_is_a_row(run, monkeypatch):
    from weft.plugins.lab.validate import catenary

    monkeypatch.setattr(catenary, "rest", lambda *_, **__: 1 / 0)
    status, out, _ = run("validate", "catenary", "rigid-motion")
    assert status == 1 and "ZeroDivisionError" in out and "4 of 5 ok" in out


def test_demo_does_not_touch_another_run(run, scene, tmp_path):
    assert run("run", scene, "--frames", "1")[0] == 0
    mine = tmp_path / "runs" / "scene"  # the folder is named after the scene
    status, _, err = run("demo", "--out", mine)
    assert status == 2 and "expected a folder without a run" in err
    assert len(weft.Run(mine)) == 2


def test_ctrl_c_in_a_finalizer_counts(run, scene, monkeypatch):
    """Python would print it there and go on: one Ctrl-C of a hundred came so. The run resumes."""
    from weft.run.simulation import run_scene

    class Array:
        def __del__(self):
            raise KeyboardInterrupt

    def interrupted(*arguments, **more):
        Array()
        return run_scene(*arguments, **more)

    with monkeypatch.context() as patched:
        patched.setattr("weft.run.simulation.run_scene", interrupted)
        status, _, err = run("run", scene, "--out", "here")
    assert status == 130 and "--resume" in err and "Traceback" not in err
    assert len(weft.Run("here")) < 5
    assert run("run", scene, "--out", "here", "--resume")[0] == 0 and len(weft.Run("here")) == 5


def test_piped_output_may_close(scene):
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    shell = f"{sys.executable} -m weft.cli.main fabrics | head -n 1"
    result = subprocess.run(shell, shell=True, capture_output=True, text=True, env=environment)
    assert "Traceback" not in result.stderr


def test_settle_takes_the_scenes_own_settings(run, scene):
    code, out, err = run("settle", scene, "--out", "settled")
    assert code == 0 and "Newton iterations" in out and "iteration 1" in err
    assert len(weft.Run("settled")) == 2
    scene.write_text(SCENE + "integrator: {quasi_static: {max_iterations: 1}}\n")
    code, _, err = run("settle", scene, "--out", "short")
    assert code == 1 and "not settled" in err and "MAX_ITERATIONS" in err
    assert "--out short-2 --iterations 4 " in err
    assert run("settle", scene, "--out", "long", "--iterations", "400")[0] == 0
    scene.write_text(SCENE + "integrator: {bdf2: {tolerance: 1 mm/s}}\n")
    linear = "integrator.quasi_static.linear=splu"
    assert run("settle", scene, "--out", "other", "--set", linear)[0] == 0
    assert weft.Run("other").metrics[-1]["linear_solver"] == "splu"
    code, _, err = run("settle", scene, "--out", "no", "--set", "integrator=bdf2")
    assert code == 2 and "uses quasi_static" in err


def test_settle_of_a_scene_without_equilibrium_names_the_next_commands(run, scene):
    """Which find one: the sheet lies still on a plate with friction."""
    scene.write_text(
        "cloth: {sheet: {nx: 4, ny: 4, width: 10 cm, height: 10 cm}, translation: [0, 6 mm, 0]}\n"
        "contact: {gap: 5 mm, friction: 0.5}\n"
        "bodies: [{plate: {width: 50 cm, depth: 50 cm}, rotation: [0, 0, 5]}]\n"
        "seconds: 0.5 s\nfps: 10\n"
    )
    code, _, err = run("settle", scene, "--out", "free")
    assert code == 1 and "UNHELD" in err
    words = " ".join(err.split("next")[1].split())
    moved, settle = (part.split() for part in words.split("(until all rests) weft"))
    assert run(*moved[1:])[0] == 0 and run(*settle)[0] == 0


def test_fabrics_say_what_was_measured(run, monkeypatch):
    """By field, in 80 columns: no number is cut off."""
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("fabrics")
    assert "…" not in out and all(len(line) <= 80 for line in out.splitlines())
    (twill,) = (line for line in out.splitlines() if line.startswith("stretch-twill"))
    assert "~60" in twill and "28300/4390" in twill and twill.rstrip().endswith("6")
    origins = {f["name"]: f["origins"] for f in json.loads(run("fabrics", "--json")[1])}
    assert origins["silk"]["shear"] == "estimated"
    assert origins["broadcloth"]["bending_warp"] == "measured"
