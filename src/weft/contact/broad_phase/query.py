"""Overlap queries against a bounding volume hierarchy.

A query says which boxes search for partners, and which of the overlapping pairs are reported. After
the first search of a time step only boxes that left their bounds search again, against all boxes of
the other tree.
"""

import enum

import warp as wp

from weft.contact.broad_phase.aabb import LeafBoxes
from weft.contact.broad_phase.aabb_simd import (
    beside,
    corners_of,
    shares,
    sharing,
    shrunk_overlap_mask,
    united,
)
from weft.contact.narrow_phase.separating_axis import apart_by_lines
from weft.kernel import BitsArray, IntArray
from weft.kernel.bitmask import lowest_set_bit, mask_below


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
def query_mask(c: int, side: LeafBoxes, q: OverlapQuery):
    """Return the bit mask of the boxes of leaf c that search."""
    a = side.start[c]
    out = mask_below(wp.clamp(q.first - a, 0, side.start[c + 1] - a))
    if q.moved.shape[0] > 0:
        out = out & q.moved[c]
    return out


@wp.func
def filter_overlaps(
    bits: wp.uint32, c: int, i: int, leaf: int, q: OverlapQuery, a: LeafBoxes, b: LeafBoxes
):
    """Return the bits of those boxes of a leaf that form a reported pair with box i of leaf c.

    ``bits`` are the boxes of ``leaf`` (of the tree ``b``) that overlap box i (of ``a``). The
    cheapest tests come first; the loop over single boxes at the end runs for marked or sewn
    primitives only.
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
            far = out & ~shrunk_overlap_mask(b.boxes, b.ends, leaf, a.boxes, a.ends, c, i, q.closer)
        if far != wp.uint32(0):
            out = out & ~(far & beside(b.corners, leaf, a.corners, c, i, q.connected, q.neighbors))
    own = wp.uint32(0)
    if q.apart == 2:
        own = a.marks[a.start[c] + i, 0]
    if own != wp.uint32(0) or a.sewn.shape[0] > 0:
        mine = corners_of(a.corners, c, i)
        left = out
        while left != wp.uint32(0):
            j = lowest_set_bit(left)
            left = left & (left - wp.uint32(1))
            apart = int(1)
            if own != wp.uint32(0):  # noqa: SIM102 (kernels evaluate both sides of `and`)
                if (own & b.marks[b.start[leaf] + j, 1]) != wp.uint32(0):
                    apart = 0
            if a.sewn.shape[0] > 0:
                theirs = corners_of(b.corners, leaf, j)
                if shares(united(mine, a.sewn), united(theirs, a.sewn)):
                    apart = 0
            if apart == 0:
                out = out & ~(wp.uint32(1) << wp.uint32(j))
    return out
