"""Survey of a run folder: its files and their damage, read as a whole and without a scene.

A frame is good if its seal holds, if it is of the trajectory that the manifest names, and if it is
the one from which the next frame was made. The run ends at its checkpoint, or at the last good
frame up to which the metrics are complete.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from weft.base.arrays import Arrays
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.run.manifest import NAME as MANIFEST
from weft.run.manifest import Segment, segment_of, segments_of
from weft.run.metrics import NAME as METRICS
from weft.run.run_folder import CHECKPOINT, MESH, RunFolder, frame_name, mesh_digest
from weft.run.seal import Seal

MOST_MISSING = 100_000  # with more missing frames, the run ends before the first missing one
T = TypeVar("T")


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
    checkpoint: tuple[Arrays, Seal] | None = None
    end: int = -1

    def note(self, name: str, what: object) -> None:
        """Add a flaw of a file that has none so far."""
        if all(f.name != name for f in self.flaws):
            self.flaws.append(Flaw(name, str(what)))

    def read(self, name: str, read: Callable[[], T]) -> T | None:
        """Return what a function reads from a file; None: it is damaged, which is noted."""
        try:
            return read()
        except RunError as error:
            if error.what == "run format":
                raise
            self.note(name, error.got)
            return None


def survey(folder: RunFolder) -> Survey:
    """Return the state of a run folder, after reading all of its files and without changing any.

    Raises:
        RunError: a manifest of another version of weft.
    """
    found = Survey()
    found.manifest = found.read(MANIFEST, folder.manifest)
    mesh = found.read(MESH, folder.mesh)
    seals: dict[int, Seal] = {}
    for k in folder.numbers():
        frame = found.read(frame_name(k), lambda k=k: folder.sealed_frame(k))  # type: ignore[misc]
        if frame is not None:
            seals[k] = frame[1]
    if found.manifest is not None:
        found.segments = segments_of(found.manifest)
    else:
        found.segments = _segments_by(seals)
    if mesh is not None:
        known = found.manifest is None or mesh_digest(mesh) == found.manifest["mesh"].get("content")
        found.mesh = known
        if not known:
            found.note(MESH, "of another run")
    if found.segments:
        _checkpoint(folder, found)
        _chain(seals, found)
        _metrics(folder, found)
    return found


def _segments_by(seals: dict[int, Seal]) -> list[Segment]:
    """Return the trajectories that the frames' seals name, in the order of the frames."""
    segments: list[Segment] = []
    for k in sorted(seals):
        if not segments or segments[-1].run != seals[k].run:
            segments.append(Segment(max(k - 1, 0), seals[k].run))
    return segments


def _checkpoint(folder: RunFolder, found: Survey) -> None:
    loaded = found.read(CHECKPOINT, folder.checkpoint)
    if loaded is None:
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
    stop, content = max(loaded, default=-1), None
    if found.checkpoint is not None:
        stop, content = found.checkpoint[1].frame, found.checkpoint[1].parent
    if stop - len(loaded) > MOST_MISSING:
        whole = next(k for k in range(stop + 1) if k not in loaded)
        found.note(frame_name(whole), f"missing, with most up to {stop:06d}")
        stop, content, found.checkpoint = whole - 1, None, None
    wrong: dict[int, str] = {}
    for k in range(stop, -1, -1):
        seal = loaded.get(k)
        if seal is None:
            wrong[k] = "missing"
        elif seal.run != segment_of(found.segments, k).run:
            wrong[k] = "of another scene"
        elif content not in (None, seal.content):
            wrong[k] = "not the one that the next was made from"
        else:
            found.seals[k] = seal
        content = seal.parent if seal is not None and k in found.seals else None
    found.end = stop
    if found.checkpoint is None:
        if stop > 1:
            found.note(CHECKPOINT, "missing")
        found.end = max(found.seals, default=-1)
    found.bad = [k for k in sorted(wrong) if found.checkpoint is not None or k < found.end]
    for k in found.bad:
        found.note(frame_name(k), wrong[k])


def _metrics(folder: RunFolder, found: Survey) -> None:
    """Find the last frame up to which the metrics are complete, and let the run end there at the
    latest.
    """
    records = folder.records
    if found.checkpoint is not None:
        seal = found.checkpoint[1]
        if records.begins_with(seal.metrics_size, seal.metrics):
            count = int(found.checkpoint[0]["count"])
            more = records.unexplained_after(seal.metrics_size, count)
            if more:
                found.note(METRICS, f"{more} bytes after the last step, of no next one")
            return
        found.note(METRICS, "cut or damaged before the last step")
        found.checkpoint = None
    good = sorted(found.seals.items(), reverse=True)
    whole = next((k for k, s in good if records.begins_with(s.metrics_size, s.metrics)), -1)
    if whole < found.end:
        found.note(METRICS, f"whole up to frame {max(whole, 0)} alone")
    found.end = whole
    found.bad = [k for k in found.bad if k < whole]
