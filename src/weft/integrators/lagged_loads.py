"""Equilibria under loads without a potential: such loads are held fixed, then evaluated again.

Wind turns with the cloth. It is held fixed while a potential is minimized, evaluated again near the
minimum, and so on until nothing moves any more. Each evaluation point is relaxed by Aitken's
method, as in partitioned fluid-structure solvers (Kuettler & Wall 2008, eqs. 44-45).

Friction has a past: it opposes the sliding since the last equilibrium. Each lagged problem takes
normal forces, closest points and planes of sliding from the minimum before it, and is minimized.
The lagged problems agree if forces balance to the tolerance after friction was evaluated again. The
result is the equilibrium of one load step of a path: |t| <= mu lambda, and t opposes the sliding of
the step, with lambda of the equilibrium itself (the incremental problem of quasi-static Coulomb
friction: Telega 1988; smoothed as in ``contact.friction.friction``).
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.base.arrays import Positions
from weft.integrators.potential import Potential
from weft.kernel import WarpArray, vec3
from weft.solve.linear.solver import Outcome
from weft.solve.newton.minimize import Minimum
from weft.solve.sparse.vectors import max_norm

FIRST_PART, LEAST_PART = 0.5, 0.02  # relaxation factor w: the first one, and the least


@dataclass(frozen=True)
class Limits:
    """Tolerances and limits of the loop over lagged loads.

    Args:
        tolerance: [m] largest displacement of a vertex after wind was evaluated again.
        force_tolerance: largest force on a free vertex after friction was evaluated again, over
            ``force_scale``.
        force_scale: returns the force [N] at x that forces are compared with.
        iterations: Newton iterations in all, with wind.
        lags: largest number of lagged problems, with friction.
    """

    tolerance: float
    force_tolerance: float
    force_scale: Callable[[WarpArray], float]
    iterations: int
    lags: int


def balance_lagged_loads(
    phi: Potential,
    start: WarpArray,
    solve: Callable[[WarpArray, Minimum | None], Minimum],
    limits: Limits,
) -> Minimum:
    """Find a minimum of phi at which the loads that are held fixed are those of the minimum itself.

    Args:
        phi: the potential that ``solve`` minimizes.
        start: (n,) vec3 [m] where the first search starts.
        solve: minimizes phi from given positions; the second argument is the search before.
        limits: when the loop has converged, and when it ends without.

    Returns:
        The last search with the counts of all searches. Its outcome is UNSETTLED if wind did not
        settle, and UNBALANCED if friction did not.
    """
    found = solve(start, None)
    counts, way, problems = found.counts, _AitkenRelaxation(np.array(kernel.numpy(start))), 1
    while found.outcome.ok:
        x = way.next(np.array(kernel.numpy(found.x)))
        blown = phi.update_lagged_terms(kernel.points(x), rubs=False)
        rubbed = phi.update_lagged_terms(found.x, blows=False)
        still = not blown or way.distance <= limits.tolerance
        if still and not (rubbed and _residual(phi, found.x, limits) > limits.force_tolerance):
            break  # the minimum balances the loads evaluated at it, to the tolerance
        if blown and counts.iterations >= limits.iterations:
            counts = dataclasses.replace(counts, outcome=Outcome.UNSETTLED)
            break
        if rubbed and problems >= limits.lags:
            counts = dataclasses.replace(counts, outcome=Outcome.UNBALANCED)
            break
        found = solve(found.x, found)
        counts, problems = found.counts.after(counts), problems + 1
    return dataclasses.replace(found, counts=counts)


def _residual(phi: Potential, x: WarpArray, limits: Limits) -> float:
    """Return the largest force on a free vertex over ``force_scale``."""
    g = kernel.empty(x.shape[0], vec3)
    phi.gradient_at(x, g)
    return max_norm(g) / limits.force_scale(x)


class _AitkenRelaxation:
    """Points at which loads are evaluated: x + w (found - x), with w by Aitken's method."""

    def __init__(self, x: Positions) -> None:
        self.x, self.part = x, 1.0
        self.left: Positions | None = None  # (n,3) [m] found - x
        self.distance = float("inf")  # [m] length of the largest one

    def next(self, found: Positions) -> Positions:
        """Return the next evaluation point (n,3); the loads at the last one led to ``found``."""
        left = found - self.x
        if self.left is not None:
            change = left - self.left
            size = float((change * change).sum())
            if size > 0:
                part = -self.part * float((self.left * change).sum()) / size
                self.part = float(np.clip(part, LEAST_PART, 1.0))
        else:
            self.part = FIRST_PART
        self.distance = float(np.linalg.norm(left, axis=1).max(initial=0.0))
        self.x, self.left = self.x + self.part * left, left
        return self.x
