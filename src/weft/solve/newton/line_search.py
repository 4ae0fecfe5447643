"""Backtracking line search with Armijo's condition (Nocedal & Wright 2006, eq. 3.4).

Function values have round-off. Where two values are equal within round-off, the slope at the trial
decides in their place (the approximate Wolfe condition of Hager & Zhang 2005, eq. 4.1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np


@dataclass(frozen=True)
class LineSearchSettings:
    """Constants of the backtracking line search.

    Attributes:
        decrease: fraction of the linear decrease that a step has to reach (Nocedal & Wright, eq.
            3.4).
        shrink: factor from one trial step to the next.
        shortest: shortest step that is tried.
        noise: absolute round-off of the values, where they are sums that cancel.
    """

    decrease: float = 1e-4
    shrink: float = 0.5
    shortest: float = 2.0**-24
    noise: float = 0.0


class LineSearchResult(NamedTuple):
    """Accepted step, the value there, and the number of trials.

    The step is 0 if no trial decreased the value.
    """

    step: float
    value: float
    trials: int


def backtrack(
    phi: Callable[[float], float],
    slope_along: Callable[[float], float],
    value: float,
    slope: float,
    first: float = 1.0,
    settings: LineSearchSettings | None = None,
    size: float = 0.0,
) -> LineSearchResult:
    """Find a step a with phi(a) <= phi(0) + c a phi'(0), starting at ``first`` and shrinking.

    A step whose value is equal to phi(0) within round-off is accepted if its slope phi'(a) is at
    most (2 c - 1) phi'(0). For quadratic functions that is the same condition.

    Args:
        phi: the function of the step.
        slope_along: its derivative phi'; called only where values are equal within round-off.
        value: phi(0).
        slope: phi'(0), negative.
        first: first step tried, in (0, 1].
        settings: constants; None: the defaults.
        size: largest absolute value of phi that the search has met. Round-off is measured with it,
            because terms of the value cancel near the minimum.

    Returns:
        The accepted step, or step 0 if all trials down to ``settings.shortest`` fail.
    """
    s = settings or LineSearchSettings()
    # 64 units in the last place, because the value is a sum of many terms.
    roundoff = max(64 * np.finfo(np.float64).eps * max(abs(value), size), s.noise)
    step, trials = first, 0
    while step >= s.shortest:
        trials += 1
        trial = phi(step)
        if trial <= value + s.decrease * step * slope:
            return LineSearchResult(step, trial, trials)
        if trial <= value + roundoff and slope_along(step) <= (2 * s.decrease - 1) * slope:
            return LineSearchResult(step, trial, trials)
        step *= s.shrink
    return LineSearchResult(0.0, value, trials)
