"""Thickness that changes in time, as far as what touches leaves room for it.

What gets thinner does so at once. What gets thicker takes at most nine tenths of the room of the
nearest pair in a step, all alike: so nothing ever is nearer than its thickness, and the barrier
pushes it apart before the next step. Where that falls behind by more than the gap, something holds
it together: an error that says where, or with ``pinch: thin`` what has room.
"""

from typing import Any

import numpy as np

from weft import kernel
from weft.arrays import Floats
from weft.contact.contact import Contact
from weft.contact.search import ContactSearch
from weft.errors import SimulationError
from weft.kernel import Scalar, WarpArray
from weft.step import Step

PART = 0.9  # of the room of a pair, that is taken in a step
KEPT = "thickness"  # name among what is kept from step to step


class Thickness:
    """What pieces of cloth and bodies keep from one another, from step to step.

    Args:
        contact: with what is kept at the start.
    """

    def __init__(self, contact: Contact) -> None:
        self.contact, sides = contact, contact.mesh.sides
        self.asked: Floats | None = None  # (k,) [m] of pieces and bodies; None: it stays
        first = np.zeros(len(sides.names))
        first[sides.part] = sides.thickness
        self._first = self.now = first

    @property
    def of_vertices(self) -> Floats:
        """(n,) [m]."""
        sides = self.contact.mesh.sides
        return sides.thickness if self.asked is None else self.now[sides.part]

    @property
    def largest(self) -> float:
        """[m] of a pair."""
        return float(self.of_vertices.max(initial=0.0))

    def grow(self, search: ContactSearch, y: WarpArray, step: Step) -> None:
        """Take what a step keeps, from where it begins, y (n,) vec3.

        Raises:
            SimulationError: it cannot follow what is asked for.
        """
        assert self.asked is not None
        before = np.asarray(step.kept.get(KEPT, self._first))
        base = np.minimum(before, self.asked)
        more = self.asked - base
        part, place = (1.0, None) if not more.any() else self._room(search, y, base, more)
        self.now = base + part * more
        late = float((self.asked - self.now).max())
        settings = self.contact.settings
        if late > settings.gap and settings.pinch == "stop":
            k = int(np.argmax(self.asked - self.now))
            near = "" if place is None else f" near ({', '.join(f'{c:.4g}' for c in place)})"
            raise SimulationError(
                f"thickness of {self.contact.mesh.sides.names[k]} at t = {step.t:.6g} s{near}",
                got=f"room for {self.now[k]:.4g} m",
                expected=f"room for {self.asked[k]:.4g} m, or by the gap, {settings.gap:.3g} m, "
                "less while things move apart",
                hint="keys farther apart in time, or `pinch: thin` in the scene's contact, which "
                "goes on with what has room",
            )
        search.thicken(kernel.array(self.of_vertices, Scalar))

    def _room(
        self, search: ContactSearch, y: WarpArray, base: Floats, more: Floats
    ) -> tuple[float, Floats | None]:
        """Part of ``more`` that has room over ``base``, and where there is least."""
        sides, near = self.contact.mesh.sides, search.near(y, float((base + more).max()))
        if len(near) == 0:
            return 1.0, None
        pairs, kinds = (kernel.numpy(a) for a in near.device)
        a, b = (sides.part[s] for s in sides.of_pairs(pairs, kinds))
        wanted = np.maximum((more[a] + more[b]) / 2, 1e-300)
        room = kernel.numpy(near.distances(y)) - (base[a] + base[b]) / 2
        part = PART * room / wanted
        k = int(np.argmin(part))
        place = kernel.numpy(y)[pairs[k]].mean(0)
        return float(np.clip(part[k], 0.0, 1.0)), np.asarray(place)

    def saved(self) -> dict[str, Floats]:
        """For the next step, where it changes."""
        return {} if self.asked is None else {KEPT: self.now}

    def told(self) -> dict[str, Any]:
        """For reports: the largest that is kept and asked for [m], where these differ."""
        if self.asked is None or (self.asked == self.now).all():
            return {}
        return {"thickness": {"kept": self.largest, "asked": float(self.asked.max())}}
