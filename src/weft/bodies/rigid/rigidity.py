"""The energy that keeps affine bodies rigid.

For every body, with A = sum_a p_a g_a^T,

    E = Y V/8 |A^T A - I|^2.

This is the orthogonality potential of Lan et al. 2022, with the constant of a Saint
Venant-Kirchhoff solid of Young's modulus Y, Poisson's ratio 0 and volume V. It is computed with
NumPy, because there are few bodies.
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
class Rigidity:
    """The rigidity energy of bodies whose four points are the rows of ``stencil``."""

    stencil: Ints  # (k,4) indices of the points of each body
    gradients: Floats  # (k,4,3) [1/m] g_a
    stiffness: Floats  # (k,) [J] Y V
    name: str = "rigidity"

    def _frames(self, x: Positions) -> tuple[Floats, Floats]:
        """Return A (k,3,3), and A^T A - I (k,3,3)."""
        A = np.einsum("kai,kaj->kij", x[self.stencil], self.gradients)
        return A, np.einsum("kli,klj->kij", A, A) - np.eye(3)

    def value(self, x: Positions) -> Floats:
        """Return the energy (k,) [J] of each body."""
        _, C = self._frames(x)
        return np.asarray(self.stiffness / 8 * (C * C).sum((1, 2)))

    def gradient(self, x: Positions) -> Floats:
        """Return the gradient (k,4,3) [N]: Y V/2 A (A^T A - I) g_a."""
        A, C = self._frames(x)
        stress = np.einsum("k,kil,klj->kij", self.stiffness / 2, A, C)
        return np.asarray(np.einsum("kij,kaj->kai", stress, self.gradients))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the Hessian (k,4,4,3,3) [N/m].

        It is Y V/2 [(g_a.C g_b) I + (A g_b)(A g_a)^T + (g_a.g_b) A A^T] with C = A^T A - I.

        Raises:
            NotImplementedError: a positive semidefinite Hessian is requested.
        """
        if psd is not Psd.EXACT:
            raise NotImplementedError
        (A, C), g = self._frames(x), self.gradients
        Ag = np.einsum("kij,kaj->kai", A, g)
        turn = np.einsum("kai,kij,kbj->kab", g, C, g)
        blocks = np.einsum("kab,ij->kabij", turn, np.eye(3))
        blocks = blocks + np.einsum("kbi,kaj->kabij", Ag, Ag)
        inner, AAt = np.einsum("kai,kbi->kab", g, g), np.einsum("kil,kjl->kij", A, A)
        blocks = blocks + np.einsum("kab,kij->kabij", inner, AAt)
        return np.asarray(self.stiffness[:, None, None, None, None] / 2 * blocks)

    @property
    def constants(self) -> ByName:
        """The stiffness [J], by name."""
        return {"stiffness": self.stiffness}

    @property
    def structure(self) -> Any:
        """The data that defines the energy besides its constants: points and gradients."""
        return self.stencil, self.gradients

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return the derivative of the gradient by ``stiffness``, (k,4,3)."""
        return {"stiffness": replace(self, stiffness=np.ones(len(self.stiffness))).gradient(x)}

    def bind(self, pattern: BlockPattern) -> NumpyEnergy:
        """Return the energy bound to a sparsity pattern, for use in the minimization."""
        return NumpyEnergy(self, pattern, quiet=True)
