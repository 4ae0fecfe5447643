"""Arms: a cloth pulls out of two fingers at 2 mu N, and derivatives by the target of a joint.

Two fingers press a strip with the force N each, and are lifted along it.
"""

import dataclasses
from functools import partial

import numpy as np

from weft.adjoint.adjoint import Adjoint
from weft.adjoint.joint_derivative import JointDerivative
from weft.adjoint.losses import Mean
from weft.base.keyframes import Keys
from weft.bodies.arms.arm import Arm, ArmJoint, ArmLink
from weft.bodies.arms.read_arm import finger
from weft.bodies.body import Body, arms_of
from weft.bodies.shapes.primitives import box
from weft.cloth.create import sheet
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.validate.adjoint import Built, Setup, Values
from weft.validate.check import RowBasis, Rows, attempt, compare, measure
from weft.validate.rigid import RigidScene

FORCE, FRICTION, STEP = 2.0, 0.5, 0.01  # [N], [1], [s]
MASS, OPEN = 0.05, 0.02  # [kg] of a finger, [m] from the middle
STEPS, LAST = 70, 40  # steps of the pull, and those over which its force is averaged
LIFT, CHANGE = 4e-3, 3e-7  # [m] target of the hand, and its change in differences
RIPPLE = 1e-4  # [m] so that the strip is not even


def checks() -> Rows:
    """Compare the pull to 2 %, and the derivative to 1e-5."""
    yield from measure("arms/pull-out", 2 * FRICTION * FORCE, 2e-2, pull_out)
    yield from attempt("arms/derivative", _derivative)


def _derivative() -> Rows:
    """Compare the derivative of the mean height by the target of the lift with differences."""

    def build(values: Values) -> Built:
        scene = gripped(Keys([(0.0, 0.0), (0.02, values["lift"][1])]), 5.7e-3)
        return scene.model, scene.state

    precise = partial(BackwardEuler, StepSettings(tolerance=1e-9))
    setup = Setup(build, {"lift": np.array([0.0, LIFT])}, precise, STEP / 2)
    (arm,) = arms_of(setup.model().loose.bodies)
    lift = dataclasses.replace(
        setup.parameter("lift"), closed_form=partial(JointDerivative, arm, "lift")
    )
    adjoint = Adjoint(setup, Mean(), [lift], frames=2, fps=100)
    values = [np.array([0.0, LIFT + change]) for change in (CHANGE, -CHANGE)]
    high, low = (adjoint.with_values({"lift": value}).value() for value in values)
    got = adjoint().gradient["lift"][1]
    yield compare("arms/derivative", (high - low) / (2 * CHANGE), got, 1e-5, RowBasis.SELF)


def gripped(lift: Keys, start: float) -> RigidScene:
    """Return a strip that is pinned below, between two fingers that close at once.

    Args:
        lift: [m] height of the hand.
        start: [m] distance of each finger from the middle.
    """
    up, across = np.eye(3)[1], np.eye(3)[2]
    joints = [ArmJoint("lift", 1, True, up, np.zeros(3), -np.inf, np.inf, 0.0, 0)]
    for k, axis in ((1, -across), (2, across)):
        joints.append(ArmJoint(f"close {k}", 1 + k, True, axis, np.zeros(3), 0.0, OPEN, 0.0, k))
    places = np.tile(np.eye(4), (4, 1, 1))
    places[2:, 2, 3] = start, -start
    close = Keys([(0.0, 0.0), (0.2, OPEN)])
    targets = {"lift": lift, "close 1": close, "close 2": close}
    links, parents = ("base", "hand", "left", "right"), np.array([-1, 0, 1, 1])
    arm, pad = Arm("arm", links, parents, places, joints, targets), box((0.03, 0.03, 0.01), 0.03)
    bodies = []
    for k in (2, 3):
        link = ArmLink(arm, k, pad.vertices)
        rigid = finger(link, MASS, FORCE, False)
        bodies.append(Body(link.at(0.0), pad.faces, name=links[k], link=link, rigid=rigid))
    cloth = sheet(5, 9, 0.04, 0.1).move((0, -0.03, 0), (-90, 0, 0))
    x = np.array(cloth.points)
    x[:, 2] += RIPPLE * np.sin(80 * x[:, 0] + 50 * x[:, 1])
    held = cloth.border("bottom")
    return RigidScene.of(bodies, friction=FRICTION, cloth=cloth.with_points(x), held=held)


def pull_out() -> float:
    """Return the mean force [N] with which both fingers hold the strip while it slides."""
    scene = gripped(Keys([(0.2, 0.0), (1.2, 0.03)]), OPEN - 5e-3)
    stepper, state = BackwardEuler(), scene.state
    memory, pulls = stepper.init(scene.model, state), []
    for _ in range(STEPS):
        state, memory, report = stepper.step(scene.model, state, memory, STEP)
        pulls.append(-sum(link["force"][1] for link in report.contact["links"].values()))
    return float(np.mean(pulls[-LAST:]))
