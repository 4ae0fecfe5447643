"""The skin of a standing body in its own axes."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Faces, Floats
from weft.plugins.garments.bodies.sections import cut_loop

UP = np.array([0.0, 1.0, 0.0])
SIGNS = {"left": 1.0, "right": -1.0}


@dataclass(frozen=True, eq=False)
class Skin:
    """A body's mesh in its own axes: x to its left, y up from the floor, z ahead.

    Args:
        x: (b,3) [m].
        faces: (m,3).
        height: [m].
        crotch: [m] height of the crotch.
    """

    x: Floats
    faces: Faces
    height: float
    crotch: float

    def part(self, point: Floats, normal: Floats = UP) -> Floats:
        """Return the part (n,3) [m] of a section around a point."""
        return cut_loop(self.x, self.faces, point, normal)
