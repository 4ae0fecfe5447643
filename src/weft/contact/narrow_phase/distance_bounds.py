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
from weft.kernel import Scalar, WarpArray, vec3
from weft.kernel.bitmask import bits_per_thread, mask_below

_BY_LENGTHS = """
    const int last = (int)thickness.shape[0] - 1;
    const unsigned char nothing = 0;  // no null: vector loads that are masked stumble over it
    const unsigned char* marks = adjacent.shape[0] ? adjacent.data : &nothing;
    const size_t step = adjacent.shape[0] ? 1 : 0;
    unsigned int out = 0;
    for (int k = 0; k < count; ++k) {
        const size_t i = (size_t)(first + k) * stride;
        const int* v = stencil.data + 4 * i;
        const bool edges = (int)i >= points;
        const double a = away.data[v[0]], b = away.data[v[1]];
        const double c = away.data[v[2]], d = away.data[v[3]];
        const double cd = c > d ? c : d, ab = a > b ? a : b;
        const double moved = (edges ? ab : a) + (edges || cd > b ? cd : b);
        const int other = edges ? v[2] : v[1];
        const double sum = thickness.data[v[0] < last ? v[0] : last]
            + thickness.data[other < last ? other : last];
        const double own = marks[step * i] ? less : gap;
        out |= (unsigned int)(bound.data[i] - moved > scale * 0.5 * sum + own) << k;
    }
    return out;
"""

# ``slack`` bounds the round-off relative to the longest displacement: ten operations of relative
# error 6e-8, times six as a safety factor. Products of four vectors are transposed, so that the
# coordinates of all four are summed at once.
_FOUR = """
    const double slack = 4e-6;
    const float* s = (const float*)shift.data;
#if defined(__clang__) && !defined(__CUDACC__)
    typedef float four __attribute__((vector_size(16)));
    auto load = [](const float* p) {
        four out;
        __builtin_memcpy(&out, p, sizeof(out));
        return out;
    };
    auto sums = [](four a, four b, four c, four d) {
        const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
        const four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
        const four third = __builtin_shufflevector(
            __builtin_shufflevector(a, b, 2, 6, 3, 7), __builtin_shufflevector(c, d, 2, 6, 3, 7),
            0, 1, 4, 5);
        return __builtin_shufflevector(ab, cd, 0, 1, 4, 5)
            + __builtin_shufflevector(ab, cd, 2, 3, 6, 7) + third;
    };
#else
    struct four {
        float v[4];
        float operator[](int k) const { return v[k]; }
        four operator+(four b) const
            { return {v[0] + b.v[0], v[1] + b.v[1], v[2] + b.v[2], v[3] + b.v[3]}; }
        four operator-(four b) const
            { return {v[0] - b.v[0], v[1] - b.v[1], v[2] - b.v[2], v[3] - b.v[3]}; }
        four operator*(four b) const
            { return {v[0] * b.v[0], v[1] * b.v[1], v[2] * b.v[2], v[3] * b.v[3]}; }
        four operator*(float b) const { return {v[0] * b, v[1] * b, v[2] * b, v[3] * b}; }
    };
    auto load = [](const float* p) { return four{p[0], p[1], p[2], p[3]}; };
    auto sums = [](four a, four b, four c, four d) {
        auto sum = [](four x) { return x[0] + x[1] + x[2]; };
        return four{sum(a), sum(b), sum(c), sum(d)};
    };
#endif
    auto nearer = [load, sums](bool edges, const float* s, const int* v) {
        const four a = load(s + 4 * v[0]), b = load(s + 4 * v[1]);
        const four c = load(s + 4 * v[2]), d = load(s + 4 * v[3]);
        const four mean = (a + b + (c + d)) * 0.25f;
        const four p = a - mean, q = b - mean, r = c - mean, t = d - mean;
        const four far = sums(p * p, q * q, r * r, t * t);
        const float cd = far[2] > far[3] ? far[2] : far[3], ab = far[0] > far[1] ? far[0] : far[1];
        return wp::sqrt(edges ? ab : far[0]) + wp::sqrt(edges || cd > far[1] ? cd : far[1]);
    };
    auto farthest = [](const float* s, const int* v) {
        const float a = s[4 * v[0] + 3], b = s[4 * v[1] + 3], c = s[4 * v[2] + 3];
        const float d = s[4 * v[3] + 3], ab = a > b ? a : b, cd = c > d ? c : d;
        return ab > cd ? ab : cd;
    };
"""
_REACH = """
    const int last = (int)thickness.shape[0] - 1;
    const unsigned char nothing = 0;  // no null: vector loads that are masked stumble over it
    const unsigned char* marks = adjacent.shape[0] ? adjacent.data : &nothing;
    const size_t step = adjacent.shape[0] ? 1 : 0;
    const bool moves = way.shape[0] > 0;
    const float* w = (const float*)way.data;
    auto reach = [=](bool edges, const int* v, size_t i) {
        const int other = edges ? v[2] : v[1];
        const double sum = thickness.data[v[0] < last ? v[0] : last]
            + thickness.data[other < last ? other : last];
        return scale * 0.5 * sum + (marks[step * i] ? less : gap);
    };
    unsigned int out = 0;
"""

# A distance of points in single precision may be off by 1.2e-6 of the largest coordinate, if
# primitives are that long; ``rounded`` is larger to be safe.
_BY_PLACES = """
    const double rounded = 2e-6;
    const float* p = (const float*)place.data;
    for (unsigned int left = asked; left; left &= left - 1) {
        const int number = wp::bit_count(~left & (left - 1));
        const size_t i = (size_t)(first + number) * stride;
        const int* v = stencil.data + 4 * i;
        const bool edges = (int)i >= points;
        const float longest = farthest(s, v);
        const double moved = longest > 0.0f ? nearer(edges, s, v) + slack * longest : 0.0;
        const double far = moves ? limit * nearer(edges, w, v) + slack * farthest(w, v) : 0.0;
        const double wanted = reach(edges, v, i) + far;
        bool apart = bound.data[i] - moved > wanted;
        if (!apart) {
            const four a = load(p + 4 * v[0]), one = load(p + 4 * v[1]) - a;
            const four two = load(p + 4 * v[2]) - a, three = load(p + 4 * v[3]) - a;
            const four axis = two + three + one * (edges ? -1.0f : 1.0f);
            const four along = sums(one * axis, two * axis, three * axis, axis * axis);
            const float other = along[1] < along[2] ? along[1] : along[2];
            const float own = edges && along[0] > 0.0f ? along[0] : 0.0f;
            const float least = edges || other < along[0] ? other - own : along[0];
            const double room = least / wp::sqrt(along[3]) - rounded * farthest(p, v);
            apart = room > wanted;
            if (apart && room - moved > bound.data[i])
                bound.data[i] = room - moved;
        }
        out |= (unsigned int)apart << number;
    }
    return out;
"""

_REBASED = """
    for (int k = first; k < end; ++k) {
        const int* v = stencil.data + 4 * (size_t)k;
        bound.data[k] -= nearer(k >= points, s, v) + slack * farthest(s, v);
    }
"""


@wp.func_native(_BY_LENGTHS)
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
    """Return the bits of the candidates that a bound by the lengths of displacements rejects.

    A candidate is rejected if ``bound`` minus the largest displacements of both sides exceeds its
    thickness plus ``gap`` (``less`` for adjacent pairs). Bit k is candidate ``(first + k) *
    stride``, for k < ``count``.
    """


@wp.func_native(_FOUR + _REACH + _BY_PLACES)
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
    """Return the bits of the candidates in ``asked`` that displacements or a separating axis
    reject.

    The first test is ``bound`` minus ``distance.approach`` of the displacements, the second the
    separating axis at the current positions, which costs a third of ``closest`` and renews
    ``bound``. Both hold on the part ``limit`` of the path ``way`` (empty: only at the current
    positions).
    """


@wp.func_native(_FOUR + _REBASED)
def lessen(
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    first: int,
    end: int,
    shift: wp.array(dtype=wp.vec4f),
    bound: wp.array(dtype=Scalar),
):
    """Subtract ``distance.approach`` of the displacements ``shift`` from the bounds of the
    candidates ``first`` to ``end`` - 1.
    """


@wp.kernel(module=wp.get_module("weft.known"))
def rebase(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    width: int,
    shift: wp.array(dtype=wp.vec4f),
    bound: wp.array(dtype=Scalar),
):
    """Subtract the displacements ``shift`` from the bounds of ``width`` candidates."""
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
    y: wp.array(dtype=vec3),
    end: wp.array(dtype=vec3),
    origin: wp.array(dtype=vec3),
    place: wp.array(dtype=wp.vec4f),
    away: wp.array(dtype=Scalar),
    shift: wp.array(dtype=wp.vec4f),
    way: wp.array(dtype=wp.vec4f),
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
