"""Launches that are replayed in turn, by one call of native code on the CPU: what a graph is on a
device.

An iteration of conjugate gradients on a small mesh is a dozen kernels of a few microseconds each,
and Python takes one and a half for a launch. A chain is written down once, and what changes is
written anew; several threads share those of its launches that are worth it, and meet after each.
"""

import ctypes
from collections.abc import Sequence
from typing import Any

import warp as wp

from weft.kernel.context import is_cpu, threads
from weft.kernel.launching import Recorded, most_helping, worth_sharing
from weft.kernel.memory import empty, view
from weft.kernel.thread_pool import HEAD, LAUNCH, ROOM, team
from weft.kernel.types import WarpArray


class RecordedLaunches:
    """Launches in turn, of which any range of neighbors can be replayed."""

    def __init__(self, launches: Sequence[Recorded]) -> None:
        self._launches = tuple(launches)
        self._longest = max(launches, key=lambda one: one.n / one.slice_above)
        self._places: list[int] = []
        self._written: WarpArray = None
        self._plain = is_cpu()  # whether native code can run them

    def __len__(self) -> int:
        return len(self._launches)

    def set(self, launch: int, index: int, value: Any) -> None:
        """Replace an argument of a launch, as ``Recorded.set`` does."""
        one = self._launches[launch]
        if one.argument(index) is not value:
            one.set(index, value)
            if self._written is not None:
                self._plain = self._write(launch, self._places[launch])

    def replay(self, begin: int = 0, end: int | None = None) -> None:
        """Run the launches from one on and before another; all of them, if nothing is said."""
        end = len(self._launches) if end is None else end
        if self._plain and self._written is None:
            self._plain = self._write_all()
        if self._plain and team.replay(self._written, begin, end, self._threads()):
            return
        for one in self._launches[begin:end]:
            one.launch()

    def _threads(self) -> int:
        """How many may share what is worth it: to wake one is worth it for large launches only."""
        one = self._longest
        return threads() if one.n >= worth_sharing(one.slice_above) else 1

    def _write_all(self) -> bool:
        """Write down all of them; False where one is not as native code takes it."""
        packed = [one.packed() for one in self._launches]
        if any(p is None or len(p[1]) > 8 * ROOM for p in packed):
            return False
        places = [HEAD + len(packed) + (HEAD + len(packed)) % 2]  # arguments begin at 16 bytes
        for p in packed:
            assert p is not None
            places.append(places[-1] + LAUNCH + 2 * -(-len(p[1]) // 16))
        self._places, self._written = places, empty(places[-1], wp.int64)
        view(self._written)[HEAD : HEAD + len(packed)] = places[:-1]
        return all(self._write(k, place) for k, place in enumerate(places[:-1]))

    def _write(self, k: int, place: int) -> bool:
        """Write down one of them."""
        one = self._launches[k]
        packed = one.packed()
        if packed is None:
            return False
        entry, data = packed
        head = entry.address, one.n, most_helping(one.n, one.slice_above), -(-len(data) // 8)
        view(self._written)[place : place + LAUNCH] = head
        ctypes.memmove(self._written.ptr + 8 * (place + LAUNCH), data, len(data))
        return True
