"""Barriers: terms that bound steps, because their energy is infinite beyond a limit."""

from abc import abstractmethod

from weft import kernel
from weft.base.arrays import Positions
from weft.energies.obstacle import Obstacle
from weft.energies.step import Step
from weft.energies.term import SummedTerm, Term
from weft.kernel import WarpArray

PART = 0.9  # largest part of the way to the nearest limit that a step may go


class Barrier(Term):
    """A term that bounds steps. Integrators of one linear solve refuse it.

    Positions x and displacements d are (n,) vec3 [m].
    """

    @property
    def blocked(self) -> Obstacle | None:
        """Obstacle that left no room for the step; None: there was room."""
        return None

    @abstractmethod
    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return the part of the displacement d, in [0, 1], on which the energy stays finite."""

    def truncate(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """Return a displacement that may be taken in full, in place of d; None: d itself may."""
        return None

    def carry(self, goal: Positions, step: Step) -> Positions | None:
        """Return how far a step may go from its start towards ``goal``, with prescribed motion at
        its end.

        Returns:
            (n,3) [m]; None where that is not possible. The energy may be infinite there if other
            terms changed the goal: ``Potential.starts`` tries another one then.
        """
        return goal

    def has_new_intersections(self, x: WarpArray) -> bool:
        """Return whether surfaces intersect at x that did not when the step began."""
        return False

    def is_settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d, the last displacement of a search, is small for this term too.

        A term that rises without bound may be far from balance although no point moves far.
        """
        return True


class StepLimit(SummedTerm, Barrier):
    """A barrier in a quantity that a step can measure ahead: strain, or the place of a joint."""

    settled_part: float  # of the way to the nearest limit: most that a search's last step may go

    @abstractmethod
    def reaches(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return the multiples of d (n,) vec3 at which limits are met from x, (m,); they may exceed
        1.
        """

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return nine tenths of the way to the nearest limit, and at most 1."""
        return min(1.0, PART * kernel.least(self.reaches(x, d)))

    def is_settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d goes at most ``settled_part`` of the way to a limit."""
        return self.settled_part * kernel.least(self.reaches(x, d)) >= 1.0
