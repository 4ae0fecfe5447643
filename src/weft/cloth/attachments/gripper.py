"""A scripted gripper: two pads that open, close and move, one command after another.

The gripper grasps by contact and friction alone, as a hand does, so that cloth may slip out of it.
Commands become paths of the pads before the run, so that runs resume bitwise.
"""

import dataclasses
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Point, Vector
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, Duration, Size, Speed, documented, setting
from weft.base.units import Quantity
from weft.bodies.body import Body
from weft.bodies.motion.pins import Interpolation, Keyframe, Path
from weft.bodies.shapes.primitives import box

AXES = {"x": 0, "y": 1, "z": 2}
EASED = 16  # linear pieces that approximate a smooth command


@dataclass(frozen=True)
class GripperPose:
    """The position and opening of a gripper at a time.

    Args:
        time: [s].
        place: (3,) [m] middle between the pads.
        opening: [m] clear distance between the pads.
    """

    time: float
    place: Vector
    opening: float


@checked(SceneError, "gripper", named=True)
@documented
@dataclass(frozen=True)
class Gripper:
    """A gripper of two pads. Every command returns a new gripper with this command added:

        hand = weft.Gripper((0, 0.1, 0)).close(4e-3).move_to((0, 0.5, 0)).open()
        scene = weft.Scene(cloth, bodies=[table, *hand.bodies], ...)

    ``pads`` are the sizes of a pad along x, y and z.
    """

    place: Vector = setting(REQUIRED, "middle between the pads at the start", "m")
    opening: float = setting(0.05, "clear distance between the pads at the start", "m", above=0)
    pads: Vector = setting((0.06, 0.01, 0.08), "", "m", above=0)
    axis: str = setting("y", "axis along which the pads close", choices=tuple(AXES))
    size: float = setting(0.02, "largest length of the pads' edges", "m", above=0)
    thickness: float | None = setting(
        None, "distance that cloth keeps from the pads; none: contact.thickness", "m", least=0
    )
    interpolation: Interpolation = setting(
        "smooth",
        "motion of every command: smooth starts and ends gently, with the given mean speed",
    )
    name: str = "gripper"
    poses: tuple[GripperPose, ...] = ()  # at the ends of commands, after the start

    @property
    def now(self) -> GripperPose:
        """The pose of the gripper after all commands."""
        return self.poses[-1] if self.poses else GripperPose(0.0, self.place, self.opening)

    def close(self, to: Size, speed: Speed = 0.05) -> "Gripper":
        """Bring the pads nearer together.

        Args:
            to: [m] clear distance at the end: room for contact's gap and thickness, and for the
                cloth in between.
            speed: [m/s] at which the distance changes.

        Raises:
            SceneError: the distance is not less than the present one, or the speed is not positive.
        """
        left = float(to)
        if not left < self.now.opening:
            expected = f"less than the present {self.now.opening:.4g} m"
            raise SceneError(f"{self.name}.close", got=f"{left:g} m", expected=expected)
        return self._move_pads(left, speed, "close")

    def open(self, to: Size | None = None, speed: Speed = 0.05) -> "Gripper":
        """Move the pads apart.

        Args:
            to: [m] clear distance at the end; None: that of the start.
            speed: [m/s] at which the distance changes.

        Raises:
            SceneError: the distance is not more than the present one, or the speed is not positive.
        """
        wide = self.opening if to is None else float(to)
        if not wide > self.now.opening:
            expected = f"more than the present {self.now.opening:.4g} m"
            raise SceneError(f"{self.name}.open", got=f"{wide:g} m", expected=expected)
        return self._move_pads(wide, speed, "open")

    def move_to(self, place: Point, speed: Speed = 0.5) -> "Gripper":
        """Move straight to a place with the opening unchanged.

        Args:
            place: (3,) [m] middle between the pads at the end.
            speed: [m/s].

        Raises:
            SceneError: the gripper is already at this place, or the speed is not positive.
        """
        x, y, z = map(float, place)
        way = float(np.linalg.norm(np.array([x, y, z]) - self.now.place))
        return self._after(way, speed, "move_to", place=(x, y, z))

    def wait(self, seconds: Duration) -> "Gripper":
        """Stay in the same pose for a duration [s].

        Raises:
            SceneError: the duration is not positive.
        """
        return self._after(float(seconds), 1.0, "wait")

    def _move_pads(self, to: float, speed: Quantity, what: str) -> "Gripper":
        return self._after(abs(to - self.now.opening), speed, what, opening=float(to))

    def _after(self, way: float, speed: Quantity, what: str, **change: Any) -> "Gripper":
        """Return the gripper with one more command, which moves over a distance at a speed."""
        if not way > 0:
            raise SceneError(f"{self.name}.{what}", got=f"{way:g} m", expected="a distance above 0")
        pose = dataclasses.replace(self.now, time=self.now.time + way / float(speed), **change)
        return dataclasses.replace(self, poses=(*self.poses, pose))

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The lower (left, back) pad and the upper one, with their motion; after the last command
        they stay where they are.
        """
        return self._pad(-1, "lower pad"), self._pad(1, "upper pad")

    def _pad(self, side: int, name: str) -> Body:
        """Return one pad as a box that follows the poses; ``side`` is -1 or 1 along the axis."""
        start = self._middle(GripperPose(0.0, self.place, self.opening), side)
        keys = [Keyframe(0.0)]
        for before, pose in pairwise((GripperPose(0.0, self.place, self.opening), *self.poses)):
            moved = self._middle(pose, side) - start
            keys += self._ease(keys[-1], before.time, pose.time, moved)
        path = Path(tuple(keys), "linear", hold=True)
        body = box(self.pads, self.size, f"{self.name} {name}").move(tuple(start.tolist()), path)
        return dataclasses.replace(body, thickness=self.thickness)

    def _middle(self, pose: GripperPose, side: int) -> Floats:
        """Return the center (3,) [m] of a pad."""
        k = AXES[self.axis]
        out = np.array(pose.place)
        out[k] += side * 0.5 * (pose.opening + self.pads[k])
        return out

    def _ease(self, last: Keyframe, begin: float, end: float, goal: Floats) -> list[Keyframe]:
        """Return the keyframes of one command, from the end of the last command to the goal: along
        3 s^2 - 2 s^3 if smooth, otherwise linear.
        """
        count = EASED if self.interpolation == "smooth" else 1
        s = np.arange(1, count + 1) / count
        part = s * s * (3 - 2 * s) if count > 1 else s
        start = np.array(last.translation)
        return [
            Keyframe(begin + float(a) * (end - begin), tuple((start + b * (goal - start)).tolist()))
            for a, b in zip(s, part)
        ]
