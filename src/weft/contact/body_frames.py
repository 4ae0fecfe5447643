"""Deforming bodies: a sequence of positions, from files."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.arrays import Faces, Floats, Positions
from weft.errors import SceneError
from weft.io import read_surface
from weft.io.archive import read_npz


@dataclass(frozen=True, eq=False)
class BodyFrames:
    """Positions of a body's vertices at certain times, linear between them.

    Args:
        times: (k,) [s], increasing.
        positions: (k,b,3) [m].
        hold: stay at the last frame for as long as the run lasts.

    Raises:
        SceneError: times that do not increase, positions that are not finite, or another number of
            them.
    """

    times: Floats
    positions: Floats
    hold: bool = False

    def __post_init__(self) -> None:
        times = np.asarray(self.times, dtype=np.float64)
        x = np.asarray(self.positions, dtype=np.float64)
        if times.ndim != 1 or len(times) == 0 or (np.diff(times) <= 0).any():
            raise SceneError("frame times", got=times[:5].tolist(), expected="increasing [s]")
        if x.ndim != 3 or x.shape[0] != len(times) or x.shape[2] != 3:
            raise SceneError(
                "frame positions", got=x.shape, expected=f"({len(times)}, vertices, 3) [m]"
            )
        bad = np.flatnonzero(~np.isfinite(x).all((1, 2)))
        if len(bad):
            raise SceneError(f"frame {bad[0]}", got="positions that are not finite", expected="[m]")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "positions", x)

    def at(self, t: float) -> Positions:
        """(b,3) [m] at time t; the first and last frames before and after."""
        k = int(np.searchsorted(self.times, t, side="right"))
        if k == 0 or k == len(self.times):
            return np.asarray(self.positions[min(k, len(self.times) - 1)])
        s = (t - self.times[k - 1]) / (self.times[k] - self.times[k - 1])
        return np.asarray((1 - s) * self.positions[k - 1] + s * self.positions[k])

    def check_until(self, end: float, name: str) -> None:
        """That there are frames until the end of a run [s].

        Raises:
            SceneError: they end before.
        """
        if not self.hold and self.times[-1] < end * (1 - 1e-9):
            raise SceneError(
                f"{name}.frames",
                got=f"a last frame at {self.times[-1]:g} s",
                expected=f"one at {end:g} s or later, where the run ends",
                hint="or say `hold: true` to stay at the last one",
            )


def load_frames(
    pattern: str | Path,
    fps: float,
    *,
    scale: float | None = None,
    start: float = 0.0,
    hold: bool = False,
    name: str = "body",
) -> tuple[BodyFrames, Faces]:
    """Frames and triangles from numbered files, or from one array file.

    Args:
        pattern: files such as ``walk_*.obj`` (or .ply), in the order of their last number; or one
            .npz with ``positions`` (k,b,3) and ``faces`` (m,3).
        fps: frames a second.
        scale: meters per unit; None: 1.
        start: [s] time of the first frame.
        hold: stay at the last frame for as long as the run lasts.
        name: for messages.

    Raises:
        SceneError: no files, numbers with gaps, or frames whose triangles differ. MeshError: a file
            that cannot be read.
    """
    if not (np.isfinite(fps) and fps > 0):
        raise SceneError(f"{name}.fps", got=fps, expected="must be > 0 [1/s]")
    path = Path(pattern)
    if path.suffix.lower() == ".npz":
        positions, faces = _array_file(path, name)
    else:
        positions, faces = _numbered_files(path, name)
    times = start + np.arange(len(positions)) / fps
    return BodyFrames(times, (1.0 if scale is None else scale) * positions, hold), faces


def _array_file(path: Path, name: str) -> tuple[Floats, Faces]:
    expected = "an .npz with positions (k,b,3) and faces (m,3)"
    arrays = read_npz(path, what=f"{name}.frames", expected=expected, error=SceneError)
    if not {"positions", "faces"} <= arrays.keys():
        raise SceneError(
            f"{name}.frames", got=sorted(arrays), expected=expected, where=str(path)
        )  # fmt: skip
    positions, faces = arrays["positions"], arrays["faces"]
    kinds = positions.dtype.kind in "fiu" and faces.dtype.kind in "iu"
    shapes = positions.ndim == 3 and faces.ndim == 2
    if not (kinds and shapes and positions.shape[2] == 3 and faces.shape[1] == 3):
        got = f"positions {positions.shape} and faces {faces.shape} of {faces.dtype}"
        raise SceneError(f"{name}.frames", got=got, expected=expected, where=str(path))
    if len(faces) and not 0 <= int(faces.min()) <= int(faces.max()) < positions.shape[1]:
        expected = f"faces with ids from 0 to {positions.shape[1] - 1}"
        raise SceneError(f"{name}.frames", got=int(faces.max()), expected=expected, where=str(path))
    return positions.astype(np.float64), faces.astype(np.int32)


def _numbered_files(path: Path, name: str) -> tuple[Floats, Faces]:
    numbered = []
    for found in path.parent.glob(path.name):
        digits = re.findall(r"\d+", found.stem)
        if digits:
            numbered.append((int(digits[-1]), found))
    numbered.sort()
    if not numbered:
        raise SceneError(
            f"{name}.frames", got=f"no numbered file {path.name}", where=str(path.parent),
            expected="files such as walk_0001.obj, named as walk_*.obj",
        )  # fmt: skip
    numbers = [n for n, _ in numbered]
    missing = sorted(set(range(numbers[0], numbers[-1] + 1)) - set(numbers))
    if missing or len(set(numbers)) < len(numbers):
        what = f"no file numbered {missing[0]}" if missing else "two files with one number"
        raise SceneError(
            f"{name}.frames", got=what, where=str(path.parent),
            expected=f"every number from {numbers[0]} to {numbers[-1]} once",
        )  # fmt: skip
    positions: list[Positions] = []
    first: Faces | None = None
    for _, file in numbered:
        x, faces = read_surface(file)
        if first is None:
            first = faces
        other = faces.shape != first.shape or bool((faces != first).any())
        if other or len(x) != len((positions or [x])[0]):
            raise SceneError(
                f"{name}.frames", where=str(file),
                got=f"{len(x)} vertices and {len(faces)} faces, not those of the first file",
                expected="the same triangles in every frame",
                hint="export without changing the topology",
            )  # fmt: skip
        positions.append(x)
    assert first is not None
    return np.stack(positions), first
