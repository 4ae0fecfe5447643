"""Distribution of samples to the workers of an executor.

An executor is any object with ``submit(function, *arguments)`` whose futures have ``done()`` and
``result()``: of ``concurrent.futures``, ``dask.distributed`` or ``submitit``. A future only tells
that a task has ended. Results are read from the folders of the samples, so the end of a worker
loses no more than the step in progress.
"""

import time
import uuid
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from weft.base.errors import SweepError, to_one_line
from weft.base.trees import Json
from weft.io.folder_lock import is_written
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.faults import DiskFullError, OverdueError
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.status import Reason, SampleStatus, Status, read_status, write_status
from weft.plugins.lab.sweep.worker import run_samples

MOST_SUBMITTED = 10_000  # tasks that wait or run at a time
MOST_DEATHS = 5  # tasks in turn that die before one of their samples starts
TICK = 0.02  # [s] between checks of the futures
CONTINUE = "finished samples are on disk; the same sweep with a new executor continues"


@runtime_checkable
class Executor(Protocol):
    """Runner of functions in other processes or on other machines."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Any:
        """Return a future of the result, with methods ``done`` and ``result``."""


@dataclass(frozen=True)
class Hooks:
    """Callbacks of a running sweep.

    Args:
        start: called with the folder and the states of all samples, before any sample runs.
        report: called with each sample that ends, and its status.
        note: called with other messages.
    """

    start: Callable[[SweepFolder, Sequence[SampleStatus]], None] = lambda *_: None
    report: Callable[[Sample, Status], None] = lambda *_: None
    note: Callable[[str], None] = lambda _: None


def run_tasks(
    executor: Executor,
    sweep: SweepFolder,
    samples: Sequence[SampleStatus],
    retry: bool,
    samples_per_task: int,
    hooks: Hooks,
) -> None:
    """Run samples, except those that another process runs.

    Args:
        executor: where the samples run; it stays open.
        sweep: their sweep.
        samples: the samples, with their states so far.
        retry: run failed samples again.
        samples_per_task: number of samples that a task runs in turn.
        hooks: callbacks.

    Raises:
        DiskFullError: the disk is full.
        SweepError: the executor accepts no tasks, or its workers do not run them.
    """
    tasks = _Tasks(executor, sweep, deque(samples), retry, samples_per_task, hooks)
    try:
        while tasks.queue or tasks.submitted:
            tasks.submit()
            tasks.collect()
    finally:
        tasks.cancel()


@dataclass
class _Tasks:
    """Tasks of an executor, and samples that are not submitted yet."""

    executor: Executor
    sweep: SweepFolder
    queue: deque[SampleStatus]
    retry: bool
    size: int
    hooks: Hooks
    submitted: list[tuple[Any, list[SampleStatus]]] = field(default_factory=list)
    deaths: int = 0  # in turn, of tasks none of whose samples had started

    def submit(self) -> None:
        """Submit as many tasks as may wait or run at a time."""
        path = str(self.sweep.path.resolve())
        while self.queue and len(self.submitted) < MOST_SUBMITTED:
            samples = [self.queue.popleft() for _ in range(min(self.size, len(self.queue)))]
            arguments = (path, [f.sample.id for f in samples], self.retry, uuid.uuid4().hex)
            try:
                future = self.executor.submit(run_samples, *arguments)
            except Exception as error:
                raise self._error("executor", error, "an executor that accepts tasks") from error
            self.submitted.append((future, samples))

    def collect(self) -> None:
        """Handle the tasks that have ended; wait for a moment if there are none."""
        states = [(task, task[0].done()) for task in self.submitted]
        ended = [task for task, is_done in states if is_done]
        self.submitted = [task for task, is_done in states if not is_done]
        lost = None
        for future, samples in ended:
            try:
                answers = future.result()
            except Exception as error:  # the worker died; each library has its own error
                self._requeue(samples, error)
                lost = error
            else:
                self.deaths = 0
                self._finish(samples, answers)
        if lost is not None and self.deaths >= MOST_DEATHS:
            raise self._error("workers", lost, "workers that run") from lost
        if not ended:
            time.sleep(TICK)

    def cancel(self) -> None:
        """Cancel all tasks, where the library can."""
        for future, _ in self.submitted:
            with suppress(Exception):  # the connection may be lost
                future.cancel()

    def _finish(self, samples: Sequence[SampleStatus], answers: dict[str, Json]) -> None:
        """Report the samples of a task that returned."""
        for f in samples:
            status = read_status(self.sweep.place(f.sample))
            if status is not None and status.final and status != f.status:
                self.hooks.report(f.sample, status)
            else:
                self._explain(f.sample, answers.get(f.sample.id, {}))

    def _requeue(self, samples: Sequence[SampleStatus], error: Exception) -> None:
        """Queue the samples of a task again whose worker died, except those that ended."""
        started = []
        for f in samples:
            place = self.sweep.place(f.sample)
            status = read_status(place) or Status()
            is_new = status != f.status
            if is_new and not status.final:
                started.append(f.sample.id)
                if isinstance(error, OverdueError):
                    message = f"{error}; time_limit is {self.sweep.time_limit} s"
                    status = Status("failed", reason=Reason.TIME_LIMIT.name, message=message)
                    write_status(SafeFolder(place, fsync=False), status)
            if is_new and status.final:
                self.hooks.report(f.sample, status)
            else:
                self.queue.append(SampleStatus(f.sample, f.kind, status))
        self.deaths = 0 if started else self.deaths + 1
        if started and not isinstance(error, OverdueError):
            names = ", ".join(started)
            self.hooks.note(f"{type(error).__name__} while a worker ran {names}: tried again")

    def _explain(self, sample: Sample, answer: Json) -> None:
        """Raise the error for which a sample did not end, or note that another process runs it."""
        path = self.sweep.path
        if "full" in answer:
            raise DiskFullError(path)
        if "error" in answer:
            expected = "samples that can start"
            raise SweepError("samples", got=answer["error"], where=path, expected=expected)
        if "status" in answer and not is_written(SafeFolder(self.sweep.place(sample))):
            raise SweepError(
                "sweep folder",
                got="a folder to which workers do not write",
                where=path,
                expected="a folder that this process and all workers see: a shared file system",
            )
        self.hooks.note(f"left for another process: {answer.get('busy', sample.id)}")

    def _error(self, what: str, error: Exception, expected: str) -> SweepError:
        got = f"{type(error).__name__}: {to_one_line(error)}"
        return SweepError(what, got=got, where=self.sweep.path, expected=expected, hint=CONTINUE)
