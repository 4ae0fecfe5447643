"""Numerical damping of BDF2 over 60 s of an undamped pendulum, against its closed form.

A stiff sheet hangs by one edge and swings out of its plane: a pendulum with w^2 = g sum(m r)/sum(m
r^2), r the distances of its lumped masses m from the edge. For y'' = -w^2 y BDF2 with the step h
multiplies the complex amplitude in every step by the larger root z of

    (3/2 - i w h) z^2 - 2 z + 1/2 = 0,   |z| = 1 - (w h)^4/4 + ...,   arg z = w h - (w h)^3/3 + ...

(Hairer & Wanner, *Solving Ordinary Differential Equations II*, section V.1, with h lambda = i w h).
Energy falls as |z|^(2n) though nothing is damped, by about w^4 h^3 t/2 of itself: third order in h.
The period is 2 pi h/arg z. The swing is of 2 degrees, because both change with the square of the
angle: at 5 degrees 2 % more energy is lost. It is measured from the tenth step on, when the start
(one step of backward Euler, and the smaller root, of about 1/3) has no effect any more.
"""

import numpy as np

from weft.base.arrays import Floats
from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.model import Model
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.stepping import mean_period, take_steps
from weft.plugins.lab.validate.strip import GRAVITY, Material, strip_model

LENGTH, ANGLE, SECONDS = 0.5, np.radians(2.0), 60.0  # [m], [rad], [s]
MATERIAL = Material(
    stretch=1e6, shear=1e6, bending=1.0, density=0.1
)  # its weight stretches it by 5e-7
STEPS = (0.04, 0.02)  # [s]
SETTLED = 10  # steps after which the swing is measured


def checks() -> Rows:
    """Compare the energy lost to 1 % and the period to 0.1 %, at two steps."""
    for step in STEPS:
        name = f"numerical-damping/bdf2, {1e3 * step:g} ms"
        yield from attempt(name, _swing, name, step)


def _swing(name: str, step: float) -> Rows:
    model, radius = pendulum()
    moment, inertia = model.mass @ radius, model.mass @ radius**2
    w = float(np.sqrt(GRAVITY * moment / inertia))  # [1/s]
    roots = np.roots(np.array([1.5 - 1j * w * step, -2.0, 0.5]))
    factor = roots[np.abs(roots).argmax()]
    heights, energies = swing(model, step)
    lost = 1 - energies[-1] / energies[SETTLED]
    expected = 1 - np.abs(factor) ** (2 * (len(energies) - 1 - SETTLED))
    yield compare(f"{name}: energy lost in 60 s", expected, lost, 1e-2)
    period = float(2 * np.pi * step / np.angle(factor))
    yield compare(f"{name}: period [s]", period, mean_period(heights[SETTLED:], step), 1e-3)


def pendulum() -> tuple[Model, Floats]:
    """Return the sheet, turned by ANGLE about its upper edge, and distances (n,) [m] from that
    edge.
    """
    mesh = grid(2, 2, LENGTH, LENGTH)
    top = mesh.groups["top"]
    radius = np.abs(mesh.vertices[:, 2] - mesh.vertices[top[0], 2])
    y, z = -radius * np.cos(ANGLE), radius * np.sin(ANGLE)
    mesh = mesh.with_vertices(np.stack([mesh.vertices[:, 0], y, z], axis=1))
    return strip_model(mesh, MATERIAL, [Pin(top)]), radius


def swing(model: Model, step: float) -> tuple[Floats, Floats]:
    """Return the displacement [m] of the lower edge and the energy [J] above rest after each step.

    Raises:
        SimulationError: a step that does not converge.
    """
    stepper = Bdf2(StepSettings(tolerance=1e-7, linear="splu"))
    assert model.start is not None
    start, aside, energies = State.at_rest(model.start), [], []
    lowest = -GRAVITY * LENGTH * model.mass[np.hypot(*model.start[:, 1:].T) > 0].sum()
    for state, _, _ in take_steps(model, start, stepper, [step] * round(SECONDS / step)):
        moving = 0.5 * float(model.mass @ (state.v**2).sum(1))
        energies.append(moving + GRAVITY * float(model.mass @ state.x[:, 1]) - lowest)
        aside.append(float(state.x[:, 2].max() + state.x[:, 2].min()))
    return np.array(aside), np.array(energies)
