"""Steps that fail: taken again as converged ones, then in halves, in one place for every loop."""

import dataclasses

import numpy as np
import pytest

import weft
from weft.integrators.adaptive import Adaptive
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.halving import MOST_HALVINGS, StepFailed, advance
from weft.solve.linear.solver import Outcome

pytestmark = pytest.mark.quick


class Failing(BackwardEuler):
    """Fails where its test says so, and notes what it was asked for."""

    def __init__(self, settings, fails):
        super().__init__(settings)
        self.fails, self.asked = fails, []

    def step(self, model, state, memory, dt):
        after, kept, report = super().step(model, state, memory, dt)
        self.asked.append((self.settings.effort, dt))
        if self.fails(self.settings.effort, dt):
            failed = dataclasses.replace(report, outcome=Outcome.BLOCKED)
            return state, memory, failed
        return after, kept, report


def begin(fails, effort="interactive"):
    cloth = weft.sheet(4, 4, 0.3, 0.3, fabric="cotton")
    scene = weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))])
    model, state = scene.model(), scene.state()
    stepper = Failing(StepSettings(effort=effort), fails)
    return stepper, (model, state, stepper.init(model, state), 0.01)


def test_an_interactive_step_that_fails_is_taken_again_converged_before_it_is_halved():
    stepper, step = begin(lambda effort, dt: effort == "interactive")
    (part,) = advance(stepper, *step)
    assert stepper.asked == [("interactive", 0.01), ("converged", 0.01)]
    assert part.report.outcome is Outcome.CONVERGED and part.state.t == pytest.approx(0.01)
    converged = BackwardEuler().step(*step)[0]
    assert np.array_equal(part.state.x, converged.x)


def test_its_halves_are_converged_steps():
    stepper, step = begin(lambda effort, dt: effort == "interactive" or dt > 0.006)
    parts = advance(stepper, *step)
    efforts, lengths = zip(*stepper.asked)
    assert efforts == ("interactive", *("converged",) * 3)
    assert lengths == pytest.approx((0.01, 0.01, 0.005, 0.005))
    assert [p.state.t for p in parts] == pytest.approx([0.005, 0.01])


def test_a_step_that_was_tried_is_not_tried_again():
    """A batch tries steps of all worlds together, and hands over the report of one that failed."""
    stepper, step = begin(lambda effort, dt: dt > 0.006, "converged")
    failed = stepper.step(*step)[2]
    stepper.asked.clear()
    assert len(advance(stepper, *step, failed)) == 2
    assert [dt for _, dt in stepper.asked] == pytest.approx([0.005, 0.005])


def test_the_shortest_part_ends_it():
    stepper, step = begin(lambda effort, dt: True, "converged")
    with pytest.raises(StepFailed) as failed:
        advance(stepper, *step)
    assert stepper.asked[-1][1] == pytest.approx(0.01 / 2**MOST_HALVINGS)
    assert failed.value.state is step[1] and failed.value.report.outcome is Outcome.BLOCKED


def test_adaptive_steps_are_taken_again_with_converged_parts():
    cloth = weft.sheet(4, 4, 0.3, 0.3, fabric="cotton")
    scene = weft.Scene(cloth, settings=StepSettings(effort=3), adaptive=weft.AdaptiveSettings())
    stepper = scene.stepper()
    assert isinstance(stepper, Adaptive)
    careful = stepper.careful
    assert careful.stepper.settings.effort == "converged"
    assert careful.settings is stepper.settings and careful.careful is careful
