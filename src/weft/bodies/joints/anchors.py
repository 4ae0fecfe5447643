"""Places that hold attachments and joints: fixed ones, on a path, and on bodies that move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body, joined_positions
from weft.bodies.motion.pins import Path
from weft.bodies.nearest_points import NearestPoints as Nearest

TINY = 1e-300


@dataclass(frozen=True, eq=False)
class FixedAnchor:
    """Places (m,3) [m], which may move along a path as one."""

    start: Positions
    path: Path | None = None

    def at(self, bodies: Positions, t: float) -> Positions:
        """(m,3) [m] at the time t."""
        return self.start if self.path is None else self.path.positions(self.start, t)


@dataclass(frozen=True, eq=False)
class BodyAnchor:
    """Places beside faces of bodies: they keep their coordinates in the frame of the face, whose
    first edge and plane it follows.

    Args:
        start: (m,3) [m].
        corners: (m,3) ids of the faces' corners among the vertices of all bodies.
        weight: (m,3) of the corners, for the place of the face that is nearest.
        offset: (m,3) [m] from there, in the face's frame.
        distance: (m,) [m] from the surface at the start.
    """

    start: Positions
    corners: Ints
    weight: Floats
    offset: Floats
    distance: Floats

    @staticmethod
    def of(x: Positions, bodies: Sequence[Body], name: str, what: str) -> "BodyAnchor":
        """Beside the body of a name, from where points (m,3) start.

        Raises:
            SceneError: no such body, several of this name, or points far from it.
        """
        names = [b.name for b in bodies]
        if not names:
            raise SceneError(
                f"{what}.body",
                got=repr(name),
                expected="a body, but the scene has none",
                hint="list it in the scene's bodies",
            )
        check_known(name, tuple(dict.fromkeys(names)), f"{what}.body", SceneError)
        if names.count(name) > 1:
            got = f"{names.count(name)} bodies called {name!r}"
            raise SceneError(f"{what}.body", got=got, expected="one of this name")
        k = names.index(name)
        body, first = bodies[k], sum(len(b.vertices) for b in bodies[:k])
        surface = body.at(0.0)
        found = Nearest.of(x, surface, body.faces)
        lost = np.flatnonzero(found.face < 0)
        if len(lost):
            raise SceneError(
                f"{what}.body",
                got=f"no face of {name} within 10 m of point {lost[0]}",
                expected="points beside the body",
            )
        corners = body.faces[found.face] + first
        every = joined_positions(bodies, 0.0)
        weight = found.weight
        frame, base = _frames(every[corners]), _base(every[corners], weight)
        offset = np.einsum("mij,mi->mj", frame, x - base)
        return BodyAnchor(np.array(x), corners.astype(np.int32), weight, offset, found.distance)

    def at(self, bodies: Positions, t: float) -> Positions:
        """(m,3) [m] where the vertices of all bodies are at (b,3)."""
        corners = np.asarray(bodies)[self.corners]
        turned = np.einsum("mij,mj->mi", _frames(corners), self.offset)
        return np.asarray(_base(corners, self.weight) + turned)


def _base(corners: Floats, weight: Floats) -> Floats:
    return np.asarray(np.einsum("mk,mki->mi", weight, corners))


def _frames(corners: Floats) -> Floats:
    """(m,3,3) orthonormal columns: along the first edge, across it in the face, and normal."""
    a, b, c = np.moveaxis(corners, 1, 0)
    u = b - a
    u = u / np.maximum(np.linalg.norm(u, axis=1), TINY)[:, None]
    n = np.cross(u, c - a)
    n = n / np.maximum(np.linalg.norm(n, axis=1), TINY)[:, None]
    return np.stack([u, np.cross(n, u), n], axis=2)
