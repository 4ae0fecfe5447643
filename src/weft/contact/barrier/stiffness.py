"""Adaptive stiffness of the barrier, which follows the forces that press.

The stiffness of a contact holds ``LOAD`` times a vertex's weight at half the gap. Cloth that is
stretched over a body is pressed with thousands of weights; with that stiffness the barrier would
hold it micrometers from the body, where no step finds room. So the stiffness is multiplied by a
factor: the force on the hardest pressed vertex, over the force that the stiffness
without the factor holds at half the gap.

Both force and distance have to ask for a larger factor. An impact is near for one step only; cloth
that is pinched between two bodies has a larger force the stiffer contact is, although it has room
enough. The factor is saved from step to step and changes between steps alone, so that every step
minimizes one potential. It changes only if it is far off, so that cloth at rest stays at rest.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.contact.contact import HALF_FORCE

MOST = 8.0  # largest change of the factor from one step to the next
LOW, HIGH = 0.25, 2.0  # needed over present factor: between these the factor stays
LARGEST = 1e3  # largest factor: stiffer contact costs Newton iterations
LEAST_ROOM = 1e-6  # of the gap: smaller room counts as this


def push(room: float) -> float:
    """Return the force of a pair whose distance beyond the thickness is ``room`` times the gap,
    relative to the force at half the gap.
    """
    y = max(room, LEAST_ROOM) ** 2
    if y >= 1.0:
        return 0.0
    force = 2 * np.sqrt(y) * (1 - y) * (1 / y - 1 - 2 * np.log(y))
    return float(force / HALF_FORCE)


@dataclass(frozen=True)
class AdaptiveStiffness:
    """Factors on the stiffness of a contact."""

    before: float = 1.0  # of the step before, with which forces at its end are evaluated
    now: float = 1.0  # of the present step

    def after(self, pressed: float, room: float) -> "AdaptiveStiffness":
        """Return the factors for the next step.

        Args:
            pressed: largest force of contact on a vertex, over the force that the stiffness without
                factor holds at half the gap.
            room: least distance beyond the thickness, over the gap.
        """
        part, near = pressed / self.now, push(room)
        if near < HIGH:
            part = min(part, near)
        if LOW <= part <= HIGH:
            return AdaptiveStiffness(self.now, self.now)
        wanted = self.now * min(max(part, 1 / MOST), MOST)
        return AdaptiveStiffness(self.now, min(max(wanted, 1.0), LARGEST))

    def memory(self) -> Floats:
        """Return both factors, (2,), which are saved with the state."""
        return np.array([self.before, self.now])

    @staticmethod
    def of(saved: Floats | None) -> "AdaptiveStiffness":
        """Return the factors from the array that ``memory`` returned; None: the factors at the
        start.
        """
        return (
            AdaptiveStiffness()
            if saved is None
            else AdaptiveStiffness(float(saved[0]), float(saved[1]))
        )
