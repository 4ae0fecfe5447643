"""Kernels of the Cholesky factorization of several matrices of one pattern side by side.

Every scalar of the algorithm is a vector of as many numbers as there are lanes, one of each matrix,
so that the compiler emits whole vector registers and no matrix depends on the others. Blocks are
3x3, stored as nine scalars row by row.
"""

from functools import cache
from typing import NamedTuple

import warp as wp

from weft.kernel import (
    DataType,
    IntArray,
    Kernel,
    Mat33Array,
    Scalar,
    ScalarArray3d,
    Vec3Array,
    WarpFunction,
    vec3,
)

LANES = 8


class LaneKernels(NamedTuple):
    """The kernels for a number of lanes, and the type of their vectors."""

    dtype: DataType
    pack_matrices: Kernel
    pack_vectors: Kernel
    unpack_vectors: Kernel
    factorize: Kernel
    substitute: Kernel


@cache
def lane_kernels(width: int) -> LaneKernels:
    """Return the kernels for ``width`` matrices side by side; a matrix has the same bits for every
    width.
    """
    Lanes = wp.types.vector(length=width, dtype=Scalar)
    packing, less = make_packing_kernels(width), make_less(Lanes)
    factorize, substitute = make_factorize(width, Lanes, less), make_substitute(width, Lanes, less)
    return LaneKernels(Lanes, *packing, factorize, substitute)


def make_packing_kernels(width: int) -> tuple[Kernel, Kernel, Kernel]:
    """Return the kernels that copy matrices and vectors into lanes, and vectors back."""
    module = wp.get_module(f"weft.lanes.{width}")

    @wp.kernel(module=module)
    def pack_matrices(o: int, values: Mat33Array, block: IntArray, blocks: int, out: ScalarArray3d):
        """Copy the needed blocks (e,) of each matrix into its lane of ``out`` (g,9e,width)."""
        i = o + wp.tid()
        w = i / block.shape[0]
        e = i - w * block.shape[0]
        b = values[w * blocks + block[e]]
        for r in range(3):
            for c in range(3):
                out[w / width, 9 * e + 3 * r + c, w % width] = b[r, c]

    @wp.kernel(module=module)
    def pack_vectors(o: int, b: Vec3Array, place: IntArray, out: ScalarArray3d):
        """Copy each matrix's vector into its lane of ``out`` (g,3n,width), in elimination order."""
        i = o + wp.tid()
        n = place.shape[0]
        w = i / n
        at = place[i - w * n]
        for k in range(3):
            out[w / width, 3 * at + k, w % width] = b[i][k]

    @wp.kernel(module=module)
    def unpack_vectors(o: int, x: ScalarArray3d, place: IntArray, out: Vec3Array):
        """Copy the lanes of x (g,3n,width) back into vectors, in the order of the rows."""
        i = o + wp.tid()
        n = place.shape[0]
        w = i / n
        at = place[i - w * n]
        lane = w % width
        g = w / width
        out[i] = vec3(x[g, 3 * at, lane], x[g, 3 * at + 1, lane], x[g, 3 * at + 2, lane])

    return pack_matrices, pack_vectors, unpack_vectors


def make_less(Lanes: DataType) -> WarpFunction:
    """Return the function that subtracts a product."""

    @wp.func
    def less(a: Lanes, b: Lanes, c: Lanes):
        """Return a - b c, lane by lane."""
        return a - wp.cw_mul(b, c)

    return less


def make_factorize(width: int, Lanes: DataType, less: WarpFunction) -> Kernel:
    """Return the kernel that factorizes."""
    module = wp.get_module(f"weft.lanes.{width}")

    @wp.func
    def root_inv(a: Lanes):
        """Return 1/sqrt(a), lane by lane."""
        r = Lanes()
        for k in range(width):
            r[k] = Scalar(1.0) / wp.sqrt(a[k])
        return r

    @wp.func
    def least_pivot(low: Lanes, a: Lanes):
        """Return the smallest pivot so far; one that is not positive, or NaN, is recorded as -1."""
        r = low
        for k in range(width):
            if a[k] > Scalar(0.0):
                r[k] = wp.min(low[k], a[k])
            else:
                r[k] = Scalar(-1.0)
        return r

    @wp.kernel(module=module)
    def factorize(
        o: int,
        start: IntArray,
        left: IntArray,
        right: IntArray,
        diagonal: IntArray,
        source: IntArray,
        A: wp.array2d(dtype=Lanes),
        L: wp.array2d(dtype=Lanes),
        pivot: wp.array(dtype=Lanes),
    ):
        """Factorize the matrices; block t of L is (A_t - sum_u L_left[u] L_right[u]^T) L_jj^-T.

        A block on the diagonal is the Cholesky factor of that difference instead, and stores the
        inverse of its own diagonal entries, so that substitution needs no division. ``pivot`` is
        the smallest pivot.
        """
        g = o + wp.tid()
        zero = Lanes(Scalar(0.0))
        low = Lanes(Scalar(wp.inf))
        for t in range(diagonal.shape[0]):
            a0 = zero
            a1 = zero
            a2 = zero
            a3 = zero
            a4 = zero
            a5 = zero
            a6 = zero
            a7 = zero
            a8 = zero
            s = 9 * source[t]
            if s >= 0:
                a0 = A[g, s]
                a1 = A[g, s + 1]
                a2 = A[g, s + 2]
                a3 = A[g, s + 3]
                a4 = A[g, s + 4]
                a5 = A[g, s + 5]
                a6 = A[g, s + 6]
                a7 = A[g, s + 7]
                a8 = A[g, s + 8]
            for u in range(start[t], start[t + 1]):
                p = 9 * left[u]
                q = 9 * right[u]
                for c in range(3):
                    x = L[g, p + c]
                    y = L[g, p + 3 + c]
                    z = L[g, p + 6 + c]
                    r0 = L[g, q + c]
                    a0 = less(a0, x, r0)
                    a3 = less(a3, y, r0)
                    a6 = less(a6, z, r0)
                    r1 = L[g, q + 3 + c]
                    a1 = less(a1, x, r1)
                    a4 = less(a4, y, r1)
                    a7 = less(a7, z, r1)
                    r2 = L[g, q + 6 + c]
                    a2 = less(a2, x, r2)
                    a5 = less(a5, y, r2)
                    a8 = less(a8, z, r2)
            d = 9 * diagonal[t]
            if diagonal[t] == t:
                low = least_pivot(low, a0)
                a0 = root_inv(a0)
                a3 = wp.cw_mul(a3, a0)
                a6 = wp.cw_mul(a6, a0)
                a4 = less(a4, a3, a3)
                low = least_pivot(low, a4)
                a4 = root_inv(a4)
                a7 = wp.cw_mul(less(a7, a6, a3), a4)
                a8 = less(less(a8, a6, a6), a7, a7)
                low = least_pivot(low, a8)
                a8 = root_inv(a8)
            else:
                i0 = L[g, d]
                l10 = L[g, d + 3]
                i1 = L[g, d + 4]
                l20 = L[g, d + 6]
                l21 = L[g, d + 7]
                i2 = L[g, d + 8]
                a0 = wp.cw_mul(a0, i0)
                a3 = wp.cw_mul(a3, i0)
                a6 = wp.cw_mul(a6, i0)
                a1 = wp.cw_mul(less(a1, a0, l10), i1)
                a4 = wp.cw_mul(less(a4, a3, l10), i1)
                a7 = wp.cw_mul(less(a7, a6, l10), i1)
                a2 = wp.cw_mul(less(less(a2, a0, l20), a1, l21), i2)
                a5 = wp.cw_mul(less(less(a5, a3, l20), a4, l21), i2)
                a8 = wp.cw_mul(less(less(a8, a6, l20), a7, l21), i2)
            to = 9 * t
            L[g, to] = a0
            L[g, to + 1] = a1
            L[g, to + 2] = a2
            L[g, to + 3] = a3
            L[g, to + 4] = a4
            L[g, to + 5] = a5
            L[g, to + 6] = a6
            L[g, to + 7] = a7
            L[g, to + 8] = a8
        pivot[g] = low

    return factorize


def make_substitute(width: int, Lanes: DataType, less: WarpFunction) -> Kernel:
    """Return the kernel that solves with factors."""
    module = wp.get_module(f"weft.lanes.{width}")

    @wp.kernel(module=module)
    def substitute(
        o: int,
        row_start: IntArray,
        row_block: IntArray,
        row_column: IntArray,
        first: IntArray,
        row_of: IntArray,
        L: wp.array2d(dtype=Lanes),
        x: wp.array2d(dtype=Lanes),
    ):
        """Solve by forward and backward substitution, x = L^-T L^-1 x.

        Blocks of column j are first[j], the diagonal, to before first[j+1].
        """
        g = o + wp.tid()
        n = first.shape[0] - 1
        for j in range(n):
            y0 = x[g, 3 * j]
            y1 = x[g, 3 * j + 1]
            y2 = x[g, 3 * j + 2]
            for u in range(row_start[j], row_start[j + 1]):
                p = 9 * row_block[u]
                k = 3 * row_column[u]
                for c in range(3):
                    v = x[g, k + c]
                    y0 = less(y0, L[g, p + c], v)
                    y1 = less(y1, L[g, p + 3 + c], v)
                    y2 = less(y2, L[g, p + 6 + c], v)
            d = 9 * first[j]
            y0 = wp.cw_mul(y0, L[g, d])
            y1 = wp.cw_mul(less(y1, L[g, d + 3], y0), L[g, d + 4])
            y2 = wp.cw_mul(less(less(y2, L[g, d + 6], y0), L[g, d + 7], y1), L[g, d + 8])
            x[g, 3 * j] = y0
            x[g, 3 * j + 1] = y1
            x[g, 3 * j + 2] = y2
        for m in range(n):
            j = n - 1 - m
            z0 = x[g, 3 * j]
            z1 = x[g, 3 * j + 1]
            z2 = x[g, 3 * j + 2]
            for u in range(first[j] + 1, first[j + 1]):
                p = 9 * u
                k = 3 * row_of[u]
                for c in range(3):
                    v = x[g, k + c]
                    z0 = less(z0, L[g, p + 3 * c], v)
                    z1 = less(z1, L[g, p + 3 * c + 1], v)
                    z2 = less(z2, L[g, p + 3 * c + 2], v)
            d = 9 * first[j]
            z2 = wp.cw_mul(z2, L[g, d + 8])
            z1 = wp.cw_mul(less(z1, L[g, d + 7], z2), L[g, d + 4])
            z0 = wp.cw_mul(less(less(z0, L[g, d + 3], z1), L[g, d + 6], z2), L[g, d])
            x[g, 3 * j] = z0
            x[g, 3 * j + 1] = z1
            x[g, 3 * j + 2] = z2

    return substitute
