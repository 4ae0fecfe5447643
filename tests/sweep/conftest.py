"""Small sweeps for tests: 5 x 5 vertices, five steps."""

import json

import pytest

from weft.sweep.file import read_sweep
from weft.sweep.folder import prepare

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
GRID = "cloth.sheet.width: [30 cm, 40 cm, 50 cm, 60 cm]"


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
