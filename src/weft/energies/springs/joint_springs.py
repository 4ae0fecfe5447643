"""Springs of joint coordinates: guides, motors and limits.

**Guides** keep a place of one body on an axis of another, which turns with that body. E = 1/2 k
(y.b)^2 of every row: y = sum_a w_a x_a is the deviation of the place from its reference place, and
b = sum_a u_a x_a a direction of the guiding body, across the axis; two rows make a slider. The
weights of both sums add up to zero: rigid motions of both bodies cost no energy.

**Motors** are springs to a target or drives with a speed, with a largest torque. A spring with
damping has the torque k (q - q*) + k b dq/dt, a motor with a speed c (dq/dt - w). With the rate of
the step, (q - q_r)/span, both are linear in q: K (q - a). So, with e = q - a and the largest torque
(or force) M, the energy of a step is

    E = K e^2/2 where K |e| <= M, else M |e| - M^2/(2K)

and its derivative is the torque, cut off at M. Angles count whole turns, which are kept from step
to step.

**Limits** (stops) are not passed, by a barrier in the coordinate. With the room y from a coordinate
to its limit, below the margin m,

    E = -K (1 - z)^2 ln z,   z = y/m

as contact's barrier has it (Li et al. 2020): C2, zero beyond the margin, infinite at the limit,
which no step passes (``max_step``). A joint that presses against a stop rests within the margin. K
is the work that a stop takes up before its room is down to about a quarter of the margin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.base.trees import Json
from weft.energies.barrier import StepLimit
from weft.energies.by_constants import ByName, damping_rate
from weft.energies.springs.joint_coordinates import (
    JointCoordinates,
    Joints,
    JointSpring,
    joint_kernels,
    reach_of_limit,
)
from weft.energies.springs.spring import Curvature, SpringLaw, SpringTerm, SteppedSpring
from weft.energies.springs.spring_law import SPRING
from weft.energies.step import Step
from weft.kernel import IntArray2d, Scalar, ScalarArray, Vec3Array, WarpArray, WarpStruct, vec2
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern


@dataclass(frozen=True, eq=False)
class Guides(JointSpring):
    """Guides of m rows, whose coordinates are the products y.b."""

    joints: JointCoordinates
    stiffness: Floats  # (m,) [N/m]
    name: str = "joints"

    kernels = joint_kernels(
        "guides",
        SPRING,
        {Psd.GAUSS_NEWTON: Curvature.DROPPED},
    )

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters, which are the same in every step."""
        return self.at_coordinates(stiffness=self.stiffness, holds=1, slip=1.0)

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m]."""
        return {"stiffness": self.stiffness}

    @property
    def structure(self) -> object:
        """Data besides the constants: the rows."""
        return self.joints


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

    kernels = joint_kernels(
        "motors",
        SpringLaw(MotorNumbers, motor_energy, motor_force, motor_stiffness),
        dict.fromkeys((Psd.PROJECTED, Psd.GAUSS_NEWTON), Curvature.DROPPED),
    )

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters in a step, which begins at the coordinates that it remembers."""
        return self._parameters(None if step is None else self.before(step), step)

    def _parameters(self, before: Floats | None, step: Step | None = None) -> WarpStruct:
        """Return the parameters, with angles within half a turn of ``before`` (m,) [rad]."""
        near = np.zeros(len(self.stencil)) if before is None else before
        rooted = near
        if step is not None and step.past is not None:
            x, part = step.past
            past = self.coordinates(x, self._parameters(near))[:, 0]
            rooted = near + part * (near - past)
        numbers = {**self.constants, "most": self.most}
        return self.at_coordinates(near, before=rooted, rate=damping_rate(step), **numbers)

    def before(self, step: Step) -> Floats:
        """Return the coordinates at the start of a step, (m,), angles with all their turns."""
        kept = step.memory.get(f"{self.name} at")
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

    def bind(self, pattern: BlockPattern) -> "MotorsTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return MotorsTerm(self, pattern)


class MotorsTerm(SteppedSpring):
    """Motors bound to a block pattern, in a step."""

    energy: Motors

    def check_derivatives(self, in_time: Sequence[object] = ()) -> None:
        """Raise an error for motors whose forces depend on the start of a step, by a rate.

        Raises:
            SceneError: a motor with damping or a speed.
        """
        if np.any(self.energy.damping_time) or np.any(self.energy.resistance):
            super().check_derivatives(in_time)

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


@wp.struct
class LimitNumbers:
    """Numbers of the limits of one coordinate."""

    low: Scalar  # infinite: none
    high: Scalar
    margin: Scalar
    stiffness: Scalar  # [J] K


@wp.func
def barrier(room: Scalar, p: LimitNumbers):
    """Return E of one limit."""
    z = room / p.margin
    if z <= Scalar(0.0):
        return Scalar(wp.inf)
    left = Scalar(1.0) - z
    return -p.stiffness * left * left * wp.log(z)


@wp.func
def barrier_force(room: Scalar, p: LimitNumbers):
    """Return dE/dy of one limit."""
    z = wp.max(room / p.margin, Scalar(1e-300))
    left = Scalar(1.0) - z
    return p.stiffness / p.margin * (Scalar(2.0) * left * wp.log(z) - left * left / z)


@wp.func
def barrier_stiffness(room: Scalar, p: LimitNumbers):
    """Return d2E/dy2 of one limit."""
    z = wp.max(room / p.margin, Scalar(1e-300))
    over = (Scalar(1.0) - z) / z
    curve = Scalar(-2.0) * wp.log(z) + Scalar(4.0) * over + over * over
    return p.stiffness / (p.margin * p.margin) * curve


@wp.func
def limit_energy(q: vec2, p: LimitNumbers):
    """Return the energy of both limits."""
    out = Scalar(0.0)
    if q[0] - p.low < p.margin:
        out += barrier(q[0] - p.low, p)
    if p.high - q[0] < p.margin:
        out += barrier(p.high - q[0], p)
    return vec2(out, Scalar(0.0))


@wp.func
def limit_force(q: vec2, p: LimitNumbers):
    """Return dE/dq."""
    out = Scalar(0.0)
    if q[0] - p.low < p.margin:
        out += barrier_force(q[0] - p.low, p)
    if p.high - q[0] < p.margin:
        out -= barrier_force(p.high - q[0], p)
    return vec2(out, Scalar(0.0))


@wp.func
def limit_stiffness(q: vec2, p: LimitNumbers):
    """Return d2E/dq2."""
    out = Scalar(0.0)
    if q[0] - p.low < p.margin:
        out += barrier_stiffness(q[0] - p.low, p)
    if p.high - q[0] < p.margin:
        out += barrier_stiffness(p.high - q[0], p)
    return vec2(out, Scalar(0.0))


@wp.kernel(module=wp.get_module("weft.springs.reach"))
def reach_of_limits(
    o: int,
    x: Vec3Array,
    d: Vec3Array,
    stencil: IntArray2d,
    joints: Joints,
    law: wp.array(dtype=LimitNumbers),
    out: ScalarArray,
):
    """Compute the part of the way d from x at which each coordinate meets its first limit."""
    i = o + wp.tid()
    low = reach_of_limit(i, law[i].low, x, d, stencil, joints)
    high = reach_of_limit(i, law[i].high, x, d, stencil, joints)
    out[i] = wp.min(low, high)


@dataclass(frozen=True, eq=False)
class JointLimits(JointSpring):
    """Limits of m coordinates.

    Args:
        joints: the coordinates.
        low, high: (m,) limits; infinite: none.
        margin: (m,) room below which each is pushed back.
        stiffness: (m,) [J] K.
    """

    joints: JointCoordinates
    low: Floats
    high: Floats
    margin: Floats
    stiffness: Floats
    name: str = "stops"

    kernels = joint_kernels(
        "limits",
        SpringLaw(LimitNumbers, limit_energy, limit_force, limit_stiffness),
        dict.fromkeys((Psd.PROJECTED, Psd.GAUSS_NEWTON), Curvature.DROPPED),
    )

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters, which are the same in every step."""
        names = ("low", "high", "margin", "stiffness")
        return self.at_coordinates(**{name: getattr(self, name) for name in names})

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness, margins, and limits that are finite."""
        low, high = (np.where(np.isfinite(a), a, 0.0) for a in (self.low, self.high))
        return {"stiffness": self.stiffness, "margin": self.margin, "low": low, "high": high}

    @property
    def structure(self) -> object:
        """Data besides the constants: the coordinates, and which of them have limits."""
        return self.joints, np.isfinite(self.low), np.isfinite(self.high)

    def bind(self, pattern: BlockPattern) -> "JointLimitsTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return JointLimitsTerm(self, pattern)


class JointLimitsTerm(StepLimit, SpringTerm):
    """Joint limits bound to a block pattern: they bound steps."""

    settled_part = 0.5

    def reaches(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return the multiple of d at which the limit of every coordinate is met, or infinity."""
        out, m = self.scratch.take(self.shape[0]), self.shape[0]
        stencil = self.energy.device_stencil
        p = self.parameters
        kernel.launch(reach_of_limits, m, x, d, stencil, p.joints, p.law, out)
        return out

    def carry(self, goal: Positions, step: Step) -> Positions | None:
        """Return ``goal``, but move bodies that would pass a limit only as far as it allows."""
        x, goal = np.asarray(step.state.x), np.array(goal)
        part = self.max_step(kernel.points(np.array(x)), kernel.points(goal - x))
        if part < 1.0:
            ids = np.unique(self.energy.stencil)
            goal[ids] = x[ids] + part * (goal[ids] - x[ids])
        return goal
