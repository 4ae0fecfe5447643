"""Inertia of a step, |x - y|_M^2 / (2 s): what makes its minimum a motion."""

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats
from weft.energies.base import Bound
from weft.energies.step import Step
from weft.kernel import Scalar, WarpArray, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, add_diagonal
from weft.solve.sparse.vectors import weighted_distance

_module = wp.get_module("weft.inertia")


@wp.kernel(module=_module)
def add_inertia(
    o: int,
    x: wp.array(dtype=vec3),
    y: wp.array(dtype=vec3),
    shift: wp.array(dtype=Scalar),
    g: wp.array(dtype=vec3),
):
    """g += (m/s) (x - y)."""
    v = o + wp.tid()
    g[v] += shift[v] * (x[v] - y[v])


class Diagonal(Bound):
    """1/2 |x - c|^2 of a step with a weight for every vertex; ``freeze`` says around what."""

    def __init__(self, mass: Floats) -> None:
        self.mass = mass
        self._acts = False
        self._squares = kernel.empty(len(mass))
        self._center = kernel.zeros(len(mass), vec3)
        self._shift = kernel.zeros(len(mass))

    def _hold(self, step: Step, center: WarpArray, shift: Floats) -> None:
        """Around ``center`` (n,) vec3 with weights (n,) [kg/s^2]; none of prescribed vertices."""
        self._center = center
        self._shift = kernel.array(np.where(step.fixed, 0.0, shift), Scalar)

    def value(self, x: WarpArray) -> float:
        """[J]."""
        if not self._acts:
            return 0.0
        return 0.5 * weighted_distance(x, self._center, self._shift, self._squares)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += weights times (x - c)."""
        if self._acts:
            arrays = (x, self._center, self._shift, g)
            kernel.launch(add_inertia, x.shape[0], *arrays, slice_above=kernel.TRIVIAL)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A + the weights."""
        if self._acts:
            add_diagonal(A, self._shift)
        return A


class Inertia(Diagonal):
    """Of vertices with masses (n,) [kg]; none in an equilibrium, nor of prescribed vertices."""

    name = "inertia"

    def reweigh(self, mass: Floats) -> None:
        """Masses of the end of the step: velocities stay, whatever comes has the cloth's."""
        self.mass = mass

    def freeze(self, step: Step) -> None:
        """Take the step's prediction and scale."""
        self._acts = step.scale is not None
        if step.scale is not None:
            self._hold(step, kernel.points(np.array(step.predicted)), self.mass / step.scale)
