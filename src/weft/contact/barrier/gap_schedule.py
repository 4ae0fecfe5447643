"""A gap that changes in time: from how far on contact pushes.

The barrier is finite wherever a pair has room, so there is no gap that cloth could be in the way
of: nothing has to move before it is taken, and nothing can pass. But a pair that is well inside a
gap that grows is pushed harder. The stiffness of the gap g holds the same weight at g/2, and what
it pushes a pair of room r << g with goes as g/r. So a gap at most doubles in a step: a pair at half
of it or nearer is pushed with 2.3 times as much at most, one farther away with 2.3 times what holds
the weight. It falls at once; cloth sinks to where the smaller one holds it.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.contact.contact import Contact
from weft.energies.step import Step

MOST = 2.0  # by which it grows in a step
KEPT = "gap"  # name among what is kept from step to step


class GapSchedule:
    """The gap of one step after another.

    Args:
        contact: with the gap of the start.
    """

    def __init__(self, contact: Contact) -> None:
        self.changes = contact.widest is not None
        self.first = self.asked = self.before = self.now = contact.gap  # [m]

    def begin(self, step: Step) -> None:
        """Take that of a step, from that of the step before."""
        if not self.changes:
            return
        kept = step.kept.get(KEPT)
        self.before = self.first if kept is None else float(np.asarray(kept)[0])
        self.now = min(self.asked, MOST * self.before)

    def saved(self) -> dict[str, Floats]:
        """For the next step, where it changes."""
        return {KEPT: np.array([self.now])} if self.changes else {}

    def told(self) -> dict[str, Any]:
        """For reports: what is kept and asked for [m], where these differ."""
        return {} if self.now == self.asked else {KEPT: {"kept": self.now, "asked": self.asked}}


def gap_of(memory: Mapping[str, Any]) -> float | None:
    """[m] of the step that a memory is of; None: it stays."""
    kept = memory.get(KEPT)
    return None if kept is None else float(np.asarray(kept)[0])
