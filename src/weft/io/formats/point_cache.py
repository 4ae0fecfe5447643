r"""PC2: positions of one mesh frame by frame, for mesh cache modifiers of other programs.

Blender, Maya and 3ds Max read it. It holds no faces: the mesh itself is another file. A PC2 file is
little endian: ``POINTCACHE2\0``, version 1, number of vertices, first frame, frames per sample,
number of samples; then float32 positions.
"""

import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import MeshError
from weft.io.animation import Animation
from weft.io.files import atomic_write
from weft.io.surface import read_bytes

PC2 = struct.Struct("<12siiffi")
PC2_MAGIC = b"POINTCACHE2\0"


def write_pc2(path: Path, animation: Animation) -> Sequence[str]:
    """Write the cloth's positions to a PC2 file, and return notes for the user.

    Raises:
        RunError: the file cannot be written.
    """
    with atomic_write(path) as file:
        n = len(animation.moment(0).positions[0])
        file.write(PC2.pack(PC2_MAGIC, 1, n, animation.first, 1.0, animation.count))
        for moment in animation:
            file.write(np.ascontiguousarray(moment.positions[0], dtype="<f4").tobytes())
    notes = [
        "this format has no faces: for the mesh, export a frame as .obj with the same `up=` and "
        "`units=`"
    ]
    if len(animation.shapes) > 1:
        names = ", ".join(s.name for s in animation.shapes[1:])
        notes.append(f"this format has no bodies: {names} left out")
    return notes


def read_pc2(path: Path, fps: float | None) -> tuple[Floats, Floats]:
    """Return the motion in a .pc2 file.

    Args:
        path: the file.
        fps: frames per second, which the file does not hold.

    Returns:
        Times (k,) [s] from 0 on and positions (k,n,3) in the file's units.

    Raises:
        MeshError: a damaged file, or no ``fps``.
    """
    data = read_bytes(path)
    if len(data) < PC2.size or not data.startswith(PC2_MAGIC):
        raise _damage_error(path, f"{len(data)} bytes that do not begin with POINTCACHE2")
    _, version, n, _, _, count = PC2.unpack_from(data)
    if version != 1:
        raise _damage_error(path, f"version {version}, not 1")
    if count < 1 or n < 1 or 12 * count * n != len(data) - PC2.size:
        text = f"{count} frames of {n} vertices in {len(data) - PC2.size} bytes"
        raise _damage_error(path, text)
    flat = np.frombuffer(data, "<f4", 3 * count * n, PC2.size)
    with np.errstate(invalid="ignore"):  # of signaling NaN, which is refused below
        positions = flat.reshape(count, n, 3).astype(np.float64)
    bad = np.flatnonzero(~np.isfinite(positions).all((1, 2)))
    if len(bad):
        raise MeshError(
            f"point cache, frame {bad[0]}", got="positions that are not finite", where=path
        )
    if fps is None:
        raise MeshError(
            "fps",
            got="none",
            expected="frames a second: a .pc2 file does not say it",
            where=path,
        )
    return np.arange(count) / fps, positions


def _damage_error(path: Path, got: str) -> MeshError:
    """Return the error of a file that is not a whole PC2 file."""
    return MeshError("point cache", got=got, where=path, expected="a complete .pc2 file")
