"""Sparse matrices of numbers, which act alike on x, y and z: weights of points, quadratic forms."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.kernel import Scalar, WarpArray, vec3


@wp.kernel(module=wp.get_module("weft.scalar_csr"))
def combine_rows(
    o: int,
    start: wp.array(dtype=wp.int32),
    column: wp.array(dtype=wp.int32),
    value: wp.array(dtype=Scalar),
    x: wp.array(dtype=vec3),
    add: int,
    out: wp.array(dtype=vec3),
):
    """out_i = sum_b value_b x[column_b], or += it."""
    i = o + wp.tid()
    y = vec3(Scalar(0.0))
    for b in range(start[i], start[i + 1]):
        y += value[b] * x[column[b]]
    if add != 0:
        y += out[i]
    out[i] = y


@dataclass(frozen=True, eq=False)
class ScalarCsr:
    """Row starts, columns and values on the device."""

    start: WarpArray  # (n+1,) int32
    column: WarpArray  # (b,) int32
    value: WarpArray  # (b,)

    @staticmethod
    def of(matrix: Any) -> "ScalarCsr":
        """From a SciPy CSR matrix, whose indices get sorted."""
        matrix.sort_indices()
        return ScalarCsr(
            kernel.array(matrix.indptr.astype(np.int32), wp.int32),
            kernel.array(matrix.indices.astype(np.int32), wp.int32),
            kernel.array(matrix.data, Scalar),
        )

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.start.shape[0]) - 1

    @property
    def arrays(self) -> tuple[WarpArray, WarpArray, WarpArray]:
        """As kernels take them."""
        return self.start, self.column, self.value

    def multiply(self, x: WarpArray, out: WarpArray, add: bool = False) -> None:
        """out = A x for vec3 arrays, or out += A x."""
        worth = kernel.slice_above(self.column.shape[0] / max(self.n, 1))
        kernel.launch(combine_rows, self.n, *self.arrays, x, int(add), out, slice_above=worth)
