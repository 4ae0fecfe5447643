"""Kernels for the coarsest matrix of multigrid, which is stored dense."""

from typing import Any

import warp as wp

from weft.kernel import Mat33Array2d, Scalar, mat33
from weft.solve.sparse.block_arithmetic import blocks, ints

_module = wp.get_module("weft.multigrid")
square: Any = wp.array2d(dtype=Scalar)


@wp.kernel(module=_module)
def dense_matrix(o: int, start: ints, end: ints, column: ints, values: blocks, out: Mat33Array2d):
    """Write row v of a sparse matrix as a dense row of 3x3 blocks in float64."""
    v = o + wp.tid()
    for j in range(out.shape[1]):
        out[v, j] = mat33(wp.float64(0.0))
    for k in range(start[v], end[v]):
        out[v, column[k]] = mat33(values[k])


@wp.func
def product_of(a: square, i: int, j: int, first: int, end: int):
    """Return the dot product of rows i and j of a, from column ``first`` to before ``end``."""
    sum = Scalar(0.0)
    for k in range(first, end):
        sum += a[i, k] * a[j, k]
    return sum


@wp.kernel(module=_module)
def invert(
    o: int,
    shift: Scalar,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    a: square,
    out: wp.array2d(dtype=wp.mat33f),
    definite: ints,
):
    """Invert a small matrix in float64 by Cholesky factorization, in one thread.

    The diagonal is first multiplied by 1 + ``shift``. ``definite[0]`` is 0 if a pivot is not
    positive and finite; then ``out`` is not written.
    """
    m = a.shape[0]
    for i in range(o, m):
        for j in range(m):
            a[i, j] = Scalar(0.0)
    for v in range(out.shape[0]):
        for k in range(start[v], end[v]):
            for r in range(3):
                for c in range(3):
                    a[3 * v + r, 3 * column[k] + c] = Scalar(values[k][r, c])
    definite[0] = 0
    # Factorize the symmetric part of the matrix in place. The factor is written on and below the
    # diagonal; entries right of it are still those of the matrix.
    for i in range(m):
        for j in range(i):
            full = Scalar(0.5) * (a[i, j] + a[j, i])
            a[i, j] = (full - product_of(a, i, j, 0, j)) / a[j, j]
        rest = (Scalar(1.0) + shift) * a[i, i] - product_of(a, i, i, 0, i)
        if not (rest > Scalar(0.0) and rest < Scalar(wp.inf)):
            return
        a[i, i] = wp.sqrt(rest)
    definite[0] = 1
    for j in range(m):  # write the transposed inverse of the factor right of the diagonal
        for i in range(j + 1, m):
            sum = a[i, j] / a[j, j] + product_of(a, i, j, j + 1, i)
            a[j, i] = -sum / a[i, i]
    for i in range(m):
        a[i, i] = Scalar(1.0) / a[i, i]
    for v in range(out.shape[0]):
        for u in range(out.shape[0]):
            block = wp.mat33f()
            for r in range(3):
                for c in range(3):
                    i = 3 * v + r
                    j = 3 * u + c
                    block[r, c] = wp.float32(product_of(a, i, j, wp.max(i, j), m))
            out[v, u] = block
