"""The outer loop of lagged friction (Li et al. 2020, section 5).

A potential is minimized with fixed friction data (normal forces, sliding directions); these are
evaluated again at the minimum, and so on.
"""

import dataclasses

import numpy as np

from weft import kernel
from weft.integrators.potential import Potential, Reached
from weft.solve.linear.solver import LinearSolver, PreparedSolver
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import Minimum, minimize


def minimize_lagged(
    phi: Potential,
    start: Reached,
    solver: LinearSolver,
    newton: Newton,
    previous: PreparedSolver | None,
    lags: int,
    value: float = float("nan"),
) -> Minimum:
    """Minimize phi, then again with friction evaluated at the minimum found.

    The loop ends when friction evaluated again moves no vertex by more than the tolerance, and
    after ``lags`` minimizations at the latest.

    Args:
        phi: potential of the step.
        start: (n,3) [m] where the first search starts.
        solver: linear solver of Newton's method.
        newton: settings of Newton's method, with the tolerance.
        previous: prepared solver of an earlier search, whose symbolic work is reused; or None.
        lags: largest number of minimizations.
        value: [J] phi at ``start``; NaN: it is evaluated.

    Returns:
        The last minimum, with the counts of all searches.
    """
    found = minimize(phi, phi.point(start), solver, newton, previous=previous, value=value)
    for _ in range(lags - 1):
        x = np.array(kernel.numpy(found.x))
        if not found.outcome.ok or not phi.update_lagged_terms(found.x):
            break
        more = minimize(phi, found.x, solver, newton, previous=found.prepared)
        moved = float(np.linalg.norm(kernel.numpy(more.x) - x, axis=1).max(initial=0.0))
        found = dataclasses.replace(more, counts=more.counts.after(found.counts))
        if moved <= newton.tolerance:
            break
    return found
