"""Arms: a cloth pulls out of two fingers at 2 mu N, and derivatives by the target of a joint.

Two fingers press a strip with the force N each, and are lifted along it.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from weft.adjoint.adjoint import Adjoint
from weft.adjoint.joint_derivative import JointDerivative
from weft.adjoint.losses import Mean
from weft.base.arrays import Floats
from weft.base.keyframes import Keys
from weft.bodies.body import arms_of
from weft.bodies.joints.arm import Arm, ArmJoint
from weft.bodies.shapes.primitives import box
from weft.cloth.create import sheet
from weft.integrators.backward_euler import BackwardEuler
from weft.integrators.base import StepSettings
from weft.plugins.lab.validate.adjoint import Built, Setup, Values
from weft.plugins.lab.validate.check import RowBasis, Rows, attempt, compare, measure
from weft.plugins.lab.validate.rigid import RigidScene
from weft.plugins.lab.validate.stepping import take_steps
from weft.plugins.robots.arms.read_arm import link_body

FORCE, FRICTION, STEP = 2.0, 0.5, 0.01  # [N], [1], [s]
NEAR = 5.7e-3  # [m] from the middle of a pad to the strip
STEPS, LAST = 70, 40  # steps of the pull, and those over which its force is averaged
LIFT = np.array([0.0, 0.03])  # [m] heights of the hand at 0 and 1 s
CHANGE = np.array([0.0, 1e-5])  # [m] in differences


def checks() -> Rows:
    """Compare the pull to 2 %, and the derivative to 1e-5."""
    yield from measure("arms/pull-out", 2 * FRICTION * FORCE, 2e-2, pull_out)
    yield from attempt("arms/derivative", _derivative)


def pull_out() -> float:
    """Return the mean force [N] with which both fingers hold the strip while it slides."""
    scene = gripped(LIFT)
    steps = take_steps(scene.model, scene.state, BackwardEuler(), [STEP] * STEPS)
    links = [report.contact["links"].values() for _, _, report in steps]
    return float(np.mean([-sum(link["force"][1] for link in each) for each in links[-LAST:]]))


def _derivative() -> Rows:
    """Compare the derivative of the mean height by the last target of the lift with differences."""

    def build(values: Values) -> Built:
        scene = gripped(values["lift"])
        return scene.model, scene.state

    precise = partial(BackwardEuler, StepSettings(tolerance=1e-9))
    setup = Setup.of(build, {"lift": LIFT}, precise, STEP)
    (arm,) = arms_of(setup.model.rigid_bodies.bodies)
    lift = replace(setup.parameter("lift"), closed_form=partial(JointDerivative, arm, "lift"))
    adjoint = Adjoint(setup, Mean(), [lift], frames=2, fps=1 / STEP)
    values = LIFT + CHANGE, LIFT - CHANGE
    high, low = (adjoint.with_values({"lift": value}).value() for value in values)
    got = adjoint().gradient["lift"][1]
    yield compare("arms/derivative", (high - low) / (2 * CHANGE[1]), got, 1e-5, RowBasis.SELF)


def gripped(lift: Floats) -> RigidScene:
    """Return a strip that is pinned below, between two fingers of a hand that is lifted to these
    heights (2,) [m].
    """
    _, up, across = np.eye(3)
    free = np.zeros(3), -np.inf, np.inf, 0.0  # a point, a range and a zero
    joints = [ArmJoint("lift", 1, True, up, *free, leader=0)]
    places, pad = np.tile(np.eye(4), (4, 1, 1)), box((0.03, 0.03, 0.01), 0.03)
    for k, side in ((2, 1.0), (3, -1.0)):
        joints.append(ArmJoint("close", k, True, -side * across, *free, leader=1))
        places[k, 2, 3] = side * NEAR
    targets = {"lift": Keys(list(enumerate(lift))), "close": Keys([(0, 0), (0.2, 0.01)])}
    parents, links = np.array([-1, 0, 1, 1], dtype=np.int32), ("base", "hand", "left", "right")
    arm = Arm("arm", links, parents, places, joints, targets)
    bodies = [link_body(arm, k, [pad], 0.05, FORCE) for k in (2, 3)]
    cloth = sheet(5, 9, 0.04, 0.1, fabric="cotton").move((0, -0.03, 0), (-90, 0, 0))
    held = cloth.border("bottom")
    return RigidScene.of(bodies, friction=FRICTION, cloth=cloth, held=held)
