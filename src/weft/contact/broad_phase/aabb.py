"""Axis-aligned bounding boxes of primitives, stored in the order of a tree.

Boxes are stored in float32, half the memory of positions, and rounded outwards, so that no pair is
lost. A box of a moving primitive is known at the start and at the end of its straight path.

The boxes of a leaf are stored coordinate by coordinate, eight numbers each, which fit into one or
two registers of a CPU; a leaf with fewer boxes is filled up with empty ones. One box is compared
with the eight boxes of a leaf in a few vector instructions, with bit masks as results. These tests
are native C++, because Warp's compiler does not vectorize a loop over eight boxes, which takes four
times as long.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.broad_phase.joined import Joined, JoinedVertices
from weft.contact.broad_phase.tree_order import LEAF, TreeLayout, TreeOrder
from weft.kernel import (
    BitsArray,
    FloatArray,
    IntArray,
    IntArray2d,
    Scalar,
    ScalarArray,
    Vec3Array,
    Vec3fArray,
    Vec4fArray,
    WarpArray,
    vec3,
)
from weft.kernel.cpu.native_code import native
from weft.solve.sparse.vectors import combine

_module = wp.get_module("weft.boxes")
BOX_WORK = 35.0  # matrix entries that take as long as the boxes of one leaf
ROWS = 6  # numbers of a box: lower x, y, z, upper x, y, z
BOX = ROWS * LEAF  # numbers of a leaf
CORNERS = 3 * LEAF  # vertices of a leaf
NONE = -1  # stands for a vertex where a leaf has no primitive


@wp.struct
class PointBoxes:
    """Boxes of vertices."""

    low: Vec4fArray  # (n,) [m] lower corners
    high: Vec4fArray  # (n,) [m] upper corners
    # (n,) [m] midpoints, and how far a vertex may be from its midpoint; empty: not needed
    middle: Vec4fArray


@wp.struct
class Bounds:
    """Boxes in leaves, and the boxes of the nodes of their tree, at one end of the paths.

    The boxes of leaf nodes are known; those of the nodes above are computed by a
    ``BoundingVolumeHierarchy``.
    """

    boxes: FloatArray  # (c,6,8) flat
    leaves: FloatArray  # (b,6,8) flat: boxes around the leaves of each block
    low: Vec3fArray  # (2c-1,) lower corners of the nodes' boxes
    high: Vec3fArray  # (2c-1,) upper corners
    places: FloatArray  # (c,3k+1,8) flat, midpoints of vertices; empty: boxes only


@wp.struct
class TreeBoxes:
    """Boxes of primitives with k vertices each, in the form that kernels take."""

    layout: TreeLayout
    ids: IntArray2d  # (n,k) vertices of primitives
    corners: IntArray  # (c,3,8) vertices leaf by leaf, flat
    marks: wp.array2d(dtype=wp.uint32)  # (n,2) group bits; empty: no groups
    joined: Joined
    begin: Bounds
    end: Bounds  # empty arrays: boxes do not move


@wp.func_native(native("aabb_simd.h", "overlap_mask_of_box"))
def overlap_mask_of_box(
    boxes: FloatArray,
    ends: FloatArray,
    leaf: int,
    low: wp.vec3f,
    high: wp.vec3f,
    last_low: wp.vec3f,
    last_high: wp.vec3f,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap the box from ``low`` to ``high``, which
    moves to the box from ``last_low`` to ``last_high`` if ``ends`` is not empty.
    """


@wp.func_native(native("aabb_simd.h", "overlap_mask"))
def overlap_mask(
    boxes: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap box ``number`` of the leaf ``other``.

    If ``ends`` is not empty, boxes move, and overlap only if they do at the same time of their
    paths.
    """


@wp.func_native(native("aabb_simd.h", "shrunk_overlap_mask"))
def shrunk_overlap_mask(
    boxes: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    by: wp.float32,
) -> wp.uint32:
    """Return the bits of the boxes of a leaf that overlap box ``number`` of the leaf ``other``
    after that is shrunk by ``by`` [m] on every side.
    """


@wp.func_native(native("aabb_simd.h", "beside"))
def beside(
    corners: IntArray,
    leaf: int,
    others: IntArray,
    other: int,
    number: int,
    start: IntArray,
    neighbors: IntArray,
) -> wp.uint32:
    """Return the bits of the primitives of a leaf that contain a mesh neighbor of a vertex of
    another one.

    The other primitive is number ``number`` of the leaf ``other``. The neighbors of vertex v begin
    at ``neighbors[start[v]]``.
    """


@wp.func_native(native("aabb_simd.h", "sharing"))
def sharing(corners: IntArray, leaf: int, others: IntArray, other: int, number: int) -> wp.uint32:
    """Return the bits of the primitives of a leaf that share a vertex with primitive ``number`` of
    the leaf ``other``.
    """


@wp.func
def box_of(boxes: FloatArray, leaf: int, k: int):
    """Return the lower and upper corner of box k of a leaf."""
    p = BOX * leaf + k
    low = wp.vec3f(boxes[p], boxes[p + LEAF], boxes[p + 2 * LEAF])
    return low, wp.vec3f(boxes[p + 3 * LEAF], boxes[p + 4 * LEAF], boxes[p + 5 * LEAF])


@wp.func
def corners_of(corners: IntArray, leaf: int, k: int):
    """Return the three vertices of primitive k of a leaf (the last one repeated if it has
    fewer).
    """
    p = CORNERS * leaf + k
    return wp.vec3i(corners[p], corners[p + LEAF], corners[p + 2 * LEAF])


@wp.func
def write_box(boxes: FloatArray, leaf: int, k: int, low: wp.vec3f, high: wp.vec3f):
    """Write box k of a leaf."""
    p = BOX * leaf + k
    for a in range(3):
        boxes[p + LEAF * a] = low[a]
        boxes[p + LEAF * (3 + a)] = high[a]


@wp.func_native(native("aabb.h", "write_rounded"))
def write_rounded(
    v: int,
    below: Vec3Array,
    above: Vec3Array,
    way: Vec3Array,
    radius: ScalarArray,
    grow: Scalar,
    out: PointBoxes,
):
    """Write the bounding box of vertex v, which lies between ``below`` and ``above``.

    The box is displaced by ``way``, if that is not empty, and enlarged by ``grow`` and, if that is
    not empty, by ``radius`` on every side.
    The midpoint is written if ``out`` has room for it.
    """


@wp.kernel(module=_module)
def enclose_points(
    o: int,
    below: Vec3Array,
    above: Vec3Array,
    way: Vec3Array,
    radius: ScalarArray,
    grow: Scalar,
    out: PointBoxes,
):
    """Write the bounding boxes of all vertices."""
    write_rounded(o + wp.tid(), below, above, way, radius, grow, out)


@wp.func_native(native("aabb.h", "write_leaf"))
def write_leaf(leaf: int, bits: wp.uint32, points: PointBoxes, boxes: TreeBoxes, out: Bounds):
    """Write the boxes of the primitives of a leaf, and the box around all of them.

    Only boxes with a set bit are written. A primitive's box encloses the boxes of its vertices;
    behind the primitives of the leaf follow empty boxes. If ``out`` has room for places, the
    midpoints of the primitives' vertices are written there, for separating axes.
    """


@wp.kernel(module=_module)
def bound(o: int, points: PointBoxes, boxes: TreeBoxes, moved: BitsArray, out: Bounds):
    """Write the boxes of one leaf and the box around them; if ``moved`` is not empty, renew only
    the boxes that have moved.
    """
    c = o + wp.tid()
    bits = wp.uint32(255)
    if moved.shape[0] > 0:
        bits = moved[c]
    if bits == wp.uint32(0):
        return
    n = boxes.layout.node[c]
    write_leaf(c, bits, points, boxes, out)
    b = boxes.layout.block[c]
    first = boxes.layout.first[b]
    write_box(out.leaves, b, c - first, out.low[n], out.high[n])
    if c + 1 == boxes.layout.first[b + 1]:
        empty = wp.vec3f(wp.inf, wp.inf, wp.inf)
        for k in range(c + 1 - first, LEAF):
            write_box(out.leaves, b, k, empty, -empty)


def allocate_bounds(out: Bounds, layout: TreeOrder, corners: int) -> None:
    """Allocate bounds for a tree of primitives, not initialized.

    Args:
        out: gets the arrays.
        layout: the tree.
        corners: number of vertices of a primitive that have places; 0: boxes only.
    """
    c, m, b = len(layout), len(layout.leaf), layout.struct.root.shape[0]
    out.boxes, out.leaves = (kernel.empty(BOX * n, wp.float32) for n in (c, b))
    out.low, out.high = kernel.empty(m, wp.vec3f), kernel.empty(m, wp.vec3f)
    out.places = kernel.empty((3 * corners + 1) * LEAF * c if corners else 0, wp.float32)


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
    radius: WarpArray | None = None  # (n,) [m] of balls around the points; None: they have none
    _known: dict[tuple[float, bool], WarpArray] = field(
        default_factory=dict
    )  # results of ``enclose``

    @staticmethod
    def of(
        x: Positions | WarpArray,
        end: Positions | WarpArray | None = None,
        radius: WarpArray | None = None,
    ) -> "MovingPoints":
        """Return points at x (n,3) [m], which move straight to ``end`` (n,3) [m] if that is
        given.
        """
        y = kernel.points(x)
        if end is None:
            return MovingPoints(y, y, None, radius)
        way = kernel.empty(y.shape[0], vec3)
        combine(kernel.points(end), -1.0, y, way)
        return MovingPoints(y, y, way, radius)

    def enclose(self, grow: float, middle: bool) -> list[PointBoxes]:
        """Return the boxes of the points, at the start and, if they move, at the end of their
        paths.

        Args:
            grow: [m] by which boxes are enlarged on every side.
            middle: whether midpoints are computed, too.
        """
        known = self._known.get((grow, middle))
        if known is None:
            n, known = self.low.shape[0], []
            still = kernel.empty(0, vec3)
            radius = kernel.empty(0) if self.radius is None else self.radius
            for way in (still,) if self.way is None else (still, self.way):
                out = PointBoxes()
                out.low, out.high = kernel.empty(n, wp.vec4f), kernel.empty(n, wp.vec4f)
                out.middle = kernel.empty(n if middle else 0, wp.vec4f)
                about = (self.low, self.high, way, radius, Scalar(grow), out)
                kernel.launch(enclose_points, n, *about)
                known.append(out)
            self._known[grow, middle] = known
        return known


class Boxes:
    """Boxes of primitives on the device; of moving primitives at the start and at the end of their
    paths.

    ``bounds`` are those at the start of the paths and, if boxes move, at their end.

    Args:
        places: regions of the vertices.
        inside: the primitives.
        grow: [m] by which boxes are enlarged on every side.
        marks: (n,2) uint32 group bits in the order of the tree (``CollisionGroups.marks``);
            None: all pairs may be in contact.
        joined: vertices that are sewn together or tied; None: none are.
        lines: whether vertices are stored, too, for the test of separating axes.
    """

    def __init__(
        self,
        places: MovingPoints,
        inside: Primitives,
        grow: float = 0.0,
        marks: WarpArray | None = None,
        joined: JoinedVertices | None = None,
        lines: bool = False,
    ) -> None:
        self.inside, self.moves, self.has_marks = inside, places.way is not None, marks is not None
        self._kind = (inside, marks, joined, lines)
        self.struct = s = TreeBoxes()  # arrays that are not set here have the length 0
        s.layout, s.ids, s.corners = inside.layout.struct, inside.ids, inside.corners
        if marks is not None:
            s.marks = marks
        if joined is not None:
            s.joined = joined.struct
        self.bounds = [s.begin, s.end] if self.moves else [s.begin]
        for bounds in self.bounds:
            allocate_bounds(bounds, inside.layout, inside.ids.shape[1] if lines else 0)
        self.renew(kernel.empty(0, wp.uint32), places, grow)

    @staticmethod
    def renewed(
        old: "Boxes | None",
        places: MovingPoints,
        grow: float,
        inside: Primitives,
        marks: WarpArray | None,
        joined: JoinedVertices | None,
        lines: bool,
    ) -> "Boxes":
        """Return boxes with these arguments, in the memory of ``old`` if those are of the same
        kind.
        """
        kind, moves = (inside, marks, joined, lines), places.way is not None
        if old is None or old.moves != moves or any(a is not b for a, b in zip(kind, old._kind)):
            return Boxes(places, inside, grow, marks, joined, lines)
        old.renew(kernel.empty(0, wp.uint32), places, grow)
        return old

    @staticmethod
    def around(points: Floats, grow: float = 0.0) -> "Boxes":
        """Compute the boxes of primitives with vertices at ``points`` (n,k,3) [m], enlarged by
        ``grow`` [m] on every side, in a tree built from where they are.
        """
        n, k = points.shape[:2]
        layout = TreeOrder.of(points.mean(axis=1))
        inside = Primitives.of(layout, np.arange(n * k, dtype=np.int32).reshape(n, k))
        return Boxes(MovingPoints.of(points.reshape(-1, 3)), inside, grow)

    @property
    def ids(self) -> WarpArray:
        """Return the vertices (n,k) of the primitives."""
        return self.inside.ids

    def renew(self, moved: WarpArray, places: MovingPoints, grow: float) -> None:
        """Recompute, in place, the boxes with a set bit in ``moved`` (c,); an empty array: all
        boxes.
        """
        layout, looked = self.inside.layout, self.struct.begin.places.shape[0] > 0
        for points, out in zip(places.enclose(grow, looked), self.bounds, strict=True):
            about = (points, self.struct, moved, out)
            kernel.launch(bound, len(layout), *about, work=BOX_WORK)

    def __len__(self) -> int:
        """Return the number of boxes."""
        return len(self.inside)
