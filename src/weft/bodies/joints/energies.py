"""Joints of rigid bodies as energies: joint springs, guides of sliders, and springs for ropes.

What a joint holds is in ``mechanisms``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields

import numpy as np

from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor
from weft.bodies.joints.bound_joint import BoundJoint
from weft.bodies.joints.limit_energies import limits_and_motors
from weft.bodies.joints.mechanisms import JointRow
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.energies.energy import Energy
from weft.energies.springs.joint_coordinates import BilinearForm, JointCoordinates
from weft.energies.springs.joint_springs import Guides
from weft.energies.springs.point_springs import MovedPlaces, PointSprings


def joint_energies(
    rigid_bodies: RigidBodies, still: Sequence[Body], *, starts: bool = True
) -> Iterator[Energy]:
    """Yield the energies of all joints.

    The order is: joints to the world, joints to each body with a prescribed motion, joints to rigid
    bodies, guides, limits and motors, then ropes and springs, each with its name.

    Args:
        rigid_bodies: the rigid bodies.
        still: bodies that are not rigid.
        starts: check that the lengths of ropes and springs fit the bodies at the start.

    Raises:
        SceneError: a joint connects to no body, to several of one name, or to the body itself.
    """
    found = [
        _bind_joint(body, k, rigid_bodies, still)
        for body in rigid_bodies.affine
        for k in range(len(body.rigid.joints))
    ]
    firm = [f for f in found if f.kind is not None]
    world = [f for f in firm if f.other is None and f.moved is None]
    yield from _springs([row for f in world for row in f.rows()])
    for body in still:
        rows = [row for f in firm if f.moved is body for row in f.rows()]
        if rows:
            points = np.array([r.place for r in rows])
            places = BodyAnchor.of(points, still, body.name, f"joint to {body.name}")
            yield from _springs(rows, places)
    yield from _springs([row for f in firm if f.other is not None for row in f.rows()])
    yield from _guides(firm)
    yield from limits_and_motors(firm)
    yield from _ties([f for f in found if f.kind is None], still, starts)


def _springs(rows: Sequence[JointRow], moving: MovedPlaces | None = None) -> Iterator[PointSprings]:
    """Yield one energy of all rows; nothing if there are no rows."""
    if rows:
        ids, weight, place, stiffness, axis = (
            np.array([getattr(r, f.name) for r in rows]) for f in fields(JointRow)
        )
        held = place if moving is None else moving
        yield PointSprings(ids, weight, stiffness, "joints", place=held, axis=axis, reported=False)


def _guides(joints: Sequence[BoundJoint]) -> Iterator[Guides]:
    """Yield one energy of all guides; nothing if there are none."""
    rows = [
        (j.ids, *pair, j.stiffness)
        for j in joints
        if j.kind is not None and j.kind.guides is not None
        for pair in j.kind.guides(j.ends)
    ]
    if rows:
        ids, off, across, stiffness = (np.array(part) for part in zip(*rows))
        none = np.zeros((len(ids), 3))
        yield Guides(JointCoordinates(ids, BilinearForm(off, none, across, none)), stiffness)


def _ties(
    found: Sequence[BoundJoint], still: Sequence[Body], starts: bool
) -> Iterator[PointSprings]:
    """Yield ropes and springs; their names must differ."""
    taken: list[str] = []
    for f in found:
        name = f.joint.name or f"{f.joint.kind} {f.what.rsplit(' ', 1)[1]} of {f.body.body.name}"
        if name in taken:
            raise SceneError(
                f"{f.what}.name", got=repr(name), expected="a name that no other joint has"
            )
        taken.append(name)
        yield f.tie(name, still, starts)


def _bind_joint(
    body: AffineBody, k: int, rigid_bodies: RigidBodies, still: Sequence[Body]
) -> BoundJoint:
    """Return a joint of a body with its other end."""
    joint, what = body.rigid.joints[k], f"{body.body.name}.rigid.joints {k}"
    if body.body.link is not None:  # a finger: its arm drives it
        driven = next(a for a in rigid_bodies.targets if a.body is body.body)
        return BoundJoint(joint, what, body, driven)
    if not joint.to:
        return BoundJoint(joint, what, body)
    bodies = [*rigid_bodies.bodies, *still]
    others = [b for b in bodies if b is not body.body]
    if joint.to == body.body.name and joint.to not in [b.name for b in others]:
        raise SceneError(
            f"{what}.to",
            got=f"{joint.to!r}, the body itself",
            expected="another body; leave out `to` for the world",
        )
    names = [b.name for b in bodies]
    check_known(joint.to, tuple(dict.fromkeys(names)), f"{what}.to", SceneError)
    if names.count(joint.to) > 1:
        got = f"{names.count(joint.to)} bodies called {joint.to!r}"
        raise SceneError(f"{what}.to", got=got, expected="exactly one body with this name")
    for other in rigid_bodies.affine:
        if other.body.name == joint.to:
            return BoundJoint(joint, what, body, other)
    moved = next(b for b in still if b.name == joint.to)
    turns = moved.path is not None or moved.frames is not None
    kind = joint.mechanism
    if turns and kind is not None and not kind.holds_places:
        raise SceneError(
            f"{what}.to",
            got=f"a {joint.kind} to {joint.to!r}, which has a motion",
            expected="a ball, hinge, weld, rope or spring; or a rigid body",
        )
    if not turns and kind is not None:
        return BoundJoint(joint, what, body)
    return BoundJoint(joint, what, body, None, moved)
