"""Steps of a model one after another, and the period of an oscillation, for several experiments."""

from collections.abc import Iterator

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SimulationError
from weft.energies.state import State
from weft.integrators.base import Memory, Stepper, StepReport
from weft.integrators.model import Model


def take_steps(
    model: Model,
    state: State,
    stepper: Stepper,
    dt: float,
    count: int,
    memory: Memory | None = None,
) -> Iterator[tuple[State, Memory, StepReport]]:
    """Take steps of equal length, and yield state, memory and report after each.

    Args:
        model: energies, pins and contact.
        state: from which the steps start.
        stepper: integrator with its settings.
        dt: [s] length of each step.
        count: number of steps.
        memory: of the stepper; None: that of a first step.

    Raises:
        SimulationError: a step that does not converge.
    """
    if memory is None:
        memory = stepper.init(model, state)
    for number in range(count):
        state, memory, report = stepper.step(model, state, memory, dt)
        if not report.outcome.ok:
            name = report.outcome.name
            raise SimulationError(f"step {number}", got=name, hint=report.outcome.advice)
        yield state, memory, report


def last_state(model: Model, state: State, stepper: Stepper, dt: float, count: int) -> State:
    """Return the state after ``count`` steps of dt [s]; the arguments are those of
    ``take_steps``.
    """
    for taken in take_steps(model, state, stepper, dt, count):
        state = taken[0]
    return state


def mean_period(values: Floats, dt: float) -> float:
    """Return the period [s] of an oscillation (k,) sampled every dt [s]: twice the mean time
    between its zero crossings, which are interpolated.
    """
    k = np.flatnonzero(values[:-1] * values[1:] < 0)
    at = k + values[k] / (values[k] - values[k + 1])
    return float(2 * dt * np.diff(at).mean())
