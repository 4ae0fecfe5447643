"""Joints, ropes and springs of rigid bodies, as a scene says them."""

from dataclasses import dataclass

import numpy as np

from weft.energies.release import NEVER, Release
from weft.errors import SceneError
from weft.settings import check_settings, documented, setting

JOINTS = ("ball", "hinge", "slider", "fixed_rotation", "weld", "rope", "spring")
ROPES = ("rope", "spring")  # which have two ends, and a length between them
OF_ROPES = {"at": None, "length": None, "damping": 0.0, "release": NEVER}
Place = tuple[float, float, float]


@documented
@dataclass(frozen=True)
class Joint:
    """A joint of a rigid body to the world or to another body, made of stiff springs; or a rope or
    spring between both.
    """

    kind: str = setting(
        "ball",
        "ball: a point stays; hinge: it turns about an axis through the point; slider: it moves "
        "along the axis and does not turn; fixed_rotation: it moves and does not turn; weld: it "
        "neither moves nor turns; rope: it is pulled where the rope is taut; spring: it is pulled "
        "and pushed",
        choices=JOINTS,
    )
    point: Place | None = setting(
        None,
        "place of a ball or hinge, or of a rope or spring on this body, where it starts; none: the "
        "center of its mass",
        "m",
    )
    axis: Place = setting((0.0, 1.0, 0.0), "direction of a hinge or slider, at the start")
    stiffness: float | None = setting(
        None,
        "of its springs; none: the body's stiffness times its size; kind spring needs it",
        "N/m",
        above=0,
    )
    to: str = setting("", "name of the other body, where it starts; none: the world")
    at: Place | None = setting(
        None,
        "kinds rope, spring: place of the other end, where the other body starts; none: the center "
        "of that body",
        "m",
    )
    length: float | None = setting(
        None, "kinds rope, spring; none: the distance at the start", "m", least=0
    )
    damping: float = setting(0.0, "kind spring: over its stiffness", "s", least=0)
    release: Release = setting(NEVER, "kinds rope, spring: when it lets go")
    name: str = setting("", "of a rope or spring, in metrics; none: its kind and number")

    def __post_init__(self) -> None:
        check_settings(self, "rigid.joints")
        if not np.linalg.norm(self.axis) > 0:
            raise SceneError(
                "rigid.joints.axis", got=self.axis, expected="a direction other than zero"
            )
        if self.kind == "spring" and self.stiffness is None:
            raise SceneError(
                "rigid.joints.stiffness", got="nothing, of a spring", expected="[N/m] how stiff"
            )
        if self.kind in ROPES and self.at is None and not self.to:
            raise SceneError(
                "rigid.joints.at", got=f"nothing, of a {self.kind}",
                expected="where its other end is: a place of the world, or another body (`to`)",
            )  # fmt: skip
        if self.kind == "rope" and self.damping > 0:
            raise SceneError(
                "rigid.joints.damping", got=self.damping, expected="none of a rope: take a spring"
            )
        for name, none in OF_ROPES.items():
            if self.kind not in ROPES and getattr(self, name) != none:
                raise SceneError(
                    f"rigid.joints.{name}", got=f"of kind {self.kind}",
                    expected=f"kind {' or '.join(ROPES)}",
                )  # fmt: skip
