"""A search whose friction is taken anew where it has led: the outer loop of lagged friction. Li et
al. 2020, section 5.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from weft import kernel
from weft.integrators.potential import Potential, Reached
from weft.kernel import WarpArray
from weft.solve.linear.solver import LinearSolver
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import Asking, Minimum, Search, answered, searching


def minimize_lagged(
    phi: Potential,
    start: Reached,
    solver: LinearSolver,
    newton: Newton,
    previous: Any,
    lags: int,
    value: float = float("nan"),
) -> Minimum:
    """Minimize phi from ``start`` (n,3), then again with the friction of what was found, until that
    moves no vertex by more than the tolerance, or ``lags`` times in all. ``value`` is that of phi
    at ``start``, where it is known.
    """
    at = kernel.points(start)

    def begin(x: WarpArray, before: Any) -> Search:
        return Search(phi, x, solver, before, value=value if x is at else float("nan"))

    return answered(lagging(phi, begin, at, newton, previous, lags))


def lagging(
    phi: Potential,
    begin: Callable[[WarpArray, Any], Search],
    start: WarpArray,
    newton: Newton,
    previous: Any,
    lags: int,
) -> Asking:
    """The same, asking for what it needs; ``begin`` makes a search from positions and what was
    prepared before.
    """
    found = yield from searching(begin(start, previous), newton)
    for _ in range(lags - 1):
        x = np.array(kernel.numpy(found.x))
        if not found.outcome.ok or not phi.lag_at(found.x):
            break
        more = yield from searching(begin(found.x, found.prepared), newton)
        moved = float(np.linalg.norm(kernel.numpy(more.x) - x, axis=1).max(initial=0.0))
        found = dataclasses.replace(more, counts=more.counts.after(found.counts))
        if moved <= newton.tolerance:
            break
    return found
