"""Pairs that came near only after a matrix's pattern was made for the others.

Where layers lie on layers, a few of hundreds of thousands of pairs come into contact with every
iteration of a step, and a new pattern, with all that the solver prepares for it, costs as much as
all the rest of an iteration. The few are lumped instead: of their Hessians, which are positive
semidefinite, only diagonal blocks are kept, made as large as it takes to be more than the Hessian
in every direction (``contact_matrix.factored_alone``), so that a search still descends, a little
more slowly where they are; values and gradients are exact.

Who comes late depends on where vertices are and were in this step alone, not on which pattern there
is: a run that is taken up has the same bits.
"""

import warp as wp

from weft import kernel
from weft.contact.barrier.barrier import Touch
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import closest, combination
from weft.contact.narrow_phase.adjacent_pairs import MARGIN
from weft.kernel import Scalar, WarpArray, corners, vec3

FEW = 0.05  # of the pairs: where more come late, a new pattern is made
LEAST = 1.0  # pairs of a vertex on average: where there are fewer, a new one costs little


@wp.kernel(module=wp.get_module("weft.latecomers"))
def mark_late(
    o: int,
    before: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
    thickest: Scalar,
    late: wp.array(dtype=wp.uint8),
    number: wp.array(dtype=wp.int32),
):
    """1 for pairs that were too far apart before to have blocks."""
    i = o + wp.tid()
    a, b, c, d = corners(i, before, stencil)
    p = closest(touch[i].kind, a, b, c, d)
    far = wp.length(combination(p.w, a, b, c, d)) >= Scalar(MARGIN) * (touch[i].gap + thickest)
    late[i] = wp.uint8(wp.where(far, 1, 0))
    number[i] = wp.where(far, 1, 0)


class LumpedPairs:
    """Who comes late in one step after another.

    Args:
        n: vertices.
        size: vertices and those of bodies.
        thickest: [m] that pairs keep at most.
    """

    def __init__(self, n: int, size: int, thickest: float) -> None:
        self._n, self._size, self._thickest = n, size, thickest
        self._before: WarpArray | None = None  # where vertices were when nobody had come late
        self.matters = False  # whether it matters who comes late

    def begin(self) -> None:
        """Begin a step."""
        self.matters = False

    def among(self, y: WarpArray, contacts: ContactSet) -> WarpArray | None:
        """(m,) uint8, 1 for those that come late; None: nobody does at y, and all need blocks."""
        m = len(contacts)
        if m <= LEAST * self._n:
            self.matters = False
            return None
        if self.matters:
            late, number = kernel.empty(m, wp.uint8), kernel.empty(m, wp.int32)
            about = (self._before, *contacts.device, Scalar(self._thickest), late, number)
            kernel.launch(mark_late, m, *about)
            count = kernel.total(number)
            if count <= FEW * m:
                return late if count else None
        if self._before is None:
            self._before = kernel.empty(self._size, vec3)
        kernel.copy(y, self._before)
        self.matters = True
        return None
