"""What rigid bodies add to a potential: that they keep their shape, and their joints."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.arrays import Floats
from weft.contact.affine_body import AffineBody
from weft.contact.body import Body
from weft.contact.loose import Loose
from weft.contact.rigid import Joint
from weft.energies.base import Energy
from weft.energies.joints import Joints
from weft.energies.rigidity import Rigidity
from weft.errors import SceneError

ONE_SOLVE = ("bdf2_semi_implicit", "baraff_witkin_1998")  # integrators that cannot turn a body


def rigid_energies(loose: Loose) -> tuple[Energy, ...]:
    """Of all rigid bodies; none where there are none."""
    if not len(loose):
        return ()
    stencil = np.array([np.arange(a.first, a.first + 4) for a in loose.affine], dtype=np.int32)
    gradients = np.array([a.gradients for a in loose.affine])
    stiffness = np.array([a.rigid.stiffness * a.solid.volume for a in loose.affine])
    rigidity = Rigidity(stencil, gradients, stiffness)
    rows = [(ids, *row) for ids, a in zip(stencil, loose.affine) for row in _rows_of(a)]
    if not rows:
        return (rigidity,)
    ids, weight, place, k = (np.array(part) for part in zip(*rows))
    return (rigidity, Joints(ids, weight, place, k))


def check_rigid(loose: Loose, integrator: str) -> None:
    """That an integrator can move rigid bodies.

    Raises:
        SceneError: one that takes one linear solve a step.
    """
    if len(loose) and integrator in ONE_SOLVE:
        raise SceneError(
            f"{loose.bodies[0].name}.rigid",
            got=f"a rigid body, with integrator {integrator}",
            expected="backward_euler, bdf2 or quasi_static",
            hint="in one linear solve a step, what turns swells",
        )


def check_held(attachments: Iterable[Any], bodies: Sequence[Body]) -> None:
    """That nothing is attached to a rigid body: attachments do not pull on bodies.

    Raises:
        SceneError: something is.
    """
    rigid = {b.name for b in bodies if b.rigid is not None}
    for k, given in enumerate(attachments):
        name = getattr(given, "body", None)
        if name in rigid:
            raise SceneError(
                f"{given.name or f'attachment {k + 1}'}.body",
                got=f"{name!r}, a rigid body",
                expected="a body that stands still or has a motion",
                hint="attachments do not pull on bodies",
            )


Row = tuple[Floats, Floats, Floats]  # (4,) weights, (3,) place, (3,3) stiffness


def _rows_of(body: AffineBody) -> Iterator[Row]:
    """Springs of all joints of a body."""
    for joint in body.rigid.joints:
        yield from _springs(body, joint)


def _springs(body: AffineBody, joint: Joint) -> Iterator[Row]:
    size = body.solid.volume ** (1 / 3)
    k = body.rigid.stiffness * size if joint.stiffness is None else joint.stiffness
    every = k * np.eye(3)
    point = body.solid.center if joint.point is None else np.asarray(joint.point, dtype=np.float64)
    axis = np.asarray(joint.axis, dtype=np.float64)
    axis = axis / np.linalg.norm(axis)
    if joint.kind in ("ball", "hinge"):
        arms = (-size, size) if joint.kind == "hinge" else (0.0,)
        for place in (point + arm * axis for arm in arms):
            yield body.weights(place[None])[0], place, every
        return
    for a in range(1, 4):
        side = np.zeros(4)
        side[[0, a]] = -1.0, 1.0
        yield side, body.points[a] - body.points[0], every
    if joint.kind == "slider":
        across = k * (np.eye(3) - np.outer(axis, axis))
        yield np.full(4, 0.25), np.asarray(body.solid.center), across
