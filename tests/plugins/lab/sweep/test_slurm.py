"""Slurm: submitit's local executor everywhere; a real controller and node where they start (root,
Debian's slurmctld, slurmd and munge).
"""

import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.plugins.lab.sweep.conftest import (
    PATIENCE,
    WIDE,
    InThisProcess,
    digests,
    free_port,
    run_on,
    run_or_die,
)
from tests.refusals import refused
from weft.base.errors import SweepError
from weft.plugins.lab.sweep.executors.processes import Processes
from weft.plugins.lab.sweep.executors.slurm import Slurm, split
from weft.plugins.lab.sweep.runner import Hooks

pytest.importorskip("submitit")
TEXT = "design: random\nsamples: 4\nset: {seconds: 0.3 s}\n"

CONF = """ClusterName=weft
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={at}/munge.socket
SlurmUser=root
SlurmdUser=root
SlurmctldPort={port}
SlurmdPort={other}
StateSaveLocation={at}/state
SlurmdSpoolDir={at}/spool
SlurmctldPidFile={at}/slurmctld.pid
SlurmdPidFile={at}/slurmd.pid
SlurmctldLogFile={at}/slurmctld.log
SlurmdLogFile={at}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Here:
    """Slurm on this machine."""

    def __init__(self, at):
        self.at, self.conf = at, at / "slurm.conf"
        for name in ("state", "spool"):
            (at / name).mkdir()
        values = {
            "host": socket.gethostname().split(".")[0],
            "at": at,
            "port": free_port(),
            "other": free_port(),
            "cpus": min(2, os.cpu_count() or 1),
        }
        self.conf.write_text(CONF.format(**values))

    def daemon(self, *line):
        subprocess.run(
            line,
            check=True,
            timeout=300,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def start(self):
        at = self.at
        self.daemon(
            "munged",
            "--force",
            "--key-file=/etc/munge/munge.key",
            f"--socket={at}/munge.socket",
            f"--pid-file={at}/munged.pid",
            f"--log-file={at}/munged.log",
            f"--seed-file={at}/munge.seed",
        )
        self.controller()
        self.daemon("slurmd", "-f", str(self.conf))
        for _ in range(60):
            said = subprocess.run(
                ["sinfo", "-h", "-o", "%T"], capture_output=True, text=True, check=False
            )
            if said.stdout.strip() == "idle":
                return
            time.sleep(1)
        raise OSError("no node is idle")

    def controller(self):
        self.daemon("slurmctld", "-f", str(self.conf))

    def stop(self, name):
        path = self.at / f"{name}.pid"
        if path.exists():
            pid = int(path.read_text())
            os.kill(pid, signal.SIGTERM)
            for _ in range(3000):
                if not Path(f"/proc/{pid}").exists():
                    return
                time.sleep(0.1)


@pytest.fixture
def slurm(tmp_path, monkeypatch):
    needed = ("munged", "slurmctld", "slurmd", "sbatch", "squeue")
    if not all(shutil.which(n) for n in needed) or os.geteuid() != 0:
        pytest.skip(
            "no Slurm to start: apt-get install slurmctld slurmd slurm-client munge, as root"
        )
    at = tmp_path / "slurm-here"
    at.mkdir()
    tmp_path.chmod(0o755)
    here = Here(at)
    monkeypatch.setenv("SLURM_CONF", str(here.conf))
    try:
        try:
            here.start()
        except (OSError, subprocess.SubprocessError) as error:
            pytest.skip(f"Slurm does not start here: {error}")
        yield here
    finally:
        for name in ("slurmd", "slurmctld", "munged"):
            here.stop(name)


def test_local_executor_gives_the_bits_of_processes(sweep_file, tmp_path):
    path = sweep_file(TEXT.replace("samples: 4", "samples: 2"), vary=WIDE)  # a process for each
    wanted = digests(run_on(InThisProcess(), path, out=tmp_path / "alone").path)
    assert digests(run_on(Slurm(1, local=True), path).path) == wanted


@pytest.mark.slow
def test_a_killed_task_is_submitted_again(sweep_file, tmp_path, monkeypatch):
    """Of submitit's local executor."""
    monkeypatch.setattr("weft.plugins.lab.sweep.executors.slurm.run_samples", run_or_die)
    run_on(Slurm(1, local=True), sweep_file(TEXT, vary=WIDE))
    assert (tmp_path / "out" / "killed").exists()
    assert len(digests(tmp_path / "out")) == 4


@pytest.mark.slow
def test_a_real_controller_that_goes_away_and_comes_back(sweep_file, tmp_path, slurm):
    path = sweep_file(TEXT, vary=WIDE)
    wanted = digests(run_on(Processes(2), path, out=tmp_path / "alone").path)
    gone = []

    def report(sample, status):
        if not gone:
            gone.append(sample)
            slurm.stop("slurmctld")
            time.sleep(3)
            slurm.controller()

    run_on(Slurm(2, patience=PATIENCE), path, hooks=Hooks(report=report))
    assert gone and digests(tmp_path / "out") == wanted


def test_no_slurm_is_named(sweep_file, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with refused(SweepError, "executor slurm", hint="--local"):
        run_on(Slurm(patience=0), sweep_file())


def test_shares_are_even_and_lose_nothing():
    for n, tasks in ((1, 8), (8, 8), (1000, 256), (7, 3)):
        shares = split(list(range(n)), tasks)
        assert sorted(s for share in shares for s in share) == list(range(n))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1 and len(shares) <= tasks
