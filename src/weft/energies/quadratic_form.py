"""Energies that are quadratic in positions: E = 1/2 sum_q w_q |sum_a c_qa x_a|^2.

Mean-curvature bending of splines (Meng et al. 2025, supplement, eqs. 13-19), points that are held,
and seams of points are all of this form. The Hessian w c c^T is constant, and the same in x, y and
z: it is multiplied out once, a number per block, and then added.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.kernel import Scalar, WarpArray, mat33, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.scalar_csr import ScalarCsr

_module = wp.get_module("weft.quadratic_form")


@wp.kernel(module=_module)
def form_energy(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    coefficient: wp.array2d(dtype=Scalar),
    weight: wp.array(dtype=Scalar),
    out: wp.array(dtype=Scalar),
):
    """w/2 |sum_a c_a x_a|^2 of every point. Meng 2025 supp. eq. 18."""
    q = o + wp.tid()
    y = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    for a in range(stencil.shape[1]):
        y += coefficient[q, a] * x[stencil[q, a]]
    out[q] = Scalar(0.5) * weight[q] * wp.dot(y, y)


@wp.kernel(module=_module)
def add_form_rows(
    o: int,
    start: wp.array(dtype=wp.int32),
    block: wp.array(dtype=wp.int32),
    K: wp.array(dtype=Scalar),
    row_start: wp.array(dtype=wp.int32),
    clear: int,
    values: wp.array(dtype=mat33),
):
    """Row v += K_vb I. Meng 2025 supp. eq. 19."""
    v = o + wp.tid()
    if clear != 0:
        for b in range(row_start[v], row_start[v + 1]):
            values[b] = mat33(Scalar(0.0))
    for b in range(start[v], start[v + 1]):
        at = block[b]
        k = K[b]
        m = values[at]
        m[0, 0] = m[0, 0] + k
        m[1, 1] = m[1, 1] + k
        m[2, 2] = m[2, 2] + k
        values[at] = m


@dataclass(frozen=True, eq=False)
class QuadraticForm:
    """1/2 sum_q weight_q |sum_a coefficient_qa x_a|^2."""

    stencil: Ints  # (q,k)
    coefficient: Floats  # (q,k)
    weight: Floats  # (q,) >= 0
    name: str = "quadratic"

    def amount(self, x: Positions) -> Floats:
        """(q,3) sum_a c_a x_a: for bending the Laplacian of the surface, times sqrt(D)."""
        return np.asarray(np.einsum("qa,qai->qi", self.coefficient, x[self.stencil]))

    def value(self, x: Positions) -> Floats:
        """(q,) [J]."""
        return np.asarray(0.5 * self.weight * (self.amount(x) ** 2).sum(1))

    def gradient(self, x: Positions) -> Floats:
        """(q,k,3) [N]."""
        return np.asarray(np.einsum("q,qa,qi->qai", self.weight, self.coefficient, self.amount(x)))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(q,k,k,3,3) [N/m]; the same for every x and psd."""
        c = self.coefficient
        return np.asarray(np.einsum("q,qa,qb,ij->qabij", self.weight, c, c, np.eye(3)))

    def matrix(self, n: int) -> Any:
        """(n,n) SciPy CSR, the Hessian of each coordinate."""
        q, k = self.stencil.shape
        rows = np.repeat(np.arange(q), k)
        root = (np.sqrt(self.weight)[:, None] * self.coefficient).reshape(-1)
        C = sp.csr_matrix((root, (rows, self.stencil.reshape(-1))), shape=(q, n))
        K = (C.T @ C).tocsr()
        K.sort_indices()
        return K

    def bind(self, pattern: BlockPattern) -> "BoundForm":
        """The production face."""
        K = self.matrix(pattern.n)
        rows = np.repeat(np.arange(pattern.n, dtype=np.int32), np.diff(K.indptr))
        block = pattern.find(rows, K.indices.astype(np.int32))
        return BoundForm(self, ScalarCsr.of(K), kernel.array(block, wp.int32))


@dataclass(frozen=True, eq=False)
class BoundForm:
    """A quadratic form on a pattern."""

    form: QuadraticForm
    K: ScalarCsr  # [N/m] the Hessian of each coordinate
    block: WarpArray  # (b,) int32 place of its entries in the pattern

    @cached_property
    def _points(self) -> tuple[WarpArray, ...]:
        f = self.form
        return (
            kernel.array(f.stencil, wp.int32),
            kernel.array(f.coefficient, Scalar),
            kernel.array(f.weight, Scalar),
            kernel.empty(len(f.weight)),
        )

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        kernel.launch(form_energy, len(self.form.weight), x, *self._points)
        return kernel.total(self._points[-1])

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += K x. Meng 2025 supp. eq. 19."""
        self.K.multiply(x, g, add=True)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += K."""
        rows = (self.K.start, self.block, self.K.value, A.pattern.device_row_start)
        worth = kernel.slice_above(self.block.shape[0] / max(A.n, 1))
        kernel.launch(add_form_rows, A.n, *rows, int(clear), A.values, slice_above=worth)

    def add_condition_hessian(
        self, x: WarpArray, v: WarpArray, keep: float, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """A += K: a condition that is linear in x has no second derivative."""
        self.add_hessian(x, psd, A, clear=False)
