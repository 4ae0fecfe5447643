"""Inertia of a step, |x - y|_M^2 / (2 s), which is zero at the prediction y."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.energies.by_constants import ByName
from weft.energies.derivative import DifferentiableTerm
from weft.energies.point_masses import MassEnergy
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import Scalar, ScalarArray, Vec3Array, WarpArray, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal
from weft.solve.sparse.vectors import weighted_distances

_module = wp.get_module("weft.inertia")


@wp.kernel(module=_module)
def add_inertia(o: int, x: Vec3Array, y: Vec3Array, shift: ScalarArray, g: Vec3Array):
    """Add (m/s) (x - y) to g."""
    v = o + wp.tid()
    g[v] += shift[v] * (x[v] - y[v])


class DiagonalQuadratic(DifferentiableTerm):
    """Quadratic energy 1/2 w |x - c|^2 with a weight w for every vertex; ``freeze`` sets both."""

    def __init__(self, mass: Floats) -> None:
        self.mass, self.acts = mass, False
        self._squares = kernel.empty(len(mass))
        self._center = kernel.zeros(len(mass), vec3)
        self._shift = kernel.zeros(len(mass))

    def _hold(self, step: Step, center: WarpArray, shift: Floats) -> None:
        """Set the center (n,) vec3 and the weights (n,) [kg/s^2], 0 for prescribed vertices."""
        self._center = center
        self._shift = kernel.array(np.where(step.fixed, 0.0, shift), Scalar)

    def value(self, x: WarpArray) -> float:
        """Return the energy [J]."""
        if not self.acts:
            return 0.0
        return 0.5 * kernel.total(self._distances(x))

    def _distances(self, x: WarpArray) -> WarpArray:
        """Return w |x - c|^2 of every vertex."""
        return weighted_distances(x, self._center, self._shift, self._squares)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add weights times (x - c) to g."""
        if self.acts:
            arrays = (x, self._center, self._shift, g)
            kernel.launch(add_inertia, x.shape[0], *arrays, work=kernel.TRIVIAL)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add the weights to the diagonal of A and return A."""
        if self.acts:
            add_diagonal(A, self._shift)
        return A


@dataclass(frozen=True, eq=False)
class Masses(MassEnergy):
    """Masses (n,) [kg] of points, from which inertia is made."""

    mass: Floats
    name: ClassVar[str] = "inertia"

    @property
    def constants(self) -> ByName:
        """Constants by name: the masses."""
        return {"mass": self.mass}

    @property
    def structure(self) -> int:
        """The number of points."""
        return len(self.mass)

    def mixed_derivatives(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dm = (x - y)/s, (n,1,3); zero in an equilibrium and at pins."""
        if step is None or step.scale is None:
            return {"mass": np.zeros((len(self.mass), 1, 3))}
        off = (np.asarray(x) - step.predicted) / step.scale
        return {"mass": np.where(step.fixed[:, None], 0.0, off)[:, None]}


class Inertia(DiagonalQuadratic):
    """Inertia of vertices with masses (n,) [kg].

    There is none in an equilibrium, and none of prescribed vertices.
    """

    name = "inertia"

    @property
    def energy(self) -> Masses:
        """The masses."""
        return Masses(self.mass)

    def freeze(self, step: Step) -> None:
        """Take the prediction and the scale of a step."""
        self.acts = step.scale is not None
        if step.scale is not None:
            self._hold(step, kernel.points(np.array(step.predicted)), self.mass / step.scale)

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivative of s = by . m (x - y)/scale by y."""
        if self.acts:
            into.predicted -= np.array(kernel.numpy(self._shift))[:, None] * by
