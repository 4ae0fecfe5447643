"""Phases: seconds of wall time by name, for reports."""

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Phases(dict[str, float]):
    """Seconds by name; they add up."""

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what is inside under a name."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self[name] = self.get(name, 0.0) + time.perf_counter() - start
