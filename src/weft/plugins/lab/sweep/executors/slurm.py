"""Slurm, through job arrays of ``submitit``: each task of an array runs a share of the samples in
turn.

Results are read from the folders. Only ``squeue`` is asked whether tasks still run, so no
accounting database is needed. If the controller does not answer, the executor waits.
"""

import subprocess
import time
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft.base.errors import SweepError
from weft.base.machine import LIBRARY_THREADS
from weft.io.extra import optional
from weft.plugins.lab.sweep.executors.base import Outcome, SampleBatch, call_with_patience
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.worker import run_samples

if TYPE_CHECKING:
    from submitit import Executor, Job

AT_ONCE = 64  # tasks that run at a time, by default
SHARES = 4  # tasks of an array for each one that runs at a time, to balance their load
LOOK = 1.0  # [s] between checks of the results
ASK = 5.0  # [s] between queries of the controller
CONTINUE = "what is done is on disk; the same command goes on"


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
    _batch: SampleBatch | None = field(default=None, init=False)
    _jobs: "list[Job[object]]" = field(default_factory=list, init=False)
    _running: set[str] = field(default_factory=set, init=False)
    _asked: float = field(default=0.0, init=False)

    def submit(self, batch: SampleBatch) -> dict[Hashable, list[Sample]]:
        """Submit all samples as one array of jobs, each of which runs a share of them."""
        if not batch.queue:
            return {}
        executor = self._executor(batch)
        shares = split(list(batch.queue), SHARES * (self.at_once or AT_ONCE))
        columns = list(zip(*(batch.arguments(share) for share in shares)))

        def submit() -> "list[Job[object]]":
            jobs: list[Job[object]] = executor.map_array(run_samples, *columns)
            return jobs

        def note(error: Exception) -> None:
            last = (str(error).strip().splitlines() or [""])[-1][:200]
            batch.note(f"Slurm takes no jobs: waiting ({last})")

        try:  # submitit wraps what sbatch says in several ways
            jobs = call_with_patience(submit, self.patience, Exception, note)
        except Exception as error:
            expected = "jobs that Slurm takes"
            raise SweepError("sbatch", got=str(error), expected=expected, hint=CONTINUE) from error
        self._batch, self._asked = batch, time.monotonic()
        self._jobs += jobs
        self._running = {job.job_id for job in jobs}
        batch.queue.clear()
        return dict(zip(jobs, shares))

    def collect(self, futures: Iterable[Hashable]) -> Iterator[tuple[Hashable, Outcome]]:
        """Yield jobs that ended."""
        jobs: Any = futures
        if time.monotonic() - self._asked > (0 if self.local else ASK):
            self._running = self._find_running(jobs)
            self._asked = time.monotonic()
        for job in jobs:
            if job.paths.result_pickle.exists() or job.job_id not in self._running:
                outcome: Outcome = ChildProcessError("no result")
                with suppress(Exception):  # the task may have been killed while it wrote
                    if job.paths.result_pickle.exists():
                        outcome = job.result()
                yield job, outcome
        time.sleep(LOOK)

    def close(self) -> None:
        """Cancel all jobs that have not ended."""
        for job in self._jobs:
            with suppress(Exception):
                if not job.paths.result_pickle.exists():
                    job.cancel(check=False)
        self._jobs.clear()

    def _find_running(self, jobs: "Sequence[Job[object]]") -> set[str]:
        """Return the ids of jobs that wait or run, after waiting for the controller if
        necessary.
        """
        if self.local:
            return {job.job_id for job in jobs if not job.done()}

        def note(_: Exception) -> None:
            if self._batch is not None:
                self._batch.note("Slurm does not answer: waiting")

        arrays = sorted({job.job_id.split("_")[0] for job in jobs})
        errors = (OSError, subprocess.SubprocessError)
        try:
            return call_with_patience(lambda: _squeue(arrays), self.patience, errors, note)
        except errors as error:
            expected = "a controller that answers"
            raise SweepError("squeue", got=str(error), expected=expected, hint=CONTINUE) from error

    def _executor(self, batch: SampleBatch) -> "Executor":
        """Return the executor of submitit with its parameters set."""
        submitit = optional("submitit", "sweep", "executor slurm", SweepError)
        folder, threads = batch.sweep.path.resolve() / "slurm", batch.sweep.threads
        try:
            executor = submitit.AutoExecutor(folder, cluster="local" if self.local else "slurm")
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
            executor.update_parameters(
                slurm_setup=[f"export {name}={threads}" for name in LIBRARY_THREADS],
                slurm_array_parallelism=self.at_once or AT_ONCE,
                **({"slurm_partition": self.partition} if self.partition else {}),
            )
        return executor


def _squeue(jobs: Sequence[str]) -> set[str]:
    """Return the ids of tasks that wait or run.

    Raises:
        OSError, subprocess.SubprocessError: Slurm does not answer.
    """
    command = ["squeue", "--array", "--noheader", "--format=%i", f"--jobs={','.join(jobs)}"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "Invalid job id" not in answer.stderr:
        answer.check_returncode()
    return set(answer.stdout.split())


def split(samples: Sequence[Sample], tasks: int) -> list[list[Sample]]:
    """Return the samples in at most ``tasks`` shares of nearly equal size, none of them empty."""
    count = min(tasks, len(samples))
    return [list(samples[k::count]) for k in range(count)]
