"""Interactive steps go on where contact holds up what falls, and do not drag in the air."""

import numpy as np
import pytest

import weft
from benchmarks.drapes import layers
from studies import effort_scenes
from tests.stepping import nothing_crosses, stepped


def fallen(scene, effort, step, seconds, linear):
    """Kinetic energy [J] and weight times height [J] at the end."""
    settings = weft.StepSettings(effort=effort, linear=linear)
    scene = scene.with_(settings=settings)
    model, state, reports = stepped(scene, round(seconds / step), step)
    nothing_crosses(model, state, reports[-1])
    return (
        0.5 * float(np.sum(model.mass[:, None] * state.v**2)),
        9.81 * float(np.sum(model.mass * state.x[:, 1])),
    )


@pytest.mark.parametrize(
    "scene, step, seconds, linear",
    [
        # 5 s: as many sheets as showed it
        (layers(7, "interactive", number=14), 0.02, 0.1, "auto"),
        (effort_scenes.drape(25, 0), 2.5e-3, 0.14, "multigrid"),
    ],
    ids=["stack", "in the air"],
)
def test_interactive_steps_fall_as_converged_ones_do(scene, step, seconds, linear):
    """Steps ended after eight iterations, most of whose ways contact had cut to a tenth: a stack
    over a rod lost a third of its kinetic energy as it landed (and one of 50 sheets hung in the
    air). What linear solves to a half leave acts like drag: a quarter of it was lost in the air.
    """
    motion, height = fallen(scene, "interactive", 0.01, seconds, linear)
    expected, low = fallen(scene, "converged", step, seconds, linear)
    assert motion > 0.9 * expected
    assert abs(height - low) < 0.1 * low
