"""Deforming bodies: sequences of vertex positions, read from files."""

import re
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated

import numpy as np

from weft.base.arrays import ArrayOf, Faces, Floats, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Rate, Size, Time
from weft.discretization.correspondence import find_mismatch
from weft.discretization.mesh import have_same_sides
from weft.io import read_surface
from weft.io.archive import read_npz


@checked(SceneError, "frames", unchecked=("at",))
@dataclass(frozen=True, eq=False)
class BodyFrames:
    """Positions of a body's vertices at certain times, with linear interpolation between them.

    Args:
        times: (k,) [s], increasing.
        positions: (k,b,3) [m].
        hold: keep the last frame until the run ends.

    Raises:
        SceneError: times do not increase, positions are not finite, or their numbers differ.
    """

    times: Annotated[Floats, ArrayOf("numbers", ((None,),), "s")]
    positions: Annotated[Floats, ArrayOf("numbers", ((None, None, 3),), "m")]
    hold: bool = False

    def __post_init__(self) -> None:
        times, x = self.times, self.positions
        if len(times) == 0 or (np.diff(times) <= 0).any():
            raise SceneError("frames.times", got=times[:5].tolist(), expected="increasing [s]")
        if len(x) != len(times):
            raise SceneError(
                "frames.positions", got=x.shape, expected=f"({len(times)}, vertices, 3) [m]"
            )

    def at(self, t: float) -> Positions:
        """Return the positions (b,3) [m] at time t [s]; outside of all frames, the first or last
        ones.
        """
        k = int(np.searchsorted(self.times, t, side="right"))
        if k == 0 or k == len(self.times):
            return np.asarray(self.positions[min(k, len(self.times) - 1)])
        s = (t - self.times[k - 1]) / (self.times[k] - self.times[k - 1])
        return np.asarray((1 - s) * self.positions[k - 1] + s * self.positions[k])

    def check_until(self, end: float, name: str, where: str = "") -> None:
        """Check that there are frames until the end of a run [s].

        Raises:
            SceneError: the frames end before.
        """
        if not self.hold and self.times[-1] < end * (1 - 1e-9):
            raise SceneError(
                f"{name}.frames",
                got=f"a last frame at {self.times[-1]:g} s",
                expected=f"a frame at {end:g} s or later, when the run ends",
                where=where or None,
                hint="write `hold: true` to stay at the last frame",
            )


@checked(SceneError)
def load_frames(
    pattern: str | Path,
    fps: Rate | None = None,
    *,
    scale: Size | None = None,
    start: Time = 0.0,
    hold: bool = False,
    name: str = "body",
) -> tuple[BodyFrames, Faces]:
    """Load frames and triangles from numbered mesh files, or from one array file.

    Args:
        pattern: files such as ``walk_*.obj`` (or .ply), in the order of the last number in their
            names; or one .npz with ``positions`` (k,b,3), ``faces`` (m,3) and optionally ``times``
            (k,) [s].
        fps: frames per second; None: the times in the .npz. If both exist, ``fps`` is used, with a
            warning if the rates differ.
        scale: meters per unit; None: 1.
        start: [s] time of the first frame.
        hold: keep the last frame until the run ends.
        name: name for messages.

    Returns:
        The frames, and the faces (m,3).

    Raises:
        SceneError: there are no files, numbers have gaps, no rate is known, times do not increase,
            triangles differ between frames, or a frame has vertices in another order, another unit
            or other axes than the frame before.
        MeshError: a file cannot be read.
    """
    path = Path(pattern)
    own: Floats | None = None
    if path.suffix.lower() == ".npz":
        positions, faces, own = _array_file(path, name)
    else:
        positions, faces = _read_numbered_files(path, name)
    if fps is None and own is None:
        raise SceneError(
            f"{name}.fps",
            got="none",
            where=path,
            expected="frames a second: the file does not say its times",
        )
    times = own if fps is None else np.arange(len(positions)) / fps
    assert times is not None
    if own is not None and len(own) > 1 and abs(times[-1] / own[-1] - 1) > 1e-6:
        warnings.warn(
            f"{name}: fps {fps:g} replaces the times in {path.name}: the motion takes "
            f"{times[-1]:.4g} s for {own[-1]:.4g} s; leave out fps to keep the times of the file",
            stacklevel=2,
        )
    check_frames(positions, faces, name, path)
    size = 1.0 if scale is None else float(scale)
    return BodyFrames(float(start) + times, size * positions, hold), faces


def check_frames(positions: Floats, faces: Faces, name: str, where: str | Path) -> None:
    """Check that frames (k,b,3) have the same order of vertices, unit and axes.

    Raises:
        SceneError: a frame differs from the frame before.
    """
    for k, (before, x) in enumerate(pairwise(positions), start=1):
        mismatch = find_mismatch(before, x, faces, consecutive=True)
        if mismatch is not None:
            raise SceneError(
                f"{name}.frames",
                got=f"{mismatch.text}, in frame {k} relative to frame {k - 1} (the first is 0)",
                where=where,
                expected="one order of vertices, one unit and the same axes in all frames",
                hint=(
                    "export all frames with the same settings; a body that turns by 90 "
                    "degrees within a frame needs more frames"
                ),
            )


def _array_file(path: Path, name: str) -> tuple[Floats, Faces, Floats | None]:
    """Return positions, triangles, and the times, shifted to begin at 0, if the file has them."""
    expected = "an .npz with positions (k,b,3) and faces (m,3)"
    arrays = read_npz(path, what=f"{name}.frames", expected=expected, error=SceneError)
    if not {"positions", "faces"} <= arrays.keys():
        raise SceneError(f"{name}.frames", got=sorted(arrays), expected=expected, where=path)
    positions, faces = arrays["positions"], arrays["faces"]
    kinds = positions.dtype.kind in "fiu" and faces.dtype.kind in "iu"
    shapes = positions.ndim == 3 and faces.ndim == 2
    if not (kinds and shapes and positions.shape[2] == 3 and faces.shape[1] == 3):
        got = f"positions {positions.shape} and faces {faces.shape} of {faces.dtype}"
        raise SceneError(f"{name}.frames", got=got, expected=expected, where=path)
    if len(faces) and not 0 <= int(faces.min()) <= int(faces.max()) < positions.shape[1]:
        expected = f"faces with ids from 0 to {positions.shape[1] - 1}"
        raise SceneError(f"{name}.frames", got=int(faces.max()), expected=expected, where=path)
    own = None
    if "times" in arrays:
        own = np.asarray(arrays["times"])
        numeric = own.dtype.kind in "fiu" and own.shape == (len(positions),)
        own = own - own[:1] if numeric else np.full(1, np.nan)
        if not (np.isfinite(own).all() and (np.diff(own) > 0).all()):
            raise SceneError(
                f"{name}.frames",
                got="times that do not increase",
                where=path,
                expected="times that increase with every frame",
            )
    return positions.astype(np.float64), faces.astype(np.int32), own


def _read_numbered_files(path: Path, name: str) -> tuple[Floats, Faces]:
    """Return the positions of all numbered files, and their common triangles."""
    numbered = []
    for found in path.parent.glob(path.name):
        digits = re.findall(r"\d+", found.stem)
        if digits:
            numbered.append((int(digits[-1]), found))
    numbered.sort()
    if not numbered:
        raise SceneError(
            f"{name}.frames",
            got=f"no numbered file that matches {path.name}",
            where=path.parent,
            expected="files such as walk_0001.obj, named as walk_*.obj",
        )
    numbers = [n for n, _ in numbered]
    missing = sorted(set(range(numbers[0], numbers[-1] + 1)) - set(numbers))
    if missing or len(set(numbers)) < len(numbers):
        what = f"no file numbered {missing[0]}" if missing else "two files with one number"
        raise SceneError(
            f"{name}.frames",
            got=what,
            where=path.parent,
            expected=f"every number from {numbers[0]} to {numbers[-1]} once",
        )
    positions: list[Positions] = []
    first: Faces | None = None
    for _, file in numbered:
        with warnings.catch_warnings():
            if first is not None:  # the first file says what is not read
                warnings.simplefilter("ignore")
            x, faces = read_surface(file)
        if first is None:
            first = faces
        if not have_same_sides(first, faces) or len(x) != len((positions or [x])[0]):
            raise SceneError(
                f"{name}.frames",
                where=file,
                got=f"{len(x)} vertices and {len(faces)} faces, unlike the first file",
                expected="the same triangles in every frame",
                hint="export without changing the topology",
            )
        positions.append(x)
    assert first is not None
    return np.stack(positions), first
