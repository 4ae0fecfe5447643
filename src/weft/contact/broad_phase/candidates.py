"""Candidate pairs: a vertex and a face, or two edges, whose bounding boxes overlap.

Pairs are selected from such a list by a bit mask: a kernel marks the pairs that are kept, one bit
each; a scan of the numbers of set bits gives the rows to which each thread copies its pairs.
"""

from dataclasses import dataclass
from functools import cached_property

import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.contact.distance.distance import Pairs, distances_of, kind_of
from weft.kernel import (
    BitsArray,
    IntArray,
    IntArray2d,
    Kernel,
    WarpArray,
)
from weft.kernel.bitmask import mask_below
from weft.kernel.cpu.native_code import native
from weft.kernel.granularity import bits_per_index

_module = wp.get_module("weft.candidates")
UNKNOWN = -1e300  # [m] lower bound of a distance that has not been computed
COPY_WORK = 4.0  # matrix entries that take as long as a copy of one pair


@wp.kernel(module=_module)
def write_kinds(o: int, points: int, kind: IntArray):
    """Write the kind of every candidate pair."""
    i = o + wp.tid()
    kind[i] = kind_of(i, points)


@dataclass(eq=False)
class Candidates:
    """Candidate pairs: vertex-face pairs first, then edge-edge pairs.

    Their order does not depend on how they were found.
    """

    stencil: WarpArray  # (p+e,4) int32 vertex, face; then edge, edge
    points: int  # p, the number of vertex-face pairs
    bounds: WarpArray | None = None  # (p+e,) [m] lower bounds of distances; None: unknown
    adjacent: WarpArray | None = None  # (p+e,) uint8, see ``adjacent_pairs``; None: unmarked

    @cached_property
    def bound(self) -> WarpArray:
        """Return the lower bound of each pair's distance, (p+e,) [m], which holds at the positions
        at which ``DisplacementBound`` has its origin.
        """
        if self.bounds is not None:
            return self.bounds
        out = kernel.empty(len(self))
        out.fill_(UNKNOWN)
        return out

    @property
    def struct(self) -> Pairs:
        """Return the pairs in the form that kernels take."""
        out = self._struct
        if self.adjacent is not None and out.adjacent is not self.adjacent:
            out.adjacent = self.adjacent
        return out

    @cached_property
    def _struct(self) -> Pairs:
        out = Pairs()
        out.stencil, out.points, out.bound = self.stencil, self.points, self.bound
        return out

    @cached_property
    def device(self) -> tuple[WarpArray, WarpArray]:
        """Return the vertices (p+e,4) and the ``PairKind`` (p+e,) of each pair, int32 on the
        device.
        """
        kind = kernel.empty(len(self), wp.int32)
        kernel.launch(write_kinds, len(self), self.points, kind)
        return self.stencil, kind

    @property
    def pairs(self) -> Ints:
        """Return the vertices of each pair, (p+e,4) on the host."""
        return kernel.numpy(self.stencil)

    def distances(self, x: Positions | WarpArray) -> Floats:
        """Return the distance of each pair at x (n,3) [m], (p+e,) [m]."""
        return distances_of(x, *self.device)

    def __len__(self) -> int:
        """Return the number of candidate pairs."""
        return int(self.stencil.shape[0])


@wp.func_native(native("compaction.h", "mark_unmoved"))
def mark_unmoved(stencil: IntArray2d, first: int, count: int, left: IntArray) -> wp.uint32:
    """Return the bits of those of ``count`` pairs from number ``first`` on that have no vertex that
    left its box.
    """


@wp.kernel(module=_module)
def mark_stayed(
    o: int, stencil: IntArray2d, left: IntArray, width: int, bits: BitsArray, count: IntArray
):
    """Mark the pairs without a vertex that left its box among ``width`` pairs, and count them."""
    w = o + wp.tid()
    found = mark_unmoved(stencil, w * width, wp.min(width, stencil.shape[0] - w * width), left)
    bits[w] = found
    count[w] = wp.bit_count(found)


@wp.kernel(module=_module)
def count_selected(
    o: int,
    bits: BitsArray,
    count: IntArray,
    place: IntArray,
    points: int,
    width: int,
    out: IntArray,
):
    """Write the number of selected pairs, and of those among the first ``points``."""
    last = bits.shape[0] - 1
    out[0] = place[last] + count[last]
    out[1] = out[0]
    w = points / width
    if w <= last:
        out[1] = place[w] + int(wp.bit_count(bits[w] & mask_below(points - w * width)))


@wp.func_native(native("compaction.h", "keep_some"))
def keep_some(pairs: Pairs, first: int, bits: wp.uint32, at: int, shift: int, out: Pairs):
    """Copy the pairs ``first`` + k for each set bit k, with their bounds and marks, to the rows of
    ``out`` from ``at`` on, edge-edge pairs ``shift`` rows further on.
    """


@wp.kernel(module=_module)
def keep(
    o: int, pairs: Pairs, kept: BitsArray, place: IntArray, width: int, shift: int, out: Pairs
):
    """Copy the marked pairs, with edge-edge pairs ``shift`` rows further on."""
    w = o + wp.tid()
    keep_some(pairs, w * width, kept[w], place[w], shift, out)


@dataclass(frozen=True, eq=False)
class CompactedPairs:
    """A selection of candidate pairs, as bits."""

    of: Candidates  # the pairs from which these are selected
    bits: WarpArray  # (w,) uint32, bits of ``bits_per_index`` candidates each
    place: WarpArray  # (w,) int32 number of selected pairs before those of a word
    total: int  # number of selected pairs
    points: int  # number of selected vertex-face pairs

    def compact_moved(self, points: int = 0, edges: int = 0) -> Candidates:
        """Return the selected pairs, with their bounds and marks, and with room for new pairs.

        Args:
            points: number of rows left free for new vertex-face pairs, behind the selected ones.
            edges: number of rows left free for new edge-edge pairs, at the end. Bounds of new
                pairs are ``UNKNOWN``; their vertices are not initialized.
        """
        number, kept_points = len(self) + points + edges, self.points
        bound, marked = kernel.empty(number), self.of.adjacent is not None
        for begin, new in ((kept_points, points), (number - edges, edges)):
            if new:
                bound[begin : begin + new].fill_(UNKNOWN)
        adjacent = kernel.empty(number, wp.uint8) if marked else None
        stencil = kernel.empty((number, 4), wp.int32)
        out = Candidates(stencil, kept_points + points, bound, adjacent)
        kept = (self.of.struct, self.bits, self.place, bits_per_index(), points, out.struct)
        kernel.launch(keep, self.bits.shape[0], *kept, work=COPY_WORK * bits_per_index())
        return out

    def __len__(self) -> int:
        """Return the number of selected pairs."""
        return self.total


def select_pairs(
    of: Candidates, mark: Kernel, *arguments: object, work: float = COPY_WORK
) -> CompactedPairs:
    """Select the candidate pairs that a kernel marks.

    Args:
        of: the candidate pairs.
        mark: kernel that takes ``arguments``, the number of pairs of each thread, and the arrays
            to which it writes their bits and the number of set bits.
        arguments: the first arguments of the kernel.
        work: of one pair, as for ``kernel.launch``.
    """
    width = bits_per_index()
    words = -(-len(of) // width)
    bits = kernel.empty(words, wp.uint32)
    count, place = (kernel.empty(words, wp.int32) for _ in range(2))
    kernel.launch(mark, words, *arguments, width, bits, count, work=work * width)
    kernel.prefix_sums(count, place)
    selected = kernel.zeros(2, wp.int32)
    kernel.launch(count_selected, min(words, 1), bits, count, place, of.points, width, selected)
    return CompactedPairs(of, bits, place, *kernel.scalars(selected))
