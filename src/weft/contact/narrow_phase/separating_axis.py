"""Separating axis test of one primitive against the eight primitives of a leaf.

In fine cloth most pairs whose boxes overlap are not near each other. The axis is the line through
the centroids of both primitives, halfway along their paths. If it separates them at the start and
at the end of the paths, it does so all the time, because the position of a vertex along an axis
changes linearly on a straight path. Such pairs are never listed.

Vertices are stored leaf by leaf, coordinate by coordinate, eight numbers each, followed by how far
a vertex may be from its stored position: half the diagonal of its box, and round-off.
"""

import warp as wp

from weft.contact.broad_phase.aabb import LeafBoxes

# A distance along an axis, computed from points in single precision, may be off by 8e-7 of the
# largest coordinates of both points; ``aabb.put_rounded`` stores 2e-6 to be safe. For the same
# reason the wanted distance is enlarged by a few units of round-off.
_APART = """
    const float* q = others.data + 8 * (3 * M + 1) * (size_t)other + number;
    const bool moves = ends.shape[0] > 0;
    const float* r = moves ? other_ends.data + 8 * (3 * M + 1) * (size_t)other + number : q;
    const float* p = places.data + 8 * (3 * K + 1) * (size_t)leaf;
    const float* e = moves ? ends.data + 8 * (3 * K + 1) * (size_t)leaf : p;
    const float far = wanted * (1.0f + 2e-6f), less = far - by * (1.0f - 2e-6f);
    auto among = [=](auto at) {
        auto x = at(p, 0), y = x, z = x;
        auto middle = [&](const float* theirs, const float* mine, float sign) {
            const float a = mine[0], b = mine[8], c = mine[16];
            auto u = at(theirs, 0) - a, v = at(theirs, 1) - b, w = at(theirs, 2) - c;
            for (int j = 1; j < K; ++j) {
                u += at(theirs, 3 * j) - a;
                v += at(theirs, 3 * j + 1) - b;
                w += at(theirs, 3 * j + 2) - c;
            }
            float s = 0.0f, t = 0.0f, o = 0.0f;
            for (int i = 1; i < M; ++i) {
                s += mine[24 * i] - a;
                t += mine[24 * i + 8] - b;
                o += mine[24 * i + 16] - c;
            }
            x = x * sign + (u * (float)M - s * (float)K);
            y = y * sign + (v * (float)M - t * (float)K);
            z = z * sign + (w * (float)M - o * (float)K);
        };
        middle(p, q, 0.0f);
        if (moves)
            middle(e, r, 1.0f);
        const auto length = x * x + y * y + z * z;
        auto beyond = [&](const float* theirs, const float* mine) {
            const float a = mine[0], b = mine[8], c = mine[16];
            auto along = [&](int j) {
                return (at(theirs, 3 * j) - a) * x + (at(theirs, 3 * j + 1) - b) * y
                    + (at(theirs, 3 * j + 2) - c) * z;
            };
            auto least = along(0);
            for (int j = 1; j < K; ++j) {
                const auto d = along(j);
                least = d < least ? d : least;
            }
            auto most = x * 0.0f;
            for (int i = 1; i < M; ++i) {
                const auto d = x * (mine[24 * i] - a) + y * (mine[24 * i + 8] - b)
                    + z * (mine[24 * i + 16] - c);
                most = d > most ? d : most;
            }
            return least - most;
        };
        const auto first = beyond(p, q);
        const auto last = moves ? beyond(e, r) : first;
        const auto beside = at(p, 3 * K) + q[24 * M], after = at(e, 3 * K) + r[24 * M];
        auto test = [&](float distance) {
            const auto a = beside + distance, b = after + distance;
            return (first > 0.0f) & (last > 0.0f) & (first * first > a * a * length)
                & (last * last > b * b * length);
        };
        return pack(test(far), test(less));
    };
"""
_RUN = """
#if defined(__clang__) && !defined(__CUDACC__)
    typedef float eight __attribute__((vector_size(32), aligned(4)));
    typedef bool bits __attribute__((ext_vector_type(8)));
    auto pack = [](auto one, auto two) {
        const bits a = __builtin_convertvector(one, bits), b = __builtin_convertvector(two, bits);
        return __builtin_bit_cast(unsigned char, a)
            | (unsigned int)__builtin_bit_cast(unsigned char, b) << 8;
    };
    BODY
    return among([](const float* rows, int k) { return ((const eight*)rows)[k]; });
#else
    auto pack = [](bool one, bool two) { return (unsigned int)one | (unsigned int)two << 8; };
    BODY
    unsigned int out = 0;
    for (int lane = 0; lane < 8; ++lane)
        out |= among([lane](const float* rows, int k) { return rows[8 * k + lane]; }) << lane;
    return out;
#endif
""".replace("BODY", _APART)


def _of(theirs: int, mine: int) -> str:
    """Return the native code of the test for primitives with ``theirs`` and ``mine`` vertices."""
    return f"const int K = {theirs}, M = {mine};" + _RUN


@wp.func_native(_of(2, 2))
def _edges(
    places: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the edges of a leaf against an edge."""


@wp.func_native(_of(3, 1))
def _faces(
    places: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the triangles of a leaf against a point."""


@wp.func_native(_of(1, 3))
def _points(
    places: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the points of a leaf against a triangle."""


@wp.func
def apart_by_lines(
    b: LeafBoxes, leaf: int, a: LeafBoxes, c: int, i: int, wanted: wp.float32, by: wp.float32
):
    """Return the bits of the primitives of a leaf that stay apart from primitive i of leaf c.

    Bits 0 to 7 mark distances of at least ``wanted`` [m], bits 8 to 15 of at least ``wanted - by``.
    """
    if b.ids.shape[1] == 2:
        return _edges(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    if b.ids.shape[1] == 3:
        return _faces(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    return _points(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
