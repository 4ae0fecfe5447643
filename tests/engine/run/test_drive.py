"""Steps that fail: taken again as converged ones, then in halves, in one place for every loop."""

import dataclasses

import numpy as np
import pytest

import weft
from weft.energies.springs.hand import Hand
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.run.drive import MOST_HALVINGS, Driver, StepFailed, advance
from weft.run.run_state import StepTimes
from weft.scene.prepare import prepare
from weft.solve.linear.solver import Outcome
from weft.solve.newton.psd import Psd

pytestmark = pytest.mark.quick


class Failing(BackwardEuler):
    """Fails where its test says so, and notes what it was asked for."""

    def __init__(self, settings, fails, iterations=None):
        super().__init__(settings)
        self.fails, self.asked, self.iterations = fails, [], iterations

    def step(self, model, state, memory, dt):
        after, kept, report = super().step(model, state, memory, dt)
        self.asked.append((self.settings.effort, dt))
        if self.fails(self.settings.effort, dt):
            spent = report.iterations if self.iterations is None else self.iterations
            failed = dataclasses.replace(report, outcome=Outcome.BLOCKED, iterations=spent)
            return state, memory, failed
        return after, kept, report


def begin(fails, effort="interactive", iterations=None, **more):
    cloth = weft.sheet(4, 4, 0.3, 0.3, fabric="cotton")
    ready = prepare(weft.Scene(cloth, **{"pins": [weft.Pin(cloth.corners("top"))], **more}))
    stepper = Failing(StepSettings(effort=effort), fails, iterations)
    return stepper, (ready.model, ready.state, stepper.init(ready.model, ready.state), 0.01)


def always(effort, dt):
    return True


def test_an_interactive_step_that_fails_is_taken_again_converged_before_it_is_halved():
    stepper, step = begin(lambda effort, dt: effort == "interactive")
    (part,) = advance(stepper, *step)
    assert stepper.asked == [("interactive", 0.01), ("converged", 0.01)]
    assert part.report.outcome is Outcome.CONVERGED and part.state.t == pytest.approx(0.01)
    assert np.array_equal(part.state.x, BackwardEuler().step(*step)[0].x)


def test_the_driver_counts_frames_and_steps():
    stepper, (model, start, _, dt) = begin(lambda effort, dt: False)
    driver = Driver(model, stepper, StepTimes(fps=50, steps=2))
    counts, run = [], driver.begin(start)
    for _ in range(3):
        run, _ = driver.step(run)
        counts.append((run.frame, run.step, run.count, run.state.t))
    assert counts == [(0, 1, 1, dt), (1, 0, 2, 2 * dt), (1, 1, 3, 3 * dt)]


def test_its_halves_are_converged_steps():
    stepper, step = begin(lambda effort, dt: effort == "interactive" or dt > 0.006)
    parts = advance(stepper, *step)
    efforts, lengths = zip(*stepper.asked)
    assert efforts == ("interactive", *("converged",) * 3)
    assert lengths == pytest.approx((0.01, 0.01, 0.005, 0.005))
    assert [p.state.t for p in parts] == pytest.approx([0.005, 0.01])


def test_a_part_keeps_the_tries_before_it_and_their_costs():
    stepper, step = begin(lambda effort, dt: dt > 0.003, "converged", iterations=70)
    parts = advance(stepper, *step)
    assert [p.report.dt for p in parts] == pytest.approx([0.0025] * 4)
    whole, half, other, _ = [p.report.rejected for p in parts]
    # The whole step, the shortest part as a trial that succeeds, and the first half fail or are
    # not used; then the second half.
    assert [r.outcome.name for r in whole] == ["BLOCKED", "CONVERGED", "BLOCKED"]
    assert [r.as_dict(0.01)["part"] for r in whole] == [1, 1 / 64, 0.5]
    assert half == () and [r.dt for r in other] == pytest.approx([0.005, 0.01 / 64])
    alone = stepper.step(*step[:3], 0.0025)[2].iterations
    assert parts[0].report.iterations == alone + sum(r.iterations for r in whole)
    assert parts[0].report.seconds > sum(r.seconds for r in whole) > 0


@pytest.mark.parametrize("iterations, tried", [(0, [1, 2, 64]), (100, [1, 64])])
def test_a_step_that_no_length_can_do_ends_after_its_shortest_part(iterations, tried):
    """Not after one failure for each of six halvings, each of which may take many iterations."""
    stepper, step = begin(always, "converged", iterations)
    with pytest.raises(StepFailed) as failed:
        advance(stepper, *step)
    lengths = [dt for _, dt in stepper.asked]
    assert lengths == pytest.approx([0.01 / n for n in tried]) and tried[-1] == 2**MOST_HALVINGS
    assert failed.value.state is step[1] and failed.value.report.outcome is Outcome.BLOCKED
    assert [r.dt for r in failed.value.tries] == lengths


def test_the_shortest_part_is_tried_again_where_a_later_part_fails():
    """The end of the step fails at every length: the shortest part ends it there, too."""

    class EndFails(Failing):
        def step(self, model, state, memory, dt):
            self.fails = lambda effort, dt: state.t + dt > 0.0051
            return super().step(model, state, memory, dt)

    _, step = begin(None, "converged")
    stepper = EndFails(StepSettings(), None, 100)
    with pytest.raises(StepFailed) as failed:
        advance(stepper, *step)
    assert failed.value.state.t == pytest.approx(0.005) and len(stepper.asked) < 8


PATH = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.01, (0.5, 0, 0))], "linear", hold=True)
PINS = [weft.Pin([0, 1], path=PATH, name="rail"), weft.Pin([3])]
HAND = Hand([15], [1.0], [0.0], [(3.0, 0.0, 0.0)])


@pytest.mark.parametrize(
    "more, said",
    [
        ({"pins": PINS}, "rail moves by 0.5 m in a step of 0.01 s (50 m/s)"),
        ({"hand": [HAND]}, "hand 1 without a limit of its force jumps by 2.8"),
        ({"hand": [dataclasses.replace(HAND, force=3.0)]}, "pins or bodies would pass through"),
    ],
)
def test_a_failure_names_what_goes_farthest(more, said):
    stepper, step = begin(always, "converged", **more)
    with pytest.raises(StepFailed) as failed:
        advance(stepper, *step)
    assert failed.value.advice.startswith(said)


@pytest.mark.parametrize("psd", list(Psd))
def test_only_who_asked_for_the_exact_hessian_is_told_of_it(psd):
    class Stalls(Failing):
        def step(self, model, state, memory, dt):
            *before, report = super().step(model, state, memory, dt)
            return *before, dataclasses.replace(report, outcome=Outcome.STALLED)

    _, step = begin(None)
    with pytest.raises(StepFailed) as failed:
        advance(Stalls(StepSettings(effort="converged", psd=psd), always), *step)
    assert "`step` shorter" in failed.value.advice
    assert ("psd" in failed.value.advice) == (psd is Psd.EXACT)


def test_adaptive_steps_are_taken_again_with_converged_parts():
    cloth = weft.sheet(4, 4, 0.3, 0.3, fabric="cotton")
    scene = weft.Scene(cloth, settings=StepSettings(effort=3), adaptive=weft.AdaptiveSettings())
    stepper = prepare(scene).stepper
    careful = stepper.careful
    assert careful.stepper.settings.effort == "converged"
    assert careful.settings is stepper.settings and careful.careful is careful
