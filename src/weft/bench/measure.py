"""One number of a benchmark, and how to time things on noisy machines."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measure:
    """A measured number beside its target."""

    name: str  # benchmark/quantity
    value: float
    unit: str
    target: float | None = None  # None: for information
    ok: bool | None = None


def at_most(name: str, value: float, unit: str, target: float) -> Measure:
    """A measure that should not exceed its target."""
    return Measure(name, value, unit, target, value <= target)


def at_least(name: str, value: float, unit: str, target: float) -> Measure:
    """A measure that should reach its target."""
    return Measure(name, value, unit, target, value >= target)


def info(name: str, value: float, unit: str) -> Measure:
    """A measure without a target."""
    return Measure(name, value, unit)


def best_time(run: Callable[[], object], repeats: int = 15) -> float:
    """[s] least time of several runs after a first one: noise only adds."""
    run()
    times = []
    for _ in range(repeats):
        clock = time.perf_counter()
        run()
        times.append(time.perf_counter() - clock)
    return min(times)
