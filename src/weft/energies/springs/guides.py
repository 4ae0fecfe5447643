"""Guides: springs that keep a place of one body on an axis of another, which turns with that body.

E = 1/2 k (y.b)^2 of every row: y = sum_a w_a x_a is the deviation of the place from its reference
place, and b = sum_a u_a x_a a direction of the guiding body, across the axis; two rows make a
slider. The weights of both sums add up to zero: rigid motions of both bodies cost no energy.
"""

from dataclasses import dataclass

import warp as wp

from weft.base.arrays import Floats
from weft.energies.by_constants import ByName
from weft.energies.springs.joint_coordinates import (
    JOINT_COORDINATES,
    JointCoordinates,
    Joints,
    JointSpring,
)
from weft.energies.springs.spring import Curvature, spring_kernels
from weft.energies.springs.spring_law import SPRING, SpringNumbers
from weft.energies.step import Step
from weft.kernel import WarpStruct
from weft.solve.newton.psd import Psd


@wp.struct
class GuideElements:
    """Parameters of all guides."""

    joints: Joints
    law: wp.array(dtype=SpringNumbers)


@dataclass(frozen=True, eq=False)
class Guides(JointSpring):
    """Guides of m rows, whose coordinates are the products y.b."""

    joints: JointCoordinates
    stiffness: Floats  # (m,) [N/m]
    name: str = "joints"

    kernels = spring_kernels(
        "guides",
        GuideElements,
        JOINT_COORDINATES,
        SPRING,
        {Psd.GAUSS_NEWTON: Curvature.DROPPED},
    )

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters, which are the same in every step."""
        p = GuideElements()
        p.joints = self.joints.on_device()
        p.law = self.records(stiffness=self.stiffness, holds=1, slip=1.0)
        return p

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m]."""
        return {"stiffness": self.stiffness}

    @property
    def structure(self) -> object:
        """Data besides the constants: the rows."""
        return self.joints
