"""Overlap queries against a bounding volume hierarchy: which boxes search, and which pairs count.

After the first search of a time step only boxes that left their bounds search again, against all
boxes of the other tree. Overlapping boxes are no pair if they share a vertex, ignore each other, or
if a separating axis keeps their primitives apart: in fine cloth most pairs whose boxes overlap are
not near each other. The axis is the line through the centroids of both primitives, halfway along
their paths. If it separates them at the start and at the end of the paths, it does so all the time,
because the position of a vertex along an axis changes linearly on a straight path.

The first traversal counts the overlaps of each box and stores as many as its row has slots. The
pairs are written afterwards, at places that a scan of the counts gives. That takes a few
instructions for each of a million pairs, so it is native code, as the tests of eight primitives of
a leaf at once are.
"""

import enum

import warp as wp

from weft.contact.broad_phase.aabb import (
    TreeBoxes,
    beside,
    corners_of,
    sharing,
    shrunk_overlap_mask,
)
from weft.contact.broad_phase.joined import are_joined, has_joined
from weft.kernel import BitsArray, FloatArray, IntArray, IntArray2d
from weft.kernel.bitmask import lowest_set_bit, mask_below
from weft.kernel.cpu.native_code import native


class QueryScope(enum.IntEnum):
    """Boxes that a searching box is tested against."""

    ANY = 0  # all boxes
    STILL = 1  # boxes that have not moved
    # Within one tree: boxes that have not moved, and moved ones of larger index, so that a pair of
    # two moved boxes is reported once.
    LATER = 2


@wp.struct
class OverlapQuery:
    """Parameters of one traversal of the hierarchy."""

    moved: BitsArray  # (n_leaves,) bit k: box k searches; empty: every box
    theirs: BitsArray  # moved boxes of the other tree; or empty
    first: wp.int32  # boxes with a smaller index search
    after: wp.int32  # 1: one tree against itself, each pair once
    apart: wp.int32  # 1: no pairs with a common vertex; 2: nor pairs that ignore each other
    others: wp.int32  # a ``QueryScope``
    closer: wp.float32  # [m] subtracted from the search distance of adjacent pairs; 0: all alike
    wanted: wp.float32  # [m] pairs that an axis separates by this are left out; 0: no test
    connected: IntArray  # (n+1,) where the neighbors of each vertex begin
    neighbors: IntArray  # vertices that edges connect with each vertex


@wp.func
def query_mask(c: int, side: TreeBoxes, q: OverlapQuery):
    """Return the bit mask of the boxes of leaf c that search."""
    a = side.layout.start[c]
    out = mask_below(wp.clamp(q.first - a, 0, side.layout.start[c + 1] - a))
    if q.moved.shape[0] > 0:
        out = out & q.moved[c]
    return out


@wp.func_native(native("separating_axis.h", "apart_along_line", K=2, M=2))
def _edges(
    places: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the edges of a leaf against an edge."""


@wp.func_native(native("separating_axis.h", "apart_along_line", K=3, M=1))
def _faces(
    places: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the triangles of a leaf against a point."""


@wp.func_native(native("separating_axis.h", "apart_along_line", K=1, M=3))
def _points(
    places: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the points of a leaf against a triangle."""


@wp.func
def apart_by_lines(
    b: TreeBoxes, leaf: int, a: TreeBoxes, c: int, i: int, wanted: wp.float32, by: wp.float32
):
    """Return the bits of the primitives of a leaf that stay apart from primitive i of leaf c.

    Bits 0 to 7 mark distances of at least ``wanted`` [m], bits 8 to 15 of at least ``wanted - by``.
    """
    if b.ids.shape[1] == 2:
        return _edges(
            b.begin.places, b.end.places, leaf, a.begin.places, a.end.places, c, i, wanted, by
        )
    if b.ids.shape[1] == 3:
        return _faces(
            b.begin.places, b.end.places, leaf, a.begin.places, a.end.places, c, i, wanted, by
        )
    return _points(
        b.begin.places, b.end.places, leaf, a.begin.places, a.end.places, c, i, wanted, by
    )


@wp.func
def filter_overlaps(
    bits: wp.uint32, c: int, i: int, leaf: int, q: OverlapQuery, a: TreeBoxes, b: TreeBoxes
):
    """Return the bits of those boxes of a leaf that form a reported pair with box i of leaf c.

    ``bits`` are the boxes of ``leaf`` (of the tree ``b``) that overlap box i (of ``a``). The
    cheapest tests come first; the loop over single boxes at the end runs for marked primitives, and
    in meshes with joined vertices.
    """
    out = bits
    if q.after != 0 and leaf == c:
        out = out & ~mask_below(i + 1)
    if q.others == QueryScope.STILL:
        out = out & ~q.theirs[leaf]
    if q.others == QueryScope.LATER:
        if leaf < c:
            out = out & ~q.theirs[leaf]
        if leaf == c:
            out = out & ~(q.theirs[leaf] & mask_below(i + 1))
    if q.apart == 0 or out == wp.uint32(0):
        return out
    far = wp.uint32(0)
    if q.wanted > wp.float32(0.0):
        far = apart_by_lines(b, leaf, a, c, i, q.wanted, q.closer)
        out = out & ~far
        if out == wp.uint32(0):
            return out
        far = out & (far >> wp.uint32(8))
    out = out & ~sharing(b.corners, leaf, a.corners, c, i)
    if q.closer > wp.float32(0.0):
        if q.wanted > wp.float32(0.0):
            far = out & far
        else:
            far = out & ~shrunk_overlap_mask(
                b.begin.boxes, b.end.boxes, leaf, a.begin.boxes, a.end.boxes, c, i, q.closer
            )
        if far != wp.uint32(0):
            out = out & ~(far & beside(b.corners, leaf, a.corners, c, i, q.connected, q.neighbors))
    own = wp.uint32(0)
    if q.apart == 2:
        own = a.marks[a.layout.start[c] + i, 0]
    some = has_joined(a.joined)
    if own != wp.uint32(0) or some:
        mine = corners_of(a.corners, c, i)
        left = out
        while left != wp.uint32(0):
            j = lowest_set_bit(left)
            left = left & (left - wp.uint32(1))
            apart = int(1)
            if own != wp.uint32(0):  # noqa: SIM102 (kernels evaluate both sides of `and`)
                if (own & b.marks[b.layout.start[leaf] + j, 1]) != wp.uint32(0):
                    apart = 0
            if some:  # noqa: SIM102 (kernels evaluate both sides of `and`)
                if are_joined(mine, corners_of(b.corners, leaf, j), a.joined):
                    apart = 0
            if apart == 0:
                out = out & ~(wp.uint32(1) << wp.uint32(j))
    return out


@wp.func_native(native("pair_list.h", "note"))
def note(i: int, first: int, bits: wp.uint32, count: IntArray, slots: IntArray2d):
    """Record that box i overlaps the boxes ``first`` + k for each set bit k.

    All overlaps are counted; they are stored in row i of ``slots`` as long as there is room.
    """


@wp.func_native(native("pair_list.h", "write_noted"))
def write_noted(
    place: int,
    i: int,
    count: int,
    slots: IntArray2d,
    apart: int,
    a: IntArray2d,
    b: IntArray2d,
    out: IntArray2d,
):
    """Write the pairs of box i with the boxes stored in its row of ``slots``, from row ``place``
    on.

    Without ``apart`` a pair is written as the places of both boxes, with ``apart`` as the vertices
    of both primitives, the primitive with fewer vertices first.
    """


@wp.func_native(native("pair_list.h", "write_met"))
def write_met(
    place: int,
    i: int,
    first: int,
    bits: wp.uint32,
    apart: int,
    a: IntArray2d,
    b: IntArray2d,
    out: IntArray2d,
):
    """Write the pairs of box i with the boxes ``first`` + k for each set bit k, in the format of
    ``write_noted``.
    """
