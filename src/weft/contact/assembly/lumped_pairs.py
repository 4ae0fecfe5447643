"""Pairs that came near only after the pattern of a matrix was made are lumped on its diagonal.

In many layers of cloth, a few of hundreds of thousands of pairs come into contact in every
iteration of a step, and a new pattern, with all that the solver prepares for it, costs as much as
the rest of an iteration. The few are lumped instead: of their Hessians, which are positive
semidefinite, only diagonal blocks are kept, enlarged so that they exceed the Hessian in every
direction (``contact_matrix.lump_factors``). So the search direction still descends, a little more
slowly near these pairs; values and gradients are exact.

Which pairs are late depends on the positions in this step alone, not on which pattern exists: a run
that is resumed has the same bits.
"""

import warp as wp

from weft import kernel
from weft.contact.barrier.barrier import BarrierArray
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import closest_at
from weft.contact.narrow_phase.adjacent_pairs import MARGIN
from weft.kernel import ByteArray, IntArray, IntArray2d, Scalar, Vec3Array, WarpArray, vec3

FEW = 0.05  # of the pairs: if more come late, a new pattern is made
LEAST = 1.0  # pairs for each vertex on average: with fewer, a new pattern costs little


@wp.kernel(module=wp.get_module("weft.late_pairs"))
def mark_late(
    o: int,
    before: Vec3Array,
    stencil: IntArray2d,
    touch: BarrierArray,
    thickest: Scalar,
    late: ByteArray,
    number: IntArray,
):
    """Mark the pairs that were too far apart at ``before`` to have blocks."""
    i = o + wp.tid()
    _p, v = closest_at(touch[i].kind, i, before, stencil)
    room = wp.length(v) - wp.max(touch[i].thickness - thickest, Scalar(0.0))  # beside a core
    far = room >= Scalar(MARGIN) * (touch[i].gap + thickest)
    late[i] = wp.uint8(wp.where(far, 1, 0))
    number[i] = wp.where(far, 1, 0)


class LumpedPairs:
    """The choice of the pairs that come late and are lumped, in one step after another.

    Args:
        n: number of vertices.
        size: number of vertices with those of bodies.
        thickest: [m] largest thickness that a pair keeps.
    """

    def __init__(self, n: int, size: int, thickest: float) -> None:
        self._n, self._size, self._thickest = n, size, thickest
        self._before: WarpArray | None = None  # positions when no pair was late
        self.is_active = False  # whether late pairs are lumped

    def begin(self) -> None:
        """Begin a step: no pair is late."""
        self.is_active = False

    def among(self, y: WarpArray, contacts: ContactSet) -> WarpArray | None:
        """Return 1 for each pair that is late, (m,) uint8; None if none is at y and all pairs need
        blocks.
        """
        m = len(contacts)
        if m <= LEAST * self._n:
            self.is_active = False
            return None
        if self.is_active:
            late, number = kernel.empty(m, wp.uint8), kernel.empty(m, wp.int32)
            about = (self._before, *contacts.device, Scalar(self._thickest), late, number)
            kernel.launch(mark_late, m, *about)
            count = kernel.total(number)
            if count <= FEW * m:
                return late if count else None
        if self._before is None:
            self._before = kernel.empty(self._size, vec3)
        kernel.copy(y, self._before)
        self.is_active = True
        return None
