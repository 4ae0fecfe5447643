"""Settings of motors of joints, as a scene lists them."""

from dataclasses import dataclass
from typing import Any

from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting


@checked(SceneError, "rigid.joints.motor")
@documented
@dataclass(frozen=True)
class Motor:
    """A motor of a hinge: a spring that turns it to an angle, or a motor that keeps a speed."""

    angle: float | None = setting(
        None, "target angle of the spring, relative to the start", "rad", keyframes=True
    )
    speed: float | None = setting(None, "speed that the motor keeps", "rad/s", keyframes=True)
    stiffness: float | None = setting(
        None, "stiffness of the spring, per radian", "N*m", above=0, keyframes=True
    )
    damping: float = setting(
        0.0, "damping of the spring, over its stiffness", "s", least=0, keyframes=True
    )
    resistance: float | None = setting(
        None,
        "torque per rad/s that the motor is too slow",
        "N*m*s",
        above=0,
        keyframes=True,
    )
    torque: float | None = setting(
        None, "largest torque or force; none: no limit", "N*m", above=0, keyframes=True
    )

    def __post_init__(self) -> None:
        _check(self, "angle", "motor")

    @property
    def most(self) -> float | None:
        """The largest torque [N m]; None: no limit."""
        return self.torque

    @property
    def target(self) -> float | None:
        """The angle [rad] to which a spring turns the hinge; None: the motor keeps a speed."""
        return self.angle


@checked(SceneError, "rigid.joints.drive")
@documented
@dataclass(frozen=True)
class Drive:
    """A drive of a slider: a spring that pushes it to a place, or a drive that keeps a speed."""

    place: float | None = setting(
        None,
        "target of the spring along the axis, relative to the start",
        "m",
        keyframes=True,
    )
    speed: float | None = setting(
        None, "speed along the axis that the drive keeps", "m/s", keyframes=True
    )
    stiffness: float | None = setting(
        None, "stiffness of the spring", "N/m", above=0, keyframes=True
    )
    damping: float = setting(
        0.0, "damping of the spring, over its stiffness", "s", least=0, keyframes=True
    )
    resistance: float | None = setting(
        None,
        "force per m/s that the drive is too slow",
        "N*s/m",
        above=0,
        keyframes=True,
    )
    force: float | None = setting(
        None, "largest torque or force; none: no limit", "N", above=0, keyframes=True
    )

    def __post_init__(self) -> None:
        _check(self, "place", "drive")

    @property
    def most(self) -> float | None:
        """The largest force [N]; None: no limit."""
        return self.force

    @property
    def target(self) -> float | None:
        """The place [m] to which a spring pushes the slider; None: the drive keeps a speed."""
        return self.place


def _check(made: Any, target: str, what: str) -> None:
    """Check that there is either a target or a speed, with the gain that it needs and no other."""
    given = [name for name in (target, "speed") if getattr(made, name) is not None]
    if len(given) != 1:
        raise SceneError(
            f"rigid.joints.{what}",
            got=" and ".join(given) or "nothing",
            expected=f"{target} or speed, one of the two",
        )
    springs = given[0] == target
    need, other = ("stiffness", "resistance") if springs else ("resistance", "stiffness")
    if getattr(made, need) is None:
        raise SceneError(
            f"rigid.joints.{what}.{need}",
            got=f"nothing, with {given[0]}",
            expected="a value",
        )
    if getattr(made, other) is not None or (not springs and made.damping > 0):
        name = other if getattr(made, other) is not None else "damping"
        raise SceneError(
            f"rigid.joints.{what}.{name}",
            got=f"given, with {given[0]}",
            expected=f"no value; this field needs {'speed' if springs else target}",
        )
