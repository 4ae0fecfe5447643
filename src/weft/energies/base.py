"""The narrow waist: what an energy is, and how it adds itself to a gradient and to a matrix.

An ``Energy`` has two faces. Local arrays (``value``, ``gradient``, ``hessian``) are NumPy, for
tests and research. ``bind(pattern)`` gives the production face, which adds into shared device
arrays through row maps built once.
"""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.kernel import Scalar, WarpArray, mat33, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence


class Bound(Protocol):
    """An energy bound to a pattern: adds into device arrays, allocates nothing per call."""

    def value(self, x: WarpArray) -> float:
        """Total energy [J] at positions x, (n,) vec3."""

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx [N] to g, (n,) vec3."""

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """Add d2E/dx2 [N/m] to A; with ``clear`` the rows are zeroed first, in the same pass."""


@runtime_checkable
class BoundCondition(Bound, Protocol):
    """A bound energy 1/2 k C^T C of conditions C(x)."""

    def add_condition_hessian(
        self, x: WarpArray, v: WarpArray, keep: float, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Add k [dC dC^T + keep (C + beta dC/dt) d2C] to A, at positions x and velocities v.

        ``psd`` projects it, or drops the second term, as in ``add_hessian``.
        """


@runtime_checkable
class BoundUpdated(Bound, Protocol):
    """A bound energy whose Hessian has a dense part c u u^T besides what ``add_hessian`` adds."""

    def update(self, x: WarpArray, out: WarpArray) -> float:
        """c [N/m, of a unit u], with u into out, (n,) vec3; out is not written where c is 0."""


@runtime_checkable
class Energy(Protocol):
    """A sum of m local energies, each over k vertices."""

    @property
    def name(self) -> str:
        """What metrics and ``potential.terms`` call it."""

    @property
    def stencil(self) -> Ints:
        """(m,k) vertices of each local energy; k = 1 adds no block off the diagonal."""

    def value(self, x: Positions) -> Floats:
        """(m,) [J]."""

    def gradient(self, x: Positions) -> Floats:
        """(m,k,3) [N]."""

    def hessian(self, x: Positions, psd: Psd) -> Floats:
        """(m,k,k,3,3) [N/m]: [e,a,b] is the block of vertices a and b."""

    def bind(self, pattern: BlockPattern) -> Bound:
        """The production face on a pattern that holds this energy's stencils."""


class StepTerm(Protocol):
    """A term that is frozen once per step: damping, lagged friction."""

    @property
    def name(self) -> str:
        """What metrics call it."""

    @property
    def source(self) -> Energy:
        """The energy whose stencils (and, once bound, maps) it shares."""

    def bind(self, pattern: BlockPattern, bound_source: Any) -> "BoundStepTerm":
        """The production face."""


class BoundStepTerm(Bound, Protocol):
    """A bound energy whose parameters are set at the start of each step."""

    def freeze(self, x: WarpArray, dt: float) -> None:
        """Take the state at the start of a step of size dt [s]."""


def on_device(x: Positions) -> WarpArray:
    """Positions (n,3) as a device array of vec3."""
    return kernel.array(np.asarray(x, dtype=np.float64), vec3)


@dataclass(frozen=True, eq=False)
class RowMap:
    """How local blocks of an energy reach the rows of a matrix."""

    incidence: Incidence
    block: WarpArray  # (i,k) int32: block (vertex of entry i, b-th vertex of its element)

    @staticmethod
    def of(stencil: Ints, incidence: Incidence, pattern: BlockPattern) -> "RowMap":
        """Row map of (m,k) stencils; memory: 4 k bytes per incidence."""
        columns = stencil[kernel.numpy(incidence.element)]
        rows = np.repeat(incidence.vertex_of[:, None], stencil.shape[1], axis=1)
        return RowMap(incidence, kernel.array(pattern.find(rows, columns), wp.int32))


@wp.kernel(module=wp.get_module("weft.gather"))
def gather_gradient(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    local: wp.array2d(dtype=vec3),
    g: wp.array(dtype=vec3),
):
    """g[v] += the local gradients (m,k) of the elements around v."""
    v = o + wp.tid()
    sum = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        sum += local[element[m], place[m]]
    g[v] += sum


@wp.func
def packed(j: int, k: int):
    """Place of block (j,k), j <= k, of a symmetric 4 x 4 matrix among its ten, row by row."""
    return 3 * j - (j * (j - 1)) / 2 + k


def unpacked(local: Floats) -> Floats:
    """(m,4,4,3,3) from the ten blocks (m,10,3,3) on and above the diagonal."""
    full = np.empty((len(local), 4, 4, 3, 3))
    for place, (j, k) in enumerate(zip(*np.triu_indices(4))):
        full[:, j, k] = local[:, place]
        full[:, k, j] = np.swapaxes(local[:, place], 1, 2)
    return full


@wp.kernel(module=wp.get_module("weft.gather"))
def gather_symmetric(
    o: int,
    start: wp.array(dtype=wp.int32),
    element: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    block: wp.array2d(dtype=wp.int32),
    local: wp.array2d(dtype=mat33),
    row_start: wp.array(dtype=wp.int32),
    clear: int,
    values: wp.array(dtype=mat33),
):
    """Row v += the local blocks, (m,10) of symmetric 4 x 4 ones, of the elements around v."""
    v = o + wp.tid()
    if clear != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))
    for m in range(start[v], start[v + 1]):
        i = element[m]
        j = place[m]
        for k in range(4):
            if j <= k:
                values[block[m, k]] += local[i, packed(j, k)]
            else:
                values[block[m, k]] += wp.transpose(local[i, packed(k, j)])
