"""Collect overlapping boxes during a tree traversal, and write them as candidate pairs.

The first traversal counts the overlaps of each box and stores as many as its row has slots. The
pairs are written afterwards, at places that a scan of the counts gives. The code is native C++, as
in ``aabb_simd``, because it takes a few instructions for each of a million pairs.
"""

import warp as wp

from weft.kernel import IntArray, IntArray2d
from weft.kernel.native_code import native


@wp.func_native(native("pair_list.h", "note"))
def note(i: int, first: int, bits: wp.uint32, count: IntArray, slots: IntArray2d):
    """Record that box i overlaps the boxes ``first`` + k for each set bit k.

    All overlaps are counted; they are stored in row i of ``slots`` as long as there is room.
    """


@wp.func_native(native("pair_list.h", "put_noted"))
def put_noted(
    place: int,
    i: int,
    count: int,
    slots: IntArray2d,
    apart: int,
    a: IntArray2d,
    b: IntArray2d,
    out: IntArray2d,
):
    """Write the pairs of box i with the boxes stored in its row of ``slots``, from row ``place``
    on.

    Without ``apart`` a pair is written as the places of both boxes, with ``apart`` as the vertices
    of both primitives, the primitive with fewer vertices first.
    """


@wp.func_native(native("pair_list.h", "put_met"))
def put_met(
    place: int,
    i: int,
    first: int,
    bits: wp.uint32,
    apart: int,
    a: IntArray2d,
    b: IntArray2d,
    out: IntArray2d,
):
    """Write the pairs of box i with the boxes ``first`` + k for each set bit k, in the format of
    ``put_noted``.
    """
