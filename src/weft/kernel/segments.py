"""Arrays of several worlds, one after the other: launches and sums for some of the worlds.

Worlds that are simulated together have equal numbers of vertices, triangles and hinges, so an array
of all worlds divides into equal segments. Within ``shares(of, active)`` a launch runs for the
segments of the active worlds only, and ``total`` gives one sum for every world. That sum adds the
same numbers in the same order as for a world that is simulated alone, so results are bitwise the
same.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class ArraySegments:
    """Number of worlds, and those that are active."""

    of: int  # number of worlds
    active: tuple[int, ...]  # ascending
    runs: tuple[tuple[int, int], ...]  # consecutive active worlds, each as (first, end)

    def parts(self, n: int) -> list[tuple[int, int]]:
        """Return the ranges of n indices that belong to active worlds, each as (first, end)."""
        each, rest = divmod(n, self.of)
        assert rest == 0, f"{n} indices are not shared alike by {self.of} worlds"
        return [(each * a, each * b) for a, b in self.runs]


_own: ContextVar[ArraySegments | None] = ContextVar("weft_shares", default=None)


def current() -> ArraySegments | None:
    """Return the segments in use; None: arrays belong to a single world."""
    return _own.get()


def shared() -> bool:
    """Return whether launches are for some of several worlds."""
    return _own.get() is not None


@contextmanager
def shares(of: int, active: Sequence[int]) -> Iterator[None]:
    """Restrict launches to the segments of the active worlds within a ``with`` block.

    Args:
        of: number of worlds in every array.
        active: indices of the active worlds, ascending.
    """
    runs: list[tuple[int, int]] = []
    for w in active:
        if runs and runs[-1][1] == w:
            runs[-1] = runs[-1][0], w + 1
        else:
            runs.append((w, w + 1))
    token = _own.set(ArraySegments(of, tuple(active), tuple(runs)))
    try:
        yield
    finally:
        _own.reset(token)
