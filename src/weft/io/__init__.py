"""Files: meshes in and out, and the folder of a run."""

from pathlib import Path

from weft.arrays import Faces, Positions
from weft.errors import MeshError
from weft.mesh import TriangleMesh

Warp = tuple[float, float, float]


def read_mesh(
    path: Path, *, scale: float = 1.0, uv_scale: float | None = None, warp: Warp | None = None
) -> TriangleMesh:
    """A mesh from an OBJ or PLY file, by suffix.

    Args:
        path: the file.
        scale: meters per unit of its positions.
        uv_scale: meters per unit of its texture coordinates; None: the same as ``scale``.
        warp: direction of the warp yarns in space, for a file without texture coordinates.

    Raises:
        MeshError: another suffix, or a file that cannot be read or simulated.
    """
    from weft.io.obj import read_obj
    from weft.io.ply import read_ply

    readers = {".obj": read_obj, ".ply": read_ply}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise MeshError("mesh file", got=str(path), expected=".obj or .ply")
    return reader(path, scale=scale, uv_scale=uv_scale, warp=warp)


def read_surface(path: Path, scale: float = 1.0) -> tuple[Positions, Faces]:
    """Positions (n,3) [m] and triangles (m,3) of an OBJ or PLY file, without material coordinates.

    Args:
        path: the file.
        scale: meters per unit of its positions.

    Raises:
        MeshError: another suffix, a file that cannot be read, or one without faces.
    """
    from weft.io.obj import obj_surface
    from weft.io.ply import ply_surface

    suffix = path.suffix.lower()
    if suffix not in (".obj", ".ply"):
        raise MeshError("mesh file", got=str(path), expected=".obj or .ply")
    x, faces = obj_surface(path)[:2] if suffix == ".obj" else ply_surface(path)[:2]
    if len(faces) == 0:
        raise MeshError("faces", got=0, expected="at least one triangle", where=str(path))
    return scale * x, faces
