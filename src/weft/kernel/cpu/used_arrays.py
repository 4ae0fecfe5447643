"""Arrays on the CPU that are given out again."""

import threading
from collections import deque
from sys import getrefcount

import warp as wp

from weft.kernel.types import DataType, WarpArray

TRIES = 8  # arrays of a shape that are looked at


def _references() -> int:
    """Return the references to an object that only ``take`` and its list refer to."""
    known = deque([object()])
    a = known[0]
    return getrefcount(a)


UNUSED = _references()


class UsedArrays(threading.local):
    """Small arrays of a thread on the CPU, each given out again when nobody else refers to it.

    To build an array takes Warp 10 us, and a step of a small cloth asks for a thousand, mostly of
    the same few shapes. An array also keeps its packed bytes and its view. Its memory is as safe as
    if it were freed and allocated anew: views and structures refer to the array that they use.
    """

    MOST, LARGEST = 1000, 2**15  # arrays, and bytes of one

    def __init__(self) -> None:
        self._known: dict[object, deque[WarpArray]] = {}
        self._count = 0

    def take(self, shape: int | tuple[int, ...], dtype: DataType) -> WarpArray:
        """Return an array, not initialized."""
        key = shape, dtype
        known = self._known.get(key)
        if known is not None:
            for _ in range(min(len(known), TRIES)):
                a = known[0]
                known.rotate(-1)
                if getrefcount(a) == UNUSED:
                    return a
        a = wp.empty(shape, dtype=dtype, device="cpu")
        if a.capacity <= self.LARGEST:
            if self._count == self.MOST:
                self._known.clear()
                self._count = 0
            self._known.setdefault(key, deque()).append(a)
            self._count += 1
        return a


used = UsedArrays()
