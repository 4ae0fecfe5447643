"""Terms that bound steps: barriers in a quantity that a step can measure ahead.

Strain limits (``elastic.strain_limit``) and joint limits (``springs.joint_springs``) know how far a
displacement may go before the first of their limits is met.
"""

from abc import abstractmethod
from collections.abc import Callable

from weft.energies.term import Term
from weft.kernel import Reductions, WarpArray

PART = 0.9  # largest part of the way to the nearest limit that a step may go


class StepLimit(Term):
    """A term that rises without bound at limits, which no step reaches."""

    limits = True
    settled_part: float  # of the way to the nearest limit: most that a search's last step may go

    @abstractmethod
    def reaches(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return the multiples of d (n,) vec3 at which limits are met from x, (m,); they may exceed
        1.
        """

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return nine tenths of the way to the nearest limit, and at most 1."""
        return self.propose_max_step(x, d, Reductions())()

    def propose_max_step(
        self, x: WarpArray, d: WarpArray, numbers: Reductions
    ) -> Callable[[], float]:
        """Return a function that returns ``max_step``; it reads what was added to ``numbers``."""
        nearest = numbers.add_least(self.reaches(x, d))
        return lambda: min(1.0, PART * numbers[nearest])

    def is_settled(self, x: WarpArray, d: WarpArray, numbers: Reductions) -> Callable[[], bool]:
        """Return a function that says whether d goes at most ``settled_part`` of the way to a
        limit.
        """
        nearest = numbers.add_least(self.reaches(x, d))
        return lambda: self.settled_part * numbers[nearest] >= 1.0
