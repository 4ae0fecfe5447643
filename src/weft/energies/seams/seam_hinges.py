"""Seam hinges: bending across seams, of hinges whose two faces belong to panels sewn together.

They are hinges like any other (``hinge_bending``), with the edge of the one panel and the tips of
both, and act from the time at which the seam is closed. An angle other than 0 is a pressed crease.
"""

from dataclasses import dataclass, field, replace

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.hinge_weights import HingeGeometry
from weft.energies.element_energy import ElementTerm
from weft.energies.rest_mesh import RestMesh
from weft.energies.step import Step
from weft.solve.sparse.block_csr import BlockPattern


@dataclass(frozen=True, eq=False)
class SeamHinges(HingeBending):
    """Hinges (h,4) across seams, which act from the time ``begin`` [s].

    They have weights and rest angles.
    """

    begin: float = 0.0
    # Geometry from which weights are computed; None: weights do not depend on the cut.
    across: HingeGeometry | None = field(default=None, compare=False)
    name: str = "seams"

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by the weights."""
        assert self.across is not None
        return self.across.by_corner(rest.mesh, by["weight"])

    @property
    def structure(self) -> tuple[object, ...]:
        """Data besides the constants: the hinges, and the time from which they act."""
        return *super().structure, self.begin

    def acts(self, t: float) -> bool:
        """Return whether seams are closed in a step that ends at t [s]."""
        return t > self.begin * (1 + 1e-12)

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (h,); zero before seams are closed."""
        acts = step is None or self.acts(step.t)
        return super().contract(x, by if acts else np.zeros_like(by), step)

    def recut(self, mesh: TriangleMesh, mass: Floats) -> "SeamHinges":
        """Return the hinges of panels with another cut, ``mesh``."""
        if self.across is None:
            return self
        return replace(self, weight=self.across.weights(mesh))

    def bind(self, pattern: BlockPattern) -> "SeamsTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return SeamsTerm(self, pattern)


class SeamsTerm(ElementTerm):
    """Hinges across seams bound to a block pattern; they act once the seams are closed."""

    energy: SeamHinges

    def freeze(self, step: Step) -> None:
        """Take whether seams are closed at the end of the step, and their damping."""
        self.acts = self.energy.acts(step.t)
        if self.acts:
            super().freeze(step)

    def zero_tables(self) -> dict[str, Floats] | None:
        """Return zeros for the weights, if they are computed from the cut."""
        return None if self.energy.across is None else super().zero_tables()
