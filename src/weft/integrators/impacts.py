"""Impacts in two-step formulas: a step in which cloth hits something has no history.

The two-step formula would extrapolate velocities from before the impact: v' of the step that stops
the cloth would be -v/2 instead of 0, and that of the next step -v. So a step with an impact
(``is_impact``) and the step after it are backward Euler's.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from weft.base.arrays import Forces, Positions, Velocities
from weft.energies.barrier import Barrier
from weft.energies.state import State
from weft.integrators.assembly import sum_gradients
from weft.integrators.base import Memory, StepReport
from weft.integrators.model import Model

IMPACT = 0.1  # kinetic energy of the impulse over that of the cloth, above which it is an impact
# [m/s] speed that is added in the kinetic energy, so that cloth at rest has no impacts: Newton's
# method leaves velocities of this size.
SLOW = 1e-2
FORCES = "barriers"  # name of the barrier forces in the memory


def barrier_forces(model: Model, x: Positions) -> Forces | None:
    """Return the forces of contact and other barriers at the end x (n,3) [m] of the last step.

    Returns:
        (n,3) [N]; None if the model has no barriers.
    """
    barriers = [term for term in model.assembly.terms if isinstance(term, Barrier)]
    if not barriers:
        return None
    return -sum_gradients(barriers, np.array(x))


def is_impact(model: Model, speed: Velocities, change: Forces, dt: float) -> bool:
    """Return whether a change of barrier forces in one step is an impact.

    A step has an impact if the kinetic energy of the impulse of the change is more than ``IMPACT``
    times the kinetic energy of the cloth.

    Args:
        model: its masses are used.
        speed: (n,3) [m/s] velocities at the beginning of the step.
        change: (n,3) [N] change of the barrier forces in the step.
        dt: [s] length of the step.
    """
    mass = model.assembly.mass
    impulse = 0.5 * dt**2 * float(np.einsum("n,ni,ni->", 1 / mass, change, change))
    kinetic = 0.5 * float(np.einsum("n,ni,ni->", mass, speed, speed) + mass.sum() * SLOW**2)
    return impulse > IMPACT * kinetic


def step_with_impacts(
    take: Callable[[Model, State, Memory, float], tuple[State, Memory, StepReport]],
    model: Model,
    state: State,
    memory: Memory,
    dt: float,
) -> tuple[State, Memory, StepReport]:
    """Take a step of dt [s]; at an impact take it again without history, which is backward Euler.

    The step after an impact has no history either.

    Args:
        take: takes one step with the history that ``memory`` has.
        model: masses, energies, pins and contact.
        state: positions and velocities at the beginning of the step.
        memory: history, with the barrier forces at the beginning of the step.
        dt: [s].

    Returns:
        New state, memory and report; the counts of both attempts are added.
    """
    after, kept, report = take(model, state, memory, dt)
    forces = barrier_forces(model, after.x) if report.outcome.ok else None
    if forces is None:
        return after, kept, report
    if is_impact(model, state.v, forces - memory.get(FORCES, forces), dt):
        if float(memory["dt"]) != 0.0:
            first, memory = report, {**memory, "dt": np.array(0.0)}
            after, kept, report = take(model, state, memory, dt)
            report = replace(report.after(first), seconds=first.seconds + report.seconds)
            if not report.outcome.ok:
                return after, kept, report
            forces = barrier_forces(model, after.x)
            assert forces is not None
        kept = {**kept, "dt": np.array(0.0)}
    return after, {**kept, FORCES: forces}, report
