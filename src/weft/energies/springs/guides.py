"""Guides: springs that keep a place of one body on an axis of another, which turns with that body.

E = 1/2 k (y.b)^2 of every row: y = sum_a w_a x_a is the deviation of the place from its reference
place, and b = sum_a u_a x_a a direction of the guiding body, across the axis; two rows make a
slider. With g = y.b, dg/dx_a = w_a b + u_a y, and the Hessian is k [dg dg^T + g (w_a u_b + u_a w_b)
I]. The weights of both sums add up to zero: rigid motions of both bodies cost no energy.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.step import Step
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern


@dataclass(frozen=True, eq=False)
class Guides:
    """Rows of eight points each: four of the guided body, and four of the other."""

    stencil: Ints  # (m,8)
    weight: Floats  # (m,8) w, which sum to zero
    across: Floats  # (m,8) [1/m] u, which sum to zero
    stiffness: Floats  # (m,) [N/m]
    name: str = "joints"

    def _measured(self, x: Positions) -> tuple[Floats, Floats, Floats]:
        """Return y (m,3) [m], b (m,3) and g (m,) [m]."""
        points = x[self.stencil]
        y = np.einsum("ma,mai->mi", self.weight, points)
        b = np.einsum("ma,mai->mi", self.across, points)
        return y, b, np.einsum("mi,mi->m", y, b)

    def value(self, x: Positions) -> Floats:
        """Return the energies, (m,) [J]."""
        _, _, g = self._measured(x)
        return np.asarray(0.5 * self.stiffness * g * g)

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,8,3) [N]."""
        _, _, g = self._measured(x)
        return np.asarray((self.stiffness * g)[:, None, None] * self._slope(x))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,8,8,3,3) [N/m]; GAUSS_NEWTON leaves out d2g."""
        if psd is Psd.PROJECTED:
            raise NotImplementedError
        k, slope = self.stiffness, self._slope(x)
        blocks = np.einsum("m,mai,mbj->mabij", k, slope, slope)
        if psd is Psd.EXACT:
            _, _, g = self._measured(x)
            both = np.einsum("ma,mb->mab", self.weight, self.across)
            both = both + np.swapaxes(both, 1, 2)
            blocks = blocks + np.einsum("m,mab,ij->mabij", k * g, both, np.eye(3))
        return np.asarray(blocks)

    def _slope(self, x: Positions) -> Floats:
        """Return dg/dx_a, (m,8,3)."""
        y, b, _ = self._measured(x)
        return self.weight[:, :, None] * b[:, None] + self.across[:, :, None] * y[:, None]

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m]."""
        return {"stiffness": self.stiffness}

    @property
    def structure(self) -> Any:
        """Data besides the constants: the rows."""
        return self.stencil, self.weight, self.across

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by ``stiffness``, (m,8,3)."""
        return {"stiffness": replace(self, stiffness=np.ones(len(self.stiffness))).gradient(x)}

    def bind(self, pattern: BlockPattern) -> NumpyEnergy:
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return NumpyEnergy(self, pattern, quiet=True)
