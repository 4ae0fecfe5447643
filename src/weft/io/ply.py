"""Stanford PLY, ASCII and binary: positions, faces, and texture coordinates per vertex or corner.

Texture coordinates are the vertex properties ``s t``, ``u v`` or ``texture_u texture_v``, or a list
``texcoord`` of each face (two numbers per corner), which preserves seams. Other properties of
vertices are painted weights; an integer property of faces makes regions called ``NAME VALUE``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weft.base.arrays import AnyArray, Arrays, CornerUv, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError, clipped
from weft.discretization.mesh import TriangleMesh
from weft.io.animation import Fields
from weft.io.files import atomic_write
from weft.io.surface import Contents, build_mesh, read_bytes, triangulate

_TYPES = {
    "char": "i1",
    "int8": "i1",
    "uchar": "u1",
    "uint8": "u1",
    "short": "i2",
    "int16": "i2",
    "ushort": "u2",
    "uint16": "u2",
    "int": "i4",
    "int32": "i4",
    "uint": "u4",
    "uint32": "u4",
    "float": "f4",
    "float32": "f4",
    "double": "f8",
    "float64": "f8",
}
_ORDER = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
_PLACES = {*"xyzstuv", "nx", "ny", "nz", "texture_u", "texture_v"}  # no painted weights
MOST_REGIONS = 64  # largest number of values of a face property that makes regions
_UV = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))


@dataclass(frozen=True)
class _Property:
    name: str
    type: str  # NumPy's code
    count: str = ""  # of a list: the type of its length


@dataclass(frozen=True)
class _Element:
    name: str
    n: int
    properties: list[_Property]


def read_ply(
    path: str | Path,
    *,
    scale: float | None = None,
    uv_scale: float | None = None,
    warp: Sequence[float] | None = None,
) -> TriangleMesh:
    """Return the mesh in a PLY file; the arguments are those of ``read_obj``.

    Raises:
        MeshError: not a PLY file, a damaged one, or an error that the checks of the mesh find.
    """
    path = Path(path)
    return build_mesh(path, ply_contents(path), scale=scale, uv_scale=uv_scale, warp=warp)


def ply_contents(path: Path) -> Contents:
    """Return the contents of a PLY file.

    Raises:
        MeshError: not a PLY file, or a damaged one.
    """
    data = read_bytes(path)
    try:
        order, elements, body = _header(data)
        _check_elements(elements)
        read = elements.values()
        tables = _ascii(body, read) if order == "" else _binary(body, read, order)
        vertex, face = tables["vertex"], tables["face"]
        x = np.stack([np.asarray(vertex[k], dtype=np.float64) for k in "xyz"], axis=1)
        if not np.isfinite(x).all():
            bad = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
            raise ValueError(f"position of vertex {bad} is not finite")
        polygons = face["vertex_indices" if "vertex_indices" in face else "vertex_index"]
        _check_indices(polygons, len(x), path)
        corner_uv = _corner_uv(vertex, face, polygons)
        own = elements["vertex"].properties
        weights = _weights(vertex, {p.name for p in own if p.type == "u1"})
        own = elements["face"].properties
        whole = [p.name for p in own if p.type[0] in "iu" and not p.count]
        labels = {name: np.asarray(face[name], dtype=np.int64) for name in whole}
    except ValueError as error:
        raise MeshError(
            "PLY file",
            got=str(error),
            where=str(path),
            expected="an ASCII or binary PLY with vertex (x y z) and face (vertex_indices)",
        ) from error
    faces, uv, polygon = _triangles(x, polygons, corner_uv, path)
    return Contents(x, faces, uv, weights=weights, regions=_regions(labels, polygon))


def _regions(labels: Arrays, polygon: Ints) -> dict[str, Ints]:
    """Return triangles by name and value of an integer property of faces: ``material_index 2``.

    A property with more than ``MOST_REGIONS`` values, such as a number or color of each face, makes
    no regions.
    """
    found: dict[str, Ints] = {}
    for name, label in labels.items():
        values = np.unique(label)
        if len(values) <= MOST_REGIONS:
            own = label[polygon]
            found |= {f"{name} {v}": np.flatnonzero(own == v).astype(np.int32) for v in values}
    return found


def _weights(vertex: Arrays, bytes_: set[str]) -> dict[str, Floats]:
    """Return (n,) every numeric property of vertices that is no coordinate: painted weights,
    colors.

    Values of one byte, such as colors, are scaled to the range from 0 to 1.
    """
    found: dict[str, Floats] = {}
    for name, values in vertex.items():
        a = np.asarray(values)
        if name in _PLACES or a.ndim != 1 or a.dtype.kind not in "fiu":
            continue
        found[name] = a.astype(np.float64) / (255 if name in bytes_ else 1)
    return found


def _header(data: bytes) -> tuple[str, dict[str, _Element], bytes]:
    """Return the byte order ("" of a text), the elements by name, and what follows the header.

    Raises:
        ValueError: a header that is not that of a PLY file.
    """
    end = data.find(b"end_header")
    body = data.find(b"\n", end) + 1
    lines = data[: max(end, 0)].decode("ascii").splitlines()
    if not lines or not body or lines[0].strip() != "ply":
        raise ValueError("the first line is not `ply`, or there is no end_header")
    order, elements = None, dict[str, _Element]()
    for line in lines[1:]:
        match line.split():
            case ["format", str() as name, *_] if name in _ORDER:
                order = _ORDER[name]
            case ["element", str() as name, str() as n, *_] if n.isdecimal():
                elements[name] = _Element(name, int(n), [])
            case ["property", "list", str() as count, str() as kind, str() as name, *_] if (
                elements and kind in _TYPES and _TYPES.get(count, "f")[0] in "iu"
            ):
                list(elements.values())[-1].properties.append(
                    _Property(name, _TYPES[kind], count=_TYPES[count])
                )
            case ["property", str() as kind, str() as name, *_] if elements and kind in _TYPES:
                list(elements.values())[-1].properties.append(_Property(name, _TYPES[kind]))
            case ["format" | "element" | "property", *_]:
                raise ValueError(f"header line {clipped(line)!r}")
    if order is None:
        raise ValueError("no format line")
    return order, elements, data[body:]


def _check_elements(elements: Mapping[str, _Element]) -> None:
    """Check that vertices have numbers x, y, z, and faces a list of their vertices.

    Raises:
        ValueError: one of them is missing, or is a list where a number is expected.
    """
    for name in ("vertex", "face"):
        if name not in elements:
            raise ValueError(f"no element {name}")
    numbers = {p.name for p in elements["vertex"].properties if not p.count}
    lists = {p.name for p in elements["face"].properties if p.count}
    if not set("xyz") <= numbers:
        raise ValueError("vertices without numbers x, y and z")
    if not {"vertex_indices", "vertex_index"} & lists:
        raise ValueError("faces without a list vertex_indices")
    if "texcoord" in {p.name for p in elements["face"].properties} - lists:
        raise ValueError("a texcoord of faces that is no list")


def _ascii(body: bytes, elements: Iterable[_Element]) -> dict[str, dict[str, AnyArray]]:
    words = body.decode("ascii").split()
    place, tables = 0, {}
    for e in elements:
        table: dict[str, Any] = {p.name: [] for p in e.properties}
        for _ in range(_rows(e, len(words) - place)):
            for p in e.properties:
                if place == len(words):
                    raise ValueError("the file ends early")
                n = int(words[place]) if p.count else 1
                if n < 0:
                    raise ValueError(f"a list of {n}")
                place += bool(p.count)
                values = [float(w) for w in words[place : place + n]]
                if len(values) < n:
                    raise ValueError("the file ends early")
                place += n
                table[p.name].append(values if p.count else values[0])
        tables[e.name] = table
    return tables


def _binary(
    body: bytes, elements: Iterable[_Element], order: str
) -> dict[str, dict[str, AnyArray]]:
    place, tables = 0, {}
    for e in elements:
        dtype = _uniform(e, body, place, order)
        if dtype is not None and place + e.n * dtype.itemsize <= len(body) and dtype.itemsize:
            rows = np.frombuffer(body, dtype, e.n, place)
            if all(
                (rows["#" + p.name] == rows["#" + p.name][:1]).all()
                for p in e.properties
                if p.count
            ):
                tables[e.name] = {p.name: rows[p.name] for p in e.properties}
                place += e.n * dtype.itemsize
                continue
        table: dict[str, Any] = {p.name: [] for p in e.properties}
        for _ in range(_rows(e, len(body) - place)):
            for p in e.properties:
                n = 1
                if p.count:
                    n = int(np.frombuffer(body, order + p.count, 1, place)[0])
                    if n < 0:
                        raise ValueError(f"a list of {n}")
                    place += np.dtype(p.count).itemsize
                values = np.frombuffer(body, order + p.type, n, place)
                place += values.nbytes
                table[p.name].append(values if p.count else values[0])
        tables[e.name] = table
    return tables


def _rows(e: _Element, room: int) -> int:
    """Return the number of rows that the header declares, if enough words or bytes follow for them.

    Raises:
        ValueError: there are fewer.
    """
    if not e.properties:
        return 0
    if e.n * len(e.properties) > room:
        raise ValueError(f"the file ends early: {e.n} {e.name}s promised")
    return e.n


def _uniform(e: _Element, body: bytes, place: int, order: str) -> np.dtype[np.void] | None:
    """Return the record type of an element if every list has the length of the first one, so that
    all rows can be read at once.
    """
    fields: list[Any] = []
    if e.n == 0:
        return None
    for p in e.properties:
        if not p.count:
            fields.append((p.name, order + p.type))
        else:
            offset = place + np.dtype(fields).itemsize
            n = int(np.frombuffer(body, order + p.count, 1, offset)[0])
            fields += [("#" + p.name, order + p.count), (p.name, order + p.type, (n,))]
    return np.dtype(fields)


def _check_indices(polygons: AnyArray, n: int, path: Path) -> None:
    for i, polygon in enumerate(polygons):
        ids = np.atleast_1d(np.asarray(polygon))
        whole = len(ids) >= 3 and bool((ids >= 0).all() and (ids < n).all())  # false for NaN
        if not whole or (ids != np.floor(ids)).any() or len(set(ids.tolist())) < len(ids):
            raise MeshError(
                f"vertex indices of face {i}",
                got=ids.tolist(),
                where=str(path),
                expected=f"three or more different ones from 0 to {n - 1}",
            )


def _corner_uv(vertex: Arrays, face: Arrays, polygons: AnyArray) -> list[Floats] | None:
    """Return the texture coordinates (k,2) of the corners of each polygon."""
    if "texcoord" in face:
        given = [np.asarray(t, dtype=np.float64).reshape(-1, 2) for t in face["texcoord"]]
        bad = [i for i, (t, p) in enumerate(zip(given, polygons)) if len(t) != len(p)]
        if bad:
            raise ValueError(f"texcoord of face {bad[0]} has not two numbers a corner")
        return given
    for u, v in _UV:
        if u in vertex and v in vertex:
            uv = np.stack([np.asarray(vertex[u]), np.asarray(vertex[v])], axis=1)
            uv = uv.astype(np.float64)
            return [uv[np.asarray(p, dtype=np.int64)] for p in polygons]
    return None


def _triangles(
    x: Positions, polygons: AnyArray, uv: list[Floats] | None, path: Path
) -> tuple[Faces, CornerUv | None, Ints]:
    faces: list[AnyArray] = []
    corners: list[AnyArray] = []
    polygon_of: list[int] = []
    for i, polygon in enumerate(polygons):
        ids = np.asarray(polygon, dtype=np.int64)
        for t in triangulate(x[ids], f"face {i}", str(path)):
            faces.append(ids[list(t)])
            polygon_of.append(i)
            if uv is not None:
                corners.append(uv[i][list(t)])
    table = np.array(faces, dtype=np.int32).reshape(-1, 3)
    number = np.array(polygon_of, dtype=np.int32)
    return table, None if uv is None else np.array(corners), number


def write_ply(
    path: str | Path,
    vertices: Positions,
    faces: Faces,
    corner_uv: CornerUv | None = None,
    numbers: Fields | None = None,
) -> None:
    """Write a mesh to a binary PLY file.

    Positions are written as double, material coordinates as ``texcoord`` of each face, and fields
    as properties of vertices and faces: ``stress_0``, ``stress_1``, ...

    Args:
        path: the file.
        vertices: (n,3) [m] positions.
        faces: (m,3).
        corner_uv: (m,3,2) [m] material coordinates; None: none.
        numbers: fields at vertices and faces; None: none.

    Raises:
        RunError: the file cannot be written.
    """
    fields: list[Any] = [("n", "u1"), ("ids", "<i4", (3,))]
    texcoord = ""
    if corner_uv is not None:
        fields += [("n_uv", "u1"), ("uv", "<f8", (6,))]
        texcoord = "property list uchar double texcoord\n"
    given = numbers or Fields()
    cells, points = _columns(given.cells), _columns(given.points)
    fields += [(name, "<f8") for name in cells]
    rows = np.zeros(len(faces), np.dtype(fields))
    rows["n"], rows["ids"] = 3, faces
    for name, values in cells.items():
        rows[name] = values
    if corner_uv is not None:
        rows["n_uv"], rows["uv"] = 6, corner_uv.reshape(-1, 6)
    header = (
        "ply\nformat binary_little_endian 1.0\ncomment weft\n"
        f"element vertex {len(vertices)}\n"
        f"property double x\nproperty double y\nproperty double z\n{_properties(points)}"
        f"element face {len(faces)}\nproperty list uchar int vertex_indices\n{texcoord}"
        f"{_properties(cells)}end_header\n"
    )
    with atomic_write(path) as file:
        file.write(header.encode())
        file.write(np.column_stack([vertices, *points.values()]).astype("<f8").tobytes())
        file.write(rows.tobytes())


def _columns(arrays: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return the fields as columns by name; the columns of an array of several are numbered."""
    found: dict[str, Floats] = {}
    for name, values in arrays.items():
        if values.ndim == 1:
            found[name] = values
        else:
            found.update({f"{name}_{k}": column for k, column in enumerate(values.T)})
    return found


def _properties(columns: Mapping[str, Floats]) -> str:
    return "".join(f"property double {name}\n" for name in columns)
