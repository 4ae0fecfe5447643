"""The second-order backward difference as an incremental potential. Order 2.

With w = h/h_before and a_1 = (1+w)^2/(1+2w), a_2 = w^2/(1+2w), g = (1+w)/(1+2w),

    x' = a_1 x_n - a_2 x_(n-1) + g h v',   v' = a_1 v_n - a_2 v_(n-1) + g h M^-1 f(x')

for equal steps 4/3, 1/3 and 2/3 (Choi & Ko 2002). So y = a_1 x_n - a_2 x_(n-1) + g h (a_1 v_n - a_2
v_(n-1)), s = (g h)^2, and v' = (x' - a_1 x_n + a_2 x_(n-1))/(g h). The first step, and one that is
more than twice as long as the one before (the formula is stable up to 1 + sqrt 2), is backward
Euler's.
"""

from typing import ClassVar

import numpy as np

from weft.arrays import Positions
from weft.integrators.base import Integrator, Memory
from weft.model import Model
from weft.state import State
from weft.step import Step

MOST_GROWTH = 2.0  # of a step over the one before


def planned(model: Model, state: State, memory: Memory, dt: float) -> Step:
    """The step of dt [s] from ``state`` above."""
    before = float(memory["dt"])
    x, v, span = state.x, state.v, dt
    past: tuple[Positions, float] | None = None
    if before != 0.0 and dt <= MOST_GROWTH * before * (1 + 1e-9):
        w = dt / before
        a1, a2 = (1 + w) ** 2 / (1 + 2 * w), w * w / (1 + 2 * w)
        x, v = a1 * state.x - a2 * memory["x"], a1 * state.v - a2 * memory["v"]
        span, past = (1 + w) / (1 + 2 * w) * dt, (memory["x"], a2)
    return model.step(state, dt, x + span * v, span**2, (x, span), past)


def no_history(state: State) -> Memory:
    """The memory before the first step."""
    return {"x": state.x, "v": state.v, "dt": np.array(0.0)}


def remember(state: State, dt: float) -> Memory:
    """The memory after a step of dt [s] from ``state``."""
    return {"x": state.x, "v": state.v, "dt": np.array(dt)}


class Bdf2(Integrator):
    """Second-order backward difference, every step to a tolerance.

    Damps less than backward Euler. Steps may vary; one more than twice as long as the last begins
    anew with backward Euler.
    """

    order: ClassVar[int] = 2

    def init(self, model: Model, state: State) -> Memory:
        """No step before the first."""
        return no_history(state)

    def plan(self, model: Model, state: State, memory: Memory, dt: float) -> Step:
        """y and s above."""
        return planned(model, state, memory, dt)

    def remember(self, state: State, memory: Memory, dt: float) -> Memory:
        """The state, and how long the step was."""
        return remember(state, dt)
