r"""PC2 and MDD: positions of one mesh frame by frame, for mesh cache modifiers of other programs.

Blender, Maya, 3ds Max and LightWave read them. Neither format holds faces: the mesh itself is
another file.

PC2 (3ds Max): little endian; ``POINTCACHE2\0``, version 1, number of vertices, first frame, frames
per sample, number of samples; then float32 positions. MDD (LightWave): big endian; number of
frames, number of vertices, float32 times [s]; then float32 positions.
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
MDD = struct.Struct(">ii")


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
    return _notes(animation)


def write_mdd(path: Path, animation: Animation) -> Sequence[str]:
    """Write the cloth's positions to an MDD file, and return notes for the user.

    Raises:
        RunError: the file cannot be written.
    """
    with atomic_write(path) as file:
        n = len(animation.moment(0).positions[0])
        file.write(MDD.pack(animation.count, n))
        times = (animation.first + np.arange(animation.count)) / animation.fps
        file.write(times.astype(">f4").tobytes())
        for moment in animation:
            file.write(np.ascontiguousarray(moment.positions[0], dtype=">f4").tobytes())
    return _notes(animation)


def _notes(animation: Animation) -> list[str]:
    notes = [
        "no faces in this format: export a frame as .obj with the same --up and --units "
        "for the mesh"
    ]
    if len(animation.shapes) > 1:
        names = ", ".join(s.name for s in animation.shapes[1:])
        notes.append(f"no bodies in this format: {names} left out")
    return notes


def read_point_cache(path: Path, fps: float | None) -> tuple[Floats, Floats]:
    """Return the motion in a .pc2 or .mdd file.

    Args:
        path: the file.
        fps: frames per second; a .pc2 file has none, and the times of an .mdd file are ignored if
            it is given.

    Returns:
        Times (k,) [s] from 0 on and positions (k,n,3) in the file's units.

    Raises:
        MeshError: a damaged file, or a .pc2 without ``fps``.
    """
    data = read_bytes(path)
    kind = path.suffix.lower()
    try:
        times, positions = (_pc2 if kind == ".pc2" else _mdd)(data)
    except (struct.error, ValueError) as error:
        raise MeshError(
            "point cache", got=str(error), where=str(path), expected=f"a whole {kind} file"
        ) from error
    bad = np.flatnonzero(~np.isfinite(positions).all((1, 2)))
    if len(bad):
        raise MeshError(
            f"point cache, frame {bad[0]}", got="positions that are not finite", where=str(path)
        )
    if fps is not None:
        times = (np.arange(len(positions)) if times is None else _steps(times)) / fps
    if times is None:
        raise MeshError(
            "fps",
            got="none",
            expected="frames a second: a .pc2 file does not say it",
            where=str(path),
        )
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise MeshError(
            "times of frames", got=times[:5].tolist(), expected="increasing [s]", where=str(path)
        )
    return times - times[0], positions


def _steps(times: Floats) -> Floats:
    return np.arange(len(times), dtype=np.float64)


def _pc2(data: bytes) -> tuple[None, Floats]:
    magic, version, n, _, _, count = PC2.unpack_from(data)
    if magic != PC2_MAGIC:
        raise ValueError("it does not begin with POINTCACHE2")
    if version != 1:
        raise ValueError(f"version {version}, not 1")
    return None, _positions(data, PC2.size, count, n, "<f4")


def _mdd(data: bytes) -> tuple[Floats, Floats]:
    count, n = MDD.unpack_from(data)
    if count < 1 or MDD.size + 4 * count > len(data):
        raise ValueError(f"{count} frames in {len(data)} bytes")
    times = np.frombuffer(data, ">f4", count, MDD.size).astype(np.float64)
    return times, _positions(data, MDD.size + 4 * count, count, n, ">f4")


def _positions(data: bytes, start: int, count: int, n: int, dtype: str) -> Floats:
    """Return the positions (count,n,3) in the bytes after ``start``, whose number must match
    exactly.
    """
    if count < 1 or n < 1 or 12 * count * n != len(data) - start:
        raise ValueError(f"{count} frames of {n} vertices in {len(data) - start} bytes")
    flat = np.frombuffer(data, dtype, 3 * count * n, start)
    with np.errstate(invalid="ignore"):  # signaling NaN, which ``read_point_cache`` refuses
        return flat.reshape(count, n, 3).astype(np.float64)
