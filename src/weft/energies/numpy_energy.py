"""Energies without kernels: local arrays in NumPy, copied to the device and back.

This is for research: a law or force in a few lines, at ten to a hundred times the cost.
"""

import warnings

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.base.errors import LawError
from weft.energies.derivative import DifferentiableTerm
from weft.energies.energy import Energy
from weft.energies.gather import FULL, GatherMap
from weft.kernel import WarpArray, mat33, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


class NumpyEnergy(DifferentiableTerm):
    """An energy that is evaluated by its NumPy methods.

    If the energy raises ``NotImplementedError`` for PROJECTED or GAUSS_NEWTON, the eigenvalues of
    its exact local Hessians are clamped instead.
    """

    energy: Energy

    def __init__(self, energy: Energy, pattern: BlockPattern, *, quiet: bool = False) -> None:
        # quiet: no warning, because the energy has few elements and NumPy is fast enough
        self.energy, self.name = energy, energy.name
        stencil = np.ascontiguousarray(energy.stencil, dtype=np.int32)
        self.shape = stencil.shape
        self.rows = GatherMap.of(stencil, pattern)
        if not quiet:
            warnings.warn(
                f"energy {energy.name!r} has no kernels and runs in NumPy: slow "
                "(docs/guides/extend-laws.md)",
                stacklevel=2,
            )

    def update_constants(self, energy: Energy) -> None:
        """Take the constants of another energy."""
        self.energy = energy

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        return float(np.sum(self.energy.value(self._host(x))))

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        local = self._check_shape("gradient", self.energy.gradient(self._host(x)), (3,))
        self.rows.add_gradient(kernel.array(local, vec3), g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add d2E/dx2 to A and return A."""
        k = self.shape[1]
        local = self._check_shape("hessian", self._hessian(self._host(x), psd), (k, 3, 3))
        self.rows.add_rows(FULL, kernel.array(local, mat33), A)
        return A

    def _hessian(self, x: Floats, psd: Psd) -> Floats:
        """Return the local Hessians, clamped here if the energy does not know the mode."""
        try:
            return self.energy.hessian(x, psd)
        except NotImplementedError:
            exact, (m, k) = self.energy.hessian(x, Psd.EXACT), self.shape
        full = np.moveaxis(exact, 2, 3).reshape(m, 3 * k, 3 * k)
        values, vectors = np.linalg.eigh((full + np.swapaxes(full, 1, 2)) / 2)
        clamped = np.einsum("mij,mj,mkj->mik", vectors, np.maximum(values, 0), vectors)
        return np.moveaxis(clamped.reshape(m, k, 3, k, 3), 2, 3)

    def _host(self, x: WarpArray) -> Floats:
        return np.array(kernel.numpy(x))

    def _check_shape(self, what: str, local: Floats, rest: tuple[int, ...]) -> Floats:
        """Return a local array; raise a LawError if its shape is wrong."""
        local, wanted = np.asarray(local, dtype=np.float64), (*self.shape, *rest)
        if local.shape != wanted:
            raise LawError(f"{self.name}.{what}", got=local.shape, expected=f"shape {wanted}")
        return local
