"""What an engine is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from weft.sweep.folder import SweepFolder
from weft.sweep.plan import Sample
from weft.sweep.status import Status

Told = Callable[[Sample, Status], None]  # of a sample that has ended


@dataclass(frozen=True)
class Work:
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

    def run(self, work: Work) -> None:
        """Run all of them; returns when no more can be done now. Samples that another process is
        at are left.

        Raises:
            DiskFullError: no space is left. SweepError: no sample can run.
        """
