"""When a minimization ends: by the size of Newton's increment, or by the balance of forces.

Newton's increment does not depend on the resolution of the mesh, so its size decides when the
search of a time step ends. An equilibrium has to balance its forces, too.
"""

from collections.abc import Callable
from typing import Protocol

import numpy as np

from weft.kernel import WarpArray
from weft.solve.linear.solver import Outcome
from weft.solve.newton.direction import RemainingError, SearchDirection, SearchPoint, StoppingRule
from weft.solve.sparse.vectors import max_norm


class EarlyStopping(Protocol):
    """Interface of settings with which a search ends before it has converged."""

    @property
    def enough(self) -> float:
        """Largest increment with which the search may end."""

    def rule(self, tolerance: float, max_iterations: int) -> StoppingRule:
        """Return the rule of one minimization."""


class IncrementRule:
    """A search converges when Newton's increment is below a tolerance and small to every energy.

    Args:
        tolerance: largest vertex displacement of the last increment, in the units of x.
        max_iterations: largest number of matrices.
    """

    force = float("nan")

    def __init__(self, tolerance: float, max_iterations: int) -> None:
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self.remaining = RemainingError()

    def check(self, at: SearchPoint, iterations: int, needs_matrix: bool) -> Outcome | None:
        """Return MAX_ITERATIONS if the limit on matrices is reached, else None."""
        ends = needs_matrix and iterations >= self.max_iterations
        return Outcome.MAX_ITERATIONS if ends else None

    def measure(self, direction: SearchDirection) -> None:
        """Measure nothing: the direction has its length."""

    def arrives(self, direction: SearchDirection) -> Outcome | None:
        """Return CONVERGED if the increment is below the tolerance and small to every energy.

        A simplified increment (old matrix) may be small although many would follow: a sheet that
        swings down would lag behind by a twentieth of its way. So it has to be Newton's own, or
        hardly anything beside the one before it.
        """
        is_last = direction.is_newton and direction.settled
        return Outcome.CONVERGED if is_last and direction.length <= self.tolerance else None

    def after_step(self, direction: SearchDirection, step: float) -> Outcome | None:
        """Return None: the next increment decides."""
        return None

    def at_end_of_directions(self) -> Outcome:
        """Return STALLED."""
        return Outcome.STALLED


class BalanceRule:
    """A search converges when forces balance and the last increment is small.

    Args:
        tolerance: largest vertex displacement of the last increment, in the units of x.
        force_tolerance: bound of the largest force on a free vertex, over ``force_scale``.
        force_scale: function of x; [N] force that the forces at x are compared with.
        max_iterations: largest number of attempted steps.
        farthest: largest displacement of one step.
    """

    def __init__(
        self,
        tolerance: float,
        force_tolerance: float,
        force_scale: Callable[[WarpArray], float],
        max_iterations: int,
        farthest: float,
    ) -> None:
        self.tolerance, self.force_tolerance = tolerance, force_tolerance
        self.force_scale, self.max_iterations, self.farthest = force_scale, max_iterations, farthest
        self.remaining = RemainingError()
        self.force = self.last = float("inf")
        self.attempts = 0
        self.moved = True  # whether x has changed since the force was measured

    @property
    def is_balanced(self) -> bool:
        """Return whether the largest force is within its bound."""
        return self.force <= self.force_tolerance

    def check(self, at: SearchPoint, iterations: int, needs_matrix: bool) -> Outcome | None:
        """Return CONVERGED if forces balance and the last increment is small, else None.

        The search also ends if a value is not finite, or at the limit of attempts.
        """
        if self.moved:
            self.force, self.moved = max_norm(at.g) / self.force_scale(at.x), False
        if not (np.isfinite(at.value) and np.isfinite(self.force)):
            return Outcome.NOT_FINITE
        if self.force == 0.0 or (self.is_balanced and self.last <= self.tolerance):
            return Outcome.CONVERGED
        self.attempts += 1
        return Outcome.MAX_ITERATIONS if self.attempts > self.max_iterations else None

    def measure(self, direction: SearchDirection) -> None:
        """Measure nothing: the forces after the step decide."""

    def arrives(self, direction: SearchDirection) -> Outcome | None:
        """Return None: the forces at the end of the step have to be measured first."""
        return None

    def after_step(self, direction: SearchDirection, step: float) -> Outcome | None:
        """Return UNHELD if the displacement exceeds ``farthest``, else None."""
        # The length of a step that the shift shortened does not bound the distance to the solution.
        self.last = direction.length if direction.is_newton else float("inf")
        self.moved = True
        return Outcome.UNHELD if step * direction.length > self.farthest else None

    def at_end_of_directions(self) -> Outcome:
        """Return CONVERGED if forces balance, else STALLED."""
        return Outcome.CONVERGED if self.is_balanced else Outcome.STALLED
