"""Bounds of a direction's residual at single rows, which the energy norm does not see.

An iterative solver stops when the error of the direction is small in the energy norm. Beside stiff
joints, the energy of a rigid body that turns or swings freely is too small to count: the solver
stops before the body has begun to move. The residual at the body's points shows it, because it is
the force that the direction leaves unbalanced there. If it is at most m a at every point, the
motion that the joints leave free is off by less than the acceleration a.
"""

from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.kernel import IntArray, Mat33Array, ScalarArray, Vec3Array, WarpArray
from weft.solve.sparse.block_csr import BlockCsr

_module = wp.get_module("weft.residual_bounds")


@wp.kernel(module=_module)
def find_excess(
    o: int,
    first: int,
    start: IntArray,
    column: IntArray,
    values: Mat33Array,
    d: Vec3Array,
    g: Vec3Array,
    largest: ScalarArray,
    out: IntArray,
):
    """Set out[0] = 1 if |g + A d| exceeds its bound at one of the rows from ``first`` on."""
    i = o + wp.tid()
    v = first + i
    r = g[v]
    for k in range(start[v], start[v + 1]):
        r += values[k] * d[column[k]]
    if wp.length(r) > largest[i]:
        out[0] = 1


@dataclass(frozen=True, eq=False)
class ResidualBounds:
    """Bounds of the residual at the last rows of a system.

    Args:
        largest: (k,) [N] bound of |g + A d| at each of the last k rows, on the device.
    """

    largest: WarpArray

    def is_exceeded(self, A: BlockCsr, d: WarpArray, g: WarpArray) -> bool:
        """Return whether the residual of A d = -g exceeds a bound; d and g are (n,) vec3."""
        rows, p, found = self.largest.shape[0], A.pattern, kernel.zeros(1, wp.int32)
        matrix = (p.device_row_start, p.device_column, A.values)
        kernel.launch(find_excess, rows, A.n - rows, *matrix, d, g, self.largest, found)
        return bool(kernel.scalar(found) > 0)
