"""Equilibria under loads that have no potential: what is frozen is taken anew where that has led.

Wind turns with the cloth. It is held while a potential is minimized, taken anew where that led, and
so on until nothing moves any more; parts of the way by Aitken's dynamic relaxation, as where fluids
and structures are solved by turns (Kuettler & Wall 2008, eqs. 44-45).

Friction has a past: it opposes what has slid since the last equilibrium, and what was held there.
Each lagged problem has normal forces, closest points and planes of sliding of where the one before
led, and is minimized; they agree where forces balance to the tolerance with all of them taken anew.
What is then found is the equilibrium of one load step of a path: |t| <= mu lambda, and t against
the sliding of the step, with lambda of the equilibrium itself (the incremental problem of
quasi-static Coulomb friction: Telega 1988; smoothed as in ``contact.friction.friction``).
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

FIRST_PART, LEAST_PART = 0.5, 0.02  # of the way, before loads are taken anew


@dataclass(frozen=True)
class Limits:
    """When loads and what they lead to agree.

    Args:
        tolerance: [m] that a vertex moves after wind was taken anew.
        force_tolerance: of the largest force on a free vertex with friction taken anew, over
            ``force_scale``.
        force_scale: [N] at x.
        iterations: in all, with wind.
        lags: problems, with friction.
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
    """The minimum of phi whose frozen loads are its own.

    Args:
        phi: what ``solve`` minimizes.
        start: (n,) vec3.
        solve: from where, after which search.
        limits: when it is done, or given up.

    Returns:
        The last search with the counts of all: UNSETTLED where wind did not settle, UNBALANCED
        where friction did not.
    """
    found = solve(start, None)
    counts, way, problems = found.counts, _Relaxed(np.array(kernel.numpy(start))), 1
    while found.outcome.ok:
        x = way.next(np.array(kernel.numpy(found.x)))
        blown = phi.lag_at(kernel.points(x), rubs=False)
        rubbed = phi.lag_at(found.x, blows=False)
        still = not blown or way.distance <= limits.tolerance
        if still and not (rubbed and _residual(phi, found.x, limits) > limits.force_tolerance):
            break  # what was found balances the loads of where it is, to the tolerance
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
    """Largest force on a free vertex, relative."""
    g = kernel.empty(x.shape[0], vec3)
    phi.gradient_at(x, g)
    return max_norm(g) / limits.force_scale(x)


class _Relaxed:
    """Where loads are taken anew: x + w (found - x), w by Aitken's secant."""

    def __init__(self, x: Positions) -> None:
        self.x, self.part = x, 1.0
        self.left: Positions | None = None  # (n,3) [m] found - x
        self.distance = float("inf")  # [m] largest of it

    def next(self, found: Positions) -> Positions:
        """(n,3) after the loads of the last place led to ``found``."""
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
