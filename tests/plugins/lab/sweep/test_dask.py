"""Dask on a real cluster of this machine: killed workers, a scheduler that goes and comes back."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.plugins.lab.sweep.conftest import (
    PATIENCE,
    WIDE,
    InThisProcess,
    digests,
    free_port,
    is_first,
    run_on,
    run_or_die,
)
from tests.refusals import refused
from weft.base.errors import SweepError
from weft.plugins.lab.sweep.executors.dask import Dask
from weft.plugins.lab.sweep.executors.processes import Processes
from weft.plugins.lab.sweep.runner import Hooks
from weft.plugins.lab.sweep.worker import run_samples

pytest.importorskip("distributed")


class Cluster:
    """A scheduler and two workers, each a process group."""

    def __init__(self, port, folder):
        self.address, self.port, self.folder = f"tcp://127.0.0.1:{port}", port, folder
        self.processes = {}

    def start(self, kind):
        more = {
            "scheduler": ["--host", "127.0.0.1", "--port", str(self.port), "--no-show"],
            "worker": [
                self.address,
                "--nworkers",
                "2",
                "--nthreads",
                "1",
                "--local-directory",
                str(self.folder),
            ],
        }[kind]
        line = [sys.executable, "-m", f"distributed.cli.dask_{kind}", "--no-dashboard", *more]
        with (self.folder / f"{kind}.txt").open("a") as out:
            made = subprocess.Popen(line, stdout=out, stderr=out, start_new_session=True)
        self.processes[kind] = made

    def kill(self, kind):
        process = self.processes.pop(kind)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture
def cluster(tmp_path):
    folder = tmp_path / "cluster"
    folder.mkdir()
    made = Cluster(free_port(), folder)
    made.start("scheduler")
    made.start("worker")
    yield made
    for kind in list(made.processes):
        made.kill(kind)


@pytest.mark.slow
def test_the_bits_of_processes_through_a_killed_worker(sweep_file, tmp_path, cluster, monkeypatch):
    path = sweep_file("design: random\nsamples: 6\nset: {seconds: 0.5 s}\n", vary=WIDE)
    wanted = digests(run_on(Processes(2), path, out=tmp_path / "alone").path)
    monkeypatch.setattr("weft.plugins.lab.sweep.executors.dask.run_samples", run_or_die)
    run_on(Dask(cluster.address, PATIENCE), path)
    assert (tmp_path / "out" / "killed").exists() and digests(tmp_path / "out") == wanted


@pytest.mark.slow
def test_a_scheduler_that_goes_away_and_comes_back(sweep_file, tmp_path, cluster, monkeypatch):
    """Everything of the cluster is killed half-way, and started again three seconds later."""
    monkeypatch.setattr("weft.plugins.lab.sweep.executors.dask.run_samples", run_once)
    path = sweep_file("design: random\nsamples: 6\nset: {seconds: 0.5 s}\n", vary=WIDE)
    notes, gone = [], []

    def report(sample, status):
        if not gone:
            gone.append(sample)
            cluster.kill("scheduler")
            cluster.kill("worker")
            (tmp_path / "out" / "go on").touch()

    def note(text):
        notes.append(text)
        if "gone" in text or "no scheduler" in text:
            time.sleep(3)
            if not cluster.processes:
                cluster.start("scheduler")
                cluster.start("worker")

    run_on(Dask(cluster.address, PATIENCE), path, hooks=Hooks(report=report, note=note))
    assert any("is gone: waiting" in n for n in notes)
    assert len(digests(tmp_path / "out")) == 6


def run_once(path, names, retry):
    """Run samples; all but the first one wait half-way for a file."""
    first = is_first(Path(path) / "first")

    def watch(now):
        while not first and now.frame == 2 and not (Path(path) / "go on").exists():
            time.sleep(0.05)

    return run_samples(path, names, retry, watch)


def test_a_scheduler_that_is_not_there(sweep_file, tmp_path):
    """It is waited for as long as asked, then named; the sweep is planned and goes on later."""
    address = f"tcp://127.0.0.1:{free_port()}"
    with refused(SweepError, "scheduler", got=address):
        run_on(Dask(address, 0), sweep_file())
    assert len(digests(run_on(InThisProcess(), sweep_file()).path)) == 4


@pytest.mark.slow
def test_a_folder_that_workers_do_not_share(sweep_file, tmp_path, cluster, monkeypatch):
    """They say done, and nothing is here: named, not run for ever."""
    from weft.plugins.lab.sweep.executors import dask

    monkeypatch.setattr(dask, "run_samples", elsewhere)
    with refused(SweepError, "sweep folder", expected="shared file system"):
        run_on(Dask(cluster.address, PATIENCE), sweep_file())


def elsewhere(path, names, retry):
    return {name: {"status": "done"} for name in names}


@pytest.mark.slow
def test_a_full_disk_of_a_worker(sweep_file, cluster, monkeypatch):
    from weft.plugins.lab.sweep.executors import dask
    from weft.plugins.lab.sweep.faults import DiskFullError

    monkeypatch.setattr(dask, "run_samples", filled)
    with pytest.raises(DiskFullError):
        run_on(Dask(cluster.address, PATIENCE), sweep_file())


def filled(path, names, retry):
    return {name: {"full": "disk = no space left"} for name in names}
