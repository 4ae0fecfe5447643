// Pairs of primitives that a line keeps apart (weft.contact.broad_phase.overlap_query).
#pragma once

#include "types.h"

#if defined(__clang__) && !defined(__CUDACC__)
typedef float FloatRow __attribute__((vector_size(32), aligned(4)));
typedef bool BitRow __attribute__((ext_vector_type(8)));
#endif

// Return the bits of the primitives of a leaf (eight with K vertices each) that stay `wanted` [m]
// or more from primitive `number` of leaf `other` (M vertices), along the line through the centers
// of both, at the begin and at the end of their ways (`ends` is empty where they do not move); and
// eight bits higher, of those that stay `wanted` less `by` [m]. places (leaves,3K+1,8) are vertices
// and a radius. A distance along a line, of points rounded to single precision, may be off by 8e-7
// of the largest coordinates of both; what is wanted and compared is a bit larger than given for
// that reason. Native, because eight primitives fill a vector register of 256 bits.
template <int K, int M>
uint32 apart_along_line(wp::array_t<float> places, wp::array_t<float> ends, int leaf,
                        wp::array_t<float> others, wp::array_t<float> other_ends, int other,
                        int number, float wanted, float by) {
    const float* q = others.data + 8 * (3 * M + 1) * (size_t)other + number;
    const bool moves = ends.shape[0] > 0;
    const float* r = moves ? other_ends.data + 8 * (3 * M + 1) * (size_t)other + number : q;
    const float* p = places.data + 8 * (3 * K + 1) * (size_t)leaf;
    const float* e = moves ? ends.data + 8 * (3 * K + 1) * (size_t)leaf : p;
    const float far = wanted * (1.0f + 2e-6f), less = far - by * (1.0f - 2e-6f);
#if defined(__clang__) && !defined(__CUDACC__)
    auto pack = [](auto one, auto two) {
        const BitRow a = __builtin_convertvector(one, BitRow),
                     b = __builtin_convertvector(two, BitRow);
        return __builtin_bit_cast(unsigned char, a)
               | (unsigned int)__builtin_bit_cast(unsigned char, b) << 8;
    };
#else
    auto pack = [](bool one, bool two) { return (unsigned int)one | (unsigned int)two << 8; };
#endif
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
#if defined(__clang__) && !defined(__CUDACC__)
    return among([](const float* rows, int k) { return ((const FloatRow*)rows)[k]; });
#else
    unsigned int out = 0;
    for (int lane = 0; lane < 8; ++lane)
        out |= among([lane](const float* rows, int k) { return rows[8 * k + lane]; }) << lane;
    return out;
#endif
}
