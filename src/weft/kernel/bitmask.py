"""Sets of up to 32 indices as the bits of a word, and how many indices one word has.

Kernels of the CPU look at 32 indices in turn: those that one test leaves are those that the next
one is made of, in loops without a branch that nobody can predict. Devices with many threads take
one index each.
"""

import warp as wp

from weft.kernel import is_cpu

WORD = 32


def bits_per_thread() -> int:
    """Indices of a word on the device in use."""
    return WORD if is_cpu() else 1


@wp.func
def lowest_set_bit(bits: wp.uint32):
    """The number of the lowest bit; one is set."""
    return wp.bit_count(~bits & (bits - wp.uint32(1)))


@wp.func
def mask_below(k: int):
    """Bits below number k, up to 32."""
    return wp.uint32((wp.uint64(1) << wp.uint64(k)) - wp.uint64(1))
