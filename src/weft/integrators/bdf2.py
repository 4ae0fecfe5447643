"""The second-order backward difference (BDF2) as an incremental potential. Order 2.

With w = h/h_before and a_1 = (1+w)^2/(1+2w), a_2 = w^2/(1+2w), g = (1+w)/(1+2w),

    x' = a_1 x_n - a_2 x_(n-1) + g h v',   v' = a_1 v_n - a_2 v_(n-1) + g h M^-1 f(x')

For equal steps the coefficients are 4/3, 1/3 and 2/3 (Choi & Ko 2002). Therefore y = a_1 x_n - a_2
x_(n-1) + g h (a_1 v_n - a_2 v_(n-1)), s = (g h)^2, and v' = (x' - a_1 x_n + a_2 x_(n-1))/(g h).

Some steps are backward Euler's: the first one, a step that is more than twice as long as the one
before (the formula is stable up to a factor of 1 + sqrt 2), a step with an impact (``impacts``),
and the step after an impact.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.energies.state import State, StateDerivatives
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.integrators.base import AnyMemory, Integrator, Memory, StepLength, StepPart, StepReport
from weft.integrators.impacts import step_with_impacts
from weft.integrators.model import Model
from weft.integrators.reversible import Reversible

MOST_GROWTH = 2.0  # largest length of a step over that of the one before; stable up to 1 + sqrt 2


def plan_step(model: Model, state: State, memory: Memory, dt: float) -> Step:
    """Return the step of dt [s] from ``state`` by the formulas of the module docstring.

    It is backward Euler's step if the memory has no step before it, or a step shorter than dt/2.
    """
    a1, a2, span = coefficients(memory, dt)
    if a2 == 0.0:
        return model.step(state, dt, state.x + dt * state.v, dt**2, (state.x, dt))
    x, v = a1 * state.x - a2 * memory["x"], a1 * state.v - a2 * memory["v"]
    past = memory["x"], a2
    return model.step(state, dt, x + span * v, span**2, (x, span), past)


def coefficients(memory: Memory, dt: float) -> tuple[float, float, float]:
    """Return a_1, a_2 and g h [s] of a step of dt [s]; 1, 0 and dt if it is backward Euler's."""
    before = float(memory["dt"])
    # 1e-9: a step of exactly twice the length may exceed the bound by round-off
    if before == 0.0 or dt > MOST_GROWTH * before * (1 + 1e-9):
        return 1.0, 0.0, dt
    w = dt / before
    a1, a2 = (1 + w) ** 2 / (1 + 2 * w), w * w / (1 + 2 * w)
    return a1, a2, (1 + w) / (1 + 2 * w) * dt


def no_history(state: State) -> Memory:
    """Return the memory before the first step."""
    return {"x": state.x, "v": state.v, "dt": np.array(0.0)}


def remember(state: State, dt: float) -> Memory:
    """Return the memory after a step of dt [s] that began at ``state``."""
    return {"x": state.x, "v": state.v, "dt": np.array(dt)}


@checked(
    SceneError, "stepper", unchecked=("init", "plan", "remember", "pull_back", "pull_back_init")
)
class Bdf2(Integrator, Reversible):
    """Second-order backward difference; every step is minimized to a tolerance.

    It damps less than backward Euler. The step length may vary; a step that is more than twice as
    long as the one before, or that has an impact, starts again with backward Euler.
    """

    order: ClassVar[int] = 2
    linear_memory: ClassVar[Sequence[str]] = ("x", "v")

    def init(self, model: Model, state: State) -> Memory:
        """Return a memory without a step before the first one."""
        return no_history(state)

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """Advance ``state`` by dt [s]; see ``Integrator.step``."""
        return step_with_impacts(super().step, model, state, memory, dt)

    def plan(self, model: Model, state: State, memory: Memory, dt: float) -> Step:
        """Return the step with y and s of the module docstring."""
        return plan_step(model, state, memory, dt)

    def remember(self, state: State, memory: Memory, dt: float) -> Memory:
        """Return the memory: the state at the beginning of the step, and the step's length."""
        return remember(state, dt)

    def pull_back(
        self, part: StepPart, by: StepCotangents, after: StateDerivatives
    ) -> StateDerivatives:
        """Return derivatives by the state and the one before, by the formulas of the module."""
        a1, a2, span = coefficients(part.memory, part.dt)
        ends = by.predicted + by.origin
        x = by.state_x + after.memory.get("x", 0.0) + a1 * ends
        v = by.state_v + after.memory.get("v", 0.0) + a1 * span * by.predicted
        memory = dict(by.memory)
        if a2 != 0.0:
            memory |= {"x": -a2 * ends + by.past, "v": -a2 * span * by.predicted}
        return StateDerivatives(x, v, memory)

    def pull_back_init(self, start: StateDerivatives) -> StateDerivatives:
        """Return derivatives by the first state, which is also the one before the first step."""
        m = start.memory
        return StateDerivatives(start.x + m.get("x", 0.0), start.v + m.get("v", 0.0))
