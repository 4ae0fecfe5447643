"""A sheet with Freecloth's parameters that the studies hang up, step and measure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.cloth.cloth import Cloth
from weft.cloth.create import sheet
from weft.discretization.mesh import Pattern
from weft.energies.elastic.condition import Conditions, condition_energies
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
from weft.integrators.base import Stepper
from weft.integrators.model import Model

DENSITY, GRAVITY = 0.1, 9.81  # [kg/m^2], [m/s^2]: Pritchard 2012, Table 1
DAMPING, STEP = 0.2, 0.02  # [s]
FREECLOTH = Settings1998(damping=DAMPING, tolerance=1e-4)


@dataclass(frozen=True)
class History:
    """What a simulation passed through, one entry a step."""

    t: list[float] = field(default_factory=list)  # [s]
    x: list[Positions] = field(default_factory=list)
    energy: list[dict[str, float]] = field(default_factory=list)  # [J] by term, and kinetic


def square(n: int, pattern: Pattern = "regular", tilt: float = 70.0) -> Cloth:
    """1 m x 1 m of Freecloth's sheet, n x n vertices, turned about its top edge [degrees]."""
    return sheet(n, n, fabric="freecloth", pattern=pattern).move((0, 0, 0), (tilt, 0, 0))


def model(cloth: Cloth, energies: Sequence[Energy], held: Sequence[str] = ("top",)) -> Model:
    """Energies, gravity, and pins at corners (``top``: both of them)."""
    mass = DENSITY * cloth.mesh.vertex_area
    pins = [Pin(cloth.corners(which), name=which) for which in held]
    return Model(mass, (*energies, Gravity(mass)), pins, cloth.vertices)


def conditions(cloth: Cloth, c: Conditions) -> Sequence[Energy]:
    """The three condition energies on a cloth."""
    return condition_energies(cloth.mesh, c)


def step_for(
    what: Model,
    state: State,
    seconds: float,
    stepper: Stepper | None = None,
    step: float = STEP,
) -> tuple[State, History]:
    """Take steps; the state at the end and every one on the way.

    Raises:
        SimulationError: a step that fails.
    """
    stepper = stepper or BaraffWitkin1998(FREECLOTH)
    memory, history = stepper.init(what, state), History()
    for _ in range(round(seconds / step)):
        state, memory, report = stepper.step(what, state, memory, step)
        if not report.outcome.ok:
            raise SimulationError("step", got=report.outcome.name, hint=report.outcome.advice)
        kinetic = 0.5 * float(np.sum(what.mass[:, None] * state.v**2))
        history.t.append(state.t)
        history.x.append(state.x)
        history.energy.append({**report.terms, "kinetic": kinetic})
    return state, history


def outline(cloth: Cloth, x: Positions) -> Floats:
    """(k,3) the border of a sheet, once around, for drawing."""
    g = cloth.mesh.groups
    around = [g["bottom"], g["right"], g["top"][::-1], g["left"][::-1]]
    return np.asarray(x[np.concatenate(around)])
