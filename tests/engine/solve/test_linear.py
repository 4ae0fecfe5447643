"""Linear solvers against dense algebra, and how each says that it cannot."""

import numpy as np
import pytest

from tests.engine.solve.systems import solution, spd
from tests.refusals import refused
from weft import kernel
from weft.base.errors import SolverError
from weft.kernel import mat33, vec3
from weft.solve.linear.direct import Splu, have_pardiso
from weft.solve.linear.low_rank import LowRankUpdate, solve_updated
from weft.solve.linear.select import linear_solver
from weft.solve.linear.solver import Outcome
from weft.solve.sparse.block_csr import BlockCsr

pytestmark = pytest.mark.quick

NAMES = ["multigrid", "pcg", "splu", *(["pardiso"] if have_pardiso() else [])]


def changed(A, at, by):
    """A matrix with something added to its blocks ``at``."""
    values = np.array(kernel.numpy(A.values))
    values[at] = values[at] + by
    return BlockCsr(A.pattern, kernel.array(values, mat33))


def assert_solves(prepared, dense, rng):
    """A x = b is that of NumPy."""
    b = rng.normal(size=(len(dense) // 3, 3))
    exact = np.linalg.solve(dense, b.reshape(-1)).reshape(-1, 3)
    found, x = solution(prepared, b, 1e-12)
    assert found.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(x, exact, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("n", [7, 60])
@pytest.mark.parametrize("name", NAMES)
def test_solution(name, n, rng):
    A, dense = spd(n, rng)
    assert_solves(linear_solver(name).prepare(A), dense, rng)


@pytest.mark.parametrize("name", NAMES)
def test_symbolic_work_is_kept_and_harmless(name, rng):
    """New values on the same pattern, with what the old matrix left behind."""
    solver, (A, _), (other, dense) = linear_solver(name), spd(30, rng), spd(30, rng)
    B = BlockCsr(A.pattern, other.values)
    assert_solves(solver.prepare(B, solver.prepare(A)), dense, rng)


@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_pcg_stops_at_the_energy_norm_of_the_error(tolerance, rng):
    """The estimate is honest: the true relative error in the energy norm is within 3 tolerances."""
    A, dense = spd(300, rng, shift=1e-2)
    b = rng.normal(size=(300, 3))
    exact = np.linalg.solve(dense, b.reshape(-1))
    found, x = solution(linear_solver("pcg").prepare(A), b, tolerance)
    e = x.reshape(-1) - exact
    assert np.sqrt(e @ dense @ e) <= 3 * tolerance * np.sqrt(exact @ dense @ exact)
    assert found.iterations > 0


def test_indefinite_diagonal_block_is_not_taken_for_convergence(rng):
    """Freecloth's silent stop: r.P^-1 r turns negative, which is not small."""
    A, _ = spd(20, rng)
    own = A.pattern.diagonal[7]
    B = changed(A, own, np.diag([50.0, 50.0, -50.0]) - kernel.numpy(A.values)[own])
    b = np.zeros((20, 3))
    b[7] = [0.1, 0.1, 5.0]
    for tolerance in (1e-1, 1e-8):
        found, _ = solution(linear_solver("pcg").prepare(B), b, tolerance)
        assert found.outcome is Outcome.INDEFINITE


@pytest.mark.parametrize("n", [7, 300])
@pytest.mark.parametrize("name", ["multigrid", "pcg"])
def test_a_captured_graph_is_the_same_as_recorded_launches(name, n, rng):
    """What CUDA runs, on the CPU's graphs of Warp: every digit, and as many rounds."""
    A, _ = spd(n, rng, shift=1e-2)
    right_sides = [kernel.array(rng.normal(size=(n, 3)), vec3) for _ in range(2)]
    prepared = linear_solver(name).prepare(A)
    recorded = [prepared.solve(b, t) for b in right_sides for t in (0.3, 1e-6)]
    loop = type(prepared.work.iterations.loop)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "run", loop.run_graph)
        captured = [prepared.solve(b, t) for b in right_sides for t in (0.3, 1e-6)]
    for one, other in zip(recorded, captured, strict=True):
        np.testing.assert_array_equal(kernel.numpy(one.x), kernel.numpy(other.x))
        assert (one.iterations, one.residual) == (other.iterations, other.residual)
        assert one.outcome is other.outcome and one.iterations > 0


@pytest.mark.parametrize("name", NAMES)
def test_not_finite_is_an_outcome(name, rng):
    A, _ = spd(20, rng)
    B, b = changed(A, 3, np.nan), rng.normal(size=(20, 3))
    found, _ = solution(linear_solver(name).prepare(B), b, 1e-10)
    assert not found.outcome.ok


def test_pardiso_missing_says_what_to_install(monkeypatch):
    monkeypatch.setattr("weft.solve.linear.direct.have_pardiso", lambda: False)
    with refused(SolverError, "linear solver pardiso", hint="weft[direct]"):
        linear_solver("pardiso")


def test_two_updates_of_rank_one_are_woodbury(rng):
    A, dense = spd(7, rng)
    b, u, v = rng.normal(size=(3, 7, 3))
    updates = [LowRankUpdate(c, kernel.array(w, vec3)) for c, w in ((2.0, u), (50.0, v))]
    found = solve_updated(Splu().prepare(A), kernel.array(b, vec3), 1e-12, updates)
    updated = dense + 2.0 * np.outer(u, u) + 50.0 * np.outer(v, v)
    exact = np.linalg.solve(updated, b.reshape(-1)).reshape(-1, 3)
    np.testing.assert_allclose(kernel.numpy(found.x), exact, rtol=1e-8)
