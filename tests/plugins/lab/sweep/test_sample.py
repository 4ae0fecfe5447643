"""One sample: it goes on bitwise, and whatever ends it is named; nothing that was done is lost."""

import errno
import os
import subprocess
import sys

import pytest

from tests.plugins.lab.sweep.conftest import statuses
from tests.refusals import refused
from weft.base.errors import SweepError
from weft.io.folder_lock import FolderInUseError, FolderLock, is_written
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.faults import StoppedError
from weft.plugins.lab.sweep.file import read_sweep
from weft.plugins.lab.sweep.folder import open_sweep, prepare
from weft.plugins.lab.sweep.quality import Filters
from weft.plugins.lab.sweep.sample import run_sample
from weft.plugins.lab.sweep.status import MOST_ATTEMPTS, SampleKind
from weft.plugins.lab.sweep.worker import run_samples

HARD = "set: {integrator.backward_euler: {tolerance: 1.0e-14, max_iterations: 1}}\n"


def stop_after(steps):
    """A watch that stops the sample."""
    left = iter(range(steps - 1))

    def watch(_):
        if next(left, None) is None:
            raise StoppedError

    return watch


def test_it_is_done_once(planned):
    sweep = planned()
    status = run_sample(sweep, sweep.plan[0])
    assert status.state == "done" and status.attempts == 1 and status.measures["converged"]
    assert status.measures["frames"] == 1 and status.measures["steps"] == 5
    assert 0 < status.start < status.seconds and status.size > 10_000
    assert run_sample(sweep, sweep.plan[0], retry=True) == status


def test_it_goes_on_in_the_same_bits(planned):
    whole, cut = planned(out="whole"), planned(out="cut")
    wanted = run_sample(whole, whole.plan[1]).digest
    for steps in (2, 2):
        with pytest.raises(StoppedError):
            run_sample(cut, cut.plan[1], watch=stop_after(steps))
        assert cut.look()[1].kind is SampleKind.STOPPED
        assert statuses(cut.path)[cut.plan[1].id]["attempts"] == 0
    assert run_sample(cut, cut.plan[1]).digest == wanted
    lines = (cut.place(cut.plan[1]) / "run" / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == 5


def test_threads_of_blas_change_no_bit(planned):
    """Whatever process it runs in: limits are set while it runs."""
    from threadpoolctl import threadpool_limits

    one, two = planned(out="one"), planned(out="two")
    with threadpool_limits(limits=1):
        wanted = run_sample(one, one.plan[0]).digest
    with threadpool_limits(limits=2):
        assert run_sample(two, two.plan[0]).digest == wanted


def test_one_process_at_a_sample(planned):
    sweep = planned()
    folder = SafeFolder(sweep.place(sweep.plan[0]))
    with FolderLock(folder):
        assert is_written(folder) and sweep.look()[0].kind is SampleKind.RUNNING
        with refused(FolderInUseError, "run folder", got=f"process {os.getpid()}"):
            run_sample(sweep, sweep.plan[0])
        name = sweep.plan[0].id
        assert "busy" in run_samples(str(sweep.path), [name])[name]
    assert not is_written(folder) and sweep.look()[0].kind is SampleKind.PENDING


def test_a_sample_that_never_converges(planned):
    sweep = planned(HARD)
    status = run_sample(sweep, sweep.plan[0])
    assert (status.state, status.reason) == ("failed", "NOT_CONVERGED")
    assert "MAX_ITERATIONS" in status.message and status.message.startswith("step ")
    assert sweep.look()[0].kind is SampleKind.FAILED and sweep.look()[1].kind is SampleKind.PENDING


def test_a_sample_that_takes_too_long(planned):
    """It fails with the time limit, and goes on where it stood with --retry and more time."""
    sweep = planned("time_limit: 1 us\n")
    status = run_sample(sweep, sweep.plan[0])
    assert status.reason == "TIME_LIMIT" and "time_limit is 1e-06 s" in status.message
    wanted = run_sample(planned(out="other"), sweep.plan[0]).digest
    more = planned("time_limit: 5 min\n")
    assert run_sample(more, more.plan[0]).state == "failed"
    again = run_sample(more, more.plan[0], retry=True)
    assert (again.state, again.digest) == ("done", wanted)


DIES = """
import os, sys
import weft.scene.build as build
from weft.plugins.lab.sweep.folder import open_sweep
from weft.plugins.lab.sweep.sample import run_sample
build.load_scene = lambda *a: os.kill(os.getpid(), 9)
sweep = open_sweep(sys.argv[1])
for _ in range(int(sys.argv[2])):
    child = os.fork()
    if child == 0:
        run_sample(sweep, sweep.plan[0])
    assert os.waitpid(child, 0)[1] == 9
"""


@pytest.mark.campaign
def test_a_sample_that_takes_its_process_with_it(planned):
    """It is begun three times at the same place, then it has failed. (A process that starts takes
    seconds, one that forks does not.)
    """
    sweep = planned()
    words = [sys.executable, "-c", DIES, str(sweep.path), str(MOST_ATTEMPTS)]
    subprocess.run(words, check=True)
    assert sweep.look()[0].kind is SampleKind.STOPPED
    assert statuses(sweep.path)[sweep.plan[0].id]["attempts"] == MOST_ATTEMPTS
    status = run_sample(sweep, sweep.plan[0])
    assert (status.state, status.reason) == ("failed", "CRASHED")
    assert run_sample(sweep, sweep.plan[0], retry=True).state == "done"


@pytest.mark.parametrize("number", [1, 4, 11])
def test_a_disk_that_fills(planned, monkeypatch, number):
    """At whichever file: no failure of the sample, which goes on bitwise where there is room."""
    wanted = run_sample(planned(out="other"), planned().plan[0]).digest
    sweep = planned()
    count, original = iter(range(1, 1000)), SafeFolder.writer

    def writer(self, name, **more):
        if next(count) >= number:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return original(self, name, **more)

    with monkeypatch.context() as patch:
        patch.setattr(SafeFolder, "writer", writer)
        first, second = (s.id for s in sweep.plan[:2])
        answers = run_samples(str(sweep.path), [first, second])
        assert list(answers) == [first] and "full" in answers[first]
    assert sweep.look()[0].kind in (SampleKind.PENDING, SampleKind.STOPPED)
    assert run_sample(sweep, sweep.plan[0]).digest == wanted


@pytest.mark.parametrize("line", ["[", '{"id": "no-digest", "seed": 1, "values": {}}', "\xff"])
def test_a_plan_that_is_damaged_is_named(planned, line):
    sweep = planned()
    plan = sweep.path / "plan.jsonl"
    first, _, *others = plan.read_text().splitlines(keepends=True)
    plan.write_text("".join([first, f"{line}\n", *others]))
    with refused(SweepError, "plan.jsonl", got="line 2", where=str(sweep.path)):
        open_sweep(sweep.path)


def test_filters():
    """Every one, at its bound and past it; what a scene does not have passes."""
    bounds = {  # by filter: measure, bound, past it
        "converged": ("converged", True, False),
        "static": ("speed_end", 0.05, 0.051),
        "intersections": ("intersections", 0, 1),
        "strain": ("strain_end", 0.1, 0.11),
        "slipped_off": ("slipped_off", False, True),
    }
    filters = Filters(**{name: bound for name, (_, bound, _) in bounds.items()})
    good = {measure: bound for measure, bound, _ in bounds.values()}
    assert all(filters.flags(good).values()) and filters.flags({})["good"]
    for name, (measure, _, past) in bounds.items():
        flags = filters.flags({**good, measure: past})
        assert [k for k, ok in flags.items() if not ok] == [name, "good"]
    assert Filters().flags({m: past for m, _, past in bounds.values()}) == {"good": True}


def test_slipping_off(tmp_path, sweep_file):
    """Cotton stays on a ball; moved aside, it falls."""
    path = sweep_file(vary="cloth.translation: [[0, 31 cm, 0], [12 cm, 31 cm, 0]]")
    (tmp_path / "scene.yaml").write_text(
        """cloth:
  sheet: {nx: 7, ny: 7, width: 36 cm, height: 36 cm}
  fabric: silk
  translation: [0, 31 cm, 0]
contact: {gap: 4 mm, friction: 0}
bodies:
  - {name: ball, sphere: {radius: 15 cm, size: 4 cm}, translation: [0, 15 cm, 0]}
step: 20 ms
seconds: 1 s
fps: 2
"""
    )
    sweep = prepare(read_sweep(path), tmp_path / "out")
    stays, falls = (run_sample(sweep, s).measures for s in sweep.plan)
    assert stays["slipped_off"] is False and stays["contacts_end"] > 0
    assert falls["slipped_off"] is True and falls["highest_end"] < stays["highest_end"]


@pytest.mark.parametrize("text", ['{"state": "do', '{"state": "perhaps"}'])
def test_a_status_that_is_damaged_runs_again(planned, text):
    sweep = planned()
    wanted = run_sample(sweep, sweep.plan[0]).digest
    (sweep.place(sweep.plan[0]) / "status.json").write_text(text)
    assert sweep.look()[0].kind is SampleKind.PENDING
    assert run_sample(sweep, sweep.plan[0]).digest == wanted
