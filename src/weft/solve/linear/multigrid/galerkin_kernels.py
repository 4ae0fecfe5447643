"""Kernels that compute the levels of a hierarchy: rows in float32, and Galerkin products P^T A P.

All of them gather: each row of a matrix is written by one kernel index only. Blocks of zeros (pairs
that were in contact before) are left out and the rows are compacted, so that the rows of a matrix
do not depend on the pattern in which it is stored.

Arguments are many arrays, not structures of a matrix, a prolongator and a product: with these the
products take 7 to 9 % longer on the CPU (docs/decisions/0007).
"""

import warp as wp

from weft.kernel import Mat33Array
from weft.solve.sparse.block_arithmetic import (
    add_many,
    add_to_many,
    blocks,
    clear_blocks,
    floats,
    ints,
    move_block,
    slots,
    take_block,
)

_module = wp.get_module("weft.multigrid")
mat33f = wp.mat33f


@wp.func
def safe_inverse(D: mat33f):
    """Return the inverse of a diagonal block.

    A block that is nearly singular is replaced by its mean diagonal entry, and one whose trace is
    not positive (a coarse vertex of pinned vertices) by the identity.
    """
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
    n: int,
    chunk: int,
    start: ints,
    column: ints,
    values: Mat33Array,
    first: ints,
    end: ints,
    out_column: ints,
    index: ints,
    out: blocks,
    inverse: blocks,
    keep: floats,
):
    """Copy a chunk of rows of A to float32, without blocks of zeros.

    ``index`` is the number of each block in A, ``inverse`` the inverse of the diagonal blocks, and
    ``keep`` 1 if a row is coupled to others and 0 if it is pinned.
    """
    c = o + wp.tid()
    at = int(start[c * chunk])
    for v in range(c * chunk, wp.min(n, (c + 1) * chunk)):
        first[v] = at
        diagonal = int(at)
        # Every block is written, and the position advances only behind a block that is kept: a
        # branch on the values would be unpredictable, and slower.
        for b in range(start[v], start[v + 1]):
            j = column[b]
            out_column[at] = j
            index[at] = b
            some = take_block(values, b, out, at)
            own = wp.where(j == v, 1, 0)
            diagonal = wp.where(j == v, at, diagonal)
            at += some | own
        inverse[v] = safe_inverse(out[diagonal])
        end[v] = at
        keep[v] = wp.where(at - first[v] > 1, 1.0, 0.0)


@wp.kernel(module=_module)
def multiply_by_prolongator(
    o: int,
    start: ints,
    end: ints,
    column: ints,
    index: ints,
    values: blocks,
    keep: floats,
    p_start: ints,
    p_weight: floats,
    product: ints,
    slot: slots,
    out_start: ints,
    out: blocks,
    masked: floats,
):
    """Compute row v of A P, and row v of P with pinned vertices masked.

    Both rows are zero if v is pinned, because no coarse correction moves it. No other row is
    coupled to a pinned vertex, so the weights of P there do not matter for other rows.
    """
    v = o + wp.tid()
    base = out_start[v]
    clear_blocks(out, base, out_start[v + 1])
    for k in range(p_start[v], p_start[v + 1]):
        masked[k] = keep[v] * p_weight[k]
    if keep[v] != 0.0:
        for b in range(start[v], end[v]):
            j = column[b]
            first = product[index[b]]
            add_to_many(b, values, p_start[j], p_start[j + 1], p_weight, first, slot, base, out)


@wp.kernel(module=_module)
def coarse_rows(
    o: int,
    pt_start: ints,
    pt_column: ints,
    pt_entry: ints,
    p_weight: floats,
    ap_start: ints,
    ap: blocks,
    product: ints,
    slot: slots,
    start: ints,
    column: ints,
    end: ints,
    out_column: ints,
    index: ints,
    out: blocks,
    inverse: blocks,
):
    """Compute row v of P^T (A P) without blocks of zeros, and the inverse of its diagonal block."""
    v = o + wp.tid()
    base = start[v]
    clear_blocks(out, base, start[v + 1])
    for e in range(pt_start[v], pt_start[v + 1]):
        w = p_weight[pt_entry[e]]
        if w != 0.0:
            i = pt_column[e]
            add_many(w, ap, ap_start[i], ap_start[i + 1], product[e], slot, base, out)
    at = int(base)
    diagonal = int(base)
    for b in range(start[v], start[v + 1]):
        j = column[b]
        out_column[at] = j
        index[at] = b
        some = move_block(out, b, at)
        own = wp.where(j == v, 1, 0)
        diagonal = wp.where(j == v, at, diagonal)
        at += some | own
    end[v] = at
    if wp.trace(out[diagonal]) <= 0.0:
        out[diagonal] = wp.identity(n=3, dtype=float)
    inverse[v] = safe_inverse(out[diagonal])
