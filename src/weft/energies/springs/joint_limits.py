"""Joint limits (stops): joints that do not go past their limits, by a barrier in the coordinate.

With the room y from a coordinate to its limit, below the margin m,

    E = -K (1 - z)^2 ln z,   z = y/m

as contact's barrier has it (Li et al. 2020): C2, zero beyond the margin, infinite at the limit,
which no step passes (``max_step``). A joint that presses against a stop rests within the margin. K
is the work that a stop takes up before its room is down to about a quarter of the margin.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.energies.by_constants import ByName
from weft.energies.springs.joint_coordinates import (
    JOINT_COORDINATES,
    JointCoordinates,
    Joints,
    JointSpring,
    reach_of_limit,
)
from weft.energies.springs.spring import BoundSpring, Curvature, SpringLaw, spring_kernels
from weft.energies.step import Step
from weft.energies.step_limit import StepLimit
from weft.kernel import IntArray2d, Scalar, ScalarArray, Vec3Array, WarpArray, WarpStruct, vec2
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern


@wp.struct
class LimitNumbers:
    """Numbers of the limits of one coordinate."""

    low: Scalar  # infinite: none
    high: Scalar
    margin: Scalar
    firm: Scalar  # [J] K


@wp.func
def barrier(room: Scalar, p: LimitNumbers):
    """Return E of one limit."""
    z = room / p.margin
    if z <= Scalar(0.0):
        return Scalar(wp.inf)
    left = Scalar(1.0) - z
    return -p.firm * left * left * wp.log(z)


@wp.func
def barrier_force(room: Scalar, p: LimitNumbers):
    """Return dE/dy of one limit."""
    z = wp.max(room / p.margin, Scalar(1e-300))
    left = Scalar(1.0) - z
    return p.firm / p.margin * (Scalar(2.0) * left * wp.log(z) - left * left / z)


@wp.func
def barrier_stiffness(room: Scalar, p: LimitNumbers):
    """Return d2E/dy2 of one limit."""
    z = wp.max(room / p.margin, Scalar(1e-300))
    over = (Scalar(1.0) - z) / z
    curve = Scalar(-2.0) * wp.log(z) + Scalar(4.0) * over + over * over
    return p.firm / (p.margin * p.margin) * curve


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


@wp.struct
class LimitElements:
    """Parameters of all limits."""

    joints: Joints
    law: wp.array(dtype=LimitNumbers)


@wp.kernel(module=wp.get_module("weft.springs.reach"))
def reach_of_limits(
    o: int, x: Vec3Array, d: Vec3Array, stencil: IntArray2d, p: LimitElements, out: ScalarArray
):
    """Compute the part of the way d from x at which each coordinate meets its first limit."""
    i = o + wp.tid()
    low = reach_of_limit(i, p.law[i].low, x, d, stencil, p.joints)
    high = reach_of_limit(i, p.law[i].high, x, d, stencil, p.joints)
    out[i] = wp.min(low, high)


@dataclass(frozen=True, eq=False)
class JointLimits(JointSpring):
    """Limits of m coordinates.

    Args:
        joints: the coordinates.
        low, high: (m,) limits; infinite: none.
        margin: (m,) room below which each is pushed back.
        firm: (m,) [J] K.
    """

    joints: JointCoordinates
    low: Floats
    high: Floats
    margin: Floats
    firm: Floats
    name: str = "stops"

    kernels = spring_kernels(
        "limits",
        LimitElements,
        JOINT_COORDINATES,
        SpringLaw(LimitNumbers, limit_energy, limit_force, limit_stiffness),
        dict.fromkeys((Psd.PROJECTED, Psd.GAUSS_NEWTON), Curvature.DROPPED),
    )

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters, which are the same in every step."""
        p = LimitElements()
        p.joints = self.joints.on_device()
        p.law = self.records(low=self.low, high=self.high, margin=self.margin, firm=self.firm)
        return p

    @property
    def constants(self) -> ByName:
        """Constants by name: firmness, margins, and limits that are finite."""
        low, high = (np.where(np.isfinite(a), a, 0.0) for a in (self.low, self.high))
        return {"firm": self.firm, "margin": self.margin, "low": low, "high": high}

    @property
    def structure(self) -> object:
        """Data besides the constants: the coordinates, and which of them have limits."""
        return self.joints, np.isfinite(self.low), np.isfinite(self.high)

    def bind(self, pattern: BlockPattern) -> "BoundJointLimits":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return BoundJointLimits(self, pattern)


class BoundJointLimits(StepLimit, BoundSpring):
    """Joint limits bound to a block pattern: they bound steps."""

    settled_part = 0.5

    def reaches(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return the multiple of d at which the limit of every coordinate is met, or infinity."""
        out, m = self.scratch.take(self.shape[0]), self.shape[0]
        stencil = self.energy.device_stencil
        kernel.launch(reach_of_limits, m, x, d, stencil, self.parameters, out)
        return out

    def carry(self, goal: Positions, step: Step) -> Positions | None:
        """Return ``goal``, but move bodies that would pass a limit only as far as it allows."""
        x, goal = np.asarray(step.state.x), np.array(goal)
        part = self.max_step(kernel.points(np.array(x)), kernel.points(goal - x))
        if part < 1.0:
            ids = np.unique(self.energy.stencil)
            goal[ids] = x[ids] + part * (goal[ids] - x[ids])
        return goal
