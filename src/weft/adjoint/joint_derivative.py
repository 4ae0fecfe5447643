"""The derivative by the targets of an arm's joint, through its forward kinematics."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from weft.adjoint.parameters import ParameterDerivative
from weft.adjoint.recorded_run import RecordedRun
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats, Positions
from weft.base.differences import slope_at_zero
from weft.base.keyframes import Keys
from weft.bodies.arms.arm import Arm
from weft.energies.state import StateDerivatives

NEAR = 1e-5  # [rad or m] change of a key in differences of the interpolation


class JointDerivative(ParameterDerivative):
    """The derivative by the values of a joint's keys, (k,), or by its only value.

    Derivatives by places of links are loads on them, which the transpose of the Jacobian takes to
    the joint.

    Args:
        arm: the arm.
        joint: name of the joint.
        scene: a ``weft.Scene``.
        run: its run.
    """

    def __init__(self, arm: Arm, joint: str, scene: Any, run: RecordedRun) -> None:
        self.arm, self.keys, loose = arm, arm.targets[joint], run.model.loose
        self.joint = [j.name for j in arm.joints].index(joint)
        self.start = scene.state().x
        ends = np.cumsum([0, *(len(b.vertices) for b in scene.prescribed_bodies)])
        slices = [slice(a, b) for a, b in pairwise(ends)]
        self.links = self._own(scene.prescribed_bodies, slices)
        self.fingers = self._own(loose.bodies, [a.own for a in loose.affine])
        self.driven = self._own([a.body for a in loose.targets], [a.own for a in loose.targets])
        self.by = np.zeros(len(self.keys.points))

    def _own(self, bodies: Sequence[Any], slices: Sequence[slice]) -> Sequence[tuple[int, slice]]:
        """Return the numbers of the arm's links among bodies, and their points."""
        pairs = [(b.link, s) for b, s in zip(bodies, slices) if b.link is not None]
        return [(link.number, s) for link, s in pairs if link.arm.name == self.arm.name]

    def add(self, back: ReverseStep) -> None:
        """Add the contribution of one step."""
        step, by = back.phi.step, back.pulled
        self._add(step.state.t, self.links, step.bodies[0], by.before)
        self._add(step.t, self.links, step.bodies[1], by.after)
        self._add(step.t, self.driven, step.target, by.target)

    def add_start(self, back: StateDerivatives) -> None:
        """Add the contribution of the fingers at the start."""
        self._add(0.0, self.fingers, self.start, back.x)

    def _add(self, t: float, own: Sequence[tuple[int, slice]], x: Positions, by: Floats) -> None:
        """Add the contribution of points x (n,3) [m] at time t [s], from derivatives by them."""
        loads = np.zeros((len(self.arm.links), 6))
        for k, points in own:
            loads[k, :3] = by[points].sum(0)
            loads[k, 3:] = np.cross(x[points], by[points]).sum(0)
        self.by += self.arm.joint_forces(t, loads)[self.joint] * self._weights(t)

    def _weights(self, t: float) -> Floats:
        """Return the derivative (k,) of the target at time t [s] by the values of its keys."""
        times, values = np.array(self.keys.points).T

        def target(k: int, change: float) -> Floats:
            moved = values + change * (np.arange(len(values)) == k)
            keys = Keys(list(zip(times, moved)), self.keys.between)
            return np.asarray(keys.at(t))

        return np.array([slope_at_zero(partial(target, k), NEAR) for k in range(len(values))])

    def result(self) -> Floats:
        """Return the derivative, in the shape of the parameter's value."""
        return self.by if len(self.by) > 1 else self.by[0]
