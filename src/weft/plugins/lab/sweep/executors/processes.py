"""Local worker processes, each of which runs one sample at a time and keeps its compiled
kernels.
"""

import os
import signal
from collections.abc import Hashable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from threading import Timer
from typing import Any

from weft.base.errors import SweepError
from weft.base.machine import cores, most_threads
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.executors.base import Answers, Outcome, SampleBatch
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.status import Reason, Status, read_status, write_status
from weft.plugins.lab.sweep.worker import begin_worker, compile_kernels, run_samples

OVERDUE, GRACE = 2.0, 30.0  # a worker is killed after 2 time limits plus 30 s
TICK = 1.0  # [s] to wait for a sample that ends


class _Worker:
    """A worker process, as a pool of its own: if it dies, the other ones are not stopped."""

    def __init__(self, sweep: SweepFolder, number: int) -> None:
        log = sweep.path / "logs" / f"worker-{number}.txt"
        arguments = (str(log), sweep.threads)
        self.pool = ProcessPoolExecutor(1, get_context("spawn"), begin_worker, arguments)
        self.pid = self.pool.submit(os.getpid)  # starts the process
        self.task: Future[int] | Future[Answers] = self.pid

    def submit(self, batch: SampleBatch, sample: Sample) -> Future[Answers]:
        """Run a sample; the process is killed far beyond the time limit, when a single step does
        not end.

        Raises:
            BrokenProcessPool: the process has died.
        """
        task = self.pool.submit(run_samples, *batch.arguments([sample]))
        self.task = task
        limit = batch.sweep.time_limit
        if limit is not None:
            overdue = OVERDUE * limit + GRACE
            timer = Timer(overdue, self._end_overdue, [batch.sweep, sample, overdue])
            timer.daemon = True
            timer.start()
            task.add_done_callback(lambda _: timer.cancel())
        return task

    def _end_overdue(self, sweep: SweepFolder, sample: Sample, seconds: float) -> None:
        """Kill the process after the status of its sample is written, which the end of the task
        reports.
        """
        status = read_status(sweep.place(sample))
        if status is None or not status.final:
            message = f"killed in a step after {seconds:.3g} s; time_limit is {sweep.time_limit} s"
            failed = Status("failed", reason=Reason.TIME_LIMIT.name, message=message)
            write_status(SafeFolder(sweep.place(sample), fsync=False), failed)
            self.kill()

    def kill(self) -> None:
        """Kill the process, if it has started."""
        if self.pid.done() and self.pid.exception() is None:
            with suppress(OSError):
                os.kill(self.pid.result(), getattr(signal, "SIGKILL", signal.SIGTERM))


@dataclass
class Processes:
    """Workers on this machine.

    Args:
        workers: number of workers; None: as many as fill the cores.
    """

    workers: int | None = None
    _pool: list[_Worker] = field(default_factory=list, init=False)

    def submit(self, batch: SampleBatch) -> dict[Hashable, list[Sample]]:
        """Give a sample to each idle worker."""
        if not self._pool:
            self._start(batch)
        futures: dict[Hashable, list[Sample]] = {}
        for number, worker in enumerate(self._pool):
            if batch.queue and worker.task.done():
                sample = batch.queue.popleft()
                try:
                    future = worker.submit(batch, sample)
                except BrokenProcessPool:
                    worker = self._pool[number] = _Worker(batch.sweep, number)
                    future = worker.submit(batch, sample)
                futures[future] = [sample]
        return futures

    def collect(self, futures: Iterable[Hashable]) -> Iterator[tuple[Hashable, Outcome]]:
        """Wait for a sample that ends, and yield the tasks that ended."""
        tasks: Any = futures
        for future in wait(tasks, TICK, FIRST_COMPLETED).done:
            yield future, future.exception() or future.result()

    def close(self) -> None:
        """End all workers; samples that they run go on after their last step when run again."""
        for worker in self._pool:
            if not worker.task.done():
                worker.kill()
        for worker in self._pool:
            worker.pool.shutdown(cancel_futures=True)
        self._pool.clear()

    def _start(self, batch: SampleBatch) -> None:
        """Start the workers; the first one compiles the kernels before the others need them."""
        sweep = batch.sweep
        if sweep.threads > most_threads():
            raise SweepError(
                "threads",
                got=sweep.threads,
                where=sweep.path,
                expected=f"at most {most_threads()}, with {cores()} cores",
                hint="plan the sweep into another folder, with fewer",
            )
        sweep.inside.make("logs")
        size = min(self.workers or max(1, cores() // sweep.threads), len(batch.queue))
        self._pool += [_Worker(sweep, number) for number in range(size)]
        path, (first, *_), _ = batch.arguments(batch.queue)
        with suppress(BrokenProcessPool):  # the sample will report why, when it runs
            self._pool[0].pool.submit(compile_kernels, path, first).result()
        wait([worker.pid for worker in self._pool])
