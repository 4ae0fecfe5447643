"""Cloth in wind: the terminal speed of a sheet that falls flat, and the angle of a hanging strip.

A horizontal sheet falls across the air, so that drag is its only air force, and its weight per area
rho_s g equals rho C_D v^2/2: it reaches v = sqrt(2 rho_s g / (rho C_D)). Backward Euler meets the
steady speed exactly, whatever the step.

A light strip that neither bends nor stretches hangs in a horizontal wind U at the angle whose
tangent is rho C_D U^2 / (2 rho_s g): at the angle theta from the vertical the air pushes with rho
C_D U^2 cos(theta)/2 across every element (the incidence is pi/2 - theta; the force along the strip
has no moment about its top), and weight with rho_s g sin(theta). All elements balance at the same
angle, so a straight strip does, whatever its length and friction.
"""

import dataclasses

import numpy as np

from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.model import Model
from weft.plugins.lab.validate.check import Rows, measure
from weft.plugins.lab.validate.stepping import last_state
from weft.plugins.lab.validate.strip import (
    GRAVITY,
    Material,
    lengthwise_pins,
    settle,
    strip_model,
    tip,
    upright_grid,
)

SHEET = Material(stretch=1000.0, shear=300.0, bending=1e-4, density=0.1)
STRIP = Material(stretch=5000.0, shear=500.0, bending=1e-10, density=0.05)
AIR = Wind(density=1.2, drag=1.1, lift=1.0)
STEP, STEPS = 0.01, 400  # [s]: 4 s, 20 times what a fall takes to get steady
RATIOS = (0.5, 2.0)  # of the wind's pressure to the weight per area


def checks() -> Rows:
    """Compare the steady speed to 1e-6, and the angle to 1e-3."""
    expected = float(np.sqrt(2 * SHEET.density * GRAVITY / (AIR.density * AIR.drag)))
    yield from measure("terminal-velocity", expected, 1e-6, steady_speed)
    for ratio in RATIOS:
        yield from measure(f"strip-in-wind/{ratio:g}", ratio, 1e-3, slope_in_wind, ratio)


def steady_speed() -> float:
    """Return the speed [m/s] of a sheet that has fallen flat for STEP * STEPS."""
    mesh = grid(7, 7, 0.5, 0.5)
    model = with_wind(strip_model(mesh, SHEET, []), mesh, AIR)
    stepper, state = BackwardEuler(StepSettings(tolerance=1e-9)), State.at_rest(mesh.vertices)
    state = last_state(model, state, stepper, [STEP] * STEPS)
    return -float(state.v[:, 1].mean())


def slope_in_wind(ratio: float) -> float:
    """Return the tangent of the angle of a hanging strip in a wind.

    The wind's pressure across the strip, rho C_D U^2/2, is ``ratio`` times its weight per area.
    """
    mesh = upright_grid(3, 31, 0.1, 1.0)
    speed = float(np.sqrt(2 * ratio * STRIP.density * GRAVITY / (AIR.density * AIR.drag)))
    wind = Wind((0.0, 0.0, speed), AIR.density, AIR.drag, AIR.lift)
    model = with_wind(strip_model(mesh, STRIP, lengthwise_pins(mesh, "top")), mesh, wind)
    x = settle(model, mesh.vertices, 1e-6, 1e-5).x
    across = tip(x, mesh, "bottom") - tip(x, mesh, "top")
    return float(-across[2] / across[1])


def with_wind(model: Model, mesh: TriangleMesh, wind: Wind) -> Model:
    """Return the model with the air force of a wind."""
    air = AirForce(linear_triangle(mesh), wind)
    return dataclasses.replace(model, energies=(*model.energies, air))
