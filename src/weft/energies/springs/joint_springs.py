"""Joint springs: springs between combinations of points and places, or between two combinations.

E = 1/2 (y - c).K (y - c) of every row, y = sum_a w_a x_a. K is a stiffness in all directions, or in
those that a joint holds. The Hessian w_a w_b K is constant. Between two bodies y is the difference
of their places, and c is zero. Places may be those of a body whose motion is prescribed.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.springs.point_springs import MovedPlaces
from weft.energies.springs.springs_by_start import check_places
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray
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
    moving: MovedPlaces | None = None  # c in time; None: c is constant

    def _off(self, x: Positions) -> Floats:
        """Return y - c, (m,3) [m]."""
        return np.asarray(np.einsum("ma,mai->mi", self.weight, x[self.stencil]) - self.place)

    def value(self, x: Positions) -> Floats:
        """Return the energies, (m,) [J]."""
        off = self._off(x)
        return np.asarray(0.5 * np.einsum("mi,mij,mj->m", off, self.stiffness, off))

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,k,3) [N]."""
        pull = np.einsum("mij,mj->mi", self.stiffness, self._off(x))
        return np.asarray(np.einsum("ma,mi->mai", self.weight, pull))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,k,k,3,3) [N/m]; they are the same for every x and psd."""
        w = self.weight
        return np.asarray(np.einsum("ma,mb,mij->mabij", w, w, self.stiffness))

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness (m,3,3) [N/m], and places (m,3) [m] unless these move."""
        places = {"place": self.place} if self.moving is None else {}
        return {"stiffness": self.stiffness, **places}

    @property
    def structure(self) -> Any:
        """Data besides the constants: the rows, and what moves their places."""
        return self.stencil, self.weight, self.moving

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by ``stiffness`` (m,k,3,3,3), and by ``place`` (m,k,3,3)."""
        off, w = self.at(step)._off(x), self.weight
        by_stiffness = np.einsum("ma,ip,mq->maipq", w, np.eye(3), off)
        if self.moving is not None:
            return {"stiffness": by_stiffness}
        return {"stiffness": by_stiffness, "place": -np.einsum("ma,mij->maij", w, self.stiffness)}

    def at(self, step: Step | None) -> "JointSprings":
        """Return the springs with the places of the end of a step."""
        if step is None or self.moving is None:
            return self
        return replace(self, place=self.moving.at(step.bodies[1], step.t))

    def bind(self, pattern: BlockPattern) -> "BoundJointSprings":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return BoundJointSprings(self, pattern, quiet=True)


class BoundJointSprings(NumpyEnergy):
    """Joint springs bound to a block pattern, with the places of the end of a step."""

    energy: JointSprings

    def freeze(self, step: Step) -> None:
        """Take places that something moves."""
        self.energy = self.energy.at(step)

    def check_derivatives(self) -> None:
        """Raise an error for places of an unknown kind."""
        super().check_derivatives()
        check_places(self.name, self.energy.moving)

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by places that move with bodies."""
        e = self.energy
        if e.moving is not None:
            by_y = np.einsum("ma,mai->mi", e.weight, by[e.stencil])
            by_place = -np.einsum("mij,mj->mi", e.stiffness, by_y)
            e.moving.pull_back(step.bodies[1], step.t, by_place, into.after)
