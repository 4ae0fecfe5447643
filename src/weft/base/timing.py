"""Phases: seconds by name, for reports; of wall time, unless another clock is asked for."""

import time
from collections.abc import Callable


class Phases(dict[str, float]):
    """Seconds by name; they add up, and what is inside another phase counts for itself alone."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__()
        self.clock = clock  # [s]
        self.inside = [0.0]  # seconds of inner phases, for every phase that is open

    def __call__(self, name: str) -> "Phase":
        """Count what is inside under a name, in a ``with`` block."""
        return Phase(self, name)


class Phase:
    """One time that a phase is gone through."""

    __slots__ = ("_name", "_phases", "_start")

    def __init__(self, phases: Phases, name: str) -> None:
        self._phases, self._name = phases, name

    def __enter__(self) -> None:
        self._phases.inside.append(0.0)
        self._start = self._phases.clock()

    def __exit__(self, *_: object) -> None:
        p = self._phases
        spent = p.clock() - self._start
        p[self._name] = p.get(self._name, 0.0) + spent - p.inside.pop()
        p.inside[-1] += spent
