"""Sparse matrices of numbers that act alike on x, y and z: weights of points, quadratic forms."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.kernel import IntArray, Scalar, ScalarArray, Vec3Array, WarpArray, vec3


@wp.struct
class ScalarRows:
    """A sparse matrix of numbers in the form that kernels take."""

    start: IntArray  # (n+1,) first entry of each row
    column: IntArray  # (b,)
    value: ScalarArray  # (b,)


@wp.kernel(module=wp.get_module("weft.scalar_csr"))
def combine_rows(
    o: int,
    start: IntArray,
    column: IntArray,
    value: ScalarArray,
    x: Vec3Array,
    add: int,
    out: Vec3Array,
):
    """Compute out_i = sum_b value_b x[column_b], or add it to out_i if ``add`` is not 0."""
    i = o + wp.tid()
    y = vec3(Scalar(0.0))
    for b in range(start[i], start[i + 1]):
        y += value[b] * x[column[b]]
    if add != 0:
        y += out[i]
    out[i] = y


@dataclass(frozen=True, eq=False)
class ScalarCsr:
    """Sparse matrix of numbers in compressed rows on the device."""

    start: WarpArray  # (n+1,) int32
    column: WarpArray  # (b,) int32
    value: WarpArray  # (b,)

    @staticmethod
    def of(matrix: sp.csr_matrix) -> "ScalarCsr":
        """Copy a SciPy CSR matrix to the device; its column indices are sorted in place first."""
        matrix.sort_indices()
        return ScalarCsr(
            kernel.array(matrix.indptr.astype(np.int32), wp.int32),
            kernel.array(matrix.indices.astype(np.int32), wp.int32),
            kernel.array(matrix.data, Scalar),
        )

    @property
    def n(self) -> int:
        """Return the number of rows."""
        return int(self.start.shape[0]) - 1

    @cached_property
    def rows(self) -> ScalarRows:
        """Return this matrix in the form that kernels take."""
        out = ScalarRows()
        out.start, out.column, out.value = self.arrays
        return out

    @property
    def arrays(self) -> tuple[WarpArray, WarpArray, WarpArray]:
        """Return row starts, columns and values, in the order in which kernels take them."""
        return self.start, self.column, self.value

    def multiply(self, x: WarpArray, out: WarpArray, add: bool = False) -> None:
        """Write A x into ``out``, both vec3 arrays, or add it to ``out`` if ``add`` is true."""
        work = self.column.shape[0] / max(self.n, 1)
        kernel.launch(combine_rows, self.n, *self.arrays, x, int(add), out, work=work)
