"""Sheets that land on one another: interactive steps go on where contact holds up what falls."""

import numpy as np

from benchmarks.drapes import layers
from tests.stepping import nothing_crosses, stepped


def fallen(effort: str, step: float, seconds: float = 0.1) -> tuple[float, float]:
    """Kinetic energy [J] and weight times height [J] of fourteen sheets that fall over a rod."""
    scene = layers(7, effort, number=14)
    model, state, reports = stepped(scene, round(seconds / step), step)
    nothing_crosses(model, state, reports[-1])
    return (
        0.5 * float(np.sum(model.mass[:, None] * state.v**2)),
        9.81 * float(np.sum(model.mass * state.x[:, 1])),
    )


def test_interactive_steps_of_a_stack_fall_as_converged_ones_do():
    """They ended after eight iterations, most of whose ways contact had cut to a tenth: the stack
    lost a third of its kinetic energy as it landed (and one of 50 sheets hung in the air).
    """
    motion, height = fallen("interactive", 0.01)
    expected, low = fallen("converged", 0.02)
    assert motion > 0.9 * expected
    assert abs(height - low) < 0.1 * low
