"""The loop on disk: resume is bitwise, a kill at any instant loses one step, failures leave a
trace.
"""

import errno
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import RunError, SceneError, SimulationError
from weft.io import files
from weft.run.run_folder import RunFolder
from weft.run.simulation import run_scene
from weft.scene.prepare import prepare


def scene(**changes):
    cloth = weft.sheet(9, 8, fabric="cotton")
    return weft.Scene(cloth, [weft.Pin(cloth.corners("top"))], damping=0.01).with_(**changes)


HANGING = scene()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A run of six frames that is never stopped."""
    return simulate(tmp_path_factory.mktemp("whole") / "run", frames=6)


def simulate(path, frames=4, scene=None, **arguments):
    made = scene or HANGING
    return weft.simulate(made, frames=frames, fps=30, out=path, progress=False, **arguments)


def same_run(a, b):
    """Two runs agree bitwise in every frame and in all metrics but wall time."""
    assert len(a) == len(b)
    begins_alike(a, b)


def begins_alike(whole, part):
    """The frames and metrics of a run are the first of another."""
    for k in range(len(part)):
        frame, other = whole.folder.frame(k), part.folder.frame(k)
        assert frame.keys() == other.keys()
        for name in frame:
            np.testing.assert_array_equal(frame[name], other[name])
    lines = [m for m in whole.metrics if m["frame"] < len(part)]
    assert [untimed(m) for m in lines] == [untimed(m) for m in part.metrics]


def untimed(line):
    """A line of metrics without wall times, which differ between runs."""
    if isinstance(line, dict):
        return {k: untimed(v) for k, v in line.items() if k not in ("seconds", "phases")}
    return [untimed(v) for v in line] if isinstance(line, list) else line


def test_what_a_run_holds(whole):
    assert len(whole) == 7 and whole.fps == 30
    assert {"scene", "versions", "fps", "steps_per_frame"} <= whole.manifest.keys()
    line = whole.metrics[-1]
    costs = {"iterations", "linear_iterations", "increment", "linear_solver", "seconds"}
    assert costs | {"energies", "kinetic", "stretch", "frame", "step"} <= line.keys()
    assert line["outcome"] == "CONVERGED" and line["t"] == pytest.approx(6 / 30, abs=1e-15)
    assert len(whole.metrics) == 6 * whole.manifest["steps_per_frame"]


def test_frame_times_do_not_drift(tmp_path):
    run = simulate(tmp_path / "run", frames=7, scene=scene(step=0.011))
    assert [float(run.folder.frame(k)["t"]) for k in range(8)] == [k / 30 for k in range(8)]


@pytest.mark.parametrize("stop_after", range(1, 6))
def test_resume_after_every_step_is_bitwise(tmp_path, whole, stop_after):
    """Interrupt after each single step in turn; the resumed run equals the one never stopped."""
    steps, path = [], tmp_path / "stopped"

    def stop(now):
        steps.append(now)
        if len(steps) == stop_after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_scene(HANGING, RunFolder(path), frames=3, fps=30, on_progress=stop)
    begins_alike(whole, simulate(path, frames=3, resume=True))


def test_a_run_is_read_while_it_grows(tmp_path):
    """An opened run has the frames that are on disk, and the files of an export have them all."""
    path, opened, seen = tmp_path / "run", [], []

    def look(now):
        opened.append(opened[0] if opened else weft.Run(path))
        run = opened[0]
        last = int(run.folder.frame(len(run) - 1)["frame"])
        seen.append((len(run) - 1, run.metrics[-1]["frame"], last))
        run.export(tmp_path / "now.npz")
        with np.load(tmp_path / "now.npz") as arrays:
            assert len(arrays["positions"]) == len(run)

    run_scene(HANGING, RunFolder(path), frames=3, fps=30, on_progress=look)
    assert seen == [(0, 1, 0), (1, 1, 1), (1, 2, 1), (2, 2, 2), (2, 3, 2), (3, 3, 3)]


class Killed(BaseException):
    pass


def die_at(monkeypatch, instant, after, names=("replace",)):
    """Let the process 'die' before or after a change of the disk: replacing or removing a file."""
    counter = itertools.count()
    for name in names:
        original = getattr(os, name)

        def dying(*a, original=original, **k):
            if next(counter) == instant:
                if after:
                    original(*a, **k)
                raise Killed
            return original(*a, **k)

        monkeypatch.setattr(os, name, dying)


def test_killed_in_the_middle_of_a_write(tmp_path, whole, monkeypatch):
    """Die before each file replacement in turn, and right after some: resume is bitwise. That are
    14 runs, which are begun and resumed: 5 s on a busy machine.
    """
    kills = 0
    for instant, after in [*((k, False) for k in range(12)), (0, True), (5, True)]:
        path = tmp_path / f"killed-{instant}-{after}"
        with monkeypatch.context() as patch:
            die_at(patch, instant, after)
            try:
                simulate(path, frames=2)
            except Killed:
                kills += 1
        begins_alike(whole, simulate(path, frames=2, resume=True))
    assert kills >= 10


PROGRAM = """
import sys, weft
sys.path.insert(0, {root!r})
from tests.engine.test_simulation import scene
weft.simulate(scene(), frames=6000, fps=30, out=sys.argv[1], resume=True, progress=False)
"""


@pytest.mark.exact_start
def test_kill_9_and_resume(tmp_path):
    """The real thing: SIGKILL a process, which takes seconds to start, at a random instant."""
    program = PROGRAM.format(root=str(Path(__file__).parents[2]))
    path = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", program, str(path)])
    deadline = time.monotonic() + 900
    while time.monotonic() < deadline and process.poll() is None:
        if RunFolder(path).exists() and len(RunFolder(path).numbers()) > 3:
            break
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    last = len(weft.Run(path))
    assert last > 3
    whole = simulate(tmp_path / "whole", frames=last)
    same_run(whole, simulate(path, frames=last, resume=True))


def test_continue_from_a_frame(tmp_path, whole):
    simulate(tmp_path / "run", frames=4)
    begins_alike(whole, simulate(tmp_path / "run", frames=4, from_frame=2))


def test_another_scene_is_refused(tmp_path):
    simulate(tmp_path / "run", frames=1)
    with refused(RunError, "run folder", got="gravity", hint="from_frame"):
        simulate(tmp_path / "run", frames=2, resume=True, scene=scene(gravity=(0.0, -1.6, 0.0)))


def test_disk_full_keeps_the_last_frame(tmp_path, whole, monkeypatch):
    """The disk fills while a frame is written: an error by name, and every file still whole."""
    original = np.savez
    counter = itertools.count()

    def full(file, **arrays):
        if next(counter) >= 8:
            file.write(b"half of an arr")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        original(file, **arrays)

    monkeypatch.setattr(np, "savez", full)
    with refused(RunError, "checkpoint.npz", got="No space left"):
        simulate(tmp_path / "run", frames=20)
    monkeypatch.undo()
    run = weft.Run(tmp_path / "run")
    assert len(run) >= 2 and np.isfinite(run.positions()).all()
    assert not list(run.path.rglob("*.tmp"))
    same_run(whole, simulate(run.path, frames=6, resume=True))


def test_atomic_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), files.atomic_write(path) as file:
        file.write(b"new")
        raise ZeroDivisionError
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


def test_a_step_that_fails_is_halved(tmp_path):
    """With few iterations allowed, the first long steps fail and two half steps replace each."""
    hard = scene(step=1 / 30, settings=weft.StepSettings(1e-3, max_iterations=5))
    run = simulate(tmp_path / "run", frames=6, scene=hard)
    t, dt, kinetic = ([m[key] for m in run.metrics] for key in ("t", "dt", "kinetic"))
    assert len(set(dt)) > 1 and {m["outcome"] for m in run.metrics} == {"CONVERGED"}
    np.testing.assert_allclose(np.diff(t), dt[1:], atol=1e-12)  # each part has its own time
    assert len(set(kinetic)) == len(t)
    last = run.folder.frame(6)
    assert float(last["t"]) == 6 / 30
    assert kinetic[-1] == 0.5 * float(np.sum(hard.cloth.mass * (last["v"] ** 2).sum(1)))


def test_rejected_steps_are_in_the_metrics(tmp_path):
    """Steps of the pin that pulls fail and are halved; a resumed run has the same tries."""
    run = simulate(tmp_path / "run", scene=jumping(), frames=4)
    lines = [m for m in run.metrics if m["rejected"]]
    assert lines and all(m["dt"] < 1 / 30 for m in lines)
    first = lines[0]["rejected"][0]
    assert first.keys() == {"outcome", "part", "iterations", "seconds"}
    assert (first["outcome"], first["part"], first["iterations"]) == ("MAX_ITERATIONS", 1, 5)
    assert lines[0]["iterations"] > sum(r["iterations"] for r in lines[0]["rejected"])
    simulate(tmp_path / "again", scene=jumping(), frames=1)
    same_run(run, simulate(tmp_path / "again", scene=jumping(), frames=4, resume=True))


def jumping():
    """A sheet that a pin pulls away so fast that steps of a frame need more iterations."""
    sheet = weft.sheet(9, 8, fabric="cotton")
    keys = [weft.Keyframe(0.0), weft.Keyframe(0.05), weft.Keyframe(0.1, (0.0, 0.1, 0.0))]
    corners = sheet.corners("top")
    pins = [weft.Pin(corners[:1], path=weft.Path(keys, "linear", hold=True)), weft.Pin(corners[1:])]
    settings = weft.StepSettings(1e-3, max_iterations=5)
    return weft.Scene(sheet, pins, damping=0.01, step=1 / 30, settings=settings)


def test_a_step_that_never_converges(tmp_path):
    """Halved, and halved again; then an outcome, a reproducer, and the last good frame."""
    hopeless = scene(settings=weft.StepSettings(1e-14, max_iterations=1))
    with refused(
        SimulationError, "step 1", got="MAX_ITERATIONS", expected="dt = 0.00026 s"
    ) as caught:
        simulate(tmp_path / "run", scene=hopeless)
    command = re.search("`(weft render [^`]*)`", caught.value.hint)[1].split()
    assert command == ["weft", "render", str(tmp_path / "run"), "failed.png", "--frame", "0"]
    run = weft.Run(tmp_path / "run")
    np.testing.assert_array_equal(run.positions(0), hopeless.cloth.vertices)
    states = list((run.path / "failed").glob("*.npz"))
    report = json.loads(states[0].with_suffix(".json").read_text())
    assert report["outcome"] == "MAX_ITERATIONS"
    assert [r["part"] for r in report["rejected"]] == [1, 0.5, 1 / 64]
    # The reproducer fails again in the same way.
    kept, ready = np.load(states[0]), prepare(hopeless)
    state = weft.State(kept["x"], kept["v"], float(kept["t"]))
    memory = ready.stepper.init(ready.model, state)
    again = ready.stepper.step(ready.model, state, memory, float(kept["dt"]))[2]
    assert again.outcome.name == "MAX_ITERATIONS"


@pytest.mark.parametrize(
    "make, error, match",
    [
        (lambda p: weft.Run(p / "nothing"), RunError, ("run folder", "`weft run`")),
        (lambda p: simulate(p, frames=-1), SceneError, ("frames, fps", "-1, 30.0")),
        (lambda p: simulate(p / "new", from_frame=3), RunError, "run to continue"),
        (lambda p: scene(step=0.0), SceneError, "scene.step"),
    ],
)
def test_refused(tmp_path, make, error, match):
    with refused(error, match):
        make(tmp_path)


def test_runs_of_one_second_have_folders_of_their_own(tmp_path, monkeypatch):
    """Other scenes, one after the other, without a name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("weft.io.files.time.strftime", lambda *_: "20260102-030405")
    scenes = [weft.Scene(weft.sheet(n, n)) for n in (3, 4, 5)]
    runs = [weft.simulate(made, frames=1, progress=False) for made in scenes]
    assert [r.path.name for r in runs] == [f"20260102-030405{k}" for k in ("", "-2", "-3")]


def test_a_run_starts_once_everything_is_checked(tmp_path):
    started = []
    run_scene(HANGING, RunFolder(tmp_path), frames=1, fps=30, on_start=lambda: started.append(1))
    assert started == [1]
    with refused(RunError, "run folder", expected="a folder without a run"):
        run_scene(
            HANGING, RunFolder(tmp_path), frames=1, fps=30, on_start=lambda: started.append(2)
        )
    assert started == [1]
