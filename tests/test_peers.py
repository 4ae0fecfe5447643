"""What `benchmarks/peers.py` gives to others and makes of their results; none of them is run."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import peers
from benchmarks.reference import REFERENCE, Machine
from weft.scene.build import load_scene
from weft.scene.prepare import prepare


@pytest.fixture
def loaded():
    return peers.demo(9)


def test_the_command_line(tmp_path):
    a = peers.arguments(["--only", "weft", "mujoco", "--into", str(tmp_path), "--side", "100"])
    assert (a.only, a.into, a.side, a.cores) == (["weft", "mujoco"], tmp_path, 100, 1)
    assert peers.arguments([]).only is None
    with pytest.raises(SystemExit):
        peers.arguments(["--only", "houdini"])


def test_all_get_the_scene_of_the_demo(loaded, tmp_path, monkeypatch):
    """Bit by bit, through the file that runners read; and it is what `weft demo` simulates."""
    given = tmp_path / "scene.npz"
    peers.exchange.save(given, peers.arrays(loaded.scene), peers.numbers(loaded, 2))
    monkeypatch.setattr(sys, "argv", ["run", str(given), "", json.dumps({"step": 0.02})])
    monkeypatch.delattr("os.sched_setaffinity", raising=False)
    d = peers.exchange.read()
    scene = load_scene(peers.DEMO, ["cloth.sheet.nx=9", "cloth.sheet.ny=9"]).scene
    assert np.array_equal(d.cloth, prepare(scene).state.x) and np.array_equal(
        d.faces, scene.cloth.faces
    )
    ball, floor = scene.bodies
    assert np.array_equal(d.sphere, ball.vertices) and np.array_equal(d.floor, floor.vertices)
    assert (d.cores, d.n_frames, d.options["step"]) == (2, 40, 0.02)
    assert d.radius == pytest.approx(0.2) and d.height == pytest.approx(0.202)
    assert d.mass == pytest.approx(0.18) and d.gap == scene.contact.gap == 4e-3
    assert d.stretch == 6500 and d.friction == scene.contact.friction.static
    sides = np.linalg.norm(d.cloth_uv[d.faces] - np.roll(d.cloth_uv[d.faces], 1, 1), axis=2)
    edges = np.linalg.norm(d.cloth[d.faces] - np.roll(d.cloth[d.faces], 1, 1), axis=2)
    assert sides == pytest.approx(edges)


def test_frames_are_judged(loaded):
    """A flat sheet half a meter above has nothing; one at the sphere's center is cut by it."""
    scene = loaded.scene
    start = scene.cloth.vertices
    clean = peers.judged(peers.Row("a", "a"), np.array([start, start]), scene, 25)
    assert (clean.frames, clean.own, clean.bodies, clean.through) == (0, 0, 0, 0)
    assert clean.stretch == pytest.approx(0) and clean.speed == 0
    low = start - [0, start[:, 1].mean() - 0.2, 0]
    cut = peers.judged(peers.Row("a", "a"), np.array([start, low, start]), scene, 25)
    inside = np.linalg.norm(low - [0, 0.202, 0], axis=1) < 0.19
    assert cut.frames == 1 and cut.bodies > 10 and cut.own == 0 and cut.through == inside.sum() > 0
    assert cut.speed == pytest.approx(25 * (start[:, 1].mean() - 0.2))
    below = peers.judged(peers.Row("a", "a"), np.array([start, start * [1, -1, 1]]), scene, 25)
    assert below.through == len(start)
    folded = start.copy()
    folded[[0, 80]] = start[[80, 0]]
    own = peers.judged(peers.Row("a", "a"), np.array([start, start * 1.1, folded]), scene, 25)
    assert own.own > 0 and own.bodies == 0 and own.frames == 1
    wide = peers.judged(peers.Row("a", "a"), np.array([start, start * 1.1]), scene, 25)
    assert wide.stretch == pytest.approx(0.1)


def test_the_inner_radius_of_a_cube():
    x = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], dtype=float)
    faces = np.array([[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5]])
    assert peers.inner_radius(x, faces) == pytest.approx(1.0)


def test_a_rival_that_cannot_be_installed_is_a_row(tmp_path, monkeypatch):
    def call(*_):
        raise RuntimeError("ERROR: No matching distribution found for mujoco>=4")

    monkeypatch.setattr(peers, "call", call)
    monkeypatch.setattr("venv.create", lambda *_, **__: None)
    row = peers.simulated("mujoco", 9, tmp_path, 1)
    assert "No matching distribution" in row.failed
    *_, line = peers.table([row], 9, markdown=True)
    assert line.endswith("| none: ERROR: No matching distribution found for mujoco>=4 |")


def test_a_program_that_fails_says_why(monkeypatch):
    with pytest.raises(RuntimeError, match="no cloth today"):
        peers.call([sys.executable, "-c", "raise SystemExit('no cloth today')"])
    monkeypatch.setattr(peers, "LIMIT", 0.1)
    with pytest.raises(RuntimeError, match="not done after"):
        peers.call([sys.executable, "-c", "import time; time.sleep(900)"])


def test_weft_is_run_as_the_others_are(tmp_path, monkeypatch):
    """The whole way, on 7 x 7 vertices and five frames."""
    whole = peers.demo
    monkeypatch.setattr(peers, "demo", lambda side, scene: whole(side, ["seconds=0.2"]))
    machines = iter([Machine(REFERENCE, 1.0), Machine(3 * REFERENCE, 1.0)])
    monkeypatch.setattr(peers, "machine", lambda: next(machines))
    row = peers.simulated("weft", 7, tmp_path, 1)
    assert row.failed == "" and row.frames == row.through == 0
    assert row.cpu > 0 and row.normalized == pytest.approx(row.cpu / 2)
    assert row.step == pytest.approx(0.02) and row.stretch < 0.05
    head, _, line = peers.table([row], 7, markdown=True)
    assert head.count("|") == line.count("|") and "| 1 |" in line


@pytest.mark.parametrize("path", sorted(peers.RIVALS.glob("*.py")), ids=lambda p: p.name)
def test_runners_compile(path):
    subprocess.run([sys.executable, "-m", "py_compile", path], check=True)
    assert path.name == "exchange.py" or any(
        r.runner == path.name for r in peers.SIMULATORS.values()
    )
