// Sums over 3x3 blocks of a sparse matrix (weft.solve.sparse.block_arithmetic).
//
// Native, because compilers do not find these vector instructions: rows are read as they stand in
// memory, the nine numbers of a block times the vector three times over, eight of them at once.
#pragma once

#include "types.h"

#if defined(__clang__) && !defined(__CUDA_ARCH__)
typedef float EightFloats __attribute__((vector_size(32), aligned(4), may_alias));
typedef Scalar EightScalars __attribute__((vector_size(8 * sizeof(Scalar)), aligned(8), may_alias));
#endif

// Return the sum of B[block(k)] X[J[k]], first <= k < end, in two sums that do not wait for each
// other; `zero` has the type of the numbers.
inline auto multiply_row(int first, int end, const int* J, const auto* B, const auto* X, auto block,
                         auto zero) {
    using Real = decltype(zero);
#if defined(__clang__) && !defined(__CUDA_ARCH__)
    typedef Real Four __attribute__((vector_size(4 * sizeof(Real)), aligned(sizeof(Real))));
    typedef Real Eight __attribute__((vector_size(8 * sizeof(Real)), aligned(sizeof(Real))));
    Eight sum = {0}, other = {0};
    Real last = 0, last_other = 0;
    int k = first;
    for (; k + 1 < end; k += 2) {
        const Real* p = X + 3 * (long long)J[k];
        const Real* q = X + 3 * (long long)J[k + 1];
        const Real* A = B + 9 * (long long)block(k);
        const Real* C = B + 9 * (long long)block(k + 1);
        const Four u = {p[0], p[1], p[2], 0}, v = {q[0], q[1], q[2], 0};
        sum += *(const Eight*)A * __builtin_shufflevector(u, u, 0, 1, 2, 0, 1, 2, 0, 1);
        other += *(const Eight*)C * __builtin_shufflevector(v, v, 0, 1, 2, 0, 1, 2, 0, 1);
        last += A[8] * p[2];
        last_other += C[8] * q[2];
    }
    if (k < end) {
        const Real* p = X + 3 * (long long)J[k];
        const Real* A = B + 9 * (long long)block(k);
        const Four u = {p[0], p[1], p[2], 0};
        sum += *(const Eight*)A * __builtin_shufflevector(u, u, 0, 1, 2, 0, 1, 2, 0, 1);
        last += A[8] * p[2];
    }
    sum += other;
    return wp::vec_t<3, Real>(sum[0] + sum[1] + sum[2], sum[3] + sum[4] + sum[5],
                              sum[6] + sum[7] + (last + last_other));
#else
    Real y0 = 0, y1 = 0, y2 = 0;
    for (int k = first; k < end; k++) {
        const Real* p = X + 3 * (long long)J[k];
        const Real* A = B + 9 * (long long)block(k);
        y0 += A[0] * p[0] + A[1] * p[1] + A[2] * p[2];
        y1 += A[3] * p[0] + A[4] * p[1] + A[5] * p[2];
        y2 += A[6] * p[0] + A[7] * p[1] + A[8] * p[2];
    }
    return wp::vec_t<3, Real>(y0, y1, y2);
#endif
}

// Return the sum of values[k] x[column[k]], first <= k < end, in float32.
vec3f row_times(int first, int end, wp::array_t<int> column, wp::array_t<mat33f> values,
                wp::array_t<vec3f> x) {
    auto block = [](int k) { return k; };
    return multiply_row(first, end, (const int*)column.data, (const float*)values.data,
                        (const float*)x.data, block, 0.0f);
}

// Return the sum of values[index[k]] x[column[k]], first <= k < end.
vec3 row_times_double(int first, int end, wp::array_t<int> column, wp::array_t<int> index,
                      wp::array_t<mat33> values, wp::array_t<vec3> x) {
    auto block = [&index](int k) { return ((const int*)index.data)[k]; };
    return multiply_row(first, end, (const int*)column.data, (const Scalar*)values.data,
                        (const Scalar*)x.data, block, (Scalar)0);
}

// Write out[at] = values[b] in float32; return 0 if it is a block of zeros.
int take_block(wp::array_t<mat33> values, int b, wp::array_t<mat33f> out, int at) {
    const Scalar* B = (const Scalar*)values.data + 9 * (long long)b;
    float* F = (float*)out.data + 9 * (long long)at;
#if defined(__clang__) && !defined(__CUDA_ARCH__)
    const EightScalars part = *(const EightScalars*)B;
    const Scalar last = B[8];
    *(EightFloats*)F = __builtin_convertvector(part, EightFloats);
    F[8] = (float)last;
    return (__builtin_reduce_or(part != 0.0) != 0) | (last != 0.0);
#else
    int any = 0;
    for (int i = 0; i < 9; i++) {
        any |= B[i] != 0.0;
        F[i] = (float)B[i];
    }
    return any;
#endif
}

// Write values[at] = values[b], at <= b; return 0 if it is a block of zeros.
int move_block(wp::array_t<mat33f> values, int b, int at) {
    const float* B = (const float*)values.data + 9 * (long long)b;
    float* F = (float*)values.data + 9 * (long long)at;
#if defined(__clang__) && !defined(__CUDA_ARCH__)
    const EightFloats part = *(const EightFloats*)B;
    const float last = B[8];
    *(EightFloats*)F = part;
    F[8] = last;
    return (__builtin_reduce_or(part != 0.0f) != 0) | (last != 0.0f);
#else
    int any = 0;
    for (int i = 0; i < 9; i++) {
        const float part = B[i];
        any |= part != 0.0f;
        F[i] = part;
    }
    return any;
#endif
}

// Write values[k] = 0, first <= k < end.
void clear_blocks(wp::array_t<mat33f> values, int first, int end) {
    float* F = (float*)values.data + 9 * (long long)first;
    const int n = 9 * (end - first);
    for (int i = 0; i < n; i++)
        F[i] = 0.0f;
}

// Add w B to a block F.
inline void add_block(float w, const float* B, float* F) {
#if defined(__clang__) && !defined(__CUDA_ARCH__)
    *(EightFloats*)F += w * *(const EightFloats*)B;
    F[8] += w * B[8];
#else
    for (int i = 0; i < 9; i++)
        F[i] += w * B[i];
#endif
}

// Add weight[k] values[b], first <= k < end, to the blocks base + slot[product + k - first] of out.
void add_to_many(int b, wp::array_t<mat33f> values, int first, int end, wp::array_t<float> weight,
                 int product, wp::array_t<uint16> slot, int base, wp::array_t<mat33f> out) {
    const unsigned short* S = (const unsigned short*)slot.data;
    const float* W = (const float*)weight.data;
    const float* B = (const float*)values.data + 9 * (long long)b;
    int p = product;
    for (int k = first; k < end; k++, p++)
        add_block(W[k], B, (float*)out.data + 9 * (long long)(base + S[p]));
}

// Add w values[k], first <= k < end, to the blocks base + slot[product + k - first] of out.
void add_many(float w, wp::array_t<mat33f> values, int first, int end, int product,
              wp::array_t<uint16> slot, int base, wp::array_t<mat33f> out) {
    const unsigned short* S = (const unsigned short*)slot.data;
    int p = product;
    for (int k = first; k < end; k++, p++) {
        const float* B = (const float*)values.data + 9 * (long long)k;
        add_block(w, B, (float*)out.data + 9 * (long long)(base + S[p]));
    }
}
