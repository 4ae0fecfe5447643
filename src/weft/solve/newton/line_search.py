"""Backtracking line search with Armijo's condition, honest about round-off."""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class LineSearchSettings:
    """Armijo constant, shrink factor, the shortest step tried, and what values are uncertain by."""

    decrease: float = (
        1e-4  # fraction of the linear decrease that is asked for (Nocedal & Wright, eq. 3.4)
    )
    shrink: float = 0.5
    shortest: float = 2.0**-24
    noise: float = 0.0  # absolute round-off of the values, where they are sums that cancel


class LineSearchResult(NamedTuple):
    """The step taken, the value there, and the number of trials.

    Step 0 where no trial decreased the value.
    """

    step: float
    value: float
    trials: int


def backtrack(
    phi: Callable[[float], float],
    value: float,
    slope: float,
    first: float = 1.0,
    settings: LineSearchSettings | None = None,
) -> LineSearchResult:
    """Find a step a with phi(a) <= phi(0) + c a slope.

    Where the expected decrease is below the round-off of phi itself, the full step is taken as long
    as phi does not grow beyond that round-off: there a comparison of values no longer tells
    anything, and the Newton increment does.

    Args:
        phi: value along the direction.
        value: phi(0).
        slope: phi'(0), < 0.
        first: first step tried, in (0, 1].
        settings: constants.
    """
    search = backtracking(value, slope, first, settings)
    try:
        step = next(search)
        while True:
            step = search.send(phi(step))
    except StopIteration as end:
        found: LineSearchResult = end.value
        return found


def backtracking(
    value: float,
    slope: float,
    first: float = 1.0,
    settings: LineSearchSettings | None = None,
) -> Generator[float, float, LineSearchResult]:
    """The same, told phi of every step that it yields: for many searches that go side by side."""
    s = settings or LineSearchSettings()
    roundoff = max(64 * np.finfo(np.float64).eps * max(abs(value), 1e-300), s.noise)
    step, trials = first, 0
    while step >= s.shortest:
        trials += 1
        trial = yield step
        if trial <= value + s.decrease * step * slope + (
            roundoff if -slope < 1e3 * roundoff else 0.0
        ):
            return LineSearchResult(step, trial, trials)
        step *= s.shrink
    return LineSearchResult(0.0, value, trials)
