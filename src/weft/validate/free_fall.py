"""Free fall under backward Euler, damped or not: after n steps of h it is exactly g h^2 n
(n+1)/2.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from weft.discretization.mesh import grid
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.model import Model
from weft.validate.check import Check, attempt, compare
from weft.validate.stepping import last_state
from weft.validate.strip import GRAVITY, Material, strip_model

MATERIAL = Material(stretch=5000.0, shear=500.0, bending=5e-5, density=0.1)
STEP, STEPS = 0.01, 25
# [m/s] of the last increment: the remaining errors of an iterative solver in the velocities add up
# to SETTLED * STEP * STEPS (STEPS + 1)/2 = 3e-12 m, which is below the tolerance
SETTLED = 1e-12


def checks() -> Iterator[Check]:
    """Compare the mean fall, and the largest deviation of any vertex from it."""
    exact = -GRAVITY * STEP**2 * STEPS * (STEPS + 1) / 2
    for label, beta in (("undamped", 0.0), ("damped", 0.01)):
        yield from attempt(f"free-fall/{label}", _fall, label, beta, exact)


def _fall(label: str, beta: float, exact: float) -> Iterator[Check]:
    fallen = fall(beta)
    yield compare(f"free-fall/{label}", exact, float(fallen[:, 1].mean()), 1e-11)
    spread = float(np.abs(fallen - [0.0, exact, 0.0]).max())
    yield compare(f"free-fall/{label}-spread", 0.0, spread, 1e-11)


def fall(beta: float) -> np.ndarray:
    """Return the displacement (n,3) [m] of a free sheet after STEPS steps with damping time beta
    [s].
    """
    mesh = grid(13, 11, 1.0, 0.8, "random")
    model = with_damping(strip_model(mesh, MATERIAL, []), beta)
    integrator = BackwardEuler(StepSettings(tolerance=SETTLED))
    state = last_state(model, State.at_rest(mesh.vertices), integrator, STEP, STEPS)
    return np.asarray(state.x - mesh.vertices)


def with_damping(model: Model, beta: float) -> Model:
    """Return the model with stiffness-proportional damping of its membrane and hinges."""
    energies = [
        dataclasses.replace(e, damping=beta) if isinstance(e, Membrane | HingeBending) else e
        for e in model.energies
    ]
    return Model(model.mass, energies, model.pins, model.start)
