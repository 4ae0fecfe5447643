"""Adaptive steps after Baraff & Witkin (1998, section 6).

A step in which the stretch of a fiber changes too much is rejected and halved. After several steps
that succeed, twice the length is tried.

The length of a sub-step is the length of the step over a power of two, and a sub-step begins at a
multiple of its length. Sub-steps therefore end exactly at the end of the step and never pass a
frame. If a longer sub-step fails at once, the next attempt waits longer, as in Freecloth.
"""

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.discretization.samples import Samples
from weft.energies.state import State
from weft.integrators.base import (
    AnyMemory,
    Integrator,
    Memory,
    StepLength,
    Stepper,
    StepReport,
)
from weft.integrators.model import Model
from weft.solve.linear.solver import Outcome

_OWN = "adaptive."  # prefix of the pace in the memory, beside the inner stepper's memory


@checked(SceneError, "adaptive")
@documented
@dataclass(frozen=True)
class AdaptiveSettings:
    """Steps that are rejected and halved where cloth stretches too fast (Baraff & Witkin 1998)."""

    limit: float = setting(0.1, "largest change of a fiber's stretch in a step", above=0)
    successes: int = setting(4, "successful steps before a longer step is tried", least=1)
    patience: float = setting(
        1.5, "factor on `successes` if the longer step fails at once", least=1
    )
    most_successes: int = setting(40, "upper limit of `successes` after such failures", least=1)
    most_halvings: int = setting(8, "largest number of halvings of `step`", least=0, most=20)

    def __post_init__(self) -> None:
        if self.most_successes < self.successes:
            raise SceneError(
                "adaptive.most_successes",
                got=self.most_successes,
                expected=f"must be >= successes, {self.successes}",
            )


@dataclass(frozen=True)
class _Pace:
    """Length of the sub-steps, and the successes counted until it may grow."""

    level: int  # the length of a sub-step is that of the step over 2^level
    wait: int  # successes needed before the length grows
    accepted: int = 0  # so far
    grown: bool = False  # the next sub-step is the first one of twice the length

    def memory(self) -> dict[str, Floats]:
        """Return the fields as arrays, to be saved with the state."""
        return {_OWN + k: np.array(float(v)) for k, v in dataclasses.asdict(self).items()}

    @staticmethod
    def of(memory: Memory) -> "_Pace":
        """Build a pace from the arrays in ``memory``."""
        level, wait, accepted, grown = (
            int(memory[_OWN + f.name]) for f in dataclasses.fields(_Pace)
        )
        return _Pace(level, wait, accepted, bool(grown))

    def rejected(self, s: AdaptiveSettings) -> "_Pace":
        """Return the pace after a rejected sub-step."""
        wait = min(math.ceil(s.patience * self.wait), s.most_successes) if self.grown else self.wait
        return _Pace(self.level + 1, wait)

    def succeeded(self, s: AdaptiveSettings, aligned: bool) -> "_Pace":
        """Return the pace after an accepted sub-step.

        ``aligned`` says that a sub-step of twice the length may begin at its end.
        """
        wait = s.successes if self.grown else self.wait
        if self.accepted + 1 >= wait and aligned and self.level > 0:
            return _Pace(self.level - 1, wait, 0, True)
        return _Pace(self.level, wait, self.accepted + 1)


@checked(SceneError, "stepper", unchecked=("init",))
class Adaptive:
    """A stepper that divides the steps of another stepper where cloth stretches too fast.

    Args:
        stepper: takes the sub-steps.
        samples: quadrature points at which the stretch of warp and weft is measured.
        settings: limits.
    """

    def __init__(
        self, stepper: Stepper, samples: Samples, settings: AdaptiveSettings | None = None
    ) -> None:
        self.stepper, self.samples = stepper, samples
        self.settings = settings or AdaptiveSettings()

    @property
    def order(self) -> int:
        """Order of accuracy of the inner stepper."""
        return self.stepper.order

    @property
    def careful(self) -> Stepper:
        """This stepper with sub-steps that are solved to the tolerance."""
        inner = careful_stepper(self.stepper)
        return self if inner is self.stepper else Adaptive(inner, self.samples, self.settings)

    def init(self, model: Model, state: State) -> Memory:
        """Return the inner stepper's memory and the pace, which begins with whole steps."""
        start = _Pace(0, self.settings.successes)
        return {**self.stepper.init(model, state), **start.memory()}

    def step(
        self, model: Model, state: State, memory: AnyMemory, dt: StepLength
    ) -> tuple[State, Memory, StepReport]:
        """Advance ``state`` by dt [s] in sub-steps; see ``Integrator.step``.

        If the shortest sub-step fails, the state and memory returned are the given ones.
        """
        s, pace = self.settings, _Pace.of(memory)
        now, kept = state, {k: v for k, v in memory.items() if not k.startswith(_OWN)}
        ticks, position = 2**s.most_halvings, 0
        reports: list[StepReport] = []
        rejected: list[StepReport] = []
        fibers = self._stretch(now)
        while position < ticks:
            size = ticks >> pace.level
            after, keep, report = self.stepper.step(model, now, kept, dt * size / ticks)
            stretch = self._stretch(after)
            # ``not <=`` rejects NaN as well
            if report.outcome.ok and not np.abs(stretch - fibers).max(initial=0.0) <= s.limit:
                report = dataclasses.replace(report, outcome=Outcome.STRETCHED)
            if not report.outcome.ok:
                rejected.append(report)
                if pace.level == s.most_halvings:
                    return state, memory, _sum(dt, reports, rejected, failed=True)
                pace = pace.rejected(s)
                continue
            position += size
            now = dataclasses.replace(after, t=state.t + dt * position / ticks)
            kept, fibers = dict(keep), stretch
            reports.append(report)
            pace = pace.succeeded(s, aligned=position % (2 * size) == 0)
        return now, {**kept, **pace.memory()}, _sum(dt, reports, rejected, failed=False)

    def _stretch(self, state: State) -> Floats:
        """Return the stretch |F e| of warp and weft at every sample, (q,2)."""
        F = self.samples.deformation_gradient(state.x)
        return np.asarray(np.sqrt(np.einsum("qij,qij->qj", F, F)))


def careful_stepper(stepper: Stepper) -> Stepper:
    """Return the stepper that repeats a step on which the given one failed.

    It solves its steps to the tolerance. It is the given stepper if that one does so already.
    """
    return stepper.careful if isinstance(stepper, Adaptive | Integrator) else stepper


def innermost(stepper: Stepper) -> Stepper:
    """Return the stepper that takes the (sub-)steps."""
    return stepper.stepper if isinstance(stepper, Adaptive) else stepper


def _sum(
    dt: float, accepted: list[StepReport], rejected: list[StepReport], failed: bool
) -> StepReport:
    """Return one report of all sub-steps: values of the last one, and sums of the counts."""
    last = rejected[-1] if failed else accepted[-1]
    parts, tries = ([r for r in some if r is not last] for some in (accepted, rejected))
    total = last.with_costs(tries, parts)
    return dataclasses.replace(
        total,
        dt=last.dt if failed else dt,
        parts=[part for r in accepted for part in r.parts],
        substeps=len(accepted),
    )
