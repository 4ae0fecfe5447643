"""The ``Body`` class: a triangle mesh that cloth meets, at rest, on a path, deforming or rigid."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from weft.base.arrays import Angles, Bools, Faces, Floats, Point, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import ROOM, Size, setting
from weft.bodies.joints.arm import Arm, ArmLink
from weft.bodies.motion.pins import Path, Pin
from weft.bodies.motion.point_sequence import BodyFrames
from weft.bodies.rigid.settings import Rigid
from weft.discretization.manifold import turn_corners, turned_faces, warn_of_turned
from weft.discretization.mesh import unique_edges
from weft.discretization.weld import weld_vertices

Stated = float | Sequence[float] | Floats  # a height [m], or a point (3,) [m]


@dataclass(frozen=True, eq=False)
class Core:
    """Points from which the surface of a body is exactly ``radius`` [m] away: the center of a ball,
    (1,3) [m], or the ends of the segment of a capsule, (2,3) [m].
    """

    points: Positions
    radius: float


class Poser(Protocol):
    """A figure that can take poses one after another while it is simulated."""

    @property
    def poses(self) -> Sequence[str]:
        """The names of the poses."""

    def move(self, rotation: Angles, translation: Point) -> "Poser":
        """Return the figure rotated about the origin, then translated."""

    def frames(self, poses: Sequence[tuple[float, str]]) -> BodyFrames:
        """Return the vertices by time, for times [s] and names of poses."""


@checked(SceneError, "body", named=True, unchecked=("at",))
@dataclass(frozen=True, eq=False)
class Body:
    """A surface that cloth meets. It need not be closed, and its faces may be oriented either way.

    Faces that look the other way round than their neighbors are turned, with a warning.

    Args:
        vertices: (b,3) [m] vertices at the start.
        faces: (m,3) vertex indices of the triangles.
        path: rigid motion that is applied after ``frames``; None: none.
        name: name of the body in messages and in the pairs of the scene's contact.
        thickness: [m] distance that contact keeps from the surface; None: that of the scene's
            contact.
        frames: positions of the vertices at certain times, instead of ``vertices``; None: the body
            keeps its shape.
        landmarks: of a person, that are stated instead of found (``weft.find_landmarks``).
        poser: gives the frames of poses that are chosen while the body is simulated; None: none.
        parts: path of each mesh in the body's file, with its number of vertices.
        core: of a ball or capsule, with which contact takes place instead of with the faces, if
            the body does not rotate (``weft.contact.cores``); None: contact is with the faces.
        rigid: settings of a rigid body, which forces and contacts move, instead of ``path`` and
            ``frames``; None: forces do not move the body.
        link: the link of an arm that moves the body, instead of ``path`` and ``frames``; a finger
            is also rigid, and its link is where the arm drives it.

    Raises:
        SceneError: positions are not finite, faces are out of range, the thickness is negative,
            frames have another number of vertices, or two motions are given.
    """

    vertices: Positions
    faces: Faces
    path: Path | None = None
    name: str = "body"
    thickness: float | None = setting(
        None, "distance that cloth keeps; none: contact.thickness", "m", least=0, constant=ROOM
    )
    frames: BodyFrames | None = None
    rigid: Rigid | None = None
    link: ArmLink | None = None
    landmarks: Mapping[str, Stated] = field(default_factory=dict)
    poser: Any = field(default=None, compare=False)  # Poser
    parts: Sequence[tuple[str, int]] = field(default=(), compare=False)
    core: Core | None = None

    def __post_init__(self) -> None:
        x, f = self.vertices, self.faces
        if len(f) == 0 or f.min() < 0 or f.max() >= len(x):
            raise SceneError(f"{self.name}.faces", expected=f"ids from 0 to {len(x) - 1}")
        if self.frames is not None and self.frames.positions.shape[1] != len(x):
            raise SceneError(
                f"{self.name}.frames",
                got=f"{self.frames.positions.shape[1]} vertices",
                expected=f"{len(x)}, as in its mesh",
            )
        if self.rigid is not None and (self.path is not None or self.frames is not None):
            raise SceneError(
                f"{self.name}.rigid",
                got="with `motion`",
                expected="no path and no frames, because forces move a rigid body",
                hint="a joint can hold it; `velocity` and `spin` give its motion at the start",
            )

        turn = turned_faces(f)
        if turn.any():
            warn_of_turned(turn, self.name)
            object.__setattr__(self, "faces", turn_corners(f, turn))

    def weld(self, weld: bool | Size | None) -> "Body":
        """Return the body with vertices joined that coincide at all times.

        Args:
            weld: True: up to round-off; a distance [m]: up to it; None or False: none.

        Raises:
            MeshError: a distance as long as edges.
        """
        distance = weld if weld is None or isinstance(weld, bool) else float(weld)
        x = self.vertices[None] if self.frames is None else self.frames.positions
        joined = weld_vertices(x[0], self.faces, distance, self.name, x)
        if len(joined.first) == len(self.vertices):
            return self
        frames, ends = self.frames, np.cumsum([0, *(n for _, n in self.parts)])
        if frames is not None:
            frames = dataclasses.replace(frames, positions=x[:, joined.first])
        counts = np.histogram(joined.first, ends)[0] if self.parts else ()
        parts = tuple((path, int(n)) for (path, _), n in zip(self.parts, counts))
        place = self.vertices[joined.first]
        return dataclasses.replace(
            self, vertices=place, faces=joined.faces, frames=frames, parts=parts, core=None
        )

    def at(self, t: float) -> Positions:
        """Return the vertices (b,3) [m] at time t [s]; for a rigid body, those at the start."""
        if self.link is not None and self.rigid is None:
            return self.link.at(t)
        x = self.vertices if self.frames is None else self.frames.at(t)
        if self.path is None:
            return x
        if self.path.center is None:
            center = tuple(float(c) for c in self.vertices.mean(0))
            return dataclasses.replace(self.path, center=center).positions(x, t)  # type: ignore[arg-type]
        return self.path.positions(x, t)

    def move(
        self,
        translation: Point,
        path: Path | None = None,
        rotation: Angles = (0.0, 0.0, 0.0),
    ) -> "Body":
        """Return the body rotated about the origin, then translated.

        Args:
            translation: (3,) [m].
            path: a new motion; None: the motion of this body.
            rotation: angles about x, y and z in turn [degrees].

        Raises:
            SceneError: a link of an arm, whose base has a place.
        """
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_euler("xyz", rotation, degrees=True)
        if self.link is not None:
            expected = "translation and rotation of load_arm"
            raise SceneError(self.name, got="a link of an arm", expected=expected)

        def place(x: Positions) -> Positions:
            return np.asarray(turn.apply(np.array(x)) + np.asarray(translation))

        frames, core = self.frames, self.core
        if frames is not None:
            moved = np.stack([place(x) for x in frames.positions])
            frames = dataclasses.replace(frames, positions=moved)
        poser: Poser | None = self.poser
        return dataclasses.replace(
            self,
            vertices=place(self.vertices),
            path=path or self.path,
            frames=frames,
            poser=None if poser is None else poser.move(rotation, translation),
            core=core if core is None else Core(place(core.points), core.radius),
        )

    def on_arm(self, arm: Arm) -> "Body":
        """Return the body as the same link of an arm with other targets."""
        assert self.link is not None
        link, rigid = dataclasses.replace(self.link, arm=arm), self.rigid
        if rigid is not None:
            joints = [dataclasses.replace(joint, axis=link.axis) for joint in rigid.joints]
            rigid = dataclasses.replace(rigid, joints=tuple(joints))
        return dataclasses.replace(self, vertices=link.at(0.0), link=link, rigid=rigid)

    def contains(self, points: Positions, t: float = 0.0) -> Bools:
        """Return whether points (k,3) [m] are inside the surface at time t [s].

        Small holes do not matter.
        """
        return np.abs(winding_numbers(points, self.at(t)[self.faces])) > 0.5

    def check_until(self, end: float) -> None:
        """Check that the motion is known until the end of a run [s].

        Raises:
            SceneError: keyframes or frames end before.
        """
        if self.path is not None:
            Pin(np.zeros(1, dtype=np.int32), None, self.path, self.name).check_until(end)
        if self.frames is not None:
            self.frames.check_until(end, self.name, ", ".join(path for path, _ in self.parts[:1]))

    @property
    def flaws(self) -> list[str]:
        """Descriptions of unusual properties of the surface, for users; contact accepts all of
        them.
        """
        count = np.bincount(unique_edges(self.faces)[1])
        found = []
        spread = np.linalg.svd(self.vertices - self.vertices.mean(0), compute_uv=False)
        if spread[-1] <= 1e-9 * spread[0]:
            return []  # a flat body, such as a plate, is always open
        if (count == 1).any():
            found.append(f"open: {int((count == 1).sum())} border edges{self._split_text()}")
        if (count > 2).any():
            found.append(f"{int((count > 2).sum())} edges with more than two faces")
        if not found:
            a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
            if float(np.einsum("mi,mi->", a, np.cross(b, c))) < 0:
                found.append("inside out: its faces look inwards")
        return found

    def _split_text(self) -> str:
        """Return how many vertices coincide, and what joins them; an empty text for none."""
        joined = weld_vertices(self.vertices, self.faces, True, self.name)
        count = len(self.vertices) - len(joined.first)
        return f", with {count} vertices that coincide (`mesh.weld: true` joins them)" * (count > 0)


def winding_numbers(points: Positions, corners: Positions) -> Floats:
    """Return how often triangles (m,3,3) [m] go around points (k,3) [m], (k,): +-1 inside a closed
    surface, 0 outside.

    The winding number is the sum of the solid angles of the faces (Van Oosterom and Strackee 1983,
    equation 8).
    """
    corners, turns = np.moveaxis(corners, 1, 0), np.zeros(len(points))
    for k, point in enumerate(points):
        a, b, c = corners - point
        p, q, r = np.linalg.norm([a, b, c], axis=2)
        volume = (a * np.cross(b, c)).sum(1)
        others = (a * b).sum(1) * r + (b * c).sum(1) * p + (c * a).sum(1) * q
        turns[k] = np.arctan2(volume, p * q * r + others).sum() / (2 * np.pi)
    return turns


def arms_of(bodies: Sequence[Body]) -> Sequence[Arm]:
    """Return the arms whose links are among bodies, each once."""
    arms = [b.link.arm for b in bodies if b.link is not None]
    return list({arm.name: arm for arm in arms}.values())


def on_arms(bodies: Sequence[Body], arms: Sequence[Arm]) -> list[Body]:
    """Return the bodies, with links as those of the given arms of the same names."""
    known = {arm.name: arm for arm in arms}
    return [b.on_arm(known.get(b.link.arm.name, b.link.arm)) if b.link else b for b in bodies]


def join_faces(bodies: Sequence[Body]) -> Faces:
    """Return the faces (m,3) of all bodies; they index the vertices of ``join_positions``."""
    faces, first = [np.zeros((0, 3), dtype=np.int32)], 0
    for body in bodies:
        faces.append(body.faces + first)
        first += len(body.vertices)
    return np.concatenate(faces).astype(np.int32)


def join_positions(bodies: Sequence[Body], t: float) -> Positions:
    """Return the vertices (b,3) [m] of all bodies at time t [s]."""
    return np.concatenate([np.zeros((0, 3)), *(body.at(t) for body in bodies)])
