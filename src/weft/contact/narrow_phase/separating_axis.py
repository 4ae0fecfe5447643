"""Eight primitives at a time: which of a leaf are apart from another one along a line.

Most pairs whose boxes meet in fine cloth are not near each other. Where a line through the middles
of both holds them apart at the begin of a way and at its end, it does so all the way: on straight
ways, how far points are along a line changes linearly. So such pairs need not be listed.

Corners lie leaf by leaf, coordinate by coordinate, eight numbers each, and behind them by how much
vertices may be beside theirs: half of their boxes, and round-off.
"""

import warp as wp

from weft.contact.broad_phase.aabb import LeafBoxes
from weft.kernel.native_code import native


@wp.func_native(native("separating_axis.h", "apart_along_line", K=2, M=2))
def _edges(
    places: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Edges of a leaf apart from an edge."""


@wp.func_native(native("separating_axis.h", "apart_along_line", K=3, M=1))
def _faces(
    places: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Triangles apart from a point."""


@wp.func_native(native("separating_axis.h", "apart_along_line", K=1, M=3))
def _points(
    places: wp.array(dtype=wp.float32),
    ends: wp.array(dtype=wp.float32),
    leaf: int,
    others: wp.array(dtype=wp.float32),
    other_ends: wp.array(dtype=wp.float32),
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Points apart from a triangle."""


@wp.func
def apart_by_lines(
    b: LeafBoxes, leaf: int, a: LeafBoxes, c: int, i: int, wanted: wp.float32, by: wp.float32
):
    """Bits of what in a leaf stays ``wanted`` [m] and more from what has number i in leaf c, in
    word 0 ... 7; and eight bits higher, of what stays so far less ``by``.
    """
    if b.ids.shape[1] == 2:
        return _edges(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    if b.ids.shape[1] == 3:
        return _faces(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    return _points(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
