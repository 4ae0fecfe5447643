"""Executors of other libraries: the bits of this process, workers that die, and what is refused."""

import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import weft
from tests.plugins.lab.sweep.conftest import WIDE, Ended, InThisProcess, digests, run_on, run_or_die
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


class Answers:
    """Its workers answer without running anything."""

    def __init__(self, answer):
        self.answer = answer

    def submit(self, function, path, names, *_):
        return Ended(dict.fromkeys(names, self.answer))


class Refuses:
    def submit(self, *_):
        raise OSError("sbatch: error: no such partition")


class OnlyDies:
    def submit(self, *_):
        return Died()


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


def test_an_executor_that_takes_no_tasks(sweep_file):
    with refused(SweepError, "executor", got="no such partition", hint="new executor continues"):
        run_on(Refuses(), sweep_file())


def test_workers_that_only_die(sweep_file):
    """Not tried for ever; what was done stays, and another executor continues."""
    with refused(SweepError, "workers", got="ConnectionError: worker gone"):
        run_on(OnlyDies(), sweep_file())
    assert len(digests(run_on(InThisProcess(), sweep_file()).path)) == 4


def test_a_folder_that_workers_do_not_share(sweep_file):
    """They say done, and nothing is here: named, not run for ever."""
    with refused(SweepError, "sweep folder", expected="shared file system"):
        run_on(Answers({"status": "done"}), sweep_file())


def test_what_workers_report(sweep_file):
    with pytest.raises(DiskFullError):
        run_on(Answers({"full": "disk = no space left"}), sweep_file())
    with refused(SweepError, "samples", got="scene = changed"):
        run_on(Answers({"error": "scene = changed"}), sweep_file())


def test_something_that_is_no_executor(sweep_file):
    with refused(SweepError, "sweep.executor"):
        weft.sweep(sweep_file(), executor="dask")


@pytest.mark.slow
def test_a_broken_pool_of_the_user(sweep_file, tmp_path, monkeypatch, wanted):
    """All tasks of a ``ProcessPoolExecutor`` die with a worker; a new one continues."""
    path, notes = sweep_file(TEXT, vary=WIDE), []
    with monkeypatch.context() as patch:
        patch.setattr("weft.plugins.lab.sweep.tasks.run_samples", run_or_die)
        pool = ProcessPoolExecutor(1, get_context("spawn"))
        with pool, refused(SweepError, got="BrokenProcessPool", hint="continues"):
            run_on(pool, path, hooks=Hooks(note=notes.append))
    assert (tmp_path / "out" / "killed").exists() and len(notes) == 1
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        assert digests(run_on(pool, path).path) == wanted


def test_a_dask_client_in_this_process(sweep_file, wanted):
    distributed = pytest.importorskip("distributed", reason="no Dask: pip install distributed")
    more = {"processes": False, "n_workers": 1, "threads_per_worker": 2}
    with distributed.Client(**more, dashboard_address=None) as client:
        folder = run_on(client, sweep_file(TEXT, vary=WIDE))
        assert client.status == "running"
    assert digests(folder.path) == wanted


@pytest.mark.slow
def test_a_dask_worker_that_is_killed(sweep_file, tmp_path, monkeypatch, wanted):
    distributed = pytest.importorskip("distributed", reason="no Dask: pip install distributed")
    monkeypatch.setattr("weft.plugins.lab.sweep.tasks.run_samples", run_or_die)
    more = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.Client(**more, local_directory=str(tmp_path / "dask")) as client:
        run_on(client, sweep_file(TEXT, vary=WIDE))
    assert (tmp_path / "out" / "killed").exists() and digests(tmp_path / "out") == wanted


@pytest.mark.slow
def test_submitit(sweep_file, tmp_path, monkeypatch, wanted):
    """Its local executor; the first job is killed, and its samples are submitted again."""
    submitit = pytest.importorskip("submitit", reason="no submitit: pip install submitit")
    monkeypatch.setattr("weft.plugins.lab.sweep.tasks.run_samples", run_or_die)
    executor = submitit.AutoExecutor(tmp_path / "jobs", cluster="local")
    executor.update_parameters(timeout_min=30)
    run_on(executor, sweep_file(TEXT, vary=WIDE), samples_per_task=2)
    assert (tmp_path / "out" / "killed").exists() and digests(tmp_path / "out") == wanted
