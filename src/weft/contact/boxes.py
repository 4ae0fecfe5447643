"""Axis-aligned boxes around primitives, in the order of a layout.

They are rounded outwards to float32, half of what positions take, so that no pair is lost.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.contact.eights import BOX, NONE, box_of, put_box
from weft.contact.layout import LEAF, Layout
from weft.kernel import Scalar, WarpArray, vec3

_module = wp.get_module("weft.boxes")
WORTH_SLICING = 1000  # leaves


@wp.func
def down(v: Scalar):
    """A float32 that is not above v: a bit below, without a branch that nobody can predict."""
    r = wp.float32(v)
    return r - wp.abs(r) * wp.float32(1.2e-7) - wp.float32(1e-37)


@wp.func
def around(
    i: int,
    x: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    ids: wp.array2d(dtype=wp.int32),
    grow: Scalar,
):
    """The box of the points x[ids[i]] and end[ids[i]], larger by ``grow`` on every side."""
    low = wp.min(x[ids[i, 0]], end[ids[i, 0]])
    high = wp.max(x[ids[i, 0]], end[ids[i, 0]])
    for a in range(1, ids.shape[1]):
        low = wp.min(low, wp.min(x[ids[i, a]], end[ids[i, a]]))
        high = wp.max(high, wp.max(x[ids[i, a]], end[ids[i, a]]))
    lower = wp.vec3f(down(low[0] - grow), down(low[1] - grow), down(low[2] - grow))
    return lower, -wp.vec3f(down(-high[0] - grow), down(-high[1] - grow), down(-high[2] - grow))


@wp.kernel(module=_module)
def bound(
    o: int,
    x: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    ids: wp.array2d(dtype=wp.int32),
    start: wp.array(dtype=wp.int32),
    node: wp.array(dtype=wp.int32),
    grow: Scalar,
    moved: wp.array(dtype=wp.uint32),
    first: wp.array(dtype=wp.int32),
    block: wp.array(dtype=wp.int32),
    boxes: wp.array(dtype=wp.float32),
    leaves: wp.array(dtype=wp.float32),
    low: wp.array(dtype=wp.vec3f),
    high: wp.array(dtype=wp.vec3f),
):
    """Boxes of a leaf and the one around them, of those that have moved where that is known."""
    c = o + wp.tid()
    bits = wp.uint32(255)
    if moved.shape[0] > 0:
        bits = moved[c]
    if bits == wp.uint32(0):
        return
    empty = wp.vec3f(wp.inf, wp.inf, wp.inf)
    small = empty
    large = -empty
    for k in range(LEAF):
        lower = empty
        upper = -empty
        if (bits >> wp.uint32(k)) & wp.uint32(1) == wp.uint32(0):
            lower, upper = box_of(boxes, c, k)
        else:
            if start[c] + k < start[c + 1]:
                lower, upper = around(start[c] + k, x, end, ids, grow)
            put_box(boxes, c, k, lower, upper)
        small = wp.min(small, lower)
        large = wp.max(large, upper)
    low[node[c]] = small
    high[node[c]] = large
    b = block[c]
    put_box(leaves, b, c - first[b], small, large)
    if c + 1 == first[b + 1]:
        for k in range(c + 1 - first[b], LEAF):
            put_box(leaves, b, k, empty, -empty)


@wp.struct
class Side:
    """Boxes in leaves, as kernels take them."""

    start: wp.array(dtype=wp.int32)  # of leaves: their first boxes
    node: wp.array(dtype=wp.int32)  # of leaves: their blocks'
    boxes: wp.array(dtype=wp.float32)
    ids: wp.array2d(dtype=wp.int32)
    corners: wp.array(dtype=wp.int32)
    marks: wp.array2d(dtype=wp.uint32)  # empty: none
    sewn: wp.array(dtype=wp.int32)  # empty: nothing is


@dataclass(frozen=True, eq=False)
class Primitives:
    """Points, edges or triangles in the order of a layout."""

    layout: Layout
    ids: WarpArray  # (n,k) their vertices

    @staticmethod
    def of(layout: Layout, ids: Ints) -> "Primitives":
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

    def __len__(self) -> int:
        return int(self.ids.shape[0])


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes on the device, in leaves (``eights``), and those around the nodes of their layout, of
    which the leaves' are known; the others where a ``Tree`` makes them.
    """

    boxes: WarpArray  # (c,6,8) float32, flat
    leaves: WarpArray  # (b,6,8) float32, flat: those around the leaves of blocks
    low: WarpArray  # (2c-1,) vec3f
    high: WarpArray
    inside: Primitives
    marks: WarpArray | None = None  # (n,2) bits of what it is, and of what it does not meet
    sewn: WarpArray | None = None  # one number for vertices that are sewn together; None: none are

    @staticmethod
    def of(
        x: Positions | WarpArray,
        inside: Primitives,
        grow: float = 0.0,
        end: Positions | WarpArray | None = None,
        marks: WarpArray | None = None,
        sewn: WarpArray | None = None,
    ) -> "Boxes":
        """Boxes of primitives of points x (n,3), larger by ``grow`` [m] on every side; with
        ``end``, of points that move there in straight lines. Marks (n,2) in the layout's order, and
        what is sewn: none if not given.
        """
        layout = inside.layout
        m, b = len(layout.leaf), len(layout.blocks[1]) - 1
        low, high = kernel.empty(m, wp.vec3f), kernel.empty(m, wp.vec3f)
        boxes, leaves = (kernel.empty(BOX * n, wp.float32) for n in (len(layout), b))
        start = kernel.points(x)
        stop = start if end is None else kernel.points(end)
        out = Boxes(boxes, leaves, low, high, inside, marks, sewn)
        out.renewed(kernel.empty(0, wp.uint32), start, stop, grow)
        return out

    @staticmethod
    def around(points: Floats, grow: float = 0.0) -> "Boxes":
        """Boxes of points (n,k,3), larger by ``grow`` [m] on every side, in an order of where they
        are.
        """
        n, k = points.shape[:2]
        layout = Layout.of(points.mean(axis=1))
        inside = Primitives.of(layout, np.arange(n * k, dtype=np.int32).reshape(n, k))
        return Boxes.of(points.reshape(-1, 3), inside, grow)

    @property
    def ids(self) -> WarpArray:
        """(n,k) vertices of what is inside."""
        return self.inside.ids

    @cached_property
    def side(self) -> Side:
        """What kernels take."""
        s, layout = Side(), self.inside.layout
        s.start, s.node, s.boxes = layout.device[0], layout.blocks[3], self.boxes
        s.ids, s.corners = self.ids, self.inside.corners
        s.marks = kernel.empty((0, 2), wp.uint32) if self.marks is None else self.marks
        s.sewn = kernel.empty(0, wp.int32) if self.sewn is None else self.sewn
        return s

    def renewed(self, moved: WarpArray, low: WarpArray, high: WarpArray, grow: float) -> None:
        """New boxes, in place, for those that have moved, bits of leaves (c,); empty: for all. They
        are of ways (n,) vec3 from low to high.
        """
        layout = self.inside.layout
        places = (layout.device[0], layout.nodes)
        ways = (low, high, self.ids, *places, Scalar(grow), moved, *layout.blocks[1:3])
        out = (self.boxes, self.leaves, self.low, self.high)
        kernel.launch(bound, len(layout), *ways, *out, slice_above=WORTH_SLICING)

    def __len__(self) -> int:
        return len(self.inside)
