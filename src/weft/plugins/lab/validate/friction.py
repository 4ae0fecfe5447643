"""Contact and friction against closed forms: a slope, a capstan, two sheets pressed together.

A belt around a fixed cylinder slips if its tensions differ by exp(mu beta) (Euler, Eytelwein), beta
the angle of wrap; this holds on facets too, because only the turning counts. Here the belt carries
two loads m and M: sliding with acceleration a it gives M (g - a) / (m (g + a)) = exp(mu beta).
"""

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.bodies.motion.pins import Pin
from weft.bodies.shapes.primitives import capsule
from weft.cloth.create import join, sheet
from weft.contact.contact import Contact
from weft.contact.contact_term import ContactTerm
from weft.contact.settings import Friction, SelfContact
from weft.discretization.mesh import grid
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.fabric.fabric import Fabric
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.model import Model
from weft.plugins.lab.validate.check import Rows, attempt, compare, measure
from weft.plugins.lab.validate.stepping import gradient, last_state, mean_rate, take_steps
from weft.plugins.lab.validate.strip import GRAVITY, elastic_energies, fabric_energies

MU, STICK = 0.3, 1e-3  # [1], [m/s]
REST = 1e-6  # [m/s] speed below which a sticking square counts as at rest
STEP, STEPS = 0.01, 40  # [s]
RADIUS, GAP = 0.1, 2e-3  # [m] of the cylinder; contact
WIDTH, CELL, HANGING = 0.02, 0.01, 0.4  # [m] of the belt: its width, edges, and free ends


def checks() -> Rows:
    """Compare slopes below and above the angle of friction, and the balance of pressed sheets."""
    yield from attempt("friction/slope", _slope)
    yield from attempt("friction/pressed sheets", _press)


def capstan() -> Rows:
    """Compare a belt that slips with the theory of Euler and Eytelwein, and check one that
    holds.
    """
    ratio = float(np.exp(MU * np.pi))
    yield from measure("friction/capstan, exp(mu pi)", ratio, 3e-2, _capstan_slips, ratio)
    yield from attempt("friction/capstan holds", _capstan_holds, ratio)


def _slope() -> Rows:
    stuck = float(np.abs(slide(14.0)[-10:]).max())
    yield compare("friction/slope sticks, 14 degrees", 0.0, stuck, REST)
    angle = np.radians(22.0)
    expected = GRAVITY * (np.sin(angle) - MU * np.cos(angle))
    yield compare("friction/slope slides, 22 degrees", expected, _late_rate(slide(22.0)), 1e-2)


def _capstan_slips(ratio: float) -> float:
    """Return the ratio of the tensions of a belt that slips under 1.25 times the given one."""
    sliding = _late_rate(belt(1.25 * ratio))
    return 1.25 * ratio * (GRAVITY - sliding) / (GRAVITY + sliding)


def _capstan_holds(ratio: float) -> Rows:
    below, above = (float(belt(f * ratio)[-1]) for f in (0.97, 1.03))
    yield compare("friction/capstan holds 3 % below", 0.0, below, STICK)
    yield compare("friction/capstan slips 3 % above", 1.0, above > 20 * STICK, 0.0)


def _press() -> Rows:
    drift, balance = press_sheets()
    yield compare("friction/pressed sheets, momentum", 0.0, drift, 1e-9)
    yield compare("friction/pressed sheets, action and reaction", 0.0, balance, 1e-12)


def _late_rate(speeds: Floats) -> float:
    """Return the acceleration [m/s^2] in the later half of speeds (k,) [m/s], every STEP."""
    return mean_rate(speeds[len(speeds) // 2 :], STEP)


def slide(degrees: float) -> Floats:
    """Return mean speeds [m/s] down the slope, every STEP, of a square on a pinned sheet."""
    contact = SelfContact(GAP, friction=Friction(MU), stick=2e-4, lags=3)
    model, x, above = slope_model(degrees, contact)
    return _speeds(model, x, above)[:, 0]


def slope_model(degrees: float, settings: SelfContact) -> tuple[Model, Positions, Ints]:
    """Build a square on a pinned sheet, with gravity along a slope in x.

    Returns:
        The model, its vertices (n,3) [m], and the indices of the square's vertices.
    """
    fabric = Fabric(0.2, 2000.0, 2000.0, 500.0, 1e-3, 1e-3, name="stiff")
    below = sheet(13, 13, 0.6, 0.6, fabric=fabric)
    above = sheet(6, 6, 0.2, 0.2, fabric=fabric).move((-0.1, 1.2e-3, 0.013), (0, 25.8, 0))
    cloth = join([below, above])
    n, angle = below.n_vertices, np.radians(degrees)
    pull = (GRAVITY * np.sin(angle), -GRAVITY * np.cos(angle), 0.0)
    mesh = cloth.mesh
    energies = (
        *elastic_energies(mesh, (2000.0, 2000.0), 500.0, 1e-3),
        Gravity(cloth.mass, pull),
    )
    pin = Pin(np.arange(n, dtype=np.int32))
    contact = Contact.of(mesh, cloth.mass, settings)
    model = Model(cloth.mass, energies, (pin,), mesh.vertices, contact)
    return model, mesh.vertices, cloth.parts[1].vertices


def belt(ratio: float) -> Floats:
    """Return the speeds [m/s], every STEP, at which the heavier of two loads sinks on a belt over a
    cylinder.
    """
    contact = SelfContact(GAP, friction=Friction(MU), stick=STICK, lags=4)
    model, x, heavy = belt_model(ratio, contact)
    return -_speeds(model, x, heavy)[:, 1]


def belt_model(
    ratio: float, contact: SelfContact, *, own: float = 0.02, bending: float = 1e-5, side: int = 1
) -> tuple[Model, Positions, Ints]:
    """Build a belt over a cylinder with loads m and ``ratio`` m at its ends.

    Args:
        ratio: of the loads.
        contact: with the cylinder.
        own: [kg/m^2] density of the belt.
        bending: [N m] rigidity of the belt.
        side: 1: the second load hangs at +x; -1: at -x.

    Returns:
        The model, its vertices (n,3) [m], and the indices of those that carry the second load.
    """
    length = np.pi * (RADIUS + 0.6 * GAP) + 2 * HANGING
    mesh = grid(round(length / CELL) + 1, 3, length, WIDTH)
    s = np.array(mesh.vertices[:, 0])  # along the belt, 0 at the top of the cylinder
    r = RADIUS + 0.6 * GAP
    angle = np.clip(s / r, -np.pi / 2, np.pi / 2)
    x = np.stack([r * np.sin(angle), r * np.cos(angle) - np.abs(s - r * angle)], axis=1)
    placed = mesh.with_vertices(np.column_stack([x, mesh.vertices[:, 2]]))
    mass = own * mesh.vertex_area
    light, heavy = (_ids_near(s, edge) for edge in (-side * s.max(), side * s.max()))
    mass[light] += 0.1 / len(light)
    mass[heavy] += 0.1 * ratio / len(heavy)
    drum = capsule(RADIUS, 0.1, 0.004).move((0, 0, 0), rotation=(90, 0, 0))
    energies = (
        *elastic_energies(mesh, (2e4, 2e4), 5e3, bending),
        Gravity(mass, (0.0, -GRAVITY, 0.0)),
    )
    met = Contact.of(placed, mass, contact, [drum])
    return Model(mass, energies, (), None, met), placed.vertices, heavy


def press_sheets() -> tuple[float, float]:
    """Simulate two sheets that fly at each other, and return two relative errors.

    The first is the change of their total momentum over the exchanged momentum; the second the sum
    of contact forces over their size.
    """
    lower = sheet(9, 9, 0.2, 0.2)
    upper = sheet(9, 9, 0.2, 0.2).move((0.006, 4e-3, 0.004), (0, 20, 0))
    cloth = join([lower, upper])
    n, mesh, mass = lower.n_vertices, cloth.mesh, cloth.mass
    energies = fabric_energies(mesh, lower.fabric)
    contact = Contact.of(mesh, mass, SelfContact(GAP, friction=Friction(0.3)))
    model = Model(mass, energies, (), None, contact)
    v = np.zeros_like(mesh.vertices)
    v[:n, 1], v[n:, 1] = 0.5, -0.5
    stepper = BackwardEuler(StepSettings(tolerance=1e-9))
    state = last_state(model, State(np.array(mesh.vertices), v), stepper, [2e-3] * 5)
    before, after = (mass[:, None] * v).sum(0), (mass[:, None] * state.v).sum(0)
    exchanged = np.abs((mass[:n, None] * (state.v - v)[:n]).sum(0)).max()
    term = ContactTerm(contact)
    term.freeze(model.step(state, 0.0))
    forces = gradient(term, state.x)
    balance = np.abs(forces.sum(0)).max() / np.abs(forces).sum()
    return float(np.abs(after - before).max() / exchanged), float(balance)


def _speeds(model: Model, x: Positions, watched: Ints) -> Floats:
    """Return mean velocities (STEPS,3) [m/s] of some vertices, every STEP."""
    stepper = BackwardEuler(StepSettings(tolerance=1e-5))
    taken = take_steps(model, State.at_rest(x), stepper, [STEP] * STEPS)
    return np.array([state.v[watched].mean(0) for state, _, _ in taken])


def _ids_near(s: Floats, value: float) -> Ints:
    """Return the vertices whose s equals the value."""
    return np.flatnonzero(np.abs(s - value) < 1e-9).astype(np.int32)
