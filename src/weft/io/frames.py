"""The folder of a run on disk: manifest, mesh, frames, checkpoint and metrics.

Every file is always whole, sealed (``io.seal``), and opened without following links
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
from typing import Any

from weft.base.arrays import Json
from weft.base.errors import RunError
from weft.io.inside import Inside
from weft.io.lock import Lock
from weft.io.manifest import NAME as MANIFEST
from weft.io.manifest import read_manifest, write_manifest
from weft.io.metrics import Metrics
from weft.io.seal import Seal, SealError, content_of, read_sealed, write_sealed
from weft.io.shapes import check_shapes

Arrays = Mapping[str, Any]
MESH, CHECKPOINT, FRAMES, FAILED = "mesh.npz", "checkpoint.npz", "frames", "failed"
LEFT = re.compile(r"\..{1,80}\.[0-9a-f]+\.tmp")  # files of processes that were killed in writing
_NUMBER = re.compile(r"(\d{6,8})\.npz")


class RunFolder:
    """The files of one run.

    Args:
        path: the folder; ``create`` makes it.
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
        return frames + [n for n in (CHECKPOINT, "metrics.jsonl") if self.inside.has(n)]

    def create(self, manifest: Json, mesh: Arrays) -> None:
        """Start a run: write the mesh, then the manifest.

        Args:
            manifest: description of the run.
            mesh: arrays of the mesh.

        Raises:
            RunError: the folder cannot be made or written.
        """
        self.inside.make(FRAMES)
        self.write_mesh(mesh)
        self.write_manifest(manifest)

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

    def write_manifest(self, manifest: Json) -> None:
        """Replace the manifest."""
        write_manifest(self.inside, manifest)

    def manifest(self) -> Json:
        """Return the manifest.

        Raises:
            RunError: it is missing or damaged.
        """
        return read_manifest(self.inside)

    def write_mesh(self, arrays: Arrays) -> None:
        """Replace the mesh."""
        self._save(MESH, arrays, Seal("mesh", "", 0, mesh_digest(arrays)))

    def mesh(self) -> dict[str, Any]:
        """Return the arrays of the mesh: faces, corner_uv, vertices.

        Raises:
            RunError: it is missing or damaged.
        """
        return self._load(MESH, "mesh", 0)[0]

    def numbers(self) -> list[int]:
        """Return the numbers of all frames on disk, ascending."""
        matches = map(_NUMBER.fullmatch, self.inside.listing(FRAMES))
        return sorted(int(m[1]) for m in matches if m and f"{int(m[1]):06d}" == m[1])

    def frames(self) -> list[int]:
        """Return the numbers of the frames on disk, ascending, from 0 up to the first gap."""
        numbers = self.numbers()
        return [k for i, k in enumerate(numbers) if i == k]

    def write_frame(self, number: int, arrays: Arrays, seal: Seal | None = None) -> None:
        """Write a frame.

        Args:
            number: of the frame.
            arrays: x (N,3) [m], v (N,3) [m/s], t [s], frame, step, count, and others of the
                integrator.
            seal: None: one without trajectory and parent.
        """
        given = seal or Seal("frame", "", number, content_of(arrays, "frame", "", number))
        self._save(frame_name(number), arrays, given)

    def frame(self, number: int) -> dict[str, Any]:
        """Return the arrays of a frame: x, v, t, and others that the integrator stores.

        Raises:
            RunError: no such frame, or a damaged one.
        """
        return self.sealed_frame(number)[0]

    def sealed_frame(self, number: int) -> tuple[dict[str, Any], Seal]:
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

    def drop_frames_after(self, number: int) -> None:
        """Remove the frames after ``number``, the last one first, so that a kill leaves no gap."""
        for k in reversed(self.numbers()):
            if k > number:
                self.inside.remove(frame_name(k))

    def write_checkpoint(self, arrays: Arrays, seal: Seal, *, fsync: bool) -> None:
        """Replace the checkpoint.

        Args:
            arrays: the full state of the solver.
            seal: of the arrays.
            fsync: flush the file to the disk, if the folder's files are to be flushed.
        """
        self._save(CHECKPOINT, arrays, seal, fsync=fsync and self.inside.fsync)

    def checkpoint(self) -> tuple[dict[str, Any], Seal] | None:
        """Return the checkpoint and its seal, or None before the first step.

        Raises:
            RunError: it is damaged.
        """
        return self._load(CHECKPOINT, "checkpoint") if self.inside.has(CHECKPOINT) else None

    def drop_checkpoint(self) -> None:
        """Remove the checkpoint."""
        self.inside.remove(CHECKPOINT)

    def metrics(self) -> list[Json]:
        """Return the records of all complete lines of the metrics.

        Raises:
            RunError: a line is damaged.
        """
        return self.records.lines()

    def save_failure(self, name: str, arrays: Arrays, report: Json) -> Path:
        """Write the state before a step that failed, and a report; return the path of the state.

        Args:
            name: of the two files, without suffix.
            arrays: the state.
            report: description of the failure.
        """
        self.inside.make(FAILED)
        seal = Seal("failure", "", 0, content_of(arrays, "failure", "", 0))
        self._save(f"{FAILED}/{name}.npz", arrays, seal)
        with self.inside.writing(f"{FAILED}/{name}.json") as file:
            file.write(json.dumps(report, indent=2).encode() + b"\n")
        return self.path / FAILED / f"{name}.npz"

    def _save(self, name: str, arrays: Arrays, seal: Seal, fsync: bool | None = None) -> None:
        with self.inside.writing(name, fsync=fsync) as file:
            write_sealed(file, arrays, seal)

    def _load(self, name: str, kind: str, number: int | None = None) -> tuple[dict[str, Any], Seal]:
        """Return the arrays and the seal of a file, after checking its kind and number."""
        try:
            with self.inside.reading(name) as file:
                arrays, seal = read_sealed(file)
            if seal.kind != kind or number not in (None, seal.frame):
                raise SealError(f"holds {seal.kind} {seal.frame}")
            check_shapes(arrays, kind)
            return arrays, seal
        except FileNotFoundError:
            got = "missing"
        except (OSError, SealError) as error:
            got = getattr(error, "strerror", None) or str(error)
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


def mesh_digest(arrays: Arrays) -> str:
    """Return the digest of a run's mesh."""
    return content_of(arrays, "mesh", "", 0)
