"""Files: meshes and animations in and out, and the folder of a run.

A format is one line of ``FORMATS``, by suffix. What it needs is imported when it is used.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.arrays import CornerUv, Faces, Positions
from weft.errors import MeshError, RunError
from weft.io.animation import Animation
from weft.io.formats.arrays import write_arrays, write_hdf5
from weft.io.formats.gltf import write_gltf
from weft.io.formats.point_cache import write_mdd, write_pc2
from weft.io.formats.usd import write_usd
from weft.io.formats.vtkhdf import write_vtkhdf
from weft.io.obj import obj_surface, read_obj, write_obj
from weft.io.ply import ply_surface, read_ply, write_ply
from weft.mesh import TriangleMesh

Warp = tuple[float, float, float]


@dataclass(frozen=True)
class Format:
    """What is done with files of one suffix; None: it is not done."""

    # (path, scale=, uv_scale=, warp=)
    read: Callable[..., TriangleMesh] | None = None
    surface: Callable[[Path], tuple[Any, ...]] | None = None  # positions, faces, and what else
    write: Callable[[Path, Positions, Faces, CornerUv | None], None] | None = None  # of a frame
    animate: Callable[[Path, Animation], Sequence[str]] | None = None  # all frames; notes


FORMATS: Mapping[str, Format] = {
    ".obj": Format(read_obj, obj_surface, write_obj),
    ".ply": Format(read_ply, ply_surface, write_ply),
    ".usdc": Format(animate=write_usd),
    ".usda": Format(animate=write_usd),
    ".usd": Format(animate=write_usd),
    ".usdz": Format(animate=write_usd),
    ".glb": Format(animate=write_gltf),
    ".gltf": Format(animate=write_gltf),
    ".vtkhdf": Format(animate=write_vtkhdf),
    ".pc2": Format(animate=write_pc2),
    ".mdd": Format(animate=write_mdd),
    ".npz": Format(animate=write_arrays),
    ".h5": Format(animate=write_hdf5),
}


def suffixes(*what: str) -> str:
    """``.obj, .ply or .usd``: those of the formats that do one of these, for messages."""
    names = [s for s, f in FORMATS.items() if any(getattr(f, w) is not None for w in what)]
    return f"{', '.join(names[:-1])} or {names[-1]}"


SUFFIXES = suffixes("surface")  # that are read, for messages


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
    read = _readable(path).read
    assert read is not None
    return read(path, scale=scale, uv_scale=uv_scale, warp=warp)


def read_surface(path: Path, scale: float = 1.0) -> tuple[Positions, Faces]:
    """Positions (n,3) [m] and triangles (m,3) of a mesh file, without material coordinates.

    Args:
        path: the file.
        scale: meters per unit of its positions.

    Raises:
        MeshError: another suffix, a file that cannot be read, or one without faces.
    """
    surface = _readable(path).surface
    assert surface is not None
    x, faces = surface(path)[:2]
    if len(faces) == 0:
        raise MeshError("faces", got=0, expected="at least one triangle", where=str(path))
    return scale * x, faces


def write_mesh(path: Path, x: Positions, faces: Faces, corner_uv: CornerUv | None) -> None:
    """Write positions (n,3) [m], triangles (m,3) and material coordinates (m,3,2) [m], by suffix.

    Raises:
        RunError: another suffix, or a file that cannot be written.
    """
    write = format_to_write(path).write
    if write is None:
        raise RunError("mesh file", got=path.suffix, expected=suffixes("write"))
    write(path, x, faces, corner_uv)


def write_animation(path: Path, animation: Animation) -> Sequence[str]:
    """Write all frames into one file, by suffix; returns what is worth knowing about it.

    Raises:
        RunError: another suffix, a package that is missing, or a file that cannot be written.
    """
    animate = format_to_write(path).animate
    if animate is None:
        raise RunError("animation file", got=path.suffix, expected=suffixes("animate"))
    return animate(path, animation)


def format_to_write(path: Path) -> Format:
    """The format that writes a suffix.

    Raises:
        RunError: none does.
    """
    found = FORMATS.get(path.suffix.lower())
    if found is None or (found.write is None and found.animate is None):
        raise RunError("export format", got=path.suffix or "no suffix",
                       expected=suffixes("write", "animate"))  # fmt: skip
    return found


def _readable(path: Path) -> Format:
    found = FORMATS.get(path.suffix.lower())
    if found is None or found.surface is None:
        raise MeshError("mesh file", got=str(path), expected=SUFFIXES)
    return found
