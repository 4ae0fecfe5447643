"""Axis-aligned boxes around primitives, in the order of a layout.

They are rounded outwards to float32, half of what positions take, so that no pair is lost.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.contact.layout import Layout
from weft.kernel import Scalar, WarpArray, vec3

_module = wp.get_module("weft.boxes")


@wp.func
def down(v: Scalar):
    """A float32 that is not above v: a bit below, without a branch that nobody can predict."""
    r = wp.float32(v)
    return r - wp.abs(r) * wp.float32(1.2e-7) - wp.float32(1e-37)


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


@wp.struct
class Side:
    """Boxes in leaves, as kernels take them."""

    start: wp.array(dtype=wp.int32)  # of leaves: their first boxes
    node: wp.array(dtype=wp.int32)  # of leaves
    lower: wp.array(dtype=wp.vec3f)
    upper: wp.array(dtype=wp.vec3f)
    ids: wp.array2d(dtype=wp.int32)
    corners: wp.array(dtype=wp.vec3i)
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
        """(n,) vec3i: the same vertices, the last one again where there are fewer than three."""
        ids = kernel.numpy(self.ids)
        k = np.minimum([0, 1, 2], ids.shape[1] - 1)
        return kernel.array(np.ascontiguousarray(ids[:, k]), wp.vec3i)

    def __len__(self) -> int:
        return int(self.ids.shape[0])


@dataclass(frozen=True, eq=False)
class Boxes:
    """Boxes on the device."""

    lower: WarpArray  # (n,) vec3f
    upper: WarpArray
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
        n = len(inside)
        lower, upper = kernel.empty(n, wp.vec3f), kernel.empty(n, wp.vec3f)
        start = kernel.points(x)
        stop = start if end is None else kernel.points(end)
        every = kernel.empty(0, wp.int32)
        kernel.launch(bound, n, start, stop, inside.ids, Scalar(grow), every, lower, upper)
        return Boxes(lower, upper, inside, marks, sewn)

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
        s.start, s.node, s.lower, s.upper = layout.device[0], layout.nodes, self.lower, self.upper
        s.ids, s.corners = self.ids, self.inside.corners
        s.marks = kernel.empty((0, 2), wp.uint32) if self.marks is None else self.marks
        s.sewn = kernel.empty(0, wp.int32) if self.sewn is None else self.sewn
        return s

    def renewed(self, moved: WarpArray, low: WarpArray, high: WarpArray, grow: float) -> None:
        """New boxes, in place, for those that have moved: of ways (n,) vec3 from low to high."""
        ways = (low, high, self.ids, Scalar(grow), moved)
        kernel.launch(bound, len(self), *ways, self.lower, self.upper)

    def __len__(self) -> int:
        return len(self.inside)
