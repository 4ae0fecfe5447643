"""Check of a gradient by one more run, in which every parameter is changed a little.

A derivative is that of one run. If cloth buckles, snaps or meets a kink of contact, a run with
numbers that differ by a millionth can end on another branch, about which the derivative says
nothing. The parameters are therefore changed along the gradient, each in units of its size, and the
change of the loss is compared with the prediction of the gradient.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SimulationError

LEAST, MOST = 1e-6, 1e-3  # change of the parameters relative to their sizes
TOLERANCE = 0.05  # relative difference above which gradient and run disagree
ROUND_OFF = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RunCheck:
    """Comparison of a gradient with a run with other parameters."""

    step: float  # change of the parameters along the gradient, over their sizes
    predicted: float  # change of the loss by the gradient
    measured: float  # change of the loss in the other run; NaN where it failed
    noise: float  # uncertainty of the loss from the tolerance of steps
    failure: str = ""  # message of the other run's failure

    @property
    def tells(self) -> bool:
        """True if the predicted change exceeds the noise by far, or the other run failed."""
        return bool(self.failure) or self.noise <= TOLERANCE * abs(self.predicted)

    @property
    def agrees(self) -> bool:
        """True if the other run changes the loss as the gradient predicts, within ``TOLERANCE``."""
        return abs(self.measured - self.predicted) <= TOLERANCE * abs(self.predicted)

    @property
    def confirms(self) -> bool:
        """True if the other run tells something and agrees, or if there is nothing to check."""
        return self.predicted == 0.0 or (self.tells and self.agrees)

    def __str__(self) -> str:
        moved = f"a run with parameters changed by {self.step:.1g} of their sizes"
        if self.predicted == 0.0:
            return "not checked: the gradient is zero"
        if self.failure:
            return f"NOT CONFIRMED: {moved} fails: {self.failure}"
        both = (
            f"changes the loss by {self.measured:.4g}, the gradient predicts {self.predicted:.4g}"
        )
        if not self.tells:
            return (
                f"not checked: {moved} {both}, but the loss has an error of {self.noise:.1g}: "
                "use a smaller settings.tolerance"
            )
        if self.agrees:
            return f"checked: {moved} {both}"
        return (
            f"NOT CONFIRMED: {moved} {both}. The second run ends on another branch (buckling, a "
            "snap, a kink of contact), or the loss is strongly curved: the gradient holds only "
            "for this run"
        )


def check_run(
    gradient: Mapping[str, Floats],
    sizes: Mapping[str, float],
    value: float,
    noise: float,
    value_at: Callable[[dict[str, Floats]], float],
) -> RunCheck:
    """Compare a gradient with one run with other parameters.

    Args:
        gradient: derivatives of the loss, by name of the parameter.
        sizes: by name, a difference of the parameter that is not small, in its unit.
        value: loss of the run that was differentiated.
        noise: uncertainty of the loss, because steps are converged to a tolerance only.
        value_at: returns the loss with parameters changed by the given amounts, by name.
    """
    steepness = float(
        np.sqrt(sum((g * sizes[n]).ravel() @ (g * sizes[n]).ravel() for n, g in gradient.items()))
    )
    noise = max(noise, ROUND_OFF * abs(value))
    if steepness == 0.0:
        return RunCheck(0.0, 0.0, 0.0, noise)
    # large enough that the predicted change, step * steepness, stands out from the noise
    step = min(max(LEAST, noise / (TOLERANCE * steepness)), MOST)
    change = {n: step * sizes[n] ** 2 * g / steepness for n, g in gradient.items()}
    try:
        measured = value_at(change) - value
    except SimulationError as error:
        return RunCheck(step, step * steepness, float("nan"), noise, str(error))
    return RunCheck(step, step * steepness, measured, noise)
