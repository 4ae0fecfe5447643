"""Executors of other libraries: the bits of this process, workers that die, and what is refused."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

import weft
from tests.plugins.lab.sweep.conftest import WIDE, Ended, InThisProcess, digests, run_on
from tests.refusals import refused
from weft.base.errors import SweepError
from weft.plugins.lab.sweep.faults import DiskFullError
from weft.plugins.lab.sweep.tasks import Hooks

TEXT = "design: random\nsamples: 4\n"


class LikeDask:
    """Futures of its own; equal calls are one task, and functions must be picklable."""

    def __init__(self):
        self.tasks = {}

    def submit(self, function, *arguments):
        key = pickle.dumps((function, arguments))
        if key not in self.tasks:
            self.tasks[key] = Late(key)
        return self.tasks[key]


class Late:
    """Not done when it is first looked at; computed then. ``result`` gives what ``done`` found."""

    def __init__(self, call):
        self.call, self.looks, self.value = call, 0, None

    def done(self):
        self.looks += 1
        if self.looks == 2:
            function, arguments = pickle.loads(self.call)
            self.value = Ended(function(*arguments))
        return self.looks >= 2

    def result(self):
        return self.value.result()


class Died:
    """The future of a task whose worker died."""

    def done(self):
        return True

    def result(self):
        raise ConnectionError("worker gone")


class KillsFirst(InThisProcess):
    """Its first task starts a sample, and dies in it; ``cancel`` is called on what is left."""

    count = 0

    def submit(self, function, *arguments):
        self.count += 1
        if self.count > 1:
            return super().submit(function, *arguments)
        path, names, *_ = arguments
        with pytest.raises(KeyboardInterrupt):
            function(path, names, False, "", stop)
        return Died()


def stop(_):
    raise KeyboardInterrupt


class Does:
    """An executor that runs nothing: what it does with the names of its samples."""

    def __init__(self, what):
        self.submit = lambda function, path, names, *_: what(names)


def refuse(_):
    raise OSError("sbatch: error: no such partition")


def die(_):
    return Died()


def answer(**said):
    """Say something of every sample."""
    return lambda names: Ended(dict.fromkeys(names, said))


@pytest.fixture
def wanted(sweep_file, tmp_path):
    """The digests of a sweep in this process."""
    path = sweep_file(TEXT, vary=WIDE)
    return digests(run_on(InThisProcess(), path, out=tmp_path / "alone").path)


def test_threads(sweep_file, wanted):
    """The public door takes an executor of concurrent.futures, and leaves it open."""
    with ThreadPoolExecutor(2) as executor:
        folder = weft.sweep(sweep_file(TEXT, vary=WIDE), executor=executor)
        assert executor.submit(int, "3").result() == 3
    assert digests(folder.path) == wanted and len(wanted) == 4
    assert not (folder.path / "logs").exists()


def test_futures_of_another_library(sweep_file, wanted):
    """Only ``submit``, ``done`` and ``result`` are used; a task may run several samples."""
    executor = LikeDask()
    folder = run_on(executor, sweep_file(TEXT, vary=WIDE), samples_per_task=3)
    assert digests(folder.path) == wanted and len(executor.tasks) == 2


def test_a_worker_that_dies_is_named_and_its_sample_runs_again(sweep_file, wanted):
    notes, ended = [], []
    hooks = Hooks(report=lambda sample, _: ended.append(sample.id), note=notes.append)
    folder = run_on(KillsFirst(), sweep_file(TEXT, vary=WIDE), hooks=hooks)
    assert digests(folder.path) == wanted and sorted(ended) == sorted(wanted)
    (note,) = notes
    assert "ConnectionError" in note and folder.plan[0].id in note


def test_equal_calls_are_different_tasks(sweep_file):
    """Dask returns the first result of equal calls, so a retry would do nothing."""
    path = sweep_file("time_limit: 1 us\n", vary="step: [0.02]")
    executor, ended = LikeDask(), []
    hooks = Hooks(report=lambda _, status: ended.append(status.state))
    for retry in (False, True, True):
        run_on(executor, path, retry=retry, hooks=hooks)
    assert ended == ["failed"] * 3


@pytest.mark.parametrize(
    "executor, error, words",
    [
        (Does(refuse), SweepError, ("executor", "no such partition", "new executor continues")),
        (Does(die), SweepError, ("workers", "ConnectionError: worker gone")),  # not tried for ever
        (Does(answer(status="done")), SweepError, ("sweep folder", "shared file system")),
        (Does(answer(full="disk = no space left")), DiskFullError, ""),
        (Does(answer(error="scene = changed")), SweepError, ("samples", "scene = changed")),
        ("dask", SweepError, "sweep.executor"),
    ],
    ids=["takes no tasks", "dies", "no shared folder", "full disk", "changed scene", "a text"],
)
def test_executors_that_do_not_work(sweep_file, executor, error, words):
    """Named; what is there stays, and another executor continues."""
    with refused(error, words):
        weft.sweep(sweep_file(), executor=executor)
    assert len(digests(run_on(InThisProcess(), sweep_file()).path)) == 4
