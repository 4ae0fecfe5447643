"""Dask distributed: an existing scheduler, and workers that share the file system of the sweep's
folder.

Futures are only used as notifications; results are read from the folders. So the end of a worker, a
restart of the scheduler, or the end of this process loses no more than the steps in progress.
"""

import time
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from weft.base.errors import SweepError
from weft.io.extra import optional
from weft.plugins.lab.sweep.executors.base import (
    LostExecutorError,
    Outcome,
    SampleBatch,
    call_with_patience,
)
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.worker import run_samples

if TYPE_CHECKING:
    from distributed import Client

AHEAD = 4  # samples per process of the cluster that are submitted in advance
LOOK = 0.05  # [s] between checks of the futures
CONNECT = 10.0  # [s] timeout of a connection


@dataclass
class Dask:
    """A Dask cluster.

    Args:
        scheduler: its address, ``tcp://HOST:PORT``.
        patience: [s] to wait for a scheduler that does not answer.
    """

    scheduler: str
    patience: float = 600.0
    _client: "Client | None" = field(default=None, init=False)
    _futures: list[Any] = field(default_factory=list, init=False)

    def submit(self, batch: SampleBatch) -> dict[Hashable, list[Sample]]:
        """Submit ``AHEAD`` samples per process, which runs one sample at a time."""
        client = self._client = self._client or self._connect(batch)
        futures: dict[Hashable, list[Sample]] = {}
        with self._connection():
            if batch.queue:
                self._futures = [f for f in self._futures if f.status == "pending"]
                size = len(client.nthreads()) or 1  # without a worker, a sample waits for one
                while batch.queue and len(self._futures) < AHEAD * size:
                    sample = batch.queue.popleft()
                    key, arguments = f"weft-{sample.id}", batch.arguments([sample])
                    future = client.submit(run_samples, *arguments, pure=False, key=key)
                    self._futures.append(future)
                    futures[future] = [sample]
        return futures

    def collect(self, futures: Iterable[Hashable]) -> Iterator[tuple[Hashable, Outcome]]:
        """Yield the futures that ended."""
        tasks: Any = futures
        with self._connection():
            if self._client is None or self._client.status != "running":
                raise ConnectionError
            for future in tasks:
                status = future.status
                if status in ("lost", "cancelled"):
                    raise ConnectionError
                if status != "pending":
                    read = future.result if status == "finished" else future.exception
                    yield future, read(timeout=CONNECT)
        time.sleep(LOOK)

    def close(self) -> None:
        """Cancel what was submitted, and disconnect."""
        for future in self._futures:
            with suppress(Exception):  # the connection may be lost
                future.cancel()
        with suppress(Exception):
            if self._client is not None:
                self._client.close(timeout=2)
        self._futures, self._client = [], None

    @contextmanager
    def _connection(self) -> Iterator[None]:
        """Raise ``LostExecutorError`` if the connection is lost in the block."""
        try:
            yield
        except OSError as error:
            raise LostExecutorError(f"scheduler {self.scheduler} is gone") from error

    def _connect(self, batch: SampleBatch) -> "Client":
        """Return a client, after waiting for the scheduler if necessary."""
        distributed = optional("distributed", "sweep", "executor dask", SweepError)

        def connect() -> "Client":
            return distributed.Client(self.scheduler, timeout=CONNECT, set_as_default=False)

        def note(_: Exception) -> None:
            batch.note(f"no scheduler at {self.scheduler}: waiting")

        try:
            return call_with_patience(connect, self.patience, (OSError, RuntimeError), note)
        except (OSError, RuntimeError, ValueError) as error:
            raise SweepError(
                "scheduler",
                got=self.scheduler,
                where=f"{type(error).__name__}: {error}",
                expected="a Dask scheduler that answers: dask scheduler --port 8786",
                hint="what is done is on disk; the same command goes on",
            ) from error
