"""Sums over 3x3 blocks with explicit vector instructions.

The compiler does not find these instructions by itself. The nine numbers of a block are read as
they are stored in memory. Eight of them are multiplied at once by the vector, repeated three times,
and added to one of two sums that do not depend on each other. On devices other than the CPU plain
loops add the same numbers.
"""

import warp as wp

from weft.kernel import Mat33Array, Vec3Array, vec3
from weft.kernel.cpu.native_code import native

ints = wp.array(dtype=wp.int32)
slots = wp.array(dtype=wp.uint16)
floats = wp.array(dtype=float)
vectors = wp.array(dtype=wp.vec3f)
blocks = wp.array(dtype=wp.mat33f)


@wp.func_native(native("block_arithmetic.h", "row_times"))
def row_times(first: int, end: int, column: ints, values: blocks, x: vectors) -> wp.vec3f:
    """The sum of values[k] x[column[k]], k from ``first`` to before ``end``."""


@wp.func_native(native("block_arithmetic.h", "row_times_double"))
def row_times_double(
    first: int, end: int, column: ints, index: ints, values: Mat33Array, x: Vec3Array
) -> vec3:
    """The sum of values[index[k]] x[column[k]], k from ``first`` to before ``end``."""


@wp.func_native(native("block_arithmetic.h", "take_block"))
def take_block(values: Mat33Array, b: int, out: blocks, at: int) -> int:  # type: ignore[empty-body]
    """out[at] = values[b] in float32; 0 where it is a block of zeros."""


@wp.func_native(native("block_arithmetic.h", "move_block"))
def move_block(values: blocks, b: int, at: int) -> int:  # type: ignore[empty-body]
    """values[at] = values[b], at <= b; 0 where it is a block of zeros."""


@wp.func_native(native("block_arithmetic.h", "clear_blocks"))
def clear_blocks(values: blocks, first: int, end: int):
    """values[k] = 0, k from ``first`` to before ``end``."""


@wp.func_native(native("block_arithmetic.h", "add_to_many"))
def add_to_many(
    b: int,
    values: blocks,
    first: int,
    end: int,
    weight: floats,
    product: int,
    slot: slots,
    base: int,
    out: blocks,
):
    """Add weight[k] values[b], k from ``first`` to before ``end``, each where its slot says."""


@wp.func_native(native("block_arithmetic.h", "add_many"))
def add_many(
    w: float,
    values: blocks,
    first: int,
    end: int,
    product: int,
    slot: slots,
    base: int,
    out: blocks,
):
    """Add w values[k], k from ``first`` to before ``end``, each where its slot says."""
