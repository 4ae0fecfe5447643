"""Springs between combinations of points and places, or between combinations alone: joints.

E = 1/2 (y - c).K (y - c) of every row, y = sum_a w_a x_a. K is a stiffness in all directions, or in
those that a joint holds. The Hessian w_a w_b K is constant. Between two bodies y is the difference
of their places, and c is zero; places may be those of a body that something else moves.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.springs.point_springs import MovedPlaces
from weft.energies.step import Step
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern


@dataclass(frozen=True, eq=False)
class JointSprings:
    """Rows of k points each: four of one body, eight of two."""

    stencil: Ints  # (m,k)
    weight: Floats  # (m,k)
    place: Floats  # (m,3) [m] c, at the start
    stiffness: Floats  # (m,3,3) [N/m] K, positive semidefinite
    name: str = "joints"
    moving: MovedPlaces | None = None  # c in time; None: it stays

    def _off(self, x: Positions) -> Floats:
        """(m,3) [m] y - c."""
        return np.asarray(np.einsum("ma,mai->mi", self.weight, x[self.stencil]) - self.place)

    def value(self, x: Positions) -> Floats:
        """(m,) [J]."""
        off = self._off(x)
        return np.asarray(0.5 * np.einsum("mi,mij,mj->m", off, self.stiffness, off))

    def gradient(self, x: Positions) -> Floats:
        """(m,k,3) [N]."""
        pull = np.einsum("mij,mj->mi", self.stiffness, self._off(x))
        return np.asarray(np.einsum("ma,mi->mai", self.weight, pull))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(m,k,k,3,3) [N/m]; the same for every x and psd."""
        w = self.weight
        return np.asarray(np.einsum("ma,mb,mij->mabij", w, w, self.stiffness))

    @property
    def constants(self) -> ByName:
        """Stiffness (m,3,3) [N/m], and places (m,3) [m] where nothing moves these."""
        places = {"place": self.place} if self.moving is None else {}
        return {"stiffness": self.stiffness, **places}

    @property
    def structure(self) -> Any:
        """The rows, and what moves their places."""
        return self.stencil, self.weight, self.moving

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """By ``stiffness`` (m,k,3,3,3), and by ``place`` (m,k,3,3)."""
        off, w = self.at(step)._off(x), self.weight
        by_stiffness = np.einsum("ma,ip,mq->maipq", w, np.eye(3), off)
        if self.moving is not None:
            return {"stiffness": by_stiffness}
        return {"stiffness": by_stiffness, "place": -np.einsum("ma,mij->maij", w, self.stiffness)}

    def at(self, step: Step | None) -> "JointSprings":
        """With places as they are at the end of a step."""
        if step is None or self.moving is None:
            return self
        return replace(self, place=self.moving.at(step.bodies[1], step.t))

    def bind(self, pattern: BlockPattern) -> "BoundJointSprings":
        """The production face."""
        return BoundJointSprings(self, pattern, quiet=True)


class BoundJointSprings(NumpyEnergy):
    """Joints on a pattern, with places as they are at the end of a step."""

    energy: JointSprings

    def freeze(self, step: Step) -> None:
        """Take places that something moves."""
        self.energy = self.energy.at(step)
