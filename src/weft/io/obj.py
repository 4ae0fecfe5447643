"""Wavefront OBJ: positions, faces with texture coordinates at each corner, and groups.

weft has its own reader in order to preserve seams: a vertex on a UV seam stays one vertex, and each
corner has material coordinates of its own. Read are ``v vt f l g o usemtl``, negative indices,
polygons, and continued lines. A file is UTF-8; other bytes are characters of Latin-1.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import numpy as np

from weft.base.arrays import CornerUv, Faces, Positions
from weft.base.errors import MeshError, to_one_line
from weft.base.input_file import OBJ_MEMBERSHIPS, decode_text
from weft.io.files import write_file
from weft.io.surface import MOST_CORNERS, Contents, read_bytes, triangulate_polygons

# Statements that change only how the surface looks: normals, smoothing, materials.
APPEARANCE = ("vn", "s", "mtllib", "maplib", "usemap", "bevel", "c_interp", "d_interp", "lod")
KINDS = {"p": "points `p`"}  # names of statements that are left out, for messages
LONGEST_KIND = 12  # characters of a statement's name in a message


@dataclass
class _Statements:
    """The statements of a file that have been read so far."""

    path: Path
    v: list[list[float]] = field(default_factory=list)
    vt: list[list[float]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)  # of the polygons
    polygons: list[list[int]] = field(default_factory=list)  # vertices
    texture: list[list[int]] = field(default_factory=list)  # texture coordinates of the polygons
    groups: dict[str, list[int]] = field(default_factory=dict)  # polygons
    active: dict[str, list[str]] = field(default_factory=dict)  # "g", "o" -> names
    materials: dict[str, list[int]] = field(default_factory=dict)  # polygons
    material: str = ""
    memberships: int = 0  # number of faces, each counted once per group that it is in
    loose: list[tuple[int, int]] = field(default_factory=list)  # edges of ``l``
    colored: int = 0  # vertices with a color
    left_out: Counter[str] = field(default_factory=Counter)  # statements that are not read, by kind
    flaw: MeshError | None = None  # the first error that refuses a cloth, and not a body

    def error(self, line: int, what: str, got: object, expected: str) -> MeshError:
        """Return an error at a line of the file."""
        return MeshError(what, got=got, expected=expected, where=f"{self.path}:{line}")

    def refuse_cloth(self, error: MeshError) -> None:
        """Record an error that does not refuse a body."""
        self.flaw = self.flaw or error

    def read(self, line: int, kind: str, words: list[str]) -> None:
        """Read a statement; those of other kinds are counted."""
        match kind:
            case "v":
                self.v.append(self.read_numbers(line, words, 3, "position"))
                self.colored += len(words) >= 6
            case "vt":
                try:
                    self.vt.append(self.read_numbers(line, words, 2, "texture coordinates"))
                except MeshError as error:
                    self.refuse_cloth(error)
                    self.vt.append([0.0, 0.0])
            case "f":
                self.read_face(line, words)
            case "l":
                ends = [w.split("/")[0] for w in words]
                v = [self.read_index(line, w, len(self.v), "vertex index") for w in ends]
                self.loose += [(a, b) for a, b in pairwise(v) if a != b]
            case "g":  # several groups, or the name of one group, which has blanks
                self.active["g"] = [*words, " ".join(words)]
            case "o":
                self.active["o"] = [" ".join(words)]
            case "usemtl":
                self.material = " ".join(words)
            case _ if kind and kind not in APPEARANCE:
                name = to_one_line(kind, LONGEST_KIND)
                self.left_out[KINDS.get(kind, f"statements `{name}`")] += 1

    def read_numbers(self, line: int, words: Sequence[str], count: int, what: str) -> list[float]:
        """Return the first ``count`` words as finite numbers."""
        try:
            values = [float(w) for w in words[:count]]
        except ValueError:
            values = []
        if len(values) < count or not np.isfinite(values).all():
            raise self.error(line, what, " ".join(words), f"{count} finite numbers")
        return values

    def read_face(self, line: int, words: list[str]) -> None:
        """Read ``f v/vt/vn ...``."""
        if len(words) > MOST_CORNERS:
            raise self.error(line, "face", f"{len(words)} corners", f"at most {MOST_CORNERS}")
        corners = [w.split("/") for w in words]
        v = [self.read_index(line, c[0], len(self.v), "vertex index") for c in corners]
        try:
            vt = [
                self.read_index(line, c[1], len(self.vt), "texture index")
                for c in corners
                if len(c) > 1 and c[1]
            ]
            if vt and len(vt) != len(v):
                expected = "texture coordinates at all corners"
                raise self.error(line, "face", " ".join(words), expected)
        except MeshError as error:
            self.refuse_cloth(error)
            vt = []
        if len(v) < 3:
            self.refuse_cloth(self.error(line, "face", " ".join(words), "at least three corners"))
        if len(set(v)) < len(v):
            self.refuse_cloth(self.error(line, "face", " ".join(words), "each vertex once"))
        names = dict.fromkeys(n for names in self.active.values() for n in names if n)
        self.memberships += len(names)
        if self.memberships > OBJ_MEMBERSHIPS + 4 * len(self.polygons):
            raise self.error(
                line, "groups", len(names), "fewer groups, because every face belongs to each group"
            )
        for name in names:
            self.groups.setdefault(name, []).append(len(self.polygons))
        if self.material:
            self.materials.setdefault(self.material, []).append(len(self.polygons))
        self.lines.append(line)
        self.polygons.append(v)
        self.texture.append(vt)

    def read_index(self, line: int, text: str, count: int, what: str) -> int:
        """Return a 1-based or negative index as one that counts from 0."""
        try:
            number = int(text)
        except ValueError:
            number = 0
        index = number - 1 if number > 0 else count + number
        if number == 0 or not 0 <= index < count:
            raise self.error(line, what, text, f"1 to {count}, or -{count} to -1")
        return index


def obj_contents(path: Path) -> Contents:
    """Return the contents of an OBJ file.

    Raises:
        MeshError: with file and line.
    """
    found = _Statements(path)
    for line, (kind, *words), _ in split_statements(decode_text(read_bytes(path))):
        found.read(line, kind, words)
    with_uv = [len(vt) > 0 for vt in found.texture]
    if any(with_uv) and not all(with_uv):
        line = found.lines[with_uv.index(False)]
        expected = "texture coordinates at every face, or at none"
        found.refuse_cloth(found.error(line, "face", "no texture coordinates", expected))
    if found.colored:
        found.left_out["colors of vertices"] = found.colored
    polygons = [np.array(v, dtype=np.int32) for v in found.polygons]
    x = np.array(found.v, dtype=np.float64).reshape(-1, 3)
    triangles = triangulate_polygons(x, polygons, str(path))
    uv = None
    if with_uv and all(with_uv):
        uv = np.array(found.vt)[np.concatenate(found.texture)]
    groups = {
        name: np.unique(np.concatenate([polygons[p] for p in members]))
        for name, members in found.groups.items()
    }
    # A group takes precedence over a material of its name.
    named = {**found.materials, **found.groups}
    regions = {name: triangles.of_polygons(members) for name, members in named.items()}
    return Contents(
        x,
        triangles.faces,
        None if uv is None else uv[triangles.corners],
        groups,
        regions=regions,
        loose_edges=np.array(found.loose, dtype=np.int32).reshape(-1, 2),
        left_out={**triangles.left_out, **found.left_out},
        flaw=found.flaw,
    )


def split_statements(text: str) -> Iterator[tuple[int, list[str], str]]:
    """Yield line number, words and text of each statement, which may go on in further lines.

    Words are those without comments; a line that has none is a statement of one empty word.
    """
    words, lines = list[str](), list[str]()
    every = text.splitlines(keepends=True)
    for number, raw in enumerate(every, start=1):
        line = raw.split("#", 1)[0].rstrip()
        words += line.removesuffix("\\").split()
        lines.append(raw)
        if not line.endswith("\\") or number == len(every):
            yield number + 1 - len(lines), words or [""], "".join(lines)
            words, lines = [], []


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
    write_file(path, "\n".join(lines) + "\n")
