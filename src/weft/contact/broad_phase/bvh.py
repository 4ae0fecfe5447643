"""A bounding volume hierarchy, and the traversal that finds overlapping boxes.

Each leaf of one tree searches, for all of its boxes at once, and visits the nodes of the other tree
in preorder. Overlapping boxes are counted and stored as far as there are slots, and written as
pairs afterwards, so that every thread writes only rows of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Ints
from weft.contact.broad_phase.aabb import (
    Bounds,
    Boxes,
    MovingPoints,
    TreeBoxes,
    box_of,
    overlap_mask,
    overlap_mask_of_box,
)
from weft.contact.broad_phase.overlap_query import (
    OverlapQuery,
    QueryScope,
    filter_overlaps,
    note,
    query_mask,
    write_met,
    write_noted,
)
from weft.contact.broad_phase.tree_order import LEAF
from weft.contact.narrow_phase.adjacent_pairs import AdjacentPairGap
from weft.kernel import IntArray, IntArray2d, WarpArray
from weft.kernel.bitmask import lowest_set_bit, mask_below

_module = wp.get_module("weft.broad_phase")
SLOTS = 32  # overlaps of a box that are stored while counting; a box with more searches twice
FEWER = 16  # as ``SLOTS``, if a separating axis removes most overlaps
PAIR_WORK = 7 / 3  # matrix entries that take as long as one candidate pair
LEAF_WORK = 70.0  # matrix entries that take as long as the search from one leaf


@wp.kernel(module=_module)
def enclose_nodes(o: int, nodes: IntArray, beyond: IntArray, out: Bounds):
    """Compute the boxes of nodes from those of their two children."""
    p = nodes[o + wp.tid()]
    left = p + 1
    right = beyond[left]
    out.low[p] = wp.min(out.low[left], out.low[right])
    out.high[p] = wp.max(out.high[left], out.high[right])


@wp.struct
class Box:
    """A box at the start and at the end of its path."""

    low: wp.vec3f
    high: wp.vec3f
    last_low: wp.vec3f
    last_high: wp.vec3f


@wp.func
def box_at(c: int, k: int, side: TreeBoxes):
    """Return box k of leaf c."""
    out = Box()
    low, high = box_of(side.begin.boxes, c, k)
    out.low = low
    out.high = high
    if side.end.boxes.shape[0] > 0:
        low, high = box_of(side.end.boxes, c, k)
    out.last_low = low
    out.last_high = high
    return out


@wp.func
def meet(b: Box, node: int, t: TreeBoxes):
    """Return whether a box and the box of a node overlap at the same time of their paths."""
    low = t.begin.low[node]
    high = t.begin.high[node]
    if t.end.low.shape[0] == 0:
        if b.low[0] > high[0] or low[0] > b.high[0]:
            return False
        if b.low[1] > high[1] or low[1] > b.high[1]:
            return False
        return b.low[2] <= high[2] and low[2] <= b.high[2]
    last_low = t.end.low[node]
    last_high = t.end.high[node]
    out = bool(True)
    for k in range(3):
        if b.low[k] > high[k] and b.last_low[k] > last_high[k]:
            out = False
        if low[k] > b.high[k] and last_low[k] > b.last_high[k]:
            out = False
    return out


@wp.func
def leaf_overlaps(b: TreeBoxes, leaf: int, a: TreeBoxes, c: int, i: int):
    """Return the bits of the boxes of a leaf that overlap box i of leaf c."""
    return overlap_mask(b.begin.boxes, b.end.boxes, leaf, a.begin.boxes, a.end.boxes, c, i)


@wp.func
def leaves_met(block: int, b: Box, c: int, t: TreeBoxes, q: OverlapQuery):
    """Return the bits of the leaves of a block that overlap a box of leaf c; if each pair is
    reported once, only of leaves from c on.
    """
    out = overlap_mask_of_box(
        t.begin.leaves, t.end.leaves, block, b.low, b.high, b.last_low, b.last_high
    )
    if q.after != 0:
        out = out & ~mask_below(wp.clamp(c - t.layout.first[block], 0, LEAF))
    return out


@wp.kernel(module=_module)
def find_overlaps(
    o: int,
    mine: TreeBoxes,
    theirs: TreeBoxes,
    q: OverlapQuery,
    count: IntArray,
    slots: IntArray2d,
    start: IntArray,
    begin: int,
    out: IntArray2d,
):
    """Count the overlaps of every box of leaf c, or write them as pairs if ``out`` is not empty.

    Counting fills ``count`` and, as far as there are slots, ``slots``. Writing puts the pairs of
    box i into the rows from ``begin + start[i]`` on: from the slots, if they hold all pairs of the
    box, else by a second traversal, which finds the same pairs in the same order.
    """
    c = o + wp.tid()
    a = mine.layout.start[c]
    listing = out.shape[0] > 0
    ask = query_mask(c, mine, q)
    for i in range(a, mine.layout.start[c + 1]):
        if not listing:
            count[i] = 0
        elif count[i] <= slots.shape[1]:
            write_noted(begin + start[i], i, count[i], slots, q.apart, mine.ids, theirs.ids, out)
            ask = ask & ~(wp.uint32(1) << wp.uint32(i - a))
        else:
            slots[i, 0] = 0  # number of pairs written so far
    # One box around all boxes of the leaf that search descends the tree.
    b = Box()
    b.low = wp.vec3f(wp.inf, wp.inf, wp.inf)
    b.high = -b.low
    b.last_low = b.low
    b.last_high = b.high
    left = ask
    while left != wp.uint32(0):
        one = box_at(c, lowest_set_bit(left), mine)
        left = left & (left - wp.uint32(1))
        b.low = wp.min(b.low, one.low)
        b.high = wp.max(b.high, one.high)
        b.last_low = wp.min(b.last_low, one.last_low)
        b.last_high = wp.max(b.last_high, one.last_high)
    # Nodes before the leaf's own block hold only earlier leaves, which have found these pairs.
    node = int(0)
    end = theirs.layout.beyond[0]
    if q.after != 0:
        node = mine.layout.root[mine.layout.block[c]]
    if ask == wp.uint32(0):
        end = 0
    while node < end:
        if not meet(b, node, theirs):
            node = theirs.layout.beyond[node]
        else:
            block = theirs.layout.block_at[node]
            if block < 0:
                node += 1
            else:
                near = leaves_met(block, b, c, theirs, q)
                while near != wp.uint32(0):
                    which = lowest_set_bit(near)
                    near = near & (near - wp.uint32(1))
                    k = theirs.layout.first[block] + which
                    left = ask & overlap_mask(
                        mine.begin.boxes,
                        mine.end.boxes,
                        c,
                        theirs.begin.leaves,
                        theirs.end.leaves,
                        block,
                        which,
                    )
                    while left != wp.uint32(0):
                        i = lowest_set_bit(left)
                        left = left & (left - wp.uint32(1))
                        bits = leaf_overlaps(theirs, k, mine, c, i)
                        bits = filter_overlaps(bits, c, i, k, q, mine, theirs)
                        i += a
                        if bits == wp.uint32(0):
                            continue
                        if not listing:
                            note(i, theirs.layout.start[k], bits, count, slots)
                        else:
                            place = begin + start[i] + slots[i, 0]
                            slots[i, 0] += wp.bit_count(bits)
                            j = theirs.layout.start[k]
                            write_met(place, i, j, bits, q.apart, mine.ids, theirs.ids, out)
                node = theirs.layout.beyond[node]


@dataclass(frozen=True, eq=False)
class Moved:
    """Boxes that have moved since the last search, as bits of leaves."""

    mine: WarpArray  # (c,) uint32 boxes that search
    theirs: WarpArray  # (c,) uint32 moved boxes of the tree that is searched
    others: QueryScope  # boxes that they are tested against


class BoundingVolumeHierarchy:
    """A binary tree of bounding boxes with a fixed order (``TreeOrder``): if primitives move, only
    the boxes are refitted.
    """

    def __init__(self, boxes: Boxes) -> None:
        self.update(boxes)

    @staticmethod
    def refitted(
        tree: "BoundingVolumeHierarchy | None", places: MovingPoints, grow: float, *kind: Any
    ) -> "BoundingVolumeHierarchy":
        """Return the tree with new boxes, or a new tree if there is none; arguments as for
        ``Boxes.renewed``.
        """
        boxes = Boxes.renewed(None if tree is None else tree.boxes, places, grow, *kind)
        if tree is None:
            return BoundingVolumeHierarchy(boxes)
        tree.update(boxes)
        return tree

    def update(self, boxes: Boxes) -> None:
        """Replace the boxes by others of primitives in the same tree order."""
        self.boxes = boxes
        self._enclose()

    def rebound(self, moved: WarpArray, places: MovingPoints, grow: float) -> None:
        """Refit the tree after new boxes, enlarged by ``grow`` [m], are computed for the boxes with
        a set bit in ``moved``.
        """
        self.boxes.renew(moved, places, grow)
        self._enclose()

    def _enclose(self) -> None:
        """Compute the boxes of inner nodes, the deepest level first."""
        layout = self.boxes.inside.layout
        inner, ends = layout.inner
        for bounds in self.boxes.bounds:
            kernel.launch_in_order(enclose_nodes, ends, inner, layout.struct.beyond, bounds)


class Overlaps:
    """Overlapping boxes, which are counted at once and written when there is memory for them.

    Args:
        tree: the hierarchy that is searched.
        boxes: boxes that search; None: the tree's own boxes, each pair once.
        stencils: whether pairs are those that may be in contact, written as the vertices of both
            primitives: pairs that share a vertex (or joined vertices) or ignore each other
            are left out. Else all pairs of boxes.
        query_mask: number of boxes that search, from the first one; None: all.
        moved: report only pairs with a box that has moved; None: all pairs.
        closer: reduces the search distance of adjacent pairs; None: all pairs are alike.
        wanted: [m] leave out pairs that a separating axis keeps this far apart, if the boxes know
            vertices; 0: no such test.
        numbers: with which the number of pairs is read; None: alone.
    """

    def __init__(
        self,
        tree: BoundingVolumeHierarchy,
        boxes: Boxes | None = None,
        *,
        stencils: bool = False,
        query_mask: int | None = None,
        moved: Moved | None = None,
        closer: AdjacentPairGap | None = None,
        wanted: float = 0.0,
    ) -> None:
        b = boxes or tree.boxes
        n, layout = len(b), b.inside.layout
        q = OverlapQuery()  # arrays that are not set here have the length 0
        if moved is not None:
            q.moved, q.theirs, q.others = moved.mine, moved.theirs, int(moved.others)
        q.apart = (2 if b.has_marks and tree.boxes.has_marks else 1) if stencils else 0
        if closer is not None:
            q.closer, about = closer.by, closer.adjacency
            q.connected, q.neighbors = about.start, about.neighbors
        q.first = n if query_mask is None else query_mask
        q.after = int(boxes is None and moved is None)
        q.wanted = wanted
        self.boxes, self.theirs, self._own = b, tree.boxes, boxes is None
        count, slots = (
            kernel.empty(n, wp.int32),
            kernel.empty((n, FEWER if wanted else SLOTS), wp.int32),
        )
        start = kernel.empty(n, wp.int32)
        self._asked = (b.struct, tree.boxes.struct, q, count, slots, start)
        self._leaves = len(layout) if n and len(tree.boxes) else 0
        if not self._leaves:
            count.zero_()
        self._ask(kernel.empty((0, 0), wp.int32), 0)
        self._count = kernel.scan(count, start)
        self._width = b.ids.shape[1] + tree.boxes.ids.shape[1] if stencils else 2

    def __len__(self) -> int:
        """Return the number of overlapping pairs."""
        return self._count

    def write(self, out: WarpArray, begin: int) -> None:
        """Write all pairs into the rows of ``out`` (k,width) int32, from row ``begin`` on."""
        if len(self):
            self._ask(out, begin)

    def _ask(self, out: WarpArray, begin: int) -> None:
        """Count the pairs, or write them if ``out`` has room."""
        asked = (*self._asked, begin, out)
        kernel.launch(find_overlaps, self._leaves, *asked, work=LEAF_WORK)

    def read_pairs(self) -> Ints:
        """Return the pairs on the host, (p,width): numbers of boxes, or vertices if pairs with
        common vertices are left out.
        """
        out = kernel.empty((len(self), self._width), wp.int32)
        self.write(out, 0)
        places = kernel.numpy(out)
        if self._width != 2:
            return np.array(places)
        orders = [boxes.inside.layout.order for boxes in (self.boxes, self.theirs)]
        found = np.stack([order[places[:, k]] for k, order in enumerate(orders)], axis=1)
        return np.asarray(np.sort(found, axis=1) if self._own else found, dtype=np.int32)
