"""Open a run folder in order to continue it: find its last state, name and repair damaged files.

Nothing is deleted before its replacement is on disk. Writing a new manifest starts a branch; until
the checkpoint of the branch is written, the run continues from the frame at which it branches off.
"""

from dataclasses import dataclass, field

from weft.base.arrays import Arrays
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.run.manifest import Segment, branched, segment_of, segments_of
from weft.run.run_folder import FRAMES, MESH, RunFolder, frame_name
from weft.run.step_record import RunState, differences
from weft.run.survey import Survey, survey

MOST_TOLD = 10  # flaws that are listed in messages


@dataclass
class OpenedRun:
    """A run folder that is ready to be continued.

    Args:
        segments: the trajectories of its frames.
        place: the state to continue from; None: the start, because nothing is on disk.
        parent: digest of the content of the last complete frame.
        missing: earlier frames that must be computed again, each from the one before it.
        messages: what was found and done, for users.
        survey: the survey of the folder before repairs.
    """

    segments: list[Segment]
    place: RunState | None = None
    parent: str = ""
    missing: list[int] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    survey: Survey = field(default_factory=Survey)


def begin(folder: RunFolder, manifest: Json, mesh: Arrays) -> OpenedRun:
    """Create a new run.

    Args:
        folder: the folder of the run.
        manifest: the manifest to write.
        mesh: arrays of ``mesh.npz``.

    Raises:
        RunError: the folder holds a run, or the remains of one.
    """
    if folder.exists():
        old = folder.manifest()
        if segments_of(old)[-1].run != segments_of(manifest)[0].run:
            _refuse(folder, old, manifest)
        raise RunError(
            "run folder",
            got=str(folder.path),
            expected="a folder without a run",
            hint="continue it with --resume, or choose another with --out",
        )
    remains = folder.remains()
    if remains:
        raise RunError(
            "run folder",
            got=f"{', '.join(remains)} of a run without manifest.json",
            where=str(folder.path),
            expected="a folder without a run",
            hint="--resume repairs it, where it is of this scene; or choose another with --out",
        )
    folder.sweep()
    folder.inside.make(FRAMES)
    folder.write_mesh(mesh)
    folder.write_manifest(manifest)
    return OpenedRun(segments_of(manifest))


def resume(folder: RunFolder, manifest: Json, mesh: Arrays) -> OpenedRun:
    """Open the run at its last state and name damaged files; in an empty folder, create a new run.

    Args:
        folder: the folder of the run.
        manifest: the manifest of the scene, which replaces the one on disk.
        mesh: arrays of ``mesh.npz``, written again if they are damaged.

    Raises:
        RunError: the run is of another scene.
    """
    if not folder.exists() and not folder.remains():
        return begin(folder, manifest, mesh)
    swept = folder.sweep()
    found = survey(folder)
    opened = OpenedRun(found.segments or segments_of(manifest), survey=found)
    (mine,) = segments_of(manifest)
    if opened.segments[-1].run != mine.run:
        _refuse(folder, found.manifest, manifest)
    if found.manifest is not None:
        _same_mesh(folder, found.manifest, manifest)
    opened.messages = _told(found)
    opened.messages += [f"removed {name}, left by a killed process" for name in swept]
    _write(folder, manifest, mesh, opened)
    folder.inside.make(FRAMES)
    if found.end < 0:
        folder.records.truncate(0)
        folder.drop_checkpoint()
        return opened
    if found.checkpoint is not None:
        arrays, seal = found.checkpoint
        opened.place, opened.parent = RunState.of(arrays), seal.parent
        folder.records.truncate(seal.metrics_size)
        folder.drop_frames_after(opened.place.frame)
    else:
        _stand_at(folder, opened, found.end)
    opened.missing = [k for k in found.bad if k <= opened.place.frame] if opened.place else []
    return opened


def branch(folder: RunFolder, manifest: Json, mesh: Arrays, frame: int) -> OpenedRun:
    """Open the run at a frame, also with a changed scene; later frames are dropped.

    Args:
        folder: the folder of the run.
        manifest: the manifest of the scene with which the run continues.
        mesh: arrays of ``mesh.npz``.
        frame: number of the frame from which the run continues.

    Raises:
        RunError: the frame is missing or damaged, metrics before it are damaged, or the scene has
            another mesh.
    """
    folder.sweep()
    found = survey(folder)
    if found.manifest is None:
        raise RunError(
            "manifest.json",
            got=found.flaws[0].what,
            where=str(folder.path),
            expected="what weft wrote",
            hint="first repair the run with --resume",
        )
    _same_mesh(folder, found.manifest, manifest)
    seal = folder.sealed_frame(frame)[1]  # raises an error if the frame is damaged
    if frame not in found.seals or not folder.records.begins_with(seal.metrics_size, seal.metrics):
        raise RunError(
            frame_name(frame),
            got="damaged, or without its metrics",
            where=str(folder.path),
            expected="a good frame",
            hint="first repair the run with --resume",
        )
    (mine,) = segments_of(manifest)
    opened = OpenedRun(branched(found.segments, frame, mine.run), survey=found)
    opened.missing = [k for k in found.bad if k < frame]
    opened.messages = _told(found)
    _write(folder, manifest, mesh, opened)
    _stand_at(folder, opened, frame)
    folder.drop_frames_after(frame)
    return opened


def _told(found: Survey) -> list[str]:
    """Return messages about the first flaws, and how many more there are."""
    more = len(found.flaws) - MOST_TOLD
    told = [f"damaged: {flaw}" for flaw in found.flaws[:MOST_TOLD]]
    return told + ([f"damaged: {more} more files; `weft doctor` lists them"] if more > 0 else [])


def _stand_at(folder: RunFolder, opened: OpenedRun, frame: int) -> None:
    """Make a good frame the last state of the run.

    The checkpoint is written before the metrics are truncated, so that a process that is killed in
    between leaves a run that can be resumed.
    """
    arrays, seal = folder.sealed_frame(frame)
    opened.place, opened.parent = RunState.of(arrays), seal.content
    size, run = seal.metrics_size, opened.segments[-1].run
    folder.write_checkpoint(opened.place.arrays(), run, frame, seal.content, fsync=True, size=size)
    folder.records.truncate(size)


def _write(folder: RunFolder, manifest: Json, mesh: Arrays, opened: OpenedRun) -> None:
    """Write the manifest, and the mesh if it is damaged; the entry of the mesh in the manifest
    stays that of the first scene.
    """
    found = opened.survey
    if not found.mesh:
        folder.write_mesh(mesh)
        if found.manifest is not None:
            opened.messages.append(f"{MESH} is written anew")
    elif found.manifest is not None:
        manifest["mesh"] = found.manifest["mesh"]
    manifest["trajectory"] = [{"after": s.after, "run": s.run} for s in opened.segments]
    folder.write_manifest(manifest)


def _same_mesh(folder: RunFolder, old: Json, new: Json) -> None:
    """Check that a scene has the mesh of the run: faces, material coordinates, faces of bodies."""
    if old["mesh"].get("rest") != new["mesh"]["rest"]:
        changed = ", ".join(differences(old["scene"], new["scene"])[:5]) or "mesh"
        raise RunError(
            "run folder",
            got=f"a run of another mesh, another scene (differs in: {changed})",
            where=str(folder.path),
            expected="the faces and rest shape of this scene",
            hint="choose another folder with --out",
        )


def _refuse(folder: RunFolder, old: Json | None, new: Json) -> None:
    """Raise the error that the folder holds a run of another scene."""
    changed = "what its frames say"
    if old is not None:
        changed = ", ".join(differences(old["scene"], new["scene"])[:5]) or "fps or step"
    raise RunError(
        "run folder",
        got=f"a run of another scene (differs in: {changed})",
        where=str(folder.path),
        expected="a run of this scene",
        hint="choose another folder with --out, or branch off a frame with --from K",
    )


def repairable(opened: OpenedRun, frame: int) -> bool:
    """Return True if a missing frame belongs to the scene with which the run continues."""
    return segment_of(opened.segments, frame).run == opened.segments[-1].run
