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
        None, "to which a spring turns it, from where it starts", "rad", keyframes=True
    )
    speed: float | None = setting(None, "which a motor keeps", "rad/s", keyframes=True)
    stiffness: float | None = setting(
        None, "of the spring, a radian", "N*m", above=0, keyframes=True
    )
    damping: float = setting(0.0, "of the spring, over its stiffness", "s", least=0, keyframes=True)
    resistance: float | None = setting(
        None,
        "torque for each rad/s that the motor is slower than its speed",
        "N*m*s",
        above=0,
        keyframes=True,
    )
    torque: float | None = setting(
        None, "that it does not exceed; none: no end", "N*m", above=0, keyframes=True
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
        "along the axis, to which a spring pushes it, from where it starts",
        "m",
        keyframes=True,
    )
    speed: float | None = setting(
        None, "along the axis, which a drive keeps", "m/s", keyframes=True
    )
    stiffness: float | None = setting(None, "of the spring", "N/m", above=0, keyframes=True)
    damping: float = setting(0.0, "of the spring, over its stiffness", "s", least=0, keyframes=True)
    resistance: float | None = setting(
        None,
        "force for each m/s that the drive is slower than its speed",
        "N*s/m",
        above=0,
        keyframes=True,
    )
    force: float | None = setting(
        None, "that it does not exceed; none: no end", "N", above=0, keyframes=True
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
            expected="how strong it is",
        )
    if getattr(made, other) is not None or (not springs and made.damping > 0):
        name = other if getattr(made, other) is not None else "damping"
        raise SceneError(
            f"rigid.joints.{what}.{name}",
            got=f"given, with {given[0]}",
            expected=f"none, but with {'speed' if springs else target}",
        )
