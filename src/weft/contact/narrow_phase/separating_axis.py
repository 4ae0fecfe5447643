"""Separating axis test of one primitive against the eight primitives of a leaf.

In fine cloth most pairs whose boxes overlap are not near each other. The axis is the line through
the centroids of both primitives, halfway along their paths. If it separates them at the start and
at the end of the paths, it does so all the time, because the position of a vertex along an axis
changes linearly on a straight path. Such pairs are never listed.

Vertices are stored leaf by leaf, coordinate by coordinate, eight numbers each, followed by how far
a vertex may be from its stored position: half the diagonal of its box, and round-off.
"""

import warp as wp

from weft.contact.broad_phase.aabb import LeafBoxes
from weft.kernel import FloatArray
from weft.kernel.native_code import native


@wp.func_native(native("separating_axis.h", "apart_along_line", K=2, M=2))
def _edges(
    places: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the edges of a leaf against an edge."""


@wp.func_native(native("separating_axis.h", "apart_along_line", K=3, M=1))
def _faces(
    places: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the triangles of a leaf against a point."""


@wp.func_native(native("separating_axis.h", "apart_along_line", K=1, M=3))
def _points(
    places: FloatArray,
    ends: FloatArray,
    leaf: int,
    others: FloatArray,
    other_ends: FloatArray,
    other: int,
    number: int,
    wanted: wp.float32,
    by: wp.float32,
) -> wp.uint32:
    """Test the points of a leaf against a triangle."""


@wp.func
def apart_by_lines(
    b: LeafBoxes, leaf: int, a: LeafBoxes, c: int, i: int, wanted: wp.float32, by: wp.float32
):
    """Return the bits of the primitives of a leaf that stay apart from primitive i of leaf c.

    Bits 0 to 7 mark distances of at least ``wanted`` [m], bits 8 to 15 of at least ``wanted - by``.
    """
    if b.ids.shape[1] == 2:
        return _edges(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    if b.ids.shape[1] == 3:
        return _faces(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
    return _points(b.places, b.last_places, leaf, a.places, a.last_places, c, i, wanted, by)
