"""Eight primitives at a time: which of a leaf are apart from another one along a line.

Most pairs whose boxes meet in fine cloth are not near each other. Where a line through the middles
of both holds them apart at the begin of a way and at its end, it does so all the way: on straight
ways, how far points are along a line changes linearly. So such pairs need not be listed.

Corners lie leaf by leaf, coordinate by coordinate, eight numbers each, and behind them by how much
vertices may be beside theirs: half of their boxes, and round-off.
"""

import warp as wp

from weft.contact.broad_phase.aabb import LeafBoxes

# A distance along a line, of points rounded to single precision, may be off by 8e-7 of the largest
# coordinates of both; more than that to be sure (``aabb.put_rounded``). What is wanted and
# compared is a bit larger than given for the same reason.
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
    """For primitives with so many corners."""
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
    """Edges of a leaf apart from an edge."""


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
    """Triangles apart from a point."""


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
    """Points apart from a triangle."""


@wp.func
def apart_by_lines(
    b: LeafBoxes, leaf: int, a: LeafBoxes, c: int, i: int, wanted: wp.float32, by: wp.float32
):
    """Bits of what in a leaf stays ``wanted`` [m] and more from what has number i in leaf c, in
    word 0 ... 7; and eight bits higher, of what stays so far less ``by``.
    """
    if b.ids.shape[1] == 2:
        return _edges(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    if b.ids.shape[1] == 3:
        return _faces(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    return _points(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
