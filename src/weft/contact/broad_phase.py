"""Which boxes overlap: candidates of contact, from a bounding volume hierarchy (``wp.Bvh``).

Boxes are rounded outwards to the float32 that the hierarchy works in, so no pair is lost.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints
from weft.kernel import WarpArray

_module = wp.get_module("weft.broad_phase")
LEAF = 4  # boxes of a leaf
STALE = 2.0  # growth of the boxes' total surface at which a tree is built anew instead of refitted


@wp.kernel(module=_module)
def count_overlaps(
    o: int,
    tree: wp.uint64,
    lower: wp.array(dtype=wp.vec3f),
    upper: wp.array(dtype=wp.vec3f),
    after: int,
    count: wp.array(dtype=wp.int32),
):
    """How many boxes of the tree every box meets; with ``after``, only those that follow it."""
    i = o + wp.tid()
    query = wp.bvh_query_aabb(tree, lower[i], upper[i])
    j = int(0)
    found = int(0)
    while wp.bvh_query_next(query, j):
        if after == 0 or j > i:
            found += 1
    count[i] = found


@wp.kernel(module=_module)
def list_overlaps(
    o: int,
    tree: wp.uint64,
    lower: wp.array(dtype=wp.vec3f),
    upper: wp.array(dtype=wp.vec3f),
    after: int,
    start: wp.array(dtype=wp.int64),
    pairs: wp.array2d(dtype=wp.int32),
):
    """The same pairs (i, j), written from ``start[i]`` on."""
    i = o + wp.tid()
    query = wp.bvh_query_aabb(tree, lower[i], upper[i])
    j = int(0)
    place = start[i]
    while wp.bvh_query_next(query, j):
        if after == 0 or j > i:
            pairs[place, 0] = i
            pairs[place, 1] = j
            place += wp.int64(1)


@dataclass(frozen=True, eq=False)
class Boxes:
    """Axis-aligned boxes in float32, rounded outwards."""

    lower: Floats  # (n,3) float32
    upper: Floats

    @staticmethod
    def around(points: Floats, grow: float = 0.0) -> "Boxes":
        """Boxes of the points (n,k,3), larger by ``grow`` [m] on every side."""
        low, high = points.min(1) - grow, points.max(1) + grow
        return Boxes(_down(low), -_down(-high))

    @staticmethod
    def swept(start: Floats, end: Floats, grow: float = 0.0) -> "Boxes":
        """Boxes of points (n,k,3) that move in straight lines."""
        return Boxes.around(np.concatenate([start, end], axis=1), grow)

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def device(self) -> tuple[WarpArray, WarpArray]:
        """Lower and upper corners on the device."""
        return kernel.array(self.lower, wp.vec3f), kernel.array(self.upper, wp.vec3f)

    @property
    def surface(self) -> float:
        """[m^2] of all boxes."""
        a, b, c = (self.upper - self.lower).astype(np.float64).T
        return float(2 * (a * b + b * c + c * a).sum())


def _down(a: Floats) -> Floats:
    """float32 not above a."""
    rounded = a.astype(np.float32)
    return np.where(rounded > a, np.nextafter(rounded, np.float32(-np.inf)), rounded)


class Tree:
    """A hierarchy over boxes, refitted as they move and built anew where that has made it bad."""

    def __init__(self, boxes: Boxes) -> None:
        self.boxes, self._surface = boxes, 0.0
        self._lower: WarpArray = None
        self._upper: WarpArray = None
        self._tree: Any = None
        self._build(boxes)

    def update(self, boxes: Boxes) -> None:
        """Take new boxes, as many as before."""
        if len(boxes) != len(self.boxes) or boxes.surface > STALE * self._surface:
            self._build(boxes)
            return
        self.boxes = boxes
        lower, upper = boxes.device
        wp.copy(self._lower, lower)
        wp.copy(self._upper, upper)
        self._tree.refit()

    def overlaps(self, boxes: Boxes) -> Ints:
        """(p,2) pairs (box given, box of the tree) that overlap."""
        return self._query(boxes, 0)

    def own_overlaps(self) -> Ints:
        """(p,2) pairs i < j of the tree's own boxes that overlap."""
        return self._query(self.boxes, 1)

    def _query(self, boxes: Boxes, after: int) -> Ints:
        n = len(boxes)
        given = (self._tree.id, *boxes.device, after)
        count = kernel.empty(n, wp.int32)
        kernel.launch(count_overlaps, n, *given, count, slice_above=1000)
        total = np.cumsum(kernel.numpy(count), dtype=np.int64)
        pairs = kernel.empty((int(total[-1]) if n else 0, 2), wp.int32)
        start = kernel.array(total - kernel.numpy(count), wp.int64)
        kernel.launch(list_overlaps, n, *given, start, pairs, slice_above=1000)
        return np.array(kernel.numpy(pairs))

    def _build(self, boxes: Boxes) -> None:
        kernel.initialize()
        self.boxes, self._surface = boxes, boxes.surface
        lower, upper = boxes.device
        self._lower, self._upper = wp.clone(lower), wp.clone(upper)
        self._tree = wp.Bvh(self._lower, self._upper, leaf_size=LEAF)
