"""Timing of phases by name, for reports; wall time, unless another clock is given."""

import time
from collections.abc import Callable


class Phases(dict[str, float]):
    """Seconds by name of a phase; repeated phases add up, inner phases count for themselves
    alone.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__()
        self.clock = clock  # [s]
        self.inside = [0.0]  # [s] time of inner phases, for every phase that is still running

    def __call__(self, name: str) -> "Phase":
        """Return a context manager that adds the time of its block to the phase ``name``."""
        return Phase(self, name)


class Phase:
    """A context manager that times one execution of a phase."""

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
