"""A matrix that is not positive definite is found to be none, by every linear solver and at every
size; so what a step does about it does not depend on the solver.
"""

import numpy as np
import pytest

import weft
from weft import kernel
from weft.kernel import Scalar, vec3
from weft.laws import Psd
from weft.scene.prepare import prepare
from weft.scene.scene import Scene
from weft.solve.linear.direct import have_pardiso
from weft.solve.linear.select import linear_solver
from weft.solve.linear.solver import Outcome
from weft.solve.sparse.block_csr import add_diagonal

pytestmark = pytest.mark.quick

DT = 0.02
SOLVERS = ["splu", "pcg", "multigrid", *(["pardiso"] if have_pardiso() else [])]
SIZES = [4, 9, 61]  # vertices along a side: from one level of multigrid to several


def matrix(n, psd):
    """M/h^2 and the Hessian of a sheet of n x n vertices, moved at random by a tenth of its edge;
    and a right-hand side.
    """
    cloth = weft.sheet(n, n, 0.02 * n, 0.02 * n)
    assembly = prepare(Scene(cloth, damping=0.0)).model.assembly
    rng = np.random.default_rng(n)
    x = cloth.vertices + 2e-3 * rng.normal(size=cloth.vertices.shape)
    A = assembly.hessian(kernel.points(x), psd)
    add_diagonal(A, kernel.array(cloth.mass / DT**2, Scalar))
    return A, kernel.array(rng.normal(size=x.shape), vec3)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", SOLVERS)
def test_indefinite_is_said(name, n):
    """EXACT at random positions: the least eigenvalue is far below zero (checked where that is
    cheap). No solver returns a solution as if nothing were.
    """
    A, b = matrix(n, Psd.EXACT)
    if n <= 9:
        values = np.linalg.eigvalsh(A.to_scipy().toarray())
        assert values[0] < -0.01 * values[-1]
    found = linear_solver(name, n * n).prepare(A).solve(b, 1e-6)
    assert found.outcome is Outcome.INDEFINITE, found.outcome


@pytest.mark.parametrize("name", SOLVERS)
def test_hardly_indefinite_is_said(name):
    """One vertex whose mass is negative, by just so much that the matrix is not definite any more:
    found on the way to a small error, if not before.
    """
    A, b = matrix(9, Psd.PROJECTED)
    inverse = np.linalg.inv(A.to_scipy().toarray())[120:123, 120:123]
    shift = np.zeros(81)
    shift[40] = -1.05 / np.linalg.eigvalsh(inverse)[-1]
    add_diagonal(A, kernel.array(shift, Scalar))
    values = np.linalg.eigvalsh(A.to_scipy().toarray())
    assert -1e-3 * values[-1] < values[0] < 0.0 < values[3]
    found = linear_solver(name, 81).prepare(A).solve(b, 1e-10)
    assert found.outcome is Outcome.INDEFINITE, found.outcome
