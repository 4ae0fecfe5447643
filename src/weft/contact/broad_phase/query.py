"""Who asks for boxes that overlap, and which pairs of boxes that do count."""

import enum

import warp as wp

from weft.contact.broad_phase.aabb import LeafBoxes
from weft.contact.broad_phase.aabb_simd import (
    beside,
    corners_of,
    met_closer,
    shares,
    sharing,
    united,
)
from weft.contact.narrow_phase.separating_axis import apart_by_lines
from weft.kernel.bitmask import lowest_set_bit, mask_below


class QueryScope(enum.IntEnum):
    """Whom a box that has moved meets."""

    ANY = 0
    STILL = 1  # those that have not moved
    LATER = 2  # of its own tree: those that have not, and later ones that have


@wp.struct
class OverlapQuery:
    """Who asks, and for what."""

    moved: wp.array(dtype=wp.uint32)  # of leaves: bits of boxes that ask; empty: all
    theirs: wp.array(dtype=wp.uint32)  # of boxes asked that have moved; empty: nothing is known
    first: wp.int32  # only so many ask
    after: wp.int32  # 1: later ones of the same hierarchy only
    apart: wp.int32  # 1: not what shares a vertex; 2: nor what is not to be met
    others: wp.int32
    closer: wp.float32  # [m] by which boxes have to be nearer that edges connect; 0: all alike
    wanted: wp.float32  # [m] 0; or pairs that lines hold so far apart are left out
    connected: wp.array(dtype=wp.int32)  # of vertices: where their neighbors begin
    neighbors: wp.array(dtype=wp.int32)


@wp.func
def query_mask(c: int, side: LeafBoxes, q: OverlapQuery):
    """Bits of the boxes of leaf c that ask."""
    a = side.start[c]
    out = mask_below(wp.clamp(q.first - a, 0, side.start[c + 1] - a))
    if q.moved.shape[0] > 0:
        out = out & q.moved[c]
    return out


@wp.func
def admitted(
    bits: wp.uint32, c: int, i: int, leaf: int, q: OverlapQuery, a: LeafBoxes, b: LeafBoxes
):
    """Of the boxes of a leaf those that make pairs with box i of leaf c."""
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
            far = out & ~met_closer(b.boxes, b.ends, leaf, a.boxes, a.ends, c, i, q.closer)
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
