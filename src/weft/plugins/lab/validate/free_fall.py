"""Free fall under backward Euler, damped or not: after n steps of h it is exactly g h^2 n
(n+1)/2.
"""

import numpy as np

from weft.base.arrays import Floats
from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.stepping import last_state
from weft.plugins.lab.validate.strip import GRAVITY, Material, strip_model

MATERIAL = Material(stretch=5000.0, shear=500.0, bending=5e-5, density=0.1)
STEP, STEPS = 0.01, 25
# [m/s] of the last increment: the remaining errors of an iterative solver in the velocities add up
# to SETTLED * STEP * STEPS (STEPS + 1)/2 = 3e-12 m, which is below the tolerance
SETTLED = 1e-12


def checks() -> Rows:
    """Compare the mean fall, and the largest deviation of any vertex from it."""
    for label, beta in (("undamped", 0.0), ("damped", 0.01)):
        yield from attempt(f"free-fall/{label}", _fall, f"free-fall/{label}", beta)


def _fall(name: str, beta: float) -> Rows:
    exact = -GRAVITY * STEP**2 * STEPS * (STEPS + 1) / 2
    fallen = fall(beta)
    yield compare(name, exact, fallen[:, 1].mean(), 1e-11)
    spread = float(np.abs(fallen - [0.0, exact, 0.0]).max())
    yield compare(f"{name}-spread", 0.0, spread, 1e-11)


def fall(beta: float) -> Floats:
    """Return the displacement (n,3) [m] of a free sheet after STEPS steps with damping time beta
    [s].
    """
    mesh = grid(13, 11, 1.0, 0.8, "random")
    model = strip_model(mesh, MATERIAL, [], damping=beta)
    integrator = BackwardEuler(StepSettings(tolerance=SETTLED))
    state = last_state(model, State.at_rest(mesh.vertices), integrator, [STEP] * STEPS)
    return state.x - mesh.vertices
