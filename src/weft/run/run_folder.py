"""The folder of a run on disk.

manifest.json      scene, versions, frame rate; the trajectory and the frame where it branched off
mesh.npz           faces and material coordinates
frames/000001.npz  positions, velocities, time at the end of a frame
metrics.jsonl      one line per step; the line that ends a frame has the digest of its file
checkpoint.npz     the full solver state after the last step, and its line of metrics

One process writes, which holds the lock (``weft.io.folder_lock``). Every file is replaced
atomically, and none is read or written through a link (``weft.io.safe_folder``); lines of metrics
are appended. A step is written in this order: the frame if the step ends one, the line of metrics,
the checkpoint. The checkpoint decides how far the run is: lines and frames after it belong to a
step that was interrupted, and are dropped when the run is resumed. A branch of another scene
replaces the manifest, then the checkpoint, and then drops what follows: the new manifest alone is
the branch already, because frames and a checkpoint of a trajectory that it does not name are no
part of the run.

A reader checks, in this order (``weft.run.recovery``):

- the checksum of the manifest, which has the digest of the mesh;
- the checksum of every line of metrics, which covers all lines before it;
- the digest in every frame, which must be the one that the metrics list, and its trajectory, which
  must be that of the manifest, for frames after the branch;
- the digest in the checkpoint, its trajectory, and its line of metrics, which must be there.
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from weft.base.arrays import Arrays, Positions
from weft.base.errors import RunError, error_text
from weft.base.trees import Json, Yaml
from weft.io.files import list_abandoned
from weft.io.folder_lock import FolderLock
from weft.io.safe_folder import SafeFolder
from weft.run.metrics_log import METRICS, MetricsLog
from weft.run.sealed_file import MESH, Seal, SealError, check_arrays, read_sealed, write_sealed

FORMAT = 5  # version of the run folder's layout
MANIFEST, CHECKPOINT = "manifest.json", "checkpoint.npz"
FRAMES, FAILED = "frames", "failed"
LARGEST_MANIFEST = 1 << 28  # [bytes]
_NUMBER = re.compile(r"(\d{6,8})\.npz")


class RunFolder:
    """The files of one run.

    Args:
        path: the folder; it is made when a run begins in it.
        fsync: flush frames, manifest and mesh to the disk before the run goes on, so that they
            survive a loss of power.

    Raises:
        RunError: no path.
    """

    def __init__(self, path: str | Path, *, fsync: bool = True) -> None:
        if not isinstance(path, str | Path) or not str(path).strip():
            raise RunError("run folder", got=repr(path), expected="a path; the current one is '.'")
        self.path = Path(path)
        self.files = SafeFolder(self.path, fsync=fsync)
        self.lock = FolderLock(self.files)
        self.log = MetricsLog(self.files)

    @staticmethod
    def open(path: str | Path) -> "RunFolder":
        """Return the folder of an existing run.

        Raises:
            RunError: there is no run.
        """
        folder = RunFolder(path)
        if not folder.exists():
            raise RunError(
                "run folder",
                got=str(path),
                expected="a folder that `weft run` or `weft demo` made (with a manifest.json)",
            )
        return folder

    def exists(self) -> bool:
        """Return True if a run has been started here."""
        return self.files.has(MANIFEST)

    def remains(self) -> list[str]:
        """Return names of files that a run has: manifest, first frame, checkpoint, metrics."""
        names = (MANIFEST, *map(frame_name, self.numbers()[:1]), CHECKPOINT, METRICS)
        return [name for name in names if self.files.has(name)]

    def clear(self) -> None:
        """Remove the files of the run; other files in the folder stay.

        The manifest is removed last, so that a killed process leaves a run that can be cleared
        again.
        """
        self.files.remove(CHECKPOINT)
        self.drop_frames_after(-1)
        for name in (METRICS, MESH, MANIFEST):
            self.files.remove(name)

    def sweep(self) -> list[str]:
        """Remove temporary files of processes that were killed in writing; return their names."""
        names = [
            f"{folder}/{name}".lstrip("/")
            for folder in ("", FRAMES, FAILED)
            for name in list_abandoned(self.files.names(folder))
        ]
        for name in names:
            self.files.remove(name)
        return names

    def manifest(self) -> Json:
        """Return the manifest.

        Raises:
            RunError: it is missing or damaged. FormatError: it is of another version of weft.
        """
        try:
            with self.files.reader(MANIFEST) as file:
                manifest: Json = json.loads(file.read(LARGEST_MANIFEST))
            version = manifest["format"]
            if version == FORMAT:
                if manifest.pop("sha256", None) != _digest(manifest):
                    raise ValueError("its checksum is not that of its contents")
                _check_fields(manifest)
                return manifest
        except (OSError, ValueError, TypeError, KeyError, RecursionError) as error:
            got = error_text(error) or type(error).__name__
            raise self.files.damage_error(MANIFEST, got) from error
        raise FormatError(
            "run format",
            got=version,
            expected=str(FORMAT),
            where=self.path,
            hint="another version of weft wrote this run: use that version, or start again in "
            "a new folder",
        )

    def write_manifest(self, manifest: Json) -> None:
        """Replace the manifest, with its checksum."""
        with self.files.writer(MANIFEST) as file:
            text = json.dumps({**manifest, "sha256": _digest(manifest)}, indent=2)
            file.write(text.encode() + b"\n")

    def mesh(self) -> Arrays:
        """Return the arrays of the mesh: faces, corner_uv, vertices.

        Raises:
            RunError: it is missing or damaged.
        """
        return self.read(MESH)[0]

    def numbers(self) -> list[int]:
        """Return the numbers of all frames on disk, ascending."""
        matches = map(_NUMBER.fullmatch, self.files.names(FRAMES))
        return sorted(int(m[1]) for m in matches if m and f"{int(m[1]):06d}" == m[1])

    def frame(self, number: int) -> Arrays:
        """Return the arrays of a frame: x, v, t, and others that the integrator stores.

        Raises:
            RunError: no such frame, or a damaged one.
        """
        return self.sealed_frame(number)[0]

    def sealed_frame(self, number: int) -> tuple[Arrays, Seal]:
        """Return the arrays of a frame and its seal.

        Raises:
            RunError: no such frame, or a damaged one.
        """
        if number < 0 or not self.files.has(frame_name(number)):
            last = max(self.numbers(), default=-1)
            missing = 0 <= number < last
            raise RunError(
                "frame",
                got=number,
                expected=f"0 to {last}",
                where=self.path,
                hint="this frame is missing; a run with `resume=True` computes it again"
                if missing
                else None,
            )
        return self.read(frame_name(number))

    def drop_frames_after(self, number: int) -> None:
        """Remove the frames after ``number``, the last one first, so that a kill leaves no gap."""
        for k in reversed(self.numbers()):
            if k > number:
                self.files.remove(frame_name(k))

    def save_failure(
        self, name: str, arrays: Mapping[str, ArrayLike], report: Json, run: str
    ) -> Path:
        """Write the state before a step that failed, and a report; return the path of the state.

        Args:
            name: of the two files, without suffix.
            arrays: the state.
            report: description of the failure.
            run: the trajectory to which it belongs.
        """
        self.files.make(FAILED)
        state = f"{FAILED}/{name}.npz"
        self.write(state, arrays, run)
        with self.files.writer(f"{FAILED}/{name}.json") as file:
            file.write(json.dumps(report, indent=2).encode() + b"\n")
        return self.path / state

    def failure_place(self, frame: int) -> Positions | None:
        """Return the place (1,3) [m] at which the run failed after a frame; None: not known."""
        for name in self.files.names(FAILED):
            if name.endswith(".npz"):
                arrays, seal = self.read(f"{FAILED}/{name}")
                if arrays["frame"] == frame and seal.run == self.manifest()["trajectory"]:
                    return arrays["place"][None] if "place" in arrays else None
        return None

    def write(
        self,
        name: str,
        arrays: Mapping[str, ArrayLike],
        run: str = "",
        metrics: str = "",
        *,
        fsync: bool = True,
    ) -> str:
        """Replace a file of arrays; return its digest, which the line of metrics of a frame lists.

        Args:
            name: of the file.
            arrays: of a frame or checkpoint: x (N,3) [m], v (N,3) [m/s], t [s], frame, step, count,
                and others of the integrator.
            run: the trajectory to which it belongs.
            metrics: checksum of the last line of metrics that leads to a checkpoint.
            fsync: flush the file to the disk, if the folder's files are to be flushed.
        """
        seal = Seal(name, run, metrics).over(arrays)
        with self.files.writer(name, fsync=fsync) as file:
            write_sealed(file, arrays, seal)
        return seal.digest

    def read(self, name: str) -> tuple[Arrays, Seal]:
        """Return the arrays of a mesh, frame or checkpoint, and its seal.

        Raises:
            RunError: it is missing or damaged, or another file is in its place. FormatError: the
                run is of another version of weft.
        """
        try:
            with self.files.reader(name) as file:
                arrays, seal = read_sealed(file)
            if seal.name != name:
                raise SealError(f"holds {seal.name}")
            check_arrays(arrays, name)
        except (OSError, SealError) as error:
            self._check_format()
            got = error_text(error)
            raise self.files.damage_error(name, got) from error
        return arrays, seal

    def _check_format(self) -> None:
        """Raise a FormatError if the run is of another version; another flaw is not told here."""
        try:
            self.manifest()
        except FormatError:
            raise
        except RunError:
            return


class FormatError(RunError):
    """A run folder of another version of weft."""


def frame_name(number: int) -> str:
    """Return the name of a frame's file in the run folder: ``frames/000001.npz``."""
    return f"{FRAMES}/{number:06d}.npz"


def mesh_digest(arrays: Mapping[str, ArrayLike]) -> str:
    """Return the digest of a run's mesh."""
    return Seal(MESH).over(arrays).digest


def trajectory_id(identity: Yaml) -> str:
    """Return an identifier of everything on which a trajectory depends: scene, frame rate, steps.

    Equal numbers give the same identifier, whether they are written as 30 or as 30.0.
    """
    return _digest(_with_integers(identity))[:32]


def _with_integers(tree: Yaml) -> Yaml:
    """Return a plain tree with whole numbers as integers."""
    if isinstance(tree, Mapping):
        return {k: _with_integers(v) for k, v in tree.items()}
    if isinstance(tree, list | tuple):
        return [_with_integers(v) for v in tree]
    return int(tree) if isinstance(tree, float) and tree.is_integer() else tree


def _digest(tree: Yaml) -> str:
    return hashlib.sha256(json.dumps(tree, sort_keys=True).encode()).hexdigest()


def _check_fields(manifest: Json) -> None:
    """Raise a ValueError unless a manifest has its fields, with values of the right types."""
    kinds = {"scene": dict, "description": dict, "mesh": dict, "trajectory": str, "after": int}
    for name, kind in {**kinds, "fps": int | float}.items():
        if not isinstance(manifest.get(name), kind):
            raise ValueError(f"{name} is of another type")
    if not 0 < manifest["fps"] < math.inf:
        raise ValueError(f"fps is {manifest['fps']}")
