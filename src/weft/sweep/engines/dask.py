"""Dask distributed: an existing scheduler, and workers that share the file system of the sweep's
folder.

Futures are only used as notifications; results are read from the folders. So the end of a worker, a
restart of the scheduler, or the end of this process loses no more than the steps in progress.
"""

import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from weft.base.errors import SweepError
from weft.sweep.engines.base import SampleBatch, missing, refused, waiting
from weft.sweep.faults import full
from weft.sweep.plan import Sample
from weft.sweep.status import is_held, read_status
from weft.sweep.warm import answer

if TYPE_CHECKING:
    from distributed import Client, Future

AHEAD = 4  # samples per process of the cluster that are submitted in advance
LOOK = 0.02  # [s] between checks of the futures
RECOUNT = 5.0  # [s] between queries of the cluster's size
CONNECT = 10.0  # [s] timeout of a connection


class _GoneError(Exception):
    """The scheduler cannot be reached."""


@dataclass
class Dask:
    """A Dask cluster.

    Args:
        scheduler: its address, ``tcp://HOST:PORT``.
        patience: [s] to wait for a scheduler that does not answer.
    """

    scheduler: str
    patience: float = 600.0
    name: str = field(default="dask", init=False)

    def run(self, work: SampleBatch) -> None:
        """Run the samples of ``work``; raise the errors of ``Engine.run``."""
        try:
            import distributed  # noqa: F401
        except ImportError as error:
            raise missing("distributed") from error
        queue = deque(work.samples)
        while queue:
            client = self._connected(work)
            try:
                _Session(client, work, queue).serve()
            except _GoneError:
                work.note(f"scheduler {self.scheduler} is gone: waiting for it")
            finally:
                with suppress(Exception):  # the connection may be lost
                    client.close(timeout=2)

    def _connected(self, work: SampleBatch) -> "Client":
        """Return a client, after waiting for the scheduler if necessary."""
        from distributed import Client

        waited = 0.0
        while True:
            clock = time.monotonic()
            try:
                return Client(self.scheduler, timeout=CONNECT, set_as_default=False)
            except (OSError, TimeoutError, ValueError, RuntimeError) as error:
                pause = waiting(waited, self.patience)
                if pause <= 0 or isinstance(error, ValueError):
                    raise SweepError(
                        "scheduler",
                        got=self.scheduler,
                        where=f"{type(error).__name__}: {error}",
                        expected="a Dask scheduler that answers: dask scheduler --port 8786",
                        hint="what is done is on disk; the same command goes on",
                    ) from error
                if waited == 0:
                    work.note(f"no scheduler at {self.scheduler}: waiting")
                time.sleep(pause)
                waited += time.monotonic() - clock


class _Session:
    """One connection to the scheduler: it submits samples and collects their results."""

    def __init__(self, client: "Client", work: SampleBatch, queue: deque[Sample]) -> None:
        self.client, self.work, self.queue = client, work, queue
        self.path = str(work.sweep.path.resolve())
        self.futures: dict[Future, Sample] = {}
        self.size, self.counted = 0, float("-inf")

    def serve(self) -> None:
        """Submit and collect samples until the queue is empty and all futures have ended.

        Raises:
            _GoneError: the connection is lost; submitted samples are in the queue again.
        """
        try:
            while self.queue or self.futures:
                self._check()
                while self.queue and len(self.futures) < AHEAD * self._threads():
                    self._hand_out(self.queue.popleft())
                for future in [f for f in self.futures if f.status != "pending"]:
                    self._take(future, self.futures.pop(future))
                time.sleep(LOOK)
        except (OSError, TimeoutError) as error:
            raise _GoneError from error
        finally:
            self.queue.extendleft(reversed(self.futures.values()))
            for future in self.futures:
                with suppress(Exception):
                    future.cancel()

    def _check(self) -> None:
        """Raise ``_GoneError`` if the connection or a future is lost."""
        lost = any(f.status in ("lost", "cancelled") for f in self.futures)
        if lost or self.client.status != "running":
            raise _GoneError

    def _threads(self) -> int:
        """Return the number of processes of the cluster, at least 1, so that samples wait for a
        worker.
        """
        if time.monotonic() - self.counted > RECOUNT:
            self.size = len(self.client.nthreads())  # a process runs one sample at a time
            if self.size == 0:
                self.work.note("the cluster has no worker: waiting for some")
            self.counted = time.monotonic()
        return max(1, self.size)

    def _hand_out(self, sample: Sample) -> None:
        future = self.client.submit(
            answer, self.path, sample.id, self.work.retry, pure=False, key=f"weft-{sample.id}"
        )
        self.futures[future] = sample

    def _take(self, future: "Future", sample: Sample) -> None:
        """Report the result of a future that ended, read from the sample's folder."""
        if future.status == "error":
            self.work.note(f"sample {sample.id}: {type(future.exception()).__name__}; tried again")
            self.queue.append(sample)
            return
        if future.status != "finished":
            self.queue.append(sample)
            raise _GoneError
        folder = self.work.sweep.place(sample)
        status = read_status(folder)
        if status is not None and status.final:
            self.work.told(sample, status)
            return
        said = future.result(timeout=CONNECT)
        if "full" in said:
            raise full(self.work.sweep.path)
        if "error" in said:
            raise refused(said["error"], self.work)
        if "status" in said and not is_held(folder):
            raise SweepError(
                "sweep folder",
                got="a folder that workers do not write into",
                where=self.path,
                expected="one that this process and all workers see: a shared file system",
            )
        self.work.note(f"left for another process: {said.get('busy', sample.id)}")
