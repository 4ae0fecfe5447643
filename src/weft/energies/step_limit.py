"""Terms that bound steps: barriers in a quantity that a step can measure ahead.

Strain limits (``elastic.strain_limit``) and joint limits (``springs.joint_springs``) know how far a
displacement may go before the first of their limits is met.
"""

from abc import abstractmethod

from weft import kernel
from weft.energies.base import SummedBound
from weft.kernel import WarpArray

PART = 0.9  # largest part of the way to the nearest limit that a step may go


class StepLimit(SummedBound):
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
        return min(1.0, PART * kernel.least(self.reaches(x, d)))

    def is_settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d goes at most ``settled_part`` of the way to a limit."""
        return self.settled_part * kernel.least(self.reaches(x, d)) >= 1.0
