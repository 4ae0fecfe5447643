"""Axis-aligned boxes around primitives, in the order of a layout.

They are rounded outwards to float32, half of what positions take, so that no pair is lost.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.broad_phase.aabb_simd import BOX, NONE, put_box
from weft.contact.broad_phase.tree_order import LEAF, TreeOrder
from weft.kernel import Scalar, WarpArray, vec3
from weft.kernel.native_code import native
from weft.solve.sparse.vectors import combine

_module = wp.get_module("weft.boxes")
WORTH_SLICING = 2000  # leaves


@wp.func_native(native("aabb.h", "put_rounded"))
def put_rounded(
    v: int,
    below: wp.array(dtype=vec3),
    above: wp.array(dtype=vec3),
    way: wp.array(dtype=vec3),
    grow: Scalar,
    low: wp.array(dtype=wp.vec4f),
    high: wp.array(dtype=wp.vec4f),
    middle: wp.array(dtype=wp.vec4f),
):
    """The box of a point between two others, or a way further on, larger by ``grow`` on every side;
    where there is room for it, the place in the middle and how far it may be from there.
    """


@wp.kernel(module=_module)
def enclose_points(
    o: int,
    below: wp.array(dtype=vec3),
    above: wp.array(dtype=vec3),
    way: wp.array(dtype=vec3),
    grow: Scalar,
    low: wp.array(dtype=wp.vec4f),
    high: wp.array(dtype=wp.vec4f),
    middle: wp.array(dtype=wp.vec4f),
):
    """Boxes of points."""
    put_rounded(o + wp.tid(), below, above, way, grow, low, high, middle)


@wp.func_native(native("aabb.h", "put_leaf"))
def put_leaf(
    leaf: int,
    node: int,
    first: int,
    count: int,
    bits: wp.uint32,
    ids: wp.array2d(dtype=wp.int32),
    low: wp.array(dtype=wp.vec4f),
    high: wp.array(dtype=wp.vec4f),
    middle: wp.array(dtype=wp.vec4f),
    boxes: wp.array(dtype=wp.float32),
    places: wp.array(dtype=wp.float32),
    node_low: wp.array(dtype=wp.vec3f),
    node_high: wp.array(dtype=wp.vec3f),
):
    """Boxes of those of ``count`` primitives of a leaf whose bits are set, from those of their
    points, empty ones behind them, and the one around all of the leaf's; where there is room for
    ``places``, their corners.
    """


@wp.kernel(module=_module)
def bound(
    o: int,
    low: wp.array(dtype=wp.vec4f),
    high: wp.array(dtype=wp.vec4f),
    middle: wp.array(dtype=wp.vec4f),
    ids: wp.array2d(dtype=wp.int32),
    start: wp.array(dtype=wp.int32),
    node: wp.array(dtype=wp.int32),
    moved: wp.array(dtype=wp.uint32),
    first: wp.array(dtype=wp.int32),
    block: wp.array(dtype=wp.int32),
    boxes: wp.array(dtype=wp.float32),
    leaves: wp.array(dtype=wp.float32),
    node_low: wp.array(dtype=wp.vec3f),
    node_high: wp.array(dtype=wp.vec3f),
    places: wp.array(dtype=wp.float32),
):
    """Boxes of a leaf and the one around them, of those that have moved where that is known."""
    c = o + wp.tid()
    bits = wp.uint32(255)
    if moved.shape[0] > 0:
        bits = moved[c]
    if bits == wp.uint32(0):
        return
    n = node[c]
    a = start[c]
    put_leaf(
        c, n, a, start[c + 1] - a, bits, ids, low, high, middle, boxes, places, node_low, node_high
    )
    b = block[c]
    put_box(leaves, b, c - first[b], node_low[n], node_high[n])
    if c + 1 == first[b + 1]:
        empty = wp.vec3f(wp.inf, wp.inf, wp.inf)
        for k in range(c + 1 - first[b], LEAF):
            put_box(leaves, b, k, empty, -empty)


@wp.struct
class LeafBoxes:
    """Boxes in leaves, as kernels take them."""

    start: wp.array(dtype=wp.int32)  # of leaves: their first boxes
    node: wp.array(dtype=wp.int32)  # of leaves: their blocks'
    boxes: wp.array(dtype=wp.float32)
    ends: wp.array(dtype=wp.float32)  # empty: they do not move
    ids: wp.array2d(dtype=wp.int32)
    corners: wp.array(dtype=wp.int32)
    marks: wp.array2d(dtype=wp.uint32)  # empty: none
    sewn: wp.array(dtype=wp.int32)  # empty: nothing is
    places: wp.array(dtype=wp.float32)  # of corners (``lines``); empty: only boxes are looked at
    last_places: wp.array(dtype=wp.float32)


@dataclass(frozen=True, eq=False)
class Bounds:
    """Boxes in leaves (``aabb_simd``), and those around the nodes of their layout, of which the
    leaves' are known; the others where a ``Tree`` makes them.
    """

    boxes: WarpArray  # (c,6,8) float32, flat
    leaves: WarpArray  # (b,6,8) float32, flat: those around the leaves of blocks
    low: WarpArray  # (2c-1,) vec3f
    high: WarpArray
    places: WarpArray  # (c,3k+1,8) float32, flat: corners (``lines``); empty: these are not known

    @staticmethod
    def made(layout: TreeOrder, corners: int = 0) -> "Bounds":
        """For this layout, of primitives with so many corners (0: not known); not initialized."""
        m, b = len(layout.leaf), len(layout.blocks[1]) - 1
        boxes, leaves = (kernel.empty(BOX * n, wp.float32) for n in (len(layout), b))
        places = kernel.empty((3 * corners + 1) * LEAF * len(layout) if corners else 0, wp.float32)
        return Bounds(boxes, leaves, kernel.empty(m, wp.vec3f), kernel.empty(m, wp.vec3f), places)

    @staticmethod
    def none() -> "Bounds":
        """In place of those that there are not."""
        boxes, corners = kernel.empty(0, wp.float32), kernel.empty(0, wp.vec3f)
        return Bounds(boxes, boxes, corners, corners, boxes)


@dataclass(frozen=True, eq=False)
class Primitives:
    """Points, edges or triangles in the order of a layout."""

    layout: TreeOrder
    ids: WarpArray  # (n,k) their vertices

    @staticmethod
    def of(layout: TreeOrder, ids: Ints) -> "Primitives":
        """Primitives with vertices ids (n,k), in their own order."""
        ordered = np.ascontiguousarray(np.asarray(ids, np.int32)[layout.order])
        return Primitives(layout, kernel.array(ordered, wp.int32))

    @cached_property
    def corners(self) -> WarpArray:
        """(c,3,8), flat: the same vertices leaf by leaf, the last one again where there are fewer
        than three.
        """
        ids, layout = kernel.numpy(self.ids), self.layout
        leaf = np.repeat(np.arange(len(layout)), np.diff(layout.start))
        place = np.arange(len(ids)) - layout.start[leaf]
        out = np.full((len(layout), 3, LEAF), NONE, dtype=np.int32)
        out[leaf, :, place] = ids[:, np.minimum([0, 1, 2], ids.shape[1] - 1)]
        return kernel.array(out.reshape(-1), wp.int32)

    @cached_property
    def nothing(self) -> tuple[Bounds, WarpArray]:
        """In place of bounds at the end of ways, and of what has moved, where there are none."""
        return Bounds.none(), kernel.empty(0, wp.uint32)

    def __len__(self) -> int:
        return int(self.ids.shape[0])


@dataclass(frozen=True, eq=False)
class MovingPoints:
    """Where points (n,) vec3 may be: between two corners, which move along straight ways."""

    low: WarpArray
    high: WarpArray
    way: WarpArray | None = None  # None: they do not move
    _known: dict[tuple[float, bool], Any] = field(default_factory=dict)  # what ``enclosed`` made

    @staticmethod
    def of(x: Positions | WarpArray, end: Positions | WarpArray | None = None) -> "MovingPoints":
        """Points at x (n,3); with ``end``, on straight ways to there."""
        y = kernel.points(x)
        if end is None:
            return MovingPoints(y, y)
        way = kernel.empty(y.shape[0], vec3)
        combine(kernel.points(end), -1.0, y, way)
        return MovingPoints(y, y, way)

    def enclosed(self, grow: float, middle: bool) -> list[tuple[WarpArray, WarpArray, WarpArray]]:
        """Boxes of points, larger by ``grow`` [m], (n,) vec4f lower and upper corners; and, where
        asked for, middles (n,) with how far points may be from there. At the begin, and at the end
        of ways where there are any.
        """
        known = self._known.get((grow, middle))
        if known is None:
            n, known = self.low.shape[0], []
            still = kernel.empty(0, vec3)
            for way in (still,) if self.way is None else (still, self.way):
                sizes = (n, n, n if middle else 0)
                out = tuple(kernel.empty(size, wp.vec4f) for size in sizes)
                about = (self.low, self.high, way, Scalar(grow), *out)
                kernel.launch(enclose_points, n, *about)
                known.append(out)
            self._known[grow, middle] = known
        return known


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes on the device; where they move, at the begin and at the end of their ways."""

    begin: Bounds
    end: Bounds | None
    inside: Primitives
    marks: WarpArray | None = None  # (n,2) bits of what it is, and of what it does not meet
    sewn: WarpArray | None = None  # one number for vertices that are sewn together; None: none are

    @staticmethod
    def of(
        places: MovingPoints,
        inside: Primitives,
        grow: float = 0.0,
        marks: WarpArray | None = None,
        sewn: WarpArray | None = None,
        lines: bool = False,
    ) -> "Boxes":
        """Boxes of primitives, larger by ``grow`` [m] on every side. Marks (n,2) in the layout's
        order, and what is sewn: none if not given. With ``lines`` corners are known, too.
        """
        about = (inside.layout, inside.ids.shape[1] if lines else 0)
        end = Bounds.made(*about) if places.way is not None else None
        begin = Bounds.made(*about)
        out = Boxes(begin, end, inside, marks, sewn)
        out.renewed(inside.nothing[1], places, grow)
        return out

    @staticmethod
    def around(points: Floats, grow: float = 0.0) -> "Boxes":
        """Boxes of points (n,k,3), larger by ``grow`` [m] on every side, in an order of where they
        are.
        """
        n, k = points.shape[:2]
        layout = TreeOrder.of(points.mean(axis=1))
        inside = Primitives.of(layout, np.arange(n * k, dtype=np.int32).reshape(n, k))
        return Boxes.of(MovingPoints.of(points.reshape(-1, 3)), inside, grow)

    @property
    def ids(self) -> WarpArray:
        """(n,k) vertices of what is inside."""
        return self.inside.ids

    @property
    def last(self) -> Bounds:
        """At the end of ways; empty where boxes do not move."""
        return self.inside.nothing[0] if self.end is None else self.end

    @cached_property
    def side(self) -> LeafBoxes:
        """What kernels take."""
        s, layout = LeafBoxes(), self.inside.layout
        s.start, s.node, s.boxes = layout.device[0], layout.blocks[3], self.begin.boxes
        s.ends, s.places, s.last_places = self.last.boxes, self.begin.places, self.last.places
        s.ids, s.corners = self.ids, self.inside.corners
        s.marks = kernel.empty((0, 2), wp.uint32) if self.marks is None else self.marks
        s.sewn = kernel.empty(0, wp.int32) if self.sewn is None else self.sewn
        return s

    def renewed(self, moved: WarpArray, places: MovingPoints, grow: float) -> None:
        """New boxes, in place, for those that have moved, bits of leaves (c,); empty: for all."""
        layout, looked = self.inside.layout, self.begin.places.shape[0] > 0
        order = (self.ids, layout.device[0], layout.nodes, moved, *layout.blocks[1:3])
        for points, b in zip(places.enclosed(grow, looked), (self.begin, self.end)):
            assert b is not None
            out = (b.boxes, b.leaves, b.low, b.high, b.places)
            kernel.launch(bound, len(layout), *points, *order, *out, slice_above=WORTH_SLICING)

    def __len__(self) -> int:
        return len(self.inside)
