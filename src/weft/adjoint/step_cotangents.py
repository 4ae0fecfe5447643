"""What one step passes back: derivatives of a loss by all that the step was made from."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.energies.step import Step


@dataclass(eq=False)
class StepCotangents:
    """Derivatives by what a step was made from; terms add to them in place.

    ``state_x`` and ``state_v`` are those of x_n and v_n wherever a term reads them itself, and not
    by way of ``predicted`` and ``origin``.
    """

    predicted: Floats  # (n,3)
    origin: Floats  # (n,3)
    state_x: Floats  # (n,3)
    state_v: Floats  # (n,3)
    past: Floats  # (n,3) by x_(n-1)
    target: Floats  # (n,3) by where pinned vertices are at the end; zeros elsewhere
    before: Floats  # (b,3) by vertices of bodies at the start
    after: Floats  # (b,3) and at the end
    kept: dict[str, Floats]  # by what terms kept from the step before
    place: Floats  # (n,3) by ``at``
    at: Floats | None = None  # (n,3) [m] where what is lagged was taken anew; None: at the start

    @staticmethod
    def zeros(step: Step, at: Floats | None = None) -> "StepCotangents":
        """Nothing yet."""
        n, b = len(step.state.x), len(step.bodies[0])
        p, o, x, v, past, target, place = (np.zeros((n, 3)) for _ in range(7))
        return StepCotangents(
            p, o, x, v, past, target, np.zeros((b, 3)), np.zeros((b, 3)), {}, place, at
        )

    @staticmethod
    def total(several: "Sequence[StepCotangents]") -> "StepCotangents":
        """Of several minimizations of one step, but for where they were taken anew."""
        first, *others = several
        kept = dict(first.kept)
        out = dataclasses.replace(first, kept=kept)
        for p in others:
            for name in ("predicted", "origin", "state_x", "state_v", "past", "target"):
                setattr(out, name, getattr(out, name) + getattr(p, name))
            out.before, out.after = out.before + p.before, out.after + p.after
            for name, by in p.kept.items():
                out.keep(name, by)
        return out

    def keep(self, name: str, by: Floats) -> None:
        """Add to the derivative by something kept."""
        self.kept[name] = self.kept[name] + by if name in self.kept else by
