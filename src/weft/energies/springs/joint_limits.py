"""Joint limits (stops): joints that do not go past their limits, by a barrier in the coordinate.

With the room y from a coordinate to its limit, below the margin m,

    E = -K (1 - z)^2 ln z,   z = y/m

as contact's barrier has it (Li et al. 2020): C2, zero beyond the margin, infinite at the limit,
which no step passes (``max_step``). A joint that presses against a stop rests within the margin. K
is the work that a stop takes up before its room is down to about a quarter of the margin.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.springs.joint_coordinates import Coordinates
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern

PART = 0.9  # largest part of the way to the nearest limit that a step may go
SETTLED = 0.5  # largest part of that way that the last increment of a search may go


@dataclass(frozen=True, eq=False)
class JointLimits:
    """Limits of m coordinates.

    Args:
        joints: the coordinates.
        low, high: (m,) limits; infinite: none.
        margin: (m,) room below which each is pushed back.
        firm: (m,) [J] K.
    """

    joints: Coordinates
    low: Floats
    high: Floats
    margin: Floats
    firm: Floats
    name: str = "stops"

    @property
    def stencil(self) -> Ints:
        """Points of each coordinate, (m,k)."""
        return self.joints.stencil

    def value(self, x: Positions) -> Floats:
        """Return the energies, (m,) [J]; infinite beyond a limit."""
        q, out = self.joints.value(x), np.zeros(len(self.stencil))
        for room in (q - self.low, self.high - q):
            z = np.minimum(room / self.margin, 1.0)
            inside = z > 0
            z = np.where(inside, z, 1.0)
            out += np.where(inside, -self.firm * (1 - z) ** 2 * np.log(z), np.inf)
        return out

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,k,3) [N]."""
        push, _ = self._pushes(x)
        return np.asarray(push[:, None, None] * self.joints.slope(x))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,k,k,3,3) [N/m].

        All modes but EXACT leave out the second derivative of the coordinate.
        """
        push, stiff = self._pushes(x)
        slope, wide = self.joints.slope(x), (slice(None), *[None] * 4)
        blocks = stiff[wide] * np.einsum("mai,mbj->mabij", slope, slope)
        if psd is Psd.EXACT:
            blocks = blocks + push[wide] * self.joints.curvature(x)
        return np.asarray(blocks)

    @property
    def constants(self) -> ByName:
        """Constants by name: firmness, margins, and limits that are finite."""
        low, high = (np.where(np.isfinite(a), a, 0.0) for a in (self.low, self.high))
        return {"firm": self.firm, "margin": self.margin, "low": low, "high": high}

    @property
    def structure(self) -> Any:
        """Data besides the constants: the coordinates, and which of them have limits."""
        return self.joints, np.isfinite(self.low), np.isfinite(self.high)

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (m,k,3)."""
        q, m = self.joints.value(x), self.margin
        by = {name: np.zeros(len(q)) for name in ("firm", "margin", "low", "high")}
        for name, sign, room in (("low", 1.0, q - self.low), ("high", -1.0, self.high - q)):
            z, first, second = _slopes(room / m)
            by["firm"] += sign / m * first
            by["margin"] -= sign * self.firm / m**2 * (first + z * second)
            by[name] = -self.firm / m**2 * second
        slope = self.joints.slope(x)
        return {name: d[:, None, None] * slope for name, d in by.items()}

    def _pushes(self, x: Positions) -> tuple[Floats, Floats]:
        """Return dE/dq and d2E/dq2, (m,) each."""
        q = self.joints.value(x)
        push, stiff = np.zeros(len(q)), np.zeros(len(q))
        for sign, room in ((1.0, q - self.low), (-1.0, self.high - q)):
            _, first, second = _slopes(room / self.margin)
            push += sign * self.firm / self.margin * first
            stiff += self.firm / self.margin**2 * second
        return push, stiff

    def reach(self, x: Positions, way: Floats) -> float:
        """Return the part of the way (n,3) from x at which the first limit is met, or infinity."""
        parts = [self.joints.reach(x, way, limit) for limit in (self.low, self.high)]
        return float(np.min(parts))

    def bind(self, pattern: BlockPattern) -> "BoundJointLimits":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return BoundJointLimits(self, pattern, quiet=True)


def _slopes(z: Floats) -> tuple[Floats, Floats, Floats]:
    """Return z, at most 1, and the first and second derivative of -(1 - z)^2 ln z."""
    z = np.clip(z, 1e-300, 1.0)
    first = 2 * (1 - z) * np.log(z) - (1 - z) ** 2 / z
    return z, first, -2 * np.log(z) + 4 * (1 - z) / z + ((1 - z) / z) ** 2


class BoundJointLimits(NumpyEnergy):
    """Joint limits bound to a block pattern: they bound steps."""

    energy: JointLimits
    limits = True

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return nine tenths of the way to the nearest limit, and at most 1."""
        return min(1.0, PART * self.energy.reach(self._host(x), self._host(d)))

    def settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d goes at most half of the way to the nearest limit."""
        return SETTLED * self.energy.reach(self._host(x), self._host(d)) >= 1.0

    def carried(self, x: Positions, goal: Positions, step: Step) -> Positions | None:
        """Return ``goal``, but move bodies that would pass a limit only as far as it allows."""
        x, goal = np.asarray(x), np.array(goal)
        part = self.max_step(kernel.points(np.array(x)), kernel.points(goal - x))
        if part < 1.0:
            ids = np.unique(self.energy.stencil)
            goal[ids] = x[ids] + part * (goal[ids] - x[ids])
        return goal
