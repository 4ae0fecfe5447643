"""The file manifest.json: description of a run with a checksum, and the trajectory of each frame.

A run that was branched off (``--from K``) has frames of several scenes: ``trajectory`` lists the
frame from which each one holds. Replacing the manifest creates a branch atomically: frames and a
checkpoint of a trajectory that the manifest does not list no longer belong to the run.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from weft.base.errors import RunError
from weft.base.trees import Json, Yaml
from weft.io.inside import Inside

NAME = "manifest.json"
FORMAT = 3  # version of the run folder's layout
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
    return kept if kept[-1].run == run else [*kept, Segment(frame, run)]


def segments_of(manifest: Json) -> list[Segment]:
    """Return the segments in the manifest's ``trajectory``."""
    return [Segment(s["after"], s["run"]) for s in manifest["trajectory"]]


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
    try:
        with inside.reading(NAME) as file:
            data = file.read(MOST + 1)
        if len(data) > MOST:
            raise ValueError("too long")
        found: Yaml = json.loads(data)
        if not isinstance(found, dict):
            raise ValueError(f"a {type(found).__name__}")
        if found.get("format") == FORMAT:
            if found.pop(_SUM, None) != _digest(found):
                raise ValueError("its checksum is not that of its contents")
            _check(found)
            return found
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(
            NAME,
            got=getattr(error, "strerror", None) or str(error) or type(error).__name__,
            where=str(inside.root),
            expected="what weft wrote",
            hint="`weft run SCENE.yaml --out ... --resume` writes it anew, where the scene is the "
            "same",
        ) from error
    raise RunError(
        "run format",
        got=found.get("format"),
        expected=str(FORMAT),
        where=str(inside.root),
        hint="it is of another version of weft: use that one, or start again in a new folder",
    )


def _check(found: Json) -> None:
    """Raise a ValueError unless a manifest has its fields, with values of the right types."""
    from pydantic import BaseModel, ConfigDict, Field

    class ManifestFields(BaseModel):
        model_config = ConfigDict(strict=True, allow_inf_nan=False)
        scene: Json
        description: Json
        mesh: Json
        fps: Annotated[float, Field(gt=0)]
        trajectory: Annotated[list[Segment], Field(min_length=1)]

    ManifestFields.model_validate_json(
        json.dumps({k: found.get(k) for k in ManifestFields.model_fields})
    )


def _digest(plain: Json) -> str:
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
