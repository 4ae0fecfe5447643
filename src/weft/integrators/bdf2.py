"""The second-order backward difference (BDF2) as an incremental potential. Order 2.

With w = h/h_before and a_1 = (1+w)^2/(1+2w), a_2 = w^2/(1+2w), g = (1+w)/(1+2w),

    x' = a_1 x_n - a_2 x_(n-1) + g h v',   v' = a_1 v_n - a_2 v_(n-1) + g h M^-1 f(x')

For equal steps the coefficients are 4/3, 1/3 and 2/3 (Choi & Ko 2002). Therefore y = a_1 x_n - a_2
x_(n-1) + g h (a_1 v_n - a_2 v_(n-1)), s = (g h)^2, and v' = (x' - a_1 x_n + a_2 x_(n-1))/(g h).

Some steps are backward Euler's: the first one, a step that is more than twice as long as the one
before (the formula is stable up to a factor of 1 + sqrt 2), a step with an impact (``is_impact``),
and the step after an impact.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np

from weft.base.arrays import Forces, Positions, Velocities
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.energies.barrier import Barrier
from weft.energies.state import State, StateDerivatives
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.integrators.assembly import sum_gradients
from weft.integrators.base import AnyMemory, Integrator, Memory, StepLength, StepPart, StepReport
from weft.integrators.model import Model

MOST_GROWTH = 2.0  # largest length of a step over that of the one before; stable up to 1 + sqrt 2
IMPACT = 0.1  # kinetic energy of the impulse over that of the cloth, above which it is an impact
# [m/s] speed that is added in the kinetic energy, so that cloth at rest has no impacts: Newton's
# method leaves velocities of this size.
SLOW = 1e-2
FORCES = "barriers"  # name of the barrier forces in the memory


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

    The step after an impact has no history either. The two-step formula would extrapolate
    velocities from before the impact: v' of the step that stops the cloth would be -v/2 instead of
    0, and that of the next step -v.

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


@checked(
    SceneError, "stepper", unchecked=("init", "plan", "remember", "pull_back", "pull_back_init")
)
class Bdf2(Integrator):
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
