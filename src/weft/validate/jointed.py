"""Rigid bodies in joints, on ropes and in air, against closed forms.

Two rods, jointed to the world and to one another, obey Lagrange's equations: with the angles a and
b from the vertical, masses m and n, moments of inertia I and J about the centers, which are p and q
from the upper ends, and the length L between the hinges of the first,

    (I + m p^2 + n L^2) a'' + n L q cos(a - b) b'' + n L q sin(a - b) b'^2 + g (m p + n L) sin a = 0
    (J + n q^2) b'' + n L q cos(a - b) a'' - n L q sin(a - b) a'^2 + g n q sin b = 0

which an integrator of order 8 solves. A rod on two upright ropes of length h, at c from its middle
each, turns about the vertical with the period 2 pi sqrt(I h/(m g c^2)): the bifilar pendulum. Two
bodies on a spring swing with 2 pi sqrt(m n/((m + n) k)). A body that falls flat through still air
reaches the speed at which drag carries its weight; its rim has the friction of a sheet along the
wind. Limits and motors are in ``validate.stopped``.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from weft.base.arrays import Floats
from weft.bodies.body import Body
from weft.bodies.joints.settings import Joint
from weft.bodies.shapes.primitives import box
from weft.bodies.shapes.revolved import cylinder
from weft.energies.air.wind import Wind
from weft.energies.springs.point_springs import PointSprings
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.laboratory.specimen import find_equilibrium
from weft.validate.check import Check, attempt, compare
from weft.validate.rigid import RigidScene, rigid_body
from weft.validate.stepping import mean_period
from weft.validate.stopped import check_spring, check_stop, check_tilt, check_turn
from weft.validate.strip import GRAVITY

ROD, GAP = 0.24, 0.03  # [m] length of a rod, and from its end to its hinge
LIGHT, HEAVY = 0.2, 0.3  # [kg]
LENGTH, APART = 0.5, 0.2  # [m] of ropes, and from the rod's middle
STIFF = 40.0  # [N/m] of the spring


def checks() -> Iterator[Check]:
    """Compare motions to the order of the step, forces at rest to the tolerance of the
    equilibrium.
    """
    for case in (
        _double,
        _rod,
        _pair,
        _plate,
        check_stop,
        check_tilt,
        check_turn,
        check_spring,
    ):
        yield from attempt(f"jointed/{case.__name__.lstrip('_')}", case)


def _double() -> Iterator[Check]:
    got, expected = double(4e-3)
    off = np.linalg.norm(got - expected, axis=1)
    yield compare("jointed/double pendulum, off by [m]", 0.0, float(off.max()), 5e-3)
    yield compare("jointed/double pendulum, way of its end", _way(expected), _way(got), 2e-3)


def _way(path: Floats) -> float:
    """Return the length [m] of a path (k,2)."""
    return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())


def double(dt: float, seconds: float = 0.48) -> tuple[Floats, Floats]:
    """Return (k,2) [m] positions of the second rod's center, simulated and by Lagrange's
    equations.
    """
    start: Floats = np.radians(np.array([70.0, 110.0]))
    whole = ROD + 2 * GAP
    ends = np.cumsum([[0.0, 0.0], *(whole * _down(a) for a in start)], axis=0)
    bodies = [
        rigid_body(
            _rod_at(ends[k] + whole / 2 * _down(start[k]), start[k], name),
            mass=mass,
            joints=[Joint("hinge", (*ends[k], 0.0), (0.0, 0.0, 1.0), to=to)],
        )
        for k, (name, mass, to) in enumerate((("upper", LIGHT, ""), ("lower", HEAVY, "upper")))
    ]
    world = RigidScene.of(bodies)
    stepper = Bdf2(StepSettings(tolerance=1e-7))
    path = [world.center(1)[:2].copy() for _ in world.run(stepper, seconds, dt)]
    one, two = (float(a.mass * a.solid.unit_inertia[2, 2]) for a in world.model.loose.affine)
    angles = _lagrange(start, (one, two), dt * np.arange(1.0, len(path) + 1))
    exact = whole * _down(angles[:, 0]) + whole / 2 * _down(angles[:, 1])
    return np.array(path), exact


def _down(angle: Floats) -> Floats:
    """Return the direction (...,2) of a rod at an angle from the vertical."""
    return np.stack([np.sin(angle), -np.cos(angle)], axis=-1)


def _rod_at(center: Floats, angle: float, name: str) -> Body:
    rod = box((0.02, ROD, 0.02), 0.3, name)
    return rod.moved((*center, 0.0), None, (0.0, 0.0, float(np.degrees(angle))))


def _lagrange(start: Floats, moments: tuple[float, float], times: Floats) -> Floats:
    """Return the angles (k,2) [rad] at times (k,) [s], from rest."""
    from scipy.integrate import solve_ivp

    L, p, (m, n) = ROD + 2 * GAP, ROD / 2 + GAP, (LIGHT, HEAVY)
    first, second = moments[0] + m * p * p + n * L * L, moments[1] + n * p * p

    def rate(_: float, y: Floats) -> list[float]:
        a, b, u, v = y
        couple, turn = n * L * p * np.cos(a - b), n * L * p * np.sin(a - b)
        M = np.array([[first, couple], [couple, second]])
        load = np.array(
            [
                -turn * v * v - GRAVITY * (m * p + n * L) * np.sin(a),
                turn * u * u - GRAVITY * n * p * np.sin(b),
            ]
        )
        return [u, v, *np.linalg.solve(M, load).tolist()]

    span, begin = (0.0, float(times[-1])), [*start.tolist(), 0.0, 0.0]
    found = solve_ivp(rate, span, begin, "DOP853", times, rtol=1e-11, atol=1e-12)
    return np.asarray(found.y[:2].T)


def _rod() -> Iterator[Check]:
    world = RigidScene.of([bifilar_pendulum()])
    x = find_rest(world)
    pull = [
        float(e.forces_along(x)[0, 0]) for e in world.model.energies if isinstance(e, PointSprings)
    ]
    for side, got in zip(("left", "right"), pull):
        yield compare(f"jointed/rod on two ropes, {side}", HEAVY * GRAVITY / 2, got, 1e-6)
    world = RigidScene.of([bifilar_pendulum((0.0, 0.15, 0.0))])
    affine = world.model.loose.affine[0]
    inertia = float(affine.mass * affine.solid.unit_inertia[1, 1])
    period = 2 * np.pi * np.sqrt(inertia * LENGTH / (HEAVY * GRAVITY * APART**2))
    dt = period / 100
    stepper = Bdf2(StepSettings(tolerance=1e-6))
    turns = [affine.shape(s.x)[0][0, 2] for s in world.run(stepper, 1.1 * period, dt)]
    yield compare(
        "jointed/bifilar pendulum", float(period), mean_period(np.array(turns[1:]), dt), 4e-3
    )


def bifilar_pendulum(spin: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Body:
    """Return a rod on two upright ropes."""
    ropes = [Joint("rope", (s * APART, 0.0, 0.0), at=(s * APART, LENGTH, 0.0)) for s in (-1, 1)]
    return rigid_body(box((0.6, 0.03, 0.03), 0.6, "rod"), mass=HEAVY, joints=ropes, spin=spin)


def find_rest(world: RigidScene) -> Floats:
    """Return the positions (n,3) [m] of all points at rest."""
    settings = QuasiStaticSettings(1e-10, 1e-8, max_iterations=500, imperfection=0.0)
    return find_equilibrium(world.model, np.array(world.state.x), settings, "rest").x


def _pair() -> Iterator[Check]:
    length = 0.3
    spring = Joint("spring", stiffness=STIFF, to="right", length=length)
    bodies = [
        rigid_body(box((0.05, 0.05, 0.05), 0.05, "left"), mass=LIGHT, joints=[spring]),
        rigid_body(box((0.05, 0.05, 0.05), 0.05, "right").moved((length + 0.02, 0, 0)), mass=HEAVY),
    ]
    world = RigidScene.of(bodies, (0.0, 0.0, 0.0))
    period = 2 * np.pi * np.sqrt(LIGHT * HEAVY / (LIGHT + HEAVY) / STIFF)
    dt, stepper = period / 100, Bdf2(StepSettings(tolerance=1e-7))
    gaps = [
        world.center(1)[0] - world.center(0)[0] - length
        for _ in world.run(stepper, 0.85 * period, dt)
    ]
    got = mean_period(np.array(gaps), dt)
    yield compare("jointed/two bodies on a spring, period", float(period), got, 2e-3)


def _plate() -> Iterator[Check]:
    side, thick, radius = 0.2, 0.01, 0.1
    plate = box((side, thick, side), 0.2, "plate")
    disk = cylinder(radius, thick, 0.02, "disk")
    sizes = {
        "plate": (side**2, 2 * side * thick),
        "disk": (np.pi * radius**2, np.pi * radius * thick),
    }
    for body, tolerance in ((plate, 1e-6), (disk, 1e-2)):
        flat, rim = sizes[body.name]
        wind = Wind()
        drag = 0.5 * wind.density * (wind.drag * flat + (wind.drag - wind.lift) * rim)
        expected = float(np.sqrt(0.05 * GRAVITY / drag))
        start = (0.0, -0.999 * expected, 0.0)
        got = fall_speed([rigid_body(body, mass=0.05, air=True, velocity=start)], wind)
        yield compare(f"jointed/terminal speed of a {body.name}", expected, got, tolerance)


def fall_speed(bodies: Sequence[Body], wind: Wind) -> float:
    """Return the speed [m/s] at which the first body falls after 2 s, in 20 steps."""
    world = RigidScene.of(bodies, wind=wind)
    for _ in world.run(BackwardEuler(StepSettings(tolerance=1e-9)), 2.0, 0.1):
        pass
    return -float(world.state.v[world.model.loose.affine[0].own, 1].mean())
