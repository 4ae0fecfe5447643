"""The folder of a run on disk: manifest, mesh, frames, checkpoint and metrics.

Every file is always whole, sealed (``run.seal``), and opened without following links
(``io.inside``); only one process writes (``io.lock``).

manifest.json      scene, versions, frame rate, trajectory
mesh.npz           faces and material coordinates
frames/000001.npz  positions, velocities, time
metrics.jsonl      one line per step
checkpoint.npz     the full solver state after the last step
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from numpy.typing import ArrayLike

from weft.base.arrays import Arrays
from weft.base.errors import RunError
from weft.base.trees import Json
from weft.io.inside import Inside
from weft.io.lock import Lock
from weft.run.manifest import NAME as MANIFEST
from weft.run.manifest import read_manifest, write_manifest
from weft.run.metrics import NAME as METRICS
from weft.run.metrics import Metrics
from weft.run.seal import Seal, SealError, content_of, read_sealed, write_sealed

MESH, CHECKPOINT, FRAMES, FAILED = "mesh.npz", "checkpoint.npz", "frames", "failed"
LEFT = re.compile(r"\..{1,80}\.[0-9a-f]+\.tmp")  # files of processes that were killed in writing
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
        self.inside = Inside(self.path, fsync=fsync)
        self.lock = Lock(self.inside)
        self.records = Metrics(self.inside)

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
        return self.inside.has(MANIFEST)

    def remains(self) -> list[str]:
        """Return names of files that a run has besides its manifest: first frame, checkpoint,
        metrics.
        """
        frames = [frame_name(k) for k in self.numbers()[:1]]
        return frames + [n for n in (CHECKPOINT, METRICS) if self.inside.has(n)]

    def clear(self) -> None:
        """Remove the files of the run; other files in the folder stay.

        The manifest is removed last, so that a killed process leaves a run that can be cleared
        again.
        """
        self.inside.remove(CHECKPOINT)
        self.drop_frames_after(-1)
        self.records.remove()
        self.inside.remove(MESH)
        self.inside.remove(MANIFEST)

    def sweep(self) -> list[str]:
        """Remove temporary files of processes that were killed in writing; return their names."""
        swept = []
        for folder in ("", FRAMES, FAILED):
            for name in filter(LEFT.fullmatch, self.inside.listing(folder)):
                self.inside.remove(f"{folder}/{name}" if folder else name)
                swept.append(name)
        return swept

    def manifest(self) -> Json:
        """Return the manifest.

        Raises:
            RunError: it is missing or damaged.
        """
        return read_manifest(self.inside)

    def write_manifest(self, manifest: Json) -> None:
        """Replace the manifest."""
        write_manifest(self.inside, manifest)

    def mesh(self) -> Arrays:
        """Return the arrays of the mesh: faces, corner_uv, vertices.

        Raises:
            RunError: it is missing or damaged.
        """
        return self._load(MESH, "mesh", 0)[0]

    def write_mesh(self, arrays: Mapping[str, ArrayLike]) -> None:
        """Replace the mesh."""
        self._save(MESH, arrays, Seal("mesh", "", 0, mesh_digest(arrays)))

    def numbers(self) -> list[int]:
        """Return the numbers of all frames on disk, ascending."""
        matches = map(_NUMBER.fullmatch, self.inside.listing(FRAMES))
        return sorted(int(m[1]) for m in matches if m and f"{int(m[1]):06d}" == m[1])

    def frames(self) -> list[int]:
        """Return the numbers of the frames on disk, ascending, from 0 up to the first gap."""
        return [k for i, k in enumerate(self.numbers()) if i == k]

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
        if number < 0 or not self.inside.has(frame_name(number)):
            last = (self.numbers() or [-1])[-1]
            missing = 0 <= number < last
            raise RunError(
                "frame",
                got=number,
                expected=f"0 to {last}",
                where=str(self.path),
                hint="it is missing; `weft run ... --resume` computes it anew" if missing else None,
            )
        return self._load(frame_name(number), "frame", number)

    def write_frame(
        self,
        number: int,
        arrays: Mapping[str, ArrayLike],
        run: str = "",
        parent: str = "",
        *,
        anew: bool = False,
    ) -> str:
        """Write a frame, and return the digest of its content.

        Args:
            number: of the frame.
            arrays: x (N,3) [m], v (N,3) [m/s], t [s], frame, step, count, and others of the
                integrator.
            run: the trajectory to which it belongs.
            parent: digest of the content of the frame before.
            anew: the frame was missing, and the metrics already contain the steps after it.
        """
        size = self.records.size_at(number) if anew else None
        seal = self._seal("frame", arrays, run, number, parent, size)
        self._save(frame_name(number), arrays, seal)
        return seal.content

    def drop_frames_after(self, number: int) -> None:
        """Remove the frames after ``number``, the last one first, so that a kill leaves no gap."""
        for k in reversed(self.numbers()):
            if k > number:
                self.inside.remove(frame_name(k))

    def checkpoint(self) -> tuple[Arrays, Seal] | None:
        """Return the checkpoint and its seal, or None before the first step.

        Raises:
            RunError: it is damaged.
        """
        return self._load(CHECKPOINT, "checkpoint") if self.inside.has(CHECKPOINT) else None

    def write_checkpoint(
        self,
        arrays: Mapping[str, ArrayLike],
        run: str,
        frame: int,
        parent: str,
        *,
        fsync: bool,
        size: int | None = None,
    ) -> None:
        """Replace the checkpoint.

        Args:
            arrays: the full state of the solver.
            run: the trajectory to which it belongs.
            frame: number of the last complete frame.
            parent: digest of the content of this frame.
            fsync: flush the file to the disk, if the folder's files are to be flushed.
            size: [bytes] of the metrics that lead to this state; None: all.
        """
        seal = self._seal("checkpoint", arrays, run, frame, parent, size)
        self._save(CHECKPOINT, arrays, seal, fsync=fsync and self.inside.fsync)

    def drop_checkpoint(self) -> None:
        """Remove the checkpoint."""
        self.inside.remove(CHECKPOINT)

    def metrics(self) -> list[Json]:
        """Return the records of all complete lines of the metrics.

        Raises:
            RunError: a line is damaged.
        """
        return self.records.lines()

    def save_failure(self, name: str, arrays: Mapping[str, ArrayLike], report: Json) -> Path:
        """Write the state before a step that failed, and a report; return the path of the state.

        Args:
            name: of the two files, without suffix.
            arrays: the state.
            report: description of the failure.
        """
        self.inside.make(FAILED)
        state = f"{FAILED}/{name}.npz"
        self._save(state, arrays, Seal("failure", "", 0, content_of(arrays, "failure", "", 0)))
        with self.inside.writing(f"{FAILED}/{name}.json") as file:
            file.write(json.dumps(report, indent=2).encode() + b"\n")
        return self.path / state

    def _seal(
        self,
        kind: str,
        arrays: Mapping[str, ArrayLike],
        run: str,
        frame: int,
        parent: str,
        size: int | None,
    ) -> Seal:
        """Return the seal of arrays that follow the first ``size`` bytes of the metrics."""
        digest = "" if size is None else self.records.digest_at(size)
        place = self.records.place() if size is None else (size, digest)
        return Seal(kind, run, frame, content_of(arrays, kind, run, frame), parent, *place)

    def _save(
        self, name: str, arrays: Mapping[str, ArrayLike], seal: Seal, fsync: bool | None = None
    ) -> None:
        with self.inside.writing(name, fsync=fsync) as file:
            write_sealed(file, arrays, seal)

    def _load(self, name: str, kind: str, number: int | None = None) -> tuple[Arrays, Seal]:
        """Return the arrays and the seal of a file, after checking its kind and number."""
        try:
            with self.inside.reading(name) as file:
                arrays, seal = read_sealed(file)
            if seal.kind == kind and number in (None, seal.frame):
                return arrays, seal
            got = f"holds {seal.kind} {seal.frame}"
        except (OSError, SealError) as error:
            missing = isinstance(error, FileNotFoundError)
            got = "missing" if missing else getattr(error, "strerror", None) or str(error)
        raise RunError(
            name,
            got=got,
            where=str(self.path),
            expected="what weft wrote",
            hint="`weft doctor` says what else is; `weft run ... --resume` repairs it",
        )


def frame_name(number: int) -> str:
    """Return the name of a frame's file in the run folder: ``frames/000001.npz``."""
    return f"{FRAMES}/{number:06d}.npz"


def mesh_digest(arrays: Mapping[str, ArrayLike]) -> str:
    """Return the digest of a run's mesh."""
    return content_of(arrays, "mesh", "", 0)
