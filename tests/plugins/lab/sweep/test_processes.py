"""Sweeps on this machine: through kills, twice, extended, in the same bits with any workers."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.command import call_weft
from tests.plugins.lab.sweep.conftest import (
    PATIENCE,
    WIDE,
    InThisProcess,
    before_writing,
    digests,
    in_workers,
    run_on,
    statuses,
)
from tests.refusals import refused
from weft.base.errors import RunError, SceneError, SweepError
from weft.io.folder_lock import FolderLock
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.status import SampleKind, counts
from weft.plugins.lab.sweep.tasks import Hooks

LONG = "set: {seconds: 1 s}\n"  # ten frames each


def run(path, workers=0, **more):
    """In this process, where a test does not ask for workers."""
    return run_on(None if workers else InThisProcess(), path, workers=workers or None, **more)


@contextmanager
def command(path, *more):
    """A sweep in processes of their own: a group, which ends with the block."""
    line = [sys.executable, "-m", "weft.cli.main", "sweep", str(path), "-q", *more]
    process = subprocess.Popen(line, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def wait_for(condition):
    clock = time.monotonic()
    while not condition():
        assert time.monotonic() - clock < PATIENCE
        time.sleep(0.05)


def test_what_a_sample_says_reproduces_it(sweep_file, tmp_path, monkeypatch, capsys):
    """`weft run` with the overrides of a report gives the same last frame, bitwise."""
    from weft.run.run_folder import RunFolder

    sweep = run(sweep_file())
    line = sweep.reproducer(sweep.plan[2], str(tmp_path / "again"))
    status, *_ = call_weft(monkeypatch, capsys, *line[1:], "-q")
    assert status == 0
    found = RunFolder(tmp_path / "again").sealed_frame(1)[1].digest
    assert found == digests(sweep.path)[sweep.plan[2].id]


ALL_OF_US = """
done = [p for p in folder.parent.glob("*/status.json") if '"done"' in p.read_text()]
if len(done) >= {least}:
    os.killpg(0, signal.SIGKILL)
"""


@pytest.mark.slow
def test_kill_nine_of_everything(sweep_file, tmp_path):
    """Half-way, twice; then it ends with the bits of a sweep that nothing happened to.

    A worker in the middle of a sample kills them all, itself too: so that sample remains.
    """
    path = sweep_file(f"design: random\nsamples: 8\n{LONG}", vary=WIDE)
    whole = digests(run(path, 2, out=tmp_path / "whole").path)
    for least in (2, 5):
        code = before_writing("frames/000005.npz", ALL_OF_US.format(least=least))
        with in_workers(tmp_path, code), command(path) as process:
            assert process.wait(PATIENCE) == -signal.SIGKILL
    kept = digests(tmp_path / "out")
    assert 5 <= len(kept) < 8 and kept.items() <= whole.items()
    times = {k: (tmp_path / f"out/samples/{k}/status.json").stat().st_mtime_ns for k in kept}
    assert digests(run(path, 2).path) == whole
    for k, before in times.items():  # what was done is not done again
        assert (tmp_path / f"out/samples/{k}/status.json").stat().st_mtime_ns == before


ITSELF_ONCE = """
try:
    with open({mark!r}, "x") as file:
        print(folder.name, os.getpid(), file=file)
except FileExistsError:
    pass  # another worker, or this sample again
else:
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.campaign
def test_the_same_bits_with_any_number_of_workers(sweep_file, tmp_path):
    """Without workers, and with two, of which one is killed: its sample is gone on with by another
    one, and the sweep does not stop. (Workers take seconds to start.)
    """
    path = sweep_file("design: random\nsamples: 4\nset: {seconds: 0.6 s}\n", vary=WIDE)
    alone = digests(run(path, out=tmp_path / "one").path)
    assert len(set(alone.values())) == 4
    mark, notes = tmp_path / "killed", []
    code = before_writing("frames/000005.npz", ITSELF_ONCE.format(mark=str(mark)))
    with in_workers(tmp_path, code):
        sweep = run(path, 2, hooks=Hooks(note=notes.append))
    assert digests(sweep.path) == alone
    name, pid = mark.read_text().split()
    assert len(notes) == 1 and name in notes[0]
    again = statuses(sweep.path)[name]
    assert again["frames"] == 5 and again["where"].split()[1] != pid


@pytest.mark.campaign
def test_a_step_that_does_not_end(sweep_file, tmp_path, monkeypatch):
    """Its worker is killed far beyond the time limit; the sample has failed, the sweep goes on.
    (The worker needs the seconds of grace to start.)
    """
    monkeypatch.setattr("weft.plugins.lab.sweep.runner.OVERDUE", 0.0)
    monkeypatch.setattr("weft.plugins.lab.sweep.runner.GRACE", 8.0)
    code = before_writing("frames/000001.npz", "import time\ntime.sleep(1000)")
    with in_workers(tmp_path, code):
        run(sweep_file("time_limit: 5 min\n", vary="step: [0.02]"), 1)
    (status,) = statuses(tmp_path / "out").values()
    assert (status["state"], status["reason"]) == ("failed", "TIME_LIMIT")
    assert "killed" in status["message"]


@pytest.mark.slow
def test_a_killed_parent_stops_its_workers(sweep_file, tmp_path):
    path = sweep_file("design: random\nsamples: 4\nset: {seconds: 1000 s}\n", vary=WIDE)
    started = lambda: [s for s in statuses(tmp_path / "out").values() if s["state"] == "started"]  # noqa: E731
    with command(path, "--workers", "2") as process:
        wait_for(lambda: len(started()) == 2)
        workers = [int(s["where"].split()[1]) for s in started()]
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        wait_for(lambda: not any(is_running(pid) for pid in workers))
    assert all(s["attempts"] == 0 for s in started())


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_more_samples_keep_the_old(sweep_file, tmp_path):
    path = sweep_file("design: latin_hypercube\nsamples: 4\n", vary=WIDE)
    few = run(path)
    before = {p: p.stat().st_mtime_ns for p in few.path.glob("samples/*/status.json")}
    many = run(path, samples=6)
    assert len(many.plan) == 6 and many.plan[:4] == few.plan
    assert len(digests(tmp_path / "out")) == 6
    assert all(p.stat().st_mtime_ns == t for p, t in before.items())


def test_two_sweeps_in_one_folder(sweep_file, tmp_path):
    """At a time: the second is told of the first. Of another scene: it is refused."""
    path = sweep_file()
    inside = SafeFolder(tmp_path / "out")
    with FolderLock(inside), refused(RunError, "run folder", got=f"process {os.getpid()}"):
        run(path)
    run(path)
    before = digests(tmp_path / "out")
    scene = tmp_path / "scene.yaml"
    scene.write_text(scene.read_text().replace("20 ms", "10 ms"))
    with refused(SweepError, "sweep folder", got="the scene file"):
        run(path)
    with refused(SweepError, "sweep folder", got="threads"):
        run(sweep_file("threads: 2\nset: {}\n").rename(tmp_path / "b.yaml"))
    assert digests(tmp_path / "out") == before


@pytest.mark.parametrize(
    "vary, field",
    [
        ("cloth.sheet.widht: [30 cm]", "cloth.sheet.widht"),
        ("cloth.sheet.nx: {from: 10, to: 6000, whole: true, steps: 2}", "cloth.sheet.nx"),
        ("pins.3.until: [1 s]", "pins.3"),
    ],
)
def test_fields_that_do_not_exist_or_do_not_take_it(sweep_file, tmp_path, vary, field):
    """Nothing is written, nothing runs."""
    with refused(SceneError, field):
        run(sweep_file(vary=vary))
    assert not (tmp_path / "out" / "plan.jsonl").exists()


def test_failures_do_not_stop_a_sweep(sweep_file):
    """A sample without a fabric, one with; retried only when asked for."""
    path = sweep_file(vary="cloth.fabric: [cotton, koton, silk]")
    states = []
    hooks = Hooks(report=lambda _, status: states.append(status.state))
    sweep = run(path, hooks=hooks)
    assert sorted(states) == ["done", "done", "failed"]
    states.clear()
    run(path, hooks=hooks)
    assert states == []
    run(path, retry=True, hooks=hooks)
    assert states == ["failed"]
    assert counts(sweep.look())[SampleKind.FAILED] == 1


@pytest.mark.slow
def test_workers_that_cannot_start(sweep_file, tmp_path):
    with in_workers(tmp_path, "sys.exit('no such luck')"), refused(SweepError, "workers"):
        run(sweep_file(), 2)


def test_a_sweep_json_that_is_damaged(sweep_file, tmp_path):
    sweep = run(sweep_file())
    path = sweep.path / "sweep.json"
    path.write_text(path.read_text().replace('"threads": ', '"threads": 1'))
    with refused(SweepError, "sweep.json", got="checksum"):
        run(sweep_file())
    path.unlink()
    before = digests(sweep.path)
    assert digests(run(sweep_file()).path) == before
