"""A flag in steady wind flutters: its Strouhal number f A/U beside that of a published experiment.

Shelley, Vandenberghe & Zhang (2005) let a heavy sheet flap in flowing water, at a Strouhal number
as that of swimming and flying animals, 0.2 to 0.4 (Taylor, Nudds & Thomas 2003); A is the
trailing edge's motion from side to side. Here the sheet has the same kind of mass ratio, rho_s/(rho
L) = 0.28. weft's air has no memory: no vortices, no added mass, no circulation. What makes the flag
flutter here is that push across grows with the slope (as in supersonic panel flutter), and its
Strouhal number is *below* the band: the row says how far from its nearer end, and allows half.
"""

from collections.abc import Iterator

import numpy as np

from weft.energies.air import Wind
from weft.errors import SimulationError
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.mesh import grid
from weft.state import State
from weft.validate.check import Check, attempt, compare
from weft.validate.solver import direct
from weft.validate.strip import Material, lengthwise_pins, strip_model
from weft.validate.wind import blown

BAND = (0.2, 0.4)
LENGTH, HEIGHT, SPEED = 0.3, 0.15, 6.0  # [m], [m], [m/s]
CLOTH = Material(stretch=2000.0, shear=400.0, bending=1e-5, density=0.1)
STEP, STEPS, SETTLING = 2e-3, 1500, 500  # [s]
DAMPING = 1e-4  # [s]


def checks() -> Iterator[Check]:
    """The Strouhal number, and how far from the band."""
    yield from attempt("flag-flutter/strouhal", _strouhal)


def _strouhal() -> Iterator[Check]:
    f, amplitude = flutter()
    got = f * amplitude / SPEED
    yield compare("flag-flutter/strouhal", float(np.clip(got, *BAND)), got, 0.5)


def flutter(n: int = 21) -> tuple[float, float]:
    """[Hz] of the trailing edge, and [m] from side to side, of a flag of n vertices a length."""
    mesh = grid(n, (n + 1) // 2, LENGTH, HEIGHT)
    wind = Wind((SPEED, 0.02 * SPEED, 0.0))  # hardly askew, so that it begins
    pins = lengthwise_pins(mesh, "left")
    model = strip_model(mesh, CLOTH, pins, (0.0, 0.0, 0.0), damping=DAMPING)
    model = blown(model, mesh, wind)
    stepper, state = Bdf2(StepSettings(linear=direct())), State.at_rest(mesh.vertices)
    memory, side = stepper.init(model, state), []
    for _ in range(STEPS):
        state, memory, report = stepper.step(model, state, memory, STEP)
        if not report.outcome.ok:
            raise SimulationError("flag", got=report.outcome.name, hint=report.outcome.advice)
        side.append(float(state.x[mesh.groups["right"], 1].mean()))
    w = np.array(side[SETTLING:])
    w -= w.mean()
    power = np.abs(np.fft.rfft(w * np.hanning(len(w))))
    return float(np.fft.rfftfreq(len(w), STEP)[power.argmax()]), float(np.ptp(w))
