"""Joints with limits and motors against closed forms; rows of ``validate.jointed``.

A pendulum that falls onto a joint limit (stop) ends there: it never passes, has no more energy than
it began with and rests within the stop's margin. A motor of the resistance c turns a disk of the
moment I from rest at w (1 - exp(-c t/I)), one whose torque ends at M first at M t/I. A spring that
holds a rod level against its weight gives way by that torque over its stiffness, a drive that holds
a weight by the weight over its stiffness; one whose force ends below the weight lets it sink onto
its stop. A body on a ball joint with a cone rests with its axis tilted by the cone's angle.
"""

from collections.abc import Iterator

import numpy as np

from weft.base.arrays import Floats
from weft.bodies.body import Body
from weft.bodies.joints.motors import Drive, Motor
from weft.bodies.joints.settings import Joint
from weft.bodies.shapes.primitives import box
from weft.bodies.shapes.revolved import cylinder
from weft.energies.springs.joint_limits import JointLimits
from weft.energies.springs.motors import Motors
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.validate.check import Check, compare
from weft.validate.rigid import RigidScene, rigid_body
from weft.validate.strip import GRAVITY

MASS, ARM = 0.2, 0.15  # [kg], [m] of a rod, and from its hinge to its center
DOWN, UP = np.radians(-60.0), np.radians(30.0)  # limits of its hinge
AXIS = (0.0, 0.0, 1.0)
PRECISE = StepSettings(tolerance=1e-7)


def rod(**how: object) -> Body:
    """Return a level rod on a hinge at one end."""
    body = box((0.24, 0.02, 0.02), 0.3, "rod").moved((ARM, 0.0, 0.0))
    return rigid_body(body, mass=MASS, joints=[Joint("hinge", (0.0, 0.0, 0.0), AXIS, **how)])  # type: ignore[arg-type]


def energy(world: RigidScene, stops: JointLimits) -> float:
    """Return the energy [J] of the first body in gravity and motion, and of its stops."""
    own, state = world.model.loose.affine[0].own, world.state
    mass = world.model.mass[own]
    moving = 0.5 * float(mass @ (state.v[own] ** 2).sum(1))
    high = GRAVITY * float(mass @ state.x[own][:, 1])
    return moving + high + float(stops.value(state.x).sum())


def stops_of(world: RigidScene) -> JointLimits:
    """Return the joint limits of a scene that has one such energy."""
    (found,) = (e for e in world.model.energies if isinstance(e, JointLimits))
    return found


def check_stop() -> Iterator[Check]:
    """Compare a pendulum that falls onto its stop."""
    for said, method in (("backward_euler", BackwardEuler), ("bdf2", Bdf2)):
        stepper = method(PRECISE)
        world = RigidScene.of([rod(angles=(DOWN, UP))])
        stops, most, least, high = stops_of(world), 0.0, 0.0, -np.inf
        for state in world.run(stepper, 0.8, 8e-3):
            most = max(most, energy(world, stops))
            least = min(least, float(stops.coordinate(state.x)[0]))
            high = max(high, float(world.center()[1]))
        name = f"jointed/pendulum on its stop, {said}"
        scale = MASS * GRAVITY * ARM
        yield compare(f"{name}: angle past it [rad]", 0.0, max(DOWN - least, 0.0), 0.0)
        yield compare(f"{name}: energy gained, of m g l", 0.0, most / scale, 1e-3)
        high = max(high, 0.0) / ARM
        yield compare(f"{name}: higher than its start, of l", 0.0, high, 1e-3)
        last = float(stops.coordinate(world.state.x)[0])
        yield compare(f"{name}: rests at [rad]", float(DOWN), last, 0.02)


def check_tilt() -> Iterator[Check]:
    """Compare a body on a ball joint that falls onto the rim of its cone."""
    cone = float(np.radians(40.0))
    body = box((0.02, 0.24, 0.02), 0.3, "post").moved((0.0, ARM, 0.0))
    joint = Joint("ball", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0), cone=cone)
    falls = {"spin": (0.0, 0.0, -1.0), "velocity": (ARM, 0.0, 0.0)}
    world = RigidScene.of([rigid_body(body, mass=MASS, joints=[joint], **falls)])
    stops, low = stops_of(world), 1.0
    for state in world.run(BackwardEuler(PRECISE), 1.2, 2e-2):
        low = min(low, float(stops.coordinate(state.x)[0]))
    angle = float(np.arccos(stops.coordinate(world.state.x)[0]))
    past = max(float(np.arccos(low)) - cone, 0.0)
    yield compare("jointed/cone of a ball joint: angle past it [rad]", 0.0, past, 0.0)
    yield compare("jointed/cone of a ball joint: rests at [rad]", cone, angle, 0.02)


def check_turn() -> Iterator[Check]:
    """Compare a motor that turns a disk from rest."""
    speed, resistance, dt = 12.0, 2e-2, 2.5e-3
    for torque in (None, 6e-2):
        disk = cylinder(0.1, 0.01, 0.03, "disk")
        motor = Motor(speed=speed, resistance=resistance, torque=torque)
        joint = Joint("hinge", None, (0.0, 1.0, 0.0), motor=motor)
        world = RigidScene.of([rigid_body(disk, mass=MASS, joints=[joint])], (0.0, 0.0, 0.0))
        body = world.model.loose.affine[0]
        inertia = body.mass * float(body.solid.unit_inertia[1, 1])
        spins = [body.spin(s.x, s.v)[1] for s in world.run(Bdf2(PRECISE), 0.4, dt)]
        got: Floats = np.array(spins)
        times = dt * np.arange(1.0, len(got) + 1)
        rate = inertia / resistance
        expected = _run_up(times, speed, rate, np.inf if torque is None else torque / resistance)
        name = "jointed/motor" + ("" if torque is None else " with a torque that ends")
        off = float(np.abs(got - expected).max()) / speed
        yield compare(f"{name}: run-up, off by, of its speed", 0.0, off, 5e-3)
        if torque is None:
            yield compare(f"{name}: speed [rad/s]", speed, float(got[-1]), 2e-3)


def _run_up(t: Floats, speed: float, rate: float, most: float) -> Floats:
    """Return speeds (k,) [rad/s] of a disk whose motor has the time constant ``rate`` [s].

    The motor's torque ends at ``most`` [rad/s] times its resistance.
    """
    until = rate * max(speed / most - 1.0, 0.0)  # [s] time during which the torque is at its limit
    left = min(speed, most)
    slow = speed - left * np.exp(-(t - until) / rate)
    return np.asarray(np.where(t < until, most * t / rate, slow))


def check_spring() -> Iterator[Check]:
    """Compare springs of a hinge and of a slider at rest under weight."""
    from weft.validate.jointed import find_rest

    stiffness = 1.5
    world = RigidScene.of([rod(motor=Motor(angle=0.2, stiffness=stiffness))])
    (motors,) = (e for e in world.model.energies if isinstance(e, Motors))
    x = find_rest(world)
    load = MASS * GRAVITY * float(x[world.model.loose.affine[0].own, 0].mean())
    gives = 0.2 - float(motors.coordinate(x)[0])
    yield compare("jointed/spring of a hinge gives way [rad]", load / stiffness, gives, 1e-6)
    drive = Drive(place=0.05, stiffness=80.0)
    joint = Joint("slider", axis=(0.0, 1.0, 0.0), drive=drive)
    world = RigidScene.of(
        [rigid_body(box((0.05, 0.05, 0.05), 0.05, "lift"), mass=MASS, joints=[joint])]
    )
    world.state.x[:] = find_rest(world)
    sunk = 0.05 - float(world.center()[1])
    yield compare("jointed/drive of a slider gives way [m]", MASS * GRAVITY / 80.0, sunk, 1e-5)
    weak = Drive(place=0.05, stiffness=800.0, force=0.9 * MASS * GRAVITY)
    joint = Joint("slider", axis=(0.0, 1.0, 0.0), drive=weak, way=(-0.1, 0.1))
    world = RigidScene.of(
        [rigid_body(box((0.05, 0.05, 0.05), 0.05, "lift"), mass=MASS, joints=[joint])]
    )
    low, first = 0.0, np.zeros(0)
    for k, _ in enumerate(world.run(Bdf2(PRECISE), 0.6, 1e-2)):
        low = min(low, float(world.center()[1]))
        first = world.center() if k == 19 else first
    fall = -0.5 * 0.1 * GRAVITY * 0.2**2
    yield compare("jointed/weak drive of a slider: sinks [m]", fall, float(first[1]), 1e-2)
    yield compare(
        "jointed/weak drive of a slider: below its stop [m]", 0.0, max(-0.1 - low, 0.0), 0.0
    )
