"""Array aliases: the shape and unit that every signature in weft refers to.

Shapes are not checked by the type system; each alias says in its comment what the array holds.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]  # any shape
Ints = NDArray[np.int32]  # any shape
Bools = NDArray[np.bool_]  # any shape

Positions = Floats  # (n,3) [m]
Velocities = Floats  # (n,3) [m/s]
Forces = Floats  # (n,3) [N]
Gradients = Floats  # (n,3,2) deformation gradients F = dx/dX, columns f0 (warp) and f1 (weft)
Faces = Ints  # (m,3) vertex ids, counter-clockwise
CornerUv = Floats  # (m,3,2) [m] material coordinates (warp, weft) of each face corner

Json = dict[str, Any]  # what json.dump takes
