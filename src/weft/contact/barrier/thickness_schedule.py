"""Thickness that changes in time, as far as pairs in contact leave room for it.

A smaller thickness is taken at once, and so is a larger one if all pairs have room for it. Else it
takes half of the room of the nearest pair in a step, with one factor for all pairs: so no pair is
ever nearer than its thickness, and the barrier pushes it apart before the next step. If a pair has
only a thousandth of the gap left, something holds it together: that is an error that says where, or
with ``pinch: thin`` the thickness for which there is room is kept.
"""

from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.base.errors import SimulationError
from weft.contact.contact import Contact
from weft.contact.detector import ContactDetector
from weft.energies.step import Step
from weft.kernel import Scalar, WarpArray

PART = 0.5  # of the room of a pair that a growing thickness takes in a step
HELD = 1e-3  # of the gap: with less room, something holds a pair together
KEPT = "thickness"  # name among the values that are saved from step to step


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
        before = np.asarray(step.kept.get(KEPT, self._first))
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
        sides, near = self.contact.mesh.sides, search.near(y, float((base + more).max()))
        if len(near) == 0:
            return 1.0
        pairs, kinds = (kernel.numpy(a) for a in near.device)
        a, b = (sides.part[s] for s in sides.of_pairs(pairs, kinds))
        wanted, kept = (more[a] + more[b]) / 2, (base[a] + base[b]) / 2
        room = kernel.numpy(near.distances(y)) - kept
        part = PART * room / np.maximum(wanted, 1e-300)
        k = int(np.argmin(part))
        if part[k] >= PART:  # there is room for all of the increase
            return 1.0
        if room[k] > HELD * search.gap:
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
        return {} if self.asked is None else {KEPT: self.now}

    def told(self) -> dict[str, Any]:
        """Return the largest present and requested thickness [m] for reports; empty if they are
        equal.
        """
        if self.asked is None or (self.asked == self.now).all():
            return {}
        return {"thickness": {"kept": self.largest, "asked": float(self.asked.max())}}
