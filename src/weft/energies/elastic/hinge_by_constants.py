"""Mixed derivatives of hinges, by weight, rest angle and time constant of damping.

With d = theta - theta_0 + beta/h (theta - theta_r) the gradient is w d dtheta. It is of degree one
in each constant, so the kernel of the gradient computes its derivatives if that constant is 1.
"""

from typing import TYPE_CHECKING

import numpy as np

from weft import kernel
from weft.base.arrays import AnyArray, Floats, Positions
from weft.energies.by_constants import ByName, damping_rate
from weft.energies.elastic.hinge_kernels import angles
from weft.energies.step import Step

if TYPE_CHECKING:
    from weft.energies.elastic.hinge_bending import HingeBending


def hinge_mixed(
    energy: "HingeBending", x: Positions, step: Step | None, turned: Floats | float = 0.0
) -> ByName:
    """Return the derivatives by ``weight``, ``rest_angle`` and ``damping``, (h,4,3) each.

    Args:
        energy: hinges.
        x: (n,3) [m].
        step: for which damping is frozen; None: undamped.
        turned: (h,) [rad] added to rest angles (creases).
    """
    rate, h, theta = damping_rate(step), len(energy.weight), kernel.empty(len(energy.weight))
    p, at = energy.parameters(), kernel.points(x)
    kernel.launch(angles, h, at, energy.device_stencil, theta)
    if rate > 0:
        assert step is not None
        energy.freeze(step, rate, p)
    records: AnyArray = np.array(kernel.numpy(p))
    records["rest"] = energy.rest_angle + turned

    def gradient(**fields: Floats | float) -> Floats:
        """Return the gradient (h,4,3) with some fields of the records replaced."""
        changed = np.array(records)
        for name, values in fields.items():
            changed[name] = values
        return energy.gradient(x, kernel.array(changed, p.dtype))

    slope = gradient(weight=1.0, rest=np.array(kernel.numpy(theta)) - 1.0, rate=0.0)  # dtheta
    late = np.zeros_like(slope)
    if rate > 0:
        since = records["start"] - records["lead"]
        late = gradient(weight=rate * energy.weight, rest=since, rate=0.0)
    return {
        "weight": gradient(weight=1.0, rate=energy.damping * rate),
        "rest_angle": -np.asarray(energy.weight)[:, None, None] * slope,
        "damping": late,
    }
