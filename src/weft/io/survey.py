"""Survey of a run folder: its files and their damage, read as a whole and without a scene.

A frame is good if its seal holds, if it is of the trajectory that the manifest names, and if it is
the one from which the next frame was made. The run ends at its checkpoint, or at the last good
frame up to which the metrics are complete.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from weft.base.arrays import Json
from weft.base.errors import RunError
from weft.io.frames import CHECKPOINT, MESH, RunFolder, frame_name, mesh_digest
from weft.io.manifest import NAME as MANIFEST
from weft.io.manifest import Segment, segment_of, segments_of
from weft.io.seal import Seal

MOST_MISSING = 100_000  # with more missing frames, the run ends before the first missing one


@dataclass(frozen=True)
class Flaw:
    """A damaged, missing or wrong file of a run."""

    name: str  # in the run folder
    what: str  # description of the damage

    def __str__(self) -> str:
        return f"{self.name}: {self.what}"


@dataclass
class Survey:
    """The state of a run folder.

    Args:
        flaws: damaged or missing files.
        manifest: None: damaged or missing.
        segments: of the manifest; without one, as the frames' seals give them.
        mesh: False: damaged or missing.
        seals: of good frames, by number.
        bad: numbers of frames before the end that are damaged, missing or of another run.
        checkpoint: arrays and seal of a good checkpoint.
        end: last frame of the usable run: that of the checkpoint, or the last good one whose
            metrics are complete; -1: none.
    """

    flaws: list[Flaw] = field(default_factory=list)
    manifest: Json | None = None
    segments: list[Segment] = field(default_factory=list)
    mesh: bool = False
    seals: dict[int, Seal] = field(default_factory=dict)
    bad: list[int] = field(default_factory=list)
    checkpoint: tuple[dict[str, Any], Seal] | None = None
    end: int = -1

    def note(self, name: str, what: object) -> None:
        """Add a flaw."""
        self.flaws.append(Flaw(name, str(what)))


def survey(folder: RunFolder) -> Survey:
    """Return the state of a run folder, after reading all of its files and without changing any.

    Raises:
        RunError: a manifest of another version of weft.
    """
    found = Survey()
    _manifest(folder, found)
    loaded = dict(_frames(folder, found))
    if not found.segments:
        found.segments = _segments_by(loaded)
    _checkpoint(folder, found)
    _chain(loaded, found)
    _metrics(folder, found)
    return found


def _manifest(folder: RunFolder, found: Survey) -> None:
    try:
        found.manifest = folder.manifest()
        found.segments = segments_of(found.manifest)
    except RunError as error:
        if error.what == "run format":
            raise
        found.note(MANIFEST, error.got)
    try:
        arrays = folder.mesh()
        digest = (found.manifest or {}).get("mesh", {}).get("content")
        found.mesh = digest is None or mesh_digest(arrays) == digest
        if not found.mesh:
            found.note(MESH, "of another run")
    except RunError as error:
        found.note(MESH, error.got)


def _frames(folder: RunFolder, found: Survey) -> Iterator[tuple[int, Seal]]:
    """Yield the frames whose seals hold, and note the others."""
    for k in folder.numbers():
        try:
            seal = folder.sealed_frame(k)[1]
        except RunError as error:
            found.note(frame_name(k), error.got)
            continue
        yield k, seal


def _segments_by(seals: dict[int, Seal]) -> list[Segment]:
    """Return the trajectories that the frames' seals name, in the order of the frames."""
    segments: list[Segment] = []
    for k in sorted(seals):
        if not segments or segments[-1].run != seals[k].run:
            segments.append(Segment(max(k - 1, 0), seals[k].run))
    return segments


def _checkpoint(folder: RunFolder, found: Survey) -> None:
    try:
        loaded = folder.checkpoint()
    except RunError as error:
        found.note(CHECKPOINT, error.got)
        return
    if loaded is None or not found.segments:
        return
    seal, last = loaded[1], found.segments[-1]
    if seal.run == last.run and seal.frame >= last.after:
        found.checkpoint = loaded
    elif seal.run not in {s.run for s in found.segments}:
        found.note(CHECKPOINT, "of another scene")
    # Otherwise it is a checkpoint from before a branch, which is normal after a kill.


def _chain(loaded: dict[int, Seal], found: Survey) -> None:
    """Find the frames that follow from one another and belong to the trajectories of their
    segments.

    The chain is checked from the newest frame backwards: a frame is good if its content is the one
    that the next frame names as its parent.
    """
    segments = found.segments
    if not segments:
        return
    stop = max(loaded, default=-1)
    if found.checkpoint is not None:
        stop = found.checkpoint[1].frame
    if stop - len(loaded) > MOST_MISSING:
        whole = next(k for k in range(stop + 1) if k not in loaded)
        found.note(frame_name(whole), f"missing, with most up to {stop:06d}")
        stop, found.checkpoint = whole - 1, None
    after: str | None = None if found.checkpoint is None else found.checkpoint[1].parent
    fits = {k: s for k, s in loaded.items() if s.run == segment_of(segments, k).run and k <= stop}
    strange: dict[int, str] = {}
    for k in range(stop, -1, -1):  # the newest frame first
        seal = fits.get(k)
        if seal is not None and after in (None, seal.content):
            found.seals[k] = seal
            after = seal.parent
            continue
        if seal is not None:
            strange[k] = "not the one that the next was made from"
        elif k in loaded:
            strange[k] = "of another scene"
        elif not any(f.name == frame_name(k) for f in found.flaws):
            strange[k] = "missing"
        found.bad.append(k)
        after = None
    found.bad.sort()
    found.end = stop
    if found.checkpoint is None:
        if stop > 1 and not any(f.name == CHECKPOINT for f in found.flaws):
            found.note(CHECKPOINT, "missing")
        found.end = max(found.seals, default=-1)
        found.bad = [k for k in found.bad if k < found.end]
    for k in found.bad:
        if k in strange:
            found.note(frame_name(k), strange[k])


def _metrics(folder: RunFolder, found: Survey) -> None:
    """Find the last frame up to which the metrics are complete, and let the run end there at the
    latest.
    """
    records = folder.records
    if found.checkpoint is not None:
        seal = found.checkpoint[1]
        if records.begins_with(seal.metrics_size, seal.metrics):
            count = int(found.checkpoint[0]["count"])
            strange = records.strange_after(seal.metrics_size, count)
            if strange:
                found.note("metrics.jsonl", f"{strange} bytes after the last step, of no next one")
            return
        found.note("metrics.jsonl", "cut or damaged before the last step")
        found.checkpoint = None
    good = sorted(found.seals, reverse=True)
    at = found.seals
    whole = next((k for k in good if records.begins_with(at[k].metrics_size, at[k].metrics)), -1)
    if whole < found.end and not any(f.name == "metrics.jsonl" for f in found.flaws):
        found.note("metrics.jsonl", f"whole up to frame {max(whole, 0)} alone")
    found.end = whole
    found.bad = [k for k in found.bad if k < whole]
