// Axis-aligned boxes in single precision around points and leaves (weft.contact.broad_phase.aabb).
#pragma once

#include "contact_structs.h"

// Round to a float slightly below x, always: a branch that asks whether this is necessary cannot be
// predicted.
inline float round_down(Scalar x) {
    const float r = (float)x;
    return r - wp::abs(r) * 1.2e-7f - 1e-37f;
}

// Write the box of a point that lies between below[v] and above[v] [m], moved by way[v] where it is
// not empty, and larger by `grow` and, where it is not empty, by radius[v] [m]. Where there is room for middles, also write the center and
// the radius: rounded to single precision, points may be off by 8e-7 of their
// largest coordinates in what separating_axis.h computes from them; 2e-6 is more than that.
// Native, because Warp's index checks keep the loop over coordinates from vector instructions.
void write_rounded(int v, wp::array_t<vec3> below, wp::array_t<vec3> above, wp::array_t<vec3> way,
                 wp::array_t<Scalar> radius, Scalar grow, PointBoxes out) {
    const Scalar own = radius.shape[0] ? radius.data[v] : 0.0, more = grow + own;
    const Scalar *p = (const Scalar*)(below.data + v), *q = (const Scalar*)(above.data + v);
    const Scalar* w = way.shape[0] ? (const Scalar*)(way.data + v) : nullptr;
    float *a = (float*)(out.low.data + v), *b = (float*)(out.high.data + v);
    float* middle = out.middle.shape[0] ? (float*)(out.middle.data + v) : nullptr;
    Scalar square = 0.0, largest = 0.0;
    for (int c = 0; c < 3; ++c) {
        const Scalar along = w ? w[c] : 0.0, half = 0.5 * (q[c] - p[c]);
        a[c] = round_down(p[c] + along - more);
        b[c] = -round_down(-(q[c] + along) - more);
        const Scalar x = p[c] + half + along;
        square += half * half;
        largest = wp::max(largest, wp::abs(x));
        if (middle)
            middle[c] = (float)x;
    }
    if (middle)
        middle[3] =
            (float)((square > 0.0 ? wp::sqrt(square) : 0.0) + own + 2e-6 * largest) * (1.0f + 2e-7f);
}

// Write the boxes of the primitives of a leaf (up to eight) whose bits are set, from the boxes of
// their vertices; the box of the whole leaf to that of its node; and their vertices with a radius
// to places where there is room for them. Native, because a leaf is written coordinate by coordinate, which takes Warp four
// times as long.
void write_leaf(int leaf, uint32 bits, PointBoxes points, TreeBoxes boxes, Bounds out) {
    const int first = boxes.layout.start.data[leaf];
    const int count = boxes.layout.start.data[leaf + 1] - first;
    const int node = boxes.layout.node.data[leaf], corners = (int)boxes.ids.shape[1];
    const bool looked = out.places.shape[0] > 0;
    float* box = out.boxes.data + 48 * (size_t)leaf;
    float* place = looked ? out.places.data + 8 * (3 * corners + 1) * (size_t)leaf : nullptr;
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
        const int* v = boxes.ids.data + ((size_t)first + k) * corners;
        const float* a = (const float*)(points.low.data + v[0]);
        const float* b = (const float*)(points.high.data + v[0]);
        float small[4] = {a[0], a[1], a[2], a[3]}, large[4] = {b[0], b[1], b[2], b[3]};
        for (int j = 1; j < corners; ++j) {
            a = (const float*)(points.low.data + v[j]);
            b = (const float*)(points.high.data + v[j]);
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
                const float* m = (const float*)(points.middle.data + v[j]);
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
        ((float*)(out.low.data + node))[c] = small;
        ((float*)(out.high.data + node))[c] = large;
    }
}
