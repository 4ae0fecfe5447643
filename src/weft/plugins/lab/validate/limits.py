"""Strain limits and measured curves: a falling strip, a strip at rest, a stopped box, a curve.

A strip that falls under ten times its weight never exceeds its limit, and comes to rest where its
tension says; a homogeneous pull gives a measured curve back.

At the material height s below the top of a hanging strip the tension is T = rho g (L - s), and the
strain e(T) solves k e + k (m - a) b'((e - a)/(m - a)) = T with the barrier b(y) = -y^2 log(1 - y)
(``laws.strain_limit``). The tip sinks by the integral of e(T(s)), taken here by parts. The curve
is SciPy's interpolant of the same points.

A strip of length L with the limit e, clamped at both ends, stops a box of width w that rises below
its middle: at the height H where 2 sqrt((L - w)^2/4 + H^2) + w = (1 + e) L. The run then ends in an
error, and nothing has passed through the strip.
"""

import dataclasses
from collections.abc import Sequence

import numpy as np

from weft.base.errors import SimulationError
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.bodies.shapes.primitives import box
from weft.contact.contact import Contact
from weft.contact.settings import SelfContact
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.elastic.strain_limit import StrainLimits
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.bdf2 import Bdf2
from weft.integrators.model import Model
from weft.laws.baraff_witkin import BaraffWitkin
from weft.laws.measured import Measured
from weft.laws.strain_limit import StrainLimit
from weft.plugins.lab.validate.check import Check, Rows, attempt, compare, measure
from weft.plugins.lab.validate.stepping import take_steps
from weft.plugins.lab.validate.strip import (
    GRAVITY,
    lengthwise_pins,
    membrane_model,
    settle,
    tip,
    upright_grid,
)
from weft.run.drive import StepFailed, advance

DENSITY, STIFFNESS, SHEAR = 0.2, 60.0, 20.0  # [kg/m^2], [N/m], [N/m]
LENGTH, WIDTH, LIMIT, ONSET = 1.0, 0.25, 0.1, 0.5  # [m], [m], strain, onset over the limit
TIMES = 10.0  # load of the strip over its weight
STEP, STEPS = 0.01, 100  # [s]
CURVE = ((0.01, 4.0), (0.03, 20.0), (0.06, 80.0), (0.1, 250.0))
PULLS = (0.005, 0.02, 0.045, 0.1, 0.13)
# [m] strip that stops a box, and its distance from the box
SPAN, BREADTH, CLEARANCE = 0.3, 0.06, 5e-3
BOX, GAP, RISE = 0.02, 5e-4, 0.5  # [m] width, [m], [m/s]


def checks() -> Rows:
    """Compare limit, tip, stopped box and curve.

    The limit must hold in every step, the tip at rest to 0.1 %, the height of a box that the limit
    stops to 2 %, and the curve to 1e-6.
    """
    yield from attempt("strain-limit/falling", _falling)
    yield from measure("strain-limit/at-rest", extension(), 1e-3, _sag)
    yield from attempt("strain-limit/stops a box", _stops_a_box)
    for e in PULLS:
        yield from measure(f"measured-curve/{e:g}", curve_force(e), 1e-6, pull_force, e)


def _falling() -> Rows:
    got = largest_strain()
    past = max(got - LIMIT, 0.0)
    yield Check("strain-limit/falling", LIMIT, got, past, 0.0, got < LIMIT, "at most")


def _sag() -> float:
    mesh, model = _strip()
    sunk = mesh.vertices - settle(model, mesh.vertices).x
    return float(tip(sunk, mesh, "bottom")[1])


def _stops_a_box() -> Rows:
    height, crossing = stop_height()
    half = 0.5 * (SPAN - BOX)
    expected = float(np.sqrt((half + 0.5 * LIMIT * SPAN) ** 2 - half**2))
    yield compare("strain-limit/stops a box", expected, height, 2e-2)
    yield compare("strain-limit/stops a box, intersections", 0.0, crossing, 0.0)


def curve_force(e: float) -> float:
    """Return the force per width [N/m] of the curve at the strain e; beyond its end it is
    straight.
    """
    from scipy.interpolate import PchipInterpolator

    points = np.array([(0.0, 0.0), *CURVE])
    inside, end = PchipInterpolator(*points.T), min(e, float(points[-1, 0]))
    return float(inside(end) + inside.derivative()(end) * (e - end))


def largest_strain() -> float:
    """Return the largest strain in any step and triangle of a strip let go at ten times its
    weight.
    """
    mesh, model = _strip()
    limit = next(e for e in model.energies if isinstance(e, StrainLimits))
    most, start = 0.0, State.at_rest(mesh.vertices)
    for state, _, _ in take_steps(model, start, Bdf2(), [STEP] * STEPS):
        most = max(most, float(limit.measure_strain(state.x)[:, 1].max()) - 1)
    return most


def stop_height() -> tuple[float, float]:
    """Return the height [m] at which a limited strip stops a rising box, and the intersections.

    The height is that above the clamps; intersections are pairs of faces, counted after every step.
    """
    mesh, end = grid(31, 7, SPAN, BREADTH), 2 * SPAN / RISE
    path = Path([Keyframe(0.0), Keyframe(end, (0.0, RISE * end, 0.0))], "linear", hold=True)
    below = box((BOX, 0.02, 2 * BREADTH), BOX).move((0.0, -0.01 - CLEARANCE, 0.0), path)
    model = _limited(mesh, (1 + LIMIT, None), lengthwise_pins(mesh, "left", "right"))
    contact = Contact.of(mesh, model.mass, SelfContact(GAP), [below])
    model = dataclasses.replace(model, contact=contact)
    stepper, state = BackwardEuler(), State.at_rest(mesh.vertices)
    memory, crossing = stepper.init(model, state), 0
    try:
        while state.t < end:
            part = advance(stepper, model, state, memory, STEP)[-1]
            state, memory = part.state, part.memory
            crossing += len(contact.crossings(state.x, state.t))
    except StepFailed as failed:
        top = float(below.at(failed.state.t)[:, 1].max())
        return top, float(crossing)
    raise SimulationError("box", got="no end", expected="a strip that stops it")


def extension() -> float:
    """Return how far [m] the tip sinks: L e - L/T int T(e) de, e and T those at the top."""
    from scipy.integrate import quad
    from scipy.optimize import brentq

    T = DENSITY * TIMES * GRAVITY * LENGTH
    e = float(brentq(lambda e: _tension(e) - T, 0.0, LIMIT * (1 - 1e-12), xtol=1e-15))
    work = quad(_tension, 0.0, e, points=[ONSET * LIMIT])[0]
    return float(LENGTH * (e - work / T))


def _tension(e: float) -> float:
    a = ONSET * LIMIT
    y = max(e - a, 0.0) / (LIMIT - a)
    slope = y * y / (1 - y) - 2 * y * np.log(1 - y)
    return float(STIFFNESS * (e + (LIMIT - a) * slope))


def pull_force(e: float) -> float:
    """Return the force per width [N/m] that holds a strip of a measured fabric at the strain e."""
    mesh = grid(5, 17, WIDTH, LENGTH)
    mesh = mesh.with_vertices(np.array(mesh.vertices) * [1, 1, 1 + e])
    pins = lengthwise_pins(mesh, "top", "bottom")
    model = membrane_model(mesh, Measured((CURVE, CURVE), SHEAR), DENSITY, pins)
    found = settle(model, mesh.vertices, 1e-12, 1e-10)
    top = found.phi.reaction(found.x)[mesh.groups["top"]]
    return float(abs(top[:, 2].sum()) / WIDTH)


def _strip() -> tuple[TriangleMesh, Model]:
    """Build a strip that hangs by its top, under ten times its weight; the weft is along it."""
    mesh = upright_grid(9, 65, WIDTH, LENGTH)
    weight = Gravity(DENSITY * mesh.vertex_area, (0.0, -TIMES * GRAVITY, 0.0))
    return mesh, _limited(mesh, (None, 1 + LIMIT), lengthwise_pins(mesh, "top"), weight)


def _limited(
    mesh: TriangleMesh,
    limits: tuple[float | None, float | None],
    pins: Sequence[Pin],
    *more: Energy,
) -> Model:
    """Build a model of cloth whose stretch along warp and weft is limited."""
    k = (STIFFNESS, STIFFNESS)
    barrier = StrainLimit(limits, None, (*k, SHEAR), ONSET)
    limited = StrainLimits(linear_triangle(mesh), barrier)
    return membrane_model(mesh, BaraffWitkin(k, SHEAR), DENSITY, pins, limited, *more)
