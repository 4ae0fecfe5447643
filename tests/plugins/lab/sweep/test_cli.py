"""``weft sweep`` and ``weft dataset`` from the command line: what they say, and no tracebacks."""

import json
import re
import runpy
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.plugins.lab.sweep.conftest import digests, run_samples_of
from tests.refusals import refused
from weft.base.errors import RunError, SweepError, WeftError
from weft.cli.commands import app
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.file import read_sweep
from weft.plugins.lab.sweep.folder import open_sweep
from weft.plugins.lab.sweep.pictures import label_lines, spread_evenly, write_pictures
from weft.plugins.lab.sweep.plan import plan_of
from weft.plugins.lab.sweep.sample import run_sample
from weft.plugins.lab.sweep.status import read_status, write_status

EXAMPLES = Path(__file__).parents[4] / "examples" / "sweep"


def weft(*line):
    """Its output; raises what the command raises."""
    result = CliRunner().invoke(app, [str(a) for a in line], catch_exceptions=False)
    assert result.exit_code in (0, 1), result.output
    return result.output


def test_commands_each_run_one_sample(sweep_file, tmp_path):
    """For any other batch system: as many lines as samples, each of which is run here."""
    path = sweep_file()
    lines = weft("sweep", "plan", path).splitlines()
    assert len(lines) == 4
    for line in lines[:2]:
        words = shlex.split(line)
        assert words[:3] == ["weft", "sweep", "sample"]
        assert "done after" in weft(*words[1:])
    assert len(digests(tmp_path / "out")) == 2
    assert len(weft("sweep", "plan", path).splitlines()) == 2


def planned_by(path):
    weft("sweep", "plan", path)
    return read_sweep(path).out


def test_status(sweep_file):
    sweep = open_sweep(planned_by(sweep_file()))
    run_sample(sweep, sweep.plan[1])
    told = json.loads(weft("sweep", "status", sweep.path, "--json"))
    assert (told["done"], told["pending"], told["failed"], told["good"]) == (1, 3, 0, 1)
    lines = weft("sweep", "status", sweep_file(), "--list").splitlines()
    assert [line.split()[2] for line in lines] == ["pending", "done", "pending", "pending"]
    assert "cloth.sheet.width=40 cm" in lines[1]
    assert re.search(r"pending +3", weft("sweep", "status", sweep.path))


def test_a_failure_is_listed_with_the_command_that_reproduces_it(sweep_file):
    path = sweep_file(vary="cloth.fabric: [cotton, koton]")
    sweep = run_samples_of(open_sweep(planned_by(path)))
    done, failed, *told = weft("sweep", "status", sweep.path, "--list").splitlines()
    assert (done.split()[2], failed.split()[2]) == ("done", "failed")
    assert "BAD_SCENE" in told[0] and "koton" in told[0]
    words = shlex.split(told[2])
    assert words[:2] == ["weft", "run"] and "cloth.fabric=koton" in words
    assert json.loads(weft("sweep", "status", sweep.path, "--json"))["reasons"] == {"BAD_SCENE": 1}


def test_contact_sheet(planned, tmp_path):
    from PIL import Image

    sweep = run_samples_of(planned(), 3)
    weft("sweep", "pictures", sweep.path, tmp_path / "sheet.png")
    assert Image.open(tmp_path / "sheet.png").size == (6 * 200, 176)
    assert spread_evenly(list(range(10)), 5) == [0, 2, 4, 6, 8]
    with refused(RunError, "contact sheet", got=".pdf", expected=".png"):
        weft("sweep", "pictures", sweep.path, tmp_path / "sheet.pdf")
    with refused(SweepError, "contact sheet", got="no sample"):
        write_pictures(planned(out="other"), tmp_path / "a.png")


def test_a_wedge_is_one_video(sweep_file, tmp_path):
    """A row for each value of the first field; what failed has its place and its reason."""
    from PIL import Image, ImageSequence

    vary = "cloth.sheet.width: [30 cm, 40 cm]\n  gravity.1: [-9.81, 0, 9.81]"
    sweep = run_samples_of(open_sweep(planned_by(sweep_file("set: {seconds: 0.3 s}", vary))), 5)
    failed = sweep.place(sweep.plan[4])
    told = {"state": "failed", "reason": "NOT_CONVERGED", "message": "step 9"}
    write_status(SafeFolder(failed), replace(read_status(failed), **told))
    weft("sweep", "pictures", sweep.path, tmp_path / "wedge.webp")
    with Image.open(tmp_path / "wedge.webp") as video:
        assert video.size == (3 * 200, 2 * 176)
        frames = [np.array(f.convert("RGB"), int) for f in ImageSequence.Iterator(video)]
    assert len(frames) == 4
    moves = np.abs(frames[-1] - frames[0]).max(axis=2) > 60
    cells = [moves[y : y + 150, x : x + 200].sum() for y in (0, 176) for x in (0, 200, 400)]
    assert [n > 20 for n in cells] == [True, False, True, True, False, False]
    assert label_lines(sweep.look()[4])[1].endswith("NOT_CONVERGED")


def test_what_is_wrong_is_one_line(sweep_file, tmp_path):
    for line, message in [
        (["sweep", tmp_path / "no.yaml"], "sweep file"),
        (["sweep", "status", tmp_path], ("sweep folder", "`weft sweep`")),
        (["dataset", tmp_path, tmp_path / "o.zarr"], ("sweep folder", "`weft sweep`")),
        (["sweep", "sample", planned_by(sweep_file()), "zz"], ("sample", "zz")),
    ]:
        with refused(WeftError, message) as error:
            weft(*line)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda p: p.name)
def test_examples(path):
    if "\nscene:" not in path.read_text():
        return
    from weft.plugins.lab.sweep.runner import check_fields

    if path.stem == "sobol_indices":
        pytest.importorskip("SALib", reason="no SALib: pip install SALib")
    sweep = read_sweep(path)
    plan = plan_of(sweep)
    check_fields(sweep, plan)
    assert len(plan) == {"grid": 12, "latin_hypercube": 1000, "sobol_indices": 160}[path.stem]


def test_sobol_indices_of_the_example():
    """Of f = a + 2 b, whose shares are 1/5, 4/5 and 0; a failed sample leaves out its row."""
    pytest.importorskip("SALib", reason="no SALib: pip install SALib")
    xarray = pytest.importorskip("xarray", reason="no xarray: pip install 'weft[data]'")
    example = runpy.run_path(str(EXAMPLES / "sobol_indices.py"))
    low, high = np.array(example["PROBLEM"]["bounds"]).T
    table = [[*row.values()] for row in example["rows"](None, 512)]
    box = np.array([[float(str(v).removesuffix(" m")) for v in row] for row in table])
    values = (box - low) / (high - low) @ [1.0, 2.0, 0.0]
    kept = np.delete(np.arange(len(values)), 7)
    data = xarray.Dataset({"number": ("sample", kept), "f": ("sample", values[kept])})
    found = example["indices"](data, "f")
    np.testing.assert_allclose(found["S1"], [0.2, 0.8, 0.0], atol=0.02)
    np.testing.assert_allclose(found["ST"], [0.2, 0.8, 0.0], atol=0.02)
