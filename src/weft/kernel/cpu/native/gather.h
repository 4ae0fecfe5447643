// Row a of an element's Hessian, added to the rows of a matrix (weft.energies.gather).
//
// blocks (n,k) are the numbers of the 3x3 blocks of row m in `values`, one for each vertex of the
// element. Native, because Warp computes with copies of matrices: a fifth to a third more time.
#pragma once

#include "types.h"

// Return the block of the matrix for vertex b of an element, whose blocks are at[0], at[1], ...
inline Scalar* block_of(Scalar* values, const int* at, int b) {
    return values + 9 * (size_t)at[b];
}

// Add from the blocks on and above the diagonal, local (m,k(k+1)/2).
void add_packed(wp::array_t<mat33> local, int i, int a, wp::array_t<int> blocks, int m,
                wp::array_t<mat33> values) {
    const int k = (int)blocks.shape[1];
    const int* at = blocks.data + (size_t)m * k;
    const Scalar* of = (const Scalar*)local.data + (size_t)i * (k * (k + 1) / 2) * 9;
    for (int b = 0; b < k; ++b) {
        Scalar* out = block_of((Scalar*)values.data, at, b);
        const int low = a < b ? a : b, high = a < b ? b : a;
        const Scalar* in = of + 9 * ((k - 1) * low - low * (low - 1) / 2 + high);
        if (a <= b) {
            for (int e = 0; e < 9; ++e)
                out[e] += in[e];
        } else {
            for (int r = 0; r < 3; ++r)
                for (int c = 0; c < 3; ++c)
                    out[3 * r + c] += in[3 * c + r];
        }
    }
}

// Add f_a f_b^T of the factors local (m,k) for every vertex b.
void add_factor(wp::array_t<vec3> local, int i, int a, wp::array_t<int> blocks, int m,
                wp::array_t<mat33> values) {
    const int k = (int)blocks.shape[1];
    const int* at = blocks.data + (size_t)m * k;
    const Scalar* g = (const Scalar*)local.data + (size_t)i * k * 3;
    const Scalar f0 = g[3 * a], f1 = g[3 * a + 1], f2 = g[3 * a + 2];
    for (int b = 0; b < k; ++b, g += 3) {
        const Scalar g0 = g[0], g1 = g[1], g2 = g[2];
        Scalar* out = block_of((Scalar*)values.data, at, b);
        out[0] += f0 * g0;
        out[1] += f0 * g1;
        out[2] += f0 * g2;
        out[3] += f1 * g0;
        out[4] += f1 * g1;
        out[5] += f1 * g2;
        out[6] += f2 * g0;
        out[7] += f2 * g1;
        out[8] += f2 * g2;
    }
}

// Add the blocks local[i,a,b] of (m,k,k).
void add_full(wp::array_t<mat33> local, int i, int a, wp::array_t<int> blocks, int m,
              wp::array_t<mat33> values) {
    const int k = (int)blocks.shape[1];
    const int* at = blocks.data + (size_t)m * k;
    const Scalar* in = (const Scalar*)local.data + ((size_t)i * k + a) * k * 9;
    for (int b = 0; b < k; ++b, in += 9) {
        Scalar* out = block_of((Scalar*)values.data, at, b);
        for (int e = 0; e < 9; ++e)
            out[e] += in[e];
    }
}

// Add w_q dN_a . H_q . dN_b of every vertex b, with dN (q,k,2), H (q,3) blocks uu, uv, vv and the
// weights (q,) of a structure `local` (Kim 2020, eq. 20).
void add_sampled(auto local, int q, int a, wp::array_t<int> blocks, int m,
                 wp::array_t<mat33> values) {
    const int k = (int)blocks.shape[1];
    const int* at = blocks.data + (size_t)m * k;
    const Scalar* H = (const Scalar*)local.H.data + (size_t)q * 27;
    const Scalar* dN = (const Scalar*)local.dN.data + (size_t)q * k * 2;
    const Scalar w = local.scale * local.weight.data[q];
    const Scalar du = w * dN[2 * a], dv = w * dN[2 * a + 1];
    Scalar u[9], v[9];
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c) {
            u[3 * r + c] = du * H[3 * r + c] + dv * H[9 + 3 * c + r];
            v[3 * r + c] = du * H[9 + 3 * r + c] + dv * H[18 + 3 * r + c];
        }
    for (int b = 0; b < k; ++b, dN += 2) {
        const Scalar su = dN[0], sv = dN[1];
        Scalar* out = block_of((Scalar*)values.data, at, b);
        for (int e = 0; e < 9; ++e)
            out[e] += su * u[e] + sv * v[e];
    }
}

// Add scale N_a N_b K_q of every vertex b, with N (q,k) and blocks K (q,) of a structure `local`.
void add_shared(auto local, int q, int a, wp::array_t<int> blocks, int m,
                wp::array_t<mat33> values) {
    const int k = (int)blocks.shape[1];
    const int* at = blocks.data + (size_t)m * k;
    const Scalar* K = (const Scalar*)local.K.data + (size_t)q * 9;
    const Scalar* N = local.N.data + (size_t)q * k;
    const Scalar scale = local.scale * N[a];
    for (int b = 0; b < k; ++b) {
        const Scalar s = scale * N[b];
        Scalar* out = block_of((Scalar*)values.data, at, b);
        for (int e = 0; e < 9; ++e)
            out[e] += s * K[e];
    }
}
