"""Base classes of energies that vanish without a step, and of those of the masses of points."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName
from weft.energies.rest_mesh import RestMesh
from weft.solve.newton.psd import Psd


class StepEnergy:
    """An energy of a step: its local arrays, without one, are zeros."""

    @property
    def stencil(self) -> Ints:
        """Vertices of each local energy, (m,k)."""
        raise NotImplementedError

    def value(self, x: Positions) -> Floats:
        """Return zeros (m,)."""
        return np.zeros(len(self.stencil))

    def gradient(self, x: Positions) -> Floats:
        """Return zeros (m,k,3)."""
        return np.zeros((*self.stencil.shape, 3))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return zeros (m,k,k,3,3)."""
        m, k = self.stencil.shape
        return np.zeros((m, k, k, 3, 3))


class MassEnergy(StepEnergy):
    """An energy of points that have masses (n,) [kg]."""

    mass: Floats
    rest_tables: ClassVar[Sequence[str]] = ("mass",)

    @property
    def stencil(self) -> Ints:
        """The vertex of each local energy, (n,1)."""
        return np.arange(len(self.mass), dtype=np.int32)[:, None]

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by the masses.

        A vertex has a third of the mass of its faces.
        """
        return rest.by_vertex_areas(by["mass"], rest.density / 3)
