"""What the command line says when something is wrong: one message, a status, never a traceback."""

from pathlib import Path

import numpy as np

import weft
from tests.refusals import refused
from tests.together.cli.test_cli import SCENE, run, scene  # noqa: F401 (fixtures)
from weft.run import check_scene as check_module
from weft.run.run_folder import frame_name


def test_the_unexpected_is_one_line(run, scene, monkeypatch, tmp_path):  # noqa: F811
    """Status 70, version and the file with the traceback, which the terminal does not show."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)

    def broken(*_, **__):
        raise ZeroDivisionError("by design")

    monkeypatch.setattr(check_module, "check", broken)
    status, out, err = run("check", scene)
    assert status == 70 and "Traceback" not in out + err
    assert "ZeroDivisionError: by design" in err and weft.__version__ in err
    (file,) = tmp_path.glob("weft-traceback-*.txt")
    assert str(file) in err.replace("\n", "") and err.startswith("error: ")
    report = file.read_text()
    assert "Traceback" in report and "by design" in report and "weft check" in report


def test_out_of_memory_is_named(run, scene, monkeypatch):  # noqa: F811
    def hungry(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(check_module, "check", hungry)
    status, _, err = run("check", scene)
    assert status == 2 and "out of memory" in err and "Traceback" not in err


def test_doctor(run, scene):  # noqa: F811
    assert run("run", scene, "--out", "r")[0] == 0
    Path("r", frame_name(2)).write_bytes(b"x")
    status, out, _ = run("doctor", "r")
    assert status == 1 and "000002" in out and "--repair" in out
    status, out, _ = run("doctor", "r", "--repair")
    assert status == 0 and "repaired" in out
    status, out, _ = run("doctor", "r")
    assert status == 0 and "whole" in out
    Path("r/manifest.json").unlink()
    status, _, err = run("doctor", "r", "--repair")
    assert status == 2 and "--scene" in err
    assert run("doctor", "r", "--repair", "--scene", scene)[0] == 0


def test_doctor_of_the_machine(run):  # noqa: F811
    status, out, _ = run("doctor")
    assert status == 0 and all(word in out for word in ("warp-lang", "memory", "kernel cache"))


def test_warnings_are_not_no_problems(run, tmp_path):  # noqa: F811
    """Intersecting pairs are counted, and not followed by `no problems`."""
    path = tmp_path / "s.yaml"
    path.write_text(
        "cloths: [{name: a, sheet: {nx: 5, ny: 5}}, {name: b, sheet: {nx: 5, ny: 5}, "
        "rotation: [90, 0, 0]}]\n"
    )
    status, out, _ = run("check", path)
    assert status == 0 and "intersect" in out
    assert "no problems" not in out and "no errors, 1 warning" in out


def test_no_numbers_are_not_exported(tmp_path):
    cloth = weft.sheet(4, 4)
    done = weft.simulate(weft.Scene(cloth), frames=1, out=tmp_path / "r", progress=False)
    arrays = done.folder.frame(1)
    arrays["x"][3] = np.nan
    done.folder.write(frame_name(1), arrays)
    with refused(weft.errors.RunError, "frame 1", got="finite"):
        done.save(tmp_path / "a.obj", 1)
    assert not (tmp_path / "a.obj").exists()


def test_a_stretch_that_no_cloth_makes_is_named(run, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    Path("s.yaml").write_text(
        "cloth: {sheet: {nx: 8, ny: 8, width: 40 cm, height: 40 cm}, fabric: {preset: cotton, "
        "stretch: 1e10 N/m, shear: 1e10 N/m}}\npins: [{corners: top}]\nseconds: 0.2 s\n"
        "integrator: baraff_witkin_1998\n"
    )
    _, _, err = run("run", "s.yaml", "--out", "r")
    assert "unlike all fabrics" in err and "in one step" in err
