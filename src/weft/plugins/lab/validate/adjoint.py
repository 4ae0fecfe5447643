"""Derivatives of runs (``weft.Adjoint``): closed forms, and differences of the run itself.

A hanging strip sinks by rho g L^2/(2k), so dsag/dk = -sag/k; a heavy elastica drops by L d(l), l^3
= rho g L^3/D, so ddrop/dD follows from its differential equation. A square that friction holds does
not move with mu, except for the elastic slip of a step; a square that slides moves by -g cos(a)
t^2/2.
"""

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from weft.adjoint.adjoint import Adjoint
from weft.adjoint.host_function import HostFunction
from weft.adjoint.losses import Mean
from weft.adjoint.parameters import Parameter
from weft.base.arrays import Floats, Ints
from weft.base.keyframes import Keys
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.bodies.motion.step_division import KinematicMotion
from weft.bodies.shapes.primitives import plate
from weft.contact.contact import Contact
from weft.contact.settings import SelfContact
from weft.discretization.linear_triangle import linear_triangle
from weft.discretization.mesh import grid
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.assembly import Changed
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import Stepper, StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.model import Model
from weft.integrators.quasi_static import QuasiStatic, QuasiStaticSettings
from weft.plugins.lab.laboratory.elastica import elastica_of_length
from weft.plugins.lab.validate import elastica, hanging_strip
from weft.plugins.lab.validate.check import RowBasis, Rows, attempt, compare, measure
from weft.plugins.lab.validate.stepping import last_state
from weft.plugins.lab.validate.strip import (
    GRAVITY,
    clamped_strip,
    direct,
    elastic_energies,
    lengthwise_pins,
    strip_model,
    upright_grid,
)
from weft.scene.prepare import Simulation

GAMMA, SEGMENTS = 8.0, 40  # load and number of elements of the elastica
# [m/s], [s], [1], steps until the square on the slope has settled
STICK, STEP, MU, SETTLING = 1e-4, 0.01, 0.3, 60
DIFFERENCE = 1e-4  # relative change of every number in difference quotients of the run
FINE = 1e-5  # change at kinks, where the error of the quotients is of first order
KEY = 0.02  # [s] time of the second key of gravity
SMOOTH = 1e-5  # tolerance of derivatives, because the solution is smooth
NUMBERS = {
    "stretch": 400.0,
    "shear": 40.0,
    "bending": 2e-5,
    "density": 0.15,
    "damping": 0.02,
    "gravity": 9.81,
    "path": 0.02,
    "speed": 0.2,
    "height": 0.05,
    "body": 0.01,
    "friction": 0.3,
    "gap": 3e-3,
    "side": 0.13,
    "wind": 1.0,
    "key": 5.0,
    "shift": 1e-4,
}


def checks() -> Rows:
    """Compare with closed forms, and with differences of whole runs with every integrator."""
    m = hanging_strip.MATERIAL
    by_k = -m.density * GRAVITY * hanging_strip.LENGTH**2 / (2 * m.stretch**2)
    yield from measure("adjoint/strip, dsag/dk", by_k, 1e-3, strip_by_stiffness)
    h = 1e-4
    lengths = np.cbrt([GAMMA * (1 + h), GAMMA * (1 - h)]).tolist()
    drops = [elastica_of_length(length).drop / length for length in lengths]
    by_log = -(drops[0] - drops[1]) / (2 * h)  # D ddrop/dD = -Gamma ddrop/dGamma
    yield from measure("adjoint/elastica, D ddrop/dD", by_log, 3e-2, elastica_by_rigidity)
    yield from attempt("adjoint/slope, dx/dmu", _slope)
    for case in _cases():
        yield from attempt(f"adjoint/{case.name}", _differences, case)
    yield from attempt("adjoint/batch", _batch)


Built = tuple[Model, State]
Values = Mapping[str, Any]  # numbers of a model by name, as its ``build`` takes them


@dataclass(frozen=True, eq=False)
class Setup(Simulation):
    """A simulation that is built from named numbers.

    ``build`` builds the model and its start from the numbers, ``values`` are the numbers, and
    ``make_stepper`` builds the integrator.
    """

    build: Callable[[Values], Built]
    values: Values
    make_stepper: Callable[[], Stepper]

    @staticmethod
    def of(
        build: Callable[[Values], Built],
        values: Values,
        make_stepper: Callable[[], Stepper],
        step: float,
    ) -> "Setup":
        """Build the simulation of some numbers, with steps of ``step`` [s]."""
        model, state = build(values)
        return Setup(model, state, make_stepper(), step, build, values, make_stepper)

    def parameter(self, name: str, scale: float | None = None, linear: bool = False) -> Parameter:
        """Return one of the numbers as a parameter of derivatives."""

        def apply(setup: Setup, value: object) -> Setup:
            values = {**setup.values, name: value}
            return Setup.of(setup.build, values, setup.make_stepper, setup.step)

        return Parameter(name, self.values[name], apply, "", scale, linear)


def strip_by_stiffness() -> float:
    """Return the derivative of a hanging strip's sag by its stretch stiffness [m^2/N]."""
    m = hanging_strip.MATERIAL
    mesh = upright_grid(5, 17, hanging_strip.WIDTH, hanging_strip.LENGTH)

    def build(v: Values) -> Built:
        material = dataclasses.replace(m, stretch=v["k"])
        model = strip_model(mesh, material, lengthwise_pins(mesh, "top"))
        return model, State.at_rest(mesh.vertices)

    return _at_rest(build, "k", m.stretch, mesh.groups["bottom"])


def elastica_by_rigidity() -> float:
    """Return the derivative of an elastica's drop [m] by the logarithm of its rigidity."""
    x, _, _ = elastica.strip_at_rest(GAMMA, elastica.STIFFNESS_RATIO, "regular", SEGMENTS)
    mesh, clamp = clamped_strip(elastica.LENGTH, SEGMENTS)
    m = elastica.material(GAMMA)

    def build(v: Values) -> Built:
        material = dataclasses.replace(m, bending=v["D"])
        return strip_model(mesh, material, [clamp]), State.at_rest(x)

    return m.bending * _at_rest(build, "D", m.bending, mesh.groups["right"])


def _at_rest(build: Callable[[Values], Built], name: str, value: float, end: Ints) -> float:
    """Return the derivative, by a number, of how far some vertices sink in equilibrium."""
    settings = QuasiStaticSettings(1e-9, 1e-8, 2000, linear=direct(), imperfection=0.0)
    setup = Setup.of(build, {name: value}, lambda: QuasiStatic(settings), 0.1)
    numbers = [setup.parameter(name, linear=True)]
    found = Adjoint(setup, Mean((0.0, -1.0, 0.0), end), numbers, frames=1, fps=10)()
    return float(found.gradient[name])


def _slope() -> Rows:
    held, frames = slope_of(10.0), 20
    slip = STICK * STEP  # [m] elastic slip of friction in one step
    yield compare("adjoint/slope holds, dx/dmu [m]", 0.0, held(frames), 20 * slip)
    angle, t = np.radians(30.0), frames * STEP
    # exact for the steps of backward Euler
    expected = -GRAVITY * np.cos(angle) * t * (t + STEP) / 2
    # The error is 2.6e-7 with PARDISO and with SuperLU; it comes from the settling before.
    yield compare("adjoint/slope slides, dx/dmu [m]", expected, slope_of(30.0)(frames), 1e-5)


def slope_of(degrees: float) -> Callable[[int], float]:
    """Return a function of the number of steps that gives dx/dmu [m] of a square on a slope.

    The square rests on level ground before the slope of so many degrees begins. It stays over one
    triangle of the slope: on an edge of the slope's mesh, contact has a kink, and round-off decides
    which pairs push.
    """
    mesh = grid(3, 3, 0.1, 0.1)
    mesh = mesh.with_vertices(np.array(mesh.vertices) + [0.0, 0.85 * NUMBERS["gap"], 0.0])
    mass, a = 0.2 * mesh.vertex_area, np.radians(degrees)
    pull = (GRAVITY * np.sin(a), -GRAVITY * np.cos(a), 0.0)

    def on_slope(mu: float, load: tuple[float, float, float]) -> Model:
        elastic = elastic_energies(mesh, (2000.0, 2000.0), 500.0, 1e-3)
        energies = (*elastic, Gravity(mass, load))
        settings = SelfContact(NUMBERS["gap"], friction=mu, stick=STICK)
        slope = plate(2.0, 2.0, 2.0).move((0.3, 0.0, 0.3))
        contact = Contact.of(mesh, mass, settings, [slope])
        return Model(mass, energies, (), mesh.vertices, contact)

    rest = _find_rest(on_slope(0.0, (0.0, pull[1], 0.0)), State.at_rest(mesh.vertices))

    def build(v: Values) -> Built:
        return on_slope(v["mu"], pull), rest

    def after(frames: int) -> float:
        setup = Setup.of(build, {"mu": MU}, lambda: BackwardEuler(_tight()), STEP)
        mu = setup.parameter("mu", linear=True)
        found = Adjoint(setup, Mean((1.0, 0.0, 0.0)), [mu], frames=frames, fps=1 / STEP)()
        return float(found.gradient["mu"])

    return after


def _find_rest(model: Model, state: State) -> State:
    """Return the state in which a model comes to rest."""
    return State.at_rest(last_state(model, state, BackwardEuler(_tight()), [2 * STEP] * SETTLING).x)


def _tight(tolerance: float = 1e-7) -> StepSettings:
    return StepSettings(tolerance, linear=direct())


def moving(
    v: Values,
    touches: bool,
    lags: int = 1,
    blown: bool = False,
    keyed: bool = False,
    straight: bool = False,
) -> Built:
    """Build a sheet that swings from two corners on a path, or slides and lands on a table.

    Args:
        v: numbers, as in ``NUMBERS``.
        touches: it lands on a table; else it swings.
        lags: of its friction.
        blown: it is in wind.
        keyed: gravity changes in time.
        straight: it lies flat in the gap of the table, edges along edges, with vertices above
            edges.
    """
    mesh = grid(4, 4, v["side"], v["side"])
    x = np.array(mesh.vertices)
    wave = np.sin(40 * x[:, 0] + 25 * x[:, 2])
    x[:, 1] += 0.0021 + 0.0004 * wave if touches else v["height"] * (wave + x[:, 0] / v["side"])
    if straight:
        x[:, 1] = 0.8 * NUMBERS["gap"]
        x = x + (v["shift"] - NUMBERS["shift"]) * np.array([1.0, 0.2, 0.5])
        x[:, 2] += NUMBERS["body"]  # above the middle of the table
    elif touches:
        # No edge is parallel to one of the table: contact is not smooth at parallel edges, and
        # difference quotients are inaccurate there.
        c, a = np.cos(0.3), np.sin(0.3)
        x = x @ np.array([[c, 0.0, -a], [0.0, 1.0, 0.0], [a, 0.0, c]]) + [0.013, 0.0, 0.007]
    flat = grid(4, 4, 0.12, 0.12)  # material coordinates do not depend on ``side``
    mesh = flat.with_vertices(x)
    mass = v["density"] * mesh.vertex_area
    stretch = (v["stretch"], v["stretch"])
    air = (AirForce(linear_triangle(mesh), Wind((v["wind"], 0.2, 0.5))),) if blown else ()
    energies = (
        *elastic_energies(mesh, stretch, v["shear"], v["bending"], v["damping"]),
        *air,
        Gravity(mass, (0.0, -v["gravity"], 0.0)),
    )
    weight = _Weight(mass, Keys([(0.0, -v["gravity"]), (KEY, -v["key"])])) if keyed else None
    velocity = np.broadcast_to([v["speed"], -0.03 if touches else 0.0, 0.1], x.shape)
    contact, pins = None, []
    if touches:
        table = plate(0.6, 0.6, 0.3).move((0.0, 0.0, v["body"]))
        table = table.move((0.0, v["body"] - NUMBERS["body"], 0.0))
        settings = SelfContact(v["gap"], friction=v["friction"], lags=lags)
        contact = Contact.of(mesh, mass, settings, [table])
    else:
        keys = (Keyframe(0.0), Keyframe(0.1, (v["path"], 0.5 * v["path"], 0.0), 10 * v["path"]))
        path = Path(keys, interpolation="linear", hold=True)
        pins = [Pin(np.array([mesh.groups["top"][0], mesh.groups["top"][-1]]), path=path)]
    model = Model(mass, energies, tuple(pins), x, contact, changing=weight)
    return model, State(x, np.array(velocity), 0.0)


@dataclass(frozen=True, eq=False)
class _Weight:
    """Gravity that changes in time."""

    mass: Floats
    keys: Keys

    @property
    def times(self) -> Sequence[float]:
        """The times [s] of the keys."""
        return [t for t, _ in self.keys.points]

    @property
    def motions(self) -> Sequence[KinematicMotion]:
        """None: gravity moves no bodies."""
        return ()

    def __call__(self, t: float) -> Changed:
        """Return the gravity energy at the time t [s]."""
        weight = Gravity(self.mass, (0.0, self.keys.at(t), 0.0))
        return Changed({weight.name: weight})


def loss(x: Any, v: Any, t: Any) -> Any:
    """Return a loss with random weights, which no symmetry of the sheet leaves unchanged."""
    rng = np.random.default_rng(7)
    by_x, by_v = np.zeros_like(x), np.zeros_like(v)
    by_x[-1], by_v[-1] = rng.normal(size=x.shape[1:]), 0.1 * rng.normal(size=x.shape[1:])
    return float((by_x * x).sum() + (by_v * v).sum()), by_x, by_v


@dataclass(frozen=True)
class Case:
    """A sheet whose derivatives are compared with differences of whole runs."""

    name: str
    stepper: Callable[[], Stepper]
    sheet: Mapping[str, Any]  # arguments of ``moving``
    numbers: Sequence[Sequence[str]]  # groups of numbers that change together
    frames: int = 2
    difference: float = DIFFERENCE  # relative change of every number


def _cases() -> Iterator[Case]:
    """Yield free and colliding sheets with every integrator, loads that depend on the equilibrium
    itself (friction, wind), and gravity that changes in every step.
    """
    elastic, loads = ("stretch", "shear", "bending"), ("density", "gravity")
    alone = [(n,) for n in (*elastic, *loads, "path", "damping", "speed", "height")]
    for name, stepper in _steppers(1e-10, False).items():
        free = alone[:6] if name == "quasi_static" else alone
        yield Case(f"free, {name}", stepper, {"touches": False}, free)
    table = {"touches": True}
    # All at once in contact: the effect of some numbers alone is as small as round-off.
    on_table = [("stretch", *loads, "speed", "body", "friction", "gap")]
    for name, stepper in _integrators(1e-8).items():
        yield Case(f"contact, {name}", stepper, table, on_table)
    # Cloth that starts in contact, at kinks of its forces (``contact.barrier.kinks``).
    for name, stepper in _steppers(1e-10, True).items():
        moved = () if name == "quasi_static" else ("speed",)
        groups = [("shift",), (*loads, "friction", "gap", "body", *moved)]
        flat = {**table, "straight": True}
        yield Case(f"starts on a table, {name}", stepper, flat, groups, difference=FINE)
    # Each minimization starts with the friction of the one before.
    euler, bdf2 = _integrators(1e-10).values()
    yield Case("friction updated", euler, {**table, "lags": 3}, on_table)
    pressed = [("stretch", *loads, "body", "friction", "gap")]
    yield Case("equilibrium, friction", partial(_static, True), table, pressed, frames=1)
    blown = [(*loads, "path", "shear", "wind")]
    air = {"touches": False, "blown": True}
    yield Case("equilibrium, wind", partial(_static, False), air, blown, frames=1)
    keyed = {"touches": False, "keyed": True}
    yield Case("keys", bdf2, keyed, [("gravity", "key", "density", "stretch")])


def _integrators(tolerance: float) -> dict[str, Callable[[], Stepper]]:
    return {
        "backward_euler": lambda: BackwardEuler(_tight(tolerance)),
        "bdf2": lambda: Bdf2(_tight(tolerance)),
    }


def _steppers(tolerance: float, rubs: bool) -> dict[str, Callable[[], Stepper]]:
    return {**_integrators(tolerance), "quasi_static": partial(_static, rubs)}


def _static(rubs: bool) -> QuasiStatic:
    """Return the quasi-static stepper of cloth that is free, or that rubs on a table."""
    tolerances = (1e-10, 1e-9) if rubs else (1e-12, 1e-10)
    settings = QuasiStaticSettings(
        *tolerances, 4000, linear=direct(), imperfection=0.0, friction=rubs, lags=400
    )
    return QuasiStatic(settings)


def _differences(case: Case) -> Rows:
    """Compare derivatives with fourth-order central differences of whole runs."""
    setup = Setup.of(partial(moving, **case.sheet), NUMBERS, case.stepper, 0.005)
    numbers = {n: setup.parameter(n) for group in case.numbers for n in group}
    adjoint = Adjoint(setup, loss, list(numbers.values()), frames=case.frames, fps=200)
    gradient, h = adjoint().gradient, case.difference
    for group in case.numbers:
        changed = [numbers[n] for n in group]
        values = [
            adjoint.with_values({p.name: p.value + k * h * p.size for p in changed}).value()
            for k in (1, -1, 2, -2)
        ]
        expected = (8 * (values[0] - values[1]) - values[2] + values[3]) / (12 * h)
        got = sum(float(gradient[p.name]) * p.size for p in changed)
        name = f"adjoint/{case.name}, {'+'.join(group)}"
        yield compare(name, expected, got, SMOOTH, RowBasis.SELF)


def _batch() -> Rows:
    """Compare the derivatives of the runs of a batch with differences of its runs."""
    stepper = _integrators(1e-10)["backward_euler"]
    setups = [
        Setup.of(partial(moving, touches=touches), NUMBERS, stepper, 0.005)
        for touches in (False, True)
    ]

    def make(setup: Setup) -> Adjoint:
        return Adjoint(setup, loss, [setup.parameter("density")], frames=3, fps=200)

    host, start = HostFunction(setups, make, 1), np.full(len(setups), NUMBERS["density"])
    h = DIFFERENCE * start
    ahead, behind, far, back = (host.run(False, start + k * h)[0] for k in (1, -1, 2, -2))
    expected = (8 * (ahead - behind) - far + back) / (12 * h)
    (got,) = host.pull_back(start, np.ones(len(setups)))
    for name, one, other in zip(("swings", "lands"), expected, got, strict=True):
        yield compare(f"adjoint/batch, {name}", one, other, SMOOTH, RowBasis.SELF)
