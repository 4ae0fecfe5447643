"""Interface of engines."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.base.errors import SweepError
from weft.sweep.folder import SweepFolder
from weft.sweep.plan import Sample
from weft.sweep.status import Status

Told = Callable[[Sample, Status], None]  # called with a sample that has ended


@dataclass(frozen=True)
class SampleBatch:
    """Samples to be run by an engine.

    Args:
        sweep: the sweep of the samples.
        samples: the samples.
        retry: run failed samples again.
        told: called once with each sample that ends.
        note: called with other messages, for example of a worker that died or a scheduler that is
            gone.
    """

    sweep: SweepFolder
    samples: Sequence[Sample]
    retry: bool
    told: Told
    note: Callable[[str], None]


class Engine(Protocol):
    """Runner of samples on one kind of machine."""

    @property
    def name(self) -> str:
        """Return the name of the engine."""

    def run(self, work: SampleBatch) -> None:
        """Run all samples; return when no more can be done now.

        Samples that another process runs are left out.

        Raises:
            DiskFullError: the disk is full.
            SweepError: no sample can run.
        """


def refused(said: str, work: SampleBatch) -> SweepError:
    """Return the error that ends a sweep whose samples cannot start."""
    return SweepError(
        "samples", got=said, where=str(work.sweep.path), expected="samples that can be begun"
    )


def waiting(seconds: float, patience: float) -> float:
    """Return the time to wait before the next try [s].

    It grows with the time that was waited, from 1 s to 30 s, and is never longer than the patience
    left.

    Args:
        seconds: [s] waited until now.
        patience: [s] in total.
    """
    return min(max(1.0, seconds / 2), 30.0, max(0.0, patience - seconds))


def missing(package: str, extra: str = "sweep") -> SweepError:
    """Return the error for an optional package that is not installed."""
    return SweepError(
        package,
        got="not installed",
        expected="an installed package",
        hint=f"pip install 'weft[{extra}]'",
    )
