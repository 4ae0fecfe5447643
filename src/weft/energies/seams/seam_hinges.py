"""How seams fold: hinges whose two faces belong to panels that are sewn together.

They are hinges like any other (``hinge_bending``), with the edge of the one panel and the tips of
both, and act from when the seam is closed. An angle other than 0 is a crease that was pressed in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.hinge_geometry import HingeGeometry
from weft.energies.element_energy import BoundLocal
from weft.energies.gather import GatherMap
from weft.energies.seams.seam_keyframes import FoldingKeys, folded
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern


@dataclass(frozen=True, eq=False)
class SeamHinges(HingeBending):
    """Hinges (h,4) across seams, with weights and rest angles, from the time ``begin`` [s] on;
    ``foldings`` are those whose numbers change in time.
    """

    begin: float = 0.0
    # what weights are made of; None: they are given
    across: HingeGeometry | None = field(default=None, compare=False)
    name: str = "seams"
    foldings: Sequence[FoldingKeys] = ()

    @property
    def changes(self) -> bool:
        """Whether numbers of some have keyframes."""
        return len(self.foldings) > 0

    def at(self, t: float) -> "SeamHinges":
        """With the numbers of the time t [s]."""
        weight, angle = folded(self.foldings, t, self.weight, self.rest_angle)
        return replace(self, weight=weight, rest_angle=angle)

    @property
    def structure(self) -> Any:
        """The hinges, and from when they act."""
        return *super().structure, self.begin, self.foldings

    def acts(self, t: float) -> bool:
        """Whether seams are closed in a step that ends at t [s]."""
        return t > self.begin * (1 + 1e-12)

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """By constant, (h,4,3); zero before seams are closed."""
        mixed = super().mixed(x, step)
        if step is None or self.acts(step.t):
            return mixed
        return {name: np.zeros_like(d) for name, d in mixed.items()}

    def recut(self, mesh: TriangleMesh, mass: Floats) -> "SeamHinges":
        """The same on panels that are cut otherwise, ``mesh``."""
        if self.across is None:
            return self
        return replace(self, weight=self.across.weights(mesh))

    def bind(self, pattern: BlockPattern) -> "BoundSeams":
        """The production face."""
        rows = GatherMap.of(self.stencil, self.n_vertices, pattern)
        return BoundSeams(self, rows, self.parameters(), pattern.scratch)


class BoundSeams(BoundLocal):
    """Hinges across seams, which act once these are closed."""

    energy: SeamHinges

    acts = True

    def freeze(self, step: Step) -> None:
        """Whether seams are closed at the end of the step; their damping."""
        self.acts = self.energy.acts(step.t)
        if self.energy.foldings:
            self.retake(self.energy.at(step.t))
        if self.acts:
            super().freeze(step)

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        return super().value(x) if self.acts else 0.0

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """[J] of the elastic part and of damping."""
        found = super().terms(x)
        return found if self.acts else dict.fromkeys(found, 0.0)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        if self.acts:
            super().add_gradient(x, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A + d2E/dx2."""
        return super().add_hessian(x, psd, A) if self.acts else A

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """A += that of the bend condition."""
        if self.acts:
            super().add_condition_hessian(x, step, beta, psd, A)
