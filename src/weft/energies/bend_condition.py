"""The bend condition as Baraff & Witkin (1998) differentiate it: with normals and edge of constant
length (Pritchard 2012, eqs. 24-57; BODY).

E = k/2 theta^2, but ``gradient`` and ``hessian`` are *not* derivatives of E: they are k theta g and
k (g g^T + theta h), with g (eq. 54) and h (eq. 57) the derivatives of an angle whose normals and
edge keep their lengths (``frozen_kernels``). What that adds to the true derivative
(``HingeBending``) is a tension k theta sin(theta) cos(theta)/|e| in the edge: no net force, no net
moment, but work under a change of size (``tests/energies/test_condition.py``). h is symmetric as a
12 x 12 matrix; its 3 x 3 blocks are not, contrary to section 3.4 of the notes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.energies.base import RowMap, gather_gradient, gather_symmetric, on_device, unpacked
from weft.energies.frozen_kernels import (
    frozen_deviations,
    frozen_factor,
    frozen_gradient,
    frozen_hessian,
)
from weft.energies.hinge_kernels import add_factor_rows, hinge_energy
from weft.kernel import Scalar, Scratch, WarpArray, mat33, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence


@dataclass(frozen=True, eq=False)
class FrozenBend:
    """Bend condition with frozen lengths. PROJECTED and GAUSS_NEWTON keep k g g^T only."""

    hinges: Ints  # (h,4)
    stiffness: Floats  # (h,) [J]
    rest_angle: Floats  # (h,) [rad]
    n_vertices: int
    name: str = "bend"

    @property
    def stencil(self) -> Ints:
        """(h,4)."""
        return self.hinges

    @cached_property
    def incidence(self) -> Incidence:
        """Hinges of each vertex."""
        return Incidence.of(self.hinges, self.n_vertices)

    def value(self, x: Positions) -> Floats:
        """(h,) [J]: k/2 (theta - rest)^2."""
        out = kernel.empty(len(self.hinges))
        kernel.launch(hinge_energy, len(self.hinges), on_device(x), *self._data, out)
        return np.array(kernel.numpy(out))

    def gradient(self, x: Positions) -> Floats:
        """(h,4,3) [N], with frozen lengths."""
        out = kernel.empty((len(self.hinges), 4), vec3)
        kernel.launch(frozen_gradient, len(self.hinges), on_device(x), *self._data, out)
        return np.array(kernel.numpy(out))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(h,4,4,3,3) [N/m], with frozen lengths."""
        x, n = on_device(x), len(self.hinges)
        if psd == Psd.EXACT:
            out = kernel.empty((n, 10), mat33)
            launch_frozen_hessian(x, None, 1.0, 0.0, self._data, out)
            return unpacked(kernel.numpy(out))
        factor = kernel.empty((n, 4), vec3)
        kernel.launch(frozen_factor, n, x, *self._data[:2], factor)
        f = kernel.numpy(factor)
        return np.asarray(np.einsum("hai,hbj->habij", f, f))

    @cached_property
    def _data(self) -> tuple[WarpArray, WarpArray, WarpArray]:
        return (
            kernel.array(self.hinges, wp.int32),
            kernel.array(self.stiffness, Scalar),
            kernel.array(self.rest_angle, Scalar),
        )

    def bind(self, pattern: BlockPattern) -> "BoundFrozenBend":
        """The production face."""
        rows = RowMap.of(self.hinges, self.incidence, pattern)
        return BoundFrozenBend(self, self._data, rows, pattern.scratch)


def launch_frozen_hessian(
    x: WarpArray,
    v: WarpArray | None,
    keep: float,
    beta: float,
    data: tuple[WarpArray, WarpArray, WarpArray],
    out: WarpArray,
) -> None:
    """(h,10) k [g g^T + keep (theta - rest + beta dtheta/dt) h]."""
    stencil, stiffness, rest = data
    deviation = kernel.empty(stiffness.shape[0])
    kernel.launch_each(
        stiffness.shape[0],
        (frozen_deviations, x, x if v is None else v, stencil, rest, keep, beta, deviation),
        (frozen_hessian, x, stencil, stiffness, deviation, out),
    )


@dataclass(frozen=True, eq=False)
class BoundFrozenBend:
    """Frozen bend on a pattern."""

    bend: FrozenBend
    data: tuple[WarpArray, WarpArray, WarpArray]
    rows: RowMap
    scratch: Scratch

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        out = self.scratch.take(len(self.bend.hinges))
        kernel.launch(hinge_energy, len(self.bend.hinges), x, *self.data, out)
        return kernel.total(out)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += the frozen gradient."""
        h, i = len(self.bend.hinges), self.rows.incidence
        local = self.scratch.take((h, 4), vec3)
        kernel.launch(frozen_gradient, h, x, *self.data, local)
        entries = (i.start, i.element, i.place)
        kernel.launch(gather_gradient, self.bend.n_vertices, *entries, local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += the frozen Hessian."""
        self._add_rows(x, None, 1.0, 0.0, psd, A, clear)

    def add_condition_hessian(
        self, x: WarpArray, v: WarpArray, keep: float, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """A += k [g g^T + keep (theta - rest + beta dtheta/dt) h]."""
        self._add_rows(x, v, keep, beta, psd, A, clear=False)

    def _add_rows(
        self,
        x: WarpArray,
        v: WarpArray | None,
        keep: float,
        beta: float,
        psd: Psd,
        A: BlockCsr,
        clear: bool,
    ) -> None:
        h, i = len(self.bend.hinges), self.rows.incidence
        entries = (i.start, i.element, i.place, self.rows.block)
        row = (A.pattern.device_row_start, int(clear), A.values)
        if psd == Psd.EXACT:
            local = self.scratch.take((h, 10), mat33)
            launch_frozen_hessian(x, v, keep, beta, self.data, local)
            kernel.launch(gather_symmetric, self.bend.n_vertices, *entries, local, *row)
        else:
            factor = self.scratch.take((h, 4), vec3)
            kernel.launch(frozen_factor, h, x, *self.data[:2], factor)
            kernel.launch(add_factor_rows, self.bend.n_vertices, *entries, factor, *row)
