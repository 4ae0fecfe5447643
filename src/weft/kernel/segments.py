"""Arrays of several worlds, one after the other: launches and sums of some of them.

Worlds of one kind have as many vertices, triangles and hinges each, so every array that holds all
of them falls into equal shares. Within ``shares(of, some)`` a launch runs for the shares of some
worlds alone, and ``total`` gives one sum for every world, of the same numbers in the same order as
a world that is alone has them: the same bits.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True)
class ArraySegments:
    """Which worlds work."""

    of: int  # worlds in all
    active: tuple[int, ...]  # ascending
    runs: tuple[tuple[int, int], ...]  # of neighbors, from the first one to behind the last

    def parts(self, n: int) -> list[tuple[int, int]]:
        """Ranges of n indices, from the first one to behind the last."""
        each, rest = divmod(n, self.of)
        assert rest == 0, f"{n} indices are not shared alike by {self.of} worlds"
        return [(each * a, each * b) for a, b in self.runs]


_own: ContextVar[ArraySegments | None] = ContextVar("weft_shares", default=None)


def current() -> ArraySegments | None:
    """The worlds that work; None: arrays are those of one."""
    return _own.get()


def shared() -> bool:
    """Whether launches are for some of several worlds."""
    return _own.get() is not None


@contextmanager
def shares(of: int, active: Sequence[int]) -> Iterator[None]:
    """Within the block, launches are for the shares of some of ``of`` worlds (ascending)."""
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
