"""Which candidates are kept, as bits of words, and the list of those that are."""

from dataclasses import dataclass
from typing import Any

import warp as wp

from weft import kernel
from weft.contact.broad_phase.candidates import UNKNOWN, Candidates
from weft.kernel import Scalar, WarpArray
from weft.kernel.bitmask import bits_per_thread
from weft.kernel.native_code import native

_module = wp.get_module("weft.kept")


@wp.func_native(native("compaction.h", "stayed"))
def stayed(
    stencil: wp.array2d(dtype=wp.int32), first: int, count: int, left: wp.array(dtype=wp.int32)
) -> wp.uint32:
    """Bits of those of ``count`` pairs without a vertex that has left its box."""


@wp.kernel(module=_module)
def mark_stayed(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    left: wp.array(dtype=wp.int32),
    width: int,
    bits: wp.array(dtype=wp.uint32),
    count: wp.array(dtype=wp.int32),
):
    """Bits of pairs without such a vertex among the next ``width``, and how many they are."""
    w = o + wp.tid()
    found = stayed(stencil, w * width, wp.min(width, stencil.shape[0] - w * width), left)
    bits[w] = found
    count[w] = wp.bit_count(found)


@wp.func_native(native("compaction.h", "keep_some"))
def keep_some(
    first: int,
    bits: wp.uint32,
    at: int,
    stencil: wp.array2d(dtype=wp.int32),
    bound: wp.array(dtype=Scalar),
    points: int,
    shift: int,
    adjacent: wp.array(dtype=wp.uint8),
    out: wp.array2d(dtype=wp.int32),
    out_bound: wp.array(dtype=Scalar),
    out_adjacent: wp.array(dtype=wp.uint8),
):
    """Those of the pairs from number ``first`` on whose bits are set, from row ``at`` on."""


@wp.kernel(module=_module)
def keep(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    bound: wp.array(dtype=Scalar),
    kept: wp.array(dtype=wp.uint32),
    place: wp.array(dtype=wp.int32),
    width: int,
    points: int,
    shift: int,
    adjacent: wp.array(dtype=wp.uint8),
    out: wp.array2d(dtype=wp.int32),
    out_bound: wp.array(dtype=Scalar),
    out_adjacent: wp.array(dtype=wp.uint8),
):
    """The pairs that are kept, those of edges ``shift`` further on."""
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
    """Some candidates."""

    of: Candidates
    bits: WarpArray  # uint32, of ``bits_per_thread`` candidates each
    place: WarpArray  # int32: where those of a word begin
    number: int
    points: int  # how many of them are points of triangles

    def moved(self, points: int = 0, edges: int = 0) -> Candidates:
        """Them alone, what is known of them too, with room for so many new points of triangles and
        pairs of edges behind those that there are, of which nothing is known.
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
        return self.number


def chosen(of: Candidates, mark: Any, *arguments: Any, worth: int | None = None) -> CompactedPairs:
    """Those that a kernel marks, which takes arguments, how many a word has, its bits, and how many
    of them are set; sliced where there are more than ``worth`` (None: as for one that does little).
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
    return kernel.slice_above(4 * bits_per_thread())
