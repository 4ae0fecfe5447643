"""Estimate of a sweep's cost: samples, time, disk space; from finished samples, or from one test
run.
"""

import tempfile
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from weft.base.machine import cores, disk, gib
from weft.base.trees import Json
from weft.plugins.lab.sweep.faults import StoppedError
from weft.plugins.lab.sweep.file import SweepFile
from weft.plugins.lab.sweep.folder import NAME, prepare, threads_for
from weft.plugins.lab.sweep.plan import plan_of
from weft.plugins.lab.sweep.runner import check_fields
from weft.plugins.lab.sweep.sample import run_sample, size_of
from weft.plugins.lab.sweep.status import SampleKind
from weft.run.simulation import Progress

LONGEST = 60.0  # [s] limit of the test run


@dataclass(frozen=True)
class Estimate:
    """Estimated cost of a sweep.

    Args:
        samples: number of samples.
        left: number of samples that are still to be run.
        seconds: [s] per sample, on one worker.
        size: [bytes] on disk per sample.
        workers: samples that run at a time.
        free: [bytes] on the disk; None: unknown.
        basis: source of these numbers.
    """

    samples: int
    left: int
    seconds: float
    size: float
    workers: int
    free: int | None
    basis: str

    @property
    def hours(self) -> float:
        """Return the wall clock time [h]."""
        return self.left * self.seconds / self.workers / 3600

    def lines(self) -> list[str]:
        """Return the estimate as lines of text."""
        needed = self.left * self.size
        room = "" if self.free is None else f" of {gib(self.free)} free"
        warning = " (NOT ENOUGH)" if self.free is not None and needed > self.free else ""
        return [
            f"samples  {self.samples}, {self.left} to run",
            f"time     {self.seconds:.3g} s each ({self.basis}); "
            f"about {_duration(3600 * self.hours)} with {self.workers} at a time",
            f"disk     {self.size / 2**20:.3g} MiB each; {gib(needed)}{room}{warning}",
        ]

    def plain(self) -> Json:
        """Return the estimate as a dictionary."""
        return {**asdict(self), "hours": self.hours}


def estimate(sweep: SweepFile, out: Path, workers: int | None = None) -> Estimate:
    """Estimate the cost of a sweep.

    If no sample is finished, the first one runs in a temporary folder for at most ``LONGEST``
    seconds.

    Raises:
        SweepError, SceneError: as when the sweep is run.
    """
    samples, _ = plan_of(sweep)
    check_fields(sweep, samples)
    threads = sweep.settings.threads or threads_for(len(samples))
    at_once = workers or max(1, cores() // threads)
    left, done = len(samples), []
    if (out / NAME).is_file():
        from weft.plugins.lab.sweep.folder import open_sweep

        names = {s.id for s in samples}
        earlier = [f for f in open_sweep(out).look() if f.sample.id in names]
        left -= sum(f.kind in (SampleKind.DONE, SampleKind.FAILED) for f in earlier)
        done = [f.status for f in earlier if f.kind is SampleKind.DONE]
    if done:
        seconds = sum(s.seconds for s in done) / len(done)
        size = sum(s.size for s in done) / len(done)
        basis = f"mean of {len(done)} that are done"
    else:
        seconds, size, basis = _run_one_sample(sweep)
    return Estimate(len(samples), left, seconds, size, at_once, disk(out), basis)


def _run_one_sample(sweep: SweepFile) -> tuple[float, float, str]:
    """Return time [s] and size [bytes] of the first sample, and how they were found."""
    with tempfile.TemporaryDirectory(prefix="weft-sweep-") as place:
        unlimited = replace(sweep, settings=replace(sweep.settings, time_limit=None))
        folder = prepare(unlimited, Path(place))
        sample = folder.plan[0]
        progress: list[tuple[float, float]] = []  # (fraction done, time)

        def watch(now: Progress) -> None:
            part = (now.frame - 1 + now.step / now.steps) / now.frames
            progress.append((part, time.perf_counter()))
            if progress[-1][1] - progress[0][1] > LONGEST:
                raise StoppedError

        status, basis, part = None, "of one sample", 1.0
        try:
            status = run_sample(folder, sample, watch=watch)
        except StoppedError:
            part = progress[-1][0]
            basis = f"extrapolated from {100 * part:.0f} % of one"
        size = size_of(folder.place(sample)) / part
        if status is not None and status.state == "failed":
            return status.seconds, size, f"of one, which failed: {status.reason}"
        if status is not None and len(progress) <= 2:
            return status.seconds, size, basis
        (first, began), (last, now) = progress[0], progress[-1]
        return (now - began) / (last - first), size, basis  # the first step may have compiled


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
