"""STL, ASCII and binary: triangles without shared vertices, which are welded where they coincide.

A binary file has 80 bytes, the number of triangles, and for each triangle its normal, three corners
and two bytes. The format has no unit, no names of vertices and no texture coordinates.
"""

from pathlib import Path

import numpy as np

from weft.base.arrays import AnyArray, Ints
from weft.base.errors import MeshError
from weft.base.input_file import decode_text
from weft.io.surface import Contents, read_bytes, triangulate_polygons

HEAD = 84  # [bytes] before the triangles of a binary file
TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def stl_contents(path: Path) -> Contents:
    """Return the contents of an STL file; every named solid of an ASCII file is a region.

    Corners at the same place are one vertex.

    Raises:
        MeshError: no STL file, or a damaged one.
    """
    data = read_bytes(path)
    count = int.from_bytes(data[80:HEAD], "little")
    names: list[tuple[str, int]] = []
    end = HEAD + count * TRIANGLE.itemsize
    text = decode_text(data[:HEAD]).lstrip().lower().startswith("solid")
    if HEAD <= end == len(data) or (HEAD <= end < len(data) and not text):
        corners = np.frombuffer(data, TRIANGLE, count, HEAD)["corners"].reshape(-1, 3)
    else:
        corners, names = _read_text(path, data)
    with np.errstate(invalid="ignore"):  # signaling NaN
        x = corners.astype(np.float64) + 0.0  # no negative zeros
    if not np.isfinite(x).all():
        bad = int(np.flatnonzero(~np.isfinite(x).all(1))[0])
        raise MeshError(f"corner {bad}", got=x[bad].tolist(), where=path, expected="finite numbers")
    _, first, inverse = np.unique(x, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    faces = rank[inverse.reshape(-1)].astype(np.int32).reshape(-1, 3)
    triangles = triangulate_polygons(x[first[order]], list(faces), str(path))
    regions: dict[str, Ints] = {}
    ends = [*(start for _, start in names[1:]), len(faces)]
    for (name, start), end in zip(names, ends):
        members = triangles.of_polygons(range(start, end))
        if name:
            regions[name] = np.concatenate([regions.get(name, members[:0]), members])
    return Contents(
        x[first[order]],
        triangles.faces,
        regions=regions,
        left_out=triangles.left_out,
        flaw=triangles.flaw,
    )


def _read_text(path: Path, data: bytes) -> tuple[AnyArray, list[tuple[str, int]]]:
    """Return the corners (3m,3) of an ASCII file, and its solids: name and first triangle."""
    text = decode_text(data)
    tail = text.lower().count("endfacet")
    if not text.lstrip().lower().startswith("solid") or "\0" in text:
        raise _error(path, f"{len(data)} bytes")
    numbers: list[list[float]] = []
    names: list[tuple[str, int]] = []
    for line, raw in enumerate(text.splitlines(), start=1):
        kind, *words = raw.split() or [""]
        if kind.lower() == "vertex":
            try:
                x, y, z = map(float, words[:3])
            except ValueError:
                raise _error(path, f"{raw.strip()!r} in line {line}") from None
            numbers.append([x, y, z])
        elif kind.lower() == "solid":
            names.append((" ".join(words), len(numbers) // 3))
    if len(numbers) != 3 * tail:
        raise _error(path, f"{len(numbers)} corners of {tail} triangles")
    return np.array(numbers, dtype=np.float64).reshape(-1, 3), names


def _error(path: Path, got: str) -> MeshError:
    """Return the error of a damaged file."""
    return MeshError(
        "STL file", got=got, where=path, expected="a complete binary or ASCII STL file"
    )
