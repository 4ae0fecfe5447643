"""Factorization of symmetric matrices that may have negative eigenvalues.

Exact Hessians at solutions are such matrices. The solvers of time steps refuse them, because a
direction of such a matrix need not be a descent direction. The derivative of a solution only needs
the inverse.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse.linalg as spla

from weft import kernel
from weft.kernel import WarpArray
from weft.solve.linear.direct import _SYMMETRIC, _PardisoEngine, have_pardiso
from weft.solve.linear.solver import LinearSolution, Outcome
from weft.solve.sparse.block_csr import BlockCsr

# Indices into PARDISO's iparm: number of negative eigenvalues, number of perturbed pivots.
_NEGATIVE, _PERTURBED = 22, 13


@dataclass(eq=False)
class SymmetricIndefinite:
    """Factors of a symmetric matrix that may be indefinite.

    PARDISO's L D L^T if it is installed, else SuperLU's L U with row exchanges.

    Attributes:
        negative: number of negative eigenvalues; None: not known (SuperLU).
        singular: whether there are no factors, or factors with perturbed pivots only.
    """

    A: BlockCsr
    negative: int | None = None
    singular: bool = False

    def __post_init__(self) -> None:
        self._lu: spla.SuperLU | None = None
        if have_pardiso():
            self._engine = _PardisoEngine(self.A.pattern, _SYMMETRIC)
            values = np.array(self.A.to_scipy().data).reshape(-1)
            self.singular = not self._engine.factorize(values)
            found = self._engine._solver.iparm
            self.negative = int(found[_NEGATIVE])
            self.singular = self.singular or bool(found[_PERTURBED] > 0)
            return
        try:
            self._lu = spla.splu(self.A.to_scipy().tocsc())
        except RuntimeError:  # "Factor is exactly singular"
            self.singular = True

    def solve(self, b: WarpArray, tolerance: float = 0.0) -> LinearSolution:
        """Solve A x = b to round-off for b (n,) vec3; without meaning if A is singular."""
        rhs = np.array(kernel.numpy(b))
        x = np.zeros_like(rhs)
        if self._lu is not None:
            x = self._lu.solve(rhs.reshape(-1)).reshape(-1, 3)
        elif have_pardiso():
            x = self._engine.solve(rhs).reshape(-1, 3)
        return LinearSolution(kernel.points(x), Outcome.CONVERGED, 0, 0.0)
