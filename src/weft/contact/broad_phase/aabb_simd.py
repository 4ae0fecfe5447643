"""Overlap tests of one box with the eight boxes of a leaf, in a few vector instructions.

The boxes of a leaf are stored coordinate by coordinate, eight numbers each, which fit into one or
two registers of a CPU; a leaf with fewer boxes is filled up with empty ones. Results are bit masks.
The tests are native C++, because Warp's compiler does not vectorize a loop over eight boxes, which
takes four times as long.
"""

import warp as wp

from weft.contact.broad_phase.tree_order import LEAF
from weft.kernel import FloatArray, IntArray
from weft.kernel.native_code import native

ROWS = 6  # numbers of a box: lower x, y, z, upper x, y, z
BOX = ROWS * LEAF  # numbers of a leaf
CORNERS = 3 * LEAF  # vertices of a leaf
NONE = -1  # stands for a vertex where a leaf has no primitive


@wp.func_native(native("aabb_simd.h", "overlap_mask_of_box"))
def overlap_mask_of_box(
    boxes: FloatArray,
    ends: FloatArray,
    leaf: int,
    low: wp.vec3f,
    high: wp.vec3f,
    last_low: wp.vec3f,
    last_high: wp.vec3f,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap the box from ``low`` to ``high``, which
    moves to the box from ``last_low`` to ``last_high`` if ``ends`` is not empty.
    """


@wp.func_native(native("aabb_simd.h", "overlap_mask"))
def overlap_mask(
    boxes: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap box ``number`` of the leaf ``other``.

    If ``ends`` is not empty, boxes move, and overlap only if they do at the same time of their
    paths.
    """


@wp.func_native(native("aabb_simd.h", "shrunk_overlap_mask"))
def shrunk_overlap_mask(
    boxes: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    by: wp.float32,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap box ``number`` of the leaf ``other``
    after that is shrunk by ``by`` [m] on every side.
    """


@wp.func_native(native("aabb_simd.h", "beside"))
def beside(
    corners: IntArray,
    leaf: int,
    others: IntArray,
    other: int,
    number: int,
    start: IntArray,
    neighbors: IntArray,
) -> wp.uint32:
    """Return the bits of the primitives of a leaf that contain a mesh neighbor of a vertex of
    another one.

    The other primitive is number ``number`` of the leaf ``other``. The neighbors of vertex v begin
    at ``neighbors[start[v]]``.
    """


@wp.func_native(native("aabb_simd.h", "sharing"))
def sharing(corners: IntArray, leaf: int, others: IntArray, other: int, number: int) -> wp.uint32:
    """Return the bits of the primitives of a leaf that share a vertex with primitive ``number`` of
    the leaf ``other``.
    """


@wp.func
def box_of(boxes: FloatArray, leaf: int, k: int):
    """Return the lower and upper corner of box k of a leaf."""
    p = BOX * leaf + k
    low = wp.vec3f(boxes[p], boxes[p + LEAF], boxes[p + 2 * LEAF])
    return low, wp.vec3f(boxes[p + 3 * LEAF], boxes[p + 4 * LEAF], boxes[p + 5 * LEAF])


@wp.func
def corners_of(corners: IntArray, leaf: int, k: int):
    """Return the three vertices of primitive k of a leaf (the last one repeated if it has
    fewer).
    """
    p = CORNERS * leaf + k
    return wp.vec3i(corners[p], corners[p + LEAF], corners[p + 2 * LEAF])


@wp.func
def put_box(boxes: FloatArray, leaf: int, k: int, low: wp.vec3f, high: wp.vec3f):
    """Write box k of a leaf."""
    p = BOX * leaf + k
    for a in range(3):
        boxes[p + LEAF * a] = low[a]
        boxes[p + LEAF * (3 + a)] = high[a]


@wp.func
def united(ids: wp.vec3i, sewn: IntArray):
    """Return the numbers of three vertices, equal for vertices that are sewn together."""
    return wp.vec3i(sewn[ids[0]], sewn[ids[1]], sewn[ids[2]])


@wp.func
def shares(a: wp.vec3i, b: wp.vec3i):
    """Return whether two triples of vertices have one in common."""
    if a[0] == b[0] or a[0] == b[1] or a[0] == b[2]:
        return True
    if a[1] == b[0] or a[1] == b[1] or a[1] == b[2]:
        return True
    return a[2] == b[0] or a[2] == b[1] or a[2] == b[2]
