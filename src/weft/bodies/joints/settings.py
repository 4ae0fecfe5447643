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
MOVES = "places are those of the start; what a body is jointed to (`to`) may move along a path"
STOP = "a stop bounds where bodies may be; a motor or drive has keyframes, and moves them"


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
        "place of a ball or hinge, or of a rope or spring on this body, where it starts; none: the "
        "center of its mass",
        "m",
        constant=MOVES,
    )
    axis: Place = setting(
        (0.0, 1.0, 0.0), "direction of a hinge or slider, at the start", constant=MOVES
    )
    stiffness: float | None = setting(
        None,
        "of its springs; none: the body's stiffness times its size; kind spring needs it",
        "N/m",
        above=0,
        keyframes=True,
    )
    to: str = setting("", "name of the other body, where it starts; none: the world")
    at: Place | None = setting(
        None,
        "kinds rope, spring: place of the other end, where the other body starts; none: the center "
        "of that body",
        "m",
        constant=MOVES,
    )
    length: float | None = setting(
        None, "kinds rope, spring; none: the distance at the start", "m", least=0, keyframes=True
    )
    damping: float = setting(0.0, "kind spring: over its stiffness", "s", least=0, keyframes=True)
    release: Release = setting(NEVER, "kinds rope, spring: when it lets go")
    name: str = setting("", "of a rope, spring or motor, in metrics; none: its kind and number")
    angles: tuple[float, float] | None = setting(
        None,
        "kind hinge: between which it turns about the axis, from where it starts; within half a "
        "turn, and 0 inside; none: it turns freely",
        "rad",
        constant=STOP,
    )
    way: tuple[float, float] | None = setting(
        None,
        "kind slider: between which it moves along the axis, from where it starts; none: freely",
        "m",
        constant=STOP,
    )
    cone: float | None = setting(
        None,
        "kind ball: by which the axis may be tilted, less than half a turn; none: freely",
        "rad",
        above=0,
        constant=STOP,
    )
    motor: Motor | None = setting(None, "kind hinge: what turns it; none: nothing does")
    drive: Drive | None = setting(None, "kind slider: what pushes it; none: nothing does")

    def __post_init__(self) -> None:
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
                "rigid.joints.at",
                got=f"nothing, of a {self.kind}",
                expected="where its other end is: a place of the world, or another body (`to`)",
            )
        if self.kind == "rope" and self.damping > 0:
            raise SceneError(
                "rigid.joints.damping", got=self.damping, expected="none of a rope: take a spring"
            )
        self._check_limits()
        for name, none in OF_ROPES.items():
            if self.kind not in ROPES and getattr(self, name) != none:
                raise SceneError(
                    f"rigid.joints.{name}",
                    got=f"of kind {self.kind}",
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
                        f"rigid.joints.{name}", got=f"of kind {self.kind}", expected=f"kind {kind}"
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
                    hint="they count from where the bodies start",
                )
