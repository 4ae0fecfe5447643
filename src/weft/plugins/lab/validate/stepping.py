"""Steps of a model one after another, and what is measured on them, for several experiments."""

from collections.abc import Iterable, Iterator

import numpy as np

from weft.base.arrays import Floats, Forces, Positions
from weft.base.errors import SimulationError
from weft.energies.state import State
from weft.energies.term import Term
from weft.integrators.assembly import Assembly, sum_gradients
from weft.integrators.base import Memory, Stepper, StepReport
from weft.integrators.model import Model


def take_steps(
    model: Model,
    state: State,
    stepper: Stepper,
    lengths: Iterable[float],
    memory: Memory | None = None,
) -> Iterator[tuple[State, Memory, StepReport]]:
    """Take steps, and yield state, memory and report after each.

    Args:
        model: energies, pins and contact.
        state: from which the steps start.
        stepper: integrator with its settings.
        lengths: [s] of the steps.
        memory: of the stepper; None: that of a first step.

    Raises:
        SimulationError: a step that does not converge.
    """
    if memory is None:
        memory = stepper.init(model, state)
    for number, dt in enumerate(lengths):
        state, memory, report = stepper.step(model, state, memory, dt)
        if not report.outcome.ok:
            name = report.outcome.name
            raise SimulationError(f"step {number}", got=name, hint=report.outcome.advice)
        yield state, memory, report


def last_state(model: Model, state: State, stepper: Stepper, lengths: Iterable[float]) -> State:
    """Return the state after all steps; the arguments are those of ``take_steps``."""
    *_, (state, _, _) = take_steps(model, state, stepper, lengths)
    return state


def mean_period(values: Floats, dt: float) -> float:
    """Return the period [s] of an oscillation (k,) sampled every dt [s]: twice the mean time
    between its zero crossings, which are interpolated.
    """
    k = np.flatnonzero(values[:-1] * values[1:] < 0)
    at = k + values[k] / (values[k] - values[k + 1])
    return float(2 * dt * np.diff(at).mean())


def mean_rate(values: Floats, dt: float) -> float:
    """Return the slope of the line that fits values (k,) sampled every dt [s]."""
    return float(np.polyfit(dt * np.arange(len(values)), values, 1)[0])


def gradient(term: Assembly | Term, x: Positions) -> Forces:
    """Return the gradient (n,3) [N] of an assembly or a term at x (n,3) [m]."""
    return sum_gradients([term], np.array(x))
