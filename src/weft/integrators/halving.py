"""Take a step; where it fails, take it in halves.

Every loop over steps calls ``advance``: simulations, batches, and the forward run of derivatives.
"""

from dataclasses import dataclass

from weft.energies.state import State
from weft.integrators.base import Memory, Stepper, StepReport, StopsEarly
from weft.integrators.model import Model

MOST_HALVINGS = 6  # of a step that fails


@dataclass(frozen=True, eq=False)
class TakenStep:
    """A step, or a part of one that was halved: how it went, and where it ended."""

    report: StepReport
    state: State
    memory: Memory


class StepFailed(Exception):
    """The shortest part of a step failed. Callers turn this into a ``SimulationError``."""

    def __init__(self, state: State, memory: Memory, report: StepReport) -> None:
        super().__init__(report.outcome.name)
        self.state, self.memory, self.report = state, memory, report  # where the part began


def advance(
    stepper: Stepper,
    model: Model,
    state: State,
    memory: Memory,
    dt: float,
    failed: StepReport | None = None,
) -> list[TakenStep]:
    """Take a step of dt [s], or parts of it.

    A step that fails is tried again by the ``careful`` stepper of one that stops early; then it is
    halved, and so on.

    Args:
        stepper: the integrator.
        model: what is simulated.
        state: where the step begins.
        memory: of the integrator, there.
        dt: [s].
        failed: how the whole step went if it was tried already, and failed; None: it was not.

    Returns:
        The parts, at least one. The last one's state is the end of the step.

    Raises:
        StepFailed: a part that fails and cannot be halved again.
    """
    careful = stepper.careful if isinstance(stepper, StopsEarly) else stepper
    if failed is None:
        after, kept, report = stepper.step(model, state, memory, dt)
        if report.outcome.ok:
            return [TakenStep(report, after, kept)]
        failed = report
    if careful is not stepper:
        return advance(careful, model, state, memory, dt)
    return _halved(stepper, model, state, memory, dt, failed, 0)


def _halved(
    stepper: Stepper,
    model: Model,
    state: State,
    memory: Memory,
    dt: float,
    failed: StepReport,
    halvings: int,
) -> list[TakenStep]:
    """Take two parts of dt/2 in place of a step of dt that failed."""
    if halvings == MOST_HALVINGS or not failed.divisible:
        raise StepFailed(state, memory, failed)
    parts: list[TakenStep] = []
    for _ in range(2):
        after, kept, report = stepper.step(model, state, memory, dt / 2)
        if report.outcome.ok:
            parts.append(TakenStep(report, after, kept))
        else:
            parts += _halved(stepper, model, state, memory, dt / 2, report, halvings + 1)
        state, memory = parts[-1].state, parts[-1].memory
    return parts
