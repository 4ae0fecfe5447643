"""Take a step; if it fails, take it in halves.

Every loop over steps calls ``advance``: simulations, batches, and the recorded run of derivatives
(``adjoint.recorded_run``).
"""

from dataclasses import dataclass

from weft.energies.state import State
from weft.integrators.base import Memory, Stepper, StepReport, StopsEarly
from weft.integrators.model import Model

MOST_HALVINGS = 6  # the shortest part of a failed step is 1/64 of it


@dataclass(frozen=True, eq=False)
class TakenStep:
    """Result of a step, or of a part of a halved step: report, and state and memory at its end."""

    report: StepReport
    state: State
    memory: Memory


class StepFailed(Exception):
    """Error of a step whose shortest part failed. Callers turn it into a ``SimulationError``."""

    def __init__(self, state: State, memory: Memory, report: StepReport) -> None:
        super().__init__(report.outcome.name)
        self.state, self.memory, self.report = state, memory, report  # at the beginning of the part


def advance(
    stepper: Stepper,
    model: Model,
    state: State,
    memory: Memory,
    dt: float,
    failed: StepReport | None = None,
) -> list[TakenStep]:
    """Take a step of dt [s], in one piece or in parts.

    If the step fails and the stepper is one that stops early, its ``careful`` stepper tries again.
    A step that still fails is halved, and so are its parts, up to ``MOST_HALVINGS`` times.

    Args:
        stepper: the integrator.
        model: masses, energies, pins and contact.
        state: positions and velocities at the beginning of the step.
        memory: memory of the integrator there.
        dt: [s].
        failed: report of the whole step if it was already tried and failed; None: it was not tried.

    Returns:
        The parts, at least one. The state of the last one is the end of the step.

    Raises:
        StepFailed: a part fails and cannot be halved again.
    """
    careful = stepper.careful if isinstance(stepper, StopsEarly) else stepper
    if failed is None:
        after, kept, report = stepper.step(model, state, memory, dt)
        if report.outcome.ok:
            return [TakenStep(report, after, kept)]
        failed = report
    if careful is not stepper:
        return advance(careful, model, state, memory, dt)
    return _halve(stepper, model, state, memory, dt, failed, 0)


def _halve(
    stepper: Stepper,
    model: Model,
    state: State,
    memory: Memory,
    dt: float,
    failed: StepReport,
    halvings: int,
) -> list[TakenStep]:
    """Take two parts of dt/2 instead of a step of dt that failed."""
    if halvings == MOST_HALVINGS or not failed.divisible:
        raise StepFailed(state, memory, failed)
    parts: list[TakenStep] = []
    for _ in range(2):
        after, kept, report = stepper.step(model, state, memory, dt / 2)
        if report.outcome.ok:
            parts.append(TakenStep(report, after, kept))
        else:
            parts += _halve(stepper, model, state, memory, dt / 2, report, halvings + 1)
        state, memory = parts[-1].state, parts[-1].memory
    return parts
