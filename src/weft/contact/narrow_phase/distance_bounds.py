"""Which candidates are apart: by where their vertices have been since a distance was last
computed, or by a line between both sides.

Most of millions of candidates are settled by this alone, again and again, so that it is native
code, in single precision, with room for round-off: what Warp makes of the same lines takes five
times as long, as it minds negative indices and strides.
"""

from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.contact.broad_phase.candidates import Candidates
from weft.kernel import Scalar, WarpArray, vec3
from weft.kernel.bitmask import bits_per_thread, mask_below
from weft.kernel.native_code import native


@wp.func_native(native("distance_bounds.h", "apart_by_lengths"))
def apart_by_lengths(
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    first: int,
    count: int,
    stride: int,
    thickness: wp.array(dtype=Scalar),
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    adjacent: wp.array(dtype=wp.uint8),
    away: wp.array(dtype=Scalar),
    bound: wp.array(dtype=Scalar),
) -> wp.uint32:
    """Bits of those of ``count`` candidates, every ``stride``-th from number ``first`` on, that
    stay ``gap``, or ``less`` where edges connect them, beyond their thickness: ``bound`` less
    the longest ways of both sides says so.
    """


@wp.func_native(native("distance_bounds.h", "apart_by_places"))
def apart_by_places(
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    first: int,
    asked: wp.uint32,
    stride: int,
    thickness: wp.array(dtype=Scalar),
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    adjacent: wp.array(dtype=wp.uint8),
    place: wp.array(dtype=wp.vec4f),
    shift: wp.array(dtype=wp.vec4f),
    way: wp.array(dtype=wp.vec4f),
    limit: Scalar,
    bound: wp.array(dtype=Scalar),
) -> wp.uint32:
    """The same of those whose bits are set, on ``limit`` of the way (empty: where they are):
    ``bound`` less ``distance.approach`` says so, or how far they are from one another along the
    line through the middles of both sides (a third of what ``closest`` costs), which renews bounds.
    """


@wp.func_native(native("distance_bounds.h", "lessen"))
def lessen(
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    first: int,
    end: int,
    shift: wp.array(dtype=wp.vec4f),
    bound: wp.array(dtype=Scalar),
):
    """Bounds of candidates ``first`` to before ``end`` less ``distance.approach`` of ``shift``."""


@wp.kernel(module=wp.get_module("weft.known"))
def rebase(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    width: int,
    shift: wp.array(dtype=wp.vec4f),
    bound: wp.array(dtype=Scalar),
):
    """The same of the next ``width``."""
    first = (o + wp.tid()) * width
    end = wp.min(first + width, stencil.shape[0])
    lessen(stencil, points, first, end, shift, bound)


@wp.func
def undecided(
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    first: int,
    count: int,
    stride: int,
    thickness: wp.array(dtype=Scalar),
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    adjacent: wp.array(dtype=wp.uint8),
    place: wp.array(dtype=wp.vec4f),
    away: wp.array(dtype=Scalar),
    shift: wp.array(dtype=wp.vec4f),
    way: wp.array(dtype=wp.vec4f),
    limit: Scalar,
    bound: wp.array(dtype=Scalar),
):
    """Bits of those that neither test settles, which have to be looked at."""
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
    """Where vertices are, and where a way leads them, seen from where bounds of distances hold."""

    origin: WarpArray  # (n,) vec3 [m]
    place: WarpArray  # (n,) vec4f [m] where the way begins, seen from the first of them, and its
    # largest coordinate
    away: WarpArray  # (n,) [m] how far the way leads from there at most
    shift: WarpArray  # (n,) vec4f [m] from there to the way's begin, and how far that is
    way: WarpArray  # (n,) vec4f [m] to its end, and how far that is

    @staticmethod
    def made(n: int) -> "DisplacementBound":
        """For n vertices; not initialized."""
        place, shift, way = (kernel.empty(n, wp.vec4f) for _ in range(3))
        return DisplacementBound(kernel.empty(n, vec3), place, kernel.empty(n), shift, way)

    @staticmethod
    def at(y: WarpArray, end: WarpArray) -> "DisplacementBound":
        """Of a way (n,) vec3 from y to ``end``, where bounds hold at y."""
        out = DisplacementBound.made(y.shape[0])
        kernel.copy(y, out.origin)
        out.measure(y, end)
        return out

    def measure(self, y: WarpArray, end: WarpArray) -> None:
        """Take a way (n,) vec3 from y to ``end``."""
        out = (self.place, self.away, self.shift, self.way)
        kernel.launch(measure, y.shape[0], y, end, self.origin, *out)

    def begin(self, y: WarpArray, candidates: Candidates) -> None:
        """From now on, bounds hold at y, where a way begins that leads nowhere, measured last."""
        width, pairs = bits_per_thread(), (candidates.device_stencil, candidates.points)
        words, worth = -(-len(candidates) // width), kernel.slice_above(4 * width)
        arrays = (*pairs, width, self.shift, candidates.bound)
        kernel.launch(rebase, words, *arrays, slice_above=worth)
        kernel.copy(y, self.origin)
        self.away.zero_()
        self.shift.zero_()


@wp.func
def seen(a: vec3):
    """A displacement in single precision, and its length, with room for round-off."""
    far = Scalar(1.0 + 1e-6) * wp.length(a)
    return wp.vec4f(wp.float32(a[0]), wp.float32(a[1]), wp.float32(a[2]), wp.float32(far))


@wp.kernel(module=wp.get_module("weft.known"))
def measure(
    o: int,
    y: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    place: wp.array(dtype=wp.vec4f),
    away: wp.array(dtype=Scalar),
    shift: wp.array(dtype=wp.vec4f),
    way: wp.array(dtype=wp.vec4f),
):
    """How far a way leads at most from where distances are bounded from, and in which direction."""
    v = o + wp.tid()
    a = y[v] - origin[v]
    b = end[v] - y[v]
    p = y[v] - y[0]
    size = wp.max(wp.abs(p[0]), wp.max(wp.abs(p[1]), wp.abs(p[2])))
    place[v] = wp.vec4f(wp.float32(p[0]), wp.float32(p[1]), wp.float32(p[2]), wp.float32(size))
    away[v] = wp.max(wp.length(a), wp.length(end[v] - origin[v]))
    shift[v] = seen(a)
    way[v] = seen(b)
