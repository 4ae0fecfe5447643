"""What the studies of Choi & Ko's (2003) model share: one piece of cloth on several meshes, with
several models of how it buckles.
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Pin
from weft.cloth.cloth import Cloth
from weft.cloth.create import sheet, triangulate
from weft.discretization.linear_triangle import linear_triangle
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.integrators.model import Model
from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2
from weft.laws import BaraffWitkin, ImmediateBuckling, StVK

STEP = 1 / 60  # [s]
FABRIC = Fabric(
    density=0.15,
    stretch_warp=1000.0,
    stretch_weft=1000.0,
    shear=40.0,
    bending_warp=1e-5,
    bending_weft=1e-5,
    damping=0.02,
    name="study",
)


def meshes(width: float, height: float, size: float, fabric: Fabric = FABRIC) -> dict[str, Cloth]:
    """A rectangle on y = 0, of four kinds of triangles with edges of about ``size`` [m]."""
    nx, ny = round(width / size) + 1, round(height / size) + 1
    outline = [(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)]
    grids = {
        p: sheet(nx, ny, width, height, pattern=p, fabric=fabric)
        for p in ("regular", "alternating")
    }
    area = (width / (nx - 1)) * (height / (ny - 1))
    equal = float(np.sqrt(2 * area / np.sqrt(3)))  # edge of as many equilateral triangles
    free = {
        f"irregular {seed}": triangulate(outline, size=equal, fabric=fabric, seed=seed)
        for seed in (0, 1)
    }
    return {**grids, **free}


def immediate_buckling(cloth: Cloth) -> tuple[Energy, ...]:
    """Tension only, and pairs that bend by their predicted shape."""
    f = cloth.fabric
    law = ImmediateBuckling((f.stretch_warp, f.stretch_weft), (4 * f.shear, 4 * f.shear))
    pairs = BucklingBending.of(cloth.mesh, (f.bending_warp, f.bending_weft), f.stretch_warp)
    return Membrane(linear_triangle(cloth.mesh), law), pairs


def baraff_witkin(cloth: Cloth) -> tuple[Energy, ...]:
    """Tension and compression alike, and hinges."""
    f = cloth.fabric
    law = BaraffWitkin((f.stretch_warp, f.stretch_weft), f.shear)
    return _with_hinges(cloth, Membrane(linear_triangle(cloth.mesh), law))


def stvk(cloth: Cloth) -> tuple[Energy, ...]:
    """St. Venant-Kirchhoff, and hinges."""
    law = StVK(0.5 * cloth.fabric.stretch_warp)
    return _with_hinges(cloth, Membrane(linear_triangle(cloth.mesh), law))


def _with_hinges(cloth: Cloth, membrane: Membrane) -> tuple[Energy, ...]:
    f = cloth.fabric
    return membrane, HingeBending.of(cloth.mesh, (f.bending_warp, f.bending_weft))


MODELS: Mapping[str, Callable[[Cloth], tuple[Energy, ...]]] = {
    "immediate buckling": immediate_buckling,
    "Baraff-Witkin": baraff_witkin,
    "StVK": stvk,
}


def simulated(
    cloth: Cloth,
    energies: Sequence[Energy],
    pins: Sequence[Pin],
    seconds: float,
    damping: float = 0.1,
    gravity: float = 9.81,
    watch: Callable[[State, Model], None] | None = None,
) -> State:
    """The state after a simulation with Choi & Ko's step, from rest.

    Raises:
        SimulationError: a step that fails.
    """
    damped = tuple(dataclasses.replace(e, damping=damping) for e in energies)  # type: ignore[type-var]
    weight = Gravity(cloth.mass, (0.0, -gravity, 0.0))
    model = Model(cloth.mass, (*damped, weight), tuple(pins), cloth.vertices)
    stepper, state = SemiImplicitBdf2(), State.at_rest(cloth.vertices)
    memory = stepper.init(model, state)
    for _ in range(round(seconds / STEP)):
        state, memory, report = stepper.step(model, state, memory, STEP)
        if not report.outcome.ok:
            raise SimulationError("step", got=report.outcome.name, hint=report.outcome.advice)
        if watch is not None:
            watch(state, model)
    return state


def row(cloth: Cloth, x: Positions, v: float, count: int = 400) -> Floats:
    """(count,3) positions along the line of material height v [m], from edge to edge."""
    from scipy.interpolate import LinearNDInterpolator

    uv = cloth.mesh.vertex_uv
    assert uv is not None
    u = np.linspace(uv[:, 0].min() + 1e-9, uv[:, 0].max() - 1e-9, count)
    return np.asarray(LinearNDInterpolator(uv, x)(np.stack([u, np.full(count, v)], axis=1)))


def folds(depth: Floats, least: float) -> int:
    """Ridges and valleys along a row of depths [m] that stand out by more than ``least``."""
    turns, extreme, rising = 0, float(depth[0]), 0
    for d in depth:
        if (rising >= 0 and d > extreme) or (rising <= 0 and d < extreme):
            rising = rising or int(np.sign(d - extreme))
            extreme = float(d)
        elif abs(d - extreme) > least:
            turns, rising, extreme = turns + 1, int(np.sign(d - extreme)), float(d)
    return turns
