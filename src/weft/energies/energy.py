"""Energies as sums of local energies in NumPy: what tests and research see of a term."""

from typing import Protocol, runtime_checkable

from weft.base.arrays import Floats, Ints, Positions
from weft.energies.term import Term
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern


@runtime_checkable
class Energy(Protocol):
    """A sum of m local energies, each over k vertices."""

    @property
    def name(self) -> str:
        """Name in metrics and in ``potential.terms``."""

    @property
    def stencil(self) -> Ints:
        """Vertices of each local energy, (m,k); k = 1 adds no block off the diagonal."""

    def value(self, x: Positions) -> Floats:
        """Return the local energies, (m,) [J], at positions x (n,3) [m]."""

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,k,3) [N]."""

    def hessian(self, x: Positions, psd: Psd) -> Floats:
        """Return the local Hessians, (m,k,k,3,3) [N/m], with blocks [e,a,b] of vertices a, b."""


@runtime_checkable
class FastEnergy(Energy, Protocol):
    """An energy with kernels. An energy without them is run in NumPy (``numpy_energy``)."""

    def bind(self, pattern: BlockPattern) -> Term:
        """Return the term for simulations, on a pattern that has this energy's blocks."""
