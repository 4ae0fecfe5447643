"""One number of a benchmark, and how to time things on noisy machines."""

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass

TIMES = ("s", "ms")  # first words of units that the machine's speed enters


@dataclass(frozen=True)
class BenchMeasure:
    """A measured number beside its target."""

    name: str  # benchmark/quantity
    value: float | None  # None: the benchmark failed
    unit: str
    target: float | None = None  # None: for information; of the reference machine, if a time
    ok: bool | None = None
    normalized: float | None = None  # what it would be on the reference machine; None: no time
    error: str = ""  # why the benchmark failed

    @property
    def is_time(self) -> bool:
        """Whether a slower machine makes it larger."""
        return self.unit.replace(",", " ").split(" ")[0] in TIMES

    def on(self, factor: float) -> "BenchMeasure":
        """The measure of a machine that takes ``factor`` times as long as the reference machine:
        it is the normalized time that has to reach the target.
        """
        if self.value is None or not self.is_time:
            return self
        normalized = self.value / factor
        ok = None if self.target is None else normalized <= self.target
        return dataclasses.replace(self, normalized=normalized, ok=ok)


@dataclass(frozen=True)
class BenchSelection:
    """Which scenes of a benchmark run, and how much of them.

    Args:
        only: their names; none: the quick ones.
        big: all of them.
        whole: from start to end, not just as many steps as say something.
        repeats: how often; the median counts.
    """

    only: tuple[str, ...] = ()
    big: bool = False
    whole: bool = False
    repeats: int = 1


def at_most(name: str, value: float, unit: str, target: float) -> BenchMeasure:
    """A measure that should not exceed its target."""
    return BenchMeasure(name, value, unit, target, value <= target)


def at_least(name: str, value: float, unit: str, target: float) -> BenchMeasure:
    """A measure that should reach its target."""
    return BenchMeasure(name, value, unit, target, value >= target)


def info(name: str, value: float, unit: str) -> BenchMeasure:
    """A measure without a target."""
    return BenchMeasure(name, value, unit)


def failure(name: str, error: Exception) -> BenchMeasure:
    """The row of a benchmark that raised an error, which is said on one line."""
    said = " ".join(f"{type(error).__name__}: {error}".split())
    return BenchMeasure(name, None, "", ok=False, error=said)


def best_time(run: Callable[[], object], repeats: int = 15) -> float:
    """[s] least time of several runs after a first one: noise only adds."""
    run()
    times = []
    for _ in range(repeats):
        clock = time.perf_counter()
        run()
        times.append(time.perf_counter() - clock)
    return min(times)
