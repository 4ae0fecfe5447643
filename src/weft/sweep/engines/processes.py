"""Local worker processes, each of which runs one sample at a time and keeps its compiled
kernels.
"""

import json
import os
import selectors
import subprocess
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from weft.base.errors import SweepError
from weft.base.machine import cores, most_threads
from weft.base.trees import Json
from weft.io.inside import Inside
from weft.sweep.engines.base import SampleBatch, refused
from weft.sweep.faults import BusyError, full, sample_lock
from weft.sweep.plan import Sample
from weft.sweep.status import MOST_ATTEMPTS, Reason, Status, write_status

MOST_DEATHS = MOST_ATTEMPTS + 1  # per worker, without a sample that ended in between
OVERDUE, GRACE = 2.0, 30.0  # a worker is killed after 2 time limits plus 30 s
TICK = 1.0  # [s] between checks of the time limit


@dataclass
class _Worker:
    """A worker process and the sample that it runs."""

    number: int
    process: "subprocess.Popen[bytes]"
    sample: Sample | None = None
    since: float = 0.0
    rest: bytes = b""

    def order(self, **what: object) -> bool:
        """Send an order; return False if the process has ended."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(what).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            return False
        return True


@dataclass
class Processes:
    """Workers on this machine.

    Args:
        workers: number of workers; None: as many as fill the cores.
    """

    workers: int | None = None
    name: str = field(default="processes", init=False)

    def run(self, work: SampleBatch) -> None:
        """Run the samples of ``work``; raise the errors of ``Engine.run``."""
        threads = work.sweep.threads
        if threads > most_threads():
            raise SweepError(
                "threads",
                got=threads,
                where=str(work.sweep.path),
                expected=f"at most {most_threads()}, with {cores()} cores",
                hint="plan the sweep into another folder, with fewer",
            )
        most = self.workers or max(1, cores() // threads)
        with _Pool(work, min(most, len(work.samples))) as pool:
            pool.serve()


class _Pool:
    """The workers of one call of ``run``."""

    def __init__(self, work: SampleBatch, size: int) -> None:
        self.work, self.size = work, size
        self.queue: deque[Sample] = deque(work.samples)
        self.ready = selectors.DefaultSelector()
        self.workers: dict[int, _Worker] = {}
        self.warm = False  # true when kernels are compiled
        self.deaths = 0

    def __enter__(self) -> "_Pool":
        self.work.sweep.inside.make("logs")
        for k in range(self.size):
            self._start(k)
        self.workers[0].order(warm=self.queue[0].id)
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers.values():
            with suppress(OSError):
                worker.process.kill()
            worker.process.wait()
            for pipe in (worker.process.stdin, worker.process.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
        self.ready.close()

    def serve(self) -> None:
        """Hand out samples until all have ended or are run by other processes."""
        while self.queue or any(w.sample is not None for w in self.workers.values()):
            for key, _ in self.ready.select(TICK):
                self._hear(key.data)
            self._check_time()

    def _start(self, number: int) -> None:
        """Start a worker process."""
        sweep = self.work.sweep
        log = Path(sweep.path) / "logs" / f"worker-{number}.txt"
        with log.open("ab") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "weft.sweep.worker", str(sweep.path), str(sweep.threads)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
            )
        worker = self.workers[number] = _Worker(number, process)
        self.ready.register(process.stdout, selectors.EVENT_READ, worker)  # type: ignore[arg-type]
        if self.warm:
            self._feed(worker)

    def _feed(self, worker: _Worker) -> None:
        """Send the next sample to an idle worker."""
        if worker.sample is None and self.queue:
            worker.sample, worker.since = self.queue.popleft(), time.monotonic()
            worker.order(sample=worker.sample.id, retry=self.work.retry)

    def _hear(self, worker: _Worker) -> None:
        """Process the answers of a worker, or its end."""
        assert worker.process.stdout is not None
        data = os.read(worker.process.stdout.fileno(), 1 << 16)
        if not data:
            self._bury(worker)
            return
        *lines, worker.rest = (worker.rest + data).split(b"\n")
        for line in lines:
            self._take(worker, json.loads(line))

    def _take(self, worker: _Worker, answer: Json) -> None:
        """Process one answer, and send the next sample."""
        if "warm" in answer and "error" not in answer:
            self.warm = True
            for other in self.workers.values():
                self._feed(other)
            return
        sample, worker.sample = worker.sample, None
        if "full" in answer:
            raise full(self.work.sweep.path)
        if "error" in answer:
            raise refused(answer["error"], self.work)
        if "status" in answer:
            assert sample is not None
            self.deaths = 0
            self.work.told(sample, Status(**answer["status"]))
        else:
            self.work.note(f"left for another process: {answer['busy']}")
        self._feed(worker)

    def _bury(self, worker: _Worker) -> None:
        """Replace a worker that ended; its sample goes back to the queue."""
        self.ready.unregister(worker.process.stdout)  # type: ignore[arg-type]
        code = worker.process.wait()
        self.deaths += 1
        was = "" if worker.sample is None else f" while it ran {worker.sample.id}"
        self.work.note(f"worker {worker.number} ended ({_said(code)}){was}")
        if worker.sample is not None:
            self.queue.append(worker.sample)
        if self.deaths >= MOST_DEATHS * (self.size + 1):
            log = self.work.sweep.path / "logs" / f"worker-{worker.number}.txt"
            last = log.read_text(errors="replace").strip().splitlines()[-1:]
            raise SweepError(
                "workers",
                got=f"ended {self.deaths} times in turn: {last}",
                where=str(log),
                expected="processes that run",
            )
        for pipe in (worker.process.stdin, worker.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._start(worker.number)
        if not self.warm and worker.number == 0:
            self.warm = True  # the sample that made compilation fail will report why
            for other in self.workers.values():
                self._feed(other)

    def _check_time(self) -> None:
        """Kill workers far beyond the time limit: a single step of theirs does not end."""
        limit = self.work.sweep.time_limit
        if limit is None:
            return
        for worker in list(self.workers.values()):
            spent = time.monotonic() - worker.since
            if worker.sample is None or spent < OVERDUE * limit + GRACE:
                continue
            sample, worker.sample = worker.sample, None
            worker.process.kill()
            worker.process.wait()
            status = overdue(self.work, sample, spent)
            if status is not None:
                self.work.told(sample, status)


def overdue(work: SampleBatch, sample: Sample, spent: float) -> Status | None:
    """Write the status of a sample whose worker was killed; None if another process runs it."""
    message = f"killed in a step after {spent:.3g} s; time_limit is {work.sweep.time_limit:g} s"
    status = Status("failed", reason=Reason.TIME_LIMIT.name, message=message, seconds=spent)
    inside = Inside(work.sweep.place(sample), fsync=False)
    try:
        with sample_lock(inside):
            write_status(inside, status)
    except BusyError:
        return None
    return status


def _said(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit status {code}"
