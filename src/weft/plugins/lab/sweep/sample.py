"""Execution of one sample, from its values to a finished run: the same procedure on every executor.

A run that was started continues from its last frame with bit-identical results. However this
process ends, the folder tells the state: a sample with the status ``started`` whose lock no process
holds is to be continued.
"""

import os
import socket
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from threadpoolctl import threadpool_limits

from weft import kernel
from weft.base.errors import (
    RunError,
    SceneError,
    SimulationError,
    SweepError,
    WeftError,
    to_one_line,
)
from weft.base.trees import Json
from weft.io.folder_lock import FolderLock
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.faults import StoppedError, TimeUpError, is_full, translate_full_disk
from weft.plugins.lab.sweep.folder import SweepFolder
from weft.plugins.lab.sweep.measures import measure_run
from weft.plugins.lab.sweep.plan import Sample
from weft.plugins.lab.sweep.status import (
    LOG,
    MOST_ATTEMPTS,
    RUN,
    Reason,
    Status,
    read_status,
    write_status,
)
from weft.run.run_folder import RunFolder
from weft.run.simulation import Progress, run_scene

one_sample = threading.Lock()  # in a process, only one thread may launch kernels
Watch = Callable[[Progress], None]


def run_sample(
    sweep: SweepFolder, sample: Sample, *, retry: bool = False, watch: Watch | None = None
) -> Status:
    """Simulate or continue a sample, and return its final status; failures are statuses, too.

    Args:
        sweep: the sample's sweep.
        sample: the sample.
        retry: run the sample again if it has failed.
        watch: called after every step; an error that it raises stops the sample, which can be
            continued later.

    Raises:
        FolderInUseError: another process runs the sample.
        DiskFullError: the disk is full.
        StoppedError: raised by ``watch``.
    """
    inside = SafeFolder(sweep.place(sample), fsync=False)
    with one_sample, translate_full_disk(inside.path), FolderLock(inside):
        return _Attempt(sweep, sample, inside, watch).execute(retry)


class _Attempt:
    """One attempt to run a sample; the lock of its folder is held."""

    def __init__(
        self, sweep: SweepFolder, sample: Sample, inside: SafeFolder, watch: Watch | None
    ) -> None:
        self.sweep, self.sample, self.inside, self.watch = sweep, sample, inside, watch
        self.run = RunFolder(inside.path / RUN, fsync=False)
        self.clock, self.start = time.perf_counter(), 0.0

    def execute(self, retry: bool) -> Status:
        """Run the sample and return its final status."""
        before = read_status(self.inside.path)
        if before is not None and before.final and not (retry and before.state == "failed"):
            return before
        status = self._start(before)
        if status.attempts > MOST_ATTEMPTS:
            failed = _failed(Reason.CRASHED, Reason.CRASHED.advice)
            return self._finish(replace(status, attempts=MOST_ATTEMPTS, **failed))
        write_status(self.inside, status)
        self._log(
            f"attempt {status.attempts} on {status.where}, {self.sweep.threads} threads: "
            + " ".join(self.sample.overrides)
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always")
                warnings.showwarning = self._warning  # type: ignore[assignment]
                found = self._outcome()
        except (StoppedError, KeyboardInterrupt):  # a requested stop is no failed attempt
            write_status(self.inside, replace(status, attempts=status.attempts - 1))
            raise
        return self._finish(replace(status, **found))

    def _start(self, before: Status | None) -> Status:
        """Return the status of the start; attempts are counted only if the run has not advanced
        since.
        """
        frames = len(self.run.numbers())
        attempts = 1
        if before is not None and before.state == "started" and before.frames >= frames:
            attempts = before.attempts + 1
        started = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        where = f"{socket.gethostname()} {os.getpid()}"
        return Status("started", attempts, frames, where=where, started=started)

    def _outcome(self) -> Json:
        """Return the state, and the reason of a failure or the digest and measures of the run."""
        try:
            return {"state": "done", **self._simulate()}
        except TimeUpError as error:
            return _failed(Reason.TIME_LIMIT, str(error))
        except SimulationError as error:
            return _failed(Reason.NOT_CONVERGED, str(error))
        except (StoppedError, KeyboardInterrupt):
            raise
        except Exception as error:
            if is_full(error):
                raise
            if isinstance(error, SceneError) or _of_values(error):
                return _failed(Reason.BAD_SCENE, str(error))
            self._log(traceback.format_exc())
            return _failed(Reason.ERROR, f"{type(error).__name__}: {to_one_line(error)}")

    def _simulate(self) -> Json:
        """Simulate to the end and return the digest and measures of the finished run."""
        from weft.scene.build import load_scene

        sweep, run = self.sweep, self.run
        with (
            kernel.use(device=str(sweep.about["device"]), threads=sweep.threads),
            threadpool_limits(limits=sweep.threads),
            kernel.notify_compile(lambda _: None),
        ):
            loaded = load_scene(sweep.scene, [*sweep.common, *self.sample.overrides])
            run_scene(
                loaded.scene,
                run,
                frames=loaded.frames,
                fps=loaded.fps,
                resume=True,
                on_progress=self._after_step,
            )
            digest = run.sealed_frame(loaded.frames)[1].digest
            return {"digest": digest, "measures": measure_run(run)}

    def _after_step(self, now: Progress) -> None:
        """Call ``watch`` and check the time limit."""
        spent, limit = time.perf_counter() - self.clock, self.sweep.time_limit
        self.start = self.start or spent
        if self.watch is not None:
            self.watch(now)
        done = (now.frame, now.step) == (now.frames, now.steps)
        if limit is not None and spent > limit and not done:
            raise TimeUpError(
                f"frame {now.frame} of {now.frames} after {spent:.3g} s of wall clock; "
                f"time_limit is {limit:g} s"
            )

    def _finish(self, status: Status) -> Status:
        """Write the final status, with time and size, and return it."""
        seconds = round(time.perf_counter() - self.clock, 4)
        size, start = size_of(self.inside.path), round(self.start, 4)
        status = replace(status, seconds=seconds, start=start, size=size)
        if status.measures:
            status = replace(status, flags=self.sweep.keep.flags(status.measures))
        self._log(f"{status.state} after {seconds} s {status.reason} {status.message}".rstrip())
        write_status(self.inside, status)
        return status

    def _log(self, text: str) -> None:
        path = self.inside.path / LOG
        with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n")

    def _warning(self, message: Warning | str, *_: object) -> None:
        """Log a warning; the function takes the place of ``warnings.showwarning``."""
        self._log(f"warning: {message}")


def _failed(reason: Reason, message: str) -> Json:
    return {"state": "failed", "reason": reason.name, "message": to_one_line(message, 2000)}


def _of_values(error: Exception) -> bool:
    """Return whether an error is caused by invalid values (an unknown fabric, mesh, law, ...)."""
    return isinstance(error, WeftError) and not isinstance(error, RunError | SweepError)


def size_of(folder: Path) -> int:
    """Return the size of all files below a folder [bytes]."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.lstat().st_size * (not path.is_dir())
    return total
