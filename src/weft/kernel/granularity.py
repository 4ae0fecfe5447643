"""Numbers of rows, pairs or boxes that one kernel index works on.

A core of a CPU is fastest with blocks of work that fit its cache or its words. A device with
thousands of threads has one row, pair or box for each thread. The choice is made here only, so that
kernels take it as an argument.
"""

from weft.kernel.context import is_cpu

ROWS = 64  # rows of a matrix whose products one kernel index sums on the CPU
WORD = 32  # indices whose bits fit a word, which one kernel index tests on the CPU
SERIAL_SUM = 1024  # numbers that one kernel index sums on the CPU


def rows_per_index() -> int:
    """Return the number of matrix rows that one kernel index works on."""
    return ROWS if is_cpu() else 1


def bits_per_index() -> int:
    """Return the number of indices of a word (pairs, boxes) that one kernel index works on."""
    return WORD if is_cpu() else 1


def numbers_per_sum() -> int:
    """Return the number of partial sums that one kernel index adds up."""
    return SERIAL_SUM if is_cpu() else ROWS
