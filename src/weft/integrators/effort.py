"""Effort of a step: the steps that end before they have converged.

``converged`` solves every step to its tolerance. A number ends the step after as many Newton
iterations. ``interactive`` takes steps of at most ``INTERACTIVE_STEP`` with ``INTERACTIVE``
iterations. It also ends after an increment that is small beside the motion of the cloth, and takes
more iterations where contact holds up what moves or where an energy is far from balance.

With these numbers, interactive steps are closer to converged steps of 2.5 ms than converged steps
of 20 ms are, in half the time (`python -m studies effort`).
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from weft.base.arrays import Velocities
from weft.solve.linear.solver import Outcome
from weft.solve.newton.direction import RemainingError, SearchDirection, SearchPoint
from weft.solve.newton.stopping import IncrementRule
from weft.solve.sparse.vectors import fractions_longer_and_mean_square

Effort: TypeAlias = Literal["converged", "interactive"] | int

INTERACTIVE, INTERACTIVE_STEP = 8, 1e-2  # iterations, [s]
# An interactive step ends after an increment below this part of the cloth's root mean square speed,
# clamped to the two bounds: cloth that swings slowly would come to a halt with a larger threshold.
PART_OF_SPEED = 0.15
LEAST_ENOUGH, MOST_ENOUGH = 0.1, 0.2  # [m/s]
# [m/s] root mean square of the part of an increment that contact prevented. Above it the step goes
# on, because cloth that contact has held up in every iteration would hang in the air.
MOST_LEFT = 0.02
# Largest relative error of linear solves in steps that may end early. The error that a linear solve
# leaves is not corrected by later iterations and acts as drag.
EARLY_FORCING = 0.1
MOSTLY = 0.5  # least step length with which a search ends at an increment below ``enough``
# A search also ends at an increment that is below ``enough`` but for this fraction of the vertices,
# if its root mean square is at most this part of ``enough``: the largest of ten thousand
# increments is that of one loose vertex.
FEW, QUIET = 0.005, 0.3
MOST_EFFORT = 4  # factor on the number of iterations while energy terms are far from balance


def iteration_limit(effort: Effort) -> int:
    """Return the number of matrices after which a step ends, converged or not; 0: it converges."""
    if isinstance(effort, int):
        return effort
    return INTERACTIVE if effort == "interactive" else 0


def longest_step(effort: Effort) -> float:
    """Return the longest step [s] that suits the effort."""
    return INTERACTIVE_STEP if effort == "interactive" else float("inf")


def limit_forcing(effort: Effort, forcing: float) -> float:
    """Return the largest relative error of linear solves, of which ``forcing`` was asked for."""
    return min(forcing, EARLY_FORCING) if iteration_limit(effort) else forcing


def early_end(effort: Effort, v: Velocities, dt: float) -> "EarlyEnd | None":
    """Return when a step may end before it has converged; None: it has to converge.

    Args:
        effort: of the step.
        v: (n,3) [m/s] velocities at its beginning.
        dt: [s] its length.
    """
    limit = iteration_limit(effort)
    if limit == 0:
        return None
    if effort != "interactive":
        return EarlyEnd(limit)
    speed = float(np.sqrt(np.mean(np.sum(np.square(v), axis=1))))
    enough = min(max(PART_OF_SPEED * speed, LEAST_ENOUGH), MOST_ENOUGH)
    return EarlyEnd(limit, enough * dt, MOST_LEFT * dt)


@dataclass(frozen=True)
class EarlyEnd:
    """Settings with which a search ends before it has converged.

    Args:
        iterations: number of matrices after which the search stops, converged or not.
        enough: increment below which the search stops as well, if no energy term is far from
            balance and the line search takes at least half of the increment. A few vertices
            (``FEW``) may exceed it while the cloth as a whole moves much less (``QUIET``).
        left: root mean square of the rest of an increment that the line search did not take. Above
            this value ``iterations`` does not stop the search.
    """

    iterations: int
    enough: float = 0.0
    left: float = float("inf")

    def rule(self, tolerance: float, max_iterations: int) -> "EarlyRule":
        """Return the rule of one minimization."""
        return EarlyRule(self, tolerance, max_iterations)


class EarlyRule(IncrementRule):
    """A search ends when it has converged, after a number of iterations, or when it is quiet."""

    def __init__(self, early: EarlyEnd, tolerance: float, max_iterations: int) -> None:
        super().__init__(tolerance, max_iterations)
        self.early = early
        self.settled = True  # whether the direction of the last matrix was small to all terms
        # Root mean squares: of the last direction, and of the part of it that was not taken.
        self.size = self.left = 0.0
        self.far = 1.0  # fraction of vertices that the last direction moves by more than ``enough``

    def check(self, at: SearchPoint, iterations: int, needs_matrix: bool) -> Outcome | None:
        """Return STOPPED or MAX_ITERATIONS if the limits on matrices are reached, else None.

        The number of iterations is multiplied by ``MOST_EFFORT`` in two cases: an energy term is
        far from balance (else cloth under pressure would come nearer by a tenth in step after
        step), or the line search left more than ``left`` of the last increment.
        """
        is_near = self.settled and self.left <= self.early.left
        most = self.early.iterations if is_near else MOST_EFFORT * self.early.iterations
        if needs_matrix and iterations >= most:
            return Outcome.STOPPED
        return super().check(at, iterations, needs_matrix)

    def measure(self, direction: SearchDirection) -> None:
        """Measure how many vertices the direction moves far, and the error that remains."""
        bounds = self.tolerance, self.early.enough
        (longer, self.far), square = fractions_longer_and_mean_square(direction.d, bounds)
        self.remaining = RemainingError(longer, -0.5 * direction.slope)
        self.size, self.settled = float(np.sqrt(square)), direction.settled

    def after_step(self, direction: SearchDirection, step: float) -> Outcome | None:
        """Return STOPPED if most of an increment was taken that is small enough to be the last."""
        self.left, enough = (1.0 - step) * self.size, self.early.enough
        is_quiet = self.far <= FEW and self.size <= QUIET * enough
        ends = self.settled and step >= MOSTLY and (is_quiet or direction.length <= enough)
        return Outcome.STOPPED if ends else None
