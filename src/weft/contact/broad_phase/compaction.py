"""Select candidate pairs by a bit mask, and write the selected pairs as a new list.

A kernel marks the pairs that are kept, one bit each; a scan of the numbers of set bits gives the
rows to which each thread copies its pairs.
"""

from dataclasses import dataclass
from typing import Any

import warp as wp

from weft import kernel
from weft.contact.broad_phase.candidates import UNKNOWN, Candidates
from weft.kernel import BitsArray, ByteArray, IntArray, IntArray2d, ScalarArray, WarpArray
from weft.kernel.bitmask import bits_per_thread
from weft.kernel.native_code import native

_module = wp.get_module("weft.kept")


@wp.func_native(native("compaction.h", "stayed"))
def stayed(stencil: IntArray2d, first: int, count: int, left: IntArray) -> wp.uint32:
    """Return the bits of those of ``count`` pairs from number ``first`` on that have no vertex that
    left its box.
    """


@wp.kernel(module=_module)
def mark_stayed(
    o: int, stencil: IntArray2d, left: IntArray, width: int, bits: BitsArray, count: IntArray
):
    """Mark the pairs without a vertex that left its box among ``width`` pairs, and count them."""
    w = o + wp.tid()
    found = stayed(stencil, w * width, wp.min(width, stencil.shape[0] - w * width), left)
    bits[w] = found
    count[w] = wp.bit_count(found)


@wp.func_native(native("compaction.h", "keep_some"))
def keep_some(
    first: int,
    bits: wp.uint32,
    at: int,
    stencil: IntArray2d,
    bound: ScalarArray,
    points: int,
    shift: int,
    adjacent: ByteArray,
    out: IntArray2d,
    out_bound: ScalarArray,
    out_adjacent: ByteArray,
):
    """Copy the pairs ``first`` + k for each set bit k, with their bounds and marks, to the rows
    from ``at`` on.
    """


@wp.kernel(module=_module)
def keep(
    o: int,
    stencil: IntArray2d,
    bound: ScalarArray,
    kept: BitsArray,
    place: IntArray,
    width: int,
    points: int,
    shift: int,
    adjacent: ByteArray,
    out: IntArray2d,
    out_bound: ScalarArray,
    out_adjacent: ByteArray,
):
    """Copy the marked pairs, with edge-edge pairs ``shift`` rows further on."""
    w = o + wp.tid()
    keep_some(
        w * width,
        kept[w],
        place[w],
        stencil,
        bound,
        points,
        shift,
        adjacent,
        out,
        out_bound,
        out_adjacent,
    )


@dataclass(frozen=True, eq=False)
class CompactedPairs:
    """A selection of candidate pairs, as bits."""

    of: Candidates  # the pairs from which these are selected
    bits: WarpArray  # (w,) uint32, bits of ``bits_per_thread`` candidates each
    place: WarpArray  # (w,) int32 number of selected pairs before those of a word
    number: int  # of selected pairs
    points: int  # number of selected vertex-face pairs

    def moved(self, points: int = 0, edges: int = 0) -> Candidates:
        """Return the selected pairs, with their bounds and marks, and with room for new pairs.

        Args:
            points: number of rows left free for new vertex-face pairs, behind the selected ones.
            edges: number of rows left free for new edge-edge pairs, at the end. Bounds of new
                pairs are ``UNKNOWN``; their vertices are not initialized.
        """
        out = kernel.empty((self.number + points + edges, 4), wp.int32)
        bound, marks = kernel.empty(out.shape[0]), self.of.adjacent
        for begin, new in ((self.points, points), (out.shape[0] - edges, edges)):
            if new:
                bound[begin : begin + new].fill_(UNKNOWN)
        nothing = kernel.empty(0, wp.uint8)
        adjacent = nothing if marks is None else kernel.empty(out.shape[0], wp.uint8)
        pairs = (self.of.device_stencil, self.of.bound, self.bits, self.place, bits_per_thread())
        to = (self.of.points, points, nothing if marks is None else marks, out, bound, adjacent)
        kernel.launch(keep, self.bits.shape[0], *pairs, *to, slice_above=_above())
        return Candidates(out, self.points + points, bound, None if marks is None else adjacent)

    def __len__(self) -> int:
        """Return the number of selected pairs."""
        return self.number


def chosen(of: Candidates, mark: Any, *arguments: Any, worth: int | None = None) -> CompactedPairs:
    """Select the candidate pairs that a kernel marks.

    Args:
        of: the candidate pairs.
        mark: kernel that takes ``arguments``, the number of pairs of each thread, and the arrays
            to which it writes their bits and the number of set bits.
        arguments: the first arguments of the kernel.
        worth: number of pairs above which the launch is sliced; None: as for a kernel that does
            little for each pair.
    """
    width = bits_per_thread()
    words = -(-len(of) // width)
    bits = kernel.empty(words, wp.uint32)
    count, place = (kernel.empty(words, wp.int32) for _ in range(2))
    above = _above() if worth is None else worth // width
    kernel.launch(mark, words, *arguments, width, bits, count, slice_above=above)
    number = points = kernel.scan(count, place)
    if of.points < len(of):
        w, rest = divmod(of.points, width)
        first = int(kernel.scalar(bits, w)) & (1 << rest) - 1
        points = int(kernel.scalar(place, w)) + first.bit_count()
    return CompactedPairs(of, bits, place, number, points)


def _above() -> int:
    """Return the number of words above which a launch is sliced that copies four entries of each
    pair.
    """
    return kernel.slice_above(4 * bits_per_thread())
