"""Drag on every mass, at a rate: what sews and settles comes to rest.

    E = c m |x - x_n|^2 / (2 h),   force -c m v

A velocity decays as exp(-c t). That is no air (``wind`` knows directions of faces) but a way to a
state of rest, which has no drag.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.energies.base import Bound
from weft.energies.inertia import add_inertia
from weft.errors import SceneError
from weft.kernel import Scalar, WarpArray
from weft.psd import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern, add_diagonal
from weft.solve.vectors import weighted_distance
from weft.step import Step


@dataclass(frozen=True, eq=False)
class Drag:
    """Of masses (n,) [kg], at a rate c [1/s], until a time [s].

    Raises:
        SceneError: a rate that is negative or not finite.
    """

    mass: Floats
    rate: float
    until: float = np.inf
    name: str = "drag"

    def __post_init__(self) -> None:
        if not (np.isfinite(self.rate) and self.rate >= 0):
            raise SceneError("drag.rate", got=self.rate, expected="must be >= 0 [1/s]")

    @property
    def stencil(self) -> Ints:
        """(n,1)."""
        return np.arange(len(self.mass), dtype=np.int32)[:, None]

    def value(self, x: Positions) -> Floats:
        """(n,): nothing, without a step."""
        return np.zeros(len(self.mass))

    def gradient(self, x: Positions) -> Floats:
        """(n,1,3): nothing, without a step."""
        return np.zeros((len(self.mass), 1, 3))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(n,1,1,3,3): nothing, without a step."""
        return np.zeros((len(self.mass), 1, 1, 3, 3))

    def bind(self, pattern: BlockPattern) -> "BoundDrag":
        """The production face."""
        return BoundDrag(self)


class BoundDrag(Bound):
    """Drag in a step: a diagonal."""

    def __init__(self, drag: Drag) -> None:
        self.drag, self.name, self._acts = drag, drag.name, False
        self._squares = kernel.empty(len(drag.mass))

    def freeze(self, step: Step) -> None:
        """Measure velocities as the step does; none in equilibria."""
        drag = self.drag
        self._acts = bool(np.isfinite(step.span)) and drag.rate > 0 and step.t <= drag.until
        if self._acts:
            self._center = step.device_origin
            shift = np.where(step.fixed, 0.0, drag.rate * drag.mass / step.span)
            self._shift = kernel.array(shift, Scalar)

    def value(self, x: WarpArray) -> float:
        """[J]."""
        if not self._acts:
            return 0.0
        return 0.5 * weighted_distance(x, self._center, self._shift, self._squares)

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """[J] by name."""
        return {self.name: self.value(x)}

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += c m (x - x_n)/h."""
        if self._acts:
            arrays = (x, self._center, self._shift, g)
            kernel.launch(add_inertia, x.shape[0], *arrays, slice_above=kernel.TRIVIAL)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A + c m/h."""
        if self._acts:
            add_diagonal(A, self._shift)
        return A
