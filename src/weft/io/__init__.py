"""Files: meshes in and out, and the folder of a run.

A format of meshes is one line of ``FORMATS``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.arrays import CornerUv, Faces, Positions
from weft.errors import MeshError, RunError
from weft.io.obj import obj_surface, read_obj, write_obj
from weft.io.ply import ply_surface, read_ply, write_ply
from weft.mesh import TriangleMesh

Warp = tuple[float, float, float]


@dataclass(frozen=True)
class Format:
    """What is done with files of one suffix."""

    read: Callable[..., TriangleMesh]  # (path, scale=, uv_scale=, warp=)
    surface: Callable[[Path], tuple[Any, ...]]  # positions, faces, and what else it has
    write: Callable[[Path, Positions, Faces, CornerUv | None], None]


FORMATS: Mapping[str, Format] = {
    ".obj": Format(read_obj, obj_surface, write_obj),
    ".ply": Format(read_ply, ply_surface, write_ply),
}
SUFFIXES = f"{', '.join([*FORMATS][:-1])} or {[*FORMATS][-1]}"  # for messages


def read_mesh(
    path: Path, *, scale: float = 1.0, uv_scale: float | None = None, warp: Warp | None = None
) -> TriangleMesh:
    """A mesh from a file, by suffix.

    Args:
        path: the file.
        scale: meters per unit of its positions.
        uv_scale: meters per unit of its texture coordinates; None: the same as ``scale``.
        warp: direction of the warp yarns in space, for a file without texture coordinates.

    Raises:
        MeshError: another suffix, or a file that cannot be read or simulated.
    """
    return _format(path).read(path, scale=scale, uv_scale=uv_scale, warp=warp)


def read_surface(path: Path, scale: float = 1.0) -> tuple[Positions, Faces]:
    """Positions (n,3) [m] and triangles (m,3) of a mesh file, without material coordinates.

    Args:
        path: the file.
        scale: meters per unit of its positions.

    Raises:
        MeshError: another suffix, a file that cannot be read, or one without faces.
    """
    x, faces = _format(path).surface(path)[:2]
    if len(faces) == 0:
        raise MeshError("faces", got=0, expected="at least one triangle", where=str(path))
    return scale * x, faces


def write_mesh(path: Path, x: Positions, faces: Faces, corner_uv: CornerUv | None) -> None:
    """Write positions (n,3) [m], triangles (m,3) and material coordinates (m,3,2) [m], by suffix.

    Raises:
        RunError: another suffix, or a file that cannot be written.
    """
    check_suffix(path)
    FORMATS[path.suffix.lower()].write(path, x, faces, corner_uv)


def check_suffix(path: Path) -> None:
    """Raise a RunError where no format to write has the suffix."""
    if path.suffix.lower() not in FORMATS:
        raise RunError("export format", got=path.suffix or "no suffix", expected=SUFFIXES)


def _format(path: Path) -> Format:
    found = FORMATS.get(path.suffix.lower())
    if found is None:
        raise MeshError("mesh file", got=str(path), expected=SUFFIXES)
    return found
