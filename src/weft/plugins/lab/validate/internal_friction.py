"""Internal friction: the loop of a hinge, its loss, no creep under a load, no hold on motion.

A hinge that is turned between -A and A follows a parallelogram: its moments at the angle 0 differ
by 2HB l, Kawabata's width times the edge's length, and a cycle costs 2HB l times 2 (A - s), with s
the angle of slip. A curved sheet that is carried and turned as a whole feels nothing. A clamped
strip that has come to rest under its weight stays, however many steps follow.
"""

from functools import partial

import numpy as np

from weft.bodies.motion.pins import Pin
from weft.discretization.mesh import grid
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.internal_friction import HingeFriction
from weft.energies.loads.gravity import Gravity
from weft.plugins.lab.laboratory.loop import PARTS, HysteresisLoop, around
from weft.plugins.lab.validate.check import Rows, attempt, compare, measure
from weft.plugins.lab.validate.creases import (
    DENSITY,
    EASE,
    EDGE,
    HingedPair,
    advance,
    clamped_model,
)

WIDTH, SLIP, RIGIDITY = 1.2e-3, 15.0, 1.2e-5  # [N] 2HB; [1/m] curvature of slip; [N m]
STRIP = (0.06, 0.02)  # [m]
TURN = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
RUBBING = partial(HingeFriction.from_hysteresis, hysteresis=(WIDTH, WIDTH), curvature=SLIP)


def checks() -> Rows:
    """Compare width and loss of the loop, creep and rigid motion with their closed forms."""
    yield from attempt("internal-friction/loop", _loop)
    yield from measure("internal-friction/rigid motion", 0.0, 1e-9, slip_when_carried)
    yield from measure("internal-friction/creep", 0.0, 1e-6, creep)


def _loop() -> Rows:
    pair = HingedPair(RUBBING)
    assert isinstance(pair.energy, HingeFriction)
    slip = float(pair.energy.slip[0])
    path, moments = around(PARTS * slip), []
    for theta in path:
        pair.turn(float(theta), 0.1)
        moments.append(pair.moment())
    loop = HysteresisLoop(path, np.array(moments))
    yield compare("internal-friction/width", WIDTH * EDGE, loop.width(0.0), 1e-12)
    loss = np.trapezoid(loop.load[PARTS:], path[PARTS:])
    expected = 2 * WIDTH * EDGE * (PARTS - 1) * slip
    yield compare("internal-friction/loss", expected, loss, 1e-12)


def slip_when_carried() -> float:
    """Return how far sliders [rad] move when a bent pair is carried and turned as a whole."""
    pair = HingedPair(RUBBING)
    pair.turn(1.0, 0.1)
    after = pair.potential(0.1).remember(pair.place @ TURN.T + [0.3, -1.0, 2.0])
    return max(float(np.abs(after[name] - at).max()) for name, at in pair.memory.items())


def creep() -> float:
    """Return how far a strip that has come to rest sinks in another minute, over its length."""
    mesh = grid(25, 5, *STRIP)
    clamp = np.flatnonzero(mesh.vertices[:, 0] < mesh.vertices[:, 0].min() + 3e-3)
    bending = HingeBending.of(mesh, (RIGIDITY, RIGIDITY)), RUBBING(mesh)
    weight = Gravity(DENSITY * mesh.vertex_area)
    model = clamped_model(mesh, [Pin(clamp.astype(np.int32))], *bending, weight)
    rest, kept = advance(model, mesh.vertices, EASE * 5)
    later, _ = advance(model, rest, [3.0] * 20, kept)
    return float(np.abs(later - rest).max() / STRIP[0])
