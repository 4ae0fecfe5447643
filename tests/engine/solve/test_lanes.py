"""Cholesky in lanes: right, the same in every lane, and honest about what it cannot do."""

import numpy as np
import pytest
import scipy.sparse.linalg as spla

import weft
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SolverError
from weft.kernel import mat33
from weft.solve.linear.batched_cholesky import BatchedFactors, LaneCholesky, SymbolicCholesky
from weft.solve.linear.batched_cholesky_kernels import LANES
from weft.solve.linear.solver import Outcome
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick


def matrix(n=9, scale=1.0):
    cloth = weft.sheet(n, n, fabric="cotton")
    scene = weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))])
    state = scene.state()
    phi = scene.stepper().potential(scene.model(), state, {}, 0.02)
    x = state.x + 1e-3 * scale * np.random.default_rng(0).normal(size=state.x.shape)
    return phi.matrix_at(kernel.points(phi.step.move_pins(x)))


def test_agrees_with_scipy():
    A = matrix()
    b = np.random.default_rng(1).normal(size=(A.n, 3))
    found = LaneCholesky().prepare(A).solve(kernel.points(b), 0.0)
    expected = spla.spsolve(A.to_scipy().tocsc(), b.reshape(-1)).reshape(-1, 3)
    assert found.outcome is Outcome.CONVERGED
    assert np.abs(kernel.numpy(found.x) - expected).max() < 1e-11 * np.abs(expected).max()


def test_a_matrix_does_not_know_its_neighbors():
    """Eleven matrices in two groups of lanes: each has the bits that it has alone, also where
    others are replaced, or are no numbers.
    """
    A, count = matrix(), LANES + 3
    values = kernel.numpy(A.values).copy()
    rng = np.random.default_rng(2)
    many = np.concatenate([values * (1 + 0.1 * k) for k in range(count)])
    b = rng.normal(size=(count * A.n, 3))
    factors, out = BatchedFactors(A.pattern, count), kernel.points(np.zeros((count * A.n, 3)))
    factors.factorize(kernel.array(many, mat33), range(count))
    many[: len(values)] = np.nan
    many[len(values) : 2 * len(values)] *= 3
    factors.factorize(kernel.array(many, mat33), (0, 1))
    factors.solve(kernel.points(b), range(count), out)
    rows = kernel.numpy(out).reshape(count, -1, 3)
    assert not np.isfinite(rows[0]).all()
    for k in range(1, count):
        scale = 3 * (1 + 0.1) if k == 1 else 1 + 0.1 * k
        own = many[k * len(values) : (k + 1) * len(values)]
        one = BlockCsr(A.pattern, kernel.array(own.copy(), mat33))
        alone = LaneCholesky().prepare(one).solve(kernel.points(b[k * A.n : (k + 1) * A.n]), 0.0)
        assert np.array_equal(rows[k], kernel.numpy(alone.x)), (k, scale)


@pytest.mark.parametrize("what, outcome", [(-1.0, "INDEFINITE"), (np.nan, "INDEFINITE")])
def test_says_what_it_cannot_factorize(what, outcome):
    A = matrix(5)
    values = kernel.numpy(A.values).copy()
    values[A.pattern.diagonal[7]] *= what
    bad = BlockCsr(A.pattern, kernel.array(values, mat33))
    found = LaneCholesky().prepare(bad).solve(kernel.points(np.ones((A.n, 3))), 0.0)
    assert found.outcome is Outcome[outcome]


def test_fill_is_that_of_elimination():
    """Blocks of the factor are those that a dense elimination of the pattern makes."""
    pattern = matrix(5).pattern
    s = SymbolicCholesky.of(pattern)
    full = np.zeros((pattern.n, pattern.n), dtype=bool)
    full[s.place[pattern.row], s.place[pattern.column]] = True
    for j in range(pattern.n):
        below = np.flatnonzero(full[:, j] & (np.arange(pattern.n) > j))
        full[np.ix_(below, below)] = True
    column = np.repeat(np.arange(pattern.n), np.diff(s.first))
    assert set(zip(s.row_of.tolist(), column.tolist())) == set(
        zip(*(a.tolist() for a in np.nonzero(np.tril(full))))
    )


def test_large_patterns_are_refused():
    with refused(SolverError, "lanes", got="3000"):
        SymbolicCholesky.of(BlockPattern.of(3000, []))
