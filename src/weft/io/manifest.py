"""manifest.json: what a run is of, with a checksum; and which trajectory each of its frames is of.

A run that was branched off (``--from K``) has frames of several scenes: ``trajectory`` lists from
which frame on which one holds. Replacing the manifest is what makes a branch, in one instant:
frames and a checkpoint of a trajectory that it does not list are no part of the run any more.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weft.base.arrays import Json
from weft.base.errors import RunError
from weft.io.inside import Inside

NAME = "manifest.json"
FORMAT = 2  # of a run folder
MOST = 1 << 28  # [bytes]
_SUM = "sha256"


@dataclass(frozen=True)
class Segment:
    """Frames after ``after``, up to the next segment's, are of trajectory ``run``; the first
    segment has frame 0, too.
    """

    after: int
    run: str


def segment_of(segments: Sequence[Segment], frame: int) -> Segment:
    """The segment that a frame belongs to."""
    return [s for s in segments if s.after < frame or s is segments[0]][-1]


def branched(segments: Sequence[Segment], frame: int, run: str) -> list[Segment]:
    """The segments of a run that goes on as trajectory ``run`` after a frame."""
    kept = [s for s in segments if s.after < frame or s is segments[0]]
    if kept[-1].run == run:
        return kept
    return [*kept, Segment(frame, run)]


def write_manifest(inside: Inside, manifest: Json) -> None:
    """Replace the manifest."""
    plain = {k: v for k, v in manifest.items() if k != _SUM}
    with inside.writing(NAME) as file:
        file.write(json.dumps({**plain, _SUM: _digest(plain)}, indent=2).encode() + b"\n")


def read_manifest(inside: Inside) -> Json:
    """The manifest.

    Raises:
        RunError: it is missing, damaged, or of another version of weft.
    """
    hint = "`weft run SCENE.yaml --out ... --resume` writes it anew, where the scene is the same"
    try:
        with inside.reading(NAME) as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise ValueError("too long")
        found: Any = json.loads(data)
        if not isinstance(found, dict):
            raise ValueError(f"a {type(found).__name__}")
    except (OSError, ValueError, RecursionError) as error:
        got = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise RunError(
            NAME, got=got, where=str(inside.root), expected="what weft wrote", hint=hint
        ) from error
    if found.get("format") != FORMAT:
        raise RunError(
            "run format",
            got=found.get("format"),
            expected=str(FORMAT),
            where=str(inside.root),
            hint="it is of another version of weft: use that one, or start again in a new folder",
        )
    if found.pop(_SUM, None) != _digest(found) or not _complete(found):
        raise RunError(
            NAME,
            got="its checksum is not that of its contents",
            where=str(inside.root),
            expected="what weft wrote",
            hint=hint,
        )
    return found


def segments_of(manifest: Json) -> list[Segment]:
    """Its ``trajectory``."""
    return [Segment(int(s["after"]), str(s["run"])) for s in manifest["trajectory"]]


def _complete(found: Json) -> bool:
    fields = {
        "scene": dict,
        "trajectory": list,
        "fps": float | int,
        "mesh": dict,
        "description": dict,
    }
    if not all(isinstance(found.get(k), t) for k, t in fields.items()):
        return False
    parts = found["trajectory"]
    return (
        0 < found["fps"] < math.inf
        and bool(parts)
        and all(isinstance(s, dict) and {"after", "run"} <= s.keys() for s in parts)
        and all(isinstance(s["after"], int) and isinstance(s["run"], str) for s in parts)
    )


def _digest(plain: Json) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
