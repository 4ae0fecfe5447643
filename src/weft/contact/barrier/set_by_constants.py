"""Derivatives of the forces of a contact set by the parameters of its pairs.

They also give the derivatives of the normal forces that friction uses (``changed_loads``).
"""

from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.contact.barrier.barrier import BarrierParameters
from weft.contact.barrier.by_constants import barrier_mixed
from weft.contact.contact_set import ContactSet
from weft.kernel import WarpArray, vec3


def changed_gradients(
    contacts: ContactSet,
    x: Positions | WarpArray,
    stiffness: Floats | float = 0.0,
    gap: Floats | float = 0.0,
    thickness: Floats | float = 0.0,
) -> WarpArray:
    """Return the change of dE/dx of the pairs of a set, (m,4) vec3 [N] on the device.

    Args:
        contacts: the set.
        x: (n,3) [m] positions.
        stiffness: (m,), or one for all, change of the stiffness [J/m^4].
        gap: (m,), or one for all, change of the gap [m].
        thickness: (m,), or one for all, change of the thickness [m].
    """
    change: Any = np.zeros(len(contacts), BarrierParameters.numpy_dtype())  # type: ignore[attr-defined]
    change["stiffness"], change["gap"], change["thickness"] = stiffness, gap, thickness
    out = kernel.empty((len(contacts), 4), vec3)
    arrays = (kernel.points(x), *contacts.device, kernel.array(change, BarrierParameters), out)
    kernel.launch(barrier_mixed, len(contacts), *arrays)
    return out
