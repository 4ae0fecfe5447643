"""Contents of mesh files, and their conversion to a TriangleMesh.

The conversion sets the units, triangulates polygons and chooses the material coordinates.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from weft.base.arrays import CornerUv, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.base.input_file import open_input
from weft.base.machine import gib, memory
from weft.discretization.mesh import TriangleMesh

SPACE = 16  # memory that reading a file takes, in units of its size
MOST_CORNERS = 1000  # largest number of corners of a face; ear cutting takes cubic time


@dataclass(frozen=True, eq=False)
class Contents:
    """The contents of a mesh file.

    Args:
        x: (n,3) positions in the file's units, y up.
        faces: (m,3).
        corner_uv: (m,3,2) texture coordinates; None: none.
        groups: vertices by name.
        weights: painted numbers (n,) by name.
        meters: [m] per unit, if the file gives it.
        regions: faces by name.
    """

    x: Positions
    faces: Faces
    corner_uv: CornerUv | None = None
    groups: Mapping[str, Ints] = field(default_factory=dict)
    weights: Mapping[str, Floats] = field(default_factory=dict)
    meters: float = 1.0
    regions: Mapping[str, Ints] = field(default_factory=dict)


def join_contents(parts: Sequence[Contents]) -> Contents:
    """Return several meshes of a file as one, in their order.

    Regions are those of a mesh alone. Texture coordinates are kept if all meshes have some, painted
    numbers are zero on meshes without them, and the unit is that of the first mesh.
    """
    first = np.cumsum([0, *(len(p.x) for p in parts)])
    groups: dict[str, Ints] = {}
    weights: dict[str, Floats] = {}
    for p, start in zip(parts, first):
        groups |= {name: (ids + start).astype(np.int32) for name, ids in p.groups.items()}
        for name, values in p.weights.items():
            weights.setdefault(name, np.zeros(first[-1]))[start : start + len(p.x)] = values
    uv = [p.corner_uv for p in parts if p.corner_uv is not None]
    return Contents(
        np.concatenate([p.x for p in parts]),
        np.concatenate([p.faces + start for p, start in zip(parts, first)]).astype(np.int32),
        np.concatenate(uv) if len(uv) == len(parts) else None,
        groups,
        weights,
        parts[0].meters,
        parts[0].regions if len(parts) == 1 else {},
    )


@dataclass(frozen=True, eq=False)
class MovingMesh:
    """The contents of a file whose mesh moves.

    Args:
        times: (k,) [s] from 0 on; a mesh at rest has one time.
        positions: (k,n,3) in the file's units, y up.
        faces: (m,3).
        meters: [m] per unit, if the file gives it.
    """

    times: Floats
    positions: Floats
    faces: Faces
    meters: float = 1.0


def check_file(path: Path) -> None:
    """Check that a file is an ordinary one, and that this machine has the memory to read it.

    Raises:
        MeshError: it is not.
    """
    try:
        with open_input(path) as file:
            size = os.fstat(file.fileno()).st_size
        if size * SPACE > memory():
            raise OSError(f"{gib(size)}: to read it may take {gib(SPACE * size)}")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        got = getattr(error, "strerror", None) or str(error)
        raise MeshError("mesh file", got=got, where=str(path), expected="a file") from error


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        MeshError: it cannot be read.
    """
    check_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        got = error.strerror or str(error)
        raise MeshError("mesh file", got=got, where=str(path), expected="a file") from error


def build_mesh(
    source: Path,
    found: Contents,
    *,
    scale: float | None,
    uv_scale: float | None,
    warp: Sequence[float] | None,
) -> TriangleMesh:
    """Return the mesh of a file's contents, in meters.

    Its material coordinates are the texture coordinates of the file. With ``warp`` they are those
    of each face in its own plane instead: the mesh in space is then the rest shape.

    Args:
        source: the file, for messages.
        found: its contents.
        scale: meters per unit of positions; None: the unit of the file.
        uv_scale: meters per unit of texture coordinates; None: the same as ``scale``.
        warp: (3,) direction of the warp yarns in space; None: texture coordinates are used.

    Raises:
        MeshError: neither texture coordinates nor a warp, a ``uv_scale`` that has nothing to scale,
            a scale that is not positive, or an error that TriangleMesh finds.
    """
    unit = found.meters if scale is None else scale
    for name, value in (("scale", unit), ("uv_scale", 1.0 if uv_scale is None else uv_scale)):
        if not (np.isfinite(value) and value > 0):
            raise MeshError(name, got=value, where=str(source), expected="must be > 0 [m per unit]")
    faces, where = found.faces, str(source)
    if len(faces) == 0:
        raise MeshError("faces", got=0, expected="at least one triangle", where=where)
    x = np.asarray(found.x, dtype=np.float64) * unit
    if not np.isfinite(x).all():
        bad = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
        raise MeshError(
            f"position of vertex {bad}", got=x[bad], where=where, expected="finite numbers"
        )
    if uv_scale is not None and (warp is not None or found.corner_uv is None):
        why = "the file has no texture coordinates"
        if warp is not None:
            why = "a warp direction takes the rest shape from the mesh in space"
        raise MeshError("uv_scale", got=uv_scale, where=where, expected=f"none, because {why}")
    if warp is not None:
        uv = unfold(x, faces, warp, where)
    elif found.corner_uv is not None:
        uv = found.corner_uv * (unit if uv_scale is None else uv_scale)
    else:
        raise MeshError(
            "material coordinates",
            got="none",
            where=where,
            expected="texture coordinates, or a warp direction",
            hint="give one, e.g. warp: [0, 1, 0] (weft.load(..., warp=(0, 1, 0)))",
        )
    named = dict(found.groups), where, dict(found.weights), dict(found.regions)
    return TriangleMesh(x, faces, uv, *named)


def triangulated(x: Positions, polygons: Sequence[Ints], where: str) -> tuple[Faces, Ints]:
    """Return the triangles of polygons, and their corners.

    Args:
        x: (n,3) positions.
        polygons: vertices of each polygon.
        where: the file, for messages.

    Returns:
        Vertices (m,3) of the triangles, and the indices (m,3) of their corners among the corners of
        all polygons.

    Raises:
        MeshError: ids out of range, a polygon with the same vertex twice, or too many corners.
    """
    sizes = np.array([len(ids) for ids in polygons])
    if len(sizes) and (sizes == 3).all():
        table = np.concatenate(polygons).reshape(-1, 3).astype(np.int32)
        _check_corners(table, np.arange(len(table), dtype=np.int32), len(x), where)
        return table, np.arange(3 * len(table), dtype=np.int32).reshape(-1, 3)
    faces: list[Ints] = []
    corners: list[Ints] = []
    first = 0
    for k, ids in enumerate(polygons):
        _check_corners(ids[None], np.array([k]), len(x), where)
        for t in triangulate(x[ids], f"face {k}", where):
            faces.append(ids[list(t)])
            corners.append(first + np.array(t))
        first += len(ids)
    return (
        np.array(faces, dtype=np.int32).reshape(-1, 3),
        np.array(corners, dtype=np.int32).reshape(-1, 3),
    )


def triangles_in(members: Sequence[int], polygon: Ints) -> Ints:
    """Return the numbers of the triangles of some polygons.

    Args:
        members: numbers of the polygons.
        polygon: (m,) the polygon of every triangle.
    """
    return np.flatnonzero(np.isin(polygon, members)).astype(np.int32)


def _check_corners(faces: Ints, numbers: Ints, n: int, where: str) -> None:
    """Raise an error unless each of the faces (m,k) has at least three vertices, all different and
    below n.
    """
    ordered = np.sort(faces, axis=1)
    bad = (faces < 0).any(1) | (faces >= n).any(1) | (ordered[:, 1:] == ordered[:, :-1]).any(1)
    if faces.shape[1] < 3:
        bad[:] = True
    if bad.any():
        k = int(np.flatnonzero(bad)[0])
        raise MeshError(
            f"vertex indices of face {numbers[k]}",
            got=faces[k].tolist(),
            where=where,
            expected=f"three or more different ones from 0 to {n - 1}",
        )


def unfold(x: Positions, faces: Faces, warp: Sequence[float], where: str) -> CornerUv:
    """Return material coordinates (m,3,2) of each face in its own plane.

    The axis u is the direction of the warp, projected into the plane of the face.

    Args:
        x: (n,3) positions.
        faces: (m,3).
        warp: (3,) direction of the warp yarns in space.
        where: the file, for messages.

    Raises:
        MeshError: a warp that is zero, or at right angles to a face.
    """
    w = np.asarray(warp, dtype=np.float64)
    if w.shape != (3,) or not np.isfinite(w).all() or not np.linalg.norm(w) > 0:
        raise MeshError("warp direction", got=list(warp), expected="three numbers, not all zero")
    a, b, c = (x[faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / np.where(length > 0, length, 1.0)
    u = w - (normal @ w)[:, None] * normal
    size = np.linalg.norm(u, axis=1, keepdims=True)
    flat = np.flatnonzero((size[:, 0] < 1e-6 * np.linalg.norm(w)) & (length[:, 0] > 0))
    if len(flat):
        raise MeshError(
            "warp direction",
            got=list(warp),
            where=where,
            expected=f"one that is not at right angles to a face, as it is to {len(flat)} faces "
            f"(first {flat[:5].tolist()})",
        )
    u = u / np.where(size > 0, size, 1.0)
    v = np.cross(normal, u)
    corners = np.stack([np.zeros_like(a), b - a, c - a], axis=1)
    return np.stack([np.einsum("fci,fi->fc", corners, u), np.einsum("fci,fi->fc", corners, v)], -1)


def triangulate(
    points: Floats, what: str = "face", where: str = "mesh"
) -> list[tuple[int, int, int]]:
    """Return the triangles of a simple polygon, which may be concave, by cutting ears.

    Ears are cut in the polygon's mean plane, the best-shaped first.

    Args:
        points: (k,3) its corners.
        what: the face, for messages.
        where: its file.

    Raises:
        MeshError: a face of more than ``MOST_CORNERS`` corners.
    """
    k = len(points)
    if k == 3:
        return [(0, 1, 2)]
    if k > MOST_CORNERS:
        raise MeshError(what, got=f"{k} corners", expected=f"at most {MOST_CORNERS}", where=where)
    ahead = np.roll(points, -1, axis=0)
    normal = np.cross(points, ahead).sum(0)  # Newell's method: twice the vector area
    axis = int(np.argmax(np.abs(normal)))
    keep = [(axis + 1) % 3, (axis + 2) % 3]
    flat = points[:, keep] * (1.0, np.sign(normal[axis]) or 1.0)  # counter-clockwise
    ring, triangles = list(range(k)), []
    while len(ring) > 3:
        n = len(ring)
        ears = [i for i in range(n) if _is_ear(flat, ring, i)]
        best = max(ears or range(n), key=lambda i: _quality(flat, ring, i))
        triangles.append((ring[best - 1], ring[best], ring[(best + 1) % n]))
        del ring[best]
    triangles.append((ring[0], ring[1], ring[2]))
    return triangles


def _corner(flat: Floats, ring: list[int], i: int) -> tuple[Floats, Floats, Floats]:
    return flat[ring[i - 1]], flat[ring[i]], flat[ring[(i + 1) % len(ring)]]


def _cross(o: Floats, a: Floats, b: Floats) -> float:
    return float((a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]))


def _sides(o: Floats, a: Floats, b: Floats) -> Floats:
    """Return (n,) ``_cross`` for many points b (n,2)."""
    return np.asarray((a[0] - o[0]) * (b[:, 1] - o[1]) - (a[1] - o[1]) * (b[:, 0] - o[0]))


def _is_ear(flat: Floats, ring: list[int], i: int) -> bool:
    a, b, c = _corner(flat, ring, i)
    if _cross(a, b, c) <= 0:
        return False
    corners = {ring[i - 1], ring[i], ring[(i + 1) % len(ring)]}
    p = flat[[j for j in ring if j not in corners]]
    inside = (_sides(a, b, p) >= 0) & (_sides(b, c, p) >= 0) & (_sides(c, a, p) >= 0)
    return not inside.any()


def _quality(flat: Floats, ring: list[int], i: int) -> float:
    """Return area over squared edge lengths: large for round triangles, negative for inverted
    ones.
    """
    a, b, c = _corner(flat, ring, i)
    edges = ((b - a) ** 2).sum() + ((c - b) ** 2).sum() + ((a - c) ** 2).sum()
    return float(_cross(a, b, c) / edges) if edges > 0 else -1.0
