"""Contents of mesh files, and their conversion to a TriangleMesh.

The conversion sets the units, triangulates polygons and chooses the material coordinates.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, Bools, CornerUv, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError, error_text
from weft.base.input_file import open_input
from weft.base.machine import gib, memory
from weft.base.settings import documented, setting
from weft.discretization.manifold import turn_corners, turned_faces, warn_of_turned
from weft.discretization.mesh import TriangleMesh, mean_at_vertices
from weft.discretization.polygon import cross
from weft.discretization.weld import Weld, Welded, weld_vertices
from weft.io.rest_shape import RestSource, material_coordinates

SPACE = 16  # memory that reading a file takes, in units of its size
FEW = 8  # largest number of names in a message
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
        prim: path of the mesh in the file, for messages.
        split: texture coordinates are by vertex, so that their seams split vertices.
        loose_edges: (k,2) vertices that lines of the file connect.
        left_out: number of the things in the file that are not read, by their kind.
        flaw: the error that refuses the mesh as a cloth, and not as a body; None: none.
    """

    x: Positions
    faces: Faces
    corner_uv: CornerUv | None = None
    groups: Mapping[str, Ints] = field(default_factory=dict)
    weights: Mapping[str, Floats] = field(default_factory=dict)
    meters: float = 1.0
    regions: Mapping[str, Ints] = field(default_factory=dict)
    prim: str = ""
    split: bool = False
    loose_edges: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))
    left_out: Mapping[str, int] = field(default_factory=dict)
    flaw: MeshError | None = None


def join_contents(parts: Sequence[Contents]) -> Contents:
    """Return several meshes of a file as one, in their order.

    Regions are those of a mesh alone. Texture coordinates are kept if all meshes have some, painted
    numbers are zero on meshes without them, and the unit is that of the first mesh.
    """
    sizes = [len(p.x) for p in parts]
    first = np.cumsum([0, *sizes])
    groups: dict[str, Ints] = {}
    weights: dict[str, Floats] = {}
    for p, start in zip(parts, first):
        groups |= {name: (ids + start).astype(np.int32) for name, ids in p.groups.items()}
        for name, values in p.weights.items():
            weights.setdefault(name, np.zeros(first[-1]))[start : start + len(p.x)] = values
    uv = [p.corner_uv for p in parts if p.corner_uv is not None]
    return Contents(
        np.concatenate([p.x for p in parts]),
        _join_faces([p.faces for p in parts], sizes),
        np.concatenate(uv) if len(uv) == len(parts) else None,
        groups,
        weights,
        parts[0].meters,
        parts[0].regions if len(parts) == 1 else {},
        parts[0].prim if len(parts) == 1 else "",
        loose_edges=np.concatenate([p.loose_edges + f for p, f in zip(parts, first)]),
        left_out=dict(sum((Counter(p.left_out) for p in parts), Counter())),
        flaw=next((p.flaw for p in parts if p.flaw is not None), None),
    )


def _join_faces(faces: Sequence[Faces], sizes: Sequence[int]) -> Faces:
    """Return the faces of several meshes with these numbers of vertices as those of one."""
    first = np.cumsum([0, *sizes])
    return np.concatenate([f + start for f, start in zip(faces, first)]).astype(np.int32)


@dataclass(frozen=True, eq=False)
class MovingMesh:
    """The contents of a file whose mesh moves.

    Args:
        times: (k,) [s] from the first frame on; handles before it are negative. A mesh at rest has
            one time.
        positions: (k,n,3) in the file's units, y up.
        faces: (m,3).
        meters: [m] per unit, if the file gives it.
        parts: path of each mesh in the file, with its number of vertices.
        left_out: number of the things in the file that are not read, by their kind.
    """

    times: Floats
    positions: Floats
    faces: Faces
    meters: float = 1.0
    parts: Sequence[tuple[str, int]] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)


def join_moving(
    times: Floats,
    positions: Sequence[Floats],
    faces: Sequence[Faces],
    meters: float = 1.0,
    names: Sequence[str] = (),
) -> MovingMesh:
    """Return several moving meshes of a file as one, in their order.

    Args:
        times: (k,) [s].
        positions: (k,n,3) of each mesh, in the file's units, y up.
        faces: (m,3) of each mesh.
        meters: [m] per unit.
        names: paths of the meshes in the file.
    """
    x = np.concatenate(positions, axis=1)
    if (x == x[0]).all():
        times, x = np.zeros(1), x[:1]
    sizes = [p.shape[1] for p in positions]
    return MovingMesh(times, x, _join_faces(faces, sizes), meters, list(zip(names, sizes)))


@documented
@dataclass(frozen=True)
class StageOptions:
    """Options for the composition and reading of a USD stage.

    ``frame`` is the time code at which a mesh of cloth is read, and ``origin`` that of the time 0
    of motions; None: where the stage starts, or the first sample of what is read. From the origin
    on, during ``preroll`` frames, skins and points come from their rest pose.
    """

    variants: Mapping[str, Mapping[str, str]] | None = setting(
        None, "USD files: variants, by path of prim and name of set: {/hero: {suit: wet}}"
    )
    subdivide: int = setting(
        0, "USD files: subdivision level of subdivision surfaces", least=0, most=4
    )
    frame: float | None = None
    origin: float | None = None
    preroll: int = 0


PLAIN = StageOptions()


def check_selection(
    chosen: Sequence[str],
    known: Sequence[str],
    prim: str | None,
    *,
    one: bool,
    what: str,
    path: Path,
) -> None:
    """Check that a file has the mesh that the user names, and one mesh if it becomes cloth.

    Args:
        chosen: names of the meshes that are read.
        known: names that the user may give.
        prim: name that the user gave; None: all meshes are read.
        one: refuse several meshes, because the result becomes one cloth.
        what: kind of the file, for messages.
        path: the file, for messages.

    Raises:
        MeshError: no mesh, no such mesh, or several.
    """
    names = chosen or known
    shown = ", ".join(names[:FEW]) + (", ..." if len(names) > FEW else "")
    where = str(path)
    if not chosen and prim is None:
        raise MeshError(what, got="no mesh", where=where, expected="one")
    if not chosen:
        expected = f"a mesh: {shown or 'there is none'}"
        raise MeshError("prim", got=repr(prim), where=where, expected=expected)
    if one and len(chosen) > 1:
        raise MeshError(
            what,
            got=f"{len(chosen)} meshes",
            where=where,
            expected="one mesh, for a cloth",
            hint=f"choose the mesh: prim: {chosen[0]} (there are {shown})",
        )


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
        got = error_text(error)
        raise MeshError("mesh file", got=got, where=path, expected="a file") from error


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        MeshError: it cannot be read.
    """
    check_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        got = error_text(error)
        raise MeshError("mesh file", got=got, where=path, expected="a file") from error


def check_positions(x: Positions, where: str) -> None:
    """Raise a MeshError unless positions (n,3) are finite."""
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        what = f"position of vertex {bad[0]}"
        raise MeshError(what, got=x[bad[0]], where=where, expected="finite numbers")


def build_mesh(
    source: Path,
    found: Contents,
    *,
    scale: float | None,
    uv_scale: float | None,
    warp: Sequence[float] | None,
    rest: RestSource | None = None,
    shape: Positions | None = None,
    weld: Weld = None,
) -> TriangleMesh:
    """Return the mesh of a file's contents, in meters.

    Faces that look the other way round than their neighbors are turned.

    Args:
        source: the file, for messages.
        found: its contents.
        scale: meters per unit of positions; None: the unit of the file.
        uv_scale: meters per unit of texture coordinates; None: the same as ``scale``.
        warp: (3,) direction of the warp yarns in space; None: that of texture coordinates.
        rest: what gives the rest shape, as in ``material_coordinates``.
        shape: (n,3) [m] the mesh in its rest shape; None: that of the contents.
        weld: whether vertices that coincide become one, or the distance [m] up to which; None: only
            those that texture coordinates have split.

    Raises:
        MeshError: a flaw of the contents, neither texture coordinates nor a warp, a ``uv_scale``
            that has nothing to scale, a scale that is not positive, or an error that TriangleMesh
            finds.
    """
    if found.flaw is not None:
        raise found.flaw
    unit = found.meters if scale is None else scale
    for name, value in (("scale", unit), ("uv_scale", 1.0 if uv_scale is None else uv_scale)):
        if not (np.isfinite(value) and value > 0):
            raise MeshError(name, got=value, where=source, expected="must be > 0 [m per unit]")
    faces, where = found.faces, f"{source}{found.prim}"
    if len(faces) == 0:
        raise MeshError("faces", got=0, expected="at least one triangle", where=where)
    x = np.asarray(found.x, dtype=np.float64) * unit
    check_positions(x, where)
    by_mesh = rest == "mesh" or (rest is None and warp is not None)
    if uv_scale is not None and (by_mesh or found.corner_uv is None):
        why = "the file has no texture coordinates"
        if by_mesh:
            why = "a mesh gives the rest shape (`rest: mesh`, a file or a frame, or `warp`)"
        raise MeshError(
            "uv_scale", got=uv_scale, where=where, expected=f"no texture coordinates, because {why}"
        )
    joined, turn = connect(found, x, weld, where)
    warn_of_turned(turn, where)
    faces, uv = turn_corners(faces[joined.remaining], turn), found.corner_uv
    if uv is not None:
        uv = turn_corners(uv[joined.remaining], turn) * (unit if uv_scale is None else uv_scale)
    # The rest shape has the vertices of the file, which may be apart there.
    uv = material_coordinates(x, faces, uv, warp, rest, x if shape is None else shape, where)
    n, number = len(joined.first), joined.number
    return TriangleMesh(
        x[joined.first],
        turn_corners(joined.faces, turn),
        uv,
        {name: np.unique(number[ids]) for name, ids in found.groups.items()},
        where,
        {name: mean_at_vertices(number, w, n) for name, w in found.weights.items()},
        {name: joined.of_faces(ids) for name, ids in found.regions.items()},
        None if n == len(x) else number,
    )


def connect(found: Contents, x: Positions, weld: Weld, where: str) -> tuple[Welded, Bools]:
    """Return the contents of a file with vertices joined, and which faces are turned.

    Args:
        found: the contents.
        x: (n,3) [m] their positions.
        weld: as in ``build_mesh``.
        where: the file, for messages.

    Raises:
        MeshError: a distance as long as the edges.
    """
    joined = weld_vertices(x, found.faces, found.split if weld is None else weld, where)
    return joined, turned_faces(joined.faces)


@dataclass(frozen=True, eq=False)
class PolygonTriangles:
    """The triangles of polygons.

    Args:
        faces: (m,3) vertices.
        corners: (m,3) the same among the corners of all polygons, in their order.
        polygon: (m,) polygon of each triangle.
        flaw: the error of the first collapsed polygon, which refuses a cloth; None: there is none.
        collapsed: number of the polygons without three different vertices.
    """

    faces: Faces
    corners: Ints
    polygon: Ints
    flaw: MeshError | None = None
    collapsed: int = 0

    def of_polygons(self, members: Sequence[int]) -> Ints:
        """Return the numbers of the triangles of some polygons."""
        return np.flatnonzero(np.isin(self.polygon, members)).astype(np.int32)

    @property
    def left_out(self) -> dict[str, int]:
        """Return the number of polygons without triangles, by their kind, for messages."""
        return {"collapsed faces": self.collapsed} if self.collapsed else {}


def triangulate_polygons(
    x: Positions, polygons: Sequence[AnyArray], where: str
) -> PolygonTriangles:
    """Return the triangles of polygons.

    A polygon with the same vertex twice is collapsed: repeated neighbors count once, and a polygon
    without three different vertices has no triangles.

    Args:
        x: (n,3) positions.
        polygons: vertices of each polygon.
        where: the file, for messages.

    Raises:
        MeshError: no whole numbers, numbers out of range, or too many corners.
    """
    sizes = np.array([len(ids) for ids in polygons], dtype=np.int32)
    ids = np.concatenate([np.zeros(0, dtype=np.int32), *polygons])
    polygon = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
    _check_range(ids, polygon, len(x), where)
    ids = ids.astype(np.int32)
    flat = len(sizes) > 0 and bool((sizes == 3).all())
    rows, bad = [np.zeros((0, 3), dtype=np.int32)], np.zeros(len(sizes), dtype=bool)
    if flat:
        table = ids.reshape(-1, 3)
        bad = (table == np.roll(table, 1, axis=1)).any(1)
        rows = [np.arange(table.size, dtype=np.int32).reshape(-1, 3)[~bad]]
    for k, first in enumerate([] if flat else np.cumsum(sizes) - sizes):
        own = ids[first : first + sizes[k]]
        bad[k] = len(set(own.tolist())) < max(len(own), 3)
        kept = np.flatnonzero(own != np.roll(own, 1)) if bad[k] else np.arange(len(own))
        if bad[k] and len(set(own[kept].tolist())) < max(len(kept), 3):
            continue
        rows.append(first + kept[np.array(triangulate(x[own[kept]], f"face {k}", where))])
    corners = np.concatenate(rows).astype(np.int32)
    polygon = polygon[corners[:, 0]]
    flaw = None
    if bad.any():
        k = int(np.argmax(bad))
        flaw = MeshError(
            f"vertex indices of face {k}",
            got=ids[sizes[:k].sum() :][: sizes[k]].tolist(),
            where=where,
            expected="three or more different indices",
            hint=f"{int(bad.sum())} of {len(bad)} faces are collapsed",
        )
    collapsed = len(sizes) - len(np.unique(polygon))
    return PolygonTriangles(ids[corners], corners, polygon, flaw, collapsed)


def _check_range(ids: AnyArray, polygon: Ints, n: int, where: str) -> None:
    """Check that the vertices of polygons are whole numbers from 0 to n - 1."""
    good = (ids >= 0) & (ids < n) & (ids == np.floor(ids))  # false for NaN
    if not good.all():
        k = polygon[np.argmin(good)]
        raise MeshError(
            f"vertex indices of face {k}",
            got=ids[polygon == k].tolist(),
            where=where,
            expected=f"three or more different indices from 0 to {n - 1}",
        )


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


def _is_ear(flat: Floats, ring: list[int], i: int) -> bool:
    a, b, c = _corner(flat, ring, i)
    if cross(b - a, c - a) <= 0:
        return False
    corners = {ring[i - 1], ring[i], ring[(i + 1) % len(ring)]}
    p = flat[[j for j in ring if j not in corners]]
    left = [cross(end - start, p - start) >= 0 for start, end in ((a, b), (b, c), (c, a))]
    return not np.all(left, axis=0).any()


def _quality(flat: Floats, ring: list[int], i: int) -> float:
    """Return area over squared edge lengths: large for round triangles, negative for inverted
    ones.
    """
    a, b, c = _corner(flat, ring, i)
    edges = ((b - a) ** 2).sum() + ((c - b) ** 2).sum() + ((a - c) ** 2).sum()
    return float(cross(b - a, c - a) / edges) if edges > 0 else -1.0
