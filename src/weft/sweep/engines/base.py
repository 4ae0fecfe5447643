"""What an engine is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.base.errors import SweepError
from weft.sweep.folder import SweepFolder
from weft.sweep.plan import Sample
from weft.sweep.status import Status

Told = Callable[[Sample, Status], None]  # of a sample that has ended


@dataclass(frozen=True)
class SampleBatch:
    """Samples to run.

    Args:
        sweep: their sweep.
        samples: which.
        retry: try again what has failed.
        told: called with every sample that ends, once.
        note: called with what else is worth saying: a worker that died, a scheduler that is gone.
    """

    sweep: SweepFolder
    samples: Sequence[Sample]
    retry: bool
    told: Told
    note: Callable[[str], None]


class Engine(Protocol):
    """Runs samples somewhere."""

    @property
    def name(self) -> str:
        """Of the engine."""

    def run(self, work: SampleBatch) -> None:
        """Run all of them; returns when no more can be done now. Samples that another process is
        at are left.

        Raises:
            DiskFullError: no space is left. SweepError: no sample can run.
        """


def refused(said: str, work: SampleBatch) -> SweepError:
    """The error that ends a sweep whose samples cannot be begun."""
    return SweepError(
        "samples", got=said, where=str(work.sweep.path), expected="samples that can be begun"
    )


def waiting(seconds: float, patience: float) -> float:
    """[s] to wait before the next try: twice as long each time, never more than is left.

    Args:
        seconds: that were waited until now.
        patience: [s] in all.
    """
    return min(max(1.0, seconds / 2), 30.0, max(0.0, patience - seconds))


def missing(package: str, extra: str = "sweep") -> SweepError:
    """The error where an optional package is not installed."""
    return SweepError(
        package,
        got="not installed",
        expected="an installed package",
        hint=f"pip install 'weft[{extra}]'",
    )
