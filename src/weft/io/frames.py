"""A run on disk: manifest, mesh, frames, checkpoint and metrics. Every file is always whole, sealed
(``io.seal``), and opened without following links (``io.inside``); one process writes (``io.lock``).

manifest.json      scene, versions, frame rate, trajectory
mesh.npz           faces and material coordinates
frames/000001.npz  positions, velocities, time
metrics.jsonl      one line a step
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
LEFT = re.compile(r"\..{1,80}\.[0-9a-f]+\.tmp")  # by a process that was killed while it wrote
_NUMBER = re.compile(r"(\d{6,8})\.npz")


class RunFolder:
    """The files of one run.

    Args:
        path: the folder; made by ``create``.
        fsync: have frames, manifest and mesh on the disk itself before the run goes on, so that
            they outlast a loss of power.
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
        """An existing run.

        Raises:
            RunError: no run there.
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
        """True where a run has been started here."""
        return self.inside.has(MANIFEST)

    def remains(self) -> list[str]:
        """What a run leaves besides its manifest: frames, checkpoint, metrics."""
        frames = [frame_name(k) for k in self.numbers()[:1]]
        return frames + [n for n in (CHECKPOINT, "metrics.jsonl") if self.inside.has(n)]

    def create(self, manifest: Json, mesh: Arrays) -> None:
        """Start a run: the mesh, then the manifest.

        Raises:
            RunError: the folder holds something else, or cannot be written.
        """
        self.inside.make(FRAMES)
        self.write_mesh(mesh)
        self.write_manifest(manifest)

    def clear(self) -> None:
        """Remove the run, manifest last: a kill leaves a run that can be cleared again. Other files
        in the folder stay.
        """
        self.inside.remove(CHECKPOINT)
        self.drop_frames_after(-1)
        self.records.remove()
        self.inside.remove(MESH)
        self.inside.remove(MANIFEST)

    def sweep(self) -> list[str]:
        """Remove what processes left that were killed while they wrote; returns the names."""
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
        """The manifest.

        Raises:
            RunError: damaged.
        """
        return read_manifest(self.inside)

    def write_mesh(self, arrays: Arrays) -> None:
        """Replace the mesh."""
        self._save(MESH, arrays, Seal("mesh", "", 0, mesh_digest(arrays)))

    def mesh(self) -> dict[str, Any]:
        """faces, corner_uv, vertices.

        Raises:
            RunError: damaged.
        """
        return self._load(MESH, "mesh", 0)[0]

    def numbers(self) -> list[int]:
        """Numbers of all frames on disk, ascending."""
        matches = map(_NUMBER.fullmatch, self.inside.listing(FRAMES))
        return sorted(int(m[1]) for m in matches if m and f"{int(m[1]):06d}" == m[1])

    def frames(self) -> list[int]:
        """Numbers of the frames on disk, ascending, without a gap from 0 on."""
        numbers = self.numbers()
        return [k for i, k in enumerate(numbers) if i == k]

    def write_frame(self, number: int, arrays: Arrays, seal: Seal | None = None) -> None:
        """Write frame ``number``."""
        given = seal or Seal("frame", "", number, content_of(arrays, "frame", "", number))
        self._save(frame_name(number), arrays, given)

    def frame(self, number: int) -> dict[str, Any]:
        """Arrays of a frame: x, v, t and what else the integrator keeps.

        Raises:
            RunError: no such frame, or a damaged one.
        """
        return self.sealed_frame(number)[0]

    def sealed_frame(self, number: int) -> tuple[dict[str, Any], Seal]:
        """A frame's arrays and its seal.

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
        """Remove later frames, last first, so that a kill leaves no gap."""
        for k in reversed(self.numbers()):
            if k > number:
                self.inside.remove(frame_name(k))

    def write_checkpoint(self, arrays: Arrays, seal: Seal, *, fsync: bool) -> None:
        """Replace the checkpoint."""
        self._save(CHECKPOINT, arrays, seal, fsync=fsync and self.inside.fsync)

    def checkpoint(self) -> tuple[dict[str, Any], Seal] | None:
        """The checkpoint and its seal, or None before the first step.

        Raises:
            RunError: damaged.
        """
        return self._load(CHECKPOINT, "checkpoint") if self.inside.has(CHECKPOINT) else None

    def drop_checkpoint(self) -> None:
        """Remove the checkpoint."""
        self.inside.remove(CHECKPOINT)

    def metrics(self) -> list[Json]:
        """All whole lines.

        Raises:
            RunError: a line that is damaged.
        """
        return self.records.lines()

    def save_failure(self, name: str, arrays: Arrays, report: Json) -> Path:
        """Keep the state before a step that failed, and how it failed; returns the state's path."""
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
        """A file of that kind (and number)."""
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
    """``frames/000001.npz``."""
    return f"{FRAMES}/{number:06d}.npz"


def mesh_digest(arrays: Arrays) -> str:
    """Digest of a run's mesh."""
    return content_of(arrays, "mesh", "", 0)
