"""A search whose friction is taken anew where it has led: the outer loop of lagged friction. Li et
al. 2020, section 5.
"""

import dataclasses
from typing import Any

import numpy as np

from weft import kernel
from weft.arrays import Positions
from weft.integrators.potential import Potential
from weft.kernel import vec3
from weft.solve.base import LinearSolver
from weft.solve.newton import NewtonResult, NewtonSettings, minimize


def minimize_lagged(
    phi: Potential,
    start: Positions,
    solver: LinearSolver,
    settings: NewtonSettings,
    previous: Any,
    lags: int,
) -> NewtonResult:
    """Minimize phi from ``start`` (n,3), then again with the friction of what was found, until that
    moves no vertex by more than the tolerance, or ``lags`` times in all.
    """
    result = minimize(phi, kernel.array(start, vec3), solver, settings, previous)
    for _ in range(lags - 1):
        x = np.array(kernel.numpy(result.x))
        if not result.outcome.ok or not phi.lag(x):
            break
        more = minimize(phi, result.x, solver, settings, result.prepared)
        moved = float(np.linalg.norm(kernel.numpy(more.x) - x, axis=1).max(initial=0.0))
        result = dataclasses.replace(
            more,
            iterations=result.iterations + more.iterations,
            linear_iterations=result.linear_iterations + more.linear_iterations,
            line_search_trials=result.line_search_trials + more.line_search_trials,
            rescues=result.rescues + more.rescues,
        )
        if moved <= settings.tolerance:
            break
    return result
