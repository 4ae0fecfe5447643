"""What is seen and done, as Gymnasium's spaces."""

from typing import Any

import numpy as np
from gymnasium import spaces

from weft.robotics.rig import FARTHEST, Rig


def observation_space(rig: Rig) -> Any:
    """Vertices and grippers [m], and which of these hold something."""
    high = np.full(rig.observed, FARTHEST, dtype=np.float32)
    low = -high
    low[-rig.task.grippers :], high[-rig.task.grippers :] = 0.0, 1.0
    return spaces.Box(low, high, dtype=np.float32)


def action_space(rig: Rig) -> Any:
    """Of each gripper the way along x, y and z, and above 0: closed."""
    return spaces.Box(-1.0, 1.0, (4 * rig.task.grippers,), dtype=np.float32)
