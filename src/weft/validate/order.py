"""The order of an integrator: half the step, and a swinging sheet's error falls by 2^order."""

from collections.abc import Iterator

import numpy as np

from weft.arrays import Positions
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import Integrator, StepSettings
from weft.mesh import grid
from weft.pins import Pin
from weft.state import State
from weft.validate.check import Check
from weft.validate.strip import Material, strip_model

MATERIAL = Material(stretch=20.0, shear=5.0, bending=1e-3, density=0.2)
SECONDS, COARSEST = 0.2, 50  # [s], steps
TOLERANCE = 0.1  # of the order


def checks() -> Iterator[Check]:
    """Measured against declared order, ± 0.1."""
    integrator = BackwardEuler(StepSettings(tolerance=1e-9))
    got = measured_order(integrator)
    error = abs(got - integrator.order)
    yield Check("order/backward-euler", integrator.order, got, error, TOLERANCE, error <= TOLERANCE)


def measured_order(integrator: Integrator) -> float:
    """log2 of the ratio of successive differences at three steps (no reference solution needed)."""
    a, b, c = (swing(integrator, COARSEST * 2**i) for i in range(3))
    return float(np.log2(np.linalg.norm(a - b) / np.linalg.norm(b - c)))


def swing(integrator: Integrator, steps: int) -> Positions:
    """Positions after SECONDS of a small sheet that hangs by one edge and swings down."""
    mesh = grid(5, 5, 0.4, 0.4)
    model = strip_model(mesh, MATERIAL, [Pin(mesh.groups["top"])])
    state = State.at_rest(mesh.vertices)
    memory = integrator.init(model, state)
    for _ in range(steps):
        state, memory, report = integrator.step(model, state, memory, SECONDS / steps)
        assert report.outcome.ok, report.outcome
    return state.x
