"""Sets of up to 32 indices, stored as the bits of a word.

Kernels on the CPU test 32 indices at a time: the bits that one test leaves set are the input of the
next test, in loops without unpredictable branches. Devices with many threads test one index per
thread (``kernel.granularity``).
"""

import warp as wp


@wp.func
def lowest_set_bit(bits: wp.uint32):
    """Return the number of the lowest set bit; at least one bit must be set."""
    return wp.bit_count(~bits & (bits - wp.uint32(1)))


@wp.func
def mask_below(k: int):
    """Return a word whose bits below number k are set, for k up to 32."""
    return wp.uint32((wp.uint64(1) << wp.uint64(k)) - wp.uint64(1))
