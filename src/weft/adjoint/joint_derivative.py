"""The derivative by the targets of an arm's joint, through its forward kinematics."""

from functools import partial

import numpy as np

from weft.adjoint.parameters import ParameterDerivative
from weft.adjoint.recorded_run import RecordedRun
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats, Positions
from weft.base.differences import slope_at_zero
from weft.bodies.body import Body
from weft.bodies.joints.arm import Arm
from weft.energies.state import StateDerivatives
from weft.scene.prepare import Simulation
from weft.scene.scene import Scene

NEAR = 1e-5  # [rad or m] change of a key in differences of the interpolation


class JointDerivative(ParameterDerivative):
    """The derivative by the values of a joint's keys, (k,), or by its only value.

    Derivatives by places of links are loads on them, which the transpose of the Jacobian takes to
    the joint.

    Args:
        arm: the arm.
        joint: name of the joint.
        scene: what is simulated.
        run: its run.
    """

    def __init__(self, arm: Arm, joint: str, scene: Scene | Simulation, run: RecordedRun) -> None:
        self.arm, self.keys = arm, arm.targets[joint]
        self.joint = [j.name for j in arm.joints].index(joint)
        contact, self.rigid_bodies = run.model.contact, run.model.rigid_bodies
        self.still = () if contact is None else contact.bodies
        self.by = np.zeros(len(self.keys.points))

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        step, by, first = back.phi.step, back.pulled, 0
        for body in self.still:
            own = slice(first, first + len(body.vertices))
            self._add(body, step.state.t, step.bodies[0][own], by.before[own])
            self._add(body, step.t, step.bodies[1][own], by.after[own])
            first = own.stop
        for finger in self.rigid_bodies.targets:
            self._add(finger.body, step.t, step.target[finger.own], by.target[finger.own])

    def add_start(self, back: StateDerivatives) -> None:
        """Add the contribution of the fingers at the start."""
        for finger in self.rigid_bodies.affine:
            self._add(finger.body, 0.0, finger.points, back.x[finger.own])

    def _add(self, body: Body, t: float, x: Positions, by: Floats) -> None:
        """Add the contribution of points x (n,3) [m] of a body at time t [s], from derivatives by
        them.
        """
        if body.link is not None and body.link.arm.name == self.arm.name and by.any():
            loads = np.zeros((len(self.arm.links), 6))
            loads[body.link.number] = *by.sum(0), *np.cross(x, by).sum(0)
            self.by += self.arm.joint_forces(t, loads)[self.joint] * self._weights(t)

    def _weights(self, t: float) -> Floats:
        """Return the derivative (k,) of the target at time t [s] by the values of its keys."""
        values = np.array(self.keys.values)

        def target(unit: Floats, change: float) -> Floats:
            return np.asarray(self.keys.with_values(values + change * unit).at(t))

        return np.array([slope_at_zero(partial(target, u), NEAR) for u in np.eye(len(values))])

    def result(self) -> Floats:
        """Return the derivative, in the shape of the parameter's value."""
        return self.by if len(self.by) > 1 else self.by[0]
