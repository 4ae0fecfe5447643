"""Small sweeps for tests: 5 x 5 vertices, five steps."""

import json
import os
import textwrap
from contextlib import contextmanager
from pathlib import Path

import pytest

from weft.plugins.lab.sweep.file import SweepDocument, read_field_values, read_sweep
from weft.plugins.lab.sweep.folder import prepare
from weft.plugins.lab.sweep.runner import run_sweep
from weft.plugins.lab.sweep.sample import run_sample

SCENE = """cloth:
  sheet: {nx: 5, ny: 5, width: 40 cm, height: 40 cm}
  fabric: cotton
pins:
  - corners: top
gravity: [0, -9.81, 0]
step: 20 ms
seconds: 0.1 s
fps: 10
"""
WIDE = "cloth.sheet.width: {from: 30 cm, to: 60 cm}"
PATIENCE = 900  # [s] after which something does not answer, however slow the machine
GRID = "cloth.sheet.width: [30 cm, 40 cm, 50 cm, 60 cm]"


class InThisProcess:
    """An executor for tests in which workers play no part: each takes seconds to start."""

    def submit(self, function, *arguments):
        """Call the function at once."""
        return Ended(function(*arguments))


class Ended:
    """The future of a call that has ended."""

    def __init__(self, value):
        self.value = value

    def done(self):
        return True

    def result(self):
        return self.value


def run_on(executor, path, samples=None, **more):
    """The folder of a sweep that has run."""
    return run_sweep(read_sweep(path, samples), executor, **more)


def run_samples_of(sweep, count=None):
    """Runs all samples of a sweep here, or the first ones, and gives the sweep."""
    for sample in sweep.plan[:count]:
        run_sample(sweep, sample)
    return sweep


def varied(path, said):
    """What a sweep file says of a field that varies."""
    return read_field_values(SweepDocument(Path("sweep.yaml"), {}), path, said)


@pytest.fixture
def sweep_file(tmp_path):
    """Writes a scene and a sweep file; gives the latter's path."""
    (tmp_path / "scene.yaml").write_text(SCENE)

    def write(text="", vary=GRID, name="sweep.yaml"):
        path = tmp_path / name
        varied = f"vary:\n  {vary}\n" if vary else ""
        path.write_text(f"scene: scene.yaml\nout: {tmp_path / 'out'}\n{varied}{text}")
        return path

    return write


@pytest.fixture
def planned(sweep_file, tmp_path):
    """A sweep planned into a folder, nothing run."""

    def plan(text="", vary=GRID, out="out"):
        return prepare(read_sweep(sweep_file(text, vary)), tmp_path / out)

    return plan


def statuses(folder):
    """Contents of all status files, by id."""
    return {p.parent.name: json.loads(p.read_text()) for p in folder.glob("samples/*/status.json")}


def digests(folder):
    """Digest of the last frame of every sample that is done."""
    return {k: s["digest"] for k, s in statuses(folder).items() if s["state"] == "done"}


@contextmanager
def in_workers(folder, code):
    """Workers on this machine that start meanwhile run ``code`` first."""
    (folder / "sitecustomize.py").write_text(
        "import sys\nif '--multiprocessing-fork' in sys.orig_argv:\n"
        + textwrap.indent(textwrap.dedent(code), "    ")
    )
    with pytest.MonkeyPatch.context() as patch:
        old = os.environ.get("PYTHONPATH", "")
        patch.setenv("PYTHONPATH", f"{folder}{os.pathsep}{old}")
        yield


def before_writing(name, action):
    """Code of a worker: statements before it writes a file, with ``folder`` that of its sample."""
    return f"""
import os, signal
from pathlib import Path
from weft.io.safe_folder import SafeFolder
old = SafeFolder.writer
def writer(self, name, **more):
    folder = self.path.parent
    if name == {name!r}:
{textwrap.indent(textwrap.dedent(action).strip(), " " * 8)}
    return old(self, name, **more)
SafeFolder.writer = writer
"""
