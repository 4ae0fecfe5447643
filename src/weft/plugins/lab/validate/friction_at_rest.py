"""Equilibria with friction: a square on a slope, a belt over a cylinder, a waistband around a post.

A square rests on a slope iff tan(a) <= mu. A belt over a cylinder rests iff its tensions differ by
no more than exp(mu beta) (Euler, Eytelwein), whichever side is the heavier. A band around a post,
at the tension T, presses with 2 pi T in all (on n flat facets 2 n T sin(pi/n)), whatever the
radius, and so carries a weight W iff mu >= W/(2 pi T).

If there is no equilibrium, none may be found: the search then ends elsewhere, or not at all.
"""

import numpy as np

from weft.base.arrays import Ints, Positions
from weft.bodies.body import Body
from weft.bodies.shapes.primitives import lathe
from weft.contact.contact import Contact
from weft.contact.settings import Friction, SelfContact
from weft.discretization.mesh import TriangleMesh, grid
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.plugins.lab.validate.check import Rows, attempt, compare, measure
from weft.plugins.lab.validate.friction import GAP, MU, belt_model, slope_model
from weft.plugins.lab.validate.strip import GRAVITY, direct, elastic_energies

RADIUS, HEIGHT, AROUND = 0.1, 0.04, 48  # [m] of the post; [m] of the band; its facets
STIFFNESS, STRAIN, HEM = 200.0, 0.1, 0.1  # [N/m], of the band on the post; [kg] that it carries
MOVED = 5e-3  # [m] displacement below which cloth counts as resting
STEPS = 5  # steps of the path: the band presses in the first one, the weight grows in the others


def checks() -> Rows:
    """Check slopes and waistbands just below and above the limit of friction."""
    for part, rests in ((0.99, 1.0), (1.01, 0.0)):
        degrees = float(np.degrees(np.arctan(part * MU)))
        name = f"friction-at-rest/slope, tan a = {part:g} mu"
        yield from measure(name, rests, 0.0, slope_rests, degrees, MU)
    yield from attempt("friction-at-rest/waistband", _waistband)


def capstan() -> Rows:
    """Check a belt over a cylinder, with the heavier load on either side."""
    for side, sign in (("right", 1), ("left", -1)):
        for part, rests in ((0.98, 1.0), (1.03, 0.0)):
            name = f"capstan-at-rest/{side}, T2/T1 = {part:g} exp(mu pi)"
            yield from measure(name, rests, 0.0, belt_rests, part * np.exp(MU * np.pi), sign)


def _waistband() -> Rows:
    needed = friction_needed()
    for part, rests in ((1.02, 1.0), (0.97, 0.0)):
        what = f"friction-at-rest/waistband, mu = {part:g} W/(2 pi T)"
        yield compare(what, rests, band_rests(part * needed), 0.0)


def _solver(force_tolerance: float = 1e-5) -> QuasiStatic:
    """Return a solver whose force balance is far more accurate than the limits require."""
    settings = QuasiStaticSettings(
        1e-6, force_tolerance, 150, linear=direct(), imperfection=0.0, friction=True
    )
    return QuasiStatic(settings)


def _stays(model: Model, x: Positions, watched: Ints, axis: int) -> bool:
    """Return whether there is an equilibrium in which some vertices are where they start."""
    found = _solver().solve(model, x)
    return found.outcome.ok and float(np.abs((found.x - x)[watched, axis]).max()) < MOVED


def slope_rests(degrees: float, friction: float) -> bool:
    """Return whether a square has an equilibrium on a slope at the place where it starts."""
    contact = SelfContact(GAP, friction=Friction(friction))
    return _stays(*slope_model(degrees, contact), axis=0)


def belt_rests(ratio: float, side: int = 1) -> bool:
    """Return whether a belt with loads m and ``ratio`` m has an equilibrium over a cylinder."""
    contact = SelfContact(GAP, friction=Friction(MU))
    return _stays(*belt_model(ratio, contact, own=2e-4, bending=1e-6, side=side), axis=1)


def friction_needed() -> float:
    """Return W/(2 pi T) of the band, with T from its equilibrium at a friction that surely holds
    it.
    """
    model, mesh = band(0.5)
    x, rests = _find_rest(model, mesh)
    assert rests
    radius = float(np.hypot(x[:, 0], x[:, 2]).mean())
    chord = np.sin(np.pi / AROUND)
    around, rest = 2 * AROUND * radius * chord, 2 * np.pi * RADIUS / (1 + STRAIN)
    tension = STIFFNESS * HEIGHT * (around / rest - 1)
    return float(model.mass.sum() * GRAVITY / (2 * AROUND * tension * chord))


def band_rests(friction: float) -> bool:
    """Return whether the band holds its weight."""
    return _find_rest(*band(friction))[1]


def band(friction: float, around: int = AROUND) -> tuple[Model, TriangleMesh]:
    """Build an elastic band around a post, with a weight at its lower edge that grows until 1 s."""
    mesh = _tube(around, 4, RADIUS + 0.5 * GAP, 2 * np.pi * RADIUS / (1 + STRAIN))
    mass = 0.1 * mesh.vertex_area
    mass[-around:] += HEM / around
    energies = (
        *elastic_energies(mesh, (STIFFNESS, 2e3), 200.0, 1e-5),
        Gravity(mass, (0.0, -GRAVITY, 0.0), (1 / STEPS, 1.0)),
    )
    contact = SelfContact(GAP, friction=Friction(friction))
    met = Contact.of(mesh, mass, contact, [post(around, RADIUS, -0.3, 0.1)])
    return Model(mass, energies, (), None, met), mesh


def _find_rest(model: Model, mesh: TriangleMesh) -> tuple[Positions, bool]:
    """Return (n,3) [m] at the end of the path, and whether the band has stayed at its place."""
    stepper, state = _solver(1e-4), State.at_rest(mesh.vertices)
    memory = stepper.init(model, state)
    for _ in range(STEPS):
        state, memory, report = stepper.step(model, state, memory, 1 / STEPS)
        if not report.outcome.ok:
            return state.x, False
    moved = float(np.abs((state.x - mesh.vertices)[:, 1]).max())
    return state.x, moved < MOVED


def post(around: int, radius: float, low: float, high: float) -> Body:
    """Return a prism about y with ``around`` sides, turned by half a side against the band's
    facets.
    """
    prism = lathe(np.array([[radius, low], [radius, high]]), around, (low, high), "post")
    return prism.move((0.0, 0.0, 0.0), rotation=(0.0, 180 / around, 0.0))


def _tube(around: int, rows: int, radius: float, rest: float) -> TriangleMesh:
    """Return a closed tube about y down to -HEIGHT, warp around it, of the rest circumference
    ``rest``.
    """
    flat = grid(around + 1, rows + 1, rest, HEIGHT)
    row, column = np.divmod(np.arange(flat.n_vertices), around + 1)
    angle, first = 2 * np.pi * column / around, column < around
    x = np.stack([radius * np.cos(angle), -HEIGHT * row / rows, radius * np.sin(angle)], axis=1)
    ids = (row * around + column % around).astype(np.int32)  # the last column is the first one
    return TriangleMesh(x[first], ids[flat.faces], flat.corner_uv)
