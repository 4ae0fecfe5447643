"""Guides: a place of one body does not leave an axis of another, which turns with this.

E = 1/2 k (y.b)^2 of every row: y = sum_a w_a x_a is how far the place is from where it would be,
and b = sum_a u_a x_a a direction of the body that guides it, across the axis; two rows make a
slider. With g = y.b, dg/dx_a = w_a b + u_a y, and the Hessian is k [dg dg^T + g (w_a u_b + u_a w_b)
I]. Both sums leave out what all points have in common: rigid motions of both bodies cost nothing.
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
    """Rows of eight points each: of the body that is guided, and of the other."""

    stencil: Ints  # (m,8)
    weight: Floats  # (m,8) w, which sum to zero
    across: Floats  # (m,8) [1/m] u, which sum to zero
    stiffness: Floats  # (m,) [N/m]
    name: str = "joints"

    def _measured(self, x: Positions) -> tuple[Floats, Floats, Floats]:
        """y (m,3) [m], b (m,3) and g (m,) [m]."""
        points = x[self.stencil]
        y = np.einsum("ma,mai->mi", self.weight, points)
        b = np.einsum("ma,mai->mi", self.across, points)
        return y, b, np.einsum("mi,mi->m", y, b)

    def value(self, x: Positions) -> Floats:
        """(m,) [J]."""
        _, _, g = self._measured(x)
        return np.asarray(0.5 * self.stiffness * g * g)

    def gradient(self, x: Positions) -> Floats:
        """(m,8,3) [N]."""
        _, _, g = self._measured(x)
        return np.asarray((self.stiffness * g)[:, None, None] * self._slope(x))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(m,8,8,3,3) [N/m]; GAUSS_NEWTON leaves out the second derivative of g."""
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
        """(m,8,3) dg."""
        y, b, _ = self._measured(x)
        return self.weight[:, :, None] * b[:, None] + self.across[:, :, None] * y[:, None]

    @property
    def constants(self) -> ByName:
        """Stiffness [N/m]."""
        return {"stiffness": self.stiffness}

    @property
    def structure(self) -> Any:
        """The rows."""
        return self.stencil, self.weight, self.across

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """By ``stiffness``, (m,8,3)."""
        return {"stiffness": replace(self, stiffness=np.ones(len(self.stiffness))).gradient(x)}

    def bind(self, pattern: BlockPattern) -> NumpyEnergy:
        """The production face."""
        return NumpyEnergy(self, pattern, quiet=True)
