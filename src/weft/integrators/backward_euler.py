"""Backward Euler as an incremental potential: y = x_n + h v_n, s = h^2, v = (x - x_n)/h. Order 1.

The minimizer of Phi satisfies M (v - v_n) = -h dE/dx(x), which is implicit Euler. The linearized
step of Baraff & Witkin (1998) is one full Newton iteration on this potential from x_n.
"""

from typing import ClassVar

from weft.energies.state import State, StateDerivatives
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.integrators.base import Integrator, Memory, StepPart
from weft.integrators.model import Model
from weft.integrators.reversible import Reversible


class BackwardEuler(Integrator, Reversible):
    """Implicit Euler: first order, strongly damping, robust at any step length."""

    order: ClassVar[int] = 1

    def init(self, model: Model, state: State) -> Memory:
        """Return an empty memory: the method has one step."""
        return {}

    def plan(self, model: Model, state: State, memory: Memory, dt: float) -> Step:
        """Return the step with y = x + h v and s = h^2."""
        return model.step(state, dt, state.x + dt * state.v, dt * dt, (state.x, dt))

    def remember(self, state: State, memory: Memory, dt: float) -> Memory:
        """Return the memory unchanged."""
        return memory

    def pull_back(
        self, part: StepPart, by: StepCotangents, after: StateDerivatives
    ) -> StateDerivatives:
        """Return derivatives by the state: y = x + h v, and the origin is x."""
        x = by.state_x + (by.predicted + by.origin)
        return StateDerivatives(x, by.state_v + part.dt * by.predicted, dict(by.memory))
