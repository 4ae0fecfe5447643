"""Damage in a run folder is found, and the run is opened in order to continue it.

``inspect_run`` reads all files without changing any. ``open_run`` prepares a folder for the
simulation: it begins, resumes or branches a run. Nothing is deleted before its replacement is on
disk.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import NoReturn, TypeVar

from weft.base.arrays import Arrays
from weft.base.errors import RunError, abbreviate
from weft.base.trees import Json
from weft.run.metrics_log import METRICS, Line
from weft.run.run_folder import (
    CHECKPOINT,
    FRAMES,
    MANIFEST,
    FormatError,
    RunFolder,
    frame_name,
    mesh_digest,
)
from weft.run.run_state import RunState
from weft.run.sealed_file import MESH, Seal
from weft.run.step_record import differences

MOST_LISTED = 10  # damaged files that are listed in messages
T = TypeVar("T")


@dataclass
class RunCondition:
    """The condition of a run folder, and the place from which the run continues.

    Args:
        flaws: descriptions of damaged, missing or wrong files, by file name.
        manifest: None: damaged or missing.
        mesh: False: damaged or missing.
        trajectory: of the frames after ``after``; empty: unknown.
        after: last frame of an earlier trajectory, at which the run branched off; -1: none.
        frames: numbers of frames that are of the run's trajectory and that the metrics list.
        lines: of the metrics, from the beginning up to the first one that is damaged.
        digests: of frames, as the metrics list them, by number.
        end: last frame of the usable run: that of the checkpoint, or the last good one; -1: none.
        line: last line of metrics that leads to the state at the end; None: there is none.
        state: of the checkpoint; None: the usable run stands at frame ``end``.
        messages: what was found and done, for users.
    """

    flaws: dict[str, str] = field(default_factory=dict)
    manifest: Json | None = None
    mesh: bool = False
    trajectory: str = ""
    after: int = -1
    frames: set[int] = field(default_factory=set)
    lines: list[Line] = field(default_factory=list)
    digests: dict[int, str] = field(default_factory=dict)
    end: int = -1
    line: Line | None = None
    state: RunState | None = None
    messages: list[str] = field(default_factory=list)

    @property
    def missing(self) -> list[int]:
        """The frames up to the end that must be computed again, each from the one before it."""
        return [k for k in range(self.end + 1) if k not in self.frames]

    def read(self, name: str, read: Callable[[], T]) -> T | None:
        """Return what a function reads from a file; None: it is damaged, which is noted."""
        try:
            return read()
        except FormatError:
            raise
        except RunError as error:
            self.flaws[name] = str(error.got)
            return None

    def stand_at(self, frame: int) -> None:
        """Let the run end with a good frame; -1: no frame is good."""
        leading = [line for line in self.lines if line.frame <= frame]
        self.state, self.end, self.line = None, frame, leading[-1] if leading else None


def inspect_run(folder: RunFolder) -> RunCondition:
    """Return the condition of a run folder, after reading all of its files.

    Raises:
        FormatError: the run is of another version of weft.
    """
    run = RunCondition()
    run.manifest = run.read(MANIFEST, folder.manifest)
    mesh = run.read(MESH, folder.mesh)
    run.mesh = mesh is not None
    seals: dict[int, Seal] = {}
    for k in folder.numbers():
        frame = run.read(frame_name(k), partial(folder.sealed_frame, k))
        if frame is not None:
            seals[k] = frame[1]
    if run.manifest is not None:
        run.trajectory, run.after = run.manifest["trajectory"], run.manifest["after"]
        run.mesh = mesh is not None and mesh_digest(mesh) == run.manifest["mesh"].get("content")
        if not run.mesh:
            run.flaws.setdefault(MESH, "of another run")
    elif seals:  # without a manifest, frames name the trajectory
        run.trajectory = seals[max(seals)].run
        run.after = max((k for k, s in seals.items() if s.run != run.trajectory), default=-1)
    run.lines, rest = folder.log.read()
    if b"\n" in rest:
        run.flaws[METRICS] = f"{len(rest)} bytes after line {len(run.lines)} do not belong to it"
    run.digests = {k: digest for line in run.lines for k, digest in line.digests.items()}
    for k, seal in seals.items():
        of_run = k <= run.after or seal.run == run.trajectory
        if of_run and k == 0:  # no line ends frame 0
            run.digests.setdefault(0, seal.digest)
        if of_run and seal.digest == run.digests.get(k):
            run.frames.add(k)
    checkpoint = None
    if folder.files.has(CHECKPOINT):
        checkpoint = run.read(CHECKPOINT, partial(folder.read, CHECKPOINT))
    if checkpoint is None or not _stand_at_checkpoint(run, *checkpoint):
        run.stand_at(max(run.frames, default=-1))
        if checkpoint is None and run.end > 1:
            run.flaws.setdefault(CHECKPOINT, "missing")
        if any(k > run.end + 1 and s.run == run.trajectory for k, s in seals.items()):
            run.flaws.setdefault(METRICS, f"complete only up to frame {max(run.end, 0)}")
    for k in run.missing:
        what = "another frame than the metrics list" if k in seals else "missing"
        run.flaws.setdefault(frame_name(k), what)
    return run


def _stand_at_checkpoint(run: RunCondition, arrays: Arrays, seal: Seal) -> bool:
    """Let the run end at its checkpoint; return False if that is of another trajectory, as after a
    kill in a branch, or if its line of metrics is not there.
    """
    state = RunState.of(arrays)
    if seal.run != run.trajectory or state.frame < run.after:
        run.flaws[CHECKPOINT] = "of another trajectory"
        return False
    line = next((line for line in run.lines if line.sum == seal.metrics), None)
    if seal.metrics and line is None:
        run.flaws[METRICS] = "cut or damaged before the last step"
        return False
    run.state, run.end, run.line = state, state.frame, line
    return True


def open_run(
    folder: RunFolder,
    manifest: Json,
    mesh: Arrays,
    *,
    resume: bool = False,
    branch_at: int | None = None,
) -> RunCondition:
    """Prepare a folder in which a run begins, is resumed, or branches off.

    Args:
        folder: the folder of the run.
        manifest: the manifest of the scene, which replaces the one on disk.
        mesh: arrays of ``mesh.npz``, written again if they are damaged.
        resume: continue the run in the folder at its last state, if there is one.
        branch_at: number of the frame from which the run continues, also with a changed scene.

    Raises:
        RunError: the folder holds a run, or the remains of one, and is not to be resumed; its run
            is of another scene or mesh; the frame to branch off, or metrics before it, is damaged.
    """
    found = folder.remains()
    if found and not resume and branch_at is None:
        raise RunError(
            "run folder",
            got=f"{', '.join(found)} of a run" + ("" if MANIFEST in found else f", no {MANIFEST}"),
            where=folder.path,
            expected="a folder without a run",
            hint="`resume=True` continues or repairs a run of this scene; or choose another with "
            "`out=`",
        )
    swept = folder.sweep()
    run = inspect_run(folder) if found else RunCondition()
    trajectory, old = manifest["trajectory"], run.manifest
    if branch_at is not None:
        _check_branch(folder, run, branch_at)
        if trajectory != run.trajectory or branch_at < run.after:
            run.after = branch_at
        run.stand_at(branch_at)
    elif run.trajectory not in ("", trajectory):
        _refuse(folder, "a run of another scene", old, manifest)
    if old is not None and old["mesh"].get("rest") != manifest["mesh"]["rest"]:
        _refuse(folder, "a run of another mesh, another scene", old, manifest)
    flaws = [f"{name}: {what}" for name, what in run.flaws.items()]
    run.messages = [f"damaged: {abbreviate(flaws, MOST_LISTED)}"] if flaws else []
    run.messages += [f"removed {name}, left by a killed process" for name in swept]
    _continue(folder, run, manifest, mesh)
    return run


def _check_branch(folder: RunFolder, run: RunCondition, frame: int) -> None:
    folder.sealed_frame(frame)  # raises an error if the frame is damaged
    for name, intact in ((MANIFEST, run.manifest), (frame_name(frame), frame in run.frames)):
        if not intact:
            raise folder.files.damage_error(name, run.flaws.get(name, "a frame without metrics"))


def _continue(folder: RunFolder, run: RunCondition, manifest: Json, mesh: Arrays) -> None:
    """Write the manifest, and let the run stand at its end.

    A new manifest is a branch, which stands at the frame ``end`` before its checkpoint is written.
    The checkpoint is written before lines and frames after it are dropped, so that a process that
    is killed in between leaves a run that can be resumed.
    """
    folder.files.make(FRAMES)
    if not run.mesh:
        folder.write(MESH, mesh)
    elif run.manifest is not None:
        manifest["mesh"] = run.manifest["mesh"]  # of the first scene, if this is a branch
    run.trajectory, manifest["after"] = manifest["trajectory"], run.after
    folder.write_manifest(manifest)
    if run.state is None and run.end >= 0:
        run.state = RunState.of(folder.frame(run.end))
        total = "" if run.line is None else run.line.sum
        folder.write(CHECKPOINT, run.state.arrays(), run.trajectory, total)
    if run.state is None:
        folder.files.remove(CHECKPOINT)
    folder.log.cut_after(run.line)
    folder.drop_frames_after(run.end)


def _refuse(folder: RunFolder, got: str, old: Json | None, new: Json) -> NoReturn:
    """Raise the error that the folder holds a run of another scene."""
    changed = ["the values of its frames"]
    if old is not None:
        changed = differences(old["scene"], new["scene"]) or ["fps, step or mesh"]
    raise RunError(
        "run folder",
        got=f"{got} (differs in: {abbreviate(changed)})",
        where=folder.path,
        expected="a run of this scene",
        hint="choose another folder with `out=`, or branch off a frame with `from_frame=K`",
    )
