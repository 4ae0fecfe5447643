"""State: what changes. Positions, velocities and time; a step makes a new one."""

from dataclasses import dataclass

import numpy as np

from weft.arrays import Positions, Velocities


@dataclass(frozen=True, eq=False)
class State:
    """Positions and velocities of all vertices at a time."""

    x: Positions  # (n,3) [m]
    v: Velocities  # (n,3) [m/s]
    t: float = 0.0  # [s]

    @staticmethod
    def at_rest(x: Positions, t: float = 0.0) -> "State":
        """A copy of positions x, without velocity."""
        x = np.array(x, dtype=np.float64)
        return State(x, np.zeros_like(x), t)
