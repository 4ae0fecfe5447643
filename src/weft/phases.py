"""Phases: seconds by name, for reports; of wall time, unless another clock is asked for."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Phases(dict[str, float]):
    """Seconds by name; they add up, and what is inside another phase counts for itself alone."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__()
        self._clock = clock  # [s]
        self._inside = [0.0]  # seconds of inner phases, for every phase that is open

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what is inside under a name."""
        start = self._clock()
        self._inside.append(0.0)
        try:
            yield
        finally:
            spent = self._clock() - start
            self[name] = self.get(name, 0.0) + spent - self._inside.pop()
            self._inside[-1] += spent
