"""What makes a body rigid: its mass, how it starts to move, and what holds it to the world."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.errors import SceneError
from weft.settings import check_settings, documented, setting

JOINTS = ("ball", "hinge", "slider", "fixed_rotation")


@documented
@dataclass(frozen=True)
class Joint:
    """A joint of a rigid body to the world, made of stiff springs."""

    kind: str = setting(
        "ball",
        "ball: a point stays; hinge: it turns about an axis through the point; slider: it moves "
        "along the axis and does not turn; fixed_rotation: it moves and does not turn",
        choices=JOINTS,
    )
    point: tuple[float, float, float] | None = setting(
        None, "place of a ball or hinge where the body starts; none: the center of its mass", "m"
    )
    axis: tuple[float, float, float] = setting((0.0, 1.0, 0.0), "direction of a hinge or slider")
    stiffness: float | None = setting(
        None, "of its springs; none: the body's stiffness times its size", "N/m", above=0
    )

    def __post_init__(self) -> None:
        check_settings(self, "rigid.joints")
        if not np.linalg.norm(self.axis) > 0:
            raise SceneError(
                "rigid.joints.axis", got=self.axis, expected="a direction other than zero"
            )


@documented
@dataclass(frozen=True)
class Rigid:
    """A body that moves as forces and contacts have it. Its mesh has to be closed."""

    density: float | None = setting(None, "of what fills it; or give its mass", "kg/m^3", above=0)
    mass: float | None = setting(None, "of the whole body; or give its density", "kg", above=0)
    velocity: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "of its center at the start", "m/s"
    )
    spin: tuple[float, float, float] = setting(
        (0.0, 0.0, 0.0), "angular velocity at the start", "rad/s"
    )
    stiffness: float = setting(
        1e8,
        "Young's modulus with which it resists a change of shape: strains are about a pressure "
        "over this",
        "Pa",
        above=0,
    )
    joints: Sequence[Joint] = setting((), "that hold it to the world")

    def __post_init__(self) -> None:
        check_settings(self, "rigid")
        if (self.density is None) == (self.mass is None):
            raise SceneError(
                "rigid.mass, rigid.density",
                got="neither" if self.mass is None else "both",
                expected="one of the two",
                hint="wood is about 600 kg/m^3, water 1000, steel 7800",
            )
