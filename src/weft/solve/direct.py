"""Direct solvers: MKL PARDISO through ``pypardiso`` where installed, SciPy's SuperLU everywhere."""

import importlib.util
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from weft import kernel
from weft.arrays import Floats
from weft.errors import SolverError
from weft.kernel import WarpArray, vec3
from weft.solve.base import LinearSolution, Outcome
from weft.solve.block_csr import BlockCsr, BlockPattern

_SYMMETRIC_POSITIVE_DEFINITE = 2  # PARDISO's matrix type
_SYMBOLIC, _NUMERIC, _SOLVE, _RELEASE = 11, 22, 33, -1  # PARDISO's phases


def have_pardiso() -> bool:
    """True where ``pypardiso`` is installed (``pip install 'weft[direct]'``; x86 only)."""
    return importlib.util.find_spec("pypardiso") is not None


@dataclass(frozen=True)
class Splu:
    """SciPy's SuperLU on the symmetric pattern. Slow for large meshes, but always there."""

    name = "splu"
    is_direct = True

    def prepare(self, A: BlockCsr, previous: Any = None) -> "PreparedSplu":
        """Factorize. SuperLU keeps no symbolic phase, so ``previous`` is not used."""
        matrix = A.to_scipy().tocsc()
        try:
            factor = spla.splu(
                matrix,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=0.0,
                options={"SymmetricMode": True},
            )
        except RuntimeError:  # "Factor is exactly singular"
            factor = None
        return PreparedSplu(A, factor)


@dataclass(frozen=True, eq=False)
class PreparedSplu:
    """A factorization; None where the matrix is singular."""

    A: BlockCsr
    factor: Any

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b; ``residual`` is |Ax - b|/|b| in the 2-norm."""
        rhs = np.array(kernel.numpy(b))
        x = self.factor.solve(rhs.reshape(-1)) if self.factor is not None else rhs * np.nan
        return _solution(self.A, x.reshape(-1, 3), rhs)


@dataclass(frozen=True, eq=False)
class _UpperMap:
    """The scalar upper triangle of a block pattern, and where its values stand among the blocks."""

    pattern: BlockPattern

    @cached_property
    def structure(self) -> tuple[Any, Any, Any]:
        """Row starts, columns, and for each entry its index in the flat (b,3,3) values."""
        p = self.pattern
        numbers = np.arange(1, 9 * p.n_blocks + 1, dtype=np.int64).reshape(-1, 3, 3)
        full = sp.bsr_matrix((numbers, p.column, p.row_start), shape=(3 * p.n, 3 * p.n))
        upper = sp.triu(full.tocsr(), format="csr")
        upper.sort_indices()
        return upper.indptr.astype(np.int32), upper.indices.astype(np.int32), upper.data - 1


@dataclass(frozen=True)
class Pardiso:
    """MKL PARDISO for symmetric positive definite matrices.

    The symbolic phase is kept while the pattern holds.
    """

    name = "pardiso"
    is_direct = True

    def __post_init__(self) -> None:
        if not have_pardiso():
            raise SolverError(
                "linear solver pardiso", expected="pypardiso", hint="pip install 'weft[direct]'"
            )

    def prepare(self, A: BlockCsr, previous: Any = None) -> "PreparedPardiso":
        """Factorize; the numeric factors of ``previous`` are overwritten."""
        if isinstance(previous, PreparedPardiso) and previous.A.pattern is A.pattern:
            engine = previous.engine
        else:
            engine = _PardisoEngine(A.pattern)
        values = kernel.numpy(A.values).reshape(-1)
        return PreparedPardiso(A, engine, engine.factorize(values))


class _PardisoEngine:
    """One PARDISO handle: the symbolic phase of a pattern, and its current numeric factors."""

    def __init__(self, pattern: BlockPattern) -> None:
        from pypardiso import PyPardisoSolver

        start, column, self._entry = _UpperMap(pattern).structure
        size = 3 * pattern.n
        self._matrix = sp.csr_matrix(
            (np.ones(len(column)), column, start), shape=(size, size), copy=False
        )
        self._solver = PyPardisoSolver(mtype=_SYMMETRIC_POSITIVE_DEFINITE)
        self._analyzed = False

    def factorize(self, values: Floats) -> bool:
        """True where the matrix is positive definite."""
        np.take(values, self._entry, out=self._matrix.data)
        if not np.isfinite(self._matrix.data).all():
            return False
        if not self._analyzed:
            self._call(_SYMBOLIC, None)
            self._analyzed = True
        try:
            self._call(_NUMERIC, None)
        except Exception as error:  # PyPardisoError -4: zero or negative pivot
            if "-4" not in str(error):
                raise
            return False
        return True

    def solve(self, b: Floats) -> Floats:
        """A^-1 b."""
        return self._call(_SOLVE, b)

    def _call(self, phase: int, b: Floats | None) -> Floats:
        self._solver.set_phase(phase)
        rhs = np.zeros((self._matrix.shape[0], 1)) if b is None else b.reshape(-1, 1)
        result: Floats = self._solver._call_pardiso(self._matrix, rhs)
        return result

    def __del__(self) -> None:
        if getattr(self, "_analyzed", False):
            self._call(_RELEASE, None)


@dataclass(frozen=True, eq=False)
class PreparedPardiso:
    """A numeric factorization."""

    A: BlockCsr
    engine: _PardisoEngine
    definite: bool

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b; ``residual`` is |Ax - b|/|b| in the 2-norm."""
        rhs = np.array(kernel.numpy(b))
        if not self.definite:
            return LinearSolution(kernel.zeros(self.A.n, vec3), Outcome.INDEFINITE, 0, float("inf"))
        return _solution(self.A, self.engine.solve(rhs).reshape(-1, 3), rhs)


def _solution(A: BlockCsr, x: Floats, b: Floats) -> LinearSolution:
    x_device = kernel.array(x, vec3)
    if not np.isfinite(x).all():
        return LinearSolution(x_device, Outcome.NOT_FINITE, 0, float("inf"))
    product = kernel.empty(A.n, vec3)
    A.multiply(x_device, product)
    error, size = (float(np.linalg.norm(a)) for a in (kernel.numpy(product) - b, b))
    residual = error / max(size, 1e-300)
    return LinearSolution(x_device, Outcome.CONVERGED, 0, residual)
