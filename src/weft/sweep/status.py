"""How a sample stands: what its folder says, and nothing else."""

import enum
import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from weft.base.arrays import Json
from weft.io.inside import Inside
from weft.io.lock import NAME as LOCK
from weft.io.lock import runs
from weft.sweep.plan import Sample

STATUS, SAMPLES, RUN, LOG = "status.json", "samples", "run", "log.txt"
MOST_ATTEMPTS = 3  # of a sample that takes its process with it


class SampleKind(enum.Enum):
    """How a sample stands. The value is a word for tables."""

    DONE = "done"
    FAILED = "failed"
    RUNNING = "running"
    STOPPED = "stopped"  # begun, and nobody is at it
    PENDING = "pending"


class Reason(enum.Enum):
    """Why a sample failed. The value is what to do about it."""

    NOT_CONVERGED = "a step did not converge, however short: a shorter step, or other values"
    TIME_LIMIT = "it took longer than time_limit: --retry goes on where it stands"
    BAD_SCENE = "these values make no scene that can be simulated"
    CRASHED = f"its process ended {MOST_ATTEMPTS} times at the same place: memory, perhaps"
    ERROR = "weft met something that it does not expect"

    @property
    def advice(self) -> str:
        """What to do."""
        return self.value


@dataclass(frozen=True)
class Status:
    """What ``status.json`` of a sample says.

    Args:
        state: ``started``, ``done`` or ``failed``.
        attempts: times that it was begun without getting further than ``frames``.
        frames: frames on disk when it was begun.
        reason: name of the ``Reason`` of a failure.
        message: what was said.
        seconds: [s] of wall clock, of the last attempt.
        start: [s] of it until the first step was taken.
        size: [bytes] on disk.
        digest: of the last frame: equal ones are equal in every bit.
        measures: of a finished run.
        flags: filters passed, by name.
        where: machine and process.
        started: date and time.
    """

    state: str
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
        """Whether nothing remains to be done."""
        return self.state in ("done", "failed")


def write_status(inside: Inside, status: Status) -> None:
    """Replace a sample's status."""
    with inside.writing(STATUS) as file:
        file.write(json.dumps(asdict(status)).encode() + b"\n")


def read_status(folder: Path) -> Status | None:
    """A sample's status; None: it was never begun, or what is there is none (it runs again)."""
    try:
        with (folder / STATUS).open("rb") as file:
            said: Any = json.loads(file.read())
        status = Status(**said)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    known = status.state in ("started", "done", "failed") and isinstance(status.attempts, int)
    return status if known and isinstance(status.measures, dict) else None


@dataclass(frozen=True)
class SampleStatus:
    """A sample and how it stands."""

    sample: Sample
    kind: SampleKind
    status: Status | None = None


def look(root: Path, plan: Sequence[Sample]) -> list[SampleStatus]:
    """How all samples of a plan stand, from their folders."""
    place = root / SAMPLES
    try:
        with os.scandir(place) as entries:
            begun = {e.name for e in entries}
    except OSError:
        begun = set()
    return [
        _found(s, place / s.id) if s.id in begun else SampleStatus(s, SampleKind.PENDING)
        for s in plan
    ]


def _found(sample: Sample, folder: Path) -> SampleStatus:
    status = read_status(folder)
    if status is not None and status.final:
        return SampleStatus(
            sample, SampleKind.DONE if status.state == "done" else SampleKind.FAILED, status
        )
    if is_held(folder):
        return SampleStatus(sample, SampleKind.RUNNING, status)
    return SampleStatus(
        sample, SampleKind.PENDING if status is None else SampleKind.STOPPED, status
    )


def is_held(folder: Path) -> bool:
    """Whether a process is at a sample: one of this machine that runs, or one of another."""
    try:
        owner = json.loads((folder / LOCK).read_bytes())
        return {"pid", "host", "start"} <= owner.keys() and runs(owner)
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def counts(found: Iterable[SampleStatus]) -> dict[SampleKind, int]:
    """How many samples stand how."""
    told = Counter(f.kind for f in found)
    return {kind: told[kind] for kind in SampleKind}


def orphans(root: Path, plan: Sequence[Sample]) -> int:
    """Folders of samples that an earlier plan had."""
    try:
        with os.scandir(root / SAMPLES) as entries:
            return len({e.name for e in entries} - {s.id for s in plan})
    except OSError:
        return 0
