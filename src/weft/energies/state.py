"""State of a simulation, and derivatives by it. A step returns a new state."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from weft.base.arrays import ArrayOf, Floats, Positions, Velocities
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Setting

# Numbers may be infinite or NaN, because a step that fails may end with such numbers.
_X = ArrayOf("numbers", ((None, 3),), "m", finite=False)
_V = ArrayOf("numbers", ((None, 3),), "m/s", finite=False)


@checked(SceneError, "state")
@dataclass(frozen=True, eq=False)
class State:
    """Positions and velocities of all vertices at a time.

    Raises:
        SceneError: arrays of another shape.
    """

    x: Annotated[Positions, _X]  # (n,3) [m]
    v: Annotated[Velocities, _V]  # (n,3) [m/s]
    t: Annotated[float, Setting("", "s")] = 0.0  # [s]

    def __post_init__(self) -> None:
        if self.v.shape != self.x.shape:
            raise SceneError(
                "state.v",
                got=f"shape {self.v.shape}",
                expected=f"{self.x.shape}, as of x",
                hint="weft.State.at_rest(x) has no velocity",
            )

    @staticmethod
    def at_rest(x: Positions, t: float = 0.0) -> "State":
        """Return a state with a copy of positions x (n,3) [m] and no velocity, at time t [s]."""
        x = np.array(x, dtype=np.float64)
        return State(x, np.zeros_like(x), t)


@dataclass(eq=False)
class StateDerivatives:
    """Derivatives of a loss by a state and by what is remembered with it.

    It also holds the derivatives of these by a number (tangents).
    """

    x: Floats  # (n,3)
    v: Floats  # (n,3)
    memory: dict[str, Floats] = field(default_factory=dict)

    @staticmethod
    def zeros(n: int) -> "StateDerivatives":
        """Return zero derivatives for n points."""
        return StateDerivatives(np.zeros((n, 3)), np.zeros((n, 3)))
