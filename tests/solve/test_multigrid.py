"""Multigrid: aggregates, prolongators, a definite preconditioner, iterations that hardly grow."""

import numpy as np
import pytest
import scipy.sparse as sp

from weft import kernel
from weft.bench.multigrid import system
from weft.kernel import vec3
from weft.solve import multigrid
from weft.solve.aggregation import COARSEST, aggregates, coarsenings
from weft.solve.block_csr import BlockPattern
from weft.solve.multigrid import LARGEST, Multigrid


@pytest.fixture(scope="module")
def sheet():
    A, b = system(30)
    return A, b, Multigrid().prepare(A)


def csr(c, values=None):
    start, column = kernel.numpy(c.start), kernel.numpy(c.column)
    values = np.ones(len(column)) if values is None else values
    return sp.csr_matrix((values, column, start))


def test_near_are_the_triangles_also_beside_pairs_and_hinges():
    """Aggregates of the pairs' graph, which joins second neighbors, cost a quarter more."""
    from weft.mesh import grid
    from weft.solve.block_csr import BlockPattern

    mesh = grid(6, 5, 1, 1)
    pairs = mesh.hinges[:, 2:]
    expected = BlockPattern.of(mesh.n_vertices, [mesh.faces])
    for others in ([pairs], [mesh.hinges], [pairs, mesh.hinges]):
        near = BlockPattern.of(mesh.n_vertices, [mesh.faces, *others]).near
        np.testing.assert_array_equal(near.column, expected.column)


def test_aggregates_cover_and_hang_together(sheet):
    p = sheet[0].pattern
    graph = sp.csr_matrix((np.ones(p.n_blocks), p.column, p.row_start))
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
    assert len(levels) >= 2 and levels[-1].coarse.n <= COARSEST * 10
    for level in levels:
        P = csr(level.by.P, kernel.numpy(level.by.weight))
        np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-6)


def test_coarse_matrices_are_galerkin_products(sheet):
    """P^T A P against SciPy, and the pins' rows out of P."""
    A, _, prepared = sheet
    hierarchy = prepared.hierarchy
    c, coarse = hierarchy.transfers[0].c, hierarchy.levels[1]
    P = csr(c.by.P, kernel.numpy(hierarchy.transfers[0].weight).astype(float))
    pinned = kernel.numpy(hierarchy.keep) == 0
    assert pinned.sum() == 2 and not P[pinned].toarray().any()
    P3 = sp.kron(P, sp.identity(3)).tocsr()
    expected = (P3.T @ A.to_scipy().tocsr() @ P3).toarray()
    blocks = (kernel.numpy(coarse.values), kernel.numpy(coarse.rows.column))
    got = sp.bsr_matrix((*blocks, kernel.numpy(coarse.rows.start))).toarray()
    np.testing.assert_allclose(got, expected, atol=1e-5 * np.abs(expected).max())


def test_preconditioner_is_symmetric_and_definite(sheet, rng):
    _, _, prepared = sheet
    n = prepared.A.n
    free = kernel.numpy(prepared.hierarchy.keep)[:, None] > 0

    def apply(r):
        z = kernel.empty(n, vec3)
        prepared.hierarchy.apply(kernel.array(r, vec3), z)
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
    for n in (1, 2, 3):
        threads(n)
        results.append(np.array(kernel.numpy(Multigrid().prepare(A).solve(b, 1e-3).x)))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_smoother_widens_where_it_must(rng):
    """Large stencils have larger eigenvalues of D^-1 A than 3: the solve notices and goes on."""
    n, k = 120, 12
    stencil = np.array([rng.choice(n, k, replace=False) for _ in range(100)], dtype=np.int32)
    pattern = BlockPattern.of(n, [stencil])
    dense = np.eye(3 * n)
    for ids in stencil:
        g = np.zeros(n)
        g[ids] = 1.0
        dense += 100 * np.kron(np.outer(g, g), np.eye(3))
    from weft.kernel import mat33
    from weft.solve.block_csr import BlockCsr

    blocks = dense.reshape(n, 3, n, 3)[pattern.row, :, pattern.column, :]
    A = BlockCsr(pattern, kernel.array(blocks, mat33))
    b = rng.normal(size=(n, 3))
    prepared = Multigrid().prepare(A)
    solution = prepared.solve(kernel.array(b, vec3), 1e-10)
    exact = np.linalg.solve(dense, b.reshape(-1)).reshape(-1, 3)
    assert solution.outcome.ok
    np.testing.assert_allclose(kernel.numpy(solution.x), exact, atol=1e-5 * np.abs(exact).max())
    assert prepared.hierarchy.high >= LARGEST


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
    import scipy.sparse.linalg as spla

    return spla.spsolve(A.to_scipy().tocsc(), kernel.numpy(b).reshape(-1)).reshape(-1, 3)


def test_pieces_without_pins(rng):
    """Many small separate pieces, more than a last level inverts: still solved."""
    n = 900
    stencil = np.arange(n, dtype=np.int32).reshape(-1, 3)
    pattern = BlockPattern.of(n, [stencil])
    from weft.kernel import mat33
    from weft.solve.block_csr import BlockCsr

    blocks = np.zeros((pattern.n_blocks, 3, 3))
    blocks[:] = -0.4 * np.eye(3)
    blocks[pattern.diagonal] = np.eye(3)
    A = BlockCsr(pattern, kernel.array(blocks, mat33))
    b = rng.normal(size=(n, 3))
    solution = Multigrid().prepare(A).solve(kernel.array(b, vec3), 1e-8)
    assert solution.outcome.ok
    np.testing.assert_allclose(A @ np.array(kernel.numpy(solution.x)), b, atol=1e-5)


def test_one_launch_is_the_same_as_many(monkeypatch, rng):
    """The second-to-last level visited by one thread, bitwise."""
    A, b = system(30)
    results = []
    for limit in (1000, 0):
        monkeypatch.setattr(multigrid, "ONE_LAUNCH", limit)
        prepared = Multigrid().prepare(A)
        assert (prepared.hierarchy.last is not None) == (limit > 0)
        results.append(np.array(kernel.numpy(prepared.solve(b, 1e-8).x)))
    np.testing.assert_array_equal(*results)


def test_a_new_pattern_gets_a_new_hierarchy(sheet):
    """As when contact adds blocks: what was prepared for another pattern is not used."""
    _, _, prepared = sheet
    other, load = system(24)
    again = Multigrid().prepare(other, prepared)
    assert again.hierarchy is not prepared.hierarchy
    solution = again.solve(load, 1e-8)
    exact = direct_solution(other, load)
    error = np.abs(kernel.numpy(solution.x) - exact).max()
    assert solution.outcome.ok and error < 1e-6 * np.abs(exact).max()


def test_aggregates_of_large_meshes_are_on_the_surface(monkeypatch):
    """Seven vertices of a regular grid at most, where hinges would make thirteen."""
    from weft.solve import aggregation

    A, _ = system(30)
    assert A.pattern.near is not None and A.pattern.near.n_blocks < A.pattern.n_blocks
    sizes = []
    for small in (10**6, 0):
        monkeypatch.setattr(aggregation, "SMALL", small)
        monkeypatch.setattr(aggregation, "_made", {})
        sizes.append(coarsenings(A.pattern)[0].coarse.n)
    assert sizes[1] > 1.4 * sizes[0]


def test_blocks_that_contact_adds_change_products_alone(rng):
    """Patterns of all levels are SciPy's, with the prolongators of the pattern without contact."""
    A, _ = system(20)
    own, n = A.pattern, A.pattern.n
    pairs = rng.integers(0, n, (40, 4)).astype(np.int32)
    more = BlockPattern.of(n, [pairs])
    both = (of_pattern(own) + of_pattern(more)).tocsr()
    both.sort_indices()
    pattern = BlockPattern(n, both.indptr, both.indices, base=own)
    graph, alone = both, coarsenings(own)
    for level, before in zip(coarsenings(pattern), alone, strict=True):
        assert level.by is before.by
        P = csr(level.by.P, np.ones(level.by.P.nnz))
        AP = (graph @ P).tocsr()
        graph = (P.T @ AP).tocsr()
        for expected, got in ((AP, level.AP), (graph, level.coarse)):
            expected.sort_indices()
            assert (kernel.numpy(got.start) == expected.indptr).all()
            assert (kernel.numpy(got.column) == expected.indices).all()
        rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
        diagonal = kernel.numpy(level.coarse_diagonal)
        assert (rows[diagonal] == np.arange(graph.shape[0])).all()
        assert (graph.indices[diagonal] == np.arange(graph.shape[0])).all()
    assert coarsenings(pattern)[0].AP.nnz > alone[0].AP.nnz


def of_pattern(pattern):
    """A SciPy matrix of ones."""
    ones = np.ones(pattern.n_blocks)
    return sp.csr_matrix((ones, pattern.column, pattern.row_start), (pattern.n, pattern.n))
