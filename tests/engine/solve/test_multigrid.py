"""Multigrid: aggregates, prolongators, a definite preconditioner, iterations that hardly grow."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from benchmarks.multigrid import system
from tests.engine.solve.systems import of_dense
from weft import kernel
from weft.kernel import mat33, vec3
from weft.solve.linear.multigrid import hierarchy
from weft.solve.linear.multigrid import solver as multigrid
from weft.solve.linear.multigrid.aggregation import COARSEST, aggregates, coarsenings
from weft.solve.linear.multigrid.hierarchy import Hierarchy
from weft.solve.linear.multigrid.solver import Multigrid, MultigridWork
from weft.solve.linear.solver import Outcome
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick


@pytest.fixture(scope="module")
def sheet():
    A, b = system(30)
    return A, b, Multigrid().prepare(A)


def csr(c, values=None):
    start, column = kernel.numpy(c.start), kernel.numpy(c.column)
    values = np.ones(len(column)) if values is None else values
    return sp.csr_matrix((values, column, start))


def test_aggregates_cover_and_hang_together(sheet):
    graph = of_pattern(sheet[0].pattern)
    owner = aggregates(graph)
    size = np.bincount(owner)
    assert owner.min() == 0 and size.min() >= 1
    assert 6 < size.mean() < 25
    for number in range(len(size)):
        inside = np.flatnonzero(owner == number)
        pieces = sp.csgraph.connected_components(graph[inside][:, inside])[0]
        assert pieces == 1


def test_prolongators_keep_translations(sheet):
    levels = coarsenings(sheet[0].pattern)
    assert len(levels) >= 2 and levels[-1].coarse.rows.n <= COARSEST * 10
    for level in levels:
        P = csr(level.by.P, kernel.numpy(level.by.weight))
        np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-6)


def test_coarse_matrices_are_galerkin_products(sheet):
    """P^T A P against SciPy, and the pins' rows out of P."""
    A, _, prepared = sheet
    hierarchy = prepared.hierarchy
    c, fine, coarse = hierarchy.transfers[0].c, *hierarchy.levels[:2]
    P = csr(c.by.P, kernel.numpy(hierarchy.transfers[0].weight).astype(float))
    pinned = kernel.numpy(fine.keep) == 0
    assert pinned.sum() == 2 and not P[pinned].toarray().any()
    P3 = sp.kron(P, sp.identity(3)).tocsr()
    expected = (P3.T @ A.to_scipy().tocsr() @ P3).toarray()
    np.testing.assert_allclose(dense(coarse), expected, atol=1e-5 * np.abs(expected).max())
    np.testing.assert_array_equal(dense(fine), A.to_scipy().toarray().astype(np.float32))


def dense(level):
    """A level's matrix, from what its rows have."""
    names = (level.start, level.end, level.column, level.values)
    start, end, column, values = (kernel.numpy(a) for a in names)
    out = np.zeros((level.n, 3, level.n, 3), np.float32)
    for v in range(level.n):
        for k in range(start[v], end[v]):
            out[v, :, column[k]] = values[k]
    return out.reshape(3 * level.n, 3 * level.n)


def test_rows_of_blocks_of_every_length(rng):
    """The sums that are written for the processor, against NumPy, in both precisions."""
    n = 12
    lower = np.tril(np.ones((n, n)))
    pattern = BlockPattern(n, *(sp.csr_matrix(lower).indptr, sp.csr_matrix(lower).indices))
    blocks, x = rng.normal(size=(pattern.n_blocks, 3, 3)), rng.normal(size=(n, 3))
    A = BlockCsr(pattern, kernel.array(blocks, mat33))
    expected = (A.to_scipy() @ x.reshape(-1)).reshape(n, 3)
    work = MultigridWork(Hierarchy(pattern))
    work.hierarchy.refresh(A)
    work.iterations.vectors.p.assign(x)
    np.testing.assert_allclose(multiplied(work.iterations, A.values), expected, atol=1e-14)
    fine = work.hierarchy.levels[0]
    fine.x.assign(x.astype(np.float32))
    fine.b.zero_()
    fine.residual.launch()
    np.testing.assert_allclose(-kernel.numpy(fine.r), expected, atol=1e-5)


def multiplied(iterations, values):
    """The product of a matrix and the direction p, by the launch of conjugate gradients."""
    iterations.loop.set(iterations.product, 4, values)
    iterations.product.argument(2).fill_(1)
    iterations.product.launch()
    return np.array(kernel.numpy(iterations.vectors.q))


def test_blocks_of_zeros_change_no_digit(rng):
    """Pairs that touched before leave blocks of zeros, wherever in a row they are."""
    A, b = system(24)
    own, pattern = A.pattern, with_pairs(A.pattern, 60, rng)
    values = np.zeros((pattern.n_blocks, 3, 3))
    values[pattern.find(own.row, own.column)] = kernel.numpy(A.values)
    larger = BlockCsr(pattern, kernel.array(values, mat33))
    results = [np.array(kernel.numpy(Multigrid().prepare(M).solve(b, 1e-6).x)) for M in (A, larger)]
    np.testing.assert_array_equal(*results)


def test_preconditioner_is_symmetric_and_definite(sheet, rng):
    _, _, prepared = sheet
    n = prepared.A.n
    free = kernel.numpy(prepared.hierarchy.levels[0].keep)[:, None] > 0

    def apply(r):
        z = kernel.empty(n, vec3)
        for launch in prepared.hierarchy.precondition(kernel.array(r, vec3), z):
            launch.launch()
        return np.array(kernel.numpy(z))

    for _ in range(5):
        a, b = rng.normal(size=(2, n, 3)) * free
        Ma, Mb = apply(a), apply(b)
        assert (a * Mb).sum() == pytest.approx((b * Ma).sum(), rel=1e-3)
        assert (a * Ma).sum() > 0


def test_iterations_hardly_grow():
    counts = []
    for side in (20, 40, 80):
        A, b = system(side)
        solution = Multigrid().prepare(A).solve(b, 1e-3)
        assert solution.outcome.ok
        counts.append(solution.iterations)
    assert counts[2] < 1.8 * counts[0] and counts[2] < 40


def test_result_does_not_depend_on_what_was_solved_before(sheet):
    """A run that resumes has no history: fresh and reused hierarchies give bitwise the same."""
    A, b, _ = sheet
    solver = Multigrid()
    fresh = np.array(kernel.numpy(solver.prepare(A).solve(b, 1e-2).x))
    other, _ = system(30)
    used = solver.prepare(type(A)(A.pattern, other.values))
    used.solve(b, 1e-6)
    again = solver.prepare(A, used)
    np.testing.assert_array_equal(kernel.numpy(again.solve(b, 1e-2).x), fresh)


def test_threads_do_not_change_the_result(sheet, threads):
    A, b, _ = sheet
    results = []
    for n in (1, 3):
        threads(n)
        results.append(np.array(kernel.numpy(Multigrid().prepare(A).solve(b, 1e-3).x)))
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("direct", [0, 10**6])
def test_another_solver_takes_over(sheet, monkeypatch, direct):
    """A factorization, or block-Jacobi for what is too large; it is said that it did."""
    A, b, prepared = sheet
    monkeypatch.setattr(multigrid, "MAX_ITERATIONS", 2)
    monkeypatch.setattr(multigrid, "DIRECT", direct)
    solution = prepared.solve(b, 1e-8)
    assert solution.outcome.ok and solution.rescued
    assert (solution.iterations == 2) == (direct > 0)
    exact = direct_solution(A, b)
    error = np.abs(kernel.numpy(solution.x) - exact).max() / np.abs(exact).max()
    assert error < 1e-6


def direct_solution(A, b):
    """(n,3) by SciPy."""
    return spla.spsolve(A.to_scipy().tocsc(), kernel.numpy(b).reshape(-1)).reshape(-1, 3)


def test_blocks_that_contact_adds_change_products_alone(rng):
    """Patterns of all levels are SciPy's, with the prolongators of the pattern without contact."""
    A, _ = system(20)
    own, pattern = A.pattern, with_pairs(A.pattern, 40, rng)
    graph, alone = of_pattern(pattern), coarsenings(own)
    for level, before in zip(coarsenings(pattern), alone, strict=True):
        assert level.by is before.by
        P = csr(level.by.P, np.ones(level.by.P.nnz))
        AP = (graph @ P).tocsr()
        graph = (P.T @ AP).tocsr()
        for expected, got in ((AP, level.AP), (graph, level.coarse)):
            expected.sort_indices()
            assert (kernel.numpy(got.rows.start) == expected.indptr).all()
            assert (kernel.numpy(got.rows.column) == expected.indices).all()
    assert coarsenings(pattern)[0].AP.rows.nnz > alone[0].AP.rows.nnz


def of_pattern(pattern):
    """A SciPy matrix of ones."""
    ones = np.ones(pattern.n_blocks)
    return sp.csr_matrix((ones, pattern.column, pattern.row_start), (pattern.n, pattern.n))


def with_pairs(own, count, rng):
    """A pattern that has the blocks of random pairs, too."""
    more = BlockPattern.of(own.n, [rng.integers(0, own.n, (count, 4)).astype(np.int32)])
    both = (of_pattern(own) + of_pattern(more)).tocsr()
    both.sort_indices()
    return BlockPattern(own.n, both.indptr, both.indices, base=own)


class LastLevel(Hierarchy):
    """A hierarchy whose only level is a dense matrix (3n,3n)."""

    def __init__(self, matrix):
        n = len(matrix) // 3
        super().__init__(BlockPattern.of(n, [np.arange(n, dtype=np.int32)[None]]))
        self.refresh(of_dense(matrix.astype(float), self.pattern))

    @property
    def inverse(self):
        """(3n,3n)"""
        m = 3 * self.levels[-1].n
        return np.array(kernel.numpy(self.dense)).transpose(0, 2, 1, 3).reshape(m, m)

    @property
    def is_usable(self):
        return bool(kernel.scalar(self.usable))


@pytest.fixture(params=["one thread", "one row a thread"])
def granularity(request, monkeypatch):
    """The coarsest matrix is inverted as on the CPU, or launch by launch as on CUDA."""
    monkeypatch.setattr(hierarchy, "coarsenings", lambda pattern: [])
    if request.param == "one row a thread":
        monkeypatch.setattr(hierarchy.kernel, "is_cpu", lambda: False)


@pytest.mark.parametrize("n", [1, 2, 9, 20, hierarchy.DENSE])
@pytest.mark.usefixtures("granularity")
def test_the_inverse_of_the_last_level(rng, n):
    """By Cholesky's factors, with its shift, against NumPy; not definite ones are found out."""
    B = rng.normal(size=(3 * n, 3 * n)).astype(np.float32)
    spd = (B @ B.T + np.eye(3 * n)).astype(np.float32)
    found, double = LastLevel(spd), spd.astype(float)
    expected = np.linalg.inv(0.5 * (double + double.T) + hierarchy.SHIFT * np.diag(np.diag(double)))
    assert found.is_usable
    assert np.abs(found.inverse - expected).max() < 1e-6 * np.abs(expected).max()
    for wrong in (-1.0, np.nan, np.inf):
        spoilt = spd.copy()
        spoilt[3 * n - 1, 3 * n - 1] = wrong
        assert not LastLevel(spoilt).is_usable


@pytest.mark.usefixtures("granularity")
def test_a_last_level_that_is_singular_to_round_off(rng, monkeypatch):
    """The unknowns that nothing determines are left out; the others are solved for."""
    monkeypatch.setattr(hierarchy, "SHIFT", 0.0)
    n = 5
    half = rng.integers(-3, 4, size=(3 * n, 3 * n - 2)).astype(float)
    half[:, 0] = np.sign(half[:, 0]) + 4.0
    found = LastLevel(half @ half.T)
    assert found.is_usable
    values = np.linalg.eigvalsh(found.inverse)
    assert values[0] > -1e-5 * values[-1] and np.isfinite(values).all()


def usable(prepared):
    return bool(kernel.scalar(prepared.hierarchy.usable))


def test_a_small_last_level_that_is_not_definite_is_solved_directly():
    """What a kernel finds out about the coarsest matrix is read when the solve has ended."""
    A, b = system(12)
    prepared = Multigrid().prepare(A)
    assert prepared.hierarchy.levels[-1].n <= COARSEST and usable(prepared)
    dense = np.array(kernel.numpy(prepared.hierarchy.dense))
    values = np.array(kernel.numpy(A.values))
    diagonal = np.flatnonzero(A.pattern.row == A.pattern.column)
    least = np.linalg.eigvalsh(A.to_scipy().toarray())[0]
    values[diagonal] -= 5.0 * least * np.eye(3)  # smooth modes alone are negative
    again = Multigrid().prepare(BlockCsr(A.pattern, kernel.array(values, mat33)), prepared)
    assert not usable(again)
    assert again.solve(b, 1e-3).outcome is Outcome.INDEFINITE
    back = Multigrid().prepare(A, again)
    assert usable(back)
    np.testing.assert_array_equal(kernel.numpy(back.hierarchy.dense), dense)
