"""Kernels of smoothed aggregation, in float32: Galerkin products, Chebyshev smoothing, transfers.

All of them gather: a row of a matrix, or a vertex, is written by its own index only.
"""

import warp as wp

from weft.kernel import Scalar, mat33, vec3

_module = wp.get_module("weft.multigrid")
vec3f = wp.vec3f
mat33f = wp.mat33f
ints = wp.array(dtype=wp.int32)
floats = wp.array(dtype=float)
vectors = wp.array(dtype=vec3f)
blocks = wp.array(dtype=mat33f)


@wp.func
def safe_inverse(D: mat33f):
    """Inverse of a diagonal block; the identity where there is none (a coarse vertex of pins)."""
    scale = wp.trace(D)
    result = wp.identity(n=3, dtype=float)
    if scale > 0.0:
        scaled = (3.0 / scale) * D
        if wp.abs(wp.determinant(scaled)) > 1.0e-12:
            result = (3.0 / scale) * wp.inverse(scaled)
        else:
            result = (3.0 / scale) * result
    return result


@wp.kernel(module=_module)
def take_fine(
    o: int,
    start: ints,
    column: ints,
    values: wp.array(dtype=mat33),
    out: blocks,
    inverse: blocks,
    keep: floats,
):
    """Row v in float32, the inverse of its diagonal block, and 0 if it is pinned (no coupling)."""
    v = o + wp.tid()
    coupling = float(0.0)
    for b in range(start[v], start[v + 1]):
        B = mat33f(values[b])
        out[b] = B
        if column[b] == v:
            inverse[v] = safe_inverse(B)
        else:
            coupling += wp.ddot(B, B)
    keep[v] = wp.where(coupling > 0.0, 1.0, 0.0)


@wp.kernel(module=_module)
def mask_prolongator(o: int, start: ints, weight: floats, keep: floats, out: floats):
    """Rows of pinned vertices are zero: no coarse correction moves them."""
    v = o + wp.tid()
    for k in range(start[v], start[v + 1]):
        out[k] = keep[v] * weight[k]


@wp.kernel(module=_module)
def multiply_by_prolongator(
    o: int,
    start: ints,
    column: ints,
    values: blocks,
    p_start: ints,
    p_column: ints,
    p_weight: floats,
    out_start: ints,
    out_column: ints,
    out: blocks,
):
    """Row v of A P."""
    v = o + wp.tid()
    for s in range(out_start[v], out_start[v + 1]):
        out[s] = mat33f(0.0)
    for b in range(start[v], start[v + 1]):
        j = column[b]
        B = values[b]
        for k in range(p_start[j], p_start[j + 1]):
            w = p_weight[k]
            if w != 0.0:
                s = int(out_start[v])
                while out_column[s] != p_column[k]:
                    s += 1
                out[s] = out[s] + w * B


@wp.kernel(module=_module)
def coarse_rows(
    o: int,
    pt_start: ints,
    pt_column: ints,
    pt_entry: ints,
    p_weight: floats,
    ap_start: ints,
    ap_column: ints,
    ap: blocks,
    out_start: ints,
    out_column: ints,
    out: blocks,
    inverse: blocks,
):
    """Row v of P^T (A P), and the inverse of its diagonal block."""
    v = o + wp.tid()
    for s in range(out_start[v], out_start[v + 1]):
        out[s] = mat33f(0.0)
    for e in range(pt_start[v], pt_start[v + 1]):
        w = p_weight[pt_entry[e]]
        if w != 0.0:
            i = pt_column[e]
            for k in range(ap_start[i], ap_start[i + 1]):
                s = int(out_start[v])
                while out_column[s] != ap_column[k]:
                    s += 1
                out[s] = out[s] + w * ap[k]
    for s in range(out_start[v], out_start[v + 1]):
        if out_column[s] == v:
            if wp.trace(out[s]) <= 0.0:
                out[s] = wp.identity(n=3, dtype=float)
            inverse[v] = safe_inverse(out[s])


@wp.func
def row_residual(v: int, start: ints, column: ints, values: blocks, b: vectors, x: vectors):
    """Row v of b - A x."""
    y = b[v]
    for k in range(start[v], start[v + 1]):
        y -= values[k] * x[column[k]]
    return y


@wp.kernel(module=_module)
def residual(
    o: int, start: ints, column: ints, values: blocks, b: vectors, x: vectors, out: vectors
):
    """out = b - A x."""
    v = o + wp.tid()
    out[v] = row_residual(v, start, column, values, b, x)


@wp.kernel(module=_module)
def chebyshev_first(
    o: int, inverse: blocks, r: vectors, scale: float, fresh: int, d: vectors, x: vectors
):
    """d = D^-1 r scale; x = d (fresh) or x += d."""
    v = o + wp.tid()
    step = scale * (inverse[v] * r[v])
    d[v] = step
    if fresh != 0:
        x[v] = step
    else:
        x[v] = x[v] + step


@wp.kernel(module=_module)
def chebyshev_second(
    o: int,
    start: ints,
    column: ints,
    values: blocks,
    inverse: blocks,
    r: vectors,
    d: vectors,
    keep: float,
    scale: float,
    x: vectors,
):
    """x += keep d + scale D^-1 (r - A d)."""
    v = o + wp.tid()
    t = row_residual(v, start, column, values, r, d)
    x[v] = x[v] + keep * d[v] + scale * (inverse[v] * t)


@wp.kernel(module=_module)
def restrict_rows(
    o: int, start: ints, column: ints, entry: ints, weight: floats, r: vectors, out: vectors
):
    """out = P^T r."""
    v = o + wp.tid()
    y = vec3f(0.0, 0.0, 0.0)
    for e in range(start[v], start[v + 1]):
        y += weight[entry[e]] * r[column[e]]
    out[v] = y


@wp.kernel(module=_module)
def prolong_rows(o: int, start: ints, column: ints, weight: floats, e: vectors, x: vectors):
    """x += P e."""
    v = o + wp.tid()
    y = x[v]
    for k in range(start[v], start[v + 1]):
        y += weight[k] * e[column[k]]
    x[v] = y


@wp.kernel(module=_module)
def dense_rows(o: int, inverse: wp.array2d(dtype=mat33f), b: vectors, x: vectors):
    """x = A^-1 b on the coarsest level."""
    v = o + wp.tid()
    y = vec3f(0.0, 0.0, 0.0)
    for j in range(b.shape[0]):
        y += inverse[v, j] * b[j]
    x[v] = y


@wp.kernel(module=_module)
def lower(o: int, r: wp.array(dtype=vec3), scale: Scalar, out: vectors):
    """out = scale r in float32: of unit size, so that nothing underflows."""
    v = o + wp.tid()
    out[v] = vec3f(scale * r[v])


@wp.kernel(module=_module)
def lift(o: int, x: vectors, scale: Scalar, out: wp.array(dtype=vec3)):
    """out = scale x in float64."""
    v = o + wp.tid()
    out[v] = scale * vec3(x[v])


@wp.kernel(module=_module)
def descend(
    o: int,
    a: Scalar,
    p: wp.array(dtype=vec3),
    q: wp.array(dtype=vec3),
    x: wp.array(dtype=vec3),
    r: wp.array(dtype=vec3),
):
    """x += a p, r -= a q."""
    v = o + wp.tid()
    x[v] = x[v] + a * p[v]
    r[v] = r[v] - a * q[v]


@wp.kernel(module=_module)
def last_visit(
    o: int,
    fresh: int,
    n: int,
    start: ints,
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
    dense: wp.array2d(dtype=mat33f),
    coarse_b: vectors,
    coarse_x: vectors,
    first: float,
    keep: float,
    second: float,
):
    """A whole visit of the second-to-last level by one thread: smoothing, the dense solve below,
    smoothing. The same operations as the kernels above, without their launches.
    """
    for v in range(n):
        if fresh != 0:
            x[v] = vec3f(0.0, 0.0, 0.0)
            r[v] = b[v]
        else:
            r[v] = row_residual(v, start, column, values, b, x)
    for v in range(n):
        d[v] = first * (inverse[v] * r[v])
        x[v] = x[v] + d[v]
    for v in range(n):
        t = row_residual(v, start, column, values, r, d)
        x[v] = x[v] + keep * d[v] + second * (inverse[v] * t)
    for v in range(n):
        r[v] = row_residual(v, start, column, values, b, x)
    m = dense.shape[0]
    for v in range(m):
        y = vec3f(0.0, 0.0, 0.0)
        for e in range(pt_start[v], pt_start[v + 1]):
            y += weight[pt_entry[e]] * r[pt_column[e]]
        coarse_b[v] = y
    for v in range(m):
        y = vec3f(0.0, 0.0, 0.0)
        for j in range(m):
            y += dense[v, j] * coarse_b[j]
        coarse_x[v] = y
    for v in range(n):
        y = x[v]
        for k in range(p_start[v], p_start[v + 1]):
            y += weight[k] * coarse_x[p_column[k]]
        x[v] = y
    for v in range(n):
        r[v] = row_residual(v, start, column, values, b, x)
    for v in range(n):
        d[v] = first * (inverse[v] * r[v])
        x[v] = x[v] + d[v]
    for v in range(n):
        t = row_residual(v, start, column, values, r, d)
        x[v] = x[v] + keep * d[v] + second * (inverse[v] * t)
