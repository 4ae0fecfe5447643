"""Bodies that cloth meets: triangle meshes that stand still, move along a path, or deform."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from weft.base.arrays import Angles, Faces, Point, Positions
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import Setting
from weft.bodies.motion.pins import Path, Pin
from weft.bodies.motion.point_sequence import BodyFrames
from weft.bodies.rigid.settings import Rigid


@checked(SceneError, "body", named=True, unchecked=("at",))
@dataclass(frozen=True, eq=False)
class Body:
    """A surface. It need not be closed, and its faces may look either way.

    Args:
        vertices: (b,3) [m] at the start.
        faces: (m,3).
        path: its motion as a rigid body, after ``frames``; None: none.
        name: for messages, and for pairs of the scene's contact.
        thickness: [m] kept from it; None: that of the scene's contact.
        frames: its shape at certain times, in place of ``vertices``; None: it keeps its shape.
        rigid: forces and contacts move it, in place of ``path`` and ``frames``; None: they do not.

    Raises:
        SceneError: positions that are not finite, faces out of range, a thickness below 0,
            frames of another number of vertices, or two motions.
    """

    vertices: Positions
    faces: Faces
    path: Path | None = None
    name: str = "body"
    thickness: Annotated[float | None, Setting("", "m", least=0)] = None
    frames: BodyFrames | None = None
    rigid: Rigid | None = None

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
                got="with a motion of its own",
                expected="no path and no frames: forces move a rigid body",
                hint="a joint holds it; `velocity` and `spin` say how it starts",
            )

    def at(self, t: float) -> Positions:
        """(b,3) [m] at time t; of a rigid body, at the start."""
        x = self.vertices if self.frames is None else self.frames.at(t)
        if self.path is None:
            return x
        if self.path.center is None:
            center = tuple(float(c) for c in self.vertices.mean(0))
            return dataclasses.replace(self.path, center=center).positions(x, t)  # type: ignore[arg-type]
        return self.path.positions(x, t)

    def moved(
        self,
        translation: Point,
        path: Path | None = None,
        rotation: Angles = (0.0, 0.0, 0.0),
    ) -> "Body":
        """The same rotated about the origin by angles about x, y and z in turn [degrees], then
        moved [m]; with another motion where one is given.
        """
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_euler("xyz", rotation, degrees=True)

        def place(x: Positions) -> Positions:
            return np.asarray(turn.apply(np.array(x)) + np.asarray(translation))

        frames = self.frames
        if frames is not None:
            moved = np.stack([place(x) for x in frames.positions])
            frames = dataclasses.replace(frames, positions=moved)
        return dataclasses.replace(
            self, vertices=place(self.vertices), path=path or self.path, frames=frames
        )

    def check_until(self, end: float) -> None:
        """That its motion is known until the end of a run [s].

        Raises:
            SceneError: keyframes or frames that end before.
        """
        if self.path is not None:
            Pin(np.zeros(1, dtype=np.int32), None, self.path, self.name).check_until(end)
        if self.frames is not None:
            self.frames.check_until(end, self.name)

    @property
    def flaws(self) -> list[str]:
        """What is unusual about the surface, for people: contact needs none of it."""
        edges = np.sort(self.faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        _, count = np.unique(edges, axis=0, return_counts=True)
        found = []
        spread = np.linalg.svd(self.vertices - self.vertices.mean(0), compute_uv=False)
        if spread[-1] <= 1e-9 * spread[0]:
            return []  # a plate is open by nature
        if (count == 1).any():
            found.append(f"open: {int((count == 1).sum())} border edges")
        if (count > 2).any():
            found.append(f"{int((count > 2).sum())} edges with more than two faces")
        if not found:
            a, b, c = np.moveaxis(self.vertices[self.faces], 1, 0)
            if float(np.einsum("mi,mi->", a, np.cross(b, c))) < 0:
                found.append("inside out: its faces look inwards")
        return found


def joined_faces(bodies: Sequence[Body]) -> Faces:
    """(m,3) faces of all bodies, on their vertices one body after the other."""
    faces, first = [np.zeros((0, 3), dtype=np.int32)], 0
    for body in bodies:
        faces.append(body.faces + first)
        first += len(body.vertices)
    return np.concatenate(faces).astype(np.int32)


def joined_positions(bodies: Sequence[Body], t: float) -> Positions:
    """(b,3) [m] vertices of all bodies at time t."""
    return np.concatenate([np.zeros((0, 3)), *(body.at(t) for body in bodies)])
