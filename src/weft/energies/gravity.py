"""Gravity: E = -sum_v m_v g . x_v. Linear, so it adds nothing to the Hessian."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.kernel import Scalar, WarpArray, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern

TRIVIAL = 1_000_000  # one subtraction an index: below, waking a thread costs more


@wp.kernel(module=wp.get_module("weft.gravity"))
def add_weight(o: int, mass: wp.array(dtype=Scalar), acceleration: vec3, g: wp.array(dtype=vec3)):
    """Gradient of -m g.x."""
    v = o + wp.tid()
    g[v] = g[v] - mass[v] * acceleration


@dataclass(frozen=True, eq=False)
class Gravity:
    """A uniform field of acceleration g [m/s^2] on masses (n,) [kg]."""

    mass: Floats
    acceleration: tuple[float, float, float] = (0.0, -9.81, 0.0)
    name: str = "gravity"

    @property
    def stencil(self) -> Ints:
        """(n,1)."""
        return np.arange(len(self.mass), dtype=np.int32)[:, None]

    def value(self, x: Positions) -> Floats:
        """(n,) [J], zero at the origin."""
        return np.asarray(-self.mass * np.einsum("ni,i->n", x, np.asarray(self.acceleration)))

    def gradient(self, x: Positions) -> Floats:
        """(n,1,3) [N]."""
        return np.asarray(-self.mass[:, None, None] * np.asarray(self.acceleration)[None, None, :])

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(n,1,1,3,3): zero."""
        return np.zeros((len(self.mass), 1, 1, 3, 3))

    def bind(self, pattern: BlockPattern) -> "BoundGravity":
        """The production face."""
        return BoundGravity(self)


@dataclass(frozen=True, eq=False)
class BoundGravity:
    """Gravity on device arrays."""

    gravity: Gravity

    @cached_property
    def mass(self) -> WarpArray:
        """(n,) [kg] on the device."""
        return kernel.array(self.gravity.mass, Scalar)

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        return float(np.sum(self.gravity.value(kernel.numpy(x))))

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        acceleration = vec3(*self.gravity.acceleration)
        kernel.launch(add_weight, x.shape[0], self.mass, acceleration, g, slice_above=TRIVIAL)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """Nothing to add."""
        if clear:
            A.values.zero_()
