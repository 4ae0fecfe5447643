"""Reject candidate pairs without computing their distance.

Two conservative tests, in the order of their cost:

1. Displacement bound. If a pair was at the distance d when it was last measured, and its vertices
   have moved by at most m relative to their common mean since then, its distance is at least d - m.
2. Separating axis. The gap between the projections of both primitives onto the line through their
   centroids is a lower bound of the distance. It is stored as the bound of test 1.

Nearly all of millions of candidates are rejected by these tests, so they are native code, with
vectors in single precision and a reserve for round-off: Warp's code for the same lines takes five
times as long, because it supports negative indices and strides. The pairs that remain get their
exact distance.
"""

from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.contact.broad_phase.candidates import Candidates
from weft.kernel import (
    ByteArray,
    IntArray2d,
    Scalar,
    ScalarArray,
    Vec3Array,
    Vec4fArray,
    WarpArray,
    vec3,
)
from weft.kernel.bitmask import bits_per_thread, mask_below
from weft.kernel.native_code import native


@wp.func_native(native("distance_bounds.h", "apart_by_lengths"))
def apart_by_lengths(
    stencil: IntArray2d,
    points: int,
    first: int,
    count: int,
    stride: int,
    thickness: ScalarArray,
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    adjacent: ByteArray,
    away: ScalarArray,
    bound: ScalarArray,
) -> wp.uint32:
    """Return the bits of the candidates that a bound by the lengths of displacements rejects.

    A candidate is rejected if ``bound`` minus the largest displacements of both sides exceeds its
    thickness plus ``gap`` (``less`` for adjacent pairs). Bit k is candidate ``(first + k) *
    stride``, for k < ``count``.
    """


@wp.func_native(native("distance_bounds.h", "apart_by_places"))
def apart_by_places(
    stencil: IntArray2d,
    points: int,
    first: int,
    asked: wp.uint32,
    stride: int,
    thickness: ScalarArray,
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    adjacent: ByteArray,
    place: Vec4fArray,
    shift: Vec4fArray,
    way: Vec4fArray,
    limit: Scalar,
    bound: ScalarArray,
) -> wp.uint32:
    """Return the bits of the candidates in ``asked`` that displacements or a separating axis
    reject.

    The first test is ``bound`` minus ``distance.approach`` of the displacements, the second the
    separating axis at the current positions, which costs a third of ``closest`` and renews
    ``bound``. Both hold on the part ``limit`` of the path ``way`` (empty: only at the current
    positions).
    """


@wp.func_native(native("distance_bounds.h", "lessen"))
def lessen(
    stencil: IntArray2d, points: int, first: int, end: int, shift: Vec4fArray, bound: ScalarArray
):
    """Subtract ``distance.approach`` of the displacements ``shift`` from the bounds of the
    candidates ``first`` to ``end`` - 1.
    """


@wp.kernel(module=wp.get_module("weft.known"))
def rebase(
    o: int, stencil: IntArray2d, points: int, width: int, shift: Vec4fArray, bound: ScalarArray
):
    """Subtract the displacements ``shift`` from the bounds of ``width`` candidates."""
    first = (o + wp.tid()) * width
    end = wp.min(first + width, stencil.shape[0])
    lessen(stencil, points, first, end, shift, bound)


@wp.func
def undecided(
    stencil: IntArray2d,
    points: int,
    first: int,
    count: int,
    stride: int,
    thickness: ScalarArray,
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    adjacent: ByteArray,
    place: Vec4fArray,
    away: ScalarArray,
    shift: Vec4fArray,
    way: Vec4fArray,
    limit: Scalar,
    bound: ScalarArray,
):
    """Return the bits of those of ``count`` candidates that neither test rejects."""
    left = mask_below(count) & ~apart_by_lengths(
        stencil, points, first, count, stride, thickness, scale, gap, less, adjacent, away, bound
    )
    return left & ~apart_by_places(
        stencil,
        points,
        first,
        left,
        stride,
        thickness,
        scale,
        gap,
        less,
        adjacent,
        place,
        shift,
        way,
        limit,
        bound,
    )


@dataclass(frozen=True, eq=False)
class DisplacementBound:
    """Displacements of vertices, and of a path that they follow, since the bounds of distances were
    computed.
    """

    origin: WarpArray  # (n,) vec3 [m] positions at which the bounds hold
    # (n,) vec4f [m] start of the path relative to the first vertex, and its largest coordinate
    place: WarpArray
    away: WarpArray  # (n,) [m] largest distance of the path from the origin
    shift: WarpArray  # (n,) vec4f [m] from the origin to the start of the path, and its length
    way: WarpArray  # (n,) vec4f [m] from the start of the path to its end, and its length

    @staticmethod
    def made(n: int) -> "DisplacementBound":
        """Allocate the arrays for n vertices, not initialized."""
        place, shift, way = (kernel.empty(n, wp.vec4f) for _ in range(3))
        return DisplacementBound(kernel.empty(n, vec3), place, kernel.empty(n), shift, way)

    @staticmethod
    def at(y: WarpArray, end: WarpArray) -> "DisplacementBound":
        """Return the displacements of a path (n,) vec3 from y to ``end`` [m], if bounds hold
        at y.
        """
        out = DisplacementBound.made(y.shape[0])
        kernel.copy(y, out.origin)
        out.measure(y, end)
        return out

    def measure(self, y: WarpArray, end: WarpArray) -> None:
        """Measure the displacements of a path (n,) vec3 from y to ``end`` [m]."""
        out = (self.place, self.away, self.shift, self.way)
        kernel.launch(measure, y.shape[0], y, end, self.origin, *out)

    def begin(self, y: WarpArray, candidates: Candidates) -> None:
        """Make y, the start of the path that was measured last, the position at which the bounds of
        ``candidates`` hold; the path must end where it begins.
        """
        width, pairs = bits_per_thread(), (candidates.device_stencil, candidates.points)
        words, worth = -(-len(candidates) // width), kernel.slice_above(4 * width)
        arrays = (*pairs, width, self.shift, candidates.bound)
        kernel.launch(rebase, words, *arrays, slice_above=worth)
        kernel.copy(y, self.origin)
        self.away.zero_()
        self.shift.zero_()


@wp.func
def seen(a: vec3):
    """Return a displacement in single precision, and its length as the fourth number, enlarged for
    round-off.
    """
    far = Scalar(1.0 + 1e-6) * wp.length(a)
    return wp.vec4f(wp.float32(a[0]), wp.float32(a[1]), wp.float32(a[2]), wp.float32(far))


@wp.kernel(module=wp.get_module("weft.known"))
def measure(
    o: int,
    y: Vec3Array,
    end: Vec3Array,
    origin: Vec3Array,
    place: Vec4fArray,
    away: ScalarArray,
    shift: Vec4fArray,
    way: Vec4fArray,
):
    """Write the positions and displacements of one vertex in single precision, and how far the path
    leads from the origin at most.
    """
    v = o + wp.tid()
    a = y[v] - origin[v]
    b = end[v] - y[v]
    p = y[v] - y[0]  # relative to a vertex: single precision keeps more digits near zero
    size = wp.max(wp.abs(p[0]), wp.max(wp.abs(p[1]), wp.abs(p[2])))
    place[v] = wp.vec4f(wp.float32(p[0]), wp.float32(p[1]), wp.float32(p[2]), wp.float32(size))
    away[v] = wp.max(wp.length(a), wp.length(end[v] - origin[v]))
    shift[v] = seen(a)
    way[v] = seen(b)
