"""How stiff contact has to be for what presses.

The stiffness of the barrier is one that holds ``LOAD`` times a vertex's weight at half the gap.
Cloth that is stretched over a body is pressed with thousands of weights; there the barrier would
hold it micrometers from the body, where no step finds room. So the stiffness is multiplied by a
factor, the firmness: what the hardest pressed vertex is pressed with, over what the stiffness of
weight holds.

Both force and distance have to ask for it. An impact is near for a step; cloth that is pinched
between two bodies is pressed the harder the stiffer contact is, with room enough. It is kept from
step to step and changed between steps alone, so that every step has one potential; and only where
it is off by a lot, so that what rests stays at rest.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.contact.contact import HALF_FORCE

MOST = 8.0  # by which it rises or falls from one step to the next
LOW, HIGH = 0.25, 2.0  # of what is needed over what there is: between them it stays
FIRMEST = 1e3  # stiffer contact costs Newton iterations
LEAST_ROOM = 1e-6  # of the gap, below which room counts as this


def push(room: float) -> float:
    """Force of a pair with this part of the gap as room, over that at half of it."""
    y = max(room, LEAST_ROOM) ** 2
    if y >= 1.0:
        return 0.0
    force = 2 * np.sqrt(y) * (1 - y) * (1 / y - 1 - 2 * np.log(y))
    return float(force / HALF_FORCE)


@dataclass(frozen=True)
class AdaptiveStiffness:
    """Factors on the stiffness of weight."""

    before: float = 1.0  # in the step before: what forces at its end are measured with
    now: float = 1.0

    def after(self, pressed: float, room: float) -> "AdaptiveStiffness":
        """For the next step.

        Args:
            pressed: largest force of contact on a vertex, over the one that the stiffness of weight
                holds at half the gap.
            room: least distance beyond the thickness, over the gap.
        """
        part, near = pressed / self.now, push(room)
        if near < HIGH:
            part = min(part, near)
        if LOW <= part <= HIGH:
            return AdaptiveStiffness(self.now, self.now)
        wanted = self.now * min(max(part, 1 / MOST), MOST)
        return AdaptiveStiffness(self.now, min(max(wanted, 1.0), FIRMEST))

    def saved(self) -> Floats:
        """(2,) to be kept with the state."""
        return np.array([self.before, self.now])

    @staticmethod
    def of(saved: Floats | None) -> "AdaptiveStiffness":
        """From what ``saved`` gave; None: at the start."""
        return (
            AdaptiveStiffness()
            if saved is None
            else AdaptiveStiffness(float(saved[0]), float(saved[1]))
        )
