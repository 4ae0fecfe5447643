"""Wavefront OBJ: positions, faces with texture coordinates at each corner, and groups.

weft has its own reader in order to preserve seams: a vertex on a UV seam stays one vertex, and each
corner has material coordinates of its own. Read are ``v vt f g o usemtl``, negative indices,
polygons, and continued lines.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from weft.base.arrays import CornerUv, Faces, Ints, Positions
from weft.base.errors import MeshError
from weft.base.input_file import OBJ_MEMBERSHIPS
from weft.discretization.mesh import TriangleMesh
from weft.io.files import atomic_write
from weft.io.surface import Contents, build_mesh, read_bytes, triangles_in, triangulate


@dataclass
class _Contents:
    """The statements of a file that have been read so far."""

    path: Path
    v: list[list[float]] = field(default_factory=list)
    vt: list[list[float]] = field(default_factory=list)
    polygons: list[tuple[int, list[int], list[int]]] = field(default_factory=list)  # line, v, vt
    members: dict[str, list[int]] = field(default_factory=dict)  # group -> polygons
    active: dict[str, list[str]] = field(default_factory=dict)  # "g", "o" -> names
    made_of: dict[str, list[int]] = field(default_factory=dict)  # material -> polygons
    material: str = ""
    memberships: int = 0  # number of faces, each counted once per group that it is in

    def error(self, line: int, what: str, got: object, expected: str) -> MeshError:
        """Return an error at a line of the file."""
        return MeshError(what, got=got, expected=expected, where=f"{self.path}:{line}")

    def numbers(self, line: int, words: Sequence[str], count: int, what: str) -> list[float]:
        """Return the first ``count`` words as finite numbers."""
        try:
            values = [float(w) for w in words[:count]]
        except ValueError:
            values = []
        if len(values) < count or not np.isfinite(values).all():
            raise self.error(line, what, " ".join(words), f"{count} finite numbers")
        return values

    def read_v(self, line: int, words: list[str]) -> None:
        """Read ``v x y z [w]``."""
        self.v.append(self.numbers(line, words, 3, "position"))

    def read_vt(self, line: int, words: list[str]) -> None:
        """Read ``vt u v [w]``."""
        self.vt.append(self.numbers(line, words, 2, "texture coordinates"))

    def read_f(self, line: int, words: list[str]) -> None:
        """Read ``f v/vt/vn ...``."""
        if len(words) < 3:
            raise self.error(line, "face", " ".join(words), "at least three corners")
        corners = [w.split("/") for w in words]
        v = [self.index(line, c[0], len(self.v), "vertex index") for c in corners]
        vt = [
            self.index(line, c[1], len(self.vt), "texture index")
            for c in corners
            if len(c) > 1 and c[1]
        ]
        if vt and len(vt) != len(v):
            raise self.error(line, "face", " ".join(words), "texture coordinates at all corners")
        if len(set(v)) < len(v):
            raise self.error(line, "face", " ".join(words), "each vertex once")
        names = dict.fromkeys(n for names in self.active.values() for n in names)
        self.memberships += len(names)
        if self.memberships > OBJ_MEMBERSHIPS + 4 * len(self.polygons):
            raise self.error(line, "groups", len(names), "fewer: every face is in each of them")
        for name in names:
            self.members.setdefault(name, []).append(len(self.polygons))
        if self.material:
            self.made_of.setdefault(self.material, []).append(len(self.polygons))
        self.polygons.append((line, v, vt))

    def index(self, line: int, text: str, count: int, what: str) -> int:
        """Return a 1-based or negative index as one that counts from 0."""
        try:
            number = int(text)
        except ValueError:
            number = 0
        index = number - 1 if number > 0 else count + number
        if number == 0 or not 0 <= index < count:
            raise self.error(line, what, text, f"1 to {count}, or -{count} to -1")
        return index

    def read_g(self, line: int, words: list[str]) -> None:
        """Read ``g name ...``."""
        self.active["g"] = words

    def read_o(self, line: int, words: list[str]) -> None:
        """Read ``o name``."""
        self.active["o"] = words[:1]

    def read_usemtl(self, line: int, words: list[str]) -> None:
        """Read ``usemtl name``."""
        self.material = " ".join(words)


def read_obj(
    path: str | Path,
    *,
    scale: float | None = None,
    uv_scale: float | None = None,
    warp: Sequence[float] | None = None,
) -> TriangleMesh:
    """Return the mesh in an OBJ file.

    Args:
        path: the file.
        scale: meters per unit of ``v``; None: 1.
        uv_scale: meters per unit of ``vt``; None: the same as ``scale``.
        warp: direction of the warp yarns in space; ``vt`` is then ignored.

    Raises:
        MeshError: with file and line.
    """
    path = Path(path)
    return build_mesh(path, obj_contents(path), scale=scale, uv_scale=uv_scale, warp=warp)


def obj_contents(path: Path) -> Contents:
    """Return the contents of an OBJ file.

    Raises:
        MeshError: with file and line.
    """
    c = _Contents(path)
    statements: dict[str, Callable[[int, list[str]], None]] = {
        "v": c.read_v,
        "vt": c.read_vt,
        "f": c.read_f,
        "g": c.read_g,
        "o": c.read_o,
        "usemtl": c.read_usemtl,
    }
    for line, words in _statements(read_bytes(path).decode("utf-8", errors="replace")):
        if words[0] in statements:
            statements[words[0]](line, words[1:])
    with_uv = [len(vt) > 0 for _, _, vt in c.polygons]
    if any(with_uv) and not all(with_uv):
        line = c.polygons[with_uv.index(False)][0]
        raise c.error(line, "face", "no texture coordinates", "them at every face, or at none")
    faces, uv, polygon = _triangles(c)
    groups = {
        name: np.unique(np.concatenate([c.polygons[p][1] for p in members])).astype(np.int32)
        for name, members in c.members.items()
    }
    named = {**c.made_of, **c.members}  # a group takes precedence over a material of its name
    regions = {name: triangles_in(members, polygon) for name, members in named.items()}
    x = np.array(c.v, dtype=np.float64).reshape(-1, 3)
    return Contents(x, faces, uv if any(with_uv) else None, groups, regions=regions)


def _statements(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and words of each statement, with continued lines joined and comments
    dropped.
    """
    pending, first = "", 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].rstrip()
        first = first or number
        if line.endswith("\\"):
            pending += line[:-1] + " "
            continue
        words = (pending + line).split()
        if words:
            yield first, words
        pending, first = "", 0


def _triangles(c: _Contents) -> tuple[Faces, CornerUv, Ints]:
    """Return the triangles, their texture coordinates, and the polygon of which each one is a
    part.
    """
    faces: list[list[int]] = []
    texture: list[list[int]] = []
    polygon: list[int] = []
    for number, (line, v, vt) in enumerate(c.polygons):
        points = np.array([c.v[i] for i in v])
        for t in triangulate(points, "face", f"{c.path}:{line}") if len(v) > 3 else [(0, 1, 2)]:
            faces.append([v[i] for i in t])
            texture.append([vt[i] for i in t] if vt else [0, 0, 0])
            polygon.append(number)
    table = np.array(c.vt or [[0.0, 0.0]])
    uv = table[np.array(texture, dtype=np.int64).reshape(-1, 3)]
    return np.array(faces, dtype=np.int32).reshape(-1, 3), uv, np.array(polygon, dtype=np.int32)


def write_obj(
    path: str | Path, vertices: Positions, faces: Faces, corner_uv: CornerUv | None = None
) -> None:
    """Write a mesh to an OBJ file.

    Equal texture coordinates are written once; positions and coordinates read back bitwise.

    Args:
        path: the file.
        vertices: (n,3) [m] positions.
        faces: (m,3).
        corner_uv: (m,3,2) [m] material coordinates; None: none.

    Raises:
        RunError: the file cannot be written.
    """
    lines = ["# weft"]
    lines += [f"v {x!r} {y!r} {z!r}" for x, y, z in np.asarray(vertices).tolist()]
    f = np.asarray(faces) + 1
    if corner_uv is None:
        lines += [f"f {a} {b} {c}" for a, b, c in f.tolist()]
    else:
        table, number = np.unique(corner_uv.reshape(-1, 2), axis=0, return_inverse=True)
        lines += [f"vt {u!r} {v!r}" for u, v in table.tolist()]
        t = number.reshape(-1, 3) + 1
        lines += [
            f"f {a}/{i} {b}/{j} {c}/{k}"
            for a, i, b, j, c, k in np.stack([f, t], -1).reshape(-1, 6).tolist()
        ]
    with atomic_write(path) as file:
        file.write(("\n".join(lines) + "\n").encode())
