"""Prescribed motions of pins, bodies and arms, as the division of steps sees them.

Each class implements ``step_division.KinematicMotion``: keyframes, turning, and the distance from
the straight way. Every step evaluates them. Rigid motions are therefore measured by their few
numbers and not by vertices.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.base.keyframes import Keys, as_keys
from weft.bodies.body import Body, arms_of
from weft.bodies.joints.arm import Arm, ArmLink, place_in
from weft.bodies.motion.pins import Path
from weft.bodies.motion.step_division import MOST_TURN, KinematicMotion
from weft.energies.springs.hand import Hands

POINTS = 2000  # largest number of vertices of a deforming body that are measured
ANGLE = float(np.radians(15.0))  # between samples of a rotation
SAMPLES = 4, 64  # fewest and most samples of a smooth motion between two times
TINY = 1e-12  # [m] distance from an axis at which a rotation moves nothing
LEVER = 0.1  # [m] arm at which the angle of a drive moves something


@dataclass(frozen=True, eq=False)
class PathMotion:
    """The motion of points along a path.

    Args:
        name: of what moves.
        path: the motion.
        start: (k,3) [m] points at the start.
        center: (3,) [m] of the path's rotations.
    """

    name: str
    path: Path
    start: Positions
    center: Floats
    is_sampled = False

    @property
    def keys(self) -> Floats:
        """(k,) [s] times of the keyframes."""
        return self.path.times

    @cached_property
    def radius(self) -> float:
        """Largest distance [m] of a point from the axis of rotation; 0 if nothing rotates."""
        arm = self.start - self.center
        axis = np.asarray(self.path.axis) / np.linalg.norm(self.path.axis)
        far = float(np.linalg.norm(np.cross(arm, axis), axis=1).max(initial=0.0))
        return far if far > TINY and np.ptp(self.path.values[:, 3]) > 0 else 0.0

    @cached_property
    def _rates(self) -> tuple[float, float]:
        """Bounds of the angular velocity [rad/s] and of the acceleration [m/s^2] between keyframes.

        The slope of a monotone cubic is at most three times that of the straight line. Its second
        derivative is linear between keyframes.
        """
        gaps = np.diff(self.keys)
        if not len(gaps):
            return 0.0, 0.0
        slopes = np.diff(self.path.values[:, 3]) / gaps if self.radius else np.zeros(1)
        fastest, bend = float(np.abs(slopes).max()), np.zeros((1, 4))
        if self.path.interpolation == "smooth":
            cubic, square = self.path.curve.c[:2]
            bend = 2 * np.concatenate([square, square + 3 * cubic * gaps[:, None]])
            fastest *= 3
        far = _farthest(bend[:, :3]) + self.radius * (float(np.abs(bend[:, 3]).max()) + fastest**2)
        return fastest, far

    def turn(self, begin: float, end: float) -> float:
        """Return the angle [rad] between two times [s], there and back added; or a bound of it, if
        that is at most ``MOST_TURN``.
        """
        if begin >= self.keys[-1] or end <= self.keys[0]:
            return 0.0
        most = self._rates[0] * (end - begin)
        if most <= MOST_TURN:
            return most
        return _variation(self.path.at(_with_keys(self.keys, begin, end))[:, 3])

    def deviation(self, begin: float, end: float, room: float) -> float:
        """Return the largest distance [m] of a point from the straight way.

        A point is at T + R p. The distance is at most that of T, plus the radius times that of R,
        and at most a (end - begin)^2 / 8 with the acceleration a where the velocity does not jump.
        """
        if begin >= self.keys[-1] or end <= self.keys[0]:
            return 0.0
        times = _with_keys(self.keys, begin, end)
        bound = self._rates[1] * (end - begin) ** 2 / 8
        inside = self.keys[0] <= begin and end <= self.keys[-1]
        if bound <= room and (len(times) == 2 or (inside and self.path.interpolation == "smooth")):
            return bound
        more = _samples(begin, end, self.turn(begin, end))
        v = self.path.at(np.concatenate([times, more]))
        ends = v[[0, len(times) - 1]]
        place, way = v[:, :3] - ends[0, :3], ends[1, :3] - ends[0, :3]
        spin = self.radius * (np.exp(1j * v[:, 3]) - np.exp(1j * ends[0, 3]))
        swing = self.radius * (np.exp(1j * ends[1, 3]) - np.exp(1j * ends[0, 3]))
        along = np.stack(
            [
                place @ way / max(float(way @ way), TINY**2),
                np.real(spin * np.conj(swing)) / max(abs(swing) ** 2, TINY**2),
            ]
        ).clip(0.0, 1.0)
        off = np.linalg.norm(place - along[..., None] * way, axis=-1) + abs(spin - along * swing)
        return float(off.min(axis=0).max())

    def travel(self, begin: float, end: float) -> float:
        """Return the largest displacement [m] between two times [s]."""
        a, b = self.path.at(np.array([begin, end]))
        turned = self.radius * abs(np.exp(1j * b[3]) - np.exp(1j * a[3]))
        return float(np.linalg.norm(b[:3] - a[:3]) + turned)


@dataclass(frozen=True, eq=False)
class FramesMotion:
    """The motion of a body through frames, and along a path if it has one."""

    body: Body
    is_sampled = True

    @property
    def name(self) -> str:
        """Name of the body."""
        return self.body.name

    @cached_property
    def _path(self) -> PathMotion | None:
        return None if self.body.path is None else path_motion(self.body)

    @cached_property
    def keys(self) -> Floats:
        """(k,) [s] times of frames and keyframes."""
        assert self.body.frames is not None
        times = [self.body.frames.times, () if self._path is None else self._path.keys]
        return np.unique(np.concatenate(times))

    def turn(self, begin: float, end: float) -> float:
        """Return the angle [rad] of the path between two times [s]."""
        return 0.0 if self._path is None else self._path.turn(begin, end)

    def deviation(self, begin: float, end: float, room: float) -> float:
        """Return the largest distance [m] of a vertex from the straight way; of many vertices only
        ``POINTS`` are measured.
        """
        times = _with_keys(self.keys, begin, end)[1:-1]
        if self._path is not None:
            times = np.concatenate([times, _samples(begin, end, self.turn(begin, end))])
        if not len(times):
            return 0.0  # frames are joined by straight lines
        a, b = self._at(begin), self._at(end)
        return max(_distance(self._at(t), a, b) for t in times.tolist())

    def travel(self, begin: float, end: float) -> float:
        """Return the largest displacement [m] between two times [s]."""
        return _farthest(self._at(end) - self._at(begin))

    def _at(self, t: float) -> Positions:
        x = self.body.at(t)
        return x[:: -(-len(x) // POINTS)]


@dataclass(frozen=True, eq=False)
class ArmMotion:
    """The motion of an arm.

    Args:
        arm: the arm.
        links: its links that meet cloth.
    """

    arm: Arm
    links: Sequence[ArmLink]
    is_sampled = False

    @property
    def name(self) -> str:
        """Name of the arm."""
        return self.arm.name

    @cached_property
    def keys(self) -> Floats:
        """(k,) [s] times of the keyframes of all targets."""
        return np.unique(np.concatenate([keys.times for keys in self.arm.targets.values()]))

    @cached_property
    def _corners(self) -> Sequence[tuple[int, Positions]]:
        """Number and (8,3) [m] corners of the box of every link, in the frame of the link."""
        return [(link.number, _box(link.shape)) for link in self.links]

    @cached_property
    def _reach(self) -> float:
        """Bound [m] of the distance of a vertex from a hinge."""
        steps = np.linalg.norm(self.arm.places[1:, :3, 3], axis=1).sum()
        return float(steps + max(_farthest(corners) for _, corners in self._corners))

    def turn(self, begin: float, end: float) -> float:
        """Return the largest angle [rad] by which hinges turn a link, there and back added."""
        turned = self._variations(begin, end)[0]
        if not turned.any():
            return 0.0
        total = np.zeros(len(self.arm.links))
        for k, parent in enumerate(self.arm.parents):
            own = sum(v for v, joint in zip(turned, self.arm.joints) if joint.link == k)
            total[k] = own + (total[parent] if parent >= 0 else 0.0)
        return float(total.max())

    def deviation(self, begin: float, end: float, room: float) -> float:
        """Return the largest distance [m] of a link from the straight way.

        With turns that sum to a, slides that sum to s and the reach r, a link that moves evenly is
        at most (r a^2 + 2 a s)/8 from it. Links are placed only where this is more than ``room``.
        """
        turned, slid = self._variations(begin, end)
        a, s, r = float(turned.sum()), float(slid.sum()), self._reach
        inner = _with_keys(self.keys, begin, end)[1:-1]
        if a == s == 0.0 and not len(inner):
            return 0.0
        even = (r * a * a + 2 * a * s) / 8
        is_even = all(keys.between == "linear" for keys in self.arm.targets.values())
        if even <= room and is_even and not len(inner):
            return even
        bound, times = even, np.concatenate([_samples(begin, end, a), inner])
        q0, q1 = self.arm.coordinates(begin), self.arm.coordinates(end)
        slides = np.array([joint.slides for joint in self.arm.joints])
        for t in times.tolist():
            part = (t - begin) / (end - begin)
            uneven = np.abs(self.arm.coordinates(t) - (1 - part) * q0 - part * q1)
            bound = max(bound, even + float(np.where(slides, uneven, r * uneven).sum()))
            if bound > room:
                break
        if bound <= room:
            return bound
        first, last = self._places(begin), self._places(end)
        return max(_distance(self._places(t), first, last) for t in times.tolist())

    def travel(self, begin: float, end: float) -> float:
        """Return the largest displacement [m] between two times [s]."""
        return _farthest(self._places(end) - self._places(begin))

    @cached_property
    def _last(self) -> dict[tuple[float, float], tuple[Floats, Floats]]:
        return {}

    def _variations(self, begin: float, end: float) -> tuple[Floats, Floats]:
        """Return the variation (j,) of the coordinates of hinges [rad] and of slides [m].

        A target that jumps (``hold``) turns nothing: no part of a step would divide its jump.
        """
        if (begin, end) not in self._last:
            self._last.clear()
            self._last[begin, end] = self._find_variations(begin, end)
        return self._last[begin, end]

    def _find_variations(self, begin: float, end: float) -> tuple[Floats, Floats]:
        leads = {
            name: 0.0 if keys.between == "hold" else keys_variation(keys, begin, end)
            for name, keys in self.arm.targets.items()
        }
        joints = self.arm.joints
        moved = np.array([abs(j.factor) * leads[joints[j.leader].name] for j in joints])
        slides = np.array([j.slides for j in joints], dtype=bool)
        return np.where(slides, 0.0, moved), np.where(slides, moved, 0.0)

    def _places(self, t: float) -> Positions:
        frames, _ = self.arm.frames(self.arm.coordinates(t))
        return np.concatenate([place_in(frames[k], corners) for k, corners in self._corners])


@dataclass(frozen=True, eq=False)
class DriveMotion:
    """The target of a motor or drive of a joint, or the speed that it keeps.

    Args:
        name: of the joint.
        target: [rad or m], or [rad/s or m/s] with ``is_speed``.
        turns: an angle, or an angular velocity.
        is_speed: the drive keeps a speed.
    """

    name: str
    target: Keys
    turns: bool
    is_speed: bool
    is_sampled = False

    @property
    def keys(self) -> Floats:
        """(k,) [s] times of the keyframes of a target; none of a speed."""
        return np.zeros(0) if self.is_speed else self.target.times

    def turn(self, begin: float, end: float) -> float:
        """Return the angle [rad] between two times [s]."""
        return self._way(begin, end) if self.turns else 0.0

    def deviation(self, begin: float, end: float, room: float) -> float:
        """Return how far [m] it goes and comes back between two times [s]."""
        if self.is_speed:
            return 0.0
        back = self._way(begin, end) - abs(self.target.at(end) - self.target.at(begin))
        return 0.5 * back * (LEVER if self.turns else 1.0)

    def travel(self, begin: float, end: float) -> float:
        """Return the displacement [m] of a slider, or that of a hinge at ``LEVER``."""
        return self._way(begin, end) * (LEVER if self.turns else 1.0)

    def _way(self, begin: float, end: float) -> float:
        if self.is_speed:
            return abs(self.target.integral(end) - self.target.integral(begin))
        if self.target.between == "hold":
            return 0.0
        return keys_variation(self.target, begin, end)


@dataclass(frozen=True, eq=False)
class HandMotion:
    """The places of hands, each from its time on until the next one."""

    hands: Hands
    is_sampled = False

    @property
    def name(self) -> str:
        """Name of the energy of the hands."""
        return self.hands.name

    @property
    def keys(self) -> Floats:
        """(k,) [s] times of the places of all hands."""
        return np.unique([t for hand in self.hands.hands for t in hand.times])

    def turn(self, begin: float, end: float) -> float:
        """Return 0: hands have no rotation."""
        return 0.0

    def deviation(self, begin: float, end: float, room: float) -> float:
        """Return the largest distance [m] of a place from the straight way between two times."""
        found = 0.0
        for hand in self.hands.hands:
            times = _with_keys(np.asarray(hand.times), begin, end)[1:-1]
            if len(times) and hand.holds(begin):
                places = np.array([hand.place(t) for t in times.tolist()])
                ends = hand.place(begin)[None], hand.place(end)[None]
                found = max(found, _distance(places, *ends))
        return found

    def travel(self, begin: float, end: float) -> float:
        """Return the largest displacement [m] of a place between two times [s]."""
        ways = [h.place(end) - h.place(begin) for h in self.hands.hands if h.holds(begin)]
        return _farthest(np.array(ways).reshape(-1, 3))


def body_motions(bodies: Sequence[Body]) -> Iterator[KinematicMotion]:
    """Yield the motions of bodies: along paths, through frames, of arms and of drives of joints."""
    for body in bodies:
        if body.frames is not None:
            yield FramesMotion(body)
        elif body.path is not None:
            yield path_motion(body)
    for arm in arms_of(bodies):
        links = [body.link for body in bodies if body.link is not None]
        yield ArmMotion(arm, [link for link in links if link.arm.name == arm.name])
    for body in bodies:
        for k, joint in enumerate(() if body.rigid is None else body.rigid.joints):
            for kind in ("motor", "drive"):
                drive = getattr(joint, kind)
                if drive is not None and drive.speed:
                    yield drive_motion(body, k, kind, as_keys(drive.speed), is_speed=True)


def drive_motion(body: Body, joint: int, kind: str, keys: Keys, is_speed: bool) -> DriveMotion:
    """Return the motion of the ``motor`` or ``drive`` of a joint of a body, by its number."""
    return DriveMotion(f"{body.name}.rigid.joints {joint}", keys, kind == "motor", is_speed)


def path_motion(body: Body) -> PathMotion:
    """Return the motion of a body along its path."""
    assert body.path is not None
    return motion_along(body.name, body.path, body.vertices)


def motion_along(name: str, path: Path, start: Positions) -> PathMotion:
    """Return the motion along a path of points that start at ``start`` (k,3) [m]."""
    center = np.mean(start, axis=0) if path.center is None else np.asarray(path.center)
    return PathMotion(name, path, start, center)


def keys_variation(keys: Keys, begin: float, end: float) -> float:
    """Return the sum of the changes of keyframes between two times [s], there and back."""
    times = _with_keys(keys.times, begin, end)
    return _variation(np.array([keys.at(t) for t in times.tolist()]))


def _variation(values: Floats) -> float:
    return float(np.abs(np.diff(values)).sum())


def _with_keys(keys: Floats, begin: float, end: float) -> Floats:
    """Return two times [s] with the keyframes between them."""
    low, high = np.searchsorted(keys, begin, "right"), np.searchsorted(keys, end)
    return np.concatenate([[begin], keys[low:high], [end]])


def _samples(begin: float, end: float, angle: float) -> Floats:
    """Return times [s] between two others, for a motion that turns by an angle [rad]."""
    few, many = SAMPLES
    count = int(min(max(angle / ANGLE, few), many))
    return np.linspace(begin, end, count + 1)[1:-1]


def _distance(x: Positions, a: Positions, b: Positions) -> float:
    """Return the largest distance [m] of points x (k,3) from segments a to b."""
    way, off = b - a, x - a
    size = np.maximum(np.einsum("ki,ki->k", way, way), TINY**2)
    along = np.clip(np.einsum("ki,ki->k", way, off) / size, 0.0, 1.0)
    return _farthest(off - along[:, None] * way)


def _farthest(x: Positions) -> float:
    return float(np.sqrt(np.einsum("ki,ki->k", x, x).max(initial=0.0)))


def _box(x: Positions) -> Positions:
    """Return the corners (8,3) of the box around points."""
    low, high = x.min(axis=0), x.max(axis=0)
    return np.array([[(low, high)[k >> i & 1][i] for i in range(3)] for k in range(8)])
