"""State of a sample, read from its folder alone."""

import enum
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import ConfigDict, TypeAdapter

from weft.base.trees import Json
from weft.io.folder_lock import is_written
from weft.io.safe_folder import SafeFolder
from weft.plugins.lab.sweep.plan import Sample

STATUS, SAMPLES, RUN, LOG = "status.json", "samples", "run", "log.txt"
MOST_ATTEMPTS = 3  # of a sample that crashes its process


class SampleKind(enum.Enum):
    """State of a sample; the value is a word for tables."""

    DONE = "done"
    FAILED = "failed"
    RUNNING = "running"
    STOPPED = "stopped"  # started, but no process runs it
    PENDING = "pending"


class Reason(enum.Enum):
    """Reason for which a sample failed; the value is advice for the user."""

    NOT_CONVERGED = "a step did not converge: use a shorter step, or other values"
    TIME_LIMIT = "the sample took longer than time_limit: --retry continues it"
    BAD_SCENE = "weft cannot simulate a scene with these values"
    CRASHED = f"its process ended {MOST_ATTEMPTS} times at the same place: check the memory"
    ERROR = "an unexpected error in weft"

    @property
    def advice(self) -> str:
        """Return the advice for the user."""
        return self.value


@dataclass(frozen=True)
class Status:
    """Contents of a sample's ``status.json``.

    Args:
        state: empty if the sample never started.
        attempts: number of starts without progress beyond ``frames``.
        frames: frames on disk at the last start.
        reason: name of the ``Reason`` of a failure.
        message: the error message of a failure.
        seconds: [s] of wall clock, of the last attempt.
        start: [s] of this until the first step was taken.
        size: [bytes] on disk.
        digest: of the last frame; equal digests mean frames that are equal in every bit.
        measures: of a finished run.
        flags: result of each filter, by its name.
        where: host and process id.
        started: date and time.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    state: Literal["", "started", "done", "failed"] = ""
    attempts: int = 1
    frames: int = 0
    reason: str = ""
    message: str = ""
    seconds: float = 0.0
    start: float = 0.0
    size: int = 0
    digest: str = ""
    measures: Json = field(default_factory=dict)
    flags: dict[str, bool] = field(default_factory=dict)
    where: str = ""
    started: str = ""

    @property
    def final(self) -> bool:
        """Return whether the sample has ended."""
        return self.state in ("done", "failed")

    @property
    def good(self) -> bool:
        """Return whether the sample passes all filters."""
        return self.flags.get("good", True)


_STATUS = TypeAdapter(Status)


def write_status(inside: SafeFolder, status: Status) -> None:
    """Write a sample's status in place of the earlier one."""
    with inside.writer(STATUS) as file:
        file.write(json.dumps(asdict(status)).encode() + b"\n")


def read_status(folder: Path) -> Status | None:
    """Return a sample's status; None if it never started, or if the file is invalid (it then runs
    again).
    """
    try:
        status = _STATUS.validate_json((folder / STATUS).read_bytes(), strict=True)
    except (OSError, ValueError):
        return None
    return status if status.state else None


@dataclass(frozen=True)
class SampleStatus:
    """A sample and its state; the status is empty if the sample never started."""

    sample: Sample
    kind: SampleKind
    status: Status = Status()


def look(root: Path, plan: Sequence[Sample]) -> list[SampleStatus]:
    """Return the states of all samples of a plan, read from their folders."""
    place = root / SAMPLES
    try:
        with os.scandir(place) as entries:
            names = {e.name for e in entries}
    except OSError:
        names = set()
    return [
        _read_sample(s, place / s.id) if s.id in names else SampleStatus(s, SampleKind.PENDING)
        for s in plan
    ]


def _read_sample(sample: Sample, folder: Path) -> SampleStatus:
    status = read_status(folder)
    if status is not None and status.final:
        kind = SampleKind.DONE if status.state == "done" else SampleKind.FAILED
    elif is_written(SafeFolder(folder)):
        kind = SampleKind.RUNNING
    else:
        kind = SampleKind.PENDING if status is None else SampleKind.STOPPED
    return SampleStatus(sample, kind, status or Status())


def counts(samples: Iterable[SampleStatus]) -> dict[SampleKind, int]:
    """Return the number of samples in each state."""
    numbers = Counter(f.kind for f in samples)
    return {kind: numbers[kind] for kind in SampleKind}


def orphans(root: Path, plan: Sequence[Sample]) -> int:
    """Return the number of folders of samples that only an earlier plan had."""
    try:
        with os.scandir(root / SAMPLES) as entries:
            return len({e.name for e in entries} - {s.id for s in plan})
    except OSError:
        return 0
