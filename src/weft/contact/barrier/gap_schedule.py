"""A gap that changes in time (the distance below which contact pushes).

The barrier is finite wherever a pair has room, so cloth never blocks a larger gap: nothing has to
move before the gap grows, and nothing can pass through. But a pair that is well inside a growing
gap is pushed harder. The stiffness of the gap g holds the same weight at g/2, and the force on a
pair with room r << g grows as g/r. So a gap at most doubles in a step: the force on a pair at half
of it or nearer grows at most to 2.3 times its value, and a pair farther away is pushed with at most
2.3 times the force that holds the weight. A smaller gap is taken at once; cloth sinks to where the
smaller gap holds it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.contact.contact import Contact
from weft.energies.step import Step

MOST = 2.0  # largest factor by which the gap grows in a step
KEPT = "gap"  # name among the values that are saved from step to step


class GapSchedule:
    """The gap of one step after another.

    Args:
        contact: the contact, with the gap at the start.
    """

    def __init__(self, contact: Contact) -> None:
        self.changes = contact.widest is not None
        self.first = self.asked = self.before = self.now = contact.gap  # [m]

    def begin(self, step: Step) -> None:
        """Set the gap of a step from that of the step before."""
        if not self.changes:
            return
        kept = step.kept.get(KEPT)
        self.before = self.first if kept is None else float(np.asarray(kept)[0])
        self.now = min(self.asked, MOST * self.before)

    def saved(self) -> dict[str, Floats]:
        """Return the values that the next step needs; empty if the gap does not change."""
        return {KEPT: np.array([self.now])} if self.changes else {}

    def told(self) -> dict[str, Any]:
        """Return the present and the requested gap [m] for reports; empty if they are equal."""
        return {} if self.now == self.asked else {KEPT: {"kept": self.now, "asked": self.asked}}


def gap_of(memory: Mapping[str, Any]) -> float | None:
    """Return the gap [m] of the step whose saved values are ``memory``; None: the gap does not
    change.
    """
    kept = memory.get(KEPT)
    return None if kept is None else float(np.asarray(kept)[0])
