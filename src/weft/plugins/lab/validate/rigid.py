"""Rigid bodies against closed forms: inertia, a fall, a top, a pendulum, a slope, a stack, a net.

A top without torques keeps its angular momentum L, and its axis of symmetry goes round L at the
rate |L|/I_1, I_1 the moment across the axis. A body on a ball joint swings with the period 2 pi
sqrt(I/(m g d)) (1 + theta^2/16), I about the joint and d from there to the center. On a slope of
angle a a box sticks if tan a < mu, and else slides with g (sin a - mu cos a). Bodies at rest press
with their weight, on a floor as on the pins of a net.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from weft.base.arrays import Floats, VertexIds
from weft.bodies.body import Body
from weft.bodies.joints.settings import Joint
from weft.bodies.motion.pins import Pin
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.energies import rigid_energies
from weft.bodies.rigid.mass_properties import mass_properties
from weft.bodies.rigid.rigid_bodies import RigidBodies, single
from weft.bodies.rigid.settings import Rigid
from weft.bodies.shapes.primitives import box, sphere
from weft.bodies.shapes.revolved import cylinder, plane
from weft.cloth.cloth import Cloth
from weft.cloth.create import sheet
from weft.contact.contact import Contact
from weft.contact.settings import Friction, SelfContact
from weft.energies.air.lift_and_drag import AirForce
from weft.energies.air.wind import Wind
from weft.energies.energy import Energy
from weft.energies.loads.gravity import Gravity
from weft.energies.state import State
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import Integrator, StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.model import Model
from weft.plugins.lab.validate.check import Rows, attempt, compare
from weft.plugins.lab.validate.stepping import gradient, mean_period, take_steps
from weft.plugins.lab.validate.strip import GRAVITY, NO_WEIGHT, fabric_energies, settle

E = TypeVar("E")
MU, GAP = 0.3, 2e-3  # [1], [m]
DT = 5e-3  # [s] time step of sliding bodies
DOWN = (0.0, -GRAVITY, 0.0)


def checks() -> Rows:
    """Compare inertia to round-off, motions to the order of the step, rest to its tolerance."""
    for case in (_inertia, _fall, _top, _pendulum, _slope, _stack, _net):
        yield from attempt(f"rigid/{case.__name__[1:]}", case)


@dataclass
class RigidScene:
    """Rigid bodies with colliders and a cloth, which is pinned by its border, and far away if it
    has no part to play.
    """

    model: Model
    state: State

    @staticmethod
    def of(
        bodies: Sequence[Body],
        gravity: tuple[float, float, float] = DOWN,
        friction: float = 0.0,
        cloth: Cloth | None = None,
        wind: Wind | None = None,
        held: VertexIds | None = None,
    ) -> "RigidScene":
        """Build the scene at its start, with the cloth's border held, or the vertices ``held``."""
        cloth = sheet(2, 2, 0.1, 0.1).move((50.0, 0.0, 0.0)) if cloth is None else cloth
        n, mesh = cloth.n_vertices, cloth.mesh
        rigid_bodies = RigidBodies.of(bodies, n)
        still = [b for b in bodies if b.rigid is None]
        mass = np.concatenate([cloth.mass, rigid_bodies.point_mass])
        membrane, hinges = fabric_energies(mesh, cloth.fabric)
        energies: list[Energy] = [
            dataclasses.replace(membrane, damping=0.02),
            hinges,
            *rigid_energies(rigid_bodies, still),
            Gravity(mass, gravity),
        ]
        if wind is not None and rigid_bodies.blown is not None:
            energies.append(AirForce(rigid_bodies.blown, wind))
        settings = SelfContact(GAP, friction=Friction(friction), stick=2e-4, lags=3)
        met = Contact.of(
            mesh, cloth.mass, settings, still, (), single(n, len(mass)), None, rigid_bodies
        )
        x = np.concatenate([mesh.vertices, rigid_bodies.points])
        v = np.zeros_like(x)
        for body in rigid_bodies.affine:
            v[body.own] = body.start_velocity
        pin = Pin(mesh.boundary if held is None else held)
        return RigidScene(Model(mass, energies, (pin,), x, met, single(n, len(mass))), State(x, v))

    @property
    def bodies(self) -> Sequence[AffineBody]:
        """The rigid bodies."""
        return self.model.rigid_bodies.affine

    def center(self, body: int = 0) -> Floats:
        """Return the center (3,) [m] of a rigid body."""
        return np.asarray(self.state.x[self.bodies[body].own].mean(0))

    def inertia(self, axis: int, body: int = 0) -> float:
        """Return the moment of inertia [kg m^2] of a rigid body about an axis through its center
        at the start.
        """
        affine = self.bodies[body]
        return float(affine.mass * affine.solid.unit_inertia[axis, axis])

    def energies(self, kind: type[E]) -> list[E]:
        """Return the energies of one kind."""
        return [e for e in self.model.energies if isinstance(e, kind)]

    def settle(self) -> None:
        """Move all points to their equilibrium."""
        self.state = State.at_rest(settle(self.model, self.state.x, 1e-10).x)

    def run(self, stepper: Integrator, seconds: float, dt: float) -> Iterator[State]:
        """Yield the states after every step; ``memory`` keeps that of the stepper.

        Raises:
            SimulationError: a step that does not converge.
        """
        self.memory = stepper.init(self.model, self.state)
        lengths = [dt] * round(seconds / dt)
        for step in take_steps(self.model, self.state, stepper, lengths, self.memory):
            self.state, self.memory, _ = step
            yield self.state

    def pressed(self, stepper: Integrator, dt: float) -> Floats:
        """Return the total force (3,) [N] with which contact pushes all rigid bodies."""
        phi = stepper.potential(self.model, self.state, self.memory, dt)
        term = next(t for t in phi.terms_of_phi if t.name == "contact")
        first = self.bodies[0].first
        return np.asarray(-gradient(term, self.state.x)[first:].sum(0))


def rigid_body(body: Body, **how: object) -> Body:
    """Return the body as a rigid body with these settings."""
    return dataclasses.replace(body, rigid=Rigid(**how))  # type: ignore[arg-type]


def _inertia() -> Rows:
    a, b, c = 0.1, 0.2, 0.3
    brick = box((a, b, c), 0.07).move((3.0, 1.0, -2.0))
    got = np.diag(mass_properties(brick.vertices, brick.faces).unit_inertia)
    expected = np.array([b * b + c * c, a * a + c * c, a * a + b * b]) / 12
    off = float(np.abs(got / expected - 1).max())
    yield compare("rigid/inertia of a box", 0.0, off, 1e-12)
    r = 0.1
    ball, rod = sphere(r, 0.006), cylinder(r, 0.3, 0.006)
    inner = mass_properties(ball.vertices, ball.faces).unit_inertia[0, 0]
    yield compare("rigid/inertia of a sphere, 2/5 r^2", 0.4 * r * r, inner, 3e-3)
    along = mass_properties(rod.vertices, rod.faces).unit_inertia[1, 1]
    yield compare("rigid/inertia of a cylinder, r^2/2", 0.5 * r * r, along, 3e-3)


def _fall() -> Rows:
    dt, n = 0.01, 20
    brick = rigid_body(box((0.1, 0.2, 0.3), 0.3), mass=2.0, velocity=(0.3, 0.0, 0.0))
    world = RigidScene.of([brick])
    before = world.center()
    for _ in world.run(BackwardEuler(StepSettings(tolerance=1e-9)), n * dt, dt):
        pass
    way = world.center() - before
    drop = -GRAVITY * dt * dt * n * (n + 1) / 2
    yield compare("rigid/fall, backward Euler's", drop, way[1], 1e-9)
    yield compare("rigid/fall, aside", 0.3 * n * dt, way[0], 1e-9)


def _top() -> Rows:
    angle, size, turns = top(2e-3)
    yield compare("rigid/precession of a top", turns, angle, 3e-3)
    yield compare("rigid/its angular momentum", 1.0, size, 3e-3)


def top(dt: float, seconds: float = 0.2) -> tuple[float, float, float]:
    """Simulate a top without torques.

    Returns:
        The angle [rad] by which its axis has gone round its angular momentum, the size of this over
        that at the start, and the angle by Euler's equations.
    """
    spin, tilt = 20.0, 0.4
    body = rigid_body(
        box((0.1, 0.1, 0.3), 0.3),
        density=500.0,
        spin=(0.0, spin * np.sin(tilt), spin * np.cos(tilt)),
    )
    world = RigidScene.of([body], NO_WEIGHT)
    (affine,) = world.bodies
    _, start = affine.momentum(world.state.x, world.state.v)
    around = start / np.linalg.norm(start)
    axis, angle = np.array([0.0, 0.0, 1.0]), 0.0
    for state in world.run(Bdf2(StepSettings(tolerance=1e-7)), seconds, dt):
        now = affine.shape(state.x)[0] @ np.array([0.0, 0.0, 1.0])
        a, b = (v - around * float(v @ around) for v in (axis, now))
        turn = float(np.cross(a, b) @ around), float(a @ b)
        angle, axis = angle + float(np.arctan2(*turn)), now
    _, end = affine.momentum(world.state.x, world.state.v)
    expected = float(np.linalg.norm(start)) / world.inertia(0) * seconds
    return angle, float(np.linalg.norm(end) / np.linalg.norm(start)), expected


def _pendulum() -> Rows:
    r, d, theta = 0.05, 0.3, 0.1
    ball = sphere(r, 0.02).move((d * np.sin(theta), -d * np.cos(theta), 0.0))
    joint = Joint("ball", (0.0, 0.0, 0.0))
    world = RigidScene.of([rigid_body(ball, mass=0.4, joints=(joint,))])
    solid = world.bodies[0].solid
    moment = solid.unit_inertia[2, 2] + float((solid.center**2).sum())
    arm = float(np.linalg.norm(solid.center))
    expected = 2 * np.pi * np.sqrt(moment / (GRAVITY * arm)) * (1 + theta**2 / 16)
    dt, stepper = 5e-3, Bdf2(StepSettings(tolerance=1e-6))
    aside = [world.center()[0] for _ in world.run(stepper, 1.1 * expected, dt)]
    got = mean_period(np.array(aside), dt)
    yield compare("rigid/period of a pendulum", expected, got, 1e-3)


def _slope() -> Rows:
    stuck, slid = slide(14.0), slide(22.0)
    yield compare("rigid/slope sticks, 14 degrees", 0.0, np.abs(stuck[-10:]).max(), 1e-4)
    angle = np.radians(22.0)
    expected = GRAVITY * (np.sin(angle) - MU * np.cos(angle))
    got = float(np.median(np.diff(slid)[len(slid) // 2 :])) / DT
    yield compare("rigid/slope slides, 22 degrees", expected, got, 1e-2)


def slide(degrees: float, friction: float = MU) -> Floats:
    """Return speeds [m/s] down a slope, every 5 ms for 0.3 s, of a box that starts at rest
    on it.
    """
    angle = np.radians(degrees)
    pull = (GRAVITY * np.sin(angle), -GRAVITY * np.cos(angle), 0.0)
    brick = box((0.2, 0.06, 0.2), 0.2).move((0.013, 0.03 + 0.5 * GAP, 0.007), None, (0, 20, 0))
    world = RigidScene.of([plane(4.0), rigid_body(brick, mass=1.0)], pull, friction)
    stepper = BackwardEuler(StepSettings(tolerance=1e-6))
    return np.array([s.v[-4:, 0].mean() for s in world.run(stepper, 0.3, DT)])


def _stack() -> Rows:
    low = rigid_body(box((0.2, 0.1, 0.2), 0.2).move((0.0, 0.05 + 0.5 * GAP, 0.0)), mass=2.0)
    high = rigid_body(
        box((0.1, 0.1, 0.1), 0.1).move((0.02, 0.15 + GAP, 0.01), None, (0, 30, 0)), mass=1.0
    )
    world = RigidScene.of([plane(4.0), low, high], friction=MU)
    stepper = BackwardEuler(StepSettings(tolerance=1e-6))
    for _ in world.run(stepper, 0.6, 0.01):
        pass
    speed = float(np.abs(world.state.v[-8:]).max())
    yield compare("rigid/stack at rest, speed", 0.0, speed, 1e-4)
    push = float(world.pressed(stepper, 0.01)[1])
    yield compare("rigid/stack, what the floor carries", 3.0 * GRAVITY, push, 1e-3)


def _net() -> Rows:
    cloth = sheet(13, 13, 0.4, 0.4, fabric="wool")
    ball = rigid_body(sphere(0.06, 0.025).move((0.01, 0.063, -0.01)), mass=0.5)
    world = RigidScene.of([ball], friction=MU, cloth=cloth)
    stepper = BackwardEuler(StepSettings(tolerance=1e-3))
    for _ in world.run(stepper, 0.8, 0.01):
        pass
    phi = stepper.potential(world.model, world.state, world.memory, 0.01)
    up = float(phi.reaction(np.asarray(world.state.x))[:, 1].sum())
    weight = GRAVITY * float(world.model.mass.sum())
    yield compare("rigid/ball in a net, what its pins carry", weight, up, 1e-2)
