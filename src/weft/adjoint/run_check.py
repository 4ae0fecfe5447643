"""Whether a gradient holds for runs nearby: one more run, with every parameter changed a little.

A derivative is that of one run. Where cloth buckles, snaps or meets a kink of contact, a run with
numbers that differ by a millionth can end on another branch, and the derivative says nothing of it.
So parameters are changed along the gradient, each in units of its size, and the change of the loss
is compared with what the gradient predicts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SimulationError

LEAST, MOST = 1e-6, 1e-3  # of the sizes of parameters, by which they are changed
TOLERANCE = 0.05  # relative difference above which gradient and run disagree
ROUND_OFF = 64 * float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class RunCheck:
    """A gradient beside a run with other parameters."""

    step: float  # change of the parameters along the gradient, over their sizes
    predicted: float  # change of the loss by the gradient
    measured: float  # change of the loss in the other run; NaN where it failed
    noise: float  # what the loss is uncertain by, as the steps are converged
    failure: str = ""  # of the other run

    @property
    def tells(self) -> bool:
        """Whether the predicted change is large enough against the noise."""
        return bool(self.failure) or self.noise <= TOLERANCE * abs(self.predicted)

    @property
    def agrees(self) -> bool:
        """Whether the other run is where the gradient says, within ``TOLERANCE``."""
        return abs(self.measured - self.predicted) <= TOLERANCE * abs(self.predicted)

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
                f"not checked: {moved} {both}, but the loss is known to {self.noise:.1g} only: "
                "take a smaller settings.tolerance"
            )
        if self.agrees:
            return f"checked: {moved} {both}"
        return (
            f"NOT CONFIRMED: {moved} {both}. It ends on another branch (buckling, a snap, a "
            "kink of contact) or the loss is strongly curved: the gradient holds for this "
            "run alone"
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
        value: the loss of the run that was differentiated.
        noise: what it is uncertain by, as the steps are converged.
        value_at: the loss with parameters changed by these, by name.
    """
    steepness = float(
        np.sqrt(sum((g * sizes[n]).ravel() @ (g * sizes[n]).ravel() for n, g in gradient.items()))
    )
    noise = max(noise, ROUND_OFF * abs(value))
    if steepness == 0.0:
        return RunCheck(0.0, 0.0, 0.0, noise)
    step = min(max(LEAST, noise / (TOLERANCE * steepness)), MOST)
    change = {n: step * sizes[n] ** 2 * g / steepness for n, g in gradient.items()}
    try:
        measured = value_at(change) - value
    except SimulationError as error:
        return RunCheck(step, step * steepness, float("nan"), noise, str(error))
    return RunCheck(step, step * steepness, measured, noise)
