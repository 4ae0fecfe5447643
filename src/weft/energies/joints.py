"""Springs between combinations of points and places in the world: joints.

E = 1/2 (y - c).K (y - c) of every row, y = sum_a w_a x_a. K is a stiffness in all directions, or in
those that a joint holds. The Hessian w_a w_b K is constant.
"""

from dataclasses import dataclass

import numpy as np

from weft.arrays import Floats, Ints, Positions
from weft.energies.on_host import OnHost
from weft.psd import Psd
from weft.solve.block_csr import BlockPattern


@dataclass(frozen=True, eq=False)
class Joints:
    """Rows of four points each."""

    stencil: Ints  # (m,4)
    weight: Floats  # (m,4)
    place: Floats  # (m,3) [m] c
    stiffness: Floats  # (m,3,3) [N/m] K, positive semidefinite
    name: str = "joints"

    def _off(self, x: Positions) -> Floats:
        """(m,3) [m] y - c."""
        return np.asarray(np.einsum("ma,mai->mi", self.weight, x[self.stencil]) - self.place)

    def value(self, x: Positions) -> Floats:
        """(m,) [J]."""
        off = self._off(x)
        return np.asarray(0.5 * np.einsum("mi,mij,mj->m", off, self.stiffness, off))

    def gradient(self, x: Positions) -> Floats:
        """(m,4,3) [N]."""
        pull = np.einsum("mij,mj->mi", self.stiffness, self._off(x))
        return np.asarray(np.einsum("ma,mi->mai", self.weight, pull))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(m,4,4,3,3) [N/m]; the same for every x and psd."""
        w = self.weight
        return np.asarray(np.einsum("ma,mb,mij->mabij", w, w, self.stiffness))

    def bind(self, pattern: BlockPattern) -> OnHost:
        """The production face."""
        return OnHost(self, pattern, quiet=True)
