"""Axis-aligned bounding boxes of primitives, stored in the order of a tree.

Boxes are stored in float32, half the memory of positions, and rounded outwards, so that no pair is
lost. A box of a moving primitive is known at the start and at the end of its straight path.
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
from weft.kernel import (
    BitsArray,
    FloatArray,
    IntArray,
    IntArray2d,
    Scalar,
    Vec3Array,
    Vec3fArray,
    Vec4fArray,
    WarpArray,
    vec3,
)
from weft.kernel.native_code import native
from weft.solve.sparse.vectors import combine

_module = wp.get_module("weft.boxes")
WORTH_SLICING = 2000  # leaves above which launches are sliced


@wp.func_native(native("aabb.h", "put_rounded"))
def put_rounded(
    v: int,
    below: Vec3Array,
    above: Vec3Array,
    way: Vec3Array,
    grow: Scalar,
    low: Vec4fArray,
    high: Vec4fArray,
    middle: Vec4fArray,
):
    """Write the bounding box of vertex v, which lies between ``below`` and ``above``.

    The box is displaced by ``way``, if that is not empty, and enlarged by ``grow`` on every side.
    If ``middle`` is not empty, write the midpoint to it, and as a fourth number how far the vertex
    may be from the midpoint.
    """


@wp.kernel(module=_module)
def enclose_points(
    o: int,
    below: Vec3Array,
    above: Vec3Array,
    way: Vec3Array,
    grow: Scalar,
    low: Vec4fArray,
    high: Vec4fArray,
    middle: Vec4fArray,
):
    """Write the bounding boxes of all vertices."""
    put_rounded(o + wp.tid(), below, above, way, grow, low, high, middle)


@wp.func_native(native("aabb.h", "put_leaf"))
def put_leaf(
    leaf: int,
    node: int,
    first: int,
    count: int,
    bits: wp.uint32,
    ids: IntArray2d,
    low: Vec4fArray,
    high: Vec4fArray,
    middle: Vec4fArray,
    boxes: FloatArray,
    places: FloatArray,
    node_low: Vec3fArray,
    node_high: Vec3fArray,
):
    """Write the boxes of the primitives of a leaf, and the box around all of them.

    Only boxes with a set bit are written. A primitive's box encloses the boxes of its vertices;
    behind the ``count`` primitives follow empty boxes. If ``places`` is not empty, the midpoints of
    the primitives' vertices are written there, for ``separating_axis``.
    """


@wp.kernel(module=_module)
def bound(
    o: int,
    low: Vec4fArray,
    high: Vec4fArray,
    middle: Vec4fArray,
    ids: IntArray2d,
    start: IntArray,
    node: IntArray,
    moved: BitsArray,
    first: IntArray,
    block: IntArray,
    boxes: FloatArray,
    leaves: FloatArray,
    node_low: Vec3fArray,
    node_high: Vec3fArray,
    places: FloatArray,
):
    """Write the boxes of one leaf and the box around them; if ``moved`` is not empty, renew only
    the boxes that have moved.
    """
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
    """Boxes in leaves, in the form that kernels take."""

    start: IntArray  # (c+1,) first box of each leaf
    node: IntArray  # (c,) root node of each leaf's block
    boxes: FloatArray  # (c,6,8) at the start of paths, flat
    ends: FloatArray  # boxes at the end of paths; empty: they do not move
    ids: IntArray2d  # (n,k) vertices of primitives
    corners: IntArray  # (c,3,8) vertices leaf by leaf, flat
    marks: wp.array2d(dtype=wp.uint32)  # (n,2) group bits; empty: no groups
    sewn: IntArray  # (v,) number of sewn vertices; empty: none are sewn
    places: FloatArray  # (c,3k+1,8) midpoints of vertices, flat; empty: boxes only
    last_places: FloatArray  # midpoints at the end of paths


@dataclass(frozen=True, eq=False)
class Bounds:
    """Boxes in leaves (in the layout of ``aabb_simd``), and the boxes of the nodes of their tree.

    The boxes of leaf nodes are known; those of the nodes above are computed by a
    ``BoundingVolumeHierarchy``.
    """

    boxes: WarpArray  # (c,6,8) float32, flat
    leaves: WarpArray  # (b,6,8) float32, flat: boxes around the leaves of each block
    low: WarpArray  # (2c-1,) vec3f lower corners of the nodes' boxes
    high: WarpArray  # (2c-1,) vec3f upper corners
    places: WarpArray  # (c,3k+1,8) float32, flat: see ``LeafBoxes.places``

    @staticmethod
    def made(layout: TreeOrder, corners: int = 0) -> "Bounds":
        """Allocate bounds for a tree of primitives with ``corners`` vertices each (0: without
        vertices), not initialized.
        """
        m, b = len(layout.leaf), len(layout.blocks[1]) - 1
        boxes, leaves = (kernel.empty(BOX * n, wp.float32) for n in (len(layout), b))
        places = kernel.empty((3 * corners + 1) * LEAF * len(layout) if corners else 0, wp.float32)
        return Bounds(boxes, leaves, kernel.empty(m, wp.vec3f), kernel.empty(m, wp.vec3f), places)

    @staticmethod
    def none() -> "Bounds":
        """Return empty bounds, which stand for bounds that do not exist."""
        boxes, corners = kernel.empty(0, wp.float32), kernel.empty(0, wp.vec3f)
        return Bounds(boxes, boxes, corners, corners, boxes)


@dataclass(frozen=True, eq=False)
class Primitives:
    """Points, edges or triangles in the order of a tree."""

    layout: TreeOrder
    ids: WarpArray  # (n,k) int32 their vertices

    @staticmethod
    def of(layout: TreeOrder, ids: Ints) -> "Primitives":
        """Return the primitives with vertices ids (n,k), sorted in the order of ``layout``."""
        ordered = np.ascontiguousarray(np.asarray(ids, np.int32)[layout.order])
        return Primitives(layout, kernel.array(ordered, wp.int32))

    @cached_property
    def corners(self) -> WarpArray:
        """Return the vertices of the primitives leaf by leaf, (c,3,8) int32, flat, on the device.

        The last vertex is repeated where a primitive has fewer than three; ``NONE`` stands where a
        leaf has no primitive.
        """
        ids, layout = kernel.numpy(self.ids), self.layout
        leaf = np.repeat(np.arange(len(layout)), np.diff(layout.start))
        place = np.arange(len(ids)) - layout.start[leaf]
        out = np.full((len(layout), 3, LEAF), NONE, dtype=np.int32)
        out[leaf, :, place] = ids[:, np.minimum([0, 1, 2], ids.shape[1] - 1)]
        return kernel.array(out.reshape(-1), wp.int32)

    @cached_property
    def nothing(self) -> tuple[Bounds, WarpArray]:
        """Return empty bounds and an empty bit mask, which stand for bounds at the end of paths and
        for moved boxes where there are none.
        """
        return Bounds.none(), kernel.empty(0, wp.uint32)

    def __len__(self) -> int:
        """Return the number of primitives."""
        return int(self.ids.shape[0])


@dataclass(frozen=True, eq=False)
class MovingPoints:
    """Regions in which vertices (n,) vec3 lie: boxes between two corners, which move along straight
    paths.
    """

    low: WarpArray  # (n,) vec3 [m]
    high: WarpArray  # (n,) vec3 [m]
    way: WarpArray | None = None  # (n,) vec3 [m] displacements; None: the points do not move
    _known: dict[tuple[float, bool], Any] = field(default_factory=dict)  # results of ``enclosed``

    @staticmethod
    def of(x: Positions | WarpArray, end: Positions | WarpArray | None = None) -> "MovingPoints":
        """Return points at x (n,3) [m], which move straight to ``end`` (n,3) [m] if that is
        given.
        """
        y = kernel.points(x)
        if end is None:
            return MovingPoints(y, y)
        way = kernel.empty(y.shape[0], vec3)
        combine(kernel.points(end), -1.0, y, way)
        return MovingPoints(y, y, way)

    def enclosed(self, grow: float, middle: bool) -> list[tuple[WarpArray, WarpArray, WarpArray]]:
        """Return the float32 boxes of the points, at the start and, if they move, at the end of
        their paths.

        Args:
            grow: [m] by which boxes are enlarged on every side.
            middle: whether midpoints are computed, too.

        Returns:
            For start and end: the lower and the upper corners (n,) vec4f, and the midpoints (n,)
            vec4f with the distance [m] that a point may have from its midpoint (else empty).
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
    """Boxes of primitives on the device; of moving primitives at the start and at the end of their
    paths.
    """

    begin: Bounds
    end: Bounds | None
    inside: Primitives
    marks: WarpArray | None = None  # (n,2) uint32 group bits (``CollisionGroups.marks``)
    sewn: WarpArray | None = None  # (v,) one number for vertices sewn together; None: none are

    @staticmethod
    def of(
        places: MovingPoints,
        inside: Primitives,
        grow: float = 0.0,
        marks: WarpArray | None = None,
        sewn: WarpArray | None = None,
        lines: bool = False,
    ) -> "Boxes":
        """Compute the boxes of primitives.

        Args:
            places: regions of the vertices.
            inside: the primitives.
            grow: [m] by which boxes are enlarged on every side.
            marks: (n,2) uint32 group bits in the order of the tree (``CollisionGroups.marks``);
                None: all pairs may be in contact.
            sewn: (v,) int32, one number for vertices that are sewn together; None: none are.
            lines: whether vertices are stored, too, for the test of ``separating_axis``.
        """
        about = (inside.layout, inside.ids.shape[1] if lines else 0)
        end = Bounds.made(*about) if places.way is not None else None
        begin = Bounds.made(*about)
        out = Boxes(begin, end, inside, marks, sewn)
        out.renewed(inside.nothing[1], places, grow)
        return out

    @staticmethod
    def around(points: Floats, grow: float = 0.0) -> "Boxes":
        """Compute the boxes of primitives with vertices at ``points`` (n,k,3) [m], enlarged by
        ``grow`` [m] on every side, in a tree built from where they are.
        """
        n, k = points.shape[:2]
        layout = TreeOrder.of(points.mean(axis=1))
        inside = Primitives.of(layout, np.arange(n * k, dtype=np.int32).reshape(n, k))
        return Boxes.of(MovingPoints.of(points.reshape(-1, 3)), inside, grow)

    @property
    def ids(self) -> WarpArray:
        """Return the vertices (n,k) of the primitives."""
        return self.inside.ids

    @property
    def last(self) -> Bounds:
        """Return the bounds at the end of the paths; empty bounds if the boxes do not move."""
        return self.inside.nothing[0] if self.end is None else self.end

    @cached_property
    def side(self) -> LeafBoxes:
        """Return the boxes in the form that kernels take."""
        s, layout = LeafBoxes(), self.inside.layout
        s.start, s.node, s.boxes = layout.device[0], layout.blocks[3], self.begin.boxes
        s.ends, s.places, s.last_places = self.last.boxes, self.begin.places, self.last.places
        s.ids, s.corners = self.ids, self.inside.corners
        s.marks = kernel.empty((0, 2), wp.uint32) if self.marks is None else self.marks
        s.sewn = kernel.empty(0, wp.int32) if self.sewn is None else self.sewn
        return s

    def renewed(self, moved: WarpArray, places: MovingPoints, grow: float) -> None:
        """Recompute, in place, the boxes with a set bit in ``moved`` (c,); an empty array: all
        boxes.
        """
        layout, looked = self.inside.layout, self.begin.places.shape[0] > 0
        order = (self.ids, layout.device[0], layout.nodes, moved, *layout.blocks[1:3])
        for points, b in zip(places.enclosed(grow, looked), (self.begin, self.end)):
            assert b is not None
            out = (b.boxes, b.leaves, b.low, b.high, b.places)
            kernel.launch(bound, len(layout), *points, *order, *out, slice_above=WORTH_SLICING)

    def __len__(self) -> int:
        """Return the number of boxes."""
        return len(self.inside)
