"""How forces of a contact set change with the numbers of its pairs (``barrier_mixed``), and so the
normal forces that friction takes.
"""

from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.contact.barrier.barrier import Touch
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
    """(m,4) vec3 [N] change of dE/dx of the pairs of a set, on the device.

    Args:
        contacts: the set.
        x: (n,3) [m].
        stiffness: (m,) [J/m^4], or of all, by which that of pairs changes.
        gap: [m].
        thickness: [m].
    """
    change: Any = np.zeros(len(contacts), Touch.numpy_dtype())  # type: ignore[attr-defined]
    change["stiffness"], change["gap"], change["thickness"] = stiffness, gap, thickness
    out = kernel.empty((len(contacts), 4), vec3)
    arrays = (kernel.points(x), *contacts.device, kernel.array(change, Touch), out)
    kernel.launch(barrier_mixed, len(contacts), *arrays)
    return out
