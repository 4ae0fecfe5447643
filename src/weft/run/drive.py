"""The driver: it takes the steps of every simulation, and halves those that fail.

Simulations, batches, play, and the recorded run of derivatives (``adjoint.recorded_run``) use it.
The parts that prescribed motion needs are known before the step (``bodies.motion.step_division``).
A part that fails is halved.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from weft.base.errors import SimulationError, point_text
from weft.energies.springs.hand import Hands
from weft.energies.state import State
from weft.integrators.adaptive import careful_stepper, innermost
from weft.integrators.base import Memory, Stepper, StepReport
from weft.integrators.model import Model
from weft.run.run_state import RunState, StepTimes
from weft.solve.linear.solver import Outcome
from weft.solve.newton.psd import Psd

MOST_HALVINGS = 6  # the shortest part of a failed step is 1/64 of it
COSTLY = 50  # Newton iterations of a failed step from which on the shortest part is tried next
UNSTABLE = (Outcome.STALLED, Outcome.NOT_DESCENT, Outcome.INDEFINITE)  # with an indefinite Hessian
FAR = 10.0  # gaps: a prescribed motion that goes farther in a step is named if the step fails


@dataclass(frozen=True, eq=False)
class TakenStep:
    """Result of a step, or of a part of a divided step: report, and state and memory at its end."""

    report: StepReport
    state: State
    memory: Memory


class StepFailed(Exception):
    """Error of a step whose shortest part failed; ``error`` is the one for users.

    Args:
        state: the state at the beginning of the part that failed.
        memory: the memory there.
        report: of the part.
        tries: the reports of all tries from the state, that of the part among them.
    """

    def __init__(
        self,
        state: State,
        memory: Memory,
        report: StepReport,
        tries: Sequence[StepReport] = (),
    ) -> None:
        super().__init__(report.outcome.name)
        self.tries = tries
        self.state, self.memory, self.report = state, memory, report
        self.motion = ""  # the prescribed motion that goes farthest in the step, in words
        self.exact = False  # whether the settings have `psd: exact`

    @property
    def advice(self) -> str:
        """Describe the next step of the user, for messages."""
        outcome = self.report.outcome
        advice = outcome.advice
        if self.exact and outcome in UNSTABLE:
            advice += ", or leave out `psd: exact`"
        if not self.motion or outcome is Outcome.PASSES:
            return advice
        return f"{self.motion}. A shorter step does not help. Otherwise: {advice}"

    def error(self, step: str, hint: str, where: Path | None = None) -> SimulationError:
        """Return the error for users.

        Args:
            step: name of the step.
            hint: what the caller adds to ``advice``.
            where: file or folder with the failed step.
        """
        report = self.report
        near = "" if report.place is None else f" near ({point_text(report.place)})"
        return SimulationError(
            f"{step} at t = {self.state.t:.6g} s{near}",
            got=report.failure,
            expected="a prescribed motion that does not pass through cloth or bodies"
            if report.outcome is Outcome.PASSES
            else f"a step that converges; weft tried steps down to dt = {report.dt:.3g} s",
            where=where,
            hint=f"{self.advice}. {hint}",
        )


class Driver:
    """Takes the steps of a simulation, one after another.

    ``model`` and ``stepper`` may be replaced between two steps, if the points stay the same.

    Args:
        model: masses, energies, pins and contact.
        stepper: the integrator.
        times: of the steps.
    """

    def __init__(self, model: Model, stepper: Stepper, times: StepTimes) -> None:
        self.model, self.stepper, self.times = model, stepper, times

    def begin(self, state: State) -> RunState:
        """Return the start of a run that begins at a state."""
        return RunState(state, self.stepper.init(self.model, state), 0, 0, 0)

    def step(self, begin: RunState) -> tuple[RunState, list[TakenStep]]:
        """Take the step after ``begin``; return the state at its end, and the parts of the step.

        Raises:
            StepFailed: the step fails, however short its parts are.
            SimulationError: prescribed motion needs too many parts.
        """
        times = self.times
        parts = advance(self.stepper, self.model, begin.state, begin.memory, times.dt)
        ahead, step = divmod(begin.step + 1, times.steps)
        frame = begin.frame + ahead
        state = dataclasses.replace(parts[-1].state, t=times.at(frame, step))
        parts[-1] = dataclasses.replace(parts[-1], state=state)
        return RunState(state, parts[-1].memory, frame, step, begin.count + 1), parts


def advance(
    stepper: Stepper,
    model: Model,
    state: State,
    memory: Memory,
    dt: float,
) -> list[TakenStep]:
    """Take a step of dt [s], in one piece or in parts.

    If the step fails and the stepper is one that stops early, its ``careful`` stepper tries again.
    A step that still fails is halved, and so are its parts, up to ``MOST_HALVINGS`` times. Before
    the second halving, or before the first one of a costly step, the shortest part is tried. If
    that fails, too, no halving helps.

    Args:
        stepper: the integrator.
        model: masses, energies, pins and contact.
        state: positions and velocities at the beginning of the step.
        memory: memory of the integrator there.
        dt: [s].

    Returns:
        The parts, at least one. The state of the last one is the end of the step. The report of a
        part includes the tries before it that failed.

    Raises:
        StepFailed: the shortest part fails.
        SimulationError: prescribed motion needs too many parts.
    """
    way = _StepParts(stepper, model, state, memory)
    try:
        for length in model.divide_step(state.t, dt).parts:
            way.take(length)
    except StepFailed as error:
        error.motion = _farthest_motion(model, state, dt)
        settings = getattr(innermost(stepper), "settings", None)
        error.exact = getattr(settings, "psd", None) is Psd.EXACT
        raise
    return way.parts


class _StepParts:
    """The parts of a step that are taken so far.

    ``state`` and ``memory`` are those at the end of the last part.
    """

    def __init__(self, stepper: Stepper, model: Model, state: State, memory: Memory) -> None:
        self.stepper, self.model, self.state, self.memory = stepper, model, state, memory
        self.parts: list[TakenStep] = []
        self.rejected: list[StepReport] = []  # tries since the last part

    def take(self, dt: float) -> None:
        """Take a part of dt [s] in which prescribed motion is nearly straight."""
        stepper = self.stepper
        report = self._try(stepper, dt)
        careful = careful_stepper(stepper)
        if not report.outcome.ok and careful is not stepper:
            stepper, report = careful, self._try(careful, dt)
        if not report.outcome.ok:
            self._halve(stepper, dt, report, 0)

    def _try(self, stepper: Stepper, dt: float, use: bool = True) -> StepReport:
        """Try a part of dt [s]; take it if it succeeds and ``use`` is true."""
        after, memory, report = stepper.step(self.model, self.state, self.memory, dt)
        if use and report.outcome.ok:
            total = report.with_costs(self.rejected) if self.rejected else report
            self.parts.append(TakenStep(total, after, memory))
            self.state, self.memory, self.rejected = after, memory, []
        else:
            # The dt of a failed adaptive step is that of its shortest sub-step.
            self.rejected.append(dataclasses.replace(report, dt=dt))
        return report

    def _halve(
        self,
        stepper: Stepper,
        dt: float,
        failed: StepReport,
        halvings: int,
        shortest_works: bool = False,
    ) -> None:
        """Take two parts of dt/2 instead of a step of dt that failed.

        ``shortest_works`` says that the shortest part was tried from this state, and succeeded.
        """
        if halvings == MOST_HALVINGS or not failed.divisible:
            raise StepFailed(self.state, self.memory, failed, self.rejected)
        costly = halvings > 0 or failed.iterations >= COSTLY
        if costly and not shortest_works and halvings < MOST_HALVINGS - 1:
            shortest = dt / 2 ** (MOST_HALVINGS - halvings)
            report = self._try(stepper, shortest, use=False)
            if not report.outcome.ok:
                raise StepFailed(self.state, self.memory, report, self.rejected)
            shortest_works = True
        for _ in range(2):
            report = self._try(stepper, dt / 2)
            if not report.outcome.ok:
                self._halve(stepper, dt / 2, report, halvings + 1, shortest_works)
            shortest_works = False


def _farthest_motion(model: Model, state: State, dt: float) -> str:
    """Return in words which prescribed motion goes farthest in a step of dt [s] from a state."""
    far, text = FAR * model.gap, ""
    for motion in model.motions:
        way = motion.travel(state.t, state.t + dt)
        if way > far:
            far = way
            text = (
                f"{motion.name} moves by {way:.3g} m in a step of {dt:.3g} s ({way / dt:.3g} "
                "m/s): move it more slowly, or along another path"
            )
    for hands in (e for e in model.energies if isinstance(e, Hands)):
        for k, hand in enumerate(hands.hands):
            if hand.force is None and hand.holds(state.t):
                way = float(np.linalg.norm(hand.place(state.t) - hand.held_point(state.x)))
                if way > far:
                    far = way
                    text = (
                        f"hand {k + 1} without a limit of its force jumps by {way:.3g} m: give "
                        "the hand a `force`, or move it in shorter distances"
                    )
    return text
