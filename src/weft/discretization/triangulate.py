"""Irregular triangle meshes of flat pieces: constrained Delaunay, graded, nearly equilateral.

The outline's points stay where they are. Inside, the wanted edge length h(X) is that of the nearest
part of the outline, and grows with the distance to it up to ``size``. Points start on hexagonal
lattices (rotated and shifted by the seed) and are moved to the weighted centers of their triangles;
points are added where triangles are too large, and removed where they are too small.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import Bools, Faces, Floats, Ints
from weft.base.errors import MeshError
from weft.base.machine import PER_CLOTH_VERTEX, memory, require_memory
from weft.discretization.mesh import TriangleMesh
from weft.discretization.polygon import (
    GROWTH,
    check_loop,
    contains,
    cross,
    crossing_point,
    divide_loop,
    first_crossing,
    signed_area,
    triangle_sides,
)

ROUNDS, SMOOTHING = 8, 6  # rounds of adding and removing points; smoothing steps in each round
FIRST_ROW = 0.62  # points nearer to the outline than this, in units of h, are removed
# Points nearer to each other than CLOSE h are removed; triangles with a circumradius above LARGE h
# get a new point (an equilateral triangle of side h has sqrt(1/3) h).
CLOSE, LARGE = 0.62, 0.80
PER_LATTICE_POINT = 120  # [bytes] needed while points are chosen from a lattice
SLIVER = 1e-9  # height over length of a triangle that rounding makes of points on one line
FAR = 3.0  # wanted lengths from the outline; smoothing moves no point across it from farther away
MOST_POINTS = 4_000_000
# Lattice steps around a point of the outline within which its spacing can be wanted: 1/GROWTH
# edge lengths, and more because the lattice is skewed.
REACH = 5


def triangulate_piece(
    outline: ArrayLike, holes: Sequence[ArrayLike], size: float, divide: bool = True, seed: int = 0
) -> TriangleMesh:
    """Return a mesh of the piece inside ``outline`` and outside ``holes``.

    Args:
        outline: (k,2) [m] corners of a polygon in material coordinates, in either direction.
        holes: polygons inside it.
        size: [m] wanted edge length.
        divide: add points on edges of outline and holes that are longer than ``size``; the given
            points stay in any case. Vertices 0, 1, ... are the outline's points in turn, then the
            holes'.
        seed: of the random positions of points inside.

    Raises:
        MeshError: a size out of range, polygons that cross themselves or each other, or holes that
            are not inside.
    """
    if not (np.isfinite(size) and size > 0):
        raise MeshError("size", got=size, expected="must be > 0 [m]")
    given = [check_loop(outline, "outline")]
    given += [check_loop(h, f"hole {i}") for i, h in enumerate(holes)]
    _check_apart(given)
    extent = float(np.ptp(given[0], axis=0).max())
    if (extent / size) ** 2 > MOST_POINTS:
        raise MeshError(
            "size",
            got=f"{size:g} m for a piece of {extent:g} m",
            expected=f"at most {MOST_POINTS} vertices",
            hint="check that both are in meters",
        )
    loops = [divide_loop(p, size, i == 0) for i, p in enumerate(given)] if divide else given
    points, faces = fill_piece(loops, size, seed)
    groups, first = {}, 0
    for i, loop in enumerate(loops):
        name = "outline" if i == 0 else f"hole {i - 1}"
        groups[name] = np.arange(first, first + len(loop), dtype=np.int32)
        first += len(loop)
    low, high = points.min(0), points.max(0)
    flat = points - (low + high) / 2
    vertices = np.stack([flat[:, 0], np.zeros(len(flat)), -flat[:, 1]], axis=1)
    return TriangleMesh(vertices, faces, points[faces], groups, f"piece of {len(points)} points")


def _check_apart(loops: Sequence[Floats]) -> None:
    crossing = first_crossing(loops) if len(loops) > 1 else None
    names = ["outline", *(f"hole {i}" for i in range(len(loops) - 1))]
    if crossing is not None:
        (one, i), (two, j) = crossing
        raise MeshError(
            f"{names[one]} and {names[two]}",
            got=f"edges from point {i} and from point {j} cross or touch",
            expected="polygons apart",
            hint=f"near {np.round(crossing_point(loops, crossing), 4).tolist()}",
        )
    for i, hole in enumerate(loops[1:]):
        others = [loops[0], *(h for j, h in enumerate(loops[1:]) if j != i)]
        if not contains(others, hole[:1])[0]:
            raise MeshError(
                f"hole {i}",
                got=f"at {hole[0].tolist()}",
                expected="inside the outline, without touching",
            )


def fill_piece(
    loops: Sequence[Floats],
    size: float,
    seed: int,
    extra: Floats | None = None,
    lines: Ints | None = None,
) -> tuple[Floats, Faces]:
    """Return points and triangles of the piece inside the first loop and outside the others.

    Args:
        loops: (k,2) [m] polygons that do not cross, the first counter-clockwise.
        size: [m] wanted edge length; it is smaller near short edges of the loops.
        seed: of the random positions of points inside.
        extra: (p,2) [m] points inside that stay where they are.
        lines: (e,2) edges that triangles follow; ids count the points of the loops first, then
            ``extra``.

    Returns:
        (n,2) [m] the loops' points, ``extra``, and points inside; (m,3) counter-clockwise
        triangles.

    Raises:
        MeshError: points that coincide, or that lie on edges of the loops or on lines; more
            vertices than fit in memory.
    """
    count = abs(signed_area(loops[0])) / (0.75**0.5 * size**2)  # of equilateral triangles
    require_memory(PER_CLOTH_VERTEX * count, "size", f"{size:g} m", MeshError)
    return _Filling(loops, size, seed, extra, lines).fill()


def loop_edges(loops: Sequence[Floats]) -> Ints:
    """Return the edges (e,2) of loops whose points are numbered in turn."""
    edges, first = [], 0
    for loop in loops:
        ids = np.arange(first, first + len(loop), dtype=np.int32)
        edges.append(np.stack([ids, np.roll(ids, -1)], axis=1))
        first += len(loop)
    return np.concatenate(edges)


def delaunay(loops: Sequence[Floats], inner: Floats, lines: Ints | None = None) -> Faces:
    """Return the constrained Delaunay triangles (m,3), counter-clockwise, of points.

    Args:
        loops: (k,2) [m] polygons; the piece lies inside the first and outside the others.
        inner: (p,2) [m] points inside, numbered after those of the loops.
        lines: (e,2) edges inside that triangles follow; None: none.

    Raises:
        MeshError: points that coincide or lie on an edge of the loops.
    """
    import pythoncdt as cdt

    points = np.concatenate([*loops, inner])
    edges = loop_edges(loops)
    t = cdt.Triangulation(
        cdt.VertexInsertionOrder.AUTO, cdt.IntersectingConstraintEdges.NOT_ALLOWED, 0.0
    )
    try:
        t.insert_vertices(np.ascontiguousarray(points))
        if lines is None or len(lines) == 0:
            t.insert_edges(edges.astype(np.uint32))
            t.erase_outer_triangles_and_holes()
        else:  # the library would erase areas that lines enclose as holes; they are kept here
            t.insert_edges(np.concatenate([edges, lines]).astype(np.uint32))
            t.erase_super_triangle()
    except Exception as error:
        said = str(error).partition(" in '")[0]  # without the place in the library's source
        raise MeshError("triangulation", got=said, expected="points apart") from error
    faces = np.asarray(t.triangles_array()["vertices"], dtype=np.int32).reshape(-1, 3)
    if lines is None or len(lines) == 0:
        return faces
    on_border = (faces < sum(map(len, loops))).all(axis=1)
    outside = np.zeros(len(faces), dtype=bool)
    corners = points[faces[on_border]]
    outside[on_border] = ~contains(loops, corners.mean(axis=1)) | _are_slivers(corners)
    return faces[~outside]


def _are_slivers(corners: Floats) -> Bools:
    """Return (m,) which triangles (m,3,2) are slivers between points of a straight part of the
    border.
    """
    b, c = triangle_sides(corners)
    size = np.maximum((b * b).sum(1), (c * c).sum(1))
    return np.asarray(np.abs(cross(b, c)) <= SLIVER * size)


class _Filling:
    """The state of one filling: the fixed border, and the wanted edge length at every point."""

    def __init__(
        self,
        loops: Sequence[Floats],
        size: float,
        seed: int,
        extra: Floats | None = None,
        lines: Ints | None = None,
    ) -> None:
        from scipy.spatial import cKDTree

        self.loops, self.size, self.lines = loops, size, lines
        self.rng = np.random.default_rng(seed)
        self.extra = np.zeros((0, 2)) if extra is None else extra
        self.border = np.concatenate([*loops, self.extra])  # points that do not move
        edges = loop_edges(loops)
        edges = edges if lines is None else np.concatenate([edges, lines])
        a, b = self.border[edges[:, 0]], self.border[edges[:, 1]]
        length = np.linalg.norm(b - a, axis=1)
        # Points along the outline's edges, so that the nearest of them is near the nearest edge.
        steps = (np.arange(8) + 0.5) / 8
        along = a[:, None] + steps[:, None] * (b - a)[:, None]
        self.dense = np.concatenate([self.border, along.reshape(-1, 2)])
        here = np.full(len(self.border), np.inf)
        np.minimum.at(here, edges, np.repeat(length[:, None], 2, axis=1))
        self.dense_size = np.minimum(np.concatenate([here, np.repeat(length, 8)]), size)
        self.tree = cKDTree(self.dense)
        # Farther away than this distance, every part of the outline allows the full size.
        self.reach = (size - float(self.dense_size.min())) / GROWTH * 1.001 + 1e-3 * size

    def h(self, points: Floats) -> Floats:
        """Return (n,) the wanted edge length [m] at points (n,2)."""
        distance, near = self.tree.query(
            points, k=min(8, len(self.dense)), distance_upper_bound=self.reach
        )
        grown = np.append(self.dense_size, np.inf)[near] + GROWTH * distance
        return np.asarray(np.minimum(grown.min(axis=1), self.size))

    def fill(self) -> tuple[Floats, Faces]:
        """Return all points, the loops' first, and the triangles."""
        inner = self._without_crowd(self._start())
        for _ in range(ROUNDS):
            for _ in range(SMOOTHING):
                inner = self._center_points(inner)
            more = self._missing(inner)
            kept = self._without_crowd(np.concatenate([inner, more]))
            settled = len(more) == 0 and len(kept) == len(inner)
            inner = kept
            if settled:
                break
        for _ in range(SMOOTHING):
            inner = self._center_points(inner)
        return np.concatenate([self.border, inner]), self._delaunay(inner)

    def _delaunay(self, inner: Floats) -> Faces:
        return delaunay(self.loops, np.concatenate([self.extra, inner]), self.lines)

    def _start(self) -> Floats:
        """Return lattice points of the spacing that is wanted at their place."""
        low, high = self.border.min(0), self.border.max(0)
        finest = float(self.dense_size.min())
        spacing, layers = self.size, []
        extent = float(np.linalg.norm(high - low))
        if 4 * extent * PER_LATTICE_POINT**0.5 > finest * memory() ** 0.5:
            raise MeshError(
                "outline",
                got=f"an edge of {finest:.3g} m in a piece of {extent:.3g} m",
                expected="edges of more similar lengths",
                hint="remove points that nearly coincide, because triangles grow from the "
                "shortest edge",
            )
        while True:
            least = spacing / np.sqrt(2)
            near = None if spacing == self.size else self.dense[self.dense_size < spacing]
            points = self._lattice(low, high, spacing, near)
            h = self.h(points)
            last = least < finest
            layers.append(points[(h > (0 if last else least)) & (h <= spacing * 1.000001)])
            if last:
                break
            spacing = least
        points = np.concatenate(layers)
        return points[contains(self.loops, points)]

    def _lattice(self, low: Floats, high: Floats, spacing: float, near: Floats | None) -> Floats:
        """Return a hexagonal lattice over a rectangle, rotated and shifted by the seed.

        If points ``near`` are given, only lattice points within ``REACH`` steps of them are
        returned.
        """
        middle, radius = (low + high) / 2, float(np.linalg.norm(high - low)) / 2 + spacing
        n = int(np.ceil(radius / spacing)) + 1
        turn, shift = self.rng.uniform(0, np.pi / 3), self.rng.uniform(0, spacing, 2)
        c, s = np.cos(turn), np.sin(turn)
        if near is None:
            i, j = np.meshgrid(np.arange(-2 * n, 2 * n + 1), np.arange(-2 * n, 2 * n + 1))
        else:
            back = (near - middle - shift) @ np.array([[c, -s], [s, c]]) / spacing
            row = back[:, 1] / np.sqrt(0.75)
            column = back[:, 0] - 0.5 * row
            r = np.arange(-REACH, REACH + 1)
            b = (np.round(row).astype(int)[:, None, None] + r[:, None]) + 0 * r
            a = (np.round(column).astype(int)[:, None, None] + r) + 0 * r[:, None]
            wide = 1 << 31
            j, i = np.divmod(np.unique(b * wide + (a + wide // 2)), wide)
            i = i - wide // 2
        x, y = spacing * (i + 0.5 * j).ravel(), spacing * (np.sqrt(0.75) * j).ravel()
        p = np.stack([c * x - s * y, s * x + c * y], axis=1) + middle + shift
        return p[((p >= low) & (p <= high)).all(1)]

    def _without_crowd(self, inner: Floats) -> Floats:
        """Return the points without those that are too close to the outline or to an earlier
        point.
        """
        from scipy.spatial import cKDTree

        if len(inner) == 0:
            return inner
        h = self.h(inner)
        distance, _ = self.tree.query(inner)
        keep = distance > FIRST_ROW * h
        near = np.flatnonzero(keep & (distance < FAR * self.size))
        keep[near] = contains(self.loops, inner[near])
        inner, h = inner[keep], h[keep]
        pairs = cKDTree(inner).query_pairs(CLOSE * self.size, output_type="ndarray")
        apart = np.linalg.norm(inner[pairs[:, 0]] - inner[pairs[:, 1]], axis=1)
        crowded = pairs[apart < CLOSE * np.minimum(h[pairs[:, 0]], h[pairs[:, 1]])]
        alive = np.ones(len(inner), dtype=bool)
        for a, b in crowded.tolist():
            if alive[a] and alive[b]:
                alive[b] = False
        return inner[alive]

    def _center_points(self, inner: Floats) -> Floats:
        """Return every inner point moved to the center of its triangles, weighted by area over
        h^3.
        """
        if len(inner) == 0:
            return inner
        points = np.concatenate([self.border, inner])
        faces = self._delaunay(inner)
        corners = points[faces]
        center = corners.mean(1)
        weight = np.abs(cross(*triangle_sides(corners))) / self.h(center) ** 3
        total, moved = np.zeros(len(points)), np.zeros_like(points)
        np.add.at(total, faces.ravel(), np.repeat(weight, 3))
        np.add.at(moved, faces.ravel(), np.repeat(weight[:, None] * center, 3, axis=0))
        first = len(self.border)
        return moved[first:] / np.maximum(total[first:, None], 1e-300)

    def _missing(self, inner: Floats) -> Floats:
        """Return circumcenters of triangles that are too large, the largest of each
        neighborhood.
        """
        from scipy.spatial import cKDTree

        points = np.concatenate([self.border, inner])
        corners = points[self._delaunay(inner)]
        center, radius = circumcircles(corners)
        center = np.where(np.isfinite(center), center, 0.0)
        h = self.h(center)
        wanted = (radius > LARGE * h) & (radius < 4 * self.size)
        wanted[wanted] = contains(self.loops, center[wanted])
        order = np.flatnonzero(wanted)[np.argsort(-(radius / h)[wanted])]
        center, h = center[order], h[order]
        if len(center) == 0:
            return center
        tree, free, chosen = cKDTree(center), np.ones(len(center), dtype=bool), []
        for i in range(len(center)):
            if free[i]:
                chosen.append(i)
                free[tree.query_ball_point(center[i], 0.9 * h[i])] = False
        return center[chosen]


def circumcircles(corners: Floats) -> tuple[Floats, Floats]:
    """Return the centers (m,2) and radii (m,) [m] of the circles through corners (m,3,2) [m]."""
    b, c = triangle_sides(corners)
    with np.errstate(divide="ignore", invalid="ignore"):
        d = 2 * cross(b, c)
        b_sq, c_sq = (b * b).sum(1), (c * c).sum(1)
        x = (c[:, 1] * b_sq - b[:, 1] * c_sq) / d
        y = (b[:, 0] * c_sq - c[:, 0] * b_sq) / d
    center = np.stack([x, y], axis=1)
    return corners[:, 0] + center, np.linalg.norm(center, axis=1)
