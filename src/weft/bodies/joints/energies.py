"""Joints of rigid bodies as energies: joint springs, guides of sliders, and springs for ropes.

What a joint holds is in ``mechanisms``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.bodies.joints.limit_energies import limits_and_motors
from weft.bodies.joints.mechanisms import JointKind, JointRow
from weft.bodies.joints.settings import Joint
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.energies.energy import Energy
from weft.energies.springs.joint_coordinates import BilinearForm, JointCoordinates
from weft.energies.springs.joint_springs import Guides
from weft.energies.springs.point_springs import MovedPlaces, PointSprings

ONSET = 0.01  # fraction of a rope's length over which it becomes stiff
NEVER_ZERO = 1e-9  # [m] distance below which the ends of a rope or spring coincide


@dataclass(frozen=True, eq=False)
class BoundJoint:
    """A joint of a body, with its other end."""

    joint: Joint
    what: str  # name of the joint in messages
    body: AffineBody
    other: AffineBody | None = None  # the other end, if it is a rigid body
    # the other end, if it is a body with a prescribed motion; for ropes and springs also a body at
    # rest, which all other joints treat like the world
    moved: Body | None = None

    @property
    def ids(self) -> Ints:
        """(4,) or (8,) indices of the points of one or both bodies."""
        own = np.arange(self.body.first, self.body.first + 4, dtype=np.int32)
        if self.other is None:
            return own
        second = np.arange(self.other.first, self.other.first + 4, dtype=np.int32)
        return np.concatenate([own, second])

    @property
    def point(self) -> Floats:
        """(3,) [m] place of the joint on this body, at the start."""
        given = self.joint.point
        return np.array(self.body.solid.center if given is None else given, dtype=np.float64)

    @property
    def size(self) -> float:
        """The size [m] of the body: the cube root of its volume."""
        return float(self.body.solid.volume ** (1 / 3))

    @property
    def arm(self) -> float:
        """The distance [m] from joint to center, plus the body's size; for sliders the size alone.

        Times the weight of the body, this is the work by which the stiffness of a stop is chosen.
        """
        if self.kind is not None and not self.kind.has_arm:
            return self.size
        return self.size + float(np.linalg.norm(self.point - self.body.solid.center))

    @property
    def stiffness(self) -> float:
        """The stiffness [N/m] of the joint's springs."""
        given = self.joint.stiffness
        return self.body.rigid.stiffness * self.size if given is None else given

    @property
    def axis(self) -> Floats:
        """(3,) unit vector of the joint's axis."""
        axis = np.asarray(self.joint.axis, dtype=np.float64)
        return axis / np.linalg.norm(axis)

    @property
    def kind(self) -> JointKind | None:
        """The kind of the joint; None: a rope or spring."""
        return self.joint.mechanism

    def rows(self) -> Iterator[JointRow]:
        """Yield the springs of the joint that are linear in the points."""
        return iter(()) if self.kind is None else self.kind.rows(self)

    def tie(self, name: str, still: Sequence[Body], starts: bool) -> PointSprings:
        """Return the point spring of a rope or spring.

        Args:
            name: name of the energy.
            still: bodies that are not rigid.
            starts: check that the length fits the bodies at the start.

        Raises:
            SceneError: a rope is too short at the start, or both ends are at one place.
        """
        j, first = self.joint, self.point
        other = self._center if j.at is None else np.asarray(j.at, dtype=np.float64)
        gap = float(np.linalg.norm(first - other))
        place: MovedPlaces | None = None
        weight = self.body.weights(first[None])
        if self.other is not None:
            weight = np.concatenate([weight, -self.other.weights(other[None])], axis=1)
        elif self.moved is not None:
            place = BodyAnchor.of(other[None], still, self.moved.name, self.what)
        else:
            place = FixedAnchor(other[None])
        length = gap if j.length is None else j.length
        if starts and j.kind == "rope" and gap > length * (1 + 1e-6):
            raise SceneError(
                f"{self.what}.length",
                got=f"{length:.4g} m",
                expected=f"at least the distance at the start, {gap:.4g} m",
                hint="a longer rope, or begin nearer",
            )
        if (j.kind == "rope" and length <= NEVER_ZERO) or (
            gap <= NEVER_ZERO < length and j.kind != "rope"
        ):
            raise SceneError(
                f"{self.what}.length",
                got=f"{length:.4g} m, with ends {gap:.3g} m apart",
                expected="ends that are apart: it has no direction",
            )
        return PointSprings(
            self.ids[None],
            weight,
            np.array([self.stiffness]),
            name,
            length=np.array([length]),
            pulls=j.kind == "rope",
            onset=np.array([ONSET * length if j.kind == "rope" else 0.0]),
            damping=j.damping,
            place=place,
            release=j.release,
            strand=4,
        )

    @property
    def _center(self) -> Floats:
        """(3,) [m] center of the other body."""
        if self.other is not None:
            return self.other.solid.center
        assert self.moved is not None
        return np.asarray(self.moved.at(0.0).mean(0))


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
        for pair in j.kind.guides(j)
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
            raise SceneError(f"{f.what}.name", got=repr(name), expected="one that no other has")
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
            expected="another body; nothing for the world",
        )
    names = [b.name for b in bodies]
    check_known(joint.to, tuple(dict.fromkeys(names)), f"{what}.to", SceneError)
    if names.count(joint.to) > 1:
        got = f"{names.count(joint.to)} bodies called {joint.to!r}"
        raise SceneError(f"{what}.to", got=got, expected="one of this name")
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
