"""Kernels of a multigrid cycle in float32.

All of them gather: a vertex is written by its own kernel index only. ``step`` holds Chebyshev's
coefficients s_0 to s_2: of the first step, and of the correction and the residual in the second
step.

Arguments are many arrays, not a struct of a level: a struct is copied for every row, which made a
cycle 3 to 10 % slower on the CPU (docs/decisions/0007).
"""

import warp as wp

from weft.kernel import Vec3Array, vec3
from weft.solve.sparse.block_arithmetic import (
    blocks,
    floats,
    ints,
    row_times,
    vectors,
)

_module = wp.get_module("weft.multigrid")
vec3f = wp.vec3f


@wp.func
def residual_row(
    v: int, start: ints, end: ints, column: ints, values: blocks, b: vectors, x: vectors
):
    """Return row v of b - A x."""
    return b[v] - row_times(start[v], end[v], column, values, x)


@wp.func
def second_step(
    v: int,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    inverse: blocks,
    r: vectors,
    d: vectors,
    step: floats,
):
    """Return the sum of both Chebyshev steps at vertex v, d + s_1 d + s_2 D^-1 (r - A d).

    The first step is d.
    """
    t = residual_row(v, start, end, column, values, r, d)
    return (1.0 + step[1]) * d[v] + step[2] * (inverse[v] * t)


@wp.func
def take_first(v: int, y: vec3f, inverse: blocks, step: floats, r: vectors, d: vectors):
    """Write the residual y to r[v], and the first Chebyshev step d[v] = s_0 D^-1 y."""
    r[v] = y
    d[v] = step[0] * (inverse[v] * y)


@wp.func
def smooth_all(
    n: int,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    inverse: blocks,
    b: vectors,
    step: floats,
    r: vectors,
    d: vectors,
    x: vectors,
):
    """Take two more Chebyshev steps for all n vertices, in one thread."""
    for v in range(n):
        y = residual_row(v, start, end, column, values, b, x)
        take_first(v, y, inverse, step, r, d)
    for v in range(n):
        y = second_step(v, start, end, column, values, inverse, r, d, step)
        x[v] = y + x[v]


@wp.func
def restrict(v: int, start: ints, column: ints, entry: ints, weight: floats, r: vectors):
    """Return row v of P^T r."""
    y = vec3f(0.0, 0.0, 0.0)
    for e in range(start[v], start[v + 1]):
        y += weight[entry[e]] * r[column[e]]
    return y


@wp.func
def prolong(v: int, start: ints, column: ints, weight: floats, e: vectors):
    """Return row v of P e."""
    y = vec3f(0.0, 0.0, 0.0)
    for k in range(start[v], start[v + 1]):
        y += weight[k] * e[column[k]]
    return y


@wp.func
def dense_row(v: int, inverse: wp.array2d(dtype=wp.mat33f), b: vectors):
    """Return row v of A^-1 b on the coarsest level."""
    y = vec3f(0.0, 0.0, 0.0)
    for j in range(b.shape[0]):
        y += inverse[v, j] * b[j]
    return y


@wp.kernel(module=_module)
def residual(
    o: int, start: ints, end: ints, column: ints, values: blocks, b: vectors, x: vectors, r: vectors
):
    """Compute r = b - A x."""
    v = o + wp.tid()
    r[v] = residual_row(v, start, end, column, values, b, x)


@wp.kernel(module=_module)
def residual_and_first(
    o: int,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    inverse: blocks,
    b: vectors,
    x: vectors,
    step: floats,
    r: vectors,
    d: vectors,
):
    """Compute r = b - A x and the first Chebyshev step d = s_0 D^-1 r."""
    v = o + wp.tid()
    y = residual_row(v, start, end, column, values, b, x)
    take_first(v, y, inverse, step, r, d)


@wp.kernel(module=_module)
def second(
    o: int,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    inverse: blocks,
    r: vectors,
    d: vectors,
    fresh: int,
    step: floats,
    x: vectors,
):
    """Write the sum of both Chebyshev steps to x if ``fresh`` is not 0, else add it to x."""
    v = o + wp.tid()
    y = second_step(v, start, end, column, values, inverse, r, d, step)
    if fresh == 0:
        y += x[v]
    x[v] = y


@wp.kernel(module=_module)
def step_from(
    o: int,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    inverse: blocks,
    b: vectors,
    y: vectors,
    step: floats,
    x: vectors,
):
    """Compute x = y + s_0 D^-1 (b - A y)."""
    v = o + wp.tid()
    x[v] = y[v] + step[0] * (inverse[v] * residual_row(v, start, end, column, values, b, y))


@wp.kernel(module=_module)
def restrict_rows(
    o: int,
    start: ints,
    column: ints,
    entry: ints,
    weight: floats,
    r: vectors,
    inverse: blocks,
    step: floats,
    b: vectors,
    d: vectors,
):
    """Compute b = P^T r on the coarse level, and its first Chebyshev step from zero."""
    v = o + wp.tid()
    y = restrict(v, start, column, entry, weight, r)
    take_first(v, y, inverse, step, b, d)


@wp.kernel(module=_module)
def prolong_rows(
    o: int, start: ints, column: ints, weight: floats, e: vectors, x: vectors, out: vectors
):
    """Compute out = x + P e."""
    v = o + wp.tid()
    out[v] = x[v] + prolong(v, start, column, weight, e)


@wp.kernel(module=_module)
def dense_rows(o: int, inverse: wp.array2d(dtype=wp.mat33f), b: vectors, x: vectors):
    """Compute x = A^-1 b on the coarsest level."""
    v = o + wp.tid()
    x[v] = dense_row(v, inverse, b)


@wp.kernel(module=_module)
def last_visit(
    o: int,
    fresh: int,
    n: int,
    start: ints,
    end: ints,
    column: ints,
    values: blocks,
    inverse: blocks,
    b: vectors,
    x: vectors,
    r: vectors,
    d: vectors,
    pt_start: ints,
    pt_column: ints,
    pt_entry: ints,
    p_start: ints,
    p_column: ints,
    weight: floats,
    dense: wp.array2d(dtype=wp.mat33f),
    coarse_b: vectors,
    coarse_x: vectors,
    step: floats,
):
    """Visit the second-to-last level in one thread: smooth, solve the coarsest level, smooth again.

    The operations are those of the kernels above, in the same order, without the cost of their
    launches.
    """
    if fresh != 0:
        for v in range(n):
            x[v] = second_step(v, start, end, column, values, inverse, b, d, step)
    else:
        smooth_all(n, start, end, column, values, inverse, b, step, r, d, x)
    for v in range(n):
        r[v] = residual_row(v, start, end, column, values, b, x)
    for v in range(dense.shape[0]):
        coarse_b[v] = restrict(v, pt_start, pt_column, pt_entry, weight, r)
    for v in range(dense.shape[0]):
        coarse_x[v] = dense_row(v, dense, coarse_b)
    for v in range(n):
        x[v] = x[v] + prolong(v, p_start, p_column, weight, coarse_x)
    smooth_all(n, start, end, column, values, inverse, b, step, r, d, x)


@wp.kernel(module=_module)
def set_coefficients(o: int, first: float, correction: float, residual: float, step: floats):
    """Set Chebyshev's coefficients."""
    step[o] = first
    step[1] = correction
    step[2] = residual


@wp.kernel(module=_module)
def take_residual(o: int, given: Vec3Array, inverse: blocks, step: floats, b: vectors, d: vectors):
    """Copy a residual to the right-hand side b in float32, and take the first Chebyshev step."""
    v = o + wp.tid()
    take_first(v, vec3f(given[v]), inverse, step, b, d)


@wp.kernel(module=_module)
def give_correction(o: int, x: vectors, z: Vec3Array):
    """Copy the result of a cycle to float64."""
    v = o + wp.tid()
    z[v] = vec3(x[v])
