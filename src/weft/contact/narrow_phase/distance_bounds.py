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

import warp as wp

from weft import kernel
from weft.contact.distance.distance import Pairs, Separation
from weft.kernel import (
    Scalar,
    ScalarArray,
    Vec3Array,
    Vec4fArray,
    WarpArray,
    vec3,
)
from weft.kernel.bitmask import mask_below
from weft.kernel.cpu.native_code import native
from weft.kernel.granularity import bits_per_index

_module = wp.get_module("weft.distance_bounds")


@wp.struct
class VertexMotion:
    """Positions of vertices, and a straight path that they follow, since the bounds of distances
    were computed.
    """

    origin: Vec3Array  # (n,) [m] positions at which the bounds hold
    place: Vec4fArray  # (n,) [m] start of the path relative to vertex 0, and its largest coordinate
    away: ScalarArray  # (n,) [m] largest distance of the path from the origin
    shift: Vec4fArray  # (n,) [m] from the origin to the start of the path, and its length
    way: Vec4fArray  # (n,) [m] from the start of the path to its end, and its length


@wp.func_native(native("distance_bounds.h", "apart_by_lengths"))
def apart_by_lengths(
    pairs: Pairs, separation: Separation, motion: VertexMotion, first: int, count: int, stride: int
) -> wp.uint32:
    """Return the bits of the candidates that a bound by the lengths of displacements rejects.

    A candidate is rejected if its bound minus the largest displacements of both sides exceeds its
    thickness plus its gap. Bit k is candidate ``(first + k) * stride``, for k < ``count``.
    """


@wp.func_native(native("distance_bounds.h", "apart_by_places"))
def apart_by_places(
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    first: int,
    asked: wp.uint32,
    stride: int,
    limit: Scalar,
) -> wp.uint32:
    """Return the bits of the candidates in ``asked`` that displacements or a separating axis
    reject.

    The first test is the bound minus ``distance.approach`` of the displacements, the second the
    separating axis at the current positions, which costs a third of ``closest`` and renews the
    bound. Both hold on the part ``limit`` of the path (0: only at its start).
    """


@wp.func_native(native("distance_bounds.h", "lessen"))
def lessen(pairs: Pairs, motion: VertexMotion, first: int, end: int):
    """Subtract ``distance.approach`` of the displacements from the bounds of the candidates
    ``first`` to ``end`` - 1.
    """


@wp.kernel(module=_module)
def rebase(o: int, pairs: Pairs, motion: VertexMotion, width: int):
    """Subtract the displacements from the bounds of ``width`` candidates."""
    first = (o + wp.tid()) * width
    lessen(pairs, motion, first, wp.min(first + width, pairs.stencil.shape[0]))


@wp.func
def mark_undecided(
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    first: int,
    count: int,
    stride: int,
    limit: Scalar,
):
    """Return the bits of those of ``count`` candidates that neither test rejects."""
    left = mask_below(count) & ~apart_by_lengths(pairs, separation, motion, first, count, stride)
    return left & ~apart_by_places(pairs, separation, motion, first, left, stride, limit)


class DisplacementBound:
    """Bounds of distances from the displacements of n vertices since distances were computed.

    The displacements are not initialized.
    """

    def __init__(self, n: int) -> None:
        self.motion = m = VertexMotion()
        m.origin, m.away = kernel.empty(n, vec3), kernel.empty(n)
        m.place, m.shift, m.way = (kernel.empty(n, wp.vec4f) for _ in range(3))

    @staticmethod
    def at(y: WarpArray, end: WarpArray) -> "DisplacementBound":
        """Return the displacements of a path (n,) vec3 from y to ``end`` [m], if bounds hold
        at y.
        """
        out = DisplacementBound(y.shape[0])
        kernel.copy(y, out.motion.origin)
        out.measure(y, end)
        return out

    def measure(self, y: WarpArray, end: WarpArray) -> None:
        """Measure the displacements of a path (n,) vec3 from y to ``end`` [m]."""
        kernel.launch(measure, y.shape[0], y, end, self.motion)

    def begin(self, y: WarpArray, pairs: Pairs) -> None:
        """Make y, the start of the path that was measured last, the position at which the bounds of
        ``pairs`` hold; the path must end where it begins.
        """
        width = bits_per_index()
        words, work = -(-pairs.stencil.shape[0] // width), 4 * width
        kernel.launch(rebase, words, pairs, self.motion, width, work=work)
        kernel.copy(y, self.motion.origin)
        self.motion.away.zero_()
        self.motion.shift.zero_()


@wp.func
def round_up(a: vec3):
    """Return a displacement in single precision, and its length as the fourth number, enlarged for
    round-off.
    """
    far = Scalar(1.0 + 1e-6) * wp.length(a)
    return wp.vec4f(wp.float32(a[0]), wp.float32(a[1]), wp.float32(a[2]), wp.float32(far))


@wp.kernel(module=_module)
def measure(o: int, y: Vec3Array, end: Vec3Array, motion: VertexMotion):
    """Write the positions and displacements of one vertex in single precision, and how far the path
    leads from the origin at most.
    """
    v = o + wp.tid()
    a = y[v] - motion.origin[v]
    b = end[v] - y[v]
    p = y[v] - y[0]  # relative to a vertex: single precision keeps more digits near zero
    size = wp.max(wp.abs(p[0]), wp.max(wp.abs(p[1]), wp.abs(p[2])))
    motion.place[v] = wp.vec4f(
        wp.float32(p[0]), wp.float32(p[1]), wp.float32(p[2]), wp.float32(size)
    )
    motion.away[v] = wp.max(wp.length(a), wp.length(end[v] - motion.origin[v]))
    motion.shift[v] = round_up(a)
    motion.way[v] = round_up(b)
