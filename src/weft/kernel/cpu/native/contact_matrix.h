// Blocks of contact pairs, added to the rows of a matrix (weft.contact.assembly.contact_matrix).
#pragma once

#include "types.h"

// Write out[b] = values[source[b]] (3x3 blocks), or zero where source[b] < 0, for first <= b < end.
// Native, because Warp copies a matrix by its elements with index checks.
void copy_row(int first, int end, wp::array_t<int> source, wp::array_t<mat33> values,
              wp::array_t<mat33> out) {
    for (int b = first; b < end; ++b) {
        Scalar* to = (Scalar*)out.data + 9 * (size_t)b;
        const int s = source.data[b];
        if (s < 0) {
            for (int k = 0; k < 9; ++k)
                to[k] = 0.0;
        } else {
            const Scalar* from = (const Scalar*)values.data + 9 * (size_t)s;
            for (int k = 0; k < 9; ++k)
                to[k] = from[k];
        }
    }
}

// Return the block of a column in a row first ... end-1 whose columns ascend; null, and `lacks` is
// 1, if it has none. On the CPU the smaller columns are counted, many at a time, because a search
// by halves is predicted wrong at every turn.
inline Scalar* find_block(int wanted, int first, int end, const int* column, Scalar* values,
                          int& lacks) {
    int low = first, high = end;
#ifdef __CUDA_ARCH__
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (column[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
#else
    for (int k = first; k < high; ++k)
        low += column[k] < wanted;
#endif
    const bool there = low < end && column[low] == wanted;
    lacks |= !there;
    return there ? values + 9 * (size_t)low : nullptr;
}

// Add sum over r of f_r[a] f_r[b]^T to row a of pair i, first ... end-1, for each vertex b < n of
// stencil (m,4), from the factors local (m,r,4). Return 1 if the row lacks a block that is not
// zero. Native, because of find_block.
int add_factored(wp::array_t<vec3> local, int i, int a, wp::array_t<int> stencil, int n, int first,
                 int end, wp::array_t<int> column, wp::array_t<mat33> values) {
    const int* v = stencil.data + 4 * (size_t)i;
    int lacks = 0;
    int rounds = (int)local.shape[1];
    const Scalar* f = (const Scalar*)local.data + 12 * (size_t)rounds * i;
    auto is_zero = [=](int r) {
        for (int k = 0; k < 12; ++k)
            if (f[12 * r + k] != 0.0)
                return false;
        return true;
    };
    while (rounds > 0 && is_zero(rounds - 1))  // most pairs have fewer factors
        --rounds;
    auto none = [=](int b) {
        bool out = true;
        for (int r = 0; r < rounds; ++r)
            for (int k = 0; k < 3; ++k)
                out &= f[12 * r + 3 * b + k] == 0.0;
        return out;
    };
    if (none(a))
        return 0;
    for (int b = 0; b < 4; ++b) {
        Scalar* out = v[b] >= n || none(b)
                          ? nullptr
                          : find_block(v[b], first, end, column.data, (Scalar*)values.data, lacks);
        if (out == nullptr)
            continue;
        Scalar block[9] = {};
        for (int r = 0; r < rounds; ++r) {
            const Scalar *p = f + 12 * r + 3 * a, *q = f + 12 * r + 3 * b;
            for (int k = 0; k < 9; ++k) {
                const Scalar product = p[k / 3] * q[k % 3];
                block[k] += product;
            }
        }
        for (int k = 0; k < 9; ++k)
            out[k] += block[k];
    }
    return lacks;
}

// Add the blocks local[i,a,b] of (m,4,4) to row a of pair i, as add_factored does.
int add_given(wp::array_t<mat33> local, int i, int a, wp::array_t<int> stencil, int n, int first,
              int end, wp::array_t<int> column, wp::array_t<mat33> values) {
    const int* v = stencil.data + 4 * (size_t)i;
    int lacks = 0;
    const Scalar* in = (const Scalar*)local.data + 36 * (4 * (size_t)i + a);
    for (int b = 0; b < 4; ++b, in += 9) {
        Scalar* out = v[b] >= n
                          ? nullptr
                          : find_block(v[b], first, end, column.data, (Scalar*)values.data, lacks);
        if (out != nullptr)
            for (int k = 0; k < 9; ++k)
                out[k] += in[k];
    }
    return lacks;
}
