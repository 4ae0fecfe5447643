"""Collect overlapping boxes during a tree traversal, and write them as candidate pairs.

The first traversal counts the overlaps of each box and stores as many as its row has slots. The
pairs are written afterwards, at places that a scan of the counts gives. The code is native C++, as
in ``aabb_simd``, because it takes a few instructions for each of a million pairs.
"""

import warp as wp

_NOTE = """
    const int room = (int)slots.shape[1];
    int found = count.data[i];
    int* row = slots.data + room * (size_t)i;
    for (; bits; bits &= bits - 1, ++found)
        if (found < room)
            row[found] = first + wp::bit_count(~bits & (bits - 1));
    count.data[i] = found;
"""


@wp.func_native(_NOTE)
def note(
    i: int,
    first: int,
    bits: wp.uint32,
    count: wp.array(dtype=wp.int32),
    slots: wp.array2d(dtype=wp.int32),
):
    """Record that box i overlaps the boxes ``first`` + k for each set bit k.

    All overlaps are counted; they are stored in row i of ``slots`` as long as there is room.
    """


_PUT = """
    const int k = (int)a.shape[1], m = (int)b.shape[1];
    auto put = [&](int place, int j) {
        if (apart == 0) {
            out.data[2 * (size_t)place] = i;
            out.data[2 * (size_t)place + 1] = j;
            return;
        }
        const int *one = a.data + k * (size_t)i, *other = b.data + m * (size_t)j;
        int* row = out.data + (k + m) * (size_t)place;
        if (k == 2 && m == 2) {
            row[0] = one[0];
            row[1] = one[1];
            row[2] = other[0];
            row[3] = other[1];
            return;
        }
        for (int c = 0; c < k; ++c)
            row[(m < k ? m : 0) + c] = one[c];
        for (int c = 0; c < m; ++c)
            row[(m < k ? 0 : k) + c] = other[c];
    };
"""
_NOTED = """
    const int* row = slots.data + slots.shape[1] * (size_t)i;
    for (int s = 0; s < count; ++s)
        put(place + s, row[s]);
"""
_GIVEN = """
    for (; bits; bits &= bits - 1)
        put(place++, first + wp::bit_count(~bits & (bits - 1)));
"""


@wp.func_native(_PUT + _NOTED)
def put_noted(
    place: int,
    i: int,
    count: int,
    slots: wp.array2d(dtype=wp.int32),
    apart: int,
    a: wp.array2d(dtype=wp.int32),
    b: wp.array2d(dtype=wp.int32),
    out: wp.array2d(dtype=wp.int32),
):
    """Write the pairs of box i with the boxes stored in its row of ``slots``, from row ``place``
    on.

    Without ``apart`` a pair is written as the places of both boxes, with ``apart`` as the vertices
    of both primitives, the primitive with fewer vertices first.
    """


@wp.func_native(_PUT + _GIVEN)
def put_met(
    place: int,
    i: int,
    first: int,
    bits: wp.uint32,
    apart: int,
    a: wp.array2d(dtype=wp.int32),
    b: wp.array2d(dtype=wp.int32),
    out: wp.array2d(dtype=wp.int32),
):
    """Write the pairs of box i with the boxes ``first`` + k for each set bit k, in the format of
    ``put_noted``.
    """
