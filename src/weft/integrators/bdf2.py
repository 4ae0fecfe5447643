"""The second-order backward difference as an incremental potential. Order 2.

With w = h/h_before and a_1 = (1+w)^2/(1+2w), a_2 = w^2/(1+2w), g = (1+w)/(1+2w),

    x' = a_1 x_n - a_2 x_(n-1) + g h v',   v' = a_1 v_n - a_2 v_(n-1) + g h M^-1 f(x')

for equal steps 4/3, 1/3 and 2/3 (Choi & Ko 2002). So y = a_1 x_n - a_2 x_(n-1) + g h (a_1 v_n - a_2
v_(n-1)), s = (g h)^2, and v' = (x' - a_1 x_n + a_2 x_(n-1))/(g h). The first step, one that is more
than twice as long as the one before (the formula is stable up to 1 + sqrt 2), one in which contact
gives a blow, and the one after that are backward Euler's.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

import numpy as np

from weft import kernel
from weft.base.arrays import Forces, Positions, Velocities
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.energies.state import State
from weft.energies.step import Step
from weft.integrators.base import AnyMemory, Integrator, Memory, StepLength, StepReport
from weft.integrators.model import Model
from weft.kernel import vec3

MOST_GROWTH = 2.0  # of a step over the one before
IMPACT = 0.1  # kinetic energy of the impulse of a blow, over that of all
SLOW = 1e-2  # [m/s] speed below which a blow does not count: what searches leave
FORCES = "barriers"  # name among what is kept from step to step


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


def barrier_forces(model: Model, x: Positions) -> Forces | None:
    """Return what contact and other barriers push with at the end x (n,3) [m] of the step taken
    last, (n,3) [N]; None where the model has no barriers.
    """
    barriers = [term for term in model.assembly.terms if term.limits]
    if not barriers:
        return None
    g, place = kernel.zeros(len(x), vec3), kernel.points(np.array(x))
    for term in barriers:
        term.add_gradient(place, g)
    return -np.array(kernel.numpy(g))


def is_impact(model: Model, speed: Velocities, change: Forces, dt: float) -> bool:
    """Whether barriers whose forces change by ``change`` (n,3) [N] in a step of dt [s] give a blow:
    the kinetic energy of the impulse is more than ``IMPACT`` of that of velocities (n,3) [m/s].
    """
    mass = model.assembly.mass_now
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
    """Take a step of dt [s] that begins anew, with backward Euler, at a blow of contact; so does
    the next step.

    Velocities of two steps in which cloth is stopped say nothing of the third one: v' of the step
    that stops it is -v/2 in place of 0, and that of the next one -v.

    Args:
        take: takes a step with the history that ``memory`` has.
        model: of the step.
        state: where it begins.
        memory: of the steps before it, with the forces of barriers at its start.
        dt: [s].
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


@checked(SceneError, "stepper", unchecked=("init", "plan", "remember"))
class Bdf2(Integrator):
    """Second-order backward difference, every step to a tolerance.

    Damps less than backward Euler. Steps may vary; one more than twice as long as the last, and one
    in which contact gives a blow, begins anew with backward Euler.
    """

    order: ClassVar[int] = 2

    def init(self, model: Model, state: State) -> Memory:
        """No step before the first."""
        return no_history(state)

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """One step of dt [s]; on an outcome other than CONVERGED the state returned is the given
        one.
        """
        return step_with_impacts(super().step, model, state, memory, dt)

    def plan(self, model: Model, state: State, memory: Memory, dt: float) -> Step:
        """y and s above."""
        return planned(model, state, memory, dt)

    def remember(self, state: State, memory: Memory, dt: float) -> Memory:
        """The state, and how long the step was."""
        return remember(state, dt)
