"""Solve with A + sum of c_i u_i u_i^T by Woodbury's formula.

The terms c u u^T are dense parts of a Hessian (the Hessian of a volume's pressure, for example)
that a few vectors describe.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.kernel import WarpArray
from weft.solve.linear.solver import LinearSolution, PreparedSolver
from weft.solve.sparse.vectors import combine, dot


@dataclass(frozen=True, eq=False)
class LowRankUpdate:
    """Rank-one matrix c u u^T with c > 0."""

    c: float
    u: WarpArray  # (n,) vec3

    def times(self, v: Floats) -> Floats:
        """Return the product with v, (n,3)."""
        u = np.array(kernel.numpy(self.u))
        return self.c * float((u * v).sum()) * u


def solve_updated(
    prepared: PreparedSolver, b: WarpArray, tolerance: float, updates: Sequence[LowRankUpdate]
) -> LinearSolution:
    """Solve (A + sum c u u^T) x = b by Woodbury's formula.

    Args:
        prepared: A, prepared for solves.
        b: (n,) vec3 right-hand side.
        tolerance: relative error of an iterative solver.
        updates: the rank-one terms; each costs one more solve with A.

    Returns:
        The solution, with the iterations of all solves; or the first solve that failed.
    """
    base = prepared.solve(b, tolerance)
    if not updates or not base.outcome.ok:
        return base
    solved, iterations, rescued = [], base.iterations, base.rescued
    for update in updates:
        found = prepared.solve(update.u, tolerance)
        if not found.outcome.ok:
            return found
        solved.append(found.x)
        iterations, rescued = iterations + found.iterations, rescued or found.rescued
    small = np.diag([1 / update.c for update in updates])
    small += [[dot(i.u, y) for y in solved] for i in updates]
    for y, s in zip(solved, np.linalg.solve(small, [dot(i.u, base.x) for i in updates])):
        combine(base.x, -float(s), y, base.x)
    return dataclasses.replace(base, iterations=iterations, rescued=rescued)
