"""Interface of a function that is minimized by its value, gradient and Hessian."""

from collections.abc import Sequence
from typing import Protocol

from weft.base.timing import Phases
from weft.kernel import WarpArray
from weft.solve.linear.low_rank import LowRankUpdate
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr


class Problem(Protocol):
    """Interface of a function to minimize; arguments are device arrays (n,) vec3.

    Entries that are fixed have a zero gradient and identity rows in the matrix.
    """

    phases: Phases  # timers of the phases of a solve

    def value_at(self, x: WarpArray) -> float:
        """Return the value of the function at x."""

    def gradient_at(self, x: WarpArray, out: WarpArray) -> None:
        """Write the gradient at x into ``out``."""

    def matrix_at(self, x: WarpArray, psd: Psd | None = None) -> BlockCsr:
        """Return the Hessian at x, or the positive semi-definite approximation that ``psd`` names.

        Without ``psd``, the problem chooses. The matrix is valid until the next call.
        """

    def max_step_at(self, x: WarpArray, d: WarpArray) -> float:
        """Return the fraction of the direction d, in [0, 1], that is feasible.

        The fraction is smaller than 1 only where contact or a strain limit bounds the step.
        """

    def truncate_direction(self, x: WarpArray, d: WarpArray) -> WarpArray | None:
        """Return d shortened vertex by vertex such that all of it is feasible; None: none exists.

        The search tries it if only a small fraction of d is feasible.
        """

    def is_settled_at(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether the direction d is small to every energy, and so may be the last one."""

    def updates_at(self, x: WarpArray) -> Sequence[LowRankUpdate]:
        """Return rank-one terms c u u^T that belong to the Hessian but not to ``matrix_at``.

        Most problems have none.
        """
