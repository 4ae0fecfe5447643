"""Derivatives by the rest shape of cloth, from derivatives by the tables of energies.

Energies depend on the rest shape by tables: weights, slopes of shape functions, coefficients,
masses. A term gives the derivatives of s = by . dE/dx by its tables (``Bound.by_tables``); after
all steps its energy hands their sums to a ``RestShape`` (``pull_back_tables``), which knows how the
tables follow from material coordinates. A kind of cloth that has no such tables leaves a method
out; then the energy has no derivative by the rest shape there.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from weft.base.arrays import Floats, Ints
from weft.discretization.samples import Samples
from weft.energies.by_constants import ByName

if TYPE_CHECKING:
    from weft.energies.elastic.hinge_weights import HingeGeometry

Tables = Callable[[Floats], Sequence[Floats]]


class RestShape:
    """Derivatives by the rest shape, added up table by table."""

    def add_masses(self, by: Floats) -> None:
        """Add derivatives by the masses of the first points, (m,)."""
        raise NotImplementedError

    def add_relative_areas(self, ids: Ints, by: Floats) -> None:
        """Add derivatives (m,) by the relative change of the areas around vertices (m,)."""
        raise NotImplementedError

    def add_samples(self, samples: Samples, by: ByName) -> None:
        """Add derivatives by samples of a surface.

        Args:
            samples: the samples.
            by: ``gradient`` (q,k,2) by slopes dN/dX, ``weight`` (q,) by areas, and if there are
                any ``shares`` (q,k) by values N.
        """
        raise NotImplementedError

    def add_contact(self, by_total_mass: float, by_positions: Floats) -> None:
        """Add derivatives by the mass of all cloth, and by flat positions of vertices (n,3)."""
        raise NotImplementedError

    def add_hinge_weights(
        self, hinges: Ints, by: Floats, rigidity: Callable[[Floats], Floats] | None = None
    ) -> None:
        """Add derivatives by the weights of hinges inside the mesh (``hinge_weights``).

        Args:
            hinges: (h,4) vertices.
            by: (h,) derivatives by the weights.
            rigidity: returns numbers (warp, weft) of weights from the rigidity of a fabric; None:
                the rigidity itself.
        """
        raise NotImplementedError

    def add_seam_weights(self, across: "HingeGeometry", by: Floats) -> None:
        """Add derivatives by the weights (h,) of hinges that know their geometry."""
        raise NotImplementedError

    def add_hinge_tables(self, hinges: Ints, made: Tables, by: Sequence[Floats]) -> None:
        """Add derivatives by tables that hinges make of the corners of their two faces.

        Args:
            hinges: (h,4) vertices.
            made: returns the tables for material corners (h,2,3,2) of edge start, end and tip.
            by: derivatives by each table.
        """
        raise NotImplementedError

    def hinge_corners(self, hinges: Ints) -> Floats:
        """Return the material corners (h,2,3,2) [m] of edge start, end and tip of both faces."""
        raise NotImplementedError

    def add_hinge_areas(self, hinges: Ints, by: Floats) -> None:
        """Add derivatives by the sum of the two areas at hinges, (h,)."""
        raise NotImplementedError

    def rigidity_of_pairs(self, pairs: Ints) -> tuple[Ints, Floats]:
        """Return the hinges (m,4) of all pairs of a mesh of one fabric, and its rigidity (2,)."""
        raise NotImplementedError

    def add_lengths(self, pairs: Ints, by: Floats) -> None:
        """Add derivatives by material distances of pairs of vertices, (m,)."""
        raise NotImplementedError

    def add_second_derivatives(self, stencil: Ints, by: ByName) -> None:
        """Add derivatives by tables of bending with second derivatives of shape functions.

        Args:
            stencil: (q,k) points.
            by: ``coefficient`` (q,k) and ``weight`` (q,), and if there are any ``gradient``
                (q,k,2) by slopes dN/dX.
        """
        raise NotImplementedError
