"""What one step passes back: derivatives of a loss by all that the step was made from."""

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats
from weft.step import Step


@dataclass(eq=False)
class Pulled:
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

    @staticmethod
    def zeros(step: Step) -> "Pulled":
        """Nothing yet."""
        n, b = len(step.state.x), len(step.bodies[0])
        p, o, x, v, past, target = (np.zeros((n, 3)) for _ in range(6))
        return Pulled(p, o, x, v, past, target, np.zeros((b, 3)), np.zeros((b, 3)), {})

    def keep(self, name: str, by: Floats) -> None:
        """Add to the derivative by something kept."""
        self.kept[name] = self.kept[name] + by if name in self.kept else by
