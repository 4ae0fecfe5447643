"""Motors of joints: springs to a target or drives with a speed, with a largest torque.

A spring with damping has the torque k (q - q*) + k b dq/dt, a motor with a speed c (dq/dt - w).
With the rate of the step, (q - q_r)/span, both are linear in q: K (q - a). So, with e = q - a and
the largest torque (or force) M, the energy of a step is

    E = K e^2/2 where K |e| <= M, else M |e| - M^2/(2K)

and its derivative is the torque, cut off at M. Angles count whole turns, which are kept from step
to step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft.base.arrays import Floats
from weft.base.trees import Json
from weft.energies.by_constants import ByName, damping_rate
from weft.energies.springs.joint_coordinates import (
    JOINT_COORDINATES,
    JointCoordinates,
    Joints,
    JointSpring,
)
from weft.energies.springs.spring import Curvature, SpringLaw, SteppedSpring, spring_kernels
from weft.energies.step import Step
from weft.kernel import Scalar, WarpArray, WarpStruct, vec2
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern


@wp.struct
class MotorNumbers:
    """Numbers of a motor in the step that is solved."""

    target: Scalar  # q*
    stiffness: Scalar  # k
    damping: Scalar  # [s] b
    speed: Scalar  # w
    resistance: Scalar  # c
    most: Scalar  # M; infinite: no bound
    before: Scalar  # q_r
    rate: Scalar  # [1/s] 1/span; 0: nothing moves


@wp.func
def pull(q: Scalar, p: MotorNumbers):
    """Return the torque K (q - a) without its bound."""
    out = p.stiffness * (q - p.target)
    if p.rate > Scalar(0.0):
        speed = p.rate * (q - p.before)
        out += p.stiffness * p.damping * speed + p.resistance * (speed - p.speed)
    return out


@wp.func
def gain(p: MotorNumbers):
    """Return K."""
    return p.stiffness + p.rate * (p.stiffness * p.damping + p.resistance)


@wp.func
def motor_energy(q: vec2, p: MotorNumbers):
    """Return the energy."""
    torque = wp.abs(pull(q[0], p))
    K = wp.max(gain(p), Scalar(1e-300))
    out = Scalar(0.5) * torque * torque / K
    if torque > p.most:
        out = p.most * (torque - Scalar(0.5) * p.most) / K
    return vec2(out, Scalar(0.0))


@wp.func
def motor_force(q: vec2, p: MotorNumbers):
    """Return the torque, cut off."""
    torque = pull(q[0], p)
    if torque > p.most:
        torque = p.most
    elif torque < -p.most:
        torque = -p.most
    return vec2(torque, Scalar(0.0))


@wp.func
def motor_stiffness(q: vec2, p: MotorNumbers):
    """Return K, or 0 where the torque is cut off."""
    K = Scalar(0.0)
    if wp.abs(pull(q[0], p)) < p.most:
        K = gain(p)
    return vec2(K, Scalar(0.0))


@wp.struct
class MotorElements:
    """Parameters of all motors."""

    joints: Joints
    law: wp.array(dtype=MotorNumbers)


@dataclass(frozen=True, eq=False)
class Motors(JointSpring):
    """Motors of m coordinates; local arrays are those without motion.

    Args:
        joints: the coordinates.
        target: (m,) [rad] or [m] of springs.
        stiffness: (m,) [N m/rad] or [N/m]; 0 of motors with a speed.
        damping_time: (m,) [s] over the stiffness.
        speed: (m,) [rad/s] or [m/s].
        resistance: (m,) [N m s/rad] or [N s/m]; 0 of springs.
        most: (m,) [N m] or [N] largest torque or force; infinite: no bound.
        names: of each, in metrics.
    """

    joints: JointCoordinates
    target: Floats
    stiffness: Floats
    damping_time: Floats
    speed: Floats
    resistance: Floats
    most: Floats
    names: Sequence[str]
    name: str = "motors"

    kernels = spring_kernels(
        "motors",
        MotorElements,
        JOINT_COORDINATES,
        SpringLaw(MotorNumbers, motor_energy, motor_force, motor_stiffness),
        dict.fromkeys((Psd.PROJECTED, Psd.GAUSS_NEWTON), Curvature.DROPPED),
    )

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters in a step, which begins at the coordinates that it remembers."""
        return self._parameters(None if step is None else self.before(step), step)

    def _parameters(self, before: Floats | None, step: Step | None = None) -> WarpStruct:
        """Return the parameters, with angles within half a turn of ``before`` (m,) [rad]."""
        p, near = MotorElements(), np.zeros(len(self.stencil)) if before is None else before
        p.joints = self.joints.on_device(near)
        rooted = near
        if step is not None and step.past is not None:
            x, part = step.past
            past = self.coordinates(x, self._parameters(near))[:, 0]
            rooted = near + part * (near - past)
        numbers = {**self.constants, "most": self.most}
        p.law = self.records(before=rooted, rate=damping_rate(step), **numbers)
        return p

    def before(self, step: Step) -> Floats:
        """Return the coordinates at the start of a step, (m,), angles with all their turns."""
        kept = step.kept.get(f"{self.name} at")
        return self.coordinate(step.state.x) if kept is None else np.asarray(kept)

    @property
    def constants(self) -> ByName:
        """Constants by name: targets, gains and speeds, and largest torques that are finite."""
        names = ("target", "stiffness", "speed", "resistance")
        most = np.where(np.isfinite(self.most), self.most, 0.0)
        own = {name: getattr(self, name) for name in names}
        return {**own, "damping": self.damping_time, "most": most}

    @property
    def structure(self) -> object:
        """Data besides the constants: the coordinates, and which motors have a largest torque."""
        return self.joints, np.isfinite(self.most), self.names

    def bind(self, pattern: BlockPattern) -> "BoundMotors":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return BoundMotors(self, pattern)


class BoundMotors(SteppedSpring):
    """Motors bound to a block pattern, in a step."""

    energy: Motors

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the coordinates, angles with all their turns."""
        return {f"{self.name} at": self.energy.coordinates(self._host(x), self.parameters)[:, 0]}

    def forces(self, x: WarpArray) -> Json:
        """Return coordinate and torque (or force) of each motor, by its name."""
        y = self._host(x)
        places = self.energy.coordinates(y, self.parameters)[:, 0]
        pulls = -self.energy.forces_along(y, self.parameters)[:, 0]
        said = ("angle", "torque") if self.energy.joints.second is not None else ("place", "force")
        return {
            name: {said[0]: float(q), said[1]: float(f)}
            for name, q, f in zip(self.energy.names, places, pulls)
        }
