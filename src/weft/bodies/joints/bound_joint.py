"""A joint of a rigid body, with its other end."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import SceneError
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.bodies.joints.mechanisms import JointEnds, JointKind, JointRow
from weft.bodies.joints.settings import Joint
from weft.bodies.rigid.affine_body import AffineBody
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
        return iter(()) if self.kind is None else self.kind.rows(self.ends)

    @property
    def ends(self) -> JointEnds:
        """The two bodies and the place of the joint, from which its mechanism follows."""
        other = None if self.other is None else self.other.frame
        place = self.point, self.axis, self.size, self.stiffness
        return JointEnds(self.ids, self.body.frame, other, *place)

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
                hint="use a longer rope, or start the ends nearer",
            )
        if (j.kind == "rope" and length <= NEVER_ZERO) or (
            gap <= NEVER_ZERO < length and j.kind != "rope"
        ):
            raise SceneError(
                f"{self.what}.length",
                got=f"{length:.4g} m, with ends {gap:.3g} m apart",
                expected="ends that are apart; without a distance the joint has no direction",
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
