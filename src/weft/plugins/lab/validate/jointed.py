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
wind.

A pendulum that falls onto a joint limit (stop) ends there: it never passes, has no more energy than
it began with and rests within the stop's margin. A motor of the resistance c turns a disk of the
moment I from rest at w (1 - exp(-c t/I)), one whose torque ends at M first at M t/I. A spring that
holds a rod level against its weight gives way by that torque over its stiffness, a drive that holds
a weight by the weight over its stiffness; one whose force ends below the weight lets it sink onto
its stop. A body on a ball joint with a cone rests with its axis tilted by the cone's angle.
"""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Floats
from weft.bodies.body import Body
from weft.bodies.joints.motors import Drive, Motor
from weft.bodies.joints.settings import Joint
from weft.bodies.shapes.primitives import box
from weft.bodies.shapes.revolved import cylinder
from weft.energies.air.wind import Wind
from weft.energies.springs.joint_springs import JointLimits, Motors
from weft.energies.springs.point_springs import PointSprings
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.rigid import RigidScene, rigid_body
from weft.plugins.lab.validate.stepping import mean_period
from weft.plugins.lab.validate.strip import GRAVITY, NO_WEIGHT

ROD, GAP = 0.24, 0.03  # [m] length of a rod, and from its end to its hinge
LIGHT, HEAVY = 0.2, 0.3  # [kg]
LENGTH, APART = 0.5, 0.2  # [m] of ropes, and from the rod's middle
STIFF = 40.0  # [N/m] of the spring
MASS, ARM = 0.2, 0.15  # [kg], [m] of a rod, and from its hinge to its center
LOWER, UPPER = np.radians(-60.0), np.radians(30.0)  # limits of its hinge
AXIS = (0.0, 0.0, 1.0)
PRECISE = StepSettings(tolerance=1e-7)


def checks() -> Rows:
    """Compare motions to the order of the step, forces at rest to the tolerance of the
    equilibrium.
    """
    for case in (
        _double,
        _rod,
        _pair,
        _plate,
        _stop,
        _tilt,
        _turn,
        _spring,
    ):
        yield from attempt(f"jointed/{case.__name__[1:]}", case)


def _double() -> Rows:
    got, expected = double(4e-3)
    off = np.linalg.norm(got - expected, axis=1)
    yield compare("jointed/double pendulum, off by [m]", 0.0, off.max(), 5e-3)
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
    path = [world.center(1)[:2].copy() for _ in world.run(Bdf2(PRECISE), seconds, dt)]
    moments = (world.inertia(2), world.inertia(2, 1))
    angles = _lagrange(start, moments, dt * np.arange(1.0, len(path) + 1))
    exact = whole * _down(angles[:, 0]) + whole / 2 * _down(angles[:, 1])
    return np.array(path), exact


def _down(angle: Floats) -> Floats:
    """Return the direction (...,2) of a rod at an angle from the vertical."""
    return np.stack([np.sin(angle), -np.cos(angle)], axis=-1)


def _rod_at(center: Floats, angle: float, name: str) -> Body:
    rod = box((0.02, ROD, 0.02), 0.3, name)
    return rod.move((*center, 0.0), None, (0.0, 0.0, float(np.degrees(angle))))


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


def _rod() -> Rows:
    world = RigidScene.of([bifilar_pendulum()])
    world.settle()
    pull = [float(e.forces_along(world.state.x)[0, 0]) for e in world.energies(PointSprings)]
    for side, got in zip(("left", "right"), pull):
        yield compare(f"jointed/rod on two ropes, {side}", HEAVY * GRAVITY / 2, got, 1e-6)
    world = RigidScene.of([bifilar_pendulum((0.0, 0.15, 0.0))])
    period = 2 * np.pi * np.sqrt(world.inertia(1) * LENGTH / (HEAVY * GRAVITY * APART**2))
    dt = float(period / 100)
    stepper = Bdf2(StepSettings(tolerance=1e-6))
    (affine,) = world.bodies
    turns = [affine.shape(s.x)[0][0, 2] for s in world.run(stepper, 1.1 * period, dt)]
    yield compare("jointed/bifilar pendulum", period, mean_period(np.array(turns[1:]), dt), 4e-3)


def bifilar_pendulum(spin: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Body:
    """Return a rod on two upright ropes."""
    ropes = [Joint("rope", (s * APART, 0.0, 0.0), at=(s * APART, LENGTH, 0.0)) for s in (-1, 1)]
    return rigid_body(box((0.6, 0.03, 0.03), 0.6, "rod"), mass=HEAVY, joints=ropes, spin=spin)


def _pair() -> Rows:
    length = 0.3
    spring = Joint("spring", stiffness=STIFF, to="right", length=length)
    bodies = [
        rigid_body(box((0.05, 0.05, 0.05), 0.05, "left"), mass=LIGHT, joints=[spring]),
        rigid_body(box((0.05, 0.05, 0.05), 0.05, "right").move((length + 0.02, 0, 0)), mass=HEAVY),
    ]
    world = RigidScene.of(bodies, NO_WEIGHT)
    period = 2 * np.pi * np.sqrt(LIGHT * HEAVY / (LIGHT + HEAVY) / STIFF)
    dt = float(period / 100)
    gaps = [
        world.center(1)[0] - world.center(0)[0] - length
        for _ in world.run(Bdf2(PRECISE), 0.85 * period, dt)
    ]
    got = mean_period(np.array(gaps), dt)
    yield compare("jointed/two bodies on a spring, period", period, got, 2e-3)


def _plate() -> Rows:
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
    return -float(world.state.v[world.bodies[0].own, 1].mean())


def rod(**how: object) -> Body:
    """Return a level rod on a hinge at one end."""
    body = box((0.24, 0.02, 0.02), 0.3, "rod").move((ARM, 0.0, 0.0))
    return rigid_body(body, mass=MASS, joints=[Joint("hinge", (0.0, 0.0, 0.0), AXIS, **how)])  # type: ignore[arg-type]


def lift(drive: Drive, way: tuple[float, float] | None = None) -> Body:
    """Return a box on an upright slider."""
    joint = Joint("slider", axis=(0.0, 1.0, 0.0), drive=drive, way=way)
    return rigid_body(box((0.05, 0.05, 0.05), 0.05, "lift"), mass=MASS, joints=[joint])


def energy(world: RigidScene, stops: JointLimits) -> float:
    """Return the energy [J] of the first body in gravity and motion, and of its stops."""
    own, state = world.bodies[0].own, world.state
    mass = world.model.mass[own]
    moving = 0.5 * float(mass @ (state.v[own] ** 2).sum(1))
    high = GRAVITY * float(mass @ state.x[own][:, 1])
    return moving + high + float(stops.value(state.x).sum())


def _stop() -> Rows:
    """Compare a pendulum that falls onto its stop."""
    for said, method in (("backward_euler", BackwardEuler), ("bdf2", Bdf2)):
        stepper = method(PRECISE)
        world = RigidScene.of([rod(angles=(LOWER, UPPER))])
        (stops,) = world.energies(JointLimits)
        most, least, high = 0.0, 0.0, -np.inf
        for state in world.run(stepper, 0.8, 8e-3):
            most = max(most, energy(world, stops))
            least = min(least, float(stops.coordinate(state.x)[0]))
            high = max(high, float(world.center()[1]))
        name = f"jointed/pendulum on its stop, {said}"
        scale = MASS * GRAVITY * ARM
        yield compare(f"{name}: angle past it [rad]", 0.0, max(LOWER - least, 0.0), 0.0)
        yield compare(f"{name}: energy gained, of m g l", 0.0, most / scale, 1e-3)
        high = max(high, 0.0) / ARM
        yield compare(f"{name}: higher than its start, of l", 0.0, high, 1e-3)
        last = float(stops.coordinate(world.state.x)[0])
        yield compare(f"{name}: rests at [rad]", LOWER, last, 0.02)


def _tilt() -> Rows:
    """Compare a body on a ball joint that falls onto the rim of its cone."""
    cone = float(np.radians(40.0))
    body = box((0.02, 0.24, 0.02), 0.3, "post").move((0.0, ARM, 0.0))
    joint = Joint("ball", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), cone=cone)
    falls = {"spin": (0.0, 0.0, -1.0), "velocity": (ARM, 0.0, 0.0)}
    world = RigidScene.of([rigid_body(body, mass=MASS, joints=[joint], **falls)])
    (stops,) = world.energies(JointLimits)
    low = min(
        float(stops.coordinate(state.x)[0])
        for state in world.run(BackwardEuler(PRECISE), 1.2, 2e-2)
    )
    angle = float(np.arccos(stops.coordinate(world.state.x)[0]))
    past = max(float(np.arccos(low)) - cone, 0.0)
    yield compare("jointed/cone of a ball joint: angle past it [rad]", 0.0, past, 0.0)
    yield compare("jointed/cone of a ball joint: rests at [rad]", cone, angle, 0.02)


def _turn() -> Rows:
    """Compare a motor that turns a disk from rest."""
    speed, resistance, dt = 12.0, 2e-2, 2.5e-3
    for torque in (None, 6e-2):
        disk = cylinder(0.1, 0.01, 0.03, "disk")
        motor = Motor(speed=speed, resistance=resistance, torque=torque)
        joint = Joint("hinge", None, (0.0, 1.0, 0.0), motor=motor)
        world = RigidScene.of([rigid_body(disk, mass=MASS, joints=[joint])], NO_WEIGHT)
        (body,) = world.bodies
        spins = [body.spin(s.x, s.v)[1] for s in world.run(Bdf2(PRECISE), 0.4, dt)]
        got: Floats = np.array(spins)
        times = dt * np.arange(1.0, len(got) + 1)
        rate = world.inertia(1) / resistance
        expected = _run_up(times, speed, rate, np.inf if torque is None else torque / resistance)
        name = "jointed/motor" + ("" if torque is None else " with a torque that ends")
        off = float(np.abs(got - expected).max()) / speed
        yield compare(f"{name}: run-up, off by, of its speed", 0.0, off, 5e-3)
        if torque is None:
            yield compare(f"{name}: speed [rad/s]", speed, got[-1], 2e-3)


def _run_up(t: Floats, speed: float, rate: float, most: float) -> Floats:
    """Return speeds (k,) [rad/s] of a disk whose motor has the time constant ``rate`` [s].

    The motor's torque ends at ``most`` [rad/s] times its resistance.
    """
    until = rate * max(speed / most - 1.0, 0.0)  # [s] time during which the torque is at its limit
    left = min(speed, most)
    slow = speed - left * np.exp(-(t - until) / rate)
    return np.where(t < until, most * t / rate, slow)


def _spring() -> Rows:
    """Compare springs of a hinge and of a slider at rest under weight."""
    stiffness = 1.5
    world = RigidScene.of([rod(motor=Motor(angle=0.2, stiffness=stiffness))])
    (motors,) = world.energies(Motors)
    world.settle()
    load = MASS * GRAVITY * float(world.center()[0])
    gives = 0.2 - float(motors.coordinate(world.state.x)[0])
    yield compare("jointed/spring of a hinge gives way [rad]", load / stiffness, gives, 1e-6)
    world = RigidScene.of([lift(Drive(place=0.05, stiffness=80.0))])
    world.settle()
    sunk = 0.05 - float(world.center()[1])
    yield compare("jointed/drive of a slider gives way [m]", MASS * GRAVITY / 80.0, sunk, 1e-5)
    weak = Drive(place=0.05, stiffness=800.0, force=0.9 * MASS * GRAVITY)
    world = RigidScene.of([lift(weak, (-0.1, 0.1))])
    heights = [float(world.center()[1]) for _ in world.run(Bdf2(PRECISE), 0.6, 1e-2)]
    fall, below = -0.5 * 0.1 * GRAVITY * 0.2**2, max(-0.1 - min(heights), 0.0)
    yield compare("jointed/weak drive of a slider: sinks [m]", fall, heights[19], 1e-2)
    yield compare("jointed/weak drive of a slider: below its stop [m]", 0.0, below, 0.0)
