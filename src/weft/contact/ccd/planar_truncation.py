"""Truncate a direction vertex by vertex, so that the whole of the rest may be taken.

A plane between the closest points of a pair separates its two sides, because both are convex. If
their displacements may bring them nearer to each other than the distance that is kept, the room in
between is divided in proportion to how far each side approaches, and each vertex goes until its
part of the room is used up. A body at rest leaves all of the room to the cloth; displacements along
the plane or away from it are not cut. Chen et al. (2025) bound displacements in every direction
instead, by half the distance.
"""

import warp as wp

from weft.contact.distance.distance import (
    PairKind,
    Pairs,
    Separation,
    closest_at,
    kind_of,
    pair_thickness,
)
from weft.contact.narrow_phase.distance_bounds import VertexMotion, mark_undecided
from weft.kernel import (
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Vec3Array,
    vec4,
)
from weft.kernel.bitmask import lowest_set_bit, mask_below

KEEP = 0.15  # of its room that a pair keeps: a bit more than ``FRACTION`` of ``max_step``
_module = wp.get_module("weft.truncation")


@wp.func
def cut(
    i: int,
    y: Vec3Array,
    dy: Vec3Array,
    bound: ScalarArray,
    pairs: Pairs,
    separation: Separation,
    part: ScalarArray,
):
    """Cut the displacements of the vertices of pair i: ``part[v]`` becomes the least part that a
    pair leaves v.
    """
    kind = kind_of(i, pairs.points)
    kept = pair_thickness(kind, i, pairs.stencil, separation)
    zero = Scalar(0.0)
    _p, v = closest_at(kind, i, y, pairs.stencil)
    distance = wp.length(v)
    n = v / wp.max(distance, Scalar(1e-300))
    first = int(1)  # number of vertices of the first side, which n points to
    if kind == PairKind.EDGE_EDGE:
        first = int(2)
    height = vec4()  # of each vertex over the plane, positive on its own side
    way = vec4()  # largest displacement of each vertex towards the plane
    low0 = Scalar(wp.inf)
    low1 = Scalar(wp.inf)
    for j in range(4):
        side = Scalar(1.0)
        if j >= first:
            side = Scalar(-1.0)
        k = pairs.stencil[i, j]
        height[j] = side * wp.dot(n, y[k])
        way[j] = wp.max(-side * wp.dot(n, dy[k]), zero)
        if bound.shape[0] > 0:
            way[j] = bound[k]
        if j < first:
            low0 = wp.min(low0, height[j])
        else:
            low1 = wp.min(low1, height[j])
    near0 = zero  # how far each side approaches the other
    near1 = zero
    for j in range(4):
        if j < first:
            near0 = wp.max(near0, way[j] - (height[j] - low0))
        else:
            near1 = wp.max(near1, way[j] - (height[j] - low1))
    room = wp.max(low0 + low1 - kept - Scalar(KEEP) * (distance - kept), zero)
    if near0 + near1 > room:
        for j in range(4):
            most = height[j] - low0 + room * near0 / (near0 + near1)
            if j >= first:
                most = height[j] - low1 + room * near1 / (near0 + near1)
            if way[j] > most:
                # A minimum does not depend on the order of threads: results are reproducible.
                wp.atomic_min(part, pairs.stencil[i, j], most / way[j])


@wp.kernel(module=_module)
def cut_ways(
    o: int,
    y: Vec3Array,
    dy: Vec3Array,
    bound: ScalarArray,
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    width: int,
    words: int,
    part: ScalarArray2d,
):
    """Write the least part of dy[v] that the pairs of each vertex v leave it, to a row of ``part``.

    Thread s takes the next ``words`` times ``width`` pairs and writes to row s, modulo the number
    of rows: on the CPU each thread has a row of its own, so that no two write to the same memory.
    If ``bound`` is not empty, v may go by ``bound[v]`` in any direction instead of dy[v]. Else
    pairs are skipped if bounds say that they stay farther apart than the separation.
    """
    s = o + wp.tid()
    row = part[s % part.shape[0]]
    for w in range(s * words, (s + 1) * words):
        first = w * width
        count = wp.clamp(pairs.stencil.shape[0] - first, 0, width)
        left = mask_below(count)
        if bound.shape[0] == 0 and count > 0:
            left = mark_undecided(pairs, separation, motion, first, count, 1, Scalar(1.0))
        while left != wp.uint32(0):
            i = first + lowest_set_bit(left)
            left = left & (left - wp.uint32(1))
            cut(i, y, dy, bound, pairs, separation, row)


@wp.kernel(module=_module)
def least_parts(o: int, part: ScalarArray2d, out: ScalarArray):
    """Write the least part of every vertex over all rows."""
    v = o + wp.tid()
    least = part[0, v]
    for row in range(1, part.shape[0]):
        least = wp.min(least, part[row, v])
    out[v] = least
