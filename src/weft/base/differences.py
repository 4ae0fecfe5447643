"""Central difference quotients of fourth order."""

from collections.abc import Callable

import numpy as np

from weft.base.arrays import Floats

FOURTH_ORDER = ((1, 8 / 12), (-1, -8 / 12), (2, -1 / 12), (-2, 1 / 12))  # points and weights


def slope_at_zero(function: Callable[[float], Floats], step: float) -> Floats:
    """Return the derivative of a function at 0; its error is of fourth order in the step."""
    return np.asarray(sum(weight * function(k * step) for k, weight in FOURTH_ORDER)) / step
