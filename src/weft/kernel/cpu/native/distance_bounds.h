// Candidate pairs that bounds of their distances settle
// (weft.contact.narrow_phase.distance_bounds).
//
// Native and in single precision, because Warp's index checks take five times as long as these few products.
#pragma once

#include "contact_structs.h"

// What single precision may be off by, of the longest way: ten operations of 6e-8, and six times
// that to be sure.
constexpr Scalar SLACK = 4e-6;

// A distance of points that are rounded to single precision may be off by 1.2e-6 of the largest
// coordinate, where sides are that long; more than that to be sure.
constexpr Scalar ROUNDED = 2e-6;

#if defined(__clang__) && !defined(__CUDACC__)
typedef float four __attribute__((vector_size(16)));
#else
struct four {
    float v[4];
    float operator[](int k) const {
        return v[k];
    }
    four operator+(four b) const {
        return {v[0] + b.v[0], v[1] + b.v[1], v[2] + b.v[2], v[3] + b.v[3]};
    }
    four operator-(four b) const {
        return {v[0] - b.v[0], v[1] - b.v[1], v[2] - b.v[2], v[3] - b.v[3]};
    }
    four operator*(four b) const {
        return {v[0] * b.v[0], v[1] * b.v[1], v[2] * b.v[2], v[3] * b.v[3]};
    }
    four operator*(float b) const {
        return {v[0] * b, v[1] * b, v[2] * b, v[3] * b};
    }
};
#endif

// Return the four numbers at p.
inline four load(const float* p) {
#if defined(__clang__) && !defined(__CUDACC__)
    four out;
    __builtin_memcpy(&out, p, sizeof(out));
    return out;
#else
    return {p[0], p[1], p[2], p[3]};
#endif
}

// Return the sums of the first three numbers of four vectors. They are transposed, so that all four
// are summed at once.
inline four sums(four a, four b, four c, four d) {
#if defined(__clang__) && !defined(__CUDACC__)
    const four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const four third =
        __builtin_shufflevector(__builtin_shufflevector(a, b, 2, 6, 3, 7),
                                __builtin_shufflevector(c, d, 2, 6, 3, 7), 0, 1, 4, 5);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7)
           + third;
#else
    return {a[0] + a[1] + a[2], b[0] + b[1] + b[2], c[0] + c[1] + c[2], d[0] + d[1] + d[2]};
#endif
}

// Return by how much [m] both sides of pair v come nearer at most, by ways s (n,4) relative to
// their mean.
inline float nearer(bool edges, const float* s, const int* v) {
    const four a = load(s + 4 * v[0]), b = load(s + 4 * v[1]);
    const four c = load(s + 4 * v[2]), d = load(s + 4 * v[3]);
    const four mean = (a + b + (c + d)) * 0.25f;
    const four p = a - mean, q = b - mean, r = c - mean, t = d - mean;
    const four far = sums(p * p, q * q, r * r, t * t);
    const float cd = far[2] > far[3] ? far[2] : far[3], ab = far[0] > far[1] ? far[0] : far[1];
    return wp::sqrt(edges ? ab : far[0]) + wp::sqrt(edges || cd > far[1] ? cd : far[1]);
}

// Return twice the thickness [m] that pair v keeps (weft.contact.distance.distance.pair_thickness):
// the sum over both sides of the largest thickness of their vertices.
inline Scalar both_sides(bool edges, const int* v, const Scalar* thickness, int last) {
    auto of = [=](int k) { return thickness[v[k] < last ? v[k] : last]; };
    const Scalar a = of(0), b = of(1), c = of(2), d = of(3);
    const Scalar ab = a > b ? a : b, cd = c > d ? c : d;
    return edges ? ab + cd : a + (b > cd ? b : cd);
}

// Return the largest fourth number of the vectors s (n,4) of pair v.
inline float farthest(const float* s, const int* v) {
    const float a = s[4 * v[0] + 3], b = s[4 * v[1] + 3], c = s[4 * v[2] + 3];
    const float d = s[4 * v[3] + 3], ab = a > b ? a : b, cd = c > d ? c : d;
    return ab > cd ? ab : cd;
}

// Return the bits of the candidates first + k, k < count, counted in steps of `stride`, that stay
// the gap of a separation beyond their thickness: their bound less the longest ways of both sides
// is larger.
uint32 apart_by_lengths(Pairs pairs, Separation separation, VertexMotion motion, int first,
                        int count, int stride) {
    const int points = pairs.points, last = (int)separation.thickness.shape[0] - 1;
    const int* stencil = pairs.stencil.data;
    const Scalar *thickness = separation.thickness.data, *away = motion.away.data;
    const Scalar* bound = pairs.bound.data;
    const Scalar gap = separation.gap, less = separation.adjacent_gap;
    const unsigned char nothing = 0; // no null: vector loads that are masked stumble over it
    const unsigned char* marks = pairs.adjacent.shape[0] ? pairs.adjacent.data : &nothing;
    const size_t step = pairs.adjacent.shape[0] ? 1 : 0;
    unsigned int out = 0;
    for (int k = 0; k < count; ++k) {
        const size_t i = (size_t)(first + k) * stride;
        const int* v = stencil + 4 * i;
        const bool edges = (int)i >= points;
        const Scalar a = away[v[0]], b = away[v[1]], c = away[v[2]], d = away[v[3]];
        const Scalar cd = c > d ? c : d, ab = a > b ? a : b;
        const Scalar moved = (edges ? ab : a) + (edges || cd > b ? cd : b);
        const Scalar sum = both_sides(edges, v, thickness, last);
        const Scalar own = marks[step * i] ? less : gap;
        out |= (unsigned int)(bound[i] - moved > 0.5 * sum + own) << k;
    }
    return out;
}

// Return the bits of the candidates of a mask that stay so far on the part `limit` of their ways
// (0: where they are): their bound less how much the shifts bring both sides nearer is larger, or
// their distance along the line through the centers of both sides at their places, a third of the
// work of `closest`, which then becomes the bound.
uint32 apart_by_places(Pairs pairs, Separation separation, VertexMotion motion, int first,
                       uint32 asked, int stride, Scalar limit) {
    const int points = pairs.points, last = (int)separation.thickness.shape[0] - 1;
    const int* stencil = pairs.stencil.data;
    const Scalar* thickness = separation.thickness.data;
    Scalar* bound = pairs.bound.data;
    const float *s = (const float*)motion.shift.data, *p = (const float*)motion.place.data;
    const float* w = (const float*)motion.way.data;
    const Scalar gap = separation.gap, less = separation.adjacent_gap;
    const unsigned char nothing = 0; // no null: vector loads that are masked stumble over it
    const unsigned char* marks = pairs.adjacent.shape[0] ? pairs.adjacent.data : &nothing;
    const size_t step = pairs.adjacent.shape[0] ? 1 : 0;
    const bool moves = limit > 0.0;
    auto reach = [=](bool edges, const int* v, size_t i) {
        const Scalar sum = both_sides(edges, v, thickness, last);
        return 0.5 * sum + (marks[step * i] ? less : gap);
    };
    unsigned int out = 0;
    for (unsigned int left = asked; left; left &= left - 1) {
        const int number = wp::bit_count(~left & (left - 1));
        const size_t i = (size_t)(first + number) * stride;
        const int* v = stencil + 4 * i;
        const bool edges = (int)i >= points;
        const float longest = farthest(s, v);
        const Scalar moved = longest > 0.0f ? nearer(edges, s, v) + SLACK * longest : 0.0;
        const Scalar far = moves ? limit * nearer(edges, w, v) + SLACK * farthest(w, v) : 0.0;
        const Scalar wanted = reach(edges, v, i) + far;
        bool apart = bound[i] - moved > wanted;
        if (!apart) {
            const four a = load(p + 4 * v[0]), one = load(p + 4 * v[1]) - a;
            const four two = load(p + 4 * v[2]) - a, three = load(p + 4 * v[3]) - a;
            const four axis = two + three + one * (edges ? -1.0f : 1.0f);
            const four along = sums(one * axis, two * axis, three * axis, axis * axis);
            const float other = along[1] < along[2] ? along[1] : along[2];
            const float own = edges && along[0] > 0.0f ? along[0] : 0.0f;
            const float least = edges || other < along[0] ? other - own : along[0];
            const Scalar room = least / wp::sqrt(along[3]) - ROUNDED * farthest(p, v);
            apart = room > wanted;
            if (apart && room - moved > bound[i])
                bound[i] = room - moved;
        }
        out |= (unsigned int)apart << number;
    }
    return out;
}

// Lessen the bounds of candidates first ... end-1 by how much the shifts bring both sides nearer.
void lessen(Pairs pairs, VertexMotion motion, int first, int end) {
    const float* s = (const float*)motion.shift.data;
    for (int k = first; k < end; ++k) {
        const int* v = pairs.stencil.data + 4 * (size_t)k;
        pairs.bound.data[k] -= nearer(k >= pairs.points, s, v) + SLACK * farthest(s, v);
    }
}
