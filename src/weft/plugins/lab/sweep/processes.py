"""The default executor: worker processes of this machine that are replaced when they die."""

import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from weft.plugins.lab.sweep.faults import OverdueError
from weft.plugins.lab.sweep.worker import begin_worker, load


class Processes(Executor):
    """An executor of ``concurrent.futures`` that survives the end of its processes.

    All tasks of a ``ProcessPoolExecutor`` fail if one of its processes dies. Here a thread stands
    for each worker and has a pool of one process. So the task of the dead process fails alone, and
    the next task of its thread starts a new process.

    Args:
        workers: number of processes.
        logs: existing folder for the output of the processes, ``worker-N.txt``.
        threads: CPU threads of NumPy's libraries in a process.
        timeout: [s] after which the process of a task is killed, without the time in which the
            process starts; None: never.
    """

    def __init__(
        self, workers: int, logs: Path, threads: int = 1, timeout: float | None = None
    ) -> None:
        self._logs, self._library_threads, self._timeout = logs, threads, timeout
        self._threads = ThreadPoolExecutor(workers)
        self._own = threading.local()  # worker of a thread
        self._lock = threading.Lock()  # of the two attributes below
        self._workers: list[_Worker] = []
        self._is_closed = False

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **more: Any) -> Future[Any]:
        """Return the future of a call in one of the processes."""
        return self._threads.submit(self._call, function, arguments, more)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel tasks that wait, kill processes that run one, and end the others.

        Killed samples continue after their last step when the sweep runs again.
        """
        with self._lock:
            self._is_closed = True
            for worker in self._workers:
                if not worker.task.done():
                    worker.kill()
        self._threads.shutdown(wait, cancel_futures=True)
        for worker in self._workers:
            worker.pool.shutdown(wait)

    def _call(self, function: Callable[..., Any], arguments: Any, more: Any) -> Any:
        """Call a function in the process of this thread, and return its result.

        Raises:
            BrokenProcessPool: the process died, or the executor is shut down.
            OverdueError: the process was killed after the timeout.
        """
        with self._lock:
            if self._is_closed:
                raise BrokenProcessPool("the executor is shut down")
            worker = getattr(self._own, "worker", None)
            if worker is None:
                log = self._logs / f"worker-{len(self._workers)}.txt"
                worker = self._own.worker = _Worker(log, self._library_threads)
                self._workers.append(worker)
            task = worker.task = worker.pool.submit(function, *arguments, **more)
        try:
            worker.wait_for_start()
            return task.result(self._timeout)
        except BrokenProcessPool:
            self._own.worker = None
            raise
        except TimeoutError:
            if task.done():
                raise
            self._own.worker = None
            worker.kill()
            raise OverdueError(f"killed in a step after {self._timeout:.3g} s") from None


class _Worker:
    """A pool of one process."""

    def __init__(self, log: Path, threads: int) -> None:
        arguments = (str(log), threads)
        self.pool = ProcessPoolExecutor(1, get_context("spawn"), begin_worker, arguments)
        self._pid = self.pool.submit(load)  # starts the process
        self.task: Future[Any] = self._pid

    def wait_for_start(self) -> None:
        """Return as soon as the process can begin its first task."""
        wait([self._pid])

    def kill(self) -> None:
        """Kill the process, if it has started."""
        if self._pid.done() and self._pid.exception() is None:
            with suppress(OSError):
                os.kill(self._pid.result(), getattr(signal, "SIGKILL", signal.SIGTERM))
