// Axis-aligned boxes in single precision around points and leaves (weft.contact.broad_phase.aabb).
#pragma once

#include "types.h"

// Round to a float slightly below x, always: a branch that asks whether this is necessary cannot be
// predicted.
inline float round_down(Scalar x) {
    const float r = (float)x;
    return r - wp::abs(r) * 1.2e-7f - 1e-37f;
}

// Write the box low[v], high[v] of a point that lies between below[v] and above[v] [m], moved by
// way[v] where it is not empty, and larger by `grow` [m]. Where `middle` is not empty, also write
// the center and the radius: rounded to single precision, points may be off by 8e-7 of their
// largest coordinates in what separating_axis.h computes from them; 2e-6 is more than that.
// Native, because Warp's index checks keep the loop over coordinates from vector instructions.
void put_rounded(int v, wp::array_t<vec3> below, wp::array_t<vec3> above, wp::array_t<vec3> way,
                 Scalar grow, wp::array_t<vec4f> low, wp::array_t<vec4f> high,
                 wp::array_t<vec4f> middle) {
    const Scalar *p = (const Scalar*)(below.data + v), *q = (const Scalar*)(above.data + v);
    const Scalar* w = way.shape[0] ? (const Scalar*)(way.data + v) : nullptr;
    float *a = (float*)(low.data + v), *b = (float*)(high.data + v);
    Scalar square = 0.0, largest = 0.0;
    for (int c = 0; c < 3; ++c) {
        const Scalar along = w ? w[c] : 0.0, half = 0.5 * (q[c] - p[c]);
        a[c] = round_down(p[c] + along - grow);
        b[c] = -round_down(-(q[c] + along) - grow);
        const Scalar x = p[c] + half + along;
        square += half * half;
        largest = wp::max(largest, wp::abs(x));
        if (middle.shape[0])
            ((float*)(middle.data + v))[c] = (float)x;
    }
    if (middle.shape[0])
        ((float*)(middle.data + v))[3] =
            (float)((square > 0.0 ? wp::sqrt(square) : 0.0) + 2e-6 * largest) * (1.0f + 2e-7f);
}

// Write the boxes of the primitives of a leaf (eight, of which `count` exist) whose bits are set,
// from the boxes low, high of their vertices ids (n,k), to boxes (leaves,6,8); the box of the whole
// leaf to node_low, node_high; and their vertices with a radius to places (leaves,3k+1,8) where it
// is not empty. Native, because a leaf is written coordinate by coordinate, which takes Warp four
// times as long.
void put_leaf(int leaf, int node, int first, int count, uint32 bits, wp::array_t<int> ids,
              wp::array_t<vec4f> low, wp::array_t<vec4f> high, wp::array_t<vec4f> middle,
              wp::array_t<float> boxes, wp::array_t<float> places, wp::array_t<vec3f> node_low,
              wp::array_t<vec3f> node_high) {
    const int corners = (int)ids.shape[1];
    const bool looked = places.shape[0] > 0;
    float* box = boxes.data + 48 * (size_t)leaf;
    float* place = looked ? places.data + 8 * (3 * corners + 1) * (size_t)leaf : nullptr;
    for (int k = 0; k < 8; ++k) {
        if (!(bits >> k & 1u))
            continue;
        if (k >= count) {
            for (int c = 0; c < 3; ++c) {
                box[8 * c + k] = INFINITY;
                box[8 * (c + 3) + k] = -INFINITY;
            }
            continue;
        }
        const int* v = ids.data + ((size_t)first + k) * corners;
        const float *a = (const float*)(low.data + v[0]), *b = (const float*)(high.data + v[0]);
        float small[4] = {a[0], a[1], a[2], a[3]}, large[4] = {b[0], b[1], b[2], b[3]};
        for (int j = 1; j < corners; ++j) {
            a = (const float*)(low.data + v[j]);
            b = (const float*)(high.data + v[j]);
            for (int c = 0; c < 4; ++c) {
                small[c] = a[c] < small[c] ? a[c] : small[c];
                large[c] = b[c] > large[c] ? b[c] : large[c];
            }
        }
        for (int c = 0; c < 3; ++c) {
            box[8 * c + k] = small[c];
            box[8 * (c + 3) + k] = large[c];
        }
        if (looked) {
            float beside = 0.0f;
            for (int j = 0; j < corners; ++j) {
                const float* m = (const float*)(middle.data + v[j]);
                for (int c = 0; c < 3; ++c)
                    place[8 * (3 * j + c) + k] = m[c];
                beside = m[3] > beside ? m[3] : beside;
            }
            place[24 * corners + k] = beside;
        }
    }
    for (int c = 0; c < 3; ++c) {
        float *a = box + 8 * c, *b = box + 8 * (c + 3), small = a[0], large = b[0];
        for (int k = 1; k < 8; ++k) {
            small = a[k] < small ? a[k] : small;
            large = b[k] > large ? b[k] : large;
        }
        ((float*)(node_low.data + node))[c] = small;
        ((float*)(node_high.data + node))[c] = large;
    }
}
