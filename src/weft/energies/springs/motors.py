"""Motors of joints: springs to a target or drives with a speed, with a largest torque.

A spring with damping has the torque k (q - q*) + k b dq/dt, a motor with a speed c (dq/dt - w).
With the rate of the step, (q - q_r)/span, both are linear in q: K (q - a). So, with e = q - a and
the largest torque (or force) M, the energy of a step is

    E = K e^2/2 where K |e| <= M, else M |e| - M^2/(2K)

and its derivative is the torque, cut off at M. Angles count whole turns, which are kept from step
to step.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.springs.joint_coordinates import Coordinates
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern


@dataclass(frozen=True, eq=False)
class Motors:
    """Motors of m coordinates; local arrays are those without motion.

    Args:
        joints: the coordinates.
        target: (m,) [rad] or [m] of springs.
        stiffness: (m,) [N m/rad] or [N/m]; 0 of motors with a speed.
        damping: (m,) [s] over the stiffness.
        speed: (m,) [rad/s] or [m/s].
        resistance: (m,) [N m s/rad] or [N s/m]; 0 of springs.
        most: (m,) [N m] or [N] largest torque or force; infinite: no bound.
        names: of each, in metrics.
    """

    joints: Coordinates
    target: Floats
    stiffness: Floats
    damping: Floats
    speed: Floats
    resistance: Floats
    most: Floats
    names: Sequence[str]
    name: str = "motors"

    @property
    def stencil(self) -> Ints:
        """Points of each coordinate, (m,k)."""
        return self.joints.stencil

    def torque(self, x: Positions) -> Floats:
        """Return dE/dq, (m,) [N m] or [N], cut off at the largest torque.

        It is positive if the coordinate is above its target, where the motor turns it back.
        """
        pull = self.stiffness * (self.joints.value(x) - self.target)
        return np.asarray(np.clip(pull, -self.most, self.most))

    def value(self, x: Positions) -> Floats:
        """Return the energies, (m,) [J]."""
        e = np.abs(self.joints.value(x) - self.target)
        K, M = self.stiffness, self.most
        cut = K * e > M
        M = np.where(cut, M, 0.0)
        return np.asarray(np.where(cut, M * e - M * M / (2 * np.maximum(K, 1e-300)), K * e * e / 2))

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,k,3) [N]."""
        return np.asarray(self.torque(x)[:, None, None] * self.joints.slope(x))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,k,k,3,3) [N/m].

        All modes but EXACT leave out the second derivative of the coordinate.
        """
        pull, slope, wide = self.torque(x), self.joints.slope(x), (slice(None), *[None] * 4)
        K = np.where(np.abs(pull) < self.most, self.stiffness, 0.0)
        blocks = K[wide] * np.einsum("mai,mbj->mabij", slope, slope)
        if psd is Psd.EXACT:
            blocks = blocks + pull[wide] * self.joints.curvature(x)
        return np.asarray(blocks)

    def at_end(self, step: Step, before: Floats) -> "Motors":
        """Return the motors of a step that begins at coordinates ``before`` (m,).

        Spring, damping and speed are combined into one stiffness and one target.
        """
        joints = replace(self.joints, near=before)
        if not np.isfinite(step.span):
            return replace(self, joints=joints)
        rooted = _rooted(joints, step, before)
        slow = self.stiffness * self.damping / step.span
        drag = self.resistance / step.span
        K = self.stiffness + slow + drag
        moved = self.stiffness * self.target + slow * rooted
        moved = moved + drag * (rooted + step.span * self.speed)
        aim = moved / np.maximum(K, 1e-300)
        return replace(self, joints=joints, target=aim, stiffness=K)

    @property
    def constants(self) -> ByName:
        """Constants by name: targets, gains and speeds, and largest torques that are finite."""
        names = ("target", "stiffness", "damping", "speed", "resistance")
        most = np.where(np.isfinite(self.most), self.most, 0.0)
        return {**{name: getattr(self, name) for name in names}, "most": most}

    @property
    def structure(self) -> Any:
        """Data besides the constants: the coordinates, and which motors have a largest torque."""
        return self.joints, np.isfinite(self.most), self.names

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (m,k,3); without a step those of springs only."""
        joints, rate = self.joints, np.zeros(len(self.stencil))
        ends = step is not None and np.isfinite(step.span)
        pull = self.stiffness * (joints.value(x) - self.target)
        if step is not None:
            before = self.before(step)
            joints = replace(joints, near=before)
            pull = self.stiffness * (joints.value(x) - self.target)
            if ends:
                rate = (joints.value(x) - _rooted(joints, step, before)) / step.span
                pull += self.stiffness * self.damping * rate + self.resistance * (rate - self.speed)
        free = np.abs(pull) <= self.most
        drags = free & ends
        by = {
            "target": np.where(free, -self.stiffness, 0.0),
            "stiffness": np.where(free, joints.value(x) - self.target + self.damping * rate, 0.0),
            "damping": np.where(drags, self.stiffness * rate, 0.0),
            "speed": np.where(drags, -self.resistance, 0.0),
            "resistance": np.where(drags, rate - self.speed, 0.0),
            "most": np.where(free, 0.0, np.sign(pull)),
        }
        slope = joints.slope(x)
        return {name: d[:, None, None] * slope for name, d in by.items()}

    def before(self, step: Step) -> Floats:
        """Return the coordinates at the start of a step, (m,), angles with all their turns."""
        kept = step.kept.get(f"{self.name} at")
        x = np.asarray(step.state.x)
        return self.joints.value(x) if kept is None else np.asarray(kept)

    def bind(self, pattern: BlockPattern) -> "BoundMotors":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return BoundMotors(self, pattern)


def _rooted(joints: Coordinates, step: Step, before: Floats) -> Floats:
    """Return the coordinates q_r from which the rate of a step is measured, (m,)."""
    if step.past is None:
        return before
    x, part = step.past
    return np.asarray(before + part * (before - joints.value(np.asarray(x))))


class BoundMotors(NumpyEnergy):
    """Motors bound to a block pattern, in a step."""

    energy: Motors

    def __init__(self, energy: Motors, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern, quiet=True)
        self.asked = energy

    def update_constants(self, energy: Motors) -> None:
        """Take targets and gains of other motors."""
        self.asked = energy

    def freeze(self, step: Step) -> None:
        """Take the coordinates at the start of the step."""
        self.energy = self.asked.at_end(step, self.asked.before(step))

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the coordinates, angles with all their turns."""
        return {f"{self.energy.name} at": self.energy.joints.value(self._host(x))}

    def forces(self, x: WarpArray) -> Mapping[str, Any]:
        """Return coordinate and torque (or force) of each motor, by its name."""
        y = self._host(x)
        places, pulls = self.energy.joints.value(y), -self.energy.torque(y)
        said = ("angle", "torque") if self.energy.joints.second is not None else ("place", "force")
        return {
            name: {said[0]: float(q), said[1]: float(f)}
            for name, q, f in zip(self.energy.names, places, pulls)
        }
