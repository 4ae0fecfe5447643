"""Limits and motors of joints as energies.

The coordinate of a joint (the angle of a hinge, the displacement of a slider, the tilt of a ball's
axis) is measured from the start of both bodies, in the frame of the other body
(``energies.springs.joint_coordinates``).
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SceneError
from weft.energies.base import Energy
from weft.energies.springs.joint_coordinates import BilinearForm, JointCoordinates
from weft.energies.springs.joint_limits import JointLimits
from weft.energies.springs.motors import Motors

if TYPE_CHECKING:
    from weft.bodies.joints.energies import BoundJoint

MARGIN = 0.01  # fraction of the range between limits, or of a cone's angle, where stops begin
FIRM = 10.0  # work that a stop absorbs, over the body's weight times the joint's arm
GRAVITY = 9.81  # [m/s^2]


def limits_and_motors(joints: "Sequence[BoundJoint]") -> Iterator[Energy]:
    """Yield the limits and motors of joints to the world, then those between rigid bodies.

    Raises:
        SceneError: a joint to a body with a prescribed motion has a limit or motor.
    """
    for j in joints:
        given = [
            n
            for n in ("angles", "way", "cone", "motor", "drive")
            if getattr(j.joint, n) is not None
        ]
        if given and j.moved is not None:
            raise SceneError(
                f"{j.what}.{given[0]}",
                got=f"of a joint to {j.moved.name!r}, which has a motion",
                expected="one to the world, to a body that stands, or to a rigid body",
            )
    for own, between in ((False, ""), (True, " between bodies")):
        some = [j for j in joints if (j.other is not None) == own]
        for make in (_stops, _motors):
            yield from make(some, between)


def _stops(joints: "Sequence[BoundJoint]", between: str) -> Iterator[Energy]:
    """Yield the limits of joints, one energy for each kind of limit."""
    kinds: tuple[tuple[str, Callable[[Any], tuple[float, float]], str], ...] = (
        ("angles", lambda j: j.angles, "stops"),
        ("way", lambda j: j.way, "stops of sliders"),
        ("cone", lambda j: (float(np.cos(j.cone)), np.inf), "stops of balls"),
    )
    for field, limits, name in kinds:
        some = [j for j in joints if getattr(j.joint, field) is not None]
        if not some:
            continue
        low, high = np.array([limits(j.joint) for j in some]).T
        margin = MARGIN * (high - low)
        # The coordinate of a ball is the cosine of its tilt, so that MARGIN is converted from the
        # angle of the cone to its cosine.
        if field == "cone":
            margin = np.cos((1 - MARGIN) * np.arccos(low)) - low
        firm = np.array([FIRM * GRAVITY * j.body.mass * j.arm for j in some])
        yield JointLimits(_coordinates(some), low, high, margin, firm, name + between)


def _motors(joints: "Sequence[BoundJoint]", between: str) -> Iterator[Energy]:
    """Yield the motors of hinges, then the drives of sliders."""
    for field, name in (("motor", "motors"), ("drive", "drives")):
        some = [j for j in joints if getattr(j.joint, field) is not None]
        if some:
            how = [getattr(j.joint, field) for j in some]
            said = ("target", "stiffness", "damping", "speed", "resistance")
            numbers = {n: np.array([getattr(h, n) or 0.0 for h in how]) for n in said}
            numbers["damping_time"] = numbers.pop("damping")
            most = np.array([np.inf if h.most is None else h.most for h in how])
            names = [
                j.joint.name or f"{field} {j.what.rsplit(' ', 1)[1]} of {j.body.body.name}"
                for j in some
            ]
            yield Motors(_coordinates(some), most=most, names=names, name=name + between, **numbers)


def _coordinates(joints: "Sequence[BoundJoint]") -> JointCoordinates:
    """Return the coordinates of joints of one kind."""
    stencil = np.array([j.ids for j in joints])
    kind = joints[0].joint.kind
    first = _joined([_form(j, *_directions(j)[0]) for j in joints])
    if kind != "hinge":
        return JointCoordinates(stencil, first)
    return JointCoordinates(stencil, first, _joined([_form(j, *_directions(j)[1]) for j in joints]))


def _directions(j: "BoundJoint") -> list[tuple[Floats | None, Floats]]:
    """Return pairs of directions, of this body (None: the displacement of its center) and of the
    other body, whose products are the coordinates.
    """
    from weft.bodies.joints.energies import across

    if j.joint.kind == "slider":
        return [(None, j.axis)]
    if j.joint.kind == "ball":
        return [(j.axis, j.axis)]
    b, c = across(j.axis)
    return [(b, b), (b, c)]


def _form(j: "BoundJoint", own: Floats | None, other: Floats) -> BilinearForm:
    """Return one row of the coordinates: the coefficients of one product."""
    k = len(j.ids)
    w, u, w0, u0 = np.zeros(k), np.zeros(k), np.zeros(3), np.zeros(3)
    center = np.asarray(j.body.solid.center)
    w[:4] = 0.25 if own is None else j.body.gradients @ own
    if j.other is None:
        u0 = other
        w0 = -center if own is None else w0
    else:
        u[4:] = j.other.gradients @ other
        if own is None:
            w[4:] = -j.other.weights(center[None])[0]
    return BilinearForm(w[None], w0[None], u[None], u0[None])


def _joined(forms: Sequence[BilinearForm]) -> BilinearForm:
    return BilinearForm(
        *(np.concatenate([getattr(f, n) for f in forms]) for n in ("w", "w0", "u", "u0"))
    )
