"""Whom a box meets, noted as it is found, and written as pairs.

Native code, as in ``aabb_simd``: a few instructions for each of a million pairs.
"""

import warp as wp

from weft.kernel.native_code import native


@wp.func_native(native("pair_list.h", "note"))
def note(
    i: int,
    first: int,
    bits: wp.uint32,
    count: wp.array(dtype=wp.int32),
    slots: wp.array2d(dtype=wp.int32),
):
    """Box i meets boxes ``first`` and on, whose bits are set: they are counted, and noted in its
    row as long as there is room.
    """


@wp.func_native(native("pair_list.h", "put_noted"))
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
    """Pairs of box i with those noted in its row, from row ``place`` on: places of both, or with
    ``apart`` the vertices of both, fewer first.
    """


@wp.func_native(native("pair_list.h", "put_met"))
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
    """The same of box i with boxes ``first`` and on, whose bits are set."""
