"""Exact search for the triangles of a mesh that intersect.

The search does not depend on the solver's distances: only signs of determinants decide, which
``igl.predicates`` computes exactly (Shewchuk 1997). They are exact unless coordinates other than 0
are smaller than 1e-90, whose products underflow.

Two triangles intersect if an edge of one meets the other. Triangles that share a vertex intersect
if the opposite edge of one meets the other; triangles that share an edge, if they lie in one plane
on the same side of that edge.

Pairs of triangles that a plane separates by more than round-off are discarded first. These are
nearly all neighbors in a sheet, whose coplanar corners would need exact arithmetic.
"""

import numpy as np
import warp as wp
from igl.predicates import orient3d

from weft import kernel
from weft.base.arrays import Bools, Faces, Floats, Ints, Positions
from weft.base.errors import MeshError
from weft.base.runtime_types import checked
from weft.contact.broad_phase.aabb import Boxes
from weft.contact.broad_phase.bvh import BoundingVolumeHierarchy, Overlaps
from weft.kernel import ByteArray, IntArray2d, Scalar, Vec3Array, vec3

CLEAR = 1e-12  # of the largest coordinate: a plane this far from both faces separates them exactly
_module = wp.get_module("weft.separated")


@wp.func
def toward(center: vec3, corners: vec3):
    """Return the unit vector from ``center`` to the centroid of a triangle whose corners have the
    sum ``corners``.
    """
    d = corners / Scalar(3.0) - center
    return d / wp.max(wp.length(d), Scalar(1e-300))


@wp.kernel(module=_module)
def mark_separated(
    o: int,
    x: Vec3Array,
    faces: IntArray2d,
    pairs: IntArray2d,
    size: Scalar,
    clear: Scalar,
    out: ByteArray,
):
    """Write 1 if a plane strictly separates the faces of a pair, except for the vertices that they
    share.

    The plane is orthogonal to the difference of the directions from the shared vertices (or,
    without such, from the common center) to the centroids of both faces. ``size`` is the largest
    coordinate.
    """
    i = o + wp.tid()
    f = pairs[i, 0]
    g = pairs[i, 1]
    in_f = wp.vec3i(0, 0, 0)
    in_g = wp.vec3i(0, 0, 0)
    count = int(0)
    both = vec3()
    sum_f = vec3()
    sum_g = vec3()
    for a in range(3):
        p = x[faces[f, a]]
        sum_f += p
        sum_g += x[faces[g, a]]
        for b in range(3):
            if faces[f, a] == faces[g, b]:
                in_f[a] = 1
                in_g[b] = 1
        if in_f[a] == 1:
            count += 1
            both += p
    center = (sum_f + sum_g) / Scalar(6.0)
    if count > 0:
        center = both / Scalar(count)
    n = toward(center, sum_f) - toward(center, sum_g)
    least = Scalar(wp.inf)
    most = -Scalar(wp.inf)
    flat = Scalar(0.0)
    for a in range(3):
        above = wp.dot(x[faces[f, a]] - center, n)
        if in_f[a] == 1:
            flat = wp.max(flat, wp.abs(above))
        else:
            least = wp.min(least, above)
        if in_g[a] == 0:
            most = wp.max(most, wp.dot(x[faces[g, a]] - center, n))
    # Shared vertices lie in the plane up to round-off; they must not reach far to either side.
    sure = clear * size * (wp.abs(n[0]) + wp.abs(n[1]) + wp.abs(n[2]))
    far = least - most > sure and least > sure and most < -sure
    out[i] = wp.uint8(0)
    if count < 3 and far and (count == 0 or flat <= Scalar(0.25) * sure):
        out[i] = wp.uint8(1)


def clearly_separated(x: Positions, faces: Faces, pairs: Ints) -> Bools:
    """Return which pairs of faces a plane clearly separates, (p,).

    Args:
        x: (n,3) [m] positions.
        faces: (m,3) vertices.
        pairs: (p,2) faces.
    """
    with kernel.use(device="cpu"):
        out = kernel.empty(len(pairs), wp.uint8)
        kernel.launch(
            mark_separated,
            len(pairs),
            kernel.points(x),
            kernel.array(faces.astype(np.int32), wp.int32),
            kernel.array(pairs.astype(np.int32), wp.int32),
            Scalar(np.abs(x).max()),
            Scalar(CLEAR),
            out,
        )
        return np.asarray(kernel.numpy(out) == 1)


NEXT = (1, 2, 0)
BLOCK = 200_000  # number of pairs that are tested together, which bounds the memory
MOST_NEAR, MOST_NEAR_A_FACE = 4_000_000, 60  # largest number of pairs; a sheet has 6.5 a face


@checked(MeshError)
def intersections(x: Positions, faces: Faces, quiet: Bools | None = None) -> Ints:
    """Return the pairs of faces that intersect or touch, apart from shared vertices and edges.

    Args:
        x: (n,3) positions [m].
        faces: (m,3) vertex ids.
        quiet: (m,) faces that may intersect one another: pairs of two of them are skipped; None:
            none.

    Returns:
        (k,2) pairs i < j of faces.

    Raises:
        MeshError: positions are not finite, ids are out of range, or so many faces lie in one place
            that the search would not end in reasonable time.
    """
    if len(faces) == 0:
        return np.zeros((0, 2), dtype=np.int32)
    if faces.min() < 0 or faces.max() >= len(x):
        raise MeshError("faces", got=int(faces.max()), expected=f"ids from 0 to {len(x) - 1}")
    pairs = _near(x, faces, np.zeros(len(faces), dtype=bool) if quiet is None else quiet)
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    blocks = [_hits(x, faces, pairs[k : k + BLOCK]) for k in range(0, len(pairs), BLOCK)]
    return np.concatenate([np.zeros((0, 2), dtype=np.int32), *blocks])


def _near(x: Positions, faces: Faces, quiet: Bools) -> Ints:
    """Return the pairs i < j of faces whose boxes overlap and that are not both quiet, (p,2).

    Raises:
        MeshError: there are too many pairs.
    """
    loud, still = np.flatnonzero(~quiet), np.flatnonzero(quiet)
    if len(loud) == 0:
        return np.zeros((0, 2), dtype=np.int32)
    tree = BoundingVolumeHierarchy(Boxes.around(x[faces[loud]]))
    asked = [(Overlaps(tree), loud)]
    if len(still):
        asked.append((Overlaps(tree, Boxes.around(x[faces[still]])), still))
    count = sum(len(found) for found, _ in asked)
    most = max(MOST_NEAR, MOST_NEAR_A_FACE * len(faces))
    if count > most:
        raise MeshError(
            "faces",
            got=f"{count} pairs of {len(faces)} faces in one place",
            expected=f"at most {most}",
            hint="does the mesh contain the same part several times?",
        )
    listed = []
    for found, ids in asked:
        pairs = found.read_pairs()
        listed.append(np.stack([ids[pairs[:, 0]], loud[pairs[:, 1]]], axis=1))
    return np.asarray(np.sort(np.concatenate(listed), axis=1), dtype=np.int32)


def _hits(x: Positions, faces: Faces, pairs: Ints) -> Ints:
    """Return those of the pairs (p,2) of faces that intersect."""
    pairs = pairs[~clearly_separated(x, faces, pairs)]
    hit = np.zeros(len(pairs), dtype=bool)
    a, b = faces[pairs[:, 0]], faces[pairs[:, 1]]
    same = a[:, :, None] == b[:, None, :]  # (p,3,3)
    shared = same.sum((1, 2))
    apart, corner, edge = (np.flatnonzero(shared == k) for k in range(3))
    hit[shared == 3] = True
    hit[apart] = triangles_meet(x[a[apart]], x[b[apart]])
    hit[corner] = _at_corner(x, a[corner], b[corner], same[corner])
    hit[edge] = _at_edge(x, a[edge], b[edge], same[edge])
    return pairs[hit]


def triangles_meet(a: Floats, b: Floats) -> Bools:
    """Return whether triangles (p,3,3) without a common vertex intersect, (p,): an edge of one
    meets the other.
    """
    hit = np.zeros(len(a), dtype=bool)
    for one, two in ((a, b), (b, a)):
        for i in range(3):
            rest = np.flatnonzero(~hit)
            corners = np.moveaxis(two[rest], 1, 0)
            hit[rest] = segment_meets_triangle(one[rest, i], one[rest, NEXT[i]], *corners)
    return hit


def _at_corner(x: Positions, a: Ints, b: Ints, same: Bools) -> Bools:
    """Return whether triangles with one common vertex intersect, (p,): the edge opposite to it
    meets the other triangle.
    """
    i, j = np.argmax(same.any(2), axis=1), np.argmax(same.any(1), axis=1)
    rows = np.arange(len(a))
    hit = np.zeros(len(a), dtype=bool)
    for one, two, k in ((a, b, i), (b, a, j)):
        p, q = x[one[rows, (k + 1) % 3]], x[one[rows, (k + 2) % 3]]
        hit |= segment_meets_triangle(p, q, *np.moveaxis(x[two], 1, 0))
    return hit


def _at_edge(x: Positions, a: Ints, b: Ints, same: Bools) -> Bools:
    """Return whether triangles with a common edge intersect, (p,): they lie in one plane, on the
    same side of the edge.
    """
    rows = np.arange(len(a))
    i, j = np.argmin(same.any(2), axis=1), np.argmin(same.any(1), axis=1)
    p, q = x[a[rows, (i + 1) % 3]], x[a[rows, (i + 2) % 3]]
    tip_a, tip_b = x[a[rows, i]], x[b[rows, j]]
    flat = np.flatnonzero(orient3d(p, q, tip_a, tip_b) == 0)
    hit = np.zeros(len(a), dtype=bool)
    if len(flat):
        P, Q, A, B = (points[flat] for points in (p, q, tip_a, tip_b))
        above = _above_plane(P, Q, A)
        hit[flat] = orient3d(P, Q, A, above) * orient3d(P, Q, B, above) > 0
    return hit


def segment_meets_triangle(p: Floats, q: Floats, a: Floats, b: Floats, c: Floats) -> Bools:
    """Return whether the closed segments p q meet the closed triangles a b c, (n,), exactly."""
    above, below = orient3d(a, b, c, p), orient3d(a, b, c, q)
    hit = np.zeros(len(p), dtype=bool)
    crossing = np.flatnonzero((above * below <= 0) & ((above != 0) | (below != 0)))
    if len(crossing):
        P, Q = p[crossing], q[crossing]
        A, B, C = a[crossing], b[crossing], c[crossing]
        sides = np.stack([orient3d(P, Q, A, B), orient3d(P, Q, B, C), orient3d(P, Q, C, A)])
        hit[crossing] = (sides >= 0).all(0) | (sides <= 0).all(0)
    flat = np.flatnonzero((above == 0) & (below == 0))
    if len(flat):
        hit[flat] = _in_one_plane(p[flat], q[flat], a[flat], b[flat], c[flat])
    return hit


def _in_one_plane(p: Floats, q: Floats, a: Floats, b: Floats, c: Floats) -> Bools:
    """Return whether segments meet triangles in the same plane, (n,): an end lies inside, or edges
    cross.
    """
    above = _above_plane(a, b, c)
    hit = np.zeros(len(p), dtype=bool)
    for end in (p, q):
        sides = np.stack([orient3d(i, j, end, above) for i, j in ((a, b), (b, c), (c, a))])
        hit |= ((sides >= 0).all(0) | (sides <= 0).all(0)) & (sides != 0).any(0)
    for i, j in ((a, b), (b, c), (c, a)):
        across = orient3d(p, q, i, above) * orient3d(p, q, j, above) <= 0
        along = orient3d(i, j, p, above) * orient3d(i, j, q, above) <= 0
        low = np.maximum(np.minimum(p, q), np.minimum(i, j))
        high = np.minimum(np.maximum(p, q), np.maximum(i, j))
        hit |= across & along & (low <= high).all(1)
    return hit


def _above_plane(a: Floats, b: Floats, c: Floats) -> Floats:
    """Return points (n,3) off the planes of triangles: seen from there, points of a plane run
    counter-clockwise or clockwise.
    """
    normal = np.abs(np.cross(b - a, c - a))
    return np.asarray(a + np.eye(3)[np.argmax(normal, axis=1)])
