"""Backtracking line search with Armijo's condition (Nocedal & Wright 2006, eq. 3.4).

Function values have round-off. Where the expected decrease is not much larger than that, the search
accepts a step whose value is equal within round-off.
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

    decrease: float = (
        1e-4  # fraction of the linear decrease that is asked for (Nocedal & Wright, eq. 3.4)
    )
    shrink: float = 0.5
    shortest: float = 2.0**-24
    noise: float = 0.0  # absolute round-off of the values, where they are sums that cancel


class LineSearchResult(NamedTuple):
    """Accepted step, the value there, and the number of trials.

    The step is 0 if no trial decreased the value.
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
    """Find a step a with phi(a) <= phi(0) + c a phi'(0), starting at ``first`` and shrinking.

    Where the expected decrease is not much larger than the round-off of phi, a step is accepted if
    phi does not grow by more than that round-off. There a comparison of values carries no
    information; the size of Newton's increment says when to stop.

    Args:
        phi: the function of the step.
        value: phi(0).
        slope: phi'(0), negative.
        first: first step tried, in (0, 1].
        settings: constants; None: the defaults.

    Returns:
        The accepted step, or step 0 if all trials down to ``settings.shortest`` fail.
    """
    s = settings or LineSearchSettings()
    # 64 units in the last place of the value, because the value is itself a sum of many terms.
    roundoff = max(64 * np.finfo(np.float64).eps * max(abs(value), 1e-300), s.noise)
    step, trials = first, 0
    while step >= s.shortest:
        trials += 1
        trial = phi(step)
        if trial <= value + s.decrease * step * slope + (
            roundoff if -slope < 1e3 * roundoff else 0.0
        ):
            return LineSearchResult(step, trial, trials)
        step *= s.shrink
    return LineSearchResult(0.0, value, trials)
