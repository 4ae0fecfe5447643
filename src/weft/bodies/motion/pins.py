"""Pins: vertices whose motion is prescribed. A pin holds vertices still, releases them at a time,
or moves them along a path of keyframes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np

from weft.base.arrays import Floats, Positions, Vector, VertexIds
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, Setting, documented, setting

Interpolation = Literal["linear", "smooth"]


@checked(SceneError, "keyframe")
@documented
@dataclass(frozen=True)
class Keyframe:
    """The place of a pin or body at a time, relative to its start. Numbers may be text with a unit:
    ``Keyframe("500 ms", ("2 cm", 0, 0), "90 deg")``.
    """

    time: float = setting(REQUIRED, "", "s")
    translation: Vector = setting((0.0, 0.0, 0.0), "", "m")
    rotation: float = setting(0.0, "about the path's axis", "rad")


@checked(SceneError, "pin path", unchecked=("positions", "at"))
@documented
@dataclass(frozen=True)
class Path:
    """A motion through keyframes; until the first keyframe vertices are where that one puts them.

    A first keyframe without translation and rotation leaves them where they start. After the last
    keyframe vertices stay only if ``hold`` is set, because a run that is longer than its path is
    more often a mistake than intended.

    ``smooth`` is a monotone cubic (no overshoot, continuous velocity); ``linear`` has jumps in
    velocity.

    Raises:
        SceneError: there are no keyframes, their times do not increase, or the axis is zero.
    """

    keyframes: Sequence[Keyframe] = setting(REQUIRED, "times must increase")
    interpolation: Interpolation = setting("smooth", "smooth: monotone cubic, no jump in velocity")
    axis: Vector = setting((0.0, 1.0, 0.0), "direction of rotations")
    center: Vector | None = setting(None, "center of rotations; none: mean of the vertices", "m")
    hold: bool = setting(
        False, "stay at the last keyframe; false: the last keyframe must be at the end of the run"
    )

    def __post_init__(self) -> None:
        times = [k.time for k in self.keyframes]
        if not times or not np.isfinite(times).all() or any(b <= a for a, b in pairwise(times)):
            raise SceneError(
                "pin path times", got=times, expected="at least one, strictly increasing [s]"
            )
        if not np.linalg.norm(self.axis) > 0:
            raise SceneError("pin path axis", got=self.axis, expected="a direction other than zero")

    @cached_property
    def times(self) -> Floats:
        """Times (k,) [s] of the keyframes."""
        return np.array([k.time for k in self.keyframes], dtype=np.float64)

    @cached_property
    def values(self) -> Floats:
        """Translation [m] and rotation [rad] of each keyframe, (k,4)."""
        rows = [[*k.translation, k.rotation] for k in self.keyframes]
        return np.array(rows, dtype=np.float64)

    def positions(self, start: Positions, t: float) -> Positions:
        """Return positions (k,3) [m] at time t [s] of vertices that start at ``start`` (k,3)
        [m].
        """
        now = self.at(np.array([t]))[0]
        center = np.mean(start, axis=0) if self.center is None else np.asarray(self.center)
        turned = (start - center) @ _rotation(np.asarray(self.axis), float(now[3])).T
        return np.asarray(turned + center + now[:3])

    def at(self, t: Floats) -> Floats:
        """Return translation [m] and rotation [rad] at times t (k,) [s], as rows (k,4).

        Before the first keyframe its values hold, after the last one those of the last.
        """
        times, values = self.times, self.values
        if self.interpolation == "linear" or len(times) == 1:
            return np.column_stack([np.interp(t, times, column) for column in values.T])
        found: Floats = np.array(self.curve(t))
        found[t <= times[0]], found[t >= times[-1]] = values[0], values[-1]
        return found

    def has_kink(self, columns: slice) -> bool:
        """Return whether columns of ``values`` have no derivative by the keyframes.

        A monotone cubic that is level beside a keyframe has another derivative to each side.
        """
        if self.interpolation == "linear" or len(self.times) < 3:
            return False
        slopes = np.diff(self.values[:, columns], axis=0)
        return bool((slopes[1:] * slopes[:-1] == 0.0).any())

    @cached_property
    def curve(self) -> Any:
        """The monotone cubic of ``smooth``, a ``scipy.interpolate.PchipInterpolator``."""
        from scipy.interpolate import PchipInterpolator

        return PchipInterpolator(self.times, self.values, axis=0)


@checked(SceneError, "pin", named=True, unchecked=("holds", "targets"))
@dataclass(frozen=True, eq=False)
class Pin:
    """Vertices that are held, or moved along a path.

    Args:
        vertices: vertex indices, at least one.
        until: time of release [s], or text with a unit; None: never released.
        path: the motion; None: the vertices stay where they start.
        name: name for messages.

    Raises:
        SceneError: there are no vertices, or the time of release is not a number.
    """

    vertices: VertexIds
    until: Annotated[float | None, Setting("", "s", least=0)] = None
    path: Path | None = None
    name: str = "pin"

    def __post_init__(self) -> None:
        ids = np.unique(self.vertices)
        object.__setattr__(self, "vertices", ids)
        if len(ids) == 0:
            raise SceneError(
                f"{self.name}.vertices",
                got="nothing",
                expected="at least one vertex",
                hint="the selection is empty: widen the box (Cloth.nearest_to_box says by how "
                "much), or list groups with `weft check`",
            )

    def holds(self, t: float) -> bool:
        """Return True if the pin acts in a step that ends at time t [s]."""
        # The tolerance keeps a step whose end equals ``until`` up to round-off.
        return self.until is None or t <= self.until * (1 + 1e-12)

    def check_until(self, end: float) -> None:
        """Check that the motion is known until the end of a run [s].

        Raises:
            SceneError: keyframes end before the run, and before the pin is released.
        """
        if self.path is None or self.path.hold:
            return
        last = self.path.keyframes[-1].time
        needed = end if self.until is None else min(end, self.until)
        if last < needed * (1 - 1e-9):
            raise SceneError(
                f"{self.name}.path",
                got=f"a last keyframe at {last:g} s",
                expected=f"a keyframe at {needed:g} s or later, when the run ends or the pin is "
                "released",
                hint="add a keyframe, or write `hold: true` to stay at the last keyframe",
            )

    def targets(self, start: Positions, t: float) -> Positions:
        """Return the prescribed positions (k,3) [m] at time t [s]; ``start`` (k,3) [m] are the
        first ones.
        """
        return start if self.path is None else self.path.positions(start, t)


def _rotation(axis: Floats, angle: float) -> Floats:
    """Return the rotation matrix (3,3) about an axis by an angle [rad] (Rodrigues' formula)."""
    a = axis / np.linalg.norm(axis)
    K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K))
