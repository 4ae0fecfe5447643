// Tests of one box against the eight boxes of a leaf (weft.contact.broad_phase.aabb).
//
// A leaf's boxes are stored as (6,8) float: lower x, y, z and upper x, y, z of eight boxes each,
// so that a row fills one vector register of 256 bits. Corners are stored as (3,8) int.
#pragma once

#include "types.h"

#if defined(__clang__) && !defined(__CUDACC__)
typedef float FloatRow __attribute__((vector_size(32), aligned(4)));
typedef int IntRow __attribute__((vector_size(32), aligned(4)));
typedef bool BitRow __attribute__((ext_vector_type(8)));
#endif

// Return the bits of the boxes of a leaf that overlap a box q, whose six numbers are `s` apart. If
// boxes move (`ends` is not empty), the box ends at r, and boxes stay apart if they are apart along
// an axis at both ends: between, their sides are no farther out than on straight lines.
inline unsigned int overlap(const wp::array_t<float>& boxes, const wp::array_t<float>& ends,
                            int leaf, const float* q, const float* r, int s) {
#if defined(__clang__) && !defined(__CUDACC__)
    const FloatRow* p = (const FloatRow*)(boxes.data + 48 * (size_t)leaf);
    auto found = (p[0] <= q[3 * s]) & (p[3] >= q[0]) & (p[1] <= q[4 * s]) & (p[4] >= q[s])
                 & (p[2] <= q[5 * s]) & (p[5] >= q[2 * s]);
    if (ends.shape[0]) {
        const FloatRow* e = (const FloatRow*)(ends.data + 48 * (size_t)leaf);
        found = ((p[0] <= q[3 * s]) | (e[0] <= r[3 * s])) & ((p[3] >= q[0]) | (e[3] >= r[0]))
                & ((p[1] <= q[4 * s]) | (e[1] <= r[4 * s])) & ((p[4] >= q[s]) | (e[4] >= r[s]))
                & ((p[2] <= q[5 * s]) | (e[2] <= r[5 * s]))
                & ((p[5] >= q[2 * s]) | (e[5] >= r[2 * s]));
    }
    return __builtin_bit_cast(unsigned char, __builtin_convertvector(found, BitRow));
#else
    const float* p = boxes.data + 48 * (size_t)leaf;
    const bool moving = ends.shape[0] > 0;
    const float* e = moving ? ends.data + 48 * (size_t)leaf : p;
    const float* f = moving ? r : q;
    unsigned int out = 0;
    for (int k = 0; k < 8; ++k) {
        bool meets = true;
        for (int c = 0; c < 3; ++c) {
            const int low = k + 8 * c, high = k + 8 * (c + 3);
            meets = meets && (p[low] <= q[(c + 3) * s] || e[low] <= f[(c + 3) * s])
                    && (p[high] >= q[c * s] || e[high] >= f[c * s]);
        }
        out |= (unsigned int)meets << k;
    }
    return out;
#endif
}

// Return the bits of the boxes of a leaf that overlap the box from low to high, which ends between
// last_low and last_high where boxes move. Native, because Warp's compiler leaves a loop over eight
// boxes a loop, which takes four times as long.
uint32 overlap_mask_of_box(wp::array_t<float> boxes, wp::array_t<float> ends, int leaf, vec3f low,
                   vec3f high, vec3f last_low, vec3f last_high) {
    const float q[] = {low[0], low[1], low[2], high[0], high[1], high[2]};
    const float r[] = {last_low[0],  last_low[1],  last_low[2],
                       last_high[0], last_high[1], last_high[2]};
    return overlap(boxes, ends, leaf, q, r, 1);
}

// Return the bits of the boxes of a leaf that overlap box `number` of leaf `other` of others
// (leaves,6,8). Native for the reason of overlap_mask_of_box.
uint32 overlap_mask(wp::array_t<float> boxes, wp::array_t<float> ends, int leaf,
                    wp::array_t<float> others, wp::array_t<float> other_ends, int other,
                    int number) {
    const float* q = others.data + 48 * (size_t)other + number;
    const float* r = ends.shape[0] ? other_ends.data + 48 * (size_t)other + number : q;
    return overlap(boxes, ends, leaf, q, r, 8);
}

// Return the bits of overlap_mask for a box that is smaller by `by` [m] on every side, rounded so
// that no pair is lost: sums are right to 6e-8 of the summands. Native for the reason of
// overlap_mask_of_box.
uint32 shrunk_overlap_mask(wp::array_t<float> boxes, wp::array_t<float> ends, int leaf,
                  wp::array_t<float> others, wp::array_t<float> other_ends, int other, int number,
                  float by) {
    const float* stored = others.data + 48 * (size_t)other + number;
    const float* last = ends.shape[0] ? other_ends.data + 48 * (size_t)other + number : stored;
    float q[6], r[6];
    auto shrink = [by](const float* in, float* out) {
        for (int k = 0; k < 3; ++k) {
            const float a = in[8 * k], b = in[8 * (k + 3)];
            out[k] = a + by - 2.4e-7f * (wp::abs(a) + by);
            out[k + 3] = b - by + 2.4e-7f * (wp::abs(b) + by);
        }
    };
    shrink(stored, q);
    shrink(last, r);
    return overlap(boxes, ends, leaf, q, r, 1);
}

// Return the bits of the primitives of a leaf, corners (leaves,3,8), that have a neighbor of a
// vertex of primitive `number` of leaf `other`; the neighbors of vertex v begin at start[v]. Native
// for the reason of overlap_mask_of_box.
uint32 beside(wp::array_t<int> corners, int leaf, wp::array_t<int> others, int other, int number,
              wp::array_t<int> start, wp::array_t<int> neighbors) {
    const int* q = others.data + 24 * (size_t)other + number;
#if defined(__clang__) && !defined(__CUDACC__)
    const IntRow* p = (const IntRow*)(corners.data + 24 * (size_t)leaf);
    IntRow found = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int c = 0; c < 3; ++c) {
        const int v = q[8 * c];
        if (c > 0 && v == q[8 * (c - 1)])
            continue; // it has fewer than three
        for (int k = start.data[v]; k < start.data[v + 1]; ++k) {
            const int w = neighbors.data[k];
            found |= (p[0] == w) | (p[1] == w) | (p[2] == w);
        }
    }
    return __builtin_bit_cast(unsigned char, __builtin_convertvector(found != 0, BitRow));
#else
    const int* p = corners.data + 24 * (size_t)leaf;
    unsigned int out = 0;
    for (int c = 0; c < 3; ++c)
        for (int k = start.data[q[8 * c]]; k < start.data[q[8 * c] + 1]; ++k)
            for (int j = 0; j < 24; ++j)
                if (p[j] == neighbors.data[k])
                    out |= 1u << (j % 8);
    return out;
#endif
}

// Return the bits of the primitives of a leaf, corners (leaves,3,8), that have a vertex of
// primitive `number` of leaf `other`. Native for the reason of overlap_mask_of_box.
uint32 sharing(wp::array_t<int> corners, int leaf, wp::array_t<int> others, int other, int number) {
    const int* q = others.data + 24 * (size_t)other + number;
    const int a = q[0], b = q[8], c = q[16];
#if defined(__clang__) && !defined(__CUDACC__)
    const IntRow* p = (const IntRow*)(corners.data + 24 * (size_t)leaf);
    const BitRow out =
        __builtin_convertvector((p[0] == a) | (p[0] == b) | (p[0] == c) | (p[1] == a) | (p[1] == b)
                                    | (p[1] == c) | (p[2] == a) | (p[2] == b) | (p[2] == c),
                                BitRow);
    return __builtin_bit_cast(unsigned char, out);
#else
    const int* p = corners.data + 24 * (size_t)leaf;
    unsigned int out = 0;
    for (int k = 0; k < 24; ++k)
        if (p[k] == a || p[k] == b || p[k] == c)
            out |= 1u << (k % 8);
    return out;
#endif
}
