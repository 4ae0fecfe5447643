"""Progress: a bar that keeps the time left in 80 columns, JSON lines, silence, and a preview."""

import io
import json

import pytest
from PIL import Image
from rich.console import Console

from tests.together.cli.test_cli import run, scene  # noqa: F401
from weft.integrators.base import StepReport
from weft.kernel.context import process
from weft.run.progress import progress_bar
from weft.run.simulation import Progress
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick


REPORT = StepReport(
    dt=0.01,
    outcome=Outcome.CONVERGED,
    iterations=12,
    linear_iterations=345,
    line_search_trials=1,
    increment=1.2e-3,
    linear_solver="multigrid",
    terms={},
    seconds=0.1,
)


@pytest.mark.parametrize(
    "width, more",
    [(60, []), (80, ["step 8/8"]), (120, ["step 8/8", "Newton", "increment", "000100.npz"])],
)
def test_the_bar_is_one_line_of_the_terminal(width, more):
    out = io.StringIO()
    console = Console(file=out, width=width, force_terminal=False)
    with progress_bar(600, console) as update:
        update(Progress(100, 600, 8, 8, REPORT, "frames/000100.npz"))
    (line,) = [line for line in out.getvalue().splitlines() if line.strip()]
    assert len(line) <= width
    assert all(word in line for word in ["frame 100/600", "left", *more])


def test_json_lines(run, scene):  # noqa: F811
    status, out, err = run("run", scene, "--out", "here", "--frames", "2", "--json")
    start, *steps, done = [json.loads(line) for line in out.splitlines()]
    assert status == 0 and err == ""
    assert start == {"event": "start", "run": "here", "frames": 2}
    assert done["event"] == "done" and done["seconds"] > 0
    assert steps[-1]["frame"] == 2 and steps[-1]["wrote"] == "frames/000002.npz"
    assert steps[-1]["left"] == 0 and steps[0]["left"] >= 0
    counts = {"event", "frame", "frames", "step", "steps", "newton", "linear"}
    assert set(steps[0]) == counts | {"increment", "seconds", "left", "wrote"}


def test_quiet(run, scene):  # noqa: F811
    assert run("run", scene, "--out", "here", "--frames", "1", "--quiet") == (0, "", "")


def test_preview(run, scene):  # noqa: F811
    status, _, _ = run("run", scene, "--out", "here", "--frames", "2", "--preview", "now.png")
    assert status == 0 and Image.open("now.png").size == (640, 360)
    status, _, err = run("run", scene, "--out", "there", "--preview", "now.jpg")
    assert status == 2 and "expected .png" in err


def test_a_preview_that_fails_does_not_stop_the_run(run, scene, monkeypatch):  # noqa: F811
    from weft.cli import preview

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(preview, "_draw", full)
    status, _, err = run("run", scene, "--out", "here", "--frames", "3", "--preview", "now.png")
    assert status == 0 and err.count("warning: no preview any more: disk full") == 1


def test_python_says_that_kernels_are_compiled(capsys, monkeypatch):
    """Once, on stderr; the command line has lines of its own."""
    monkeypatch.setattr(process, "told", False)
    process.on_compile("weft.law.arap")
    with progress_bar(2):
        process.on_compile("weft.law.stvk")
    out, err = capsys.readouterr()
    assert out == "" and err.count("compiling kernels") == 1
