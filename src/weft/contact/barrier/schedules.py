"""A gap and a thickness that change in time.

The gap is the distance below which contact pushes. The barrier is finite wherever a pair has room,
so cloth never blocks a larger gap: nothing has to move before the gap grows, and nothing can pass
through. But a pair that is well inside a growing gap is pushed harder. The stiffness of the gap g
holds the same weight at g/2, and the force on a pair with room r << g grows as g/r. So a gap at
most doubles in a step: the force on a pair at half of it or nearer grows at most to 2.3 times its
value, and a pair farther away is pushed with at most 2.3 times the force that holds the weight. A
smaller gap is taken at once; cloth sinks to where the smaller gap holds it.

A smaller thickness is taken at once, too. A larger one takes at most half of the room of the
nearest pair in a step, with one factor for all pairs: so no pair is ever nearer than its thickness,
and the barrier pushes it apart before the next step. If a pair has only a thousandth of the gap
left, something holds it together: that is an error that says where, or with ``pinch: thin`` the
thickness for which there is room is kept.
"""

from collections.abc import Mapping

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.base.errors import SimulationError
from weft.base.trees import Json
from weft.contact.contact import Contact
from weft.contact.detector import ContactDetector
from weft.energies.step import Step
from weft.kernel import Scalar, WarpArray

MOST_GROWTH = 2.0  # largest factor by which the gap grows in a step
GAP = "gap"  # name among the values that are saved from step to step


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
        kept = step.kept.get(GAP)
        self.before = self.first if kept is None else float(np.asarray(kept)[0])
        self.now = min(self.asked, MOST_GROWTH * self.before)

    def saved(self) -> dict[str, Floats]:
        """Return the values that the next step needs; empty if the gap does not change."""
        return {GAP: np.array([self.now])} if self.changes else {}

    def told(self) -> Json:
        """Return the present and the requested gap [m] for reports; empty if they are equal."""
        return {} if self.now == self.asked else {GAP: {"kept": self.now, "asked": self.asked}}


def gap_of(memory: Mapping[str, Floats]) -> float | None:
    """Return the gap [m] of the step whose saved values are ``memory``; None: the gap does not
    change.
    """
    kept = memory.get(GAP)
    return None if kept is None else float(np.asarray(kept)[0])


PART = 0.5  # of the room of a pair that a growing thickness takes in a step, at most
HELD = 1e-3  # of the gap: with less room, something holds a pair together
THICKNESS = "thickness"  # name among the values that are saved from step to step


class ThicknessSchedule:
    """The thickness of pieces of cloth and bodies, from step to step.

    Args:
        contact: the contact, with the thickness at the start.
    """

    def __init__(self, contact: Contact) -> None:
        self.contact, sides = contact, contact.mesh.sides
        self.asked: Floats | None = None  # (k,) [m] of pieces and bodies; None: constant
        first = np.zeros(len(sides.names))
        first[sides.part] = sides.thickness
        self._first = self.now = first

    @property
    def of_vertices(self) -> Floats:
        """Return the present thickness of the vertices, (n,) [m]."""
        sides = self.contact.mesh.sides
        return sides.thickness if self.asked is None else self.now[sides.part]

    @property
    def largest(self) -> float:
        """Return the largest present thickness of a pair [m]."""
        return float(self.of_vertices.max(initial=0.0))

    def grow(self, search: ContactDetector, y: WarpArray, step: Step) -> None:
        """Set the thickness of a step from that of the step before.

        Args:
            search: finds near pairs; its thickness is set.
            y: (n+b,) vec3 [m] vertices at the start of the step.
            step: the step, with the saved thickness of the step before.

        Raises:
            SimulationError: something holds a pair together.
        """
        assert self.asked is not None
        before = np.asarray(step.kept.get(THICKNESS, self._first))
        base = np.minimum(before, self.asked)
        more = self.asked - base
        part = 1.0 if not more.any() else self._part(search, y, base, more, step.t)
        self.now = base + part * more
        search.thicken(kernel.array(self.of_vertices, Scalar))

    def _part(
        self, search: ContactDetector, y: WarpArray, base: Floats, more: Floats, t: float
    ) -> float:
        """Return the part of the increase ``more`` for which there is room beyond the thickness
        ``base``.
        """
        # Pairs that are farther apart have room for twice the increase.
        sides, reach = self.contact.mesh.sides, float((base + more / PART).max())
        near = search.near(y, reach)
        if len(near) == 0:
            return 1.0
        pairs, kinds = (kernel.numpy(a) for a in near.device)
        a, b = (sides.part[s] for s in sides.of_pairs(pairs, kinds))
        wanted, kept = (more[a] + more[b]) / 2, (base[a] + base[b]) / 2
        room = kernel.numpy(near.distances(y)) - kept
        part = PART * room / np.maximum(wanted, 1e-300)
        k = int(np.argmin(part))
        if part[k] >= 1.0:
            return 1.0
        if room[k] > HELD * search.gap or room[k] >= wanted[k]:
            return float(part[k])
        if self.contact.settings.pinch == "thin":
            return 0.0
        place = ", ".join(f"{c:.4g}" for c in kernel.numpy(y)[pairs[k]].mean(0))
        raise SimulationError(
            f"thickness of {sides.names[a[k]]} and {sides.names[b[k]]} at t = {t:.6g} s near "
            f"({place})",
            got=f"room for {kept[k] + room[k]:.4g} m between them, where something holds them",
            expected=f"room for {kept[k] + wanted[k]:.4g} m",
            hint="less thickness, or `pinch: thin` in the scene's contact, which goes on with what "
            "has room",
        )

    def saved(self) -> dict[str, Floats]:
        """Return the values that the next step needs; empty if the thickness does not change."""
        return {} if self.asked is None else {THICKNESS: self.now}

    def told(self) -> Json:
        """Return the largest present and requested thickness [m] for reports; empty if they are
        equal.
        """
        if self.asked is None or (self.asked == self.now).all():
            return {}
        return {"thickness": {"kept": self.largest, "asked": float(self.asked.max())}}
