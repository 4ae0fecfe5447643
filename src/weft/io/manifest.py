"""The file manifest.json: description of a run with a checksum, and the trajectory of each frame.

A run that was branched off (``--from K``) has frames of several scenes: ``trajectory`` lists the
frame from which each one holds. Replacing the manifest creates a branch atomically: frames and a
checkpoint of a trajectory that the manifest does not list no longer belong to the run.
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
FORMAT = 2  # version of the run folder's layout
MOST = 1 << 28  # [bytes] largest manifest that is read
_SUM = "sha256"


@dataclass(frozen=True)
class Segment:
    """A range of frames of one trajectory.

    Frames after ``after``, up to the next segment's ``after``, belong to trajectory ``run``; the
    first segment includes frame 0, too.
    """

    after: int
    run: str


def segment_of(segments: Sequence[Segment], frame: int) -> Segment:
    """Return the segment to which a frame belongs."""
    return [s for s in segments if s.after < frame or s is segments[0]][-1]


def branched(segments: Sequence[Segment], frame: int, run: str) -> list[Segment]:
    """Return the segments of a run that continues as another trajectory.

    Args:
        segments: of the run so far.
        frame: last frame of the old trajectory that is used.
        run: the new trajectory; if the last segment has it already, no segment is added.
    """
    kept = [s for s in segments if s.after < frame or s is segments[0]]
    if kept[-1].run == run:
        return kept
    return [*kept, Segment(frame, run)]


def write_manifest(inside: Inside, manifest: Json) -> None:
    """Replace the manifest, with its checksum."""
    plain = {k: v for k, v in manifest.items() if k != _SUM}
    with inside.writing(NAME) as file:
        file.write(json.dumps({**plain, _SUM: _digest(plain)}, indent=2).encode() + b"\n")


def read_manifest(inside: Inside) -> Json:
    """Return the manifest.

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
    """Return the segments in the manifest's ``trajectory``."""
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
