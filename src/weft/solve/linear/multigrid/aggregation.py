"""Symbolic phase of smoothed aggregation: aggregates, prolongators and the patterns of all levels.

It depends on the block pattern only, so it runs once for each pattern.

The prolongator is scalar and comes from the graph: P = (I - w/2 D^-1 L) T with the graph Laplacian
L of the pattern, its diagonal D, and the aggregates T (Vanek, Mandel & Brezina 1996, with the graph
in place of the matrix). Its rows sum to one, so rigid translations are represented exactly.
"""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.base.arrays import Ints
from weft.kernel import IntArray, WarpArray
from weft.solve.sparse.block_csr import BlockPattern

SMOOTHING = 1.8  # w above; measured best of 1 to 1.8 (2 is the largest eigenvalue of D^-1 L)
SMALL = 12_000  # vertices up to which larger aggregates are faster
PRODUCT_WORK = 35.0  # matrix entries that take as long as a row of a product
COARSEST = 20  # vertices of the last level, which is inverted densely
MOST_LEVELS = 12

_module = wp.get_module("weft.aggregation")


@wp.kernel(module=_module)
def aggregate(o: int, n: int, start: IntArray, column: IntArray, out: IntArray, count: IntArray):
    """Group the vertices of a graph into aggregates, in one thread.

    A vertex whose neighborhood is free makes an aggregate of the whole neighborhood. Remaining
    vertices join the aggregate of a neighbor, and the rest are aggregates of one vertex.
    """
    used = int(0)
    for i in range(n):
        free = int(1)
        for k in range(start[i], start[i + 1]):
            if out[column[k]] >= 0:
                free = int(0)
        if free == 1:
            out[i] = used
            for k in range(start[i], start[i + 1]):
                out[column[k]] = used
            used += 1
    for i in range(n):
        if out[i] < 0:
            for k in range(start[i], start[i + 1]):
                # Marked by a number below -1 until the pass ends: only aggregates of the first
                # pass attract vertices.
                if out[i] == -1 and out[column[k]] >= 0:
                    out[i] = -2 - out[column[k]]
    for i in range(n):
        if out[i] < -1:
            out[i] = -2 - out[i]
        if out[i] == -1:
            out[i] = used
            used += 1
    count[0] = used


@wp.kernel(module=_module)
def multiply_patterns(
    o: int,
    n: int,
    a_start: IntArray,
    a_column: IntArray,
    b_start: IntArray,
    b_column: IntArray,
    seen: IntArray,
    start: IntArray,
    column: IntArray,
):
    """Compute the pattern of a matrix product, in one thread.

    ``seen[c]`` is the last row with an entry in column c. New columns are inserted in order.
    """
    used = int(0)
    for i in range(n):
        first = int(used)
        for k in range(a_start[i], a_start[i + 1]):
            for m in range(b_start[a_column[k]], b_start[a_column[k] + 1]):
                c = b_column[m]
                if seen[c] != i:
                    seen[c] = i
                    at = int(used)
                    while at > first and column[wp.max(at - 1, 0)] > c:
                        column[at] = column[at - 1]
                        at -= 1
                    column[at] = c
                    used += 1
        start[i + 1] = used


@wp.kernel(module=_module)
def find_slots(
    o: int,
    a_start: IntArray,
    a_column: IntArray,
    b_start: IntArray,
    b_column: IntArray,
    start: IntArray,
    column: IntArray,
    first: IntArray,
    slot: wp.array(dtype=wp.uint16),
):
    """Find the entry of the product's row to which each product of two entries contributes."""
    i = o + wp.tid()
    for k in range(a_start[i], a_start[i + 1]):
        at = int(start[i])
        product = first[k]
        for m in range(b_start[a_column[k]], b_start[a_column[k] + 1]):
            while column[at] < b_column[m]:
                at += 1
            slot[product] = wp.uint16(at - start[i])
            product += 1


@dataclass(frozen=True, eq=False)
class Csr:
    """Pattern of a sparse matrix in compressed rows, on the device."""

    start: WarpArray  # (n+1,) int32
    column: WarpArray  # (k,) int32
    n: int
    nnz: int

    @staticmethod
    def of(matrix: sp.csr_matrix) -> "Csr":
        """Copy the pattern of a SciPy CSR matrix."""
        start = kernel.array(matrix.indptr.astype(np.int32), wp.int32)
        column = kernel.array(matrix.indices.astype(np.int32), wp.int32)
        return Csr(start, column, matrix.shape[0], matrix.nnz)


@dataclass(frozen=True, eq=False)
class Prolongator:
    """Interpolation P from a coarse level of m vertices to a fine level of n vertices."""

    P: Csr  # (n, m)
    weight: WarpArray  # (k,) float32 its values
    Pt: Csr  # (m, n) its transpose
    entry: WarpArray  # (k,) int32: index of the value of P that each entry of Pt has


@dataclass(frozen=True, eq=False)
class Product:
    """Pattern of a product A B, and where each product of two entries is added.

    Entry k of A meets a row of B; the slots of its products, one for each entry of that row, begin
    at ``first[k]``.
    """

    rows: Csr
    first: WarpArray  # (k+1,) int32
    slot: WarpArray  # (products,) uint16 place in the row


@dataclass(frozen=True, eq=False)
class Coarsening:
    """Prolongator of a level with matrix A, and the patterns of the products A P and P^T A P."""

    by: Prolongator
    AP: Product  # (n, m)
    coarse: Product  # (m, m) P^T A P


_made: WeakKeyDictionary[BlockPattern, list[Prolongator]] = WeakKeyDictionary()


def coarsenings(pattern: BlockPattern) -> list[Coarsening]:
    """Return the coarsenings of all levels of a pattern, finest first.

    If the pattern extends another one (``pattern.base``), the prolongators are those of the other
    one: contacts change in every step, and the number of iterations is as small without them
    (docs/decisions/appendix/0017-contact-speed.md).
    """
    source = pattern.base or pattern
    if source not in _made:
        _made[source] = _prolongators(source)
    graph = Csr(pattern.device_row_start, pattern.device_column, pattern.n, pattern.n_blocks)
    levels = []
    for by in _made[source]:
        AP = _product(graph, by.P, by.Pt.n)
        coarse = _product(by.Pt, AP.rows, by.Pt.n)
        levels.append(Coarsening(by, AP, coarse))
        graph = coarse.rows
    return levels


def _product(a: Csr, b: Csr, columns: int) -> Product:
    """Compute the pattern of a matrix product, and the slots of its parts."""
    rows, first = _rows(a, b, columns)
    starts, slot = kernel.array(first, wp.int32), kernel.empty(int(first[-1]), wp.uint16)
    given = (a.start, a.column, b.start, b.column, rows.start, rows.column)
    kernel.launch(find_slots, a.n, *given, starts, slot, work=PRODUCT_WORK)
    return Product(rows, starts, slot)


def _rows(a: Csr, b: Csr, columns: int) -> tuple[Csr, Ints]:
    """Compute the pattern of a matrix product row by row (Gustavson 1978).

    Returns the pattern, and where the products of each entry of ``a`` begin.
    """
    given = tuple(kernel.numpy(i) for i in (a.start, a.column, b.start, b.column))
    first = np.zeros(a.nnz + 1, np.int32)
    np.cumsum(np.diff(given[2])[given[1]], out=first[1:])
    room = int(np.minimum(np.diff(first[given[0]]), columns).sum())
    start, column = np.zeros(a.n + 1, np.int32), np.empty(room, np.int32)
    seen = np.full(columns, -1, np.int32)
    kernel.launch_serial(multiply_patterns, a.n, *given, seen, start, column)
    nnz, widest = int(start[-1]), int(np.diff(start).max(initial=0))
    assert widest < 2**16, f"a row of {widest} blocks in a coarse matrix: slots have 16 bits"
    column = np.array(column[:nnz])  # a copy, so that the unused memory is released
    return Csr(kernel.array(start, wp.int32), kernel.array(column, wp.int32), a.n, nnz), first


def _prolongators(pattern: BlockPattern) -> list[Prolongator]:
    """Compute the prolongators of all levels.

    The finest aggregates of large meshes are neighborhoods on the surface, without the coupling of
    hinges across an edge. These aggregates are smaller, and the number of iterations grows less
    with the mesh (docs/decisions/0007).
    """
    graph = _graph(pattern)
    near = pattern.near if pattern.n > SMALL else None
    owner = aggregates(graph if near is None else _graph(near))
    levels: list[Prolongator] = []
    while graph.shape[0] > COARSEST and len(levels) < MOST_LEVELS:
        level, coarse = _coarsen(graph, owner)
        if coarse.shape[0] >= 0.8 * graph.shape[0]:  # too little coarsening to pay for a level
            break
        levels.append(level)
        graph = coarse
        owner = aggregates(graph)
    return levels


def _graph(pattern: BlockPattern) -> sp.csr_matrix:
    """Return the pattern as a SciPy CSR matrix of ones."""
    ones = np.ones(pattern.n_blocks, dtype=np.float32)
    return sp.csr_matrix((ones, pattern.column, pattern.row_start), shape=(pattern.n, pattern.n))


def _coarsen(graph: sp.csr_matrix, owner: Ints) -> tuple[Prolongator, sp.csr_matrix]:
    """Return the prolongator to the aggregates ``owner`` (n,), and the coarse graph."""
    n = graph.shape[0]
    T = sp.csr_matrix((np.ones(n, np.float32), (np.arange(n), owner)), shape=(n, owner.max() + 1))
    degree = np.maximum(np.diff(graph.indptr) - 1, 1).astype(np.float32)
    neighbors = graph - sp.identity(n, dtype=np.float32, format="csr")
    share = SMOOTHING / 2
    P = ((1 - share) * T + sp.diags(share / degree) @ (neighbors @ T)).tocsr()
    alone = np.diff(graph.indptr) == 1
    if alone.any():  # a vertex without neighbors is its own aggregate, with weight one
        P = (
            sp.diags((~alone).astype(np.float32)) @ P + sp.diags(alone.astype(np.float32)) @ T
        ).tocsr()
    P.sort_indices()
    number = sp.csr_matrix(
        (np.arange(P.nnz, dtype=np.int64) + 1, P.indices, P.indptr), shape=P.shape
    )
    Pt = number.T.tocsr()
    Pt.sort_indices()
    coarse = (P.T @ (graph @ P)).tocsr()
    coarse.data[:] = 1.0
    level = Prolongator(
        Csr.of(P),
        kernel.array(P.data.astype(np.float32), wp.float32),
        Csr.of(Pt),
        kernel.array((Pt.data - 1).astype(np.int32), wp.int32),
    )
    return level, coarse


def aggregates(graph: sp.csr_matrix) -> Ints:
    """Return the aggregate of each vertex, (n,), of a SciPy CSR graph with its diagonal."""
    n = graph.shape[0]
    out, count = np.full(n, -1, dtype=np.int32), np.zeros(1, dtype=np.int32)
    kernel.launch_serial(
        aggregate, n, graph.indptr.astype(np.int32), graph.indices.astype(np.int32), out, count
    )
    return out
