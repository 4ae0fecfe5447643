"""Polygons: outlines of flat pieces of cloth, with checks and subdivision of their edges."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from weft.base.arrays import AnyArray, Bools, Floats
from weft.base.errors import MeshError

SHARP = np.radians(60.0)  # corners below this angle get a finer sampling
LEAST_CORNER = np.radians(1.0)
GROWTH = 0.35  # largest growth of the spacing along an edge, per length


def check_loop(points: ArrayLike, name: str) -> Floats:
    """Check a closed polygon and return its points (k,2), counter-clockwise.

    A last point that repeats the first one is dropped.

    Args:
        points: (k,2) [m].
        name: name in error messages.

    Raises:
        MeshError: fewer than three points, two consecutive points that coincide, values that are
            not finite, or edges that cross.
    """
    p = np.array(points, dtype=np.float64)
    if p.ndim != 2 or p.shape[1:] != (2,) or len(p) < 3:
        raise MeshError(name, got=f"shape {p.shape}", expected="at least three points, (k, 2) [m]")
    if not np.isfinite(p).all():
        bad = int(np.flatnonzero(~np.isfinite(p).all(1))[0])
        raise MeshError(f"{name}, point {bad}", got=p[bad].tolist(), expected="finite numbers")
    p = drop_repeated_end(p)
    edge = np.roll(p, -1, axis=0) - p
    size = float(np.ptp(p, axis=0).max())
    short = np.flatnonzero(np.linalg.norm(edge, axis=1) <= 1e-9 * size)
    if len(short):
        raise MeshError(
            f"{name}, points {short[0]} and {(short[0] + 1) % len(p)}",
            got=f"both at {p[short[0]].tolist()}",
            expected="points apart",
            hint="remove one of them",
        )
    crossing = first_crossing([p])
    if crossing is not None:
        (_, i), (_, j) = crossing
        at = np.round(crossing_point([p], crossing), 4).tolist()
        raise MeshError(
            name,
            got=f"the edges from point {i} and from point {j} cross or touch",
            expected="edges that touch only at their ends",
            hint=f"near {at}",
        )
    return orient_loop(p)


def drop_repeated_end(p: Floats) -> Floats:
    """Return a polygon p (k,2) without a last point that repeats its first one."""
    return p[:-1] if len(p) > 3 and np.array_equal(p[0], p[-1]) else p


def orient_loop(p: Floats) -> Floats:
    """Return a polygon p (k,2) in counter-clockwise order."""
    return p if signed_area(p) > 0 else p[::-1].copy()


def cross(a: Floats, b: Floats) -> Floats:
    """Return the cross products (...) of vectors (...,2) in a plane."""
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def unit_vectors(angle: Floats) -> Floats:
    """Return unit vectors at angles (k,) [rad], (k,2)."""
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def normalize(v: Floats) -> Floats:
    """Return vectors (...,k) divided by their lengths; those of length zero stay zero."""
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300))


def rotation_matrix(angle: float) -> Floats:
    """Return the matrix R (2,2) by which R p is a point p of a plane rotated by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]])


def triangle_sides(corners: Floats) -> tuple[Floats, Floats]:
    """Return the vectors (m,k) from the first corner of triangles (m,3,k) to the others."""
    return corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]


def turn_angles(a: Floats, b: Floats) -> Floats:
    """Return the angles (...) [rad] from vectors a (...,2) to b (...,2), positive to the left."""
    return np.asarray(np.arctan2(cross(a, b), (a * b).sum(-1)))


def signed_area(p: Floats) -> float:
    """Return the area of a polygon p (k,2), positive if it is counter-clockwise."""
    return 0.5 * float(np.sum(cross(p, np.roll(p, -1, axis=0))))


def arc_lengths(p: Floats) -> Floats:
    """Return the length of a polyline p (k,2) or (k,3) from its first point to each of its points,
    (k,).
    """
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(p, axis=0), axis=1))])


def interpolate_points(at: Floats, s: AnyArray, p: Floats) -> Floats:
    """Return the points (...,d) of a polyline p (k,d) at values (...) of a parameter.

    Args:
        at: (...) values of the parameter.
        s: (k,) ascending values of it at the points of the polyline, for example their arc lengths.
        p: (k,d) polyline.
    """
    return np.stack([np.interp(at, s, c) for c in p.T], axis=-1)


def close_polygon(p: Floats) -> Floats:
    """Return a polygon p (k,2) with its first point added at the end, (k+1,2)."""
    return np.concatenate([p, p[:1]])


def first_crossing(
    loops: Sequence[Floats], touching: bool = True
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return the first two edges that cross, each as (loop, edge); None if there are none.

    With ``touching`` edges that touch count as well, except for neighboring edges at the point that
    they share.
    """
    a = np.concatenate(loops)
    b = np.concatenate([np.roll(p, -1, axis=0) for p in loops])
    which = np.concatenate([np.full(len(p), i) for i, p in enumerate(loops)])
    index = np.concatenate([np.arange(len(p)) for p in loops])
    count = np.array([len(p) for p in loops])
    size = float(np.ptp(a, axis=0).max())
    bottom, top = np.minimum(a, b), np.maximum(a, b)

    for i in range(len(a) - 1):
        # Most edges are far away, which their bounding boxes show.
        near = (top[i + 1 :] >= bottom[i]) & (bottom[i + 1 :] <= top[i])
        j = i + 1 + np.flatnonzero(near.all(1))
        # The sides of each edge on which the ends of the other edge lie, as signs.
        u, w = b[i] - a[i], b[j] - a[j]
        s1, s2 = cross(u, a[j] - a[i]), cross(u, b[j] - a[i])
        s3, s4 = cross(w, a[i] - a[j]), cross(w, b[i] - a[j])
        if touching:
            step, same = np.abs(index[j] - index[i]), which[j] == which[i]
            neighbor = same & ((step == 1) | (step == count[which[i]] - 1))
            meets = (s1 * s2 <= 0) & (s3 * s4 <= 0) & ~neighbor
            # Neighboring edges overlap if one folds back onto the other.
            back = neighbor & ((u * w).sum(-1) < 0)
            meets |= back & (np.abs(cross(u, w)) <= 1e-12 * size * size)
        else:
            meets = (s1 * s2 < 0) & (s3 * s4 < 0)
        hit = np.flatnonzero(meets)
        if len(hit):
            k = int(j[hit[0]])
            return (int(which[i]), int(index[i])), (int(which[k]), int(index[k]))
    return None


def crossing_point(
    loops: Sequence[Floats], crossing: tuple[tuple[int, int], tuple[int, int]]
) -> Floats:
    """Return the point (2,) at which two edges cross or touch, as ``first_crossing`` has them.

    Of edges that overlap it is the first end that lies inside the other edge.
    """
    (a, b), (c, d) = (loops[k][[i, (i + 1) % len(loops[k])]] for k, i in crossing)
    u, w = b - a, d - c
    area = float(cross(u, w))
    if abs(area) > 1e-12 * float(np.linalg.norm(u) * np.linalg.norm(w)):
        along = float(np.clip(cross(c - a, w) / area, 0.0, 1.0))
        return np.asarray(a + along * u)
    ends = [(c, a, b), (d, a, b), (a, c, d), (b, c, d)]
    inside = [p for p, q, r in ends if 0 < float((p - q) @ (r - q)) < float((r - q) @ (r - q))]
    return np.asarray(inside[0] if inside else c)


def corner_angles(p: Floats) -> Floats:
    """Return the inner angle [rad] at every point of a counter-clockwise polygon p (k,2), (k,)."""
    before, after = np.roll(p, 1, axis=0) - p, np.roll(p, -1, axis=0) - p
    return turn_angles(after, before) % (2 * np.pi)


def divide_loop(p: Floats, size: float, inside_is_left: bool = True) -> Floats:
    """Return the polygon with points added along edges that are longer than ``size``.

    Points of the polygon are kept. Points are closer to one another near sharp corners, so that the
    triangles there are well shaped.

    Args:
        p: (k,2) [m] counter-clockwise polygon.
        size: [m] largest distance between two points.
        inside_is_left: True for an outline; False for a hole.
    """
    angle = corner_angles(p)
    angle = angle if inside_is_left else 2 * np.pi - angle
    at_corner = np.where(
        angle < SHARP, size * np.maximum(np.sin(np.maximum(angle, LEAST_CORNER)), 0.1), size
    )
    points = []
    for i in range(len(p)):
        a, b = p[i], p[(i + 1) % len(p)]
        length = float(np.linalg.norm(b - a))
        t = _divide_edge(length, size, at_corner[i], at_corner[(i + 1) % len(p)])
        points.append(a + t[:, None] * (b - a))
    return np.concatenate(points)


def _divide_edge(length: float, size: float, first: float, last: float) -> Floats:
    """Return fractions in [0, 1) of an edge at which points are placed.

    The spacing is ``first`` and ``last`` at the ends and grows to ``size`` between them.
    """
    # The number of points is the integral of 1/spacing over the edge (trapezoidal rule).
    s = np.linspace(0, length, 2049)
    h = np.minimum(np.minimum(first + GROWTH * s, last + GROWTH * (length - s)), size)
    count = np.concatenate([[0.0], np.cumsum(np.diff(s) * (1 / h[1:] + 1 / h[:-1]) / 2)])
    n = max(1, round(float(count[-1])))
    return np.asarray(np.interp(np.arange(n) * count[-1] / n, count, s) / length)


def contains(loops: Sequence[Floats], points: Floats) -> Bools:
    """Return a mask (n,) of the points inside the first loop and outside the others.

    The even-odd rule decides.

    Args:
        loops: (k,2) [m] polygons; the outline first, then the holes.
        points: (n,2) [m].
    """
    a = np.concatenate(loops)
    b = np.concatenate([np.roll(p, -1, axis=0) for p in loops])
    inside = np.zeros(len(points), dtype=bool)
    for start in range(0, len(points), 4096):  # in portions, to bound the memory of a table
        x, y = points[start : start + 4096].T
        above = (a[:, 1] > y[:, None]) != (b[:, 1] > y[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (y[:, None] - a[:, 1]) / (b[:, 1] - a[:, 1])
            left = x[:, None] < a[:, 0] + t * (b[:, 0] - a[:, 0])
        inside[start : start + 4096] = (above & left).sum(1) % 2 == 1
    return inside
