"""Slurm, through job arrays of ``submitit``: each task of an array runs a share of the samples in
turn.

Results are read from the folders. Only ``squeue`` is asked whether tasks still run, so no
accounting database is needed. If the controller does not answer, the engine waits.
"""

import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft.base.errors import SweepError
from weft.base.machine import LIBRARY_THREADS
from weft.sweep.engines.base import SampleBatch, missing, refused, waiting
from weft.sweep.faults import full
from weft.sweep.plan import Sample
from weft.sweep.status import read_status
from weft.sweep.warm import answers

if TYPE_CHECKING:
    from submitit import Executor, Job

AT_ONCE = 64  # tasks that run at a time, by default
SHARES = 4  # tasks of an array for each one that runs at a time, to balance their load
LOOK = 1.0  # [s] between checks of the folders
ASK = 5.0  # [s] between queries of the controller


@dataclass
class Slurm:
    """A Slurm cluster, or local processes of submitit.

    Args:
        at_once: tasks of an array that run at a time; None: 64.
        partition: of the cluster; None: its default.
        minutes: [min] time limit of a task.
        local: use local processes in place of Slurm.
        patience: [s] to wait for a controller that does not answer.
    """

    at_once: int | None = None
    partition: str | None = None
    minutes: int = 240
    local: bool = False
    patience: float = 600.0
    name: str = field(default="slurm", init=False)

    def run(self, work: SampleBatch) -> None:
        """Run the samples of ``work``; raise the errors of ``Engine.run``."""
        shares = shared_out(work.samples, SHARES * (self.at_once or AT_ONCE))
        jobs = self._submitted(work, shares)
        try:
            _Watch(work, jobs, self.local, self.patience).until_done()
        except BaseException:
            for job in jobs:
                with suppress(Exception):
                    job.cancel(check=False)
            raise

    def _submitted(self, work: SampleBatch, shares: Sequence[Sequence[Sample]]) -> "list[Job]":
        """Submit the jobs of all shares and return them; wait if the controller does not answer."""
        executor = self._executor(work)
        path, retry = str(work.sweep.path.resolve()), work.retry
        names = [[s.id for s in share] for share in shares]
        waited = 0.0
        while True:
            clock = time.monotonic()
            try:
                jobs: list[Job] = executor.map_array(
                    answers, [path] * len(names), names, [retry] * len(names)
                )
                return jobs
            except Exception as error:  # submitit wraps what sbatch says in several ways
                pause = waiting(waited, self.patience)
                if pause <= 0:
                    raise SweepError(
                        "sbatch",
                        got=str(error),
                        expected="jobs that Slurm takes",
                        hint="what is done is on disk; the same command goes on",
                    ) from error
                work.note(f"Slurm takes no jobs: waiting ({_last(str(error))})")
                time.sleep(pause)
                waited += time.monotonic() - clock

    def _executor(self, work: SampleBatch) -> "Executor":
        """Return the executor of submitit with its parameters set."""
        try:
            import submitit
        except ImportError as error:
            raise missing("submitit") from error
        threads = work.sweep.threads
        cluster = "local" if self.local else "slurm"
        try:
            executor = submitit.AutoExecutor(work.sweep.path.resolve() / "slurm", cluster=cluster)
        except RuntimeError as error:
            raise SweepError(
                "executor slurm",
                got=str(error),
                expected="a machine with sbatch and srun",
                hint="--local runs the same jobs as processes of this machine",
            ) from error
        executor.update_parameters(
            name="weft-sweep", timeout_min=self.minutes, cpus_per_task=threads
        )
        if not self.local:
            setup = [f"export {name}={threads}" for name in LIBRARY_THREADS]
            executor.update_parameters(slurm_setup=setup)
            if self.partition is not None:
                executor.update_parameters(slurm_partition=self.partition)
            executor.update_parameters(slurm_array_parallelism=self.at_once or AT_ONCE)
        return executor


class _Watch:
    """Observer of the samples' folders while jobs run."""

    def __init__(
        self, work: SampleBatch, jobs: "Sequence[Job]", local: bool, patience: float
    ) -> None:
        self.work, self.jobs, self.local, self.patience = work, jobs, local, patience
        self.open = {s.id: s for s in work.samples}
        self.asked, self.silent = float("-inf"), 0.0
        self.running = True

    def until_done(self) -> None:
        """Wait until all samples have ended, or no job runs any more."""
        while self.open:
            # The jobs are checked before the folders, so that a job that ends in between is seen.
            running = self._jobs_run()
            self._look()
            if self.open and not running:
                self._results()
                return
            time.sleep(LOOK)

    def _look(self) -> None:
        """Report the samples that have ended."""
        for name, sample in list(self.open.items()):
            status = read_status(self.work.sweep.place(sample))
            if status is not None and status.final and not self._begins_again(status.state):
                del self.open[name]
                self.work.told(sample, status)

    def _begins_again(self, state: str) -> bool:
        """Return whether a failure is an earlier one whose sample is still to be run again."""
        return self.work.retry and state == "failed" and self.running

    def _results(self) -> None:
        """Raise the errors of tasks that ended without all of their samples."""
        told: list[Job] = []
        for job in self.jobs:
            if job.paths.result_pickle.exists():
                with suppress(Exception):  # the task may have been killed while it wrote
                    told += job.results()[0]
        if any("full" in a for a in told):
            raise full(self.work.sweep.path)
        errors = [a["error"] for a in told if "error" in a]
        if errors:
            raise refused(errors[0], self.work)
        self.work.note(f"{len(self.open)} samples of tasks that ended remain")

    def _jobs_run(self) -> bool:
        """Return whether any job waits or runs; without an answer, the last known state."""
        if time.monotonic() - self.asked < ASK:
            return self.running
        self.asked = time.monotonic()
        if self.local:
            self.running = not all(job.done() for job in self.jobs)
            return self.running
        mine = sorted({job.job_id.split("_")[0] for job in self.jobs})
        found = _squeue(mine)
        if found is None:
            if self.silent == 0:
                self.work.note("Slurm does not answer: waiting")
            self.silent += ASK
            if self.silent > self.patience:
                raise SweepError(
                    "squeue",
                    got="no answer",
                    expected="a controller that answers",
                    hint="jobs go on, and so does the same command",
                )
        else:
            self.silent, self.running = 0.0, bool(found)
        return self.running


def _squeue(jobs: Sequence[str]) -> list[str] | None:
    """Return the tasks that wait or run; None if Slurm does not answer."""
    command = ["squeue", "--noheader", "--format=%i", f"--jobs={','.join(jobs)}"]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if told.returncode != 0:
        return [] if "Invalid job id" in told.stderr else None
    return told.stdout.split()


def shared_out(samples: Sequence[Sample], tasks: int) -> list[list[Sample]]:
    """Return the samples in at most ``tasks`` shares of nearly equal size, none of them empty."""
    count = min(tasks, len(samples))
    return [list(samples[k::count]) for k in range(count)]


def _last(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1][:200]
