"""Inverse of the coarsest matrix of multigrid, which is stored dense, by Cholesky factorization.

The work is cut into functions of a row: one kernel runs all of them in one thread of a CPU, and a
launch for each column runs them side by side on other devices, with the same operations.

An unknown whose pivot is not positive is left out, that is, its row and column of the inverse are
zero: where no pin stops a rigid motion, the matrix may be singular to round-off. A pivot that is
more negative than round-off explains shows that the matrix is not positive definite.
"""

import warp as wp

from weft.kernel import DataType, IntArray, Scalar, ScalarArray2d
from weft.solve.sparse.block_arithmetic import blocks, ints

_module = wp.get_module("weft.multigrid")
blocks2d: DataType = wp.array2d(dtype=wp.mat33f)
ROUNDOFF = wp.constant(wp.float64(1e-5))  # of a pivot in float32, relative to its diagonal entry


@wp.func
def write_rows(v: int, start: ints, end: ints, column: ints, values: blocks, a: ScalarArray2d):
    """Write row v of a matrix of 3x3 blocks as three dense rows in float64."""
    for r in range(3):
        for j in range(a.shape[1]):
            a[3 * v + r, j] = Scalar(0.0)
    for k in range(start[v], end[v]):
        for r in range(3):
            for c in range(3):
                a[3 * v + r, 3 * column[k] + c] = Scalar(values[k][r, c])


@wp.func
def product_of(a: ScalarArray2d, i: int, j: int, first: int, end: int):
    """Return the dot product of rows i and j of a, from column ``first`` to before ``end``."""
    sum = Scalar(0.0)
    for k in range(first, end):
        sum += a[i, k] * a[j, k]
    return sum


@wp.func
def write_pivot(i: int, shift: Scalar, a: ScalarArray2d, definite: IntArray):
    """Replace diagonal entry i, times 1 + ``shift``, by that of the factor; 0: left out."""
    own = (Scalar(1.0) + shift) * a[i, i]
    rest = own - product_of(a, i, i, 0, i)
    if rest > Scalar(0.0) and rest < Scalar(wp.inf):
        a[i, i] = wp.sqrt(rest)
    else:
        a[i, i] = Scalar(0.0)
        if not (rest >= -ROUNDOFF * wp.abs(own) and rest < Scalar(wp.inf)):
            definite[0] = 0


@wp.func
def factorize_entry(i: int, j: int, shift: Scalar, a: ScalarArray2d, definite: IntArray):
    """Compute entry (i, j) of the factor below the diagonal, and pivot j + 1 if that is row i.

    The factor of the symmetric part is written on and below the diagonal; entries right of it are
    still those of the matrix.
    """
    full = Scalar(0.5) * (a[i, j] + a[j, i])
    if a[j, j] == Scalar(0.0):
        a[i, j] = Scalar(0.0)
    else:
        a[i, j] = (full - product_of(a, i, j, 0, j)) / a[j, j]
    if i == j + 1:
        write_pivot(i, shift, a, definite)


@wp.func
def invert_factor(j: int, a: ScalarArray2d):
    """Write column j of the inverse factor as row j right of the diagonal."""
    for i in range(j + 1, a.shape[0]):
        if a[i, i] == Scalar(0.0) or a[j, j] == Scalar(0.0):
            a[j, i] = Scalar(0.0)
        else:
            sum = a[i, j] / a[j, j] + product_of(a, i, j, j + 1, i)
            a[j, i] = -sum / a[i, i]


@wp.func
def invert_pivot(i: int, a: ScalarArray2d):
    """Invert a diagonal entry of the factor."""
    if a[i, i] != Scalar(0.0):
        a[i, i] = Scalar(1.0) / a[i, i]


@wp.func
def multiply_factors(v: int, a: ScalarArray2d, out: blocks2d):
    """Compute row v of the inverse from the inverse factor, in float32."""
    m = a.shape[0]
    for u in range(out.shape[0]):
        block = wp.mat33f()
        for r in range(3):
            for c in range(3):
                i = 3 * v + r
                j = 3 * u + c
                block[r, c] = wp.float32(product_of(a, i, j, wp.max(i, j), m))
        out[v, u] = block


@wp.kernel(module=_module)
def invert(
    o: int,
    shift: Scalar,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    a: ScalarArray2d,
    out: blocks2d,
    definite: IntArray,
):
    """Invert a matrix whose diagonal is first multiplied by 1 + ``shift``, in one thread.

    ``definite[0]`` is 0 if the matrix is not positive definite, else 1.
    """
    for v in range(o, out.shape[0]):
        write_rows(v, start, end, column, values, a)
    definite[0] = 1
    m = a.shape[0]
    write_pivot(0, shift, a, definite)
    for j in range(m - 1):
        for i in range(j + 1, m):
            factorize_entry(i, j, shift, a, definite)
    for j in range(m):
        invert_factor(j, a)
    for i in range(m):
        invert_pivot(i, a)
    for v in range(out.shape[0]):
        multiply_factors(v, a, out)


@wp.kernel(module=_module)
def write_matrix(
    o: int,
    shift: Scalar,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    a: ScalarArray2d,
    definite: IntArray,
):
    """Write the dense matrix and its first pivot."""
    v = o + wp.tid()
    write_rows(v, start, end, column, values, a)
    if v == 0:
        definite[0] = 1
        write_pivot(0, shift, a, definite)


@wp.kernel(module=_module)
def factorize_column(o: int, j: int, shift: Scalar, a: ScalarArray2d, definite: IntArray):
    """Compute column j of the factor below the diagonal, and the next pivot."""
    factorize_entry(j + 1 + o + wp.tid(), j, shift, a, definite)


@wp.kernel(module=_module)
def invert_factors(o: int, a: ScalarArray2d):
    """Write the transposed inverse of the factor right of the diagonal."""
    invert_factor(o + wp.tid(), a)


@wp.kernel(module=_module)
def invert_pivots(o: int, a: ScalarArray2d):
    """Invert the diagonal of the factor."""
    invert_pivot(o + wp.tid(), a)


@wp.kernel(module=_module)
def multiply_rows(o: int, a: ScalarArray2d, out: blocks2d):
    """Compute the inverse from the inverse factor."""
    multiply_factors(o + wp.tid(), a, out)
