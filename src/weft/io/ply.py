"""Stanford PLY, ASCII and binary: positions, faces, and texture coordinates per vertex or corner.

Texture coordinates are the vertex properties ``s t``, ``u v`` or ``texture_u texture_v``, where
seams split vertices, which cloth joins again; or a list ``texcoord`` of each face (two numbers per
corner), which preserves seams. Other properties of
vertices are painted weights; an integer property of faces makes regions called ``NAME VALUE``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from weft.base.arrays import AnyArray, CornerUv, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError, to_one_line
from weft.base.input_file import decode_text, strip_byte_order_mark
from weft.io.animation import Fields
from weft.io.files import atomic_write
from weft.io.surface import Contents, PolygonTriangles, read_bytes, triangulate_polygons

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
_UV = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
_NO_WEIGHTS = {*"xyz", "nx", "ny", "nz"}.union(*_UV)
_READ_LISTS = ("vertex_indices", "vertex_index", "texcoord")  # of faces
MOST_REGIONS = 64  # largest number of values of a face property that makes regions
_Table = dict[str, Any]  # (n,) numbers of the rows by property; of a list property: n arrays


@dataclass(frozen=True)
class _Property:
    name: str
    type: str  # NumPy's code
    count: str = ""  # of a list: the type of its length


@dataclass(frozen=True)
class _Element:
    n: int
    properties: list[_Property] = field(default_factory=list)

    def names(self, *, lists: bool) -> set[str]:
        """Return the names of the properties that are lists, or of those that are numbers."""
        return {p.name for p in self.properties if bool(p.count) == lists}


class _Body:
    """The numbers after the header of a binary file, read one after the other."""

    def __init__(self, data: bytes, order: str) -> None:
        self.data, self.order, self.place = data, order, 0

    def table(self, element: _Element) -> _Table:
        """Return the rows of the next element."""
        if not element.names(lists=True):
            return self.columns(element)
        table: _Table = {p.name: [] for p in element.properties}
        for _ in range(element.n):
            for p in element.properties:
                count = self.take(self.order + p.count, 1)[0] if p.count else 1
                if not (count >= 0 and count == np.floor(count)):
                    raise ValueError(f"a list of {count}")
                values = self.take(self.order + p.type, int(count))
                table[p.name].append(values if p.count else values[0])
        return table

    def columns(self, element: _Element) -> _Table:
        """Return the rows of an element without lists."""
        dtype = np.dtype([(p.name, self.order + p.type) for p in element.properties])
        rows = self.take(dtype, element.n) if element.properties else np.zeros(0, dtype)
        return {p.name: rows[p.name] for p in element.properties}

    def take(self, dtype: DTypeLike, count: int) -> AnyArray:
        """Return the next numbers.

        Raises:
            ValueError: the file ends early.
        """
        values = np.frombuffer(self.data, dtype, count, self.place)
        self.place += values.nbytes
        return values


class _Text(_Body):
    """The numbers after the header of an ASCII file."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data, "")
        self.words = decode_text(data).split()

    def columns(self, element: _Element) -> _Table:
        """Return the rows of an element without lists."""
        names = [p.name for p in element.properties]
        flat = self.take("f8", element.n * len(names))
        return dict(zip(names, flat.reshape(-1, max(len(names), 1)).T))

    def take(self, dtype: DTypeLike, count: int) -> AnyArray:
        """Return the next numbers, whatever their type."""
        words = self.words[self.place : self.place + count]
        if len(words) < count:
            raise ValueError("the file ends early")
        self.place += count
        return np.array(words, dtype=np.float64)


def ply_contents(path: Path) -> Contents:
    """Return the contents of a PLY file.

    Raises:
        MeshError: not a PLY file, or a damaged one.
    """
    data = strip_byte_order_mark(read_bytes(path))
    try:
        order, elements, rest = _header(data)
        _check_elements(elements)
        body = _Body(rest, order) if order else _Text(rest)
        tables = {name: body.table(e) for name, e in elements.items()}
        vertex, face = tables["vertex"], tables["face"]
        x = np.stack([vertex[k] for k in "xyz"], axis=1).astype(np.float64)
        if not np.isfinite(x).all():
            bad = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
            raise ValueError(f"position of vertex {bad} is not finite")
        polygons = face["vertex_indices" if "vertex_indices" in face else "vertex_index"]
        triangles = triangulate_polygons(x, polygons, str(path))
    except (ValueError, OverflowError) as error:
        raise _error(path, error) from error
    uv, flaw = None, triangles.flaw
    try:
        uv = _corner_uv(vertex, face, polygons, triangles)
    except (ValueError, TypeError) as error:
        flaw = flaw or _error(path, error)
    weights = _weights(elements["vertex"], vertex)
    regions = _regions(elements["face"], face, triangles)
    return Contents(
        x,
        triangles.faces,
        uv,
        weights=weights,
        regions=regions,
        split=uv is not None and "texcoord" not in face,
        loose_edges=_loose_edges(tables, len(x)),
        left_out={**triangles.left_out, **_left_out(elements, tables)},
        flaw=flaw,
    )


def _error(path: Path, error: Exception) -> MeshError:
    """Return the error of a damaged file."""
    return MeshError(
        "PLY file",
        got=str(error),
        where=path,
        expected="an ASCII or binary PLY with vertex (x y z) and face (vertex_indices)",
    )


def _loose_edges(tables: Mapping[str, _Table], n: int) -> Ints:
    """Return the edges (k,2) of the element ``edge`` between n vertices."""
    edge = tables.get("edge", {})
    if not {"vertex1", "vertex2"} <= edge.keys():
        return np.zeros((0, 2), dtype=np.int32)
    ends = np.stack([edge["vertex1"], edge["vertex2"]], axis=1).astype(np.int64).reshape(-1, 2)
    return ends[((ends >= 0) & (ends < n)).all(1)].astype(np.int32)


def _left_out(elements: Mapping[str, _Element], tables: Mapping[str, _Table]) -> dict[str, int]:
    """Return the number of rows of elements and properties that are not read, by their kind."""
    found = {
        f"rows of the element `{name}`": e.n
        for name, e in elements.items()
        if e.n and name not in ("vertex", "face", "edge")
    }
    for name, read in (("vertex", ()), ("face", _READ_LISTS)):
        for p in elements[name].properties:
            values = tables[name][p.name]
            unread = p.count and p.name not in read
            if name == "face" and not p.count:
                unread = p.type[0] == "f" or len(np.unique(values)) > MOST_REGIONS
            if unread and elements[name].n:
                found[f"values of the {name} property `{p.name}`"] = elements[name].n
    return found


def _header(data: bytes) -> tuple[str, dict[str, _Element], bytes]:
    """Return the byte order ("" of a text), the elements by name, and what follows the header.

    Raises:
        ValueError: a header that is not that of a PLY file.
    """
    end = data.find(b"end_header")
    body = data.find(b"\n", end) + 1
    lines = decode_text(data[: max(end, 0)]).splitlines()
    if not lines or not body or lines[0].strip() != "ply":
        raise ValueError("the first line is not `ply`, or there is no end_header")
    order, elements, last = None, dict[str, _Element](), None
    for line in lines[1:]:
        match line.split():
            case ["format", name, *_] if name in _ORDER:
                order = _ORDER[name]
            case ["element", name, n, *_] if n.isdecimal():
                elements[name] = last = _Element(int(n))
            case ["property", "list", count, kind, name, *_] if (
                last and kind in _TYPES and _TYPES.get(count, "f")[0] in "iu"
            ):
                last.properties.append(_Property(name, _TYPES[kind], _TYPES[count]))
            case ["property", kind, name, *_] if last and kind in _TYPES:
                last.properties.append(_Property(name, _TYPES[kind]))
            case ["format" | "element" | "property", *_]:
                raise ValueError(f"header line {to_one_line(line)!r}")
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
    if not set("xyz") <= elements["vertex"].names(lists=False):
        raise ValueError("vertices without numbers x, y and z")
    if not {"vertex_indices", "vertex_index"} & elements["face"].names(lists=True):
        raise ValueError("faces without a list vertex_indices")


def _corner_uv(
    vertex: _Table, face: _Table, polygons: list[AnyArray], triangles: PolygonTriangles
) -> CornerUv | None:
    """Return the texture coordinates of the corners of the triangles."""
    if "texcoord" in face:
        if not isinstance(face["texcoord"], list):
            raise ValueError("a texcoord of faces that is not a list")
        lists = face["texcoord"]
        bad = [i for i, (t, p) in enumerate(zip(lists, polygons)) if len(t) != 2 * len(p)]
        if bad:
            raise ValueError(f"texcoord of face {bad[0]} does not have two numbers per corner")
        flat = np.concatenate([np.zeros(0), *lists], dtype=np.float64)
        return flat.reshape(-1, 2)[triangles.corners]
    for u, v in _UV:
        if u in vertex and v in vertex:
            uv = np.stack([vertex[u], vertex[v]], axis=1).astype(np.float64)
            return uv[triangles.faces]
    return None


def _weights(element: _Element, vertex: _Table) -> dict[str, Floats]:
    """Return (n,) every numeric property of vertices that is no coordinate: painted weights,
    colors.

    Values of one byte, such as colors, are scaled to the range from 0 to 1.
    """
    return {
        p.name: np.asarray(vertex[p.name], dtype=np.float64) / (255 if p.type == "u1" else 1)
        for p in element.properties
        if not p.count and p.name not in _NO_WEIGHTS
    }


def _regions(element: _Element, face: _Table, triangles: PolygonTriangles) -> dict[str, Ints]:
    """Return triangles by name and value of an integer property of faces: ``material_index 2``.

    A property with more than ``MOST_REGIONS`` values, such as a number or color of each face, makes
    no regions.
    """
    found: dict[str, Ints] = {}
    for p in element.properties:
        if p.count or p.type[0] not in "iu":
            continue
        label = np.asarray(face[p.name], dtype=np.int64)
        values = np.unique(label)
        if len(values) <= MOST_REGIONS:
            own = label[triangles.polygon]
            found |= {f"{p.name} {v}": np.flatnonzero(own == v).astype(np.int32) for v in values}
    return found


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
    given = numbers or Fields()
    cells, points = _columns(given.cells), _columns(given.points)
    dtype = [("n", "u1"), ("ids", "<i4", 3), ("n_uv", "u1"), ("uv", "<f8", 6)]
    texcoord = "property list uchar double texcoord\n"
    if corner_uv is None:
        dtype, texcoord = dtype[:2], ""
    rows = np.zeros(len(faces), [*dtype, *((name, "<f8") for name in cells)])
    rows["n"], rows["ids"] = 3, faces
    if corner_uv is not None:
        rows["n_uv"], rows["uv"] = 6, corner_uv.reshape(-1, 6)
    for name, values in cells.items():
        rows[name] = values
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
