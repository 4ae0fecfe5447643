"""Which boxes overlap: candidates of contact, from a hierarchy of boxes.

The leaves of one layout ask, each for all of its boxes at once, and visit the nodes of another in
preorder. Boxes that meet are counted and kept where there is room for them, and listed afterwards,
so that every index writes to rows of its own.
"""

import enum
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Ints
from weft.contact.boxes import Boxes, Side
from weft.kernel import WarpArray

_module = wp.get_module("weft.broad_phase")
SLOTS = 32  # overlaps of a box that are kept from counting; a box with more is asked twice
WORTH_SLICING = 1000  # queries of boxes
LEAVES_WORTH_SLICING = 300


class Others(enum.IntEnum):
    """Whom a box that has moved meets."""

    ANY = 0
    STILL = 1  # those that have not moved
    LATER = 2  # of its own tree: those that have not, and later ones that have


@wp.struct
class Nodes:
    """A hierarchy: nodes in preorder, and their boxes."""

    leaf: wp.array(dtype=wp.int32)  # -1: it has two children
    beyond: wp.array(dtype=wp.int32)  # the node after all that lie below this one
    low: wp.array(dtype=wp.vec3f)
    high: wp.array(dtype=wp.vec3f)


@wp.struct
class Question:
    """Who asks, and for what."""

    moved: wp.array(dtype=wp.int32)  # boxes that ask; empty: all
    theirs: wp.array(dtype=wp.int32)  # boxes asked that have moved; empty: nothing is known
    first: wp.int32  # only so many ask
    after: wp.int32  # 1: later ones of the same hierarchy only
    apart: wp.int32  # 1: not what shares a vertex; 2: nor what is not to be met
    others: wp.int32


@wp.kernel(module=_module)
def enclose_leaves(
    o: int,
    start: wp.array(dtype=wp.int32),
    node: wp.array(dtype=wp.int32),
    lower: wp.array(dtype=wp.vec3f),
    upper: wp.array(dtype=wp.vec3f),
    low: wp.array(dtype=wp.vec3f),
    high: wp.array(dtype=wp.vec3f),
):
    """Boxes of leaves."""
    c = o + wp.tid()
    a = start[c]
    small = lower[a]
    large = upper[a]
    for i in range(a + 1, start[c + 1]):
        small = wp.min(small, lower[i])
        large = wp.max(large, upper[i])
    low[node[c]] = small
    high[node[c]] = large


@wp.kernel(module=_module)
def enclose_nodes(
    o: int,
    nodes: wp.array(dtype=wp.int32),
    beyond: wp.array(dtype=wp.int32),
    low: wp.array(dtype=wp.vec3f),
    high: wp.array(dtype=wp.vec3f),
):
    """Boxes of nodes from those of their two children."""
    p = nodes[o + wp.tid()]
    left = p + 1
    right = beyond[left]
    low[p] = wp.min(low[left], low[right])
    high[p] = wp.max(high[left], high[right])


@wp.func
def meet(a: wp.vec3f, b: wp.vec3f, c: wp.vec3f, d: wp.vec3f):
    """Whether a box from a to b and one from c to d overlap."""
    if a[0] > d[0] or c[0] > b[0]:
        return False
    if a[1] > d[1] or c[1] > b[1]:
        return False
    return a[2] <= d[2] and c[2] <= b[2]


@wp.func
def shares(a: wp.vec3i, b: wp.vec3i):
    """Whether two triples of vertices have one in common."""
    if a[0] == b[0] or a[0] == b[1] or a[0] == b[2]:
        return True
    if a[1] == b[0] or a[1] == b[1] or a[1] == b[2]:
        return True
    return a[2] == b[0] or a[2] == b[1] or a[2] == b[2]


@wp.func
def united(ids: wp.vec3i, sewn: wp.array(dtype=wp.int32)):
    """What vertices count as."""
    return wp.vec3i(sewn[ids[0]], sewn[ids[1]], sewn[ids[2]])


@wp.func
def asks(i: int, q: Question):
    """Whether a box is among those that ask."""
    if i >= q.first:
        return False
    if q.moved.shape[0] > 0:
        return q.moved[i] != 0
    return True


@wp.func
def wanted(i: int, j: int, mine: wp.vec3i, q: Question, a: Side, b: Side):
    """Whether a pair of boxes that overlap counts."""
    if q.after != 0 and j <= i:
        return False
    if q.others != Others.ANY:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if q.theirs[j] != 0 and (q.others == Others.STILL or j <= i):
            return False
    if q.apart == 0:
        return True
    if shares(mine, b.corners[j]):
        return False
    if q.apart == 2:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if (a.marks[i, 0] & b.marks[j, 1]) != wp.uint32(0):
            return False
    if a.sewn.shape[0] > 0:
        return not shares(united(mine, a.sewn), united(b.corners[j], a.sewn))
    return True


@wp.kernel(module=_module)
def count_overlaps(
    o: int,
    mine: Side,
    theirs: Side,
    t: Nodes,
    q: Question,
    count: wp.array(dtype=wp.int32),
    slots: wp.array2d(dtype=wp.int32),
):
    """How many boxes of a hierarchy the boxes of a leaf meet, and the first of them, in order."""
    c = o + wp.tid()
    a = mine.start[c]
    b = mine.start[c + 1]
    low = wp.vec3f(1e38, 1e38, 1e38)
    high = -low
    asking = int(0)
    for i in range(a, b):
        count[i] = -1  # until the end: does not ask
        if asks(i, q):
            low = wp.min(low, mine.lower[i])
            high = wp.max(high, mine.upper[i])
            asking = 1
            count[i] = 0
    node = int(0)
    if q.after != 0:
        node = mine.node[c]
    end = t.beyond[0]
    if asking == 0:
        end = 0
    while node < end:
        if not meet(low, high, t.low[node], t.high[node]):
            node = t.beyond[node]
        else:
            k = t.leaf[node]
            if k >= 0:
                first = theirs.start[k]
                last = theirs.start[k + 1]
                for i in range(a, b):
                    found = count[i]
                    small = mine.lower[i]
                    large = mine.upper[i]
                    corners = mine.corners[i]
                    if found >= 0 and meet(small, large, t.low[node], t.high[node]):
                        begin = first
                        if q.after != 0:
                            begin = wp.max(first, i + 1)
                        for j in range(begin, last):
                            if meet(small, large, theirs.lower[j], theirs.upper[j]):  # noqa: SIM102
                                if wanted(i, j, corners, q, mine, theirs):
                                    if found < slots.shape[1]:
                                        slots[i, found] = j
                                    found += 1
                        count[i] = found
            node += 1
    for i in range(a, b):
        count[i] = wp.max(count[i], 0)


@wp.func
def write(
    place: int, i: int, j: int, apart: int, a: Side, b: Side, out: wp.array2d(dtype=wp.int32)
):
    """The pair's places, or with ``apart`` the vertices of both, fewer first."""
    if apart == 0:
        out[place, 0] = i
        out[place, 1] = j
    else:
        k = a.ids.shape[1]
        m = b.ids.shape[1]
        first = int(0)
        second = int(k)
        if m < k:
            first = m
            second = 0
        for c in range(k):
            out[place, first + c] = a.ids[i, c]
        for c in range(m):
            out[place, second + c] = b.ids[j, c]


@wp.kernel(module=_module)
def list_overlaps(
    o: int,
    mine: Side,
    theirs: Side,
    t: Nodes,
    q: Question,
    count: wp.array(dtype=wp.int32),
    slots: wp.array2d(dtype=wp.int32),
    start: wp.array(dtype=wp.int32),
    begin: int,
    out: wp.array2d(dtype=wp.int32),
):
    """The same pairs, from row ``begin + start[i]`` on."""
    i = o + wp.tid()
    place = int(begin + start[i])
    if count[i] <= slots.shape[1]:
        for k in range(count[i]):
            write(place + k, i, slots[i, k], q.apart, mine, theirs, out)
        return
    small = mine.lower[i]
    large = mine.upper[i]
    node = int(0)
    end = t.beyond[0]
    while node < end:
        if not meet(small, large, t.low[node], t.high[node]):
            node = t.beyond[node]
        else:
            leaf = t.leaf[node]
            if leaf >= 0:
                for j in range(theirs.start[leaf], theirs.start[leaf + 1]):
                    if meet(small, large, theirs.lower[j], theirs.upper[j]):  # noqa: SIM102
                        if wanted(i, j, mine.corners[i], q, mine, theirs):
                            write(place, i, j, q.apart, mine, theirs, out)
                            place += 1
            node += 1


@dataclass(frozen=True, eq=False)
class Moved:
    """Which boxes have moved, 1 or 0: those that ask, and those of the tree."""

    mine: WarpArray  # (n,) int32
    theirs: WarpArray
    others: Others


class Tree:
    """A hierarchy over boxes, of their layout: as they move, only its boxes change."""

    def __init__(self, boxes: Boxes) -> None:
        layout = boxes.inside.layout
        m, n = len(layout.leaf), Nodes()
        n.low, n.high = kernel.empty(m, wp.vec3f), kernel.empty(m, wp.vec3f)
        _, n.leaf, n.beyond = layout.device
        self.nodes = n
        self.update(boxes)

    def update(self, boxes: Boxes) -> None:
        """Take new boxes of primitives in the same layout."""
        self.boxes = boxes
        self._enclose()

    def overlaps(self, boxes: Boxes) -> Ints:
        """(p,2) pairs (box given, box of the tree) that overlap."""
        return Overlaps(self, boxes).listed()

    def own_overlaps(self) -> Ints:
        """(p,2) pairs i < j of the tree's own boxes that overlap."""
        return Overlaps(self, None).listed()

    def stencils(self, boxes: Boxes | None = None, asking: int | None = None) -> "Overlaps":
        """Pairs that overlap, share no vertex and may meet: of a given box and one of the tree, or
        of two of the tree's own. They are listed as the vertices of both. Only the first boxes ask,
        where ``asking`` says how many.
        """
        return Overlaps(self, boxes, _apart(boxes or self.boxes, self.boxes), asking)

    def stencils_of_moved(self, boxes: Boxes | None, moved: Moved) -> "Overlaps":
        """The same pairs with at least one box that has moved, asked by those given."""
        return Overlaps(self, boxes, _apart(boxes or self.boxes, self.boxes), None, moved)

    def rebound(self, moved: WarpArray, low: WarpArray, high: WarpArray, grow: float) -> None:
        """New boxes for those that have moved, of ways (n,) vec3 from low to high."""
        self.boxes.renewed(moved, low, high, grow)
        self._enclose()

    def _enclose(self) -> None:
        layout, b = self.boxes.inside.layout, self.boxes
        if len(b) == 0:
            return
        start, _, beyond = layout.device
        nodes = (self.nodes.low, self.nodes.high)
        kernel.launch(enclose_leaves, len(layout), start, layout.nodes, b.lower, b.upper, *nodes)
        inner, ends = layout.inner
        kernel.launch_in_order(enclose_nodes, ends, inner, beyond, *nodes)


def _apart(boxes: Boxes, others: Boxes) -> int:
    return 1 if boxes.marks is None or others.marks is None else 2


class Overlaps:
    """Boxes that overlap, counted; to be listed where there is room for them.

    Args:
        tree: who is asked.
        boxes: who asks; None: the tree's own boxes, each pair once.
        apart: 0 for all pairs, 1 for those without a vertex in common, 2 for those that may meet.
        asking: how many of the boxes ask, from the first one; None: all.
        moved: ask for pairs with a box that has moved.
    """

    def __init__(
        self, tree: Tree, boxes: Boxes | None, apart: int = 0, asking: int | None = None,
        moved: Moved | None = None,
    ) -> None:  # fmt: skip
        b, still = boxes or tree.boxes, kernel.empty(0, wp.int32)
        n, layout = len(b), b.inside.layout
        m = moved or Moved(still, still, Others.ANY)
        q = Question()
        q.moved, q.theirs, q.others, q.apart = m.mine, m.theirs, int(m.others), apart
        q.first, q.after = n if asking is None else asking, int(boxes is None and moved is None)
        self.boxes, self.theirs, self._own = b, tree.boxes, boxes is None
        count, slots = kernel.empty(n, wp.int32), kernel.empty((n, SLOTS), wp.int32)
        self._asked = (b.side, tree.boxes.side, tree.nodes, q, count, slots)
        leaves = len(layout) if n and len(tree.boxes) else 0
        if not leaves:
            count.zero_()
        kernel.launch(count_overlaps, leaves, *self._asked, slice_above=LEAVES_WORTH_SLICING)
        self._n, self._start = n, kernel.empty(n, wp.int32)
        self._count = kernel.scan(count, self._start)
        self._width = b.ids.shape[1] + tree.boxes.ids.shape[1] if apart else 2

    def __len__(self) -> int:
        return self._count

    def write(self, out: WarpArray, begin: int) -> None:
        """All pairs into rows of ``out`` (k,width), from the first one given on."""
        asked = (*self._asked, self._start, begin, out)
        kernel.launch(list_overlaps, self._n, *asked, slice_above=WORTH_SLICING)

    def listed(self) -> Ints:
        """(p,width): places in the order of the layouts become numbers of boxes."""
        out = kernel.empty((len(self), self._width), wp.int32)
        self.write(out, 0)
        places = kernel.numpy(out)
        if self._width != 2:
            return np.array(places)
        orders = [boxes.inside.layout.order for boxes in (self.boxes, self.theirs)]
        found = np.stack([order[places[:, k]] for k, order in enumerate(orders)], axis=1)
        return np.asarray(np.sort(found, axis=1) if self._own else found, dtype=np.int32)
