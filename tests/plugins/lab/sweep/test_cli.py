"""``weft sweep`` and ``weft dataset`` from the command line: what they say, and no tracebacks."""

import json
import re
import shlex
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.plugins.lab.sweep.conftest import digests, run_samples_of
from tests.refusals import refused
from weft.base.errors import SweepError, WeftError
from weft.cli.commands import app
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.contact_sheet import contact_sheet, label_lines, spread_evenly
from weft.plugins.lab.sweep.file import read_sweep
from weft.plugins.lab.sweep.folder import open_sweep, threads_for
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
    lines = weft("sweep", path, "--executor", "commands").splitlines()
    assert len(lines) == 4
    for line in lines[:2]:
        words = shlex.split(line)
        assert words[:3] == ["weft", "sweep", "sample"]
        assert "done after" in weft(*words[1:])
    assert len(digests(tmp_path / "out")) == 2
    assert len(weft("sweep", path, "--executor", "commands").splitlines()) == 2


def test_a_dry_run_writes_nothing(sweep_file, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "weft.plugins.lab.sweep.estimate.LONGEST", float("inf")
    )  # a whole sample, not a part
    told = json.loads(weft("sweep", sweep_file(), "--dry-run", "--json"))
    assert (told["samples"], told["left"]) == (4, 4) and told["seconds"] > 0
    assert not (tmp_path / "out").exists()
    sweep = open_sweep(planned_by(sweep_file()))
    size = run_sample(sweep, sweep.plan[0]).size
    assert told["size"] == pytest.approx(size, rel=0.05)
    again = json.loads(weft("sweep", sweep_file(), "--dry-run", "--json"))
    assert (again["left"], again["basis"]) == (3, "mean of 1 that are done")
    assert "3 to run" in weft("sweep", sweep_file(), "--dry-run")


def planned_by(path):
    weft("sweep", path, "--executor", "commands")
    return read_sweep(path).out


def test_status(sweep_file):
    sweep = open_sweep(planned_by(sweep_file()))
    run_sample(sweep, sweep.plan[1])
    told = json.loads(weft("sweep", "status", sweep.path, "--json"))
    assert (told["done"], told["pending"], told["failed"], told["good"]) == (1, 3, 0, 1)
    lines = weft("sweep", "status", sweep_file(), "--list").splitlines()
    assert [line.split()[2] for line in lines] == ["pending", "done", "pending", "pending"]
    assert "cloth.sheet.width=40 cm" in lines[1]
    assert re.search(r"to run +│ +3", weft("sweep", "status", sweep.path, "--once"))


def test_the_live_table_ends_with_the_sweep(planned, monkeypatch):
    """It stays while a process hands out samples, though none runs at the moment."""
    import io
    import threading
    import time

    from rich.console import Console

    from weft.plugins.lab.sweep import table
    from weft.plugins.lab.sweep.table import live

    monkeypatch.setattr(table, "EVERY", 0.01)
    sweep, out = planned(), io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    assert live(sweep, Console(file=io.StringIO())) is False
    with sweep.lock:
        shown = threading.Thread(target=live, args=(sweep, console))
        shown.start()
        run_sample(sweep, sweep.plan[0])
        while out.getvalue().count("1 good") < 3:  # looks after the sample had ended
            assert shown.is_alive()
            time.sleep(0.01)
    shown.join(timeout=900)
    assert not shown.is_alive()


class Pictures(HTMLParser):
    """What a page loads from elsewhere, and its pictures."""

    def __init__(self):
        super().__init__()
        self.elsewhere, self.pictures = [], 0

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("src", "href"):
                self.pictures += value.startswith("data:image/png;base64,")
                self.elsewhere += [] if value.startswith("data:") else [value]


def test_report(sweep_file, tmp_path):
    """One file; every failure with the command that reproduces it."""
    vary = "cloth.fabric: [cotton, koton]\n  gravity.1: [-9.0, -8, -7, -6, -5, -4, -3, -2]"
    sweep = run_samples_of(open_sweep(planned_by(sweep_file("keep: {static: 0.5 m/s}\n", vary))))
    weft("sweep", "report", sweep.path, tmp_path / "r.html", "--thumbnails", 3)
    text = (tmp_path / "r.html").read_text()
    page = Pictures()
    page.feed(text)
    assert page.pictures == 3 and page.elsewhere == []
    assert text.count("--set cloth.fabric=koton --set gravity.1=") == 8
    assert "Spearman" in text and "Sobol" not in text
    row = re.search(r"<tr><td>speed_end</td>(.*?)</tr>", text)[1]
    assert re.search(
        r"<td>-1\.00 \(p", row
    )  # it falls the faster, the stronger gravity (more negative)
    with refused(SweepError, "report", got=".pdf", expected=".html"):
        weft("sweep", "report", sweep.path, tmp_path / "r.pdf")


def test_report_of_a_saltelli_design_has_sobol_indices(sweep_file, tmp_path):
    """Speed after a short fall is that of gravity alone; the width does not enter."""
    vary = "gravity.1: {from: -10.0, to: -2.0}\n  cloth.sheet.width: {from: 39 cm, to: 41 cm}"
    path = sweep_file("design: saltelli\nsamples: 16\nset: {seconds: 0.02 s, fps: 50}\n", vary)
    sweep = run_samples_of(open_sweep(planned_by(path)))
    weft("sweep", "report", sweep.path, tmp_path / "r.html", "--thumbnails", 0)
    text = (tmp_path / "r.html").read_text()
    row = re.search(r"<tr><td>speed_end</td>(.*?)</tr>", text)[1]
    numbers = [float(n) for n in re.findall(r"total (-?\d\.\d+)", row)]
    assert "Sobol indices" in text and numbers[0] > 0.6 and numbers[1] < 0.05


def test_contact_sheet(planned, tmp_path):
    from PIL import Image

    sweep = run_samples_of(planned(), 3)
    found = [f for f in sweep.look() if f.status]
    path = contact_sheet(sweep, found, tmp_path / "sheet.png", columns=2)
    assert Image.open(path).size == (400, 2 * 176)
    assert spread_evenly(list(range(10)), 5) == [0, 2, 4, 6, 8]


def test_a_wedge_is_one_video(sweep_file, tmp_path):
    """A row for each value of the first field; what failed has its place and its reason."""
    from PIL import Image, ImageSequence

    vary = "cloth.sheet.width: [30 cm, 40 cm]\n  gravity.1: [-9.81, 0, 9.81]"
    sweep = run_samples_of(open_sweep(planned_by(sweep_file("set: {seconds: 0.3 s}", vary))), 5)
    failed = sweep.place(sweep.plan[4])
    told = {"state": "failed", "reason": "NOT_CONVERGED", "message": "step 9"}
    write_status(SafeFolder(failed), replace(read_status(failed), **told))
    weft("sweep", "report", sweep.path, tmp_path / "wedge.webp")
    with Image.open(tmp_path / "wedge.webp") as video:
        assert video.size == (3 * 200, 2 * 176)
        frames = [np.array(f.convert("RGB"), int) for f in ImageSequence.Iterator(video)]
    assert len(frames) == 4
    moves = np.abs(frames[-1] - frames[0]).max(axis=2) > 60
    cells = [moves[y : y + 150, x : x + 200].sum() for y in (0, 176) for x in (0, 200, 400)]
    assert [n > 20 for n in cells] == [True, False, True, True, False, False]
    assert label_lines(sweep.look()[4])[1].endswith("NOT_CONVERGED")
    page = weft("sweep", "report", sweep.path, tmp_path / "a.html") and tmp_path / "a.html"
    failures = page.read_text().partition("<h2>Failures")[2].partition("<h2>")[0]
    assert failures.count("<img") == 1


def test_what_is_wrong_is_one_line(sweep_file, tmp_path):
    for line, message in [
        (["sweep", tmp_path / "no.yaml"], "sweep file"),
        (["sweep", "status", tmp_path], ("sweep folder", "`weft sweep`")),
        (["sweep", sweep_file(), "--executor", "mpi"], ("executor", "'mpi'", "processes")),
        (
            ["sweep", sweep_file(), "--executor", "dask"],
            ("--scheduler", "nothing", "tcp://HOST:PORT"),
        ),
        (
            ["sweep", sweep_file(), "--scheduler", "tcp://a:1"],
            ("--scheduler", "tcp://a:1", "--executor dask"),
        ),
        (["dataset", tmp_path, tmp_path / "o.zarr"], ("sweep folder", "`weft sweep`")),
        (["sweep", "sample", planned_by(sweep_file()), "zz"], ("sample", "zz")),
    ]:
        with refused(WeftError, message) as error:
            weft(*line)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("package", ["distributed", "submitit"])
def test_an_engine_that_is_not_installed_is_named(sweep_file, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    more = {"distributed": ["dask", "--scheduler", "tcp://127.0.0.1:1"], "submitit": ["slurm"]}
    with refused(SweepError, got=package, hint="weft[sweep]"):
        weft("sweep", sweep_file(), "--executor", *more[package])


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.yaml")), ids=lambda p: p.name)
def test_examples(path):
    if "\nscene:" not in path.read_text():
        return
    from weft.plugins.lab.sweep.runner import check_fields

    sweep = read_sweep(path)
    plan, _ = plan_of(sweep)
    check_fields(sweep, plan)
    assert len(plan) == {"grid": 12, "latin_hypercube": 1000, "saltelli": 160}[path.stem]


def test_threads_fill_the_cores(monkeypatch):
    from weft.plugins.lab.sweep import folder

    monkeypatch.setattr(folder, "cores", lambda: 16)
    assert [threads_for(n) for n in (1, 3, 8, 1000)] == [16, 5, 2, 1]
