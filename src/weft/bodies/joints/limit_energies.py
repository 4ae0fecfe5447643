"""Limits and motors of joints as energies.

The coordinate of a joint (the angle of a hinge, the displacement of a slider, the tilt of a ball's
axis) is measured from the start of both bodies, in the frame of the other body (``mechanisms``).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from weft.base.errors import SceneError
from weft.bodies.joints.bound_joint import BoundJoint
from weft.bodies.joints.mechanisms import KINDS, JointKind, coordinates_of
from weft.energies.energy import Energy
from weft.energies.springs.joint_springs import JointLimits, Motors

FIRM = 10.0  # work that a stop absorbs, over the body's weight times the joint's arm
GRAVITY = 9.81  # [m/s^2]


def limits_and_motors(joints: Sequence[BoundJoint]) -> Iterator[Energy]:
    """Yield the limits and motors of joints to the world, then those between rigid bodies.

    Raises:
        SceneError: a joint to a body with a prescribed motion has a limit or motor.
    """
    for j in joints:
        fields = () if j.kind is None else (j.kind.limits, j.kind.motor)
        given = [n for n in fields if n and getattr(j.joint, n) is not None]
        if given and j.moved is not None:
            raise SceneError(
                f"{j.what}.{given[0]}",
                got=f"of a joint to {j.moved.name!r}, which has a motion",
                expected="a joint to the world, to a body without motion, or to a rigid body",
            )
    kinds = dict.fromkeys((*KINDS.values(), *(j.kind for j in joints if j.kind is not None)))
    for own, between in ((False, ""), (True, " between bodies")):
        some = [j for j in joints if (j.other is not None) == own]
        for kind in kinds:
            yield from _stops(kind, _joints_with(some, kind, kind.limits), between)
        for kind in kinds:
            yield from _motors(kind, _joints_with(some, kind, kind.motor), between)


def _joints_with(joints: list[BoundJoint], kind: JointKind, field: str) -> list[BoundJoint]:
    """Return the joints of a kind for which a field of their settings is given."""
    return [j for j in joints if field and j.kind is kind and getattr(j.joint, field) is not None]


def _stops(kind: JointKind, joints: list[BoundJoint], between: str) -> Iterator[JointLimits]:
    """Yield one energy of the limits of joints of a kind."""
    if joints:
        assert kind.bounds is not None
        low, high, margin = np.array([kind.bounds(j.joint) for j in joints]).T
        firm = np.array([FIRM * GRAVITY * j.body.mass * j.arm for j in joints])
        yield JointLimits(
            coordinates_of(kind, [j.ends for j in joints]),
            low,
            high,
            margin,
            firm,
            kind.stops + between,
        )


def _motors(kind: JointKind, joints: list[BoundJoint], between: str) -> Iterator[Motors]:
    """Yield one energy of the motors of joints of a kind."""
    if joints:
        how = [getattr(j.joint, kind.motor) for j in joints]
        said = ("target", "stiffness", "damping", "speed", "resistance")
        numbers = {n: np.array([getattr(h, n) or 0.0 for h in how]) for n in said}
        numbers["damping_time"] = numbers.pop("damping")
        most = np.array([np.inf if h.most is None else h.most for h in how])
        names = [
            j.joint.name or f"{kind.motor} {j.what.rsplit(' ', 1)[1]} of {j.body.body.name}"
            for j in joints
        ]
        name = f"{kind.motor}s{between}"
        yield Motors(
            coordinates_of(kind, [j.ends for j in joints]),
            most=most,
            names=names,
            name=name,
            **numbers,
        )
