"""What `benchmarks/peers.py` gives to others and makes of their results; none of them is run."""

import numpy as np
import pytest

from benchmarks import peers
from benchmarks.reference import REFERENCE, Machine


@pytest.fixture
def loaded():
    return peers.demo(9)


def test_frames_are_judged(loaded):
    """A flat sheet half a meter above has nothing; one at the sphere's center is cut by it."""
    scene = loaded.scene
    start = scene.cloth.vertices

    def judged(*frames):
        return peers.judged(peers.Row("a", "a"), np.array(frames), scene, 25)

    clean = judged(start, start)
    assert (clean.frames, clean.own, clean.bodies, clean.through) == (0, 0, 0, 0)
    assert clean.stretch == pytest.approx(0) and clean.speed == 0
    low = start - [0, start[:, 1].mean() - 0.2, 0]
    cut = judged(start, low, start)
    inside = np.linalg.norm(low - [0, 0.202, 0], axis=1) < 0.19
    assert cut.frames == 1 and cut.bodies > 10 and cut.own == 0 and cut.through == inside.sum() > 0
    assert cut.speed == pytest.approx(25 * (start[:, 1].mean() - 0.2))
    assert judged(start, start * [1, -1, 1]).through == len(start)
    folded = start.copy()
    folded[[0, 80]] = start[[80, 0]]
    own = judged(start, start * 1.1, folded)
    assert own.own > 0 and own.bodies == 0 and own.frames == 1
    assert judged(start, start * 1.1).stretch == pytest.approx(0.1)


def test_a_rival_that_cannot_be_installed_is_a_row(tmp_path, monkeypatch):
    def call(*_):
        raise RuntimeError("ERROR: No matching distribution found for mujoco-core>=4.0.1")

    monkeypatch.setattr(peers, "call", call)
    monkeypatch.setattr("venv.create", lambda *_, **__: None)
    row = peers.simulated("mujoco", 9, tmp_path, 1)
    assert "No matching distribution" in row.failed
    *_, line = peers.table([row], 9, markdown=True)
    assert line.endswith("| none: ERROR: No matching distribution found for mujoco-core>=4.0.1 |")


# 8 s: a process of its own, as for the others.
@pytest.mark.campaign
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
