"""Settings of joints, ropes and springs of rigid bodies, as a scene lists them."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Vector
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.bodies.joints.mechanisms import KINDS, JointKind
from weft.bodies.joints.motors import Drive, Motor
from weft.energies.springs.release import NEVER, Release

ROPES = ("rope", "spring")  # kinds with two ends and a length between them
OF_ROPES = {"at": None, "length": None, "damping": 0.0, "release": NEVER}
Place = Vector
MOVES = "the places are those at the start; the other body (`to`) may move along a path"
STOP = "a stop only limits the motion; to move bodies, give keyframes to a motor or drive"


@checked(SceneError, "rigid.joints")
@documented
@dataclass(frozen=True)
class Joint:
    """A joint of a rigid body to the world or to another body, built from stiff springs; or a rope
    or spring between both.
    """

    kind: str = setting(
        "ball",
        "ball: a point stays; hinge: it turns about an axis through the point; slider: it moves "
        "along the axis and does not turn; fixed_rotation: it moves and does not turn; weld: it "
        "neither moves nor turns; rope: it is pulled where the rope is taut; spring: it is pulled "
        "and pushed",
        choices=(*KINDS, *ROPES),
    )
    point: Place | None = setting(
        None,
        "place of the joint on this body at the start; none: the center of mass",
        "m",
        constant=MOVES,
    )
    axis: Place = setting((0.0, 1.0, 0.0), "axis of a hinge or slider at the start", constant=MOVES)
    stiffness: float | None = setting(
        None,
        "stiffness of the joint's springs; none: the body's stiffness times its size; kind "
        "spring needs a value",
        "N/m",
        above=0,
        keyframes=True,
    )
    to: str = setting("", "name of the other body; none: the world")
    at: Place | None = setting(
        None,
        "kinds rope, spring: place of the other end at the start; none: the center of the other "
        "body",
        "m",
        constant=MOVES,
    )
    length: float | None = setting(
        None,
        "kinds rope, spring: length without force; none: the distance at the start",
        "m",
        least=0,
        keyframes=True,
    )
    damping: float = setting(
        0.0, "kind spring: damping over stiffness", "s", least=0, keyframes=True
    )
    release: Release = setting(NEVER, "kinds rope, spring: time at which the joint is released")
    name: str = setting("", "name of a rope, spring or motor in metrics; none: its kind and number")
    angles: tuple[float, float] | None = setting(
        None,
        "kind hinge: smallest and largest angle about the axis, relative to the start; less than "
        "half a turn, 0 lies between them; none: the hinge turns freely",
        "rad",
        constant=STOP,
    )
    way: tuple[float, float] | None = setting(
        None,
        "kind slider: smallest and largest place along the axis, relative to the start; none: "
        "the slider moves freely",
        "m",
        constant=STOP,
    )
    cone: float | None = setting(
        None,
        "kind ball: largest tilt of the axis, less than half a turn; none: no limit",
        "rad",
        above=0,
        constant=STOP,
    )
    motor: Motor | None = setting(None, "kind hinge: the motor that turns it; none: no motor")
    drive: Drive | None = setting(None, "kind slider: the drive that pushes it; none: no drive")

    def __post_init__(self) -> None:
        if not np.linalg.norm(self.axis) > 0:
            raise SceneError(
                "rigid.joints.axis", got=self.axis, expected="a direction other than zero"
            )
        if self.kind == "spring" and self.stiffness is None:
            raise SceneError(
                "rigid.joints.stiffness",
                got="nothing, with kind spring",
                expected="a stiffness [N/m]",
            )
        if self.kind in ROPES and self.at is None and not self.to:
            raise SceneError(
                "rigid.joints.at",
                got=f"nothing, with kind {self.kind}",
                expected="the other end: a place in the world, or another body (`to`)",
            )
        if self.kind == "rope" and self.damping > 0:
            raise SceneError(
                "rigid.joints.damping",
                got=self.damping,
                expected="no value for a rope; use kind spring",
            )
        self._check_limits()
        for name, none in OF_ROPES.items():
            if self.kind not in ROPES and getattr(self, name) != none:
                raise SceneError(
                    f"rigid.joints.{name}",
                    got=f"with kind {self.kind}",
                    expected=f"kind {' or '.join(ROPES)}",
                )

    @property
    def mechanism(self) -> JointKind | None:
        """The directions that the joint holds and leaves free; None: a rope or spring."""
        return KINDS.get(self.kind)

    def _check_limits(self) -> None:
        """Check that limits and motors fit the joint's kind, and limits the start."""
        own = self.mechanism
        for kind, of in KINDS.items():
            for name in filter(None, (of.limits, of.motor)):
                if getattr(self, name) is not None and (
                    own is None or name not in (own.limits, own.motor)
                ):
                    raise SceneError(
                        f"rigid.joints.{name}",
                        got=f"with kind {self.kind}",
                        expected=f"kind {kind}",
                    )
        if self.cone is not None and not self.cone < np.pi:
            got = f"{np.degrees(self.cone):g} deg"
            raise SceneError("rigid.joints.cone", got=got, expected="must be < 180 deg")
        for name, most in (("angles", np.pi), ("way", np.inf)):
            given = getattr(self, name)
            if given is None:
                continue
            if len(given) != 2 or not -most < given[0] < 0 < given[1] < most:
                raise SceneError(
                    f"rigid.joints.{name}",
                    got=given,
                    expected="two limits, the first below 0 and the second above"
                    + (", both within half a turn" if name == "angles" else ""),
                    hint="limits are relative to the start of the bodies",
                )
