"""The four points of a rigid body, and the weights with which they give its other points.

``bodies.rigid.affine_body`` says how they are chosen.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.bodies.rigid.mass_properties import MassProperties
from weft.discretization.embedding import CORNERS


@dataclass(frozen=True, eq=False)
class AffineFrame:
    """Four points with the mass, center and second moments of a body at its start.

    Args:
        solid: volume, center and second moments of the body.
        axes: (3,3) columns along which the points are chosen. The points of a link of an arm are
            the same in all poses, because its axes turn with the link.
    """

    solid: MassProperties
    axes: Floats

    @cached_property
    def _roots(self) -> tuple[Floats, Floats]:
        """S^(1/2) and S^(-1/2), (3,3) each, with columns in the scene."""
        values, turn = np.linalg.eigh(self.axes.T @ self.solid.second @ self.axes)
        root = np.sqrt(values)
        return (turn * root) @ turn.T @ self.axes.T, (turn / root) @ turn.T @ self.axes.T

    @property
    def points(self) -> Positions:
        """(4,3) [m] positions of the four points."""
        return self.solid.center + CORNERS @ self._roots[0]

    @property
    def gradients(self) -> Floats:
        """(4,3) [1/m] vectors g_a, with which A = sum_a p_a g_a^T."""
        return CORNERS @ self._roots[1] / 4

    def weights(self, places: Positions) -> Floats:
        """Return the weights (k,4) of the points that give places (k,3) [m] of the body."""
        return 0.25 + (places - self.solid.center) @ self.gradients.T
