"""Triangle meshes, and tables derived from their faces: edges, hinges, areas and borders.

A mesh is immutable; derived tables are computed on first use.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from weft.base.arrays import (
    AnyArray,
    ArrayOf,
    Bools,
    CornerUv,
    Faces,
    Floats,
    Ints,
    Positions,
    Shape,
)
from weft.base.errors import DegenerateFacesError, MeshError
from weft.base.machine import require_memory
from weft.base.runtime_types import checked
from weft.discretization.polygon import cross, triangle_sides

Pattern = Literal["regular", "alternating", "random"]

# Least material area over the square of the longest material edge.
_DEGENERATE = 1e-12
FARTHEST = 1e9  # largest distance of a mesh from the origin, over its size
PER_GRID_VERTEX = 500  # [bytes] of memory for each vertex while a grid is created
SIDES = 0.4  # least part of the edges of a mesh that are sides of polygons, and no diagonals
# [m] size of a mesh; outside, the powers of lengths in laws and contact leave the range of float64.
SMALLEST, LARGEST = 1e-12, 1e12


def _numbers(*shapes: Shape) -> ArrayOf:
    """Return an array annotation that admits numbers that are not finite.

    The mesh checks them itself, so that its error can name the vertex and the file.
    """
    return ArrayOf("numbers", shapes, "m" if shapes else "", finite=False)


@checked(MeshError, "mesh")
@dataclass(frozen=True, eq=False)
class TriangleMesh:
    """Triangles in space, with material coordinates at each face corner.

    Raises:
        MeshError: no faces, the same face twice, indices out of range, positions that are not
            finite, or degenerate triangles.
    """

    vertices: Annotated[Positions, _numbers((None, 3))]  # (n,3) [m]
    faces: Faces  # (m,3) counter-clockwise
    # (m,3,2) [m] material coordinates (warp, weft); may differ between faces at a seam
    corner_uv: Annotated[CornerUv, _numbers((None, 3, 2))]
    groups: Mapping[str, Ints] = field(
        default_factory=dict
    )  # name -> vertex ids (OBJ g and o, grid borders)
    source: str = "mesh"  # name in error messages
    weights: Mapping[str, Annotated[Floats, _numbers()]] = field(
        default_factory=dict
    )  # name -> (n,) painted numbers
    # name -> face ids that a file groups (USD subsets, OBJ groups and materials, ...)
    regions: Mapping[str, Ints] = field(default_factory=dict)
    # (k,) vertex here of every vertex of the file, of which some are joined; None: all are here
    welded: Ints | None = None
    # (k,2) vertices that edges without faces connect, along which the cloth is to be sewn
    loose_edges: Ints = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int32))

    def __post_init__(self) -> None:
        self._check()
        for a in (self.vertices, self.faces, self.corner_uv):
            a.setflags(write=False)

    def _check(self) -> None:
        """Raise an error if the faces, positions or material coordinates are not valid."""
        n, m, where = len(self.vertices), len(self.faces), self.source
        if m == 0:
            raise MeshError("faces", got=0, expected="at least one triangle", where=where)
        if self.faces.min() < 0 or self.faces.max() >= n:
            bad = np.flatnonzero((self.faces < 0).any(1) | (self.faces >= n).any(1))
            raise MeshError(
                f"vertex index in face {bad[0]}",
                got=self.faces[bad[0]].tolist(),
                expected=f"0 to {n - 1}",
                where=where,
            )
        if not np.isfinite(self.vertices).all():
            bad = np.flatnonzero(~np.isfinite(self.vertices).all(1))
            raise MeshError(
                f"position of vertex {bad[0]}",
                got=self.vertices[bad[0]],
                where=where,
                expected="finite numbers",
                hint=f"{len(bad)} vertices are affected",
            )
        if self.corner_uv.shape != (m, 3, 2) or not np.isfinite(self.corner_uv).all():
            raise MeshError(
                "material coordinates",
                got=self.corner_uv.shape,
                where=where,
                expected=f"finite, of shape ({m}, 3, 2)",
            )
        size = float(np.ptp(self.corner_uv, axis=(0, 1)).max())
        if not SMALLEST < size < LARGEST:
            raise MeshError(
                "material coordinates",
                got=f"{size:.3g} m across",
                where=where,
                expected=f"{SMALLEST:g} to {LARGEST:g} m",
                hint="check the scale",
            )
        far = float(np.abs(self.vertices).max())
        if far > FARTHEST * size:
            raise MeshError(
                "positions",
                got=f"{far:.3g} m from the origin, of a mesh {size:.3g} m across",
                expected=f"at most {FARTHEST:g} times as far, so that float64 tells them apart",
                where=where,
            )
        again = repeated_faces(self.faces)
        if len(again):
            raise MeshError(
                "faces",
                got=f"{len(again)} of {m} occur twice, first {again[:5].tolist()}",
                expected="each once",
                where=where,
                hint=(
                    "remove double faces in the program that wrote the mesh; edges with more "
                    "than two faces do not bend"
                ),
            )
        if len(self.degenerate_faces):
            raise DegenerateFacesError(self.vertices, self.faces, self.degenerate_faces, where)

    def painted(self, name: str, what: str, within: tuple[float, float] | None = None) -> Floats:
        """Return the painted weights (n,) of a name, which ``what`` needs.

        Raises:
            MeshError: there are none of this name, or some are not ``within`` two numbers.
        """
        if name not in self.weights:
            raise MeshError(
                what,
                got=f"weights {name!r}",
                expected=f"{self.n_vertices} painted numbers, one of: "
                f"{', '.join(self.weights) or 'none'}",
                where=self.source,
            )
        w = self.weights[name]
        if within is not None and not (within[0] <= w.min() and w.max() <= within[1]):
            got = f"weights {name!r} from {w.min():g} to {w.max():g}"
            expected = f"weights from {within[0]:g} to {within[1]:g}"
            raise MeshError(what, got=got, expected=expected, where=self.source)
        return w

    def of_file(self, values: Floats) -> Floats:
        """Return values (k,...) at the vertices of the file as values at those of this mesh; other
        values as they are.
        """
        if self.welded is None or len(values) != len(self.welded):
            return values
        return values[np.unique(self.welded, return_index=True)[1]]

    @property
    def n_vertices(self) -> int:
        """Return the number of vertices."""
        return len(self.vertices)

    @cached_property
    def edges(self) -> Ints:
        """Return the undirected edges (ne,2), sorted, each with the lower vertex first."""
        return self._edge_table[0]

    @cached_property
    def _edge_table(self) -> tuple[Ints, Ints, Ints]:
        """Return the edges, the edge of each half-edge, and the number of faces per edge.

        Half-edges are face-major, from corner c to c+1.
        """
        edges, inverse = unique_edges(self.faces)
        return edges, inverse, np.bincount(inverse, minlength=len(edges)).astype(np.int32)

    @cached_property
    def hinges(self) -> Ints:
        """Return the hinges (nh,4): interior edges with the opposite vertices of their two faces.

        The columns are edge start, edge end, opposite vertex on the left, opposite vertex on the
        right. The left face contains the edge in the direction from start to end; so does the right
        one if the two disagree in orientation. Edges with more than two faces have no hinge.
        """
        return self._hinge_table[0]

    @cached_property
    def hinge_faces(self) -> Ints:
        """Return the left and right face of each hinge, (nh,2)."""
        return self._hinge_table[1]

    @cached_property
    def one_sided_edges(self) -> Ints:
        """Return the edges (k,2) whose two faces disagree in orientation."""
        return self.hinges[~self._hinge_table[2], :2]

    @cached_property
    def _hinge_table(self) -> tuple[Ints, Ints, Bools]:
        """Compute ``hinges`` and ``hinge_faces``, and whether the two faces agree."""
        _, edge_of, count = self._edge_table
        half = np.arange(len(edge_of))
        order = np.argsort(edge_of, kind="stable")
        first = np.searchsorted(edge_of[order], np.flatnonzero(count == 2))
        a, b = half[order[first]], half[order[first + 1]]
        fa, ca, fb, cb = a // 3, a % 3, b // 3, b % 3
        start, end = self.faces[fa, ca], self.faces[fa, (ca + 1) % 3]
        agree = self.faces[fb, cb] == end
        # The left face contains the edge with the lower vertex first, so the table does not depend
        # on the order of the faces.
        swap = start > end
        left, right = np.where(swap, fb, fa), np.where(swap, fa, fb)
        opposite_a, opposite_b = self.faces[fa, (ca + 2) % 3], self.faces[fb, (cb + 2) % 3]
        hinges = np.stack(
            [
                np.where(swap, end, start),
                np.where(swap, start, end),
                np.where(swap, opposite_b, opposite_a),
                np.where(swap, opposite_a, opposite_b),
            ],
            axis=1,
        )
        faces = np.stack([left, right], axis=1)
        return (
            np.ascontiguousarray(hinges, dtype=np.int32),
            np.ascontiguousarray(faces, dtype=np.int32),
            agree,
        )

    @cached_property
    def non_manifold_edges(self) -> Ints:
        """Return the edges (k,2) that have more than two faces, and no hinge."""
        edges, _, count = self._edge_table
        return np.ascontiguousarray(edges[count > 2], dtype=np.int32)

    @cached_property
    def boundary_edges(self) -> Ints:
        """Return the edges (k,2) that have one face."""
        edges, _, count = self._edge_table
        return np.ascontiguousarray(edges[count == 1], dtype=np.int32)

    @cached_property
    def boundary(self) -> Ints:
        """Return the sorted indices of the vertices on the border."""
        return np.unique(self.boundary_edges).astype(np.int32)

    @cached_property
    def isolated_vertices(self) -> Ints:
        """Return the indices of vertices that no face uses."""
        return np.setdiff1d(np.arange(self.n_vertices), self.faces).astype(np.int32)

    @cached_property
    def signed_material_area(self) -> Floats:
        """Return the material area [m^2] of each face, (m,), negative for mirrored UV islands."""
        return 0.5 * cross(*triangle_sides(self.corner_uv))

    @cached_property
    def rest_area(self) -> Floats:
        """Return the material area [m^2] of each face, (m,)."""
        return np.abs(self.signed_material_area)

    @cached_property
    def degenerate_faces(self) -> Ints:
        """Return the indices of faces without area in material coordinates."""
        return degenerate_faces(self.corner_uv)

    @cached_property
    def vertex_area(self) -> Floats:
        """Return a third of the material area [m^2] of the faces around each vertex, (n,)."""
        area = np.zeros(self.n_vertices)
        np.add.at(area, self.faces.reshape(-1), np.repeat(self.rest_area / 3, 3))
        return area

    @cached_property
    def vertex_uv(self) -> Floats | None:
        """Return the material coordinates [m] of each vertex, (n,2).

        None: a vertex on a seam has more than one.
        """
        uv = np.full((self.n_vertices, 2), np.nan)
        uv[self.faces.reshape(-1)] = self.corner_uv.reshape(-1, 2)
        same = np.allclose(uv[self.faces], self.corner_uv, rtol=0, atol=1e-9)
        return uv if same else None

    def with_vertices(self, vertices: Positions) -> "TriangleMesh":
        """Return this mesh at other positions (n,3) [m]; material coordinates do not change."""
        return replace(self, vertices=vertices)


def half_edges(faces: Faces) -> Ints:
    """Return start and end (3m,2) of the half-edges of faces (m,3), from corner c to c + 1."""
    return np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)


def unique_edges(faces: Faces) -> tuple[Ints, Ints]:
    """Compute the undirected edges of faces.

    Args:
        faces: (m,3) vertex indices.

    Returns:
        The edges (ne,2), sorted, each with the lower vertex first; and the edge of each half-edge,
        (3m,) (face-major, c to c+1).
    """
    a, b = half_edges(faces).astype(np.int64).T
    n = int(faces.max(initial=0)) + 1
    keys, inverse = np.unique(np.minimum(a, b) * n + np.maximum(a, b), return_inverse=True)
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32), inverse.astype(np.int32)


def divide_faces(faces: AnyArray, middle: AnyArray) -> AnyArray:
    """Return (4m,3) faces: three at the corners, then the middle one, each a block of m.

    Args:
        faces: (m,3).
        middle: (m,3) vertex in the middle of the edge from each corner to the next one.
    """
    a, b, c = faces.T
    ab, bc, ca = middle.T
    blocks = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    return np.concatenate([np.stack(block, axis=1) for block in blocks])


def cut_quads(quads: AnyArray, other: Bools) -> tuple[AnyArray, AnyArray]:
    """Return the two triangles (q,3) of quads (q,4): cut from the first to the third corner, or
    where ``other`` (q,) from the second to the fourth.
    """
    one = np.where(other[:, None], quads[:, [0, 1, 3]], quads[:, :3])
    return one, np.where(other[:, None], quads[:, 1:], quads[:, [0, 2, 3]])


def mean_at_vertices(ids: Ints, values: Floats, n: int) -> Floats:
    """Return the mean (n,...) of values (c,...) at corners that are the vertices ``ids`` (c,)."""
    total = np.zeros((n, *values.shape[1:]))
    np.add.at(total, ids, values)
    counts = np.maximum(np.bincount(ids, minlength=n), 1)
    return np.asarray((total.T / counts).T)


def are_among(edges: Ints, others: Ints) -> Bools:
    """Return (k,) which edges (k,2) are among others (l,2), in either direction."""
    many = int(max(edges.max(initial=0), others.max(initial=0))) + 1
    one, two = (np.sort(e, axis=1).astype(np.int64) @ [many, 1] for e in (edges, others))
    return np.isin(one, two)


def have_same_sides(faces: Faces, others: Faces) -> bool:
    """Return whether faces (m,3) are of the same polygons as others, which other diagonals may cut.

    Polygons that are triangulated by their shape have other diagonals in another pose: their sides
    are compared.
    """
    edges, found = unique_edges(faces)[0], unique_edges(others)[0]
    return len(faces) == len(others) and bool(are_among(edges, found).mean() >= SIDES)


def degenerate_faces(corner_uv: CornerUv) -> Ints:
    """Return the indices of faces whose material area is negligible.

    A face is degenerate if its area is at most 1e-12 of the square of its longest material edge.

    Args:
        corner_uv: (m,3,2) [m] material coordinates.
    """
    d = corner_uv - np.roll(corner_uv, 1, axis=1)
    longest = (d**2).sum(-1).max(-1)
    area = 0.5 * np.abs(cross(d[:, 1], d[:, 2]))
    return np.flatnonzero(~(area > _DEGENERATE * longest)).astype(np.int32)  # NaN counts, too


def repeated_faces(faces: Faces) -> Ints:
    """Return the indices of faces (m,3) that repeat an earlier one with the same orientation."""
    # Rotate every face to begin with its lowest vertex, so that repeated faces are equal rows.
    first = faces.argmin(1)[:, None]
    turned = np.take_along_axis(faces, (first + np.arange(3)) % 3, axis=1)
    order = np.lexsort(turned.T)  # stable: equal faces stay in the order of their ids
    same = (turned[order[1:]] == turned[order[:-1]]).all(1)
    return np.sort(order[1:][same]).astype(np.int32)


def sample_faces(corners: Positions, cell: float) -> tuple[Positions, Ints]:
    """Return points (k,3) of triangles (m,3,3), at least two to a length ``cell``, and the triangle
    of each point (k,).
    """
    long = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    count = np.maximum(np.ceil(2 * long / cell), 1).astype(np.int64)
    points, owner = [np.zeros((0, 3))], [np.zeros(0, dtype=np.int64)]
    for n in np.unique(count).tolist():
        i, j = (k.ravel() for k in np.meshgrid(range(n + 1), range(n + 1)))
        weight = np.stack([i, j, n - i - j], axis=1)[i + j <= n] / n
        own = np.flatnonzero(count == n)
        points.append(np.einsum("wk,mki->mwi", weight, corners[own]).reshape(-1, 3))
        owner.append(np.repeat(own, len(weight)))
    return np.concatenate(points), np.concatenate(owner)


def isolated_error(mesh: TriangleMesh) -> MeshError:
    """Return the error about vertices that no face uses; they would have no mass."""
    ids = mesh.isolated_vertices
    return MeshError(
        "isolated vertices",
        got=f"{len(ids)}, first {ids[:5].tolist()}",
        where=mesh.source,
        expected="every vertex in a face",
        hint="remove them in the program that wrote the mesh: they have no mass",
    )


def grid(
    nx: int,
    ny: int,
    width: float,
    height: float,
    pattern: Pattern = "regular",
    seed: int = 0,
) -> TriangleMesh:
    """Create a flat rectangle of nx by ny vertices on y = 0, with material coordinates (u, v) [m].

    u (warp) runs along +x and v (weft) along -z, so that the front of the faces looks up. The
    border "top" is v = height, at the back.

    Args:
        nx: vertices along the width, at least 2.
        ny: vertices along the height, at least 2.
        width: [m].
        height: [m].
        pattern: direction of the diagonals: all the same (``regular``), by turns (``alternating``),
            or random with interior vertices moved by up to a quarter of the spacing (``random``).
        seed: seed of the random pattern.

    Raises:
        MeshError: fewer than two vertices a side, a size that is not positive, an unknown pattern,
            or more vertices than memory holds.
    """
    _check_grid(nx, ny, width, height, pattern)
    u, v = np.meshgrid(np.linspace(0, width, nx), np.linspace(0, height, ny))
    uv = np.stack([u.ravel(), v.ravel()], axis=1)
    ids = np.arange(nx * ny).reshape(ny, nx)
    i, j = np.meshgrid(np.arange(nx - 1), np.arange(ny - 1))
    rng = np.random.default_rng(seed)
    if pattern == "regular":
        flip = np.zeros(i.size, dtype=bool)
    elif pattern == "alternating":
        flip = ((i + j) % 2 == 1).ravel()
    else:
        flip = rng.random(i.size) < 0.5
        inner = ids[1:-1, 1:-1].ravel()
        spacing = np.array([width / (nx - 1), height / (ny - 1)])
        uv[inner] += 0.25 * spacing * rng.uniform(-1, 1, (len(inner), 2))
    quads = np.stack([ids[:-1, :-1], ids[:-1, 1:], ids[1:, 1:], ids[1:, :-1]], -1).reshape(-1, 4)
    faces = np.stack(cut_quads(quads, flip), axis=1).reshape(-1, 3)
    vertices = np.stack([uv[:, 0] - width / 2, np.zeros(len(uv)), height / 2 - uv[:, 1]], axis=1)
    borders = {"bottom": ids[0], "top": ids[-1], "left": ids[:, 0], "right": ids[:, -1]}
    groups = {name: np.asarray(v, dtype=np.int32) for name, v in borders.items()}
    return TriangleMesh(vertices, faces, uv[faces], groups, f"sheet {nx} x {ny}")


def check_size(width: float, height: float) -> None:
    """Raise a MeshError for sizes [m] that no sheet has."""
    if not (width > 0 and height > 0 and np.isfinite([width, height]).all()):
        raise MeshError(
            "sheet width, height", got=(width, height), expected="must be > 0 and finite [m]"
        )


def _check_grid(nx: int, ny: int, width: float, height: float, pattern: str) -> None:
    """Raise a MeshError for a grid that is too small, or too large for memory."""
    if nx < 2 or ny < 2:
        raise MeshError("sheet nx, ny", got=(nx, ny), expected="must be >= 2")
    require_memory(nx * ny * PER_GRID_VERTEX, "sheet nx, ny", (nx, ny), MeshError)
    check_size(width, height)
    if pattern not in ("regular", "alternating", "random"):
        raise MeshError(
            "sheet pattern", got=repr(pattern), expected="regular, alternating or random"
        )
