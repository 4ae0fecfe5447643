"""A run on disk: manifest, mesh, frames, checkpoint and metrics. Every file is always whole.

manifest.json      scene, versions, frame rate
mesh.npz           faces and material coordinates
frames/000001.npz  positions, velocities, time
metrics.jsonl      one line a step
checkpoint.npz     the full solver state after the last step
"""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from weft.arrays import Json
from weft.errors import RunError
from weft.io.files import atomic_write

Arrays = Mapping[str, Any]


class RunFolder:
    """The files of one run.

    Args:
        path: the folder; made by ``create``.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

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
        return self._manifest.is_file()

    def create(self, manifest: Json, mesh: Arrays) -> None:
        """Start a run: the mesh, then the manifest.

        Raises:
            RunError: the folder holds something else, or cannot be written.
        """
        try:
            self._frames.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise RunError(
                "cannot make run folder",
                got=error.strerror,
                where=str(self.path),
                hint="choose another folder with --out",
            ) from error
        self._save(self.path / "mesh.npz", mesh)
        self.write_manifest(manifest)

    def clear(self) -> None:
        """Remove the run, manifest first; other files in the folder stay."""
        self._manifest.unlink(missing_ok=True)
        self.drop_checkpoint()
        self.drop_frames_after(-1)
        self._metrics.unlink(missing_ok=True)

    def write_manifest(self, manifest: Json) -> None:
        """Replace the manifest."""
        with atomic_write(self._manifest) as file:
            file.write(json.dumps(manifest, indent=2).encode() + b"\n")

    def manifest(self) -> Json:
        """The manifest.

        Raises:
            RunError: damaged.
        """
        try:
            result: Json = json.loads(self._manifest.read_text())
        except (OSError, ValueError) as error:
            raise RunError(
                "manifest.json",
                got=str(error),
                where=str(self.path),
                expected="what weft wrote",
                hint="start again in a new folder",
            ) from error
        return result

    def mesh(self) -> dict[str, Any]:
        """faces, corner_uv, vertices."""
        return self._load(self.path / "mesh.npz")

    def frames(self) -> list[int]:
        """Numbers of the frames on disk, ascending, without a gap from 0 on."""
        numbers = {int(p.stem) for p in self._frames.glob("[0-9]*.npz") if p.stem.isdigit()}
        count = 0
        while count in numbers:
            count += 1
        return list(range(count))

    def write_frame(self, number: int, arrays: Arrays) -> None:
        """Write frame ``number``."""
        self._save(self._frame(number), arrays)

    def frame(self, number: int) -> dict[str, Any]:
        """Arrays of a frame: x, v, t and what else the integrator keeps.

        Raises:
            RunError: no such frame, or a damaged one.
        """
        if not self._frame(number).is_file():
            last = (self.frames() or [-1])[-1]
            raise RunError("frame", got=number, expected=f"0 to {last}", where=str(self.path))
        return self._load(self._frame(number))

    def drop_frames_after(self, number: int) -> None:
        """Remove later frames, last first, so that a kill leaves no gap."""
        for path in sorted(self._frames.glob("[0-9]*.npz"), reverse=True):
            if path.stem.isdigit() and int(path.stem) > number:
                path.unlink()

    def write_checkpoint(self, arrays: Arrays) -> None:
        """Replace the checkpoint."""
        self._save(self._checkpoint, arrays)

    def checkpoint(self) -> dict[str, Any] | None:
        """The checkpoint, or None before the first step."""
        return self._load(self._checkpoint) if self._checkpoint.is_file() else None

    def drop_checkpoint(self) -> None:
        """Remove the checkpoint."""
        self._checkpoint.unlink(missing_ok=True)

    def append_metrics(self, line: Json) -> int:
        """Append a line; returns the size of the file after it, for the checkpoint.

        Raises:
            RunError: the disk is full.
        """
        try:
            with self._metrics.open("ab") as file:
                file.write(json.dumps(line).encode() + b"\n")
                return file.tell()
        except OSError as error:
            raise RunError(
                "cannot write metrics.jsonl",
                got=error.strerror,
                where=str(self.path),
                hint="free some space, then continue with --resume",
            ) from error

    def truncate_metrics(self, size: int) -> None:
        """Cut metrics.jsonl to its first ``size`` bytes.

        Lines after a checkpoint belong to lost steps.
        """
        if self._metrics.is_file() and self._metrics.stat().st_size > size:
            with self._metrics.open("r+b") as file:
                file.truncate(size)

    def metrics(self) -> list[Json]:
        """All whole lines."""
        if not self._metrics.is_file():
            return []
        lines = self._metrics.read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in lines if line]

    def metrics_size_at(self, frame: int) -> int:
        """Bytes of the lines up to and including those of ``frame``."""
        size = 0
        if self._metrics.is_file():
            for line in self._metrics.read_bytes().splitlines(keepends=True):
                if not line.endswith(b"\n") or json.loads(line)["frame"] > frame:
                    break
                size += len(line)
        return size

    def save_failure(self, name: str, arrays: Arrays, report: Json) -> Path:
        """Keep the state before a step that failed, and how it failed; returns the state's path."""
        folder = self.path / "failed"
        folder.mkdir(exist_ok=True)
        self._save(folder / f"{name}.npz", arrays)
        with atomic_write(folder / f"{name}.json") as file:
            file.write(json.dumps(report, indent=2).encode() + b"\n")
        return folder / f"{name}.npz"

    @property
    def _manifest(self) -> Path:
        return self.path / "manifest.json"

    @property
    def _metrics(self) -> Path:
        return self.path / "metrics.jsonl"

    @property
    def _checkpoint(self) -> Path:
        return self.path / "checkpoint.npz"

    @property
    def _frames(self) -> Path:
        return self.path / "frames"

    def _frame(self, number: int) -> Path:
        return self._frames / f"{number:06d}.npz"

    def _save(self, path: Path, arrays: Arrays) -> None:
        with atomic_write(path) as file:
            np.savez(file, **dict(arrays))

    def _load(self, path: Path) -> dict[str, Any]:
        try:
            with np.load(path, allow_pickle=False) as data:
                return {name: data[name] for name in data.files}
        except (OSError, ValueError, zipfile.BadZipFile) as error:
            raise RunError(
                path.name,
                got=str(error),
                where=str(path.parent),
                expected="what weft wrote",
                hint="delete it and resume: weft continues from the frame before",
            ) from error
