"""Search directions of equilibria: Newton with a shifted matrix.

Equilibria have no inertia. Every iteration solves (H + mu M) d = -g with the mass matrix M and
searches along d. The shift mu [1/s^2] is a safeguard as in the method of Levenberg and Marquardt.
At its lower bound it only makes motions definite that nothing resists (a rigid motion that no pin
stops). It grows when the line search has to shorten the step, which happens where cloth buckles,
and falls again after full steps. It changes the path of the iterates, never the equilibrium.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from weft import kernel
from weft.kernel import WarpArray, vec3
from weft.solve.linear.solver import Outcome
from weft.solve.newton.direction import SearchDirection, SearchPoint
from weft.solve.newton.newton_system import NewtonSystem
from weft.solve.newton.psd import Psd
from weft.solve.newton.stopping import BalanceRule
from weft.solve.sparse.block_csr import add_diagonal
from weft.solve.sparse.vectors import combine, size_and_slope, weighted_distances

LEAST, FIRST, MOST = 1e-4, 1.0, 1e8  # [1/s^2] mu: lower bound, first raised value, upper bound
GROW, SHRINK, SHORT = 4.0, 4.0, 0.5  # mu grows after steps shorter than SHORT
BALANCED = 4  # iterations in balance with mu above its lower bound, after which mu is reset to it
PATIENCE = 4  # full steps before the exact Hessian is tried; doubled each time it is indefinite
MOST_PATIENCE = 16  # upper bound of the patience with contact
MOST_FORCING, LEAST_FORCING = 0.1, 1e-3  # forcing terms of equilibria (Eisenstat & Walker 1996)


@dataclass(frozen=True)
class Shifted:
    """Settings of Newton's method with the shift mu M, with which an equilibrium is found.

    Args:
        tolerance: largest vertex displacement of the last increment, in the units of x.
        force_tolerance: bound of the largest force on a free vertex, over ``force_scale``.
        force_scale: function of x; [N] force that the forces at x are compared with.
        mass: (n,) [kg] lumped masses.
        max_iterations: largest number of attempted steps.
        try_exact: try the exact Hessian after some full steps.
        meets: try the exact Hessian after as many shortened steps, too: contact may shorten step
            after step.
        farthest: largest displacement of one step; beyond it nothing resists the motion. Under a
            load that only the shift resists, a step is the acceleration over mu: 98 km under
            gravity.
    """

    tolerance: float
    force_tolerance: float
    force_scale: Callable[[WarpArray], float]
    mass: WarpArray
    max_iterations: int = 400
    try_exact: bool = True
    meets: bool = False
    farthest: float = float("inf")

    def begin(self, system: NewtonSystem, n: int) -> tuple["ShiftedDescent", BalanceRule]:
        """Return descent and stopping rule of a minimization of n points."""
        limits = self.force_tolerance, self.force_scale, self.max_iterations, self.farthest
        rule = BalanceRule(self.tolerance, *limits)
        return ShiftedDescent(self, system, rule, n), rule


class ShiftedDescent:
    """Directions -(H + mu M)^-1 g, with the exact Hessian where it may be positive definite."""

    truncates = False  # the shift shortens the steps
    needs_matrix = True

    def __init__(
        self, settings: Shifted, system: NewtonSystem, balance: BalanceRule, n: int
    ) -> None:
        self.settings, self.system, self.balance = settings, system, balance
        self.mu, self.forcing = LEAST, MOST_FORCING
        # Full steps in a row, and their number before the exact Hessian is tried.
        self.full, self.patience = 0, PATIENCE
        self.halved = 0  # shortened steps in a row
        self.decrement, self.at_balance = 0.0, 0
        self.anchor, self._squares = kernel.empty(n, vec3), kernel.empty(n)
        self.moved = True  # whether x has changed since the last proposal

    def propose(self, at: SearchPoint) -> SearchDirection:
        """Return a direction of the exact Hessian, after enough full steps, or the projected one.

        If the projected matrix is singular to round-off, mu grows and the direction is refused.
        """
        if self.moved:
            self.moved = False
            combine(at.x, 0.0, at.x, self.anchor)
            self._count_balance()
        if self._has_waited:
            found = self._solve_shifted(at, Psd.EXACT)
            if found.failure is None and found.slope < 0.0:
                return found
            self._wait_longer()
        found = self._solve_shifted(at, None)
        if found.failure is Outcome.INDEFINITE and self.mu < MOST:
            # The matrix is projected, so it is only singular to round-off: nothing resists some
            # motion but the shift.
            self._grow()
            return replace(found, failure=None, refused=True)
        return found

    def _count_balance(self) -> None:
        """Reset mu to its lower bound if forces have been in balance for ``BALANCED`` iterations.

        Steps that the line search shortens again and again, as under contact, never let mu shrink
        by itself; and while mu is above its lower bound, the increment does not measure the
        distance to the equilibrium.
        """
        at_rest = self.balance.is_balanced and self.mu > LEAST
        self.at_balance = self.at_balance + 1 if at_rest else 0
        if self.at_balance >= BALANCED:
            self.mu, self.at_balance = LEAST, 0

    @property
    def _has_waited(self) -> bool:
        """Return whether the exact Hessian is to be tried."""
        halved = self.halved if self.settings.meets else 0
        return self.settings.try_exact and max(self.full, halved) >= self.patience

    def _wait_longer(self) -> None:
        """Double the number of steps before the exact Hessian is tried again."""
        most = MOST_PATIENCE if self.settings.meets else self.settings.max_iterations
        self.full, self.halved = 0, 0
        self.patience = max(self.patience, min(2 * self.patience, most))

    def _solve_shifted(self, at: SearchPoint, psd: Psd | None) -> SearchDirection:
        """Assemble and prepare H + mu M, and solve for the direction."""
        A = self.system.problem.matrix_at(at.x, psd)
        add_diagonal(A, self.settings.mass, self.mu)
        self.system.prepare(A)
        d, outcome = self.system.solve(at.x, at.g, self.forcing)
        length, slope = size_and_slope(d, at.g)
        failure = None if outcome.ok else outcome
        is_newton = self.mu == LEAST
        return SearchDirection(d, length, slope, failure, is_newton=is_newton, mu=self.mu)

    def merit(self, x: WarpArray) -> float:
        """Return the energy of the shift, mu/2 |x - x_k|_M^2."""
        mass = self.settings.mass
        return 0.5 * self.mu * kernel.total(weighted_distances(x, self.anchor, mass, self._squares))

    def after_step(self, direction: SearchDirection, step: float) -> None:
        """Update mu from the step length, and the forcing term from the decrease of g.A^-1 g."""
        self.full = self.full + 1 if step == 1.0 else 0
        # A full step after many shortened ones shows that the exact Hessian helps: stay with it.
        exact = self.halved >= self.patience and step == 1.0
        self.halved = self.halved if exact else self.halved + 1 if step < 1.0 else 0
        if step < SHORT:
            self._grow()
        elif step == 1.0:
            smaller = self.mu / SHRINK
            self.mu = smaller if smaller >= FIRST else LEAST
        slope = direction.slope
        if self.decrement > 0:
            ratio = -slope / self.decrement  # ratio of squared energy norms
            self.forcing = float(np.clip(0.5 * ratio, LEAST_FORCING, MOST_FORCING))
        self.decrement, self.moved = -slope, True

    def _grow(self) -> None:
        """Increase mu up to its upper bound."""
        self.mu = min(max(GROW * self.mu, FIRST), MOST)

    def has_other(self) -> bool:
        """Return to the projected Hessian, then increase mu; return False if both are exhausted.

        A search whose forces balance does not increase mu.
        """
        if self._has_waited:
            self._wait_longer()
            return True
        if not self.balance.is_balanced and self.mu < MOST:
            self._grow()  # at a kink in the forces only short steps lower the value
            return True
        return False
