"""Linear solves with the exact Hessian of a step at its solution.

The Hessian is symmetric, so a transposed solve is a solve. It may have negative eigenvalues (a
solution that is no minimum, or barely one); then it is factorized without asking for definiteness.
If it is singular, something moves freely, and the derivative by what would hold it does not exist;
then a small part of the largest diagonal number is added to the diagonal, and the report says so.

Some terms give a Gauss-Newton matrix for EXACT (``energies.elastic.curvature_damping``). The part
that such a matrix leaves out is measured by differences of gradients, and the solve is iterated
with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints
from weft.base.differences import slope_at_zero
from weft.base.errors import SimulationError
from weft.energies.derivative import differentiable
from weft.integrators.assembly import sum_gradients
from weft.integrators.potential import Potential
from weft.kernel import WarpArray
from weft.solve.linear.low_rank import solve_updated
from weft.solve.linear.solver import LinearSolver, Outcome
from weft.solve.linear.symmetric_indefinite import SymmetricIndefinite
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal, close

ITERATIVE = 1e-12  # relative error of iterative solvers in the energy norm
PRECISE = 1e-7  # relative residual above which a direct solver takes over
SHIFT = 1e-9  # added to a singular matrix, relative to its largest diagonal number
DIFFERENCE = 1e-4  # step of finite differences, relative to the size of the scene
LAGGED, LOOSE = 200, 1e-7  # GMRES with lagged loads: iterations, and largest relative residual
MOST = 60  # GMRES iterations if the matrix is not the whole Hessian


@dataclass(eq=False)
class Hessian:
    """The matrix d2Phi/dx2 of a potential at x (n,) vec3, ready for solves.

    Attributes:
        kind: ``definite``, ``indefinite``, ``singular``, or definite by a direct solver.
        negative: number of negative eigenvalues; None if they were not counted.
    """

    phi: Potential
    x: WarpArray
    solver: LinearSolver
    prepared: Any = None  # of another step, whose symbolic work is reused
    kind: str = "definite"
    negative: int | None = 0

    def __post_init__(self) -> None:
        phi = self.phi
        terms = differentiable(phi.terms_of_phi)
        self._left_out = [t for t in terms if not t.has_exact_hessian]
        A = phi._matrix.begin()
        for term in terms:
            A = term.add_mean_hessian(self.x, A)
        A = A.finish()
        self._pins = _Rows.of(A, phi.step.fixed)
        close(A, phi._fixed)
        self.A, self._updates = A, phi.updates_at(self.x)
        self.prepared = self.solver.prepare(A, self.prepared)
        self._symmetric: SymmetricIndefinite | None = None

    def solve(self, b: Floats) -> Floats:
        """Return (n,3) the solution of H x = b, zero at prescribed vertices."""
        b = np.where(self.phi.free[:, None], b, 0.0)
        if not b.any():
            return np.zeros_like(b)
        if not self._left_out:
            return self._matrix_solve(b)
        from scipy.sparse.linalg import LinearOperator, gmres

        size = b.size
        H = LinearOperator((size, size), lambda v: self.times(v.reshape(-1, 3)).reshape(-1))
        P = LinearOperator((size, size), lambda v: self._matrix_solve(v.reshape(-1, 3)).reshape(-1))
        found, _ = gmres(H, b.reshape(-1), M=P, rtol=1e-12, atol=0.0, restart=MOST, maxiter=1)
        return np.asarray(found).reshape(-1, 3)

    def solve_lagged(self, b: Floats, lagged: Callable[[Floats], Floats]) -> Floats:
        """Return (n,3) the solution of (H + J) x = b, zero at prescribed vertices.

        ``lagged`` returns J v, the change of loads that are evaluated at x itself. J is not
        symmetric, so the method is GMRES, preconditioned by H.

        Raises:
            SimulationError: GMRES does not converge, for example if loads change faster than
                forces.
        """
        b = np.where(self.phi.free[:, None], b, 0.0)
        if not b.any():
            return np.zeros_like(b)
        from scipy.sparse.linalg import LinearOperator, gmres

        def whole(v: Floats) -> Floats:
            v = np.where(self.phi.free[:, None], v.reshape(-1, 3), 0.0)
            out = np.where(self.phi.free[:, None], self.times(v) + lagged(v), v)
            return out.reshape(-1)

        def inner(v: Floats) -> Floats:
            return self.solve(v.reshape(-1, 3)).reshape(-1)

        size = b.size
        H, P = LinearOperator((size, size), whole), LinearOperator((size, size), inner)
        x, _ = gmres(H, b.reshape(-1), M=P, rtol=1e-12, atol=0.0, restart=LAGGED, maxiter=2)
        off = float(np.linalg.norm(whole(x) - b.reshape(-1)) / np.linalg.norm(b))
        if not off <= LOOSE:  # NaN fails as well
            raise SimulationError(
                f"derivative of the equilibrium at t = {self.phi.step.t:.6g} s",
                got=f"a relative residual of {off:.2g}",
                expected=f"at most {LOOSE:g}",
                hint="its loads (friction, wind) change faster than the forces that balance them",
            )
        return np.asarray(x.reshape(-1, 3))

    def times(self, v: Floats) -> Floats:
        """Return (n,3) H v at free vertices, with v set to zero at prescribed ones."""
        v = np.where(self.phi.free[:, None], v, 0.0)
        out = self._product(v)
        if self._left_out:
            out += self._missing(v)
        return np.where(self.phi.free[:, None], out, 0.0)

    def multiply_at_pins(self, v: Floats) -> Floats:
        """Return (n,3) H v at prescribed vertices, zero at free ones.

        v (n,3) is zero at prescribed vertices.
        """
        out = self._pins.times(v)
        if self._updates or self._left_out:
            every = np.zeros_like(out)
            for term in self.phi.terms_of_phi:
                for update in term.updates(self.x):
                    every += update.times(v)
            if self._left_out:
                every += self._missing(v)
            out += np.where(self.phi.free[:, None], 0.0, every)
        return out

    def _matrix_solve(self, b: Floats) -> Floats:
        if self.kind == "definite":
            found = solve_updated(self.prepared, kernel.points(b), ITERATIVE, self._updates)
            if found.outcome.ok:
                x = np.array(kernel.numpy(found.x))
                if self._off(x, b) <= PRECISE:
                    return x
            self._factorize(found.outcome)
        x = self._indefinite_solve(b)
        return x + self._indefinite_solve(b - self._product(x))  # iterative refinement

    def _indefinite_solve(self, b: Floats) -> Floats:
        assert self._symmetric is not None
        found = solve_updated(self._symmetric, kernel.points(b), 0.0, self._updates)
        return np.array(kernel.numpy(found.x))

    def _factorize(self, outcome: Outcome) -> None:
        """Factorize the matrix without asking for definiteness; shift it if it is singular."""
        found = SymmetricIndefinite(self.A)
        self.kind, self.negative = "indefinite", found.negative
        if found.negative == 0 and not found.singular and outcome is not Outcome.INDEFINITE:
            self.kind = "definite, by a direct solver"
        if found.singular:
            self.kind = "singular"
            diagonal = np.abs(self.A.to_scipy().diagonal()).max()
            shift = np.where(self.phi.free, SHIFT * diagonal, 0.0)
            add_diagonal(self.A, kernel.array(shift, kernel.Scalar))
            found = SymmetricIndefinite(self.A)
        self._symmetric = found

    def _product(self, x: Floats) -> Floats:
        return self.A @ x + sum(update.times(x) for update in self._updates)

    def _off(self, x: Floats, b: Floats) -> float:
        return float(np.linalg.norm(self._product(x) - b) / max(float(np.linalg.norm(b)), 1e-300))

    def _missing(self, v: Floats) -> Floats:
        """Return the part of H v that Gauss-Newton matrices leave out.

        It is the difference between central differences of gradients and the product with these
        matrices.
        """
        at, size = np.array(kernel.numpy(self.x)), float(np.abs(v).max())
        if size == 0:
            return np.zeros_like(v)
        h = DIFFERENCE * float(np.ptp(at, axis=0).max()) / size
        out = slope_at_zero(lambda e: sum_gradients(self._left_out, at + e * v), h)
        A = BlockCsr.zeros(self.phi._matrix.pattern).begin()
        for term in self._left_out:
            A = term.add_hessian(self.x, Psd.EXACT, A)
        return out - A.finish() @ v


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of a block matrix."""

    row: Ints
    column: Ints
    values: Floats
    n: int

    @staticmethod
    def of(A: BlockCsr, which: Any) -> "_Rows":
        """Return copies of the rows for which ``which`` (n,) is true."""
        row = A.pattern.row
        kept = np.flatnonzero(which[row]) if which.any() else np.zeros(0, dtype=np.int64)
        values = np.array(kernel.numpy(A.values)[kept]) if len(kept) else np.zeros((0, 3, 3))
        return _Rows(row[kept], A.pattern.column[kept], values, A.n)

    def times(self, v: Floats) -> Floats:
        """Return (n,3) the product with v, zero in all other rows."""
        out = np.zeros((self.n, 3))
        np.add.at(out, self.row, np.einsum("bij,bj->bi", self.values, v[self.column]))
        return out
