"""``weft sweep`` and ``weft dataset`` from the command line: what they say, and no tracebacks."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence
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
from weft.plugins.lab.sweep.runner import check_fields
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
    weft("sweep", "pictures", tmp_path / "out", tmp_path / "sheet.png")
    assert Image.open(tmp_path / "sheet.png").size == (2 * 400, 326)
    told = weft("sweep", "pictures", tmp_path / "out", tmp_path / "sheet.png", "--width", "200")
    assert Image.open(tmp_path / "sheet.png").size == (2 * 200, 176) and "--width" in told


def planned_by(path):
    weft("sweep", "plan", path)
    return read_sweep(path).out


def test_status_and_the_command_that_reproduces_a_failure(sweep_file):
    path = sweep_file(vary="cloth.fabric: [cotton, koton, silk]")
    sweep = run_samples_of(open_sweep(planned_by(path)), 2)
    told = json.loads(weft("sweep", "status", sweep.path, "--json"))
    assert [told[k] for k in ("done", "pending", "failed", "good")] == [1, 1, 1, 1]
    assert told["reasons"] == {"BAD_SCENE": 1}
    done, failed, reason, _, again, pending = weft("sweep", "status", path, "--list").splitlines()
    assert [s.split()[2] for s in (done, failed, pending)] == ["done", "failed", "pending"]
    assert "cloth.fabric=cotton" in done and "BAD_SCENE" in reason and "koton" in reason
    words = shlex.split(again)
    assert words[:2] == ["weft", "run"] and "cloth.fabric=koton" in words
    assert re.search(r"pending +1", weft("sweep", "status", sweep.path))


def test_pictures_that_cannot_be_made(planned, tmp_path):
    assert spread_evenly(list(range(10)), 5) == [0, 2, 4, 6, 8]
    with refused(SweepError, "contact sheet", got="no sample"):
        write_pictures(planned(), tmp_path / "a.png")


def test_a_wedge_is_one_video(sweep_file, tmp_path):
    """A row for each value of the first field; what failed has its place and its reason."""
    vary = "cloth.sheet.width: [30 cm, 40 cm]\n  gravity.1: [0, -9.81]"
    sweep = run_samples_of(open_sweep(planned_by(sweep_file("set: {seconds: 0.3 s}", vary))))
    failed = sweep.place(sweep.plan[3])
    told = {"state": "failed", "reason": "NOT_CONVERGED", "message": "step 9"}
    write_status(SafeFolder(failed), replace(read_status(failed), **told))
    with refused(RunError, "contact sheet", got=".pdf", expected=".png"):
        weft("sweep", "pictures", sweep.path, tmp_path / "sheet.pdf")
    weft("sweep", "pictures", sweep.path, tmp_path / "wedge.webp")
    with Image.open(tmp_path / "wedge.webp") as video:
        assert video.size == (2 * 400, 2 * 326)
        frames = [np.array(f.convert("RGB"), int) for f in ImageSequence.Iterator(video)]
    assert len(frames) == 4
    moves = np.abs(frames[-1] - frames[0]).max(axis=2) > 60
    cells = [moves[y : y + 300, x : x + 400].sum() for y in (0, 326) for x in (0, 400)]
    assert [n > 20 for n in cells] == [False, True, False, True]
    assert label_lines(sweep.look()[3])[1].endswith("NOT_CONVERGED")


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
    if path.stem == "sobol_indices":
        pytest.importorskip("SALib", reason="no SALib: pip install SALib")
    if "\nscene:" in path.read_text():
        sweep = read_sweep(path)
        check_fields(sweep, plan_of(sweep))
