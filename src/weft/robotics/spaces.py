"""Observation and action spaces of the environments, as Gymnasium's spaces."""

from typing import TYPE_CHECKING

import numpy as np
from gymnasium import spaces

from weft.base.arrays import AnyArray
from weft.robotics.rig import FARTHEST, Rig

if TYPE_CHECKING:
    import gymnasium


def observation_space(rig: Rig) -> "gymnasium.Space[AnyArray]":
    """Return the space of vertices and grippers [m], and of a flag for each gripper that holds
    cloth.
    """
    high = np.full(rig.observed, FARTHEST, dtype=np.float32)
    low = -high
    low[-rig.task.grippers :], high[-rig.task.grippers :] = 0.0, 1.0
    return spaces.Box(low, high, dtype=np.float32)


def action_space(rig: Rig) -> "gymnasium.Space[AnyArray]":
    """Return the space of actions: for each gripper a displacement along x, y and z, and its
    closing.

    A gripper is closed if the fourth number is above 0.
    """
    return spaces.Box(-1.0, 1.0, (4 * rig.task.grippers,), dtype=np.float32)
