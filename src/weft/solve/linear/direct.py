"""Direct solvers: MKL PARDISO through ``pypardiso`` where it is installed, else SciPy's SuperLU."""

import copy
import ctypes
import importlib.util
import os
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse.linalg as spla

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Ints
from weft.base.errors import SolverError
from weft.kernel import WarpArray, vec3
from weft.solve.linear.solver import LinearSolution, LinearSolver, Outcome, PreparedSolver
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

if TYPE_CHECKING:
    from pypardiso import PyPardisoSolver

_SYMMETRIC_POSITIVE_DEFINITE, _SYMMETRIC = 2, -2  # PARDISO's matrix types
_NOT_POSITIVE = -4  # PARDISO's error code for a pivot that is not positive
_WORTH_THREADS = 1000  # block rows; below, one thread factorizes as fast as two
_C_TYPES: dict[str, Any] = {"<f8": ctypes.c_double, "<i4": ctypes.c_int32, "<i8": ctypes.c_int64}
_SYMBOLIC, _NUMERIC, _SOLVE, _RELEASE = 11, 22, 33, -1  # PARDISO's phases


def have_pardiso() -> bool:
    """Return True if ``pypardiso`` is installed (``pip install 'weft[direct]'``; x86 only)."""
    return importlib.util.find_spec("pypardiso") is not None


@dataclass(frozen=True)
class Splu:
    """SciPy's SuperLU with a symmetric ordering: slow for large meshes, but always available.

    A pivot that is not positive shows that the matrix is not positive definite, as with PARDISO.
    """

    name = "splu"
    is_direct = True

    def prepare(self, A: BlockCsr, previous: PreparedSolver | None = None) -> "Factorized":
        """Factorize A. SuperLU has no separate symbolic phase, so ``previous`` is not used."""
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
        return Factorized(A, factor, factor is not None and _is_definite(factor))


def _is_definite(factor: spla.SuperLU) -> bool:
    """Return whether all pivots of a symmetric elimination are positive.

    Sylvester's law of inertia. A row permutation that differs from the column permutation shows
    that a pivot was zero.
    """
    pivots = factor.U.diagonal()
    symmetric = np.array_equal(factor.perm_r, factor.perm_c)
    return bool(symmetric and np.isfinite(pivots).all() and (pivots > 0).all())


def _upper_triangle(p: BlockPattern) -> tuple[Ints, Ints, Ints]:
    """Return the scalar upper triangle of a block pattern, which PARDISO reads: row starts,
    columns, and each entry's index in the flat (b,3,3) block values.
    """
    row, three = p.row, np.arange(3)
    block = np.flatnonzero(p.column >= row)
    count = 3 * np.bincount(row[block], minlength=p.n)  # entries of a block's first scalar row
    length = count[:, None] - three  # rows 2 and 3 have 1 and 2 entries left of the diagonal
    start = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    across = (3 * p.column[block][:, None] + three).reshape(-1)
    first = (9 * block[:, None] + three).reshape(-1)
    columns, entries = np.empty(start[-1], np.int32), np.empty(start[-1], np.int64)
    for i in range(3):
        kept = within >= i
        place = (np.repeat(start[i:-1:3], count) + within - i)[kept]
        columns[place], entries[place] = across[kept], (first + 3 * i)[kept]
    return start, columns, entries


@dataclass(frozen=True)
class Pardiso:
    """MKL PARDISO for symmetric positive definite matrices.

    The symbolic phase is reused as long as the pattern is the same object.

    Raises:
        SolverError: ``pypardiso`` is not installed.
    """

    name = "pardiso"
    is_direct = True

    def __post_init__(self) -> None:
        if not have_pardiso():
            raise SolverError(
                "linear solver pardiso", expected="pypardiso", hint="pip install 'weft[direct]'"
            )

    def prepare(self, A: BlockCsr, previous: PreparedSolver | None = None) -> "Factorized":
        """Factorize A; the numeric factors of ``previous`` are overwritten."""
        same = isinstance(previous, Factorized) and previous.A.pattern is A.pattern
        engine = previous.factor if same else _PardisoEngine(A.pattern)  # type: ignore[union-attr]
        return Factorized(A, engine, engine.factorize(kernel.numpy(A.values).reshape(-1)))


class _PardisoEngine:
    """PARDISO handle: the symbolic phase of a pattern, and the latest numeric factors.

    ``pypardiso`` finds and loads MKL. This class calls PARDISO itself, because ``factorize`` of
    ``pypardiso`` repeats the symbolic phase and copies the index arrays in every call
    (docs/decisions/0005).
    """

    def __init__(self, pattern: BlockPattern, kind: int = _SYMMETRIC_POSITIVE_DEFINITE) -> None:
        start, column, self._entry = _upper_triangle(pattern)
        self._size = 3 * pattern.n
        self._start, self._column = start + 1, column + 1  # PARDISO counts from 1
        self._values = np.empty(len(column))
        self._solver = _new_solver()
        # Parameters of our own: nested dissection, and none of the default iterative refinement,
        # which takes twice as long as the solve itself; Newton's directions do not need it.
        self._solver.iparm[[0, 1]] = 1, 2
        # Arguments of a call before and after its phase; they point to arrays of this object.
        ps, (one, none) = self._solver, (ctypes.byref(ctypes.c_int32(k)) for k in (1, 0))
        self._handle = _pointer(ps.pt), one, one, ctypes.byref(ctypes.c_int32(kind))
        arrays = (_pointer(a) for a in (self._values, self._start, self._column, ps.perm))
        size = ctypes.byref(ctypes.c_int32(self._size))
        self._matrix = size, *arrays, one, _pointer(ps.iparm), none
        self._nothing = np.zeros(1)
        self._threads = kernel.threads() if pattern.n >= _WORTH_THREADS else 1
        self._analyzed = False

    def factorize(self, values: Floats) -> bool:
        """Factorize the matrix with these block values, flat (9b,); return True if it succeeds.

        Failure means that the values are not finite or, for the positive definite type, that a
        pivot is not positive.
        """
        np.take(values, self._entry, out=self._values)
        if not np.isfinite(self._values.sum()):
            return False
        if not self._analyzed:
            self._call(_SYMBOLIC)
            self._analyzed = True
        return self._call(_NUMERIC) == 0

    def solve(self, b: Floats) -> Floats:
        """Return A^-1 b, flat (3n,)."""
        x = np.empty(self._size)
        self._call(_SOLVE, np.ascontiguousarray(b), x)
        return x

    def _call(self, phase: int, b: Floats | None = None, x: Floats | None = None) -> int:
        """Run one phase; return 0, or PARDISO's -4 if a pivot is not positive."""
        ps, error = self._solver, ctypes.c_int32(0)
        b, x = (self._nothing if a is None else a for a in (b, x))
        # Garbage collection may release another engine at any time, from within this call too. So
        # each call restores the number of threads: PARDISO crashes if a phase has fewer than the
        # symbolic one.
        set_threads = ps.libmkl.MKL_Set_Num_Threads_Local
        before = set_threads(self._threads)
        try:
            ps._mkl_pardiso(
                *self._handle,
                ctypes.byref(ctypes.c_int32(phase)),
                *self._matrix,
                _pointer(b),
                _pointer(x),
                ctypes.byref(error),
            )
        finally:
            set_threads(before)
        if error.value not in (0, _NOT_POSITIVE):
            raise SolverError(
                "PARDISO",
                got=f"error {error.value} in phase {phase}",
                expected="none",
                hint="use `linear: pcg`",
            )
        return error.value

    def __del__(self) -> None:
        if getattr(self, "_analyzed", False) and not sys.is_finalizing():
            self._call(_RELEASE)


@cache
def _load_pardiso() -> "PyPardisoSolver":
    """Load ``pypardiso`` with the path of MKL and return one of its solvers.

    Without the path, ``pypardiso`` searches all installed files twice, which takes a second or more
    in a large environment. MKL is set to give results that do not depend on the alignment of arrays
    in memory; otherwise a run that is resumed, or a frame that is computed again, differs in the
    last bits (tests/engine/solve/test_linear).
    """
    os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")
    library = mkl_library()
    if library is not None:
        os.environ.setdefault("PYPARDISO_MKL_RT", library)
    from pypardiso import PyPardisoSolver

    return PyPardisoSolver(mtype=_SYMMETRIC_POSITIVE_DEFINITE)


def mkl_library() -> str | None:
    """Return the path of the MKL library that the package ``mkl`` installed; None: not found."""
    try:
        files = metadata.distribution("mkl").files or []
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if re.fullmatch(r"(lib)?mkl_rt[.\d]*\.(so|dll|dylib)[.\d]*", file.name):
            path = Path(str(file.locate())).resolve()
            return str(path) if path.is_file() else None
    return None


def _new_solver() -> "PyPardisoSolver":
    """Return a new solver on the same library, with a handle and parameters of its own."""
    solver = copy.copy(_load_pardiso())
    solver.pt, solver.iparm = np.zeros_like(solver.pt), np.zeros_like(solver.iparm)
    return solver


def _pointer(a: AnyArray) -> Any:
    """Return a C pointer to the memory of an array, which the caller has to keep.

    ``a.ctypes.data_as`` would leave a reference cycle at every call.
    """
    return ctypes.byref(_C_TYPES[a.dtype.str].from_address(a.ctypes.data))


@dataclass(frozen=True, eq=False)
class Factorized:
    """A matrix with the factors of a direct solver."""

    A: BlockCsr
    factor: Any  # ``spla.SuperLU`` or ``_PardisoEngine``, with a method ``solve``
    definite: bool  # whether the matrix is positive definite, so that the factors can be used

    def solve(self, b: WarpArray, tolerance: float) -> LinearSolution:
        """Solve A x = b; the residual is not computed, so ``residual`` is NaN."""
        if not self.definite:
            finite = bool(np.isfinite(kernel.numpy(self.A.values).sum()))
            outcome = Outcome.INDEFINITE if finite else Outcome.NOT_FINITE
            return LinearSolution(kernel.zeros(self.A.n, vec3), outcome, 0, float("inf"))
        x = self.factor.solve(np.array(kernel.numpy(b)).reshape(-1)).reshape(-1, 3)
        outcome = Outcome.CONVERGED if np.isfinite(x).all() else Outcome.NOT_FINITE
        return LinearSolution(kernel.array(x, vec3), outcome, 0, float("nan"))


def direct_solver() -> LinearSolver:
    """Return PARDISO if it is installed, else SuperLU."""
    return Pardiso() if have_pardiso() else Splu()


def factorize(A: BlockCsr) -> PreparedSolver:
    """Factorize A by ``direct_solver``.

    Blocks of zeros are left out. They depend on earlier contacts, and would change the elimination
    order and with it the last bits of solutions.
    """
    return direct_solver().prepare(A.without_zeros())
