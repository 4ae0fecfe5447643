"""A robot arm: a tree of links with hinges and slides, its forward kinematics, and the forces about
its joints.

The derivative of the place x of a link by the angle of a hinge before it is a x (x - o), with the
axis a and a point o on it, and by the length of a slide it is a. The transpose of this Jacobian
gives forces about joints, and gradients by joint targets.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.base.keyframes import Keys

SLACK = 1e-9  # [rad or m] by which a target may be out of its range, for round-off
RECENT = 64  # times of arms whose frames are kept: every link asks for them


def frame(turn: Floats, origin: Floats) -> Floats:
    """Return the frame (4,4) with a rotation (3,3) and an origin (3,) [m]."""
    out = np.eye(4)
    out[:3, :3], out[:3, 3] = turn, origin
    return out


def place_in(frame: Floats, x: Positions) -> Positions:
    """Return where points (k,3) or (3,) [m] of a frame (4,4) are."""
    return np.asarray(x @ frame[:3, :3].T + frame[:3, 3])


@dataclass(frozen=True, eq=False)
class ArmJoint:
    """A hinge or slide that moves a link, with all links beyond it.

    Args:
        name: of the joint.
        link: number of the link.
        slides: the coordinate is a length [m] along the axis; else an angle [rad] about it.
        axis: (3,) unit vector, in the frame of the link.
        point: (3,) [m] a point on the axis, in the frame of the link.
        low: least coordinate; -infinity: none.
        high: largest coordinate; infinity: none.
        zero: coordinate at which the link is where the file places it.
        leader: number of the joint that this one mimics; its own number: none.
        factor: the coordinate is ``offset`` plus this times the coordinate of the leader.
        offset: in the unit of the coordinate.
    """

    name: str
    link: int
    slides: bool
    axis: Floats
    point: Floats
    low: float
    high: float
    zero: float
    leader: int
    factor: float = 1.0
    offset: float = 0.0

    @property
    def unit(self) -> str:
        """The SI unit of the coordinate."""
        return "m" if self.slides else "rad"

    @property
    def range(self) -> str:
        """The range in words."""
        return f"{self.text(self.low)} to {self.text(self.high)}"

    def text(self, q: float) -> str:
        """Return a coordinate in words."""
        return f"{q:.4g} m" if self.slides else f"{np.degrees(q):.4g} deg"

    def check(self, q: Floats, what: str) -> None:
        """Check that coordinates q (k,) [rad or m] are within the range.

        Raises:
            SceneError: one is not; ``what`` names it.
        """
        out = q[(q < self.low - SLACK) | (q > self.high + SLACK)]
        if len(out):
            raise SceneError(what, got=self.text(out[0]), expected=self.range)

    def motion(self, q: float) -> Floats:
        """Return the motion (4,4) of the link at the coordinate q, in its own frame."""
        from scipy.spatial.transform import Rotation

        way = (q - self.zero) * self.axis
        if self.slides:
            return frame(np.eye(3), way)
        turn = Rotation.from_rotvec(way).as_matrix()
        return frame(turn, self.point - turn @ self.point)


@dataclass(frozen=True, eq=False)
class Arm:
    """A tree of links, whose joints follow targets in time.

    Args:
        name: of the arm.
        links: names of the links; the first is the base, which stands still.
        parents: (l,) number of the link before each, which is smaller than its own; -1: none.
        places: (l,4,4) frame of each link in that of its parent, with joints at their zero; of the
            base its frame in the scene.
        joints: of all links, in the order of the file.
        targets: coordinate [rad or m] of each joint that mimics no other, by its name.
    """

    name: str
    links: Sequence[str]
    parents: Ints
    places: Floats
    joints: Sequence[ArmJoint]
    targets: Mapping[str, Keys]

    @property
    def leaders(self) -> Sequence[ArmJoint]:
        """The joints that have targets, because they mimic no other."""
        return [j for j in self.joints if j.name in self.targets]

    def coordinates(self, t: float) -> Floats:
        """Return the coordinates (j,) [rad or m] of all joints at time t [s]."""
        lead = [self.targets[self.joints[j.leader].name].at(t) for j in self.joints]
        return np.array([j.offset + j.factor * q for j, q in zip(self.joints, lead)])

    def frames(self, q: Floats) -> tuple[Floats, Floats]:
        """Return the frames of links (l,4,4), and of joints the axes and a point [m] on each in the
        scene, (2,j,3), at coordinates q (j,).
        """
        links, lines = np.array(self.places), np.zeros((2, len(self.joints), 3))
        for k, parent in enumerate(self.parents):
            if parent >= 0:
                links[k] = links[parent] @ links[k]
            for j, joint in enumerate(self.joints):
                if joint.link == k:
                    lines[:, j] = links[k, :3, :3] @ joint.axis, place_in(links[k], joint.point)
                    links[k] = links[k] @ joint.motion(float(q[j]))
        return links, lines

    def at(self, t: float) -> tuple[Floats, Floats]:
        """Return ``frames`` at time t [s]."""
        return _frames_at(self, t)

    def link_loads(self, links: Mapping[str, Mapping[str, Sequence[float]]]) -> Floats:
        """Return the loads (l,6) on links: force [N] and torque [N m] about the scene's origin.

        Args:
            links: the loads of those that touch something, as ``StepReport.contact["links"]``.
        """
        found = (links.get(f"{self.name}.{name}") for name in self.links)
        return np.array([[0.0] * 6 if f is None else [*f["force"], *f["torque"]] for f in found])

    def joint_forces(self, t: float, loads: Floats) -> Floats:
        """Return the torque about each hinge [N m] and the force along each slide [N], (j,).

        Forces of joints that mimic another count for that one, and are 0 themselves.

        Args:
            t: [s] time.
            loads: (l,6) on links, as of ``link_loads``.
        """
        loads, out = np.array(loads), np.zeros(len(self.joints))
        for k in range(len(self.links) - 1, 0, -1):
            loads[self.parents[k]] += loads[k]
        for axis, point, j in zip(*self.at(t)[1], self.joints):
            force, torque = loads[j.link, :3], loads[j.link, 3:]
            about = force if j.slides else torque - np.cross(point, force)
            out[j.leader] += j.factor * (axis @ about)
        return out

    def with_targets(self, targets: Mapping[str, Keys]) -> "Arm":
        """Return the arm with other targets of some joints, by name."""
        return replace(self, targets={**self.targets, **targets})


@lru_cache(RECENT)
def _frames_at(arm: Arm, t: float) -> tuple[Floats, Floats]:
    return arm.frames(arm.coordinates(t))


@dataclass(frozen=True, eq=False)
class ArmLink:
    """A link of an arm, as the motion of a body.

    Args:
        arm: the arm.
        number: of the link.
        shape: (n,3) [m] vertices in the frame of the link.
    """

    arm: Arm
    number: int
    shape: Positions

    @property
    def frame(self) -> Floats:
        """The frame (4,4) at the start."""
        return np.asarray(self.arm.at(0.0)[0][self.number])

    @property
    def axis(self) -> tuple[float, float, float]:
        """The axis of the last joint of the link, at the start."""
        j = max(j for j, joint in enumerate(self.arm.joints) if joint.link == self.number)
        x, y, z = self.arm.at(0.0)[1][0, j].tolist()
        return x, y, z

    def place(self, x: Positions, t: float) -> Positions:
        """Return where points (k,3) [m] of the link's frame are at time t [s]."""
        return place_in(self.arm.at(t)[0][self.number], x)

    def at(self, t: float) -> Positions:
        """Return the vertices (n,3) [m] at time t [s]."""
        return self.place(self.shape, t)
