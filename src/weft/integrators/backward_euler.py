"""Backward Euler as an incremental potential: y = x_n + h v_n, s = h^2, v = (x - x_n)/h. Order 1.

The minimizer of Phi satisfies M (v - v_n) = -h dE/dx(x), which is implicit Euler; Baraff & Witkin's
(1998) linearized step is one full Newton iteration of it from x_n.
"""

from typing import ClassVar

from weft.arrays import Positions, Velocities
from weft.integrators.base import Integrator, Memory
from weft.model import Model
from weft.state import State


class BackwardEuler(Integrator):
    """Implicit Euler. First order, strongly damping, robust at any step."""

    order: ClassVar[int] = 1

    def init(self, model: Model, state: State) -> Memory:
        """Nothing to remember."""
        return {}

    def predict(self, state: State, memory: Memory, dt: float) -> tuple[Positions, float]:
        """y = x + h v, s = h^2."""
        return state.x + dt * state.v, dt * dt

    def finish(
        self, x: Positions, state: State, memory: Memory, dt: float
    ) -> tuple[Velocities, Memory]:
        """v = (x - x_n)/h."""
        return (x - state.x) / dt, memory
