"""A scripted gripper: two pads that open, close and move, each command after the one before.

It grasps by contact and friction alone, as a hand does: what it holds may slip. Commands make the
pads' paths before the run, so that runs resume bit by bit.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from weft.contact.body import Body
from weft.contact.shapes import box
from weft.errors import SceneError
from weft.pins import Interpolation, Keyframe, Path
from weft.settings import REQUIRED, check_settings, documented, setting
from weft.units import in_si

AXES = {"x": 0, "y": 1, "z": 2}
EASED = 16  # pieces of a smooth command


@dataclass(frozen=True)
class Pose:
    """Where a gripper is at a time.

    Args:
        time: [s].
        place: [m] middle between the pads.
        opening: [m] clear distance between them.
    """

    time: float
    place: tuple[float, float, float]
    opening: float


@documented
@dataclass(frozen=True)
class Gripper:
    """Two pads. Commands return a new gripper, which does that too:

        hand = weft.Gripper((0, 0.1, 0)).close(4e-3).move_to((0, 0.5, 0)).open()
        scene = weft.Scene(cloth, bodies=[table, *hand.bodies], ...)

    ``pads`` are the sizes of a pad along x, y and z.
    """

    place: Any = setting(REQUIRED, "middle between the pads, at the start", "m")
    opening: float = setting(0.05, "clear distance between them, at the start", "m", above=0)
    pads: tuple[float, float, float] = setting((0.06, 0.01, 0.08), "", "m", above=0)
    axis: str = setting("y", "along which they close", choices=tuple(AXES))
    size: float = setting(0.02, "of their edges, at most", "m", above=0)
    thickness: float | None = setting(None, "kept in contact; none: contact's", "m", least=0)
    interpolation: Interpolation = setting(
        "smooth", "of every command: smooth starts and ends gently, at the given speed in the mean"
    )
    name: str = "gripper"
    poses: tuple[Pose, ...] = ()  # at the ends of commands, after the start

    def __post_init__(self) -> None:
        if isinstance(self.place, np.ndarray):
            object.__setattr__(self, "place", tuple(self.place.tolist()))
        check_settings(self, self.name)
        at = np.asarray(self.place, dtype=np.float64)
        if at.shape != (3,) or not np.isfinite(at).all():
            expected = "three finite numbers [m]"
            raise SceneError(f"{self.name}.place", got=self.place, expected=expected)
        object.__setattr__(self, "place", tuple(at.tolist()))

    @property
    def now(self) -> Pose:
        """Where it is when all that was commanded is done."""
        return self.poses[-1] if self.poses else Pose(0.0, self.place, self.opening)

    def close(self, to: float | str, speed: float | str = 0.05) -> "Gripper":
        """Bring the pads nearer together.

        Args:
            to: [m] clear distance that is left: contact's gap and thickness, and the cloth between.
            speed: [m/s] at which the distance changes.

        Raises:
            SceneError: a distance that is not less than the present one, or a speed that is none.
        """
        left = float(in_si(to, "m", f"{self.name}.close"))
        if not 0 < left < self.now.opening:
            expected = f"more than 0, less than the present {self.now.opening:.4g} m"
            raise SceneError(f"{self.name}.close", got=f"{left:g} m", expected=expected)
        return self._opened(left, speed, "close")

    def open(self, to: float | str | None = None, speed: float | str = 0.05) -> "Gripper":
        """Take the pads apart.

        Args:
            to: [m] clear distance; None: that of the start.
            speed: [m/s] at which it changes.

        Raises:
            SceneError: a distance that is not more than the present one, or a speed that is none.
        """
        wide = self.opening if to is None else float(in_si(to, "m", f"{self.name}.open"))
        if not (np.isfinite(wide) and wide > self.now.opening):
            expected = f"more than the present {self.now.opening:.4g} m"
            raise SceneError(f"{self.name}.open", got=f"{wide:g} m", expected=expected)
        return self._opened(wide, speed, "open")

    def move_to(self, place: Sequence[float | str], speed: float | str = 0.5) -> "Gripper":
        """Go straight to a place (3,) [m], as open as it is, at a speed [m/s].

        Raises:
            SceneError: the place where it is already, or a speed that is none.
        """
        goal = np.asarray(in_si(place, "m", f"{self.name}.move_to"), dtype=np.float64)
        if goal.shape != (3,) or not np.isfinite(goal).all():
            what = f"{self.name}.move_to"
            raise SceneError(what, got=place, expected="three finite numbers [m]")
        way = float(np.linalg.norm(goal - self.now.place))
        x, y, z = goal.tolist()
        return self._after(way, speed, "move_to", place=(x, y, z))

    def wait(self, seconds: float | str) -> "Gripper":
        """Stay as it is, for so long [s].

        Raises:
            SceneError: no time.
        """
        return self._after(float(in_si(seconds, "s", f"{self.name}.wait")), 1.0, "wait")

    def _opened(self, to: float, speed: float | str, what: str) -> "Gripper":
        return self._after(abs(to - self.now.opening), speed, what, opening=float(to))

    def _after(self, way: float, speed: float | str, what: str, **change: Any) -> "Gripper":
        """With one more command, over a way at a speed."""
        speed = float(in_si(speed, "m/s", f"{self.name}.{what}"))
        if not (np.isfinite(speed) and speed > 0 and np.isfinite(way) and way > 0):
            raise SceneError(
                f"{self.name}.{what}", got=f"{way:g} m at {speed:g} m/s",
                expected="a way and a speed above 0 (or a time, to wait)",
            )  # fmt: skip
        pose = dataclasses.replace(self.now, time=self.now.time + way / speed, **change)
        return dataclasses.replace(self, poses=(*self.poses, pose))

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The lower (left, back) pad and the upper one, with their motion; at its end they stay."""
        return self._pad(-1, "lower pad"), self._pad(1, "upper pad")

    def _pad(self, side: int, name: str) -> Body:
        start = self._middle(Pose(0.0, self.place, self.opening), side)
        keys = [Keyframe(0.0)]
        for before, pose in pairwise((Pose(0.0, self.place, self.opening), *self.poses)):
            moved = self._middle(pose, side) - start
            keys += self._eased(keys[-1], before.time, pose.time, moved)
        path = Path(tuple(keys), "linear", hold=True)
        body = box(self.pads, self.size, f"{self.name} {name}").moved(tuple(start.tolist()), path)
        return dataclasses.replace(body, thickness=self.thickness)

    def _middle(self, pose: Pose, side: int) -> Any:
        """(3,) [m] of a pad."""
        k = AXES[self.axis]
        out = np.array(pose.place)
        out[k] += side * 0.5 * (pose.opening + self.pads[k])
        return out

    def _eased(self, last: Keyframe, begin: float, end: float, goal: Any) -> list[Keyframe]:
        """Keyframes from where the last command ended to the goal: 3 s^2 - 2 s^3, or straight."""
        count = EASED if self.interpolation == "smooth" else 1
        s = np.arange(1, count + 1) / count
        part = s * s * (3 - 2 * s) if count > 1 else s
        start = np.array(last.translation)
        return [
            Keyframe(begin + float(a) * (end - begin), tuple((start + b * (goal - start)).tolist()))
            for a, b in zip(s, part)
        ]
