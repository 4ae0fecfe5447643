"""Which boxes overlap: candidates of contact, from a bounding volume hierarchy (``wp.Bvh``).

Boxes are rounded outwards to the float32 that the hierarchy works in, so no pair is lost.
"""

import dataclasses
import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.kernel import Scalar, WarpArray, vec3

_module = wp.get_module("weft.broad_phase")
LEAF = 1  # boxes of a leaf
SLOTS = 32  # overlaps of a box that are kept from counting; a box with more is asked twice
STALE = 2.0  # growth of the boxes' total surface at which a tree is built anew instead of refitted
WORTH_SLICING = 1000  # queries


class Others(enum.IntEnum):
    """Whom a box that has moved meets."""

    ANY = 0
    STILL = 1  # those that have not moved
    LATER = 2  # of its own tree: those that have not, and later ones that have


@wp.func
def down(v: Scalar):
    """A float32 that is not above v."""
    r = wp.float32(v)
    if Scalar(r) > v:
        r = r - wp.abs(r) * wp.float32(1.2e-7) - wp.float32(1e-37)
    return r


@wp.kernel(module=_module)
def bound(
    o: int,
    x: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    ids: wp.array2d(dtype=wp.int32),
    grow: Scalar,
    moved: wp.array(dtype=wp.int32),
    lower: wp.array(dtype=wp.vec3f),
    upper: wp.array(dtype=wp.vec3f),
    surface: wp.array(dtype=Scalar),
):
    """Boxes of the points x[ids] and end[ids], larger by ``grow`` on every side; of those that
    have moved, where that is known.
    """
    i = o + wp.tid()
    if moved.shape[0] > 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if moved[i] == 0:
            return
    low = wp.min(x[ids[i, 0]], end[ids[i, 0]])
    high = wp.max(x[ids[i, 0]], end[ids[i, 0]])
    for a in range(1, ids.shape[1]):
        low = wp.min(low, wp.min(x[ids[i, a]], end[ids[i, a]]))
        high = wp.max(high, wp.max(x[ids[i, a]], end[ids[i, a]]))
    lower[i] = wp.vec3f(down(low[0] - grow), down(low[1] - grow), down(low[2] - grow))
    upper[i] = -wp.vec3f(down(-high[0] - grow), down(-high[1] - grow), down(-high[2] - grow))
    d = high - low + Scalar(2.0) * vec3(grow, grow, grow)
    surface[i] = Scalar(2.0) * (d[0] * d[1] + d[1] * d[2] + d[2] * d[0])


@wp.func
def wanted(
    i: int,
    j: int,
    after: int,
    mine: wp.array2d(dtype=wp.int32),
    theirs: wp.array2d(dtype=wp.int32),
    my_marks: wp.array2d(dtype=wp.uint32),
    their_marks: wp.array2d(dtype=wp.uint32),
    apart: int,
    sewn: wp.array(dtype=wp.int32),
    theirs_moved: wp.array(dtype=wp.int32),
    others: int,
):
    """Whether a pair counts: of its own tree only once, with ``apart`` not if it shares a vertex
    (or what is ``sewn`` to it), and with ``apart`` 2 not if one is what the other does not meet.
    ``others`` says which of those that have moved count, too (``Others``).
    """
    if after != 0 and j <= i:
        return False
    if others != Others.ANY:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if theirs_moved[j] != 0 and (others == Others.STILL or j <= i):
            return False
    if apart == 2:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if (my_marks[i, 0] & their_marks[j, 1]) != wp.uint32(0):
            return False
    if apart != 0:
        for a in range(mine.shape[1]):
            for b in range(theirs.shape[1]):
                if mine[i, a] == theirs[j, b]:
                    return False
                if sewn.shape[0] > 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
                    if sewn[mine[i, a]] == sewn[theirs[j, b]]:
                        return False
    return True


@wp.kernel(module=_module)
def count_overlaps(
    o: int,
    tree: wp.uint64,
    lower: wp.array(dtype=wp.vec3f),
    upper: wp.array(dtype=wp.vec3f),
    after: int,
    mine: wp.array2d(dtype=wp.int32),
    theirs: wp.array2d(dtype=wp.int32),
    my_marks: wp.array2d(dtype=wp.uint32),
    their_marks: wp.array2d(dtype=wp.uint32),
    apart: int,
    sewn: wp.array(dtype=wp.int32),
    mine_moved: wp.array(dtype=wp.int32),
    theirs_moved: wp.array(dtype=wp.int32),
    others: int,
    count: wp.array(dtype=wp.int32),
    slots: wp.array2d(dtype=wp.int32),
):
    """How many boxes of the tree every box meets, and the first of them; only boxes that have
    moved ask, where that is known.
    """
    i = o + wp.tid()
    count[i] = 0
    if mine_moved.shape[0] > 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if mine_moved[i] == 0:
            return
    query = wp.bvh_query_aabb(tree, lower[i], upper[i])
    j = int(0)
    found = int(0)
    while wp.bvh_query_next(query, j):
        if wanted(
            i, j, after, mine, theirs, my_marks, their_marks, apart, sewn, theirs_moved, others
        ):
            if found < slots.shape[1]:
                slots[i, found] = j
            found += 1
    count[i] = found


@wp.func
def write(
    place: int,
    i: int,
    j: int,
    mine: wp.array2d(dtype=wp.int32),
    theirs: wp.array2d(dtype=wp.int32),
    apart: int,
    out: wp.array2d(dtype=wp.int32),
):
    """The pair's numbers, or with ``apart`` the vertices of both, fewer first."""
    if apart == 0:
        out[place, 0] = i
        out[place, 1] = j
    else:
        k = mine.shape[1]
        m = theirs.shape[1]
        first = int(0)
        second = int(k)
        if m < k:
            first = m
            second = 0
        for a in range(k):
            out[place, first + a] = mine[i, a]
        for b in range(m):
            out[place, second + b] = theirs[j, b]


@wp.func
def less(rows: wp.array2d(dtype=wp.int32), a: int, b: int):
    """Whether row a comes before row b."""
    for k in range(rows.shape[1]):
        if rows[a, k] != rows[b, k]:
            return rows[a, k] < rows[b, k]
    return False


@wp.kernel(module=_module)
def list_overlaps(
    o: int,
    tree: wp.uint64,
    lower: wp.array(dtype=wp.vec3f),
    upper: wp.array(dtype=wp.vec3f),
    after: int,
    mine: wp.array2d(dtype=wp.int32),
    theirs: wp.array2d(dtype=wp.int32),
    my_marks: wp.array2d(dtype=wp.uint32),
    their_marks: wp.array2d(dtype=wp.uint32),
    apart: int,
    sewn: wp.array(dtype=wp.int32),
    mine_moved: wp.array(dtype=wp.int32),
    theirs_moved: wp.array(dtype=wp.int32),
    others: int,
    count: wp.array(dtype=wp.int32),
    slots: wp.array2d(dtype=wp.int32),
    start: wp.array(dtype=wp.int32),
    begin: int,
    out: wp.array2d(dtype=wp.int32),
):
    """The same pairs, from row ``begin + start[i]`` on, in the order of what box i meets."""
    i = o + wp.tid()
    first = begin + start[i]
    if count[i] <= slots.shape[1]:
        for k in range(count[i]):
            write(first + k, i, slots[i, k], mine, theirs, apart, out)
    else:
        place = int(first)
        query = wp.bvh_query_aabb(tree, lower[i], upper[i])
        j = int(0)
        while wp.bvh_query_next(query, j):
            if wanted(
                i, j, after, mine, theirs, my_marks, their_marks, apart, sewn, theirs_moved, others
            ):
                write(place, i, j, mine, theirs, apart, out)
                place += 1
    for k in range(first + 1, first + count[i]):  # by insertion: a box meets few others
        m = int(k)
        while m > first and less(out, m, m - 1):
            for a in range(out.shape[1]):
                other = out[m, a]
                out[m, a] = out[m - 1, a]
                out[m - 1, a] = other
            m -= 1


@dataclass(frozen=True, eq=False)
class Moved:
    """Which boxes have moved, 1 or 0: those that ask, and those of the tree."""

    mine: WarpArray  # (n,) int32
    theirs: WarpArray
    others: Others


@dataclass(frozen=True, eq=False)
class Boxes:
    """Axis-aligned boxes on the device, in float32, rounded outwards."""

    lower: WarpArray  # (n,) vec3f
    upper: WarpArray
    surface: float  # [m^2] of all boxes
    ids: WarpArray  # (n,k) vertices of what is inside
    marks: WarpArray | None = None  # (n,2) bits of what it is, and of what it does not meet
    sewn: WarpArray | None = None  # one number for vertices that are sewn together; None: none are

    @staticmethod
    def of(
        x: Positions | WarpArray,
        ids: Ints | WarpArray,
        grow: float = 0.0,
        end: Positions | WarpArray | None = None,
        marks: WarpArray | None = None,
        sewn: WarpArray | None = None,
    ) -> "Boxes":
        """Boxes of the points x[ids], (n,k), larger by ``grow`` [m] on every side; with ``end``, of
        points that move there in straight lines. Marks (n,2), and what is sewn: none if not given.
        """
        if not isinstance(ids, wp.array):
            ids = kernel.array(np.asarray(ids, dtype=np.int32), wp.int32)
        n = ids.shape[0]
        lower, upper = kernel.empty(n, wp.vec3f), kernel.empty(n, wp.vec3f)
        surface, start = kernel.empty(n), kernel.points(x)
        stop = start if end is None else kernel.points(end)
        every = kernel.empty(0, wp.int32)
        out = (lower, upper, surface)
        kernel.launch(bound, n, start, stop, ids, Scalar(grow), every, *out)
        return Boxes(lower, upper, kernel.total(surface), ids, marks, sewn)

    @staticmethod
    def around(points: Floats, grow: float = 0.0) -> "Boxes":
        """Boxes of points (n,k,3), larger by ``grow`` [m] on every side."""
        n, k = points.shape[:2]
        return Boxes.of(points.reshape(-1, 3), np.arange(n * k).reshape(n, k), grow)

    def first(self, count: int | None) -> "Boxes":
        """The first of them; None: all."""
        if count is None or count >= len(self):
            return self
        marks = None if self.marks is None else self.marks[:count]
        lower, upper, ids = self.lower[:count], self.upper[:count], self.ids[:count]
        return dataclasses.replace(self, lower=lower, upper=upper, ids=ids, marks=marks)

    def __len__(self) -> int:
        return int(self.lower.shape[0])


class Tree:
    """A hierarchy over boxes, refitted as they move and built anew where that has made it bad."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes, self._surface = boxes, 0.0
        self._tree: Any = None
        self._build(boxes)

    def update(self, boxes: Boxes) -> None:
        """Take new boxes."""
        if len(boxes) != len(self.boxes) or boxes.surface > STALE * self._surface:
            self._build(boxes)
            return
        wp.copy(self.boxes.lower, boxes.lower)
        wp.copy(self.boxes.upper, boxes.upper)
        kept = {"ids": boxes.ids, "marks": boxes.marks, "sewn": boxes.sewn}
        self.boxes = dataclasses.replace(self.boxes, **kept)
        self._tree.refit()

    def overlaps(self, boxes: Boxes) -> Ints:
        """(p,2) pairs (box given, box of the tree) that overlap."""
        return Overlaps(self, boxes, 0, 0).listed()

    def own_overlaps(self) -> Ints:
        """(p,2) pairs i < j of the tree's own boxes that overlap."""
        return Overlaps(self, self.boxes, 1, 0).listed()

    def stencils(self, boxes: Boxes | None = None, asking: int | None = None) -> "Overlaps":
        """Pairs that overlap, share no vertex and may meet: of a given box and one of the tree, or
        of two of the tree's own. They are listed as the vertices of both. Only the first boxes ask,
        where ``asking`` says how many.
        """
        given = (boxes or self.boxes).first(asking)
        return Overlaps(self, given, int(boxes is None), _apart(given, self.boxes))

    def stencils_of_moved(self, boxes: Boxes | None, moved: Moved) -> "Overlaps":
        """The same pairs with at least one box that has moved, asked by those given."""
        given = boxes or self.boxes
        return Overlaps(self, given, 0, _apart(given, self.boxes), moved)

    def rebound(self, moved: WarpArray, low: WarpArray, high: WarpArray, grow: float) -> None:
        """New boxes for those that have moved, of ways (n,) vec3 from low to high."""
        b = self.boxes
        out = (b.lower, b.upper, kernel.empty(len(b)))
        kernel.launch(bound, len(b), low, high, b.ids, Scalar(grow), moved, *out)
        self._tree.refit()

    def _build(self, boxes: Boxes) -> None:
        self.boxes, self._surface = boxes, boxes.surface
        self._tree = wp.Bvh(boxes.lower, boxes.upper, leaf_size=LEAF)

    @property
    def id(self) -> Any:
        """What kernels know the hierarchy by."""
        return self._tree.id


def _apart(boxes: Boxes, others: Boxes) -> int:
    return 1 if boxes.marks is None or others.marks is None else 2


class Overlaps:
    """Boxes that overlap, counted; to be listed where there is room for them."""

    def __init__(
        self, tree: Tree, boxes: Boxes, after: int, apart: int, moved: Moved | None = None
    ) -> None:
        n, theirs = len(boxes), tree.boxes
        count, slots = kernel.empty(n, wp.int32), kernel.empty((n, SLOTS), wp.int32)
        none = kernel.empty((0, 2), wp.uint32)
        marks = [none if m is None else m for m in (boxes.marks, theirs.marks)]
        places = (tree.id, boxes.lower, boxes.upper, after, boxes.ids, theirs.ids)
        still = kernel.empty(0, wp.int32)
        m = moved or Moved(still, still, Others.ANY)
        sewn = still if boxes.sewn is None else boxes.sewn
        moves = (m.mine, m.theirs, int(m.others))
        self._asked = (*places, *marks, apart, sewn, *moves, count, slots)
        kernel.launch(count_overlaps, n, *self._asked, slice_above=WORTH_SLICING)
        self._n, self._start = n, kernel.empty(n, wp.int32)
        self._count = kernel.scan(count, self._start)
        self._width = boxes.ids.shape[1] + theirs.ids.shape[1] if apart else 2

    def __len__(self) -> int:
        return self._count

    def write(self, out: WarpArray, begin: int) -> None:
        """All pairs into rows of ``out`` (k,width), from the first one given on."""
        asked = (*self._asked, self._start, begin, out)
        kernel.launch(list_overlaps, self._n, *asked, slice_above=WORTH_SLICING)

    def listed(self) -> Ints:
        """(p,width)."""
        out = kernel.empty((len(self), self._width), wp.int32)
        self.write(out, 0)
        result: Ints = kernel.numpy(out)
        return result
