"""Eight boxes at a time: whom of a leaf a box meets, as bits, in a few instructions.

A leaf's boxes lie coordinate by coordinate, eight numbers each, with empty boxes where there are
fewer: what the CPU holds in one or two registers. The tests are native code: Warp's compiler leaves
a loop over eight boxes a loop, which takes four times as long.
"""

import warp as wp

from weft.contact.broad_phase.tree_order import LEAF
from weft.kernel.native_code import native

ROWS = 6  # numbers of a box: lower x, y, z, upper x, y, z
BOX = ROWS * LEAF  # numbers of a leaf
CORNERS = 3 * LEAF
NONE = -1  # in place of a vertex, where there is no box


@wp.func_native(native("aabb_simd.h", "met_between"))
def met_between(
    boxes: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    low: wp.vec3f,
    high: wp.vec3f,
    last_low: wp.vec3f,
    last_high: wp.vec3f,
) -> wp.uint32:
    """Bits of the boxes of a leaf that overlap the one from low to high, which ends between the
    last ones where boxes move.
    """


@wp.func_native(native("aabb_simd.h", "overlap_mask"))
def overlap_mask(
    boxes: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
) -> wp.uint32:
    """Bits of the boxes of a leaf that overlap the one of this number in another leaf; at the same
    time of a way, where its ``ends`` are given.
    """


@wp.func_native(native("aabb_simd.h", "met_closer"))
def met_closer(
    boxes: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    by: wp.float32,
) -> wp.uint32:
    """Those that still do where boxes are nearer by ``by``, or lie deeper in one another."""


@wp.func_native(native("aabb_simd.h", "beside"))
def beside(
    corners: wp.array(dtype=wp.int32),
    leaf: int,
    others: wp.array(dtype=wp.int32),
    other: int,
    number: int,
    start: wp.array(dtype=wp.int32),
    neighbors: wp.array(dtype=wp.int32),
) -> wp.uint32:
    """Bits of what in a leaf has a neighbor of a vertex of what has this number in another leaf;
    those of vertex v begin at ``start[v]``.
    """


@wp.func_native(native("aabb_simd.h", "sharing"))
def sharing(
    corners: wp.array(dtype=wp.int32),
    leaf: int,
    others: wp.array(dtype=wp.int32),
    other: int,
    number: int,
) -> wp.uint32:
    """Bits of what in a leaf has a vertex of what has this number in another leaf."""


@wp.func
def box_of(boxes: wp.array(dtype=wp.float32), leaf: int, k: int):
    """Lower and upper corner of box k of a leaf."""
    p = BOX * leaf + k
    low = wp.vec3f(boxes[p], boxes[p + LEAF], boxes[p + 2 * LEAF])
    return low, wp.vec3f(boxes[p + 3 * LEAF], boxes[p + 4 * LEAF], boxes[p + 5 * LEAF])


@wp.func
def corners_of(corners: wp.array(dtype=wp.int32), leaf: int, k: int):
    """Vertices of what is in box k of a leaf."""
    p = CORNERS * leaf + k
    return wp.vec3i(corners[p], corners[p + LEAF], corners[p + 2 * LEAF])


@wp.func
def put_box(boxes: wp.array(dtype=wp.float32), leaf: int, k: int, low: wp.vec3f, high: wp.vec3f):
    """Box k of a leaf is that from low to high."""
    p = BOX * leaf + k
    for a in range(3):
        boxes[p + LEAF * a] = low[a]
        boxes[p + LEAF * (3 + a)] = high[a]


@wp.func
def united(ids: wp.vec3i, sewn: wp.array(dtype=wp.int32)):
    """What vertices count as."""
    return wp.vec3i(sewn[ids[0]], sewn[ids[1]], sewn[ids[2]])


@wp.func
def shares(a: wp.vec3i, b: wp.vec3i):
    """Whether two triples of vertices have one in common."""
    if a[0] == b[0] or a[0] == b[1] or a[0] == b[2]:
        return True
    if a[1] == b[0] or a[1] == b[1] or a[1] == b[2]:
        return True
    return a[2] == b[0] or a[2] == b[1] or a[2] == b[2]
