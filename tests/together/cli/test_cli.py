"""The command line as a user meets it: in processes of its own where that matters."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import weft
from tests.command import call_weft
from weft.cli.explain import simulated_effects
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


def test_help(run):
    status, out, _ = run("--help")
    assert status == 0
    for command in (
        "demo",
        "run",
        "check",
        "render",
        "fabrics",
        "explain",
        "validate",
        "export",
    ):
        assert command in out
        status, text, _ = run(command, "--help")
        assert status == 0 and len(text.splitlines()) > 5


def test_examples(run, scene, monkeypatch):
    """Every scene and script with a line; a scene runs by its name, also by the end of it."""
    from weft.scene import build

    status, out, _ = run("examples")
    assert status == 0 and "flag " in out and "contact/twist" in out and "own_law" in out
    lines = [ln for ln in out.splitlines() if ln.startswith("  ")]
    assert len(lines) >= 20 and all(len(ln.split(maxsplit=1)) == 2 for ln in lines)
    assert run("examples", "flag")[1].startswith("description: A silk flag")
    fabrics = out[out.index("Fabrics from data (weft fabrics fit FILE)") :]
    assert "photograph " in fabrics and "weft fabrics fit" in run("demo", "photograph")[2]
    original = build.load_scene
    small = ["cloth.sheet.nx=7", "cloth.sheet.ny=7", "seconds=0.1"]
    monkeypatch.setattr(build, "load_scene", lambda path, *_: original(path, small))
    status, out, _ = run("demo", "twist")
    assert status == 0 and "runs/twist/twist.png" in out
    status, _, err = run("demo", "own_law")
    assert status == 2 and "python" in err
    status, _, err = run("demo", "flagg")
    assert status == 2 and "did you mean 'flag'" in err
    status, _, err = run("demo", "two_corners", "--quiet")
    assert (status, err) == (0, "")  # the one whose whole name it is


def test_version(run):
    assert run("--version")[1].strip() == f"weft {weft.__version__}"


def test_run_render_export(run, scene, tmp_path):
    status, out, err = run("run", scene, "--out", "here", "--frames", "3", "--set", "step=0.05")
    assert status == 0 and "weft render here" in out
    assert len(weft.Run("here")) == 4
    status, out, _ = run("run", scene, "--out", "here", "--resume", "--set", "step=0.05")
    assert status == 0 and len(weft.Run("here")) == 5
    status, _, err = run("run", scene, "--out", "here", "--set", "step=0.05")
    assert status == 2 and "--resume" in err
    status, _, err = run("run", scene, "--out", "here", "--from", "2", "--set", "gravity=[0,0,0]")
    assert status == 0
    assert (
        run("render", "here", "a.png", "--width", "200", "--height", "120", "--look", "curvature")[
            0
        ]
        == 0
    )
    assert Image.open("a.png").size == (200, 120)
    assert run("render", "here", "a.webp", "--width", "64", "--height", "64")[0] == 0
    assert run("export", "here", "a.obj", "--frame", "1")[0] == 0
    assert run("export", "here", "all.###.ply")[0] == 0
    assert len(list(tmp_path.glob("all.0*.ply"))) == 5


def test_run_goes_into_a_folder_named_after_the_scene(run, scene, tmp_path):
    assert run("run", scene, "--frames", "1")[0] == 0
    assert (tmp_path / "runs" / "scene" / "manifest.json").is_file()


@pytest.mark.parametrize(
    "arguments, match",
    [
        (("run", "nothing.yaml"), "SceneError: scene file"),
        (("run", "scene.yaml", "--set", "cloth.fabric=cottn"), "did you mean 'cotton'"),
        (("run", "scene.yaml", "--set", "stpe=1"), "did you mean 'step'"),
        (("run", "scene.yaml", "--device", "cuda:42"), "DeviceError"),
        (("render", "nothing", "a.png"), "RunError: run folder"),
        (("fabrics", "cottn"), "did you mean 'cotton'"),
        (("explain", "scene.clot"), "did you mean 'cloth'"),
        (("validate", "elastika"), "did you mean 'elastica'"),
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
    image = np.asarray(Image.open("bad.check.png")).astype(int)
    red = (image[..., 0] > image[..., 1] + 60) & (image[..., 0] > image[..., 2] + 60)
    assert red.sum() > 500


def test_check_draws_and_writes_faces_that_intersect(run, tmp_path, monkeypatch):
    from tests.together.scene.test_scene_files import folded_through

    monkeypatch.chdir(tmp_path)
    path = folded_through(tmp_path)
    status, out, _ = run("check", path)
    assert status == 0 and "pairs of faces intersect at the start" in out
    assert (tmp_path / "folded.check.png").exists()
    status, out, _ = run("check", tmp_path / "folded.check.obj")
    assert "pairs of faces intersect" in out


def test_non_manifold_edges_are_counted_in_a_warning(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fin.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv .5 0 1\nv .5 1 0\nv .5 0 -1\nvt 0 0\nvt 1 0\nvt .5 1\n"
        "f 1/1 2/2 3/3\nf 2/2 1/1 4/3\nf 1/1 2/2 5/3\n"
    )
    (tmp_path / "s.yaml").write_text("cloth: {mesh: {file: fin.obj}}\npins: [{vertices: [0]}]\n")
    status, _, err = run("run", "s.yaml", "--frames", "1")
    assert status == 0 and "warning: fin.obj: 1 non-manifold edges" in err


def test_fabrics(run):
    status, out, _ = run("fabrics")
    assert status == 0 and "cotton" in out and "kg/m^2" in out
    status, out, _ = run("fabrics", "silk")
    assert status == 0 and "estimated" in out and "momme" in out
    status, out, _ = run("fabrics", "--json")
    assert len(json.loads(out)) >= 8


def test_explain(run):
    assert "scene.integrator" not in run("explain")[1] and "bdf2" in run("explain")[1]
    out = run("explain", "scene.integrator.bdf2")[1]
    assert "m/s" in out and "0.01" in out and "projected" in out
    out = run("explain", "scene.pins.path.keyframes")[1]
    assert "translation" in out and "degrees" in out


def test_explain_physics(run):
    """Every effect is shown, with a page of the manual that exists."""
    words = "".join(run("explain", "physics")[1].split())
    effects = simulated_effects()
    assert {e["simulated"] for e in effects} == {"yes", "partly", "no"}
    for e in effects:
        assert "".join(e["effect"].split())[:12] in words
        assert (Path(__file__).parents[3] / "docs" / f"{e['page']}.md").exists()


def test_explain_has_units_for_nested_fields(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    rows = [line.split() for line in run("explain", "scene.cloth")[1].splitlines()]
    units = {row[0]: row[1] for row in rows if len(row) > 1}
    assert units["width"] == "m" and units["rotation"] == "degrees" and units["sheet"] == "block"
    assert units["span_size"] == "m" and units["smooth"] == "yes/no"
    assert "N/m (per rad)" in run("explain", "scene.cloth.fabric")[1]
    everything = run("explain", "--all")[1]
    assert "Pa" in everything and len(everything.splitlines()) > 100
    assert len(run("explain")[1].splitlines()) < 60


def test_json_schema(run):
    """Quantities are numbers or text and say their unit; what is required is."""
    schema = json.loads(run("explain", "--json-schema")[1])
    width = schema["$defs"]["SheetBlock"]["properties"]["width"]
    assert width["type"] == ["number", "string"] and width["unit"] == "m"
    number, keyed = schema["properties"]["gravity"]["prefixItems"][0]["anyOf"]
    assert number["unit"] == "m/s^2" and keyed["$ref"].endswith("Keyframes")
    assert "cloth" in schema["properties"] and schema["additionalProperties"] is False
    choices = schema["$defs"]["ClothBlock"]["properties"]["fabric"]["anyOf"]
    (fields,) = (c["properties"] for c in choices if c.get("type") == "object")
    assert fields["shear"]["unit"] == "N/m"
    assert "array" in [choice.get("type") for choice in fields["stretch"]["anyOf"]]


def test_every_number_of_a_scene_has_a_unit():
    from weft.scene.field_units import unit_of
    from weft.scene.schema import SceneFile

    assert {n: unit_of(f) for n, f in SceneFile.model_fields.items() if n in ("fps", "step")} == {
        "fps": "1/s",
        "step": "s",
    }
    assert all(unit_of(f) for f in SceneFile.model_fields.values())


def test_json_is_pure(run):
    status, out, err = run("validate", "free-fall", "rigid-motion", "--json")
    checks = json.loads(out)
    assert status == 0 and err == ""
    assert all(
        set(c) == {"name", "expected", "got", "error", "tolerance", "ok", "note", "part", "basis"}
        for c in checks
    )


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
    lines = out.splitlines()
    (apart,) = (i for i, line in enumerate(lines) if line.startswith("indicative rows"))
    assert status == 0 and "FAILED" not in out
    assert lines[apart + 1].startswith("free-fall/a") and "missed" in lines[apart + 1]
    (own,) = (i for i, line in enumerate(lines) if line.startswith("free-fall/b"))
    assert own < apart and lines[own].split()[-2:] == ["ok", "self"]
    assert "3 of 3 ok, 0 of 1 indicative ones" in lines[apart + 2]
    status, out, _ = run("validate", "free-fall", "--json")
    rows = {c["name"]: c for c in json.loads(out)}
    assert status == 0 and not rows["free-fall/a"]["ok"]
    assert {n: c["basis"] for n, c in rows.items()} == {
        "free-fall/a": "indicative",
        "free-fall/b": "self",
    }


def test_an_experiment_that_raises_is_a_row(run, monkeypatch):
    from weft.plugins.lab.validate import catenary

    monkeypatch.setattr(catenary, "rest", lambda *_, **__: 1 / 0)
    status, out, _ = run("validate", "catenary", "rigid-motion")
    assert status == 1 and "ZeroDivisionError" in out and "4 of 5 ok" in out
    status, out, _ = run("validate", "catenary", "--json")
    (row,) = json.loads(out)
    assert row["expected"] is None and row["part"] == "fast" and not row["ok"]


def test_names_are_in_the_help(run):
    status, out, _ = run("validate", "--help")
    assert status == 0 and "capstan" in " ".join(out.split())


def test_demo_replaces_an_earlier_demo_only(run, scene, tmp_path, monkeypatch):
    from weft.scene import build

    original = build.load_scene
    small = ["cloth.sheet.nx=7", "cloth.sheet.ny=7", "seconds=0.1"]
    monkeypatch.setattr(build, "load_scene", lambda path, *_: original(path, small))
    for _ in range(2):
        status, out, _ = run("demo")
        assert status == 0 and "runs/demo/demo.png" in out
    assert Image.open("runs/demo/demo.png").size == (1280, 720)


def test_demo_does_not_touch_another_run(run, scene):
    assert run("run", scene, "--out", "mine", "--frames", "1")[0] == 0
    status, _, err = run("demo", "--out", "mine")
    assert status == 2 and "expected a folder without a run" in err
    assert len(weft.Run("mine")) == 2


def test_ctrl_c_leaves_a_run_that_resumes(run, scene, tmp_path):
    """SIGINT: status 130, a line that says how to go on, and then it goes on.

    What a shell starts in the background ignores SIGINT, and so does what that starts: not here.
    """
    command = [sys.executable, "-m", "weft.cli.main", "run", str(scene), "--out", "here"]
    long = [*command, "--set", "seconds=1000", "--frames", "20000"]
    heard = signal.signal(signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(long, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, heard)
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline and not (tmp_path / "here/frames/000003.npz").exists():
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=900)
    assert process.returncode == 130 and "--resume" in err and "Traceback" not in err
    n = len(weft.Run(tmp_path / "here"))
    more = ("--resume", "--set", "seconds=1000", "--frames", n + 2)
    assert run("run", scene, "--out", "here", *more)[0] == 0
    assert len(weft.Run(tmp_path / "here")) == n + 3


def test_ctrl_c_in_a_finalizer_counts(run, scene, monkeypatch):
    """Python would print it there and go on: one Ctrl-C of a hundred came so."""
    from weft.run.simulation import run_scene

    class Array:
        def __del__(self):
            raise KeyboardInterrupt

    def interrupted(*arguments, **more):
        Array()
        return run_scene(*arguments, **more)

    monkeypatch.setattr("weft.run.simulate.run_scene", interrupted)
    status, _, err = run("run", scene, "--out", "here")
    assert status == 130 and "--resume" in err and "Traceback" not in err
    assert len(weft.Run("here")) < 5


def test_help_needs_no_simulator():
    """`weft --help` imports neither Warp nor SciPy."""
    code = (
        "import sys; from weft.cli import main; print(sorted({'warp', 'scipy'} & set(sys.modules)))"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.strip() == "[]"


def test_piped_output_may_close(scene):
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    shell = f"{sys.executable} -m weft.cli.main fabrics | head -n 1"
    result = subprocess.run(shell, shell=True, capture_output=True, text=True, env=environment)
    assert "Traceback" not in result.stderr


def test_settle_takes_the_scenes_own_settings(run, scene):
    scene.write_text(SCENE + "integrator: {quasi_static: {max_iterations: 1}}\n")
    code, _, err = run("settle", scene, "--out", "short")
    assert code == 1 and "MAX_ITERATIONS" in err
    assert run("settle", scene, "--out", "long", "--iterations", "400")[0] == 0
    scene.write_text(SCENE + "integrator: {bdf2: {tolerance: 1 mm/s}}\n")
    linear = "integrator.quasi_static.linear=splu"
    assert run("settle", scene, "--out", "other", "--set", linear)[0] == 0
    assert weft.Run("other").metrics[-1]["linear_solver"] == "splu"
    code, _, err = run("settle", scene, "--out", "no", "--set", "integrator=bdf2")
    assert code == 2 and "takes quasi_static" in err


def test_settle(run, scene):
    code, out, err = run("settle", scene, "--out", "settled")
    assert code == 0 and "Newton iterations" in out and "iteration 1" in err
    assert len(weft.Run("settled")) == 2
    code, _, err = run("settle", scene, "--out", "other", "--iterations", "1")
    assert code == 1 and "not settled" in err and "MAX_ITERATIONS" in err
    code, _, err = run("settle", scene, "--out", "third", "--set", "law={name: arapp}")
    assert code == 2 and "did you mean 'arap'" in err


def test_fabrics_say_what_was_measured(run, monkeypatch):
    """By field, in 80 columns: no number is cut off."""
    monkeypatch.setenv("COLUMNS", "80")
    _, out, _ = run("fabrics")
    assert "…" not in out and all(len(line) <= 80 for line in out.splitlines())
    (twill,) = (line for line in out.splitlines() if line.startswith("stretch-twill"))
    assert "~60" in twill and "28300/4390" in twill and twill.rstrip().endswith("6")
    _, out, _ = run("fabrics", "--json")
    fabrics = {f["name"]: f for f in json.loads(out)}
    assert fabrics["silk"]["origins"]["shear"] == "estimated"
    assert fabrics["broadcloth"]["bending_hysteresis_weft"] == pytest.approx(1.216e-3, rel=1e-3)
    assert fabrics["broadcloth"]["origins"]["bending_warp"] == "measured"


def test_the_wheel_has_the_examples():
    import tomllib

    text = (Path(__file__).parents[3] / "pyproject.toml").read_text()
    wheel = tomllib.loads(text)["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"]["examples"] == "weft/examples"
