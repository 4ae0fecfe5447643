"""Linear solvers against dense algebra, and how each says that it cannot."""

import subprocess
import sys

import numpy as np
import pytest

from tests.refusals import refused
from weft import kernel
from weft.base.errors import SolverError
from weft.kernel import mat33, vec3
from weft.solve.linear import direct
from weft.solve.linear.direct import have_pardiso
from weft.solve.linear.select import linear_solver
from weft.solve.linear.solver import Outcome
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

pytestmark = pytest.mark.quick

NAMES = ["multigrid", "pcg", "splu", *(["pardiso"] if have_pardiso() else [])]


def spd(n, rng, shift=1.0):
    """A random positive definite matrix on a ring with chords."""
    stencil = np.stack([np.arange(n), (np.arange(n) + 1) % n, (np.arange(n) + 5) % n], axis=1)
    pattern = BlockPattern.of(n, [stencil.astype(np.int32)])
    dense = np.zeros((n, 3, n, 3))
    for ids in stencil:
        g = rng.normal(size=(9, 9))
        K = (g @ g.T).reshape(3, 3, 3, 3)
        for a, i in enumerate(ids):
            for b, j in enumerate(ids):
                dense[i, :, j, :] += K[a, :, b, :]
    dense = dense.reshape(3 * n, 3 * n) + shift * np.eye(3 * n)
    blocks = dense.reshape(n, 3, n, 3)[pattern.row, :, pattern.column, :]
    return BlockCsr(pattern, kernel.array(blocks, mat33)), dense


def changed(A, at, by):
    """A matrix with something added to its blocks ``at``."""
    values = np.array(kernel.numpy(A.values))
    values[at] = values[at] + by
    return BlockCsr(A.pattern, kernel.array(values, mat33))


@pytest.mark.parametrize("n", [7, 60])
@pytest.mark.parametrize("name", NAMES)
def test_solution(name, n, rng):
    A, dense = spd(n, rng)
    b = rng.normal(size=(n, 3))
    exact = np.linalg.solve(dense, b.reshape(-1)).reshape(-1, 3)
    solution = linear_solver(name).prepare(A).solve(kernel.array(b, vec3), 1e-12)
    assert solution.outcome is Outcome.CONVERGED
    np.testing.assert_allclose(kernel.numpy(solution.x), exact, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("name", NAMES)
def test_symbolic_work_is_kept_and_harmless(name, rng):
    """New values on the same pattern, with what the old matrix left behind."""
    solver, b = linear_solver(name), rng.normal(size=(30, 3))
    A, _ = spd(30, rng)
    prepared = solver.prepare(A)
    other, dense = spd(30, rng)
    B = BlockCsr(A.pattern, other.values)
    solution = solver.prepare(B, prepared).solve(kernel.array(b, vec3), 1e-12)
    exact = np.linalg.solve(dense, b.reshape(-1)).reshape(-1, 3)
    np.testing.assert_allclose(kernel.numpy(solution.x), exact, atol=1e-8 * np.abs(exact).max())


@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_pcg_stops_at_the_energy_norm_of_the_error(tolerance, rng):
    """The estimate is honest: the true relative error in the energy norm is within 3 tolerances."""
    A, dense = spd(300, rng, shift=1e-2)
    b = rng.normal(size=(300, 3))
    exact = np.linalg.solve(dense, b.reshape(-1))
    solution = linear_solver("pcg").prepare(A).solve(kernel.array(b, vec3), tolerance)
    e = np.array(kernel.numpy(solution.x)).reshape(-1) - exact
    assert np.sqrt(e @ dense @ e) <= 3 * tolerance * np.sqrt(exact @ dense @ exact)
    assert solution.iterations > 0


@pytest.mark.parametrize("name", [n for n in NAMES if n != "splu"])
def test_indefinite_matrix_is_an_outcome(name, rng):
    A, dense = spd(20, rng)
    shift = np.linalg.eigvalsh(dense)[30]
    B, b = changed(A, A.pattern.diagonal, -shift * np.eye(3)), rng.normal(size=(20, 3))
    solution = linear_solver(name).prepare(B).solve(kernel.array(b, vec3), 1e-10)
    assert solution.outcome is Outcome.INDEFINITE
    assert "psd=PROJECTED" in solution.outcome.advice


def test_indefinite_diagonal_block_is_not_taken_for_convergence(rng):
    """Freecloth's silent stop: r.P^-1 r turns negative, which is not small."""
    A, _ = spd(20, rng)
    own = A.pattern.diagonal[7]
    B = changed(A, own, np.diag([50.0, 50.0, -50.0]) - kernel.numpy(A.values)[own])
    b = np.zeros((20, 3))
    b[7] = [0.1, 0.1, 5.0]
    for tolerance in (1e-1, 1e-8):
        solution = linear_solver("pcg").prepare(B).solve(kernel.array(b, vec3), tolerance)
        assert solution.outcome is Outcome.INDEFINITE


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


def test_the_host_reads_once_in_a_solve(rng):
    """Step lengths and the stop test stay on the device; nothing is uploaded."""
    A, _ = spd(60, rng)
    b = kernel.array(rng.normal(size=(60, 3)), vec3)
    for name in ("multigrid", "pcg"):
        prepared = linear_solver(name).prepare(A)
        prepared.solve(b, 1e-6)
        with kernel.count_traffic() as traffic:
            assert prepared.solve(b, 1e-6).iterations > 3
        assert (traffic.uploads, traffic.downloads, traffic.scalars) == (0, 0, 1)


@pytest.mark.parametrize("name", NAMES)
def test_not_finite_is_an_outcome(name, rng):
    A, _ = spd(20, rng)
    B, b = changed(A, 3, np.nan), rng.normal(size=(20, 3))
    solution = linear_solver(name).prepare(B).solve(kernel.array(b, vec3), 1e-10)
    assert not solution.outcome.ok


def test_zero_right_hand_side(rng):
    A, _ = spd(10, rng)
    for name in NAMES:
        solution = linear_solver(name).prepare(A).solve(kernel.zeros(10, vec3), 1e-6)
        assert solution.outcome.ok and not kernel.numpy(solution.x).any()


def test_unknown_solver():
    with refused(
        SolverError,
        "linear solver",
        got="'cholmod'",
        expected="auto, multigrid, pcg, pardiso, splu",
    ):
        linear_solver("cholmod")


def test_pardiso_missing_says_what_to_install(monkeypatch):
    monkeypatch.setattr("weft.solve.linear.direct.have_pardiso", lambda: False)
    with refused(SolverError, "linear solver pardiso", hint="weft[direct]"):
        linear_solver("pardiso")


def test_product(rng):
    A, dense = spd(40, rng)
    x = rng.normal(size=(40, 3))
    np.testing.assert_allclose((A @ x).reshape(-1), dense @ x.reshape(-1), atol=1e-10)


@pytest.mark.skipif(not have_pardiso(), reason="needs pypardiso")
def test_mkl_is_found_without_a_walk_through_what_is_installed():
    code = (
        "import glob\n"
        "def walked(*a, **k): raise AssertionError('searched')\n"
        "glob.glob = walked\n"
        "from weft.solve.linear import direct\n"
        "print(direct.mkl_library())\n"
        "direct._load_pardiso()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    if done.stdout.strip() == "None":
        pytest.skip("MKL was not installed by pip")
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not have_pardiso(), reason="no pypardiso")
def test_an_engine_released_within_a_call_leaves_its_number_of_threads(rng, monkeypatch):
    """Garbage collection may release an engine of one thread while another one's call begins.
    PARDISO crashed if a numeric phase then had one thread after a symbolic one of two.
    """
    A, _ = spd(12, rng)
    engine, other = (direct._PardisoEngine(A.pattern) for _ in range(2))
    engine._threads = 2
    values = kernel.numpy(A.values).reshape(-1)
    assert engine.factorize(values) and other.factorize(values)
    mkl, told = engine._solver.libmkl, []
    run, pointer, garbage = engine._solver._mkl_pardiso, direct._pointer, [other]
    del other

    def record(*arguments):
        told.append(mkl.MKL_Get_Max_Threads())
        run(*arguments)

    def collect(array):
        garbage.clear()
        return pointer(array)

    monkeypatch.setattr(engine._solver, "_mkl_pardiso", record)
    earlier = mkl.MKL_Set_Num_Threads_Local(3)  # the number of this thread outside of calls
    try:
        engine.factorize(values)
        monkeypatch.setattr(direct, "_pointer", collect)
        engine.factorize(values)
    finally:
        left = mkl.MKL_Set_Num_Threads_Local(earlier)
    assert told[0] == told[1]
    assert left == 3
