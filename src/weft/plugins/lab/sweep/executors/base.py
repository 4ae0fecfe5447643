"""Interface of executors, and the loop that runs samples on one of them."""

import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeVar

from weft.base.errors import SweepError
from weft.base.trees import Json
from weft.io.folder_lock import is_written
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.faults import DiskFullError
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.status import MOST_ATTEMPTS, Status, read_status

T = TypeVar("T")
Answers = dict[str, Json]  # of ``worker.run_samples``, by the ids of samples
Outcome = Answers | BaseException  # of a task: an error if its process died
Report = Callable[[Sample, Status], None]  # called with a sample that has ended

MOST_DEATHS = MOST_ATTEMPTS + 1  # per process, without a sample that ended in between
LOOK = 1.0  # [s] between looks at the folders of samples that one task runs in turn


class LostExecutorError(Exception):
    """The connection to a scheduler is lost; tasks that were submitted have to be submitted
    again.
    """


@dataclass(frozen=True)
class SampleBatch:
    """Samples to be run by an executor.

    Args:
        sweep: the sweep of the samples.
        queue: samples that have not been submitted.
        retry: run failed samples again.
        note: called with messages, for example of a worker that died.
    """

    sweep: SweepFolder
    queue: deque[Sample]
    retry: bool
    note: Callable[[str], None]

    def arguments(self, samples: Iterable[Sample]) -> tuple[str, list[str], bool]:
        """Return the arguments of ``worker.run_samples`` for some samples."""
        return str(self.sweep.path.resolve()), [s.id for s in samples], self.retry


class Executor(Protocol):
    """Runner of samples on one kind of machine.

    A future is any object that stands for a task: of ``concurrent.futures``, ``distributed`` or
    ``submitit``.
    """

    def submit(self, batch: SampleBatch) -> dict[Hashable, list[Sample]]:
        """Take as many samples off the queue as can be submitted now.

        Returns:
            The futures of new tasks, each of which runs its samples in turn.

        Raises:
            SweepError: nothing can be submitted.
            LostExecutorError: the connection is lost.
        """

    def collect(self, futures: Iterable[Hashable]) -> Iterator[tuple[Hashable, Outcome]]:
        """Wait for a moment, and yield tasks that ended.

        Raises:
            SweepError: nothing is known about the tasks.
            LostExecutorError: the connection is lost.
        """

    def close(self) -> None:
        """End all processes and tasks of this executor."""


def run_batch(executor: Executor, batch: SampleBatch, report: Report) -> None:
    """Run all samples of a batch, except those that another process runs.

    Args:
        executor: the executor; it is closed at the end.
        batch: the samples.
        report: called once with each sample that ends.

    Raises:
        DiskFullError: the disk is full.
        SweepError: no sample can run.
    """
    tasks = _Tasks(batch, report)
    try:
        while batch.queue or tasks.samples:
            try:
                tasks.samples |= executor.submit(batch)
                for future, outcome in executor.collect(list(tasks.samples)):
                    tasks.finish(future, outcome)
                tasks.look()
            except LostExecutorError as error:
                batch.note(f"{error}: waiting for it")
                tasks.requeue()
                executor.close()
    finally:
        executor.close()


class _Tasks:
    """The tasks that were submitted, and their samples that have not been reported."""

    def __init__(self, batch: SampleBatch, report: Report) -> None:
        self.batch, self.report = batch, report
        self.samples: dict[Hashable, list[Sample]] = {}
        self.deaths, self.looked = 0, 0.0

    def finish(self, future: Hashable, outcome: Outcome) -> None:
        """Report the samples of a task that ended; those that did not end are queued again if its
        process died.
        """
        samples = self.samples.pop(future)
        if isinstance(outcome, BaseException):
            self._requeue_after(outcome, self._report(samples, self.batch.retry))
        else:
            for sample in self._report(samples, retry=False):
                self._explain(sample, outcome.get(sample.id, {}))

    def look(self) -> None:
        """Report samples that ended in tasks of several samples that still run."""
        if time.monotonic() - self.looked > LOOK:
            self.looked = time.monotonic()
            for future, samples in self.samples.items():
                if len(samples) > 1:
                    self.samples[future] = self._report(samples, self.batch.retry)

    def requeue(self) -> None:
        """Put the samples of all tasks back at the front of the queue."""
        for samples in self.samples.values():
            self.batch.queue.extendleft(reversed(samples))
        self.samples.clear()

    def _report(self, samples: list[Sample], retry: bool) -> list[Sample]:
        """Report samples that ended, and return the others; with ``retry`` a failure may be an
        earlier one, whose sample is still to be run again.
        """
        left = []
        for sample in samples:
            status = read_status(self.batch.sweep.place(sample))
            if status is None or not status.final or (retry and status.state == "failed"):
                left.append(sample)
            else:
                self.deaths = 0
                self.report(sample, status)
        return left

    def _explain(self, sample: Sample, answer: Json) -> None:
        """Raise the error for which a sample did not end, or note that another process runs it."""
        path = self.batch.sweep.path
        if "full" in answer:
            raise DiskFullError(path)
        if "error" in answer:
            raise SweepError(
                "samples",
                got=answer["error"],
                where=path,
                expected="samples that can be begun",
            )
        if "status" in answer and not is_written(SafeFolder(self.batch.sweep.place(sample))):
            raise SweepError(
                "sweep folder",
                got="a folder that workers do not write into",
                where=path,
                expected="one that this process and all workers see: a shared file system",
            )
        self.batch.note(f"left for another process: {answer.get('busy', sample.id)}")

    def _requeue_after(self, error: BaseException, samples: list[Sample]) -> None:
        """Queue the samples of a process that died again, unless processes only die."""
        self.deaths += 1
        self.batch.queue.extend(samples)
        names = ", ".join(s.id for s in samples)
        self.batch.note(f"{type(error).__name__} while a process ran {names}: tried again")
        if self.deaths >= MOST_DEATHS * (len(self.samples) + 2):
            raise SweepError(
                "workers",
                got=f"{type(error).__name__} {self.deaths} times in turn: {error}",
                where=self.batch.sweep.path / "logs",
                expected="processes that run",
            ) from error


def call_with_patience(
    action: Callable[[], T],
    patience: float,
    errors: type[Exception] | tuple[type[Exception], ...],
    note: Callable[[Exception], None],
) -> T:
    """Call a function until it succeeds, and return its result.

    The time between calls grows with the time that was waited, from 1 s to 30 s.

    Args:
        action: the function.
        patience: [s] after which its error is raised.
        errors: errors that may pass; others are raised at once.
        note: called with each of them.
    """
    waited = 0.0
    while True:
        clock = time.monotonic()
        try:
            return action()
        except errors as error:
            pause = min(max(1.0, waited / 2), 30.0, patience - waited)
            if pause <= 0:
                raise
            note(error)
            time.sleep(pause)
            waited += time.monotonic() - clock
