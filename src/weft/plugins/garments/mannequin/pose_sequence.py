"""Poses that a figure takes one after another, at times that become known as they come."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Angles, Floats, Point
from weft.bodies.motion.point_sequence import BodyFrames
from weft.plugins.garments.mannequin.motions import POSES, pose, smoothstep
from weft.plugins.garments.mannequin.stance import Stance

if TYPE_CHECKING:
    from weft.plugins.garments.mannequin.figure import Mannequin

RATE = 50  # [1/s] frames while the figure moves
BLEND = 1.0  # [s] from one pose into the next


@dataclass(frozen=True, eq=False)
class PoseSequence:
    """A figure that stands in the a-pose, and can take other poses (``bodies.body.Poser``).

    Args:
        figure: the figure.
        placed: rotations about x, y and z in turn [degrees] and translations [m], in their order.
    """

    figure: "Mannequin"
    placed: Sequence[tuple[Angles, Point]] = ()

    @property
    def poses(self) -> Sequence[str]:
        """The names of the poses."""
        return POSES

    def move(self, rotation: Angles, translation: Point) -> "PoseSequence":
        """Return the sequence of the figure rotated about the origin, then translated."""
        return replace(self, placed=(*self.placed, (rotation, translation)))

    def frames(self, poses: Sequence[tuple[float, str]]) -> BodyFrames:
        """Return the vertices in frames at multiples of 1/50 s, between which they move linearly.

        A pose that comes later changes no frame up to its own time.

        Args:
            poses: times [s], increasing, at which the figure begins to move, and into what pose.
        """
        from scipy.spatial.transform import Rotation

        starts = [int(np.ceil(t * RATE - 1e-9)) for t, _ in poses]
        blends = [np.arange(s, s + int(BLEND * RATE) + 1) for s in starts]
        times = np.unique(np.concatenate([[0], *blends])) / RATE
        stance = self._stances(times, [s / RATE for s in starts], [name for _, name in poses])
        x = self.figure.apply_stance(stance)
        x[times <= starts[0] / RATE] = self.figure.vertices  # without round-off of the skin
        for rotation, translation in self.placed:
            turn = Rotation.from_euler("xyz", rotation, degrees=True)
            x = turn.apply(x.reshape(-1, 3)).reshape(x.shape) + np.asarray(translation)
        return BodyFrames(times, x, hold=True)

    def _stances(self, times: Floats, starts: Sequence[float], names: Sequence[str]) -> Stance:
        """Return the stances at the times (k,) [s]."""
        body = self.figure.body
        first = pose(body, "a_pose")
        stance = first.mix(first, np.zeros(len(times)))
        for start, name in zip(starts, names):
            stance = stance.mix(pose(body, name), smoothstep((times - start) / BLEND))
        return stance
