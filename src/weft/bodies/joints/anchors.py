"""Anchors of attachments and joints: places that are fixed, on a path, or on moving bodies."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body, join_positions
from weft.bodies.motion.pins import Path
from weft.bodies.nearest_points import NearestPoints as Nearest

TINY = 1e-300
DIFFERENCE = 1e-4  # step of a face's corners in differences, relative to its size


@dataclass(frozen=True, eq=False)
class FixedAnchor:
    """Places (m,3) [m] that are fixed, or move together along a path."""

    start: Positions
    path: Path | None = None
    follows_bodies = False

    def at(self, bodies: Positions, t: float) -> Positions:
        """Return the places (m,3) [m] at time t [s]."""
        return self.start if self.path is None else self.path.positions(self.start, t)

    def pull_back(self, bodies: Positions, t: float, by: Floats, to: Floats) -> None:
        """Add nothing: the places do not depend on bodies."""


@dataclass(frozen=True, eq=False)
class BodyAnchor:
    """Places beside faces of bodies, with fixed coordinates in the frame of their face.

    The frame of a face follows its first edge and its plane.

    Args:
        start: (m,3) [m] places at the start.
        corners: (m,3) indices of the faces' corners among the vertices of all bodies.
        weight: (m,3) barycentric coordinates of the nearest point on the face.
        offset: (m,3) [m] offset from this point, in the frame of the face.
        distance: (m,) [m] distance from the surface at the start.
    """

    start: Positions
    corners: Ints
    weight: Floats
    offset: Floats
    distance: Floats
    follows_bodies = True

    @staticmethod
    def of(x: Positions, bodies: Sequence[Body], name: str, what: str) -> "BodyAnchor":
        """Build the anchors of points (m,3) [m] beside the body with a name, at the start.

        Args:
            x: (m,3) [m] points.
            bodies: all bodies that are not rigid.
            name: name of the body.
            what: name of the attachment or joint, for messages.

        Raises:
            SceneError: there is no such body, several have this name, or points are farther than 10
                m from it.
        """
        names = [b.name for b in bodies]
        if not names:
            raise SceneError(
                f"{what}.body",
                got=repr(name),
                expected="a body; the scene has no bodies",
                hint="list it in the scene's bodies",
            )
        check_known(name, tuple(dict.fromkeys(names)), f"{what}.body", SceneError)
        if names.count(name) > 1:
            got = f"{names.count(name)} bodies called {name!r}"
            raise SceneError(f"{what}.body", got=got, expected="exactly one body with this name")
        k = names.index(name)
        body, first = bodies[k], sum(len(b.vertices) for b in bodies[:k])
        surface = body.at(0.0)
        found = Nearest.of(x, surface, body.faces)
        lost = np.flatnonzero(found.face < 0)
        if len(lost):
            raise SceneError(
                f"{what}.body",
                got=f"no face of {name} within 10 m of point {lost[0]}",
                expected="points near the body",
            )
        corners = body.faces[found.face] + first
        every = join_positions(bodies, 0.0)
        weight = found.weight
        frame, base = _frames(every[corners]), _base(every[corners], weight)
        offset = np.einsum("mij,mi->mj", frame, x - base)
        return BodyAnchor(np.array(x), corners.astype(np.int32), weight, offset, found.distance)

    def at(self, bodies: Positions, t: float) -> Positions:
        """Return the places (m,3) [m] for the vertices of all bodies (b,3) [m]."""
        corners = np.asarray(bodies)[self.corners]
        turned = np.einsum("mij,mj->mi", _frames(corners), self.offset)
        return np.asarray(_base(corners, self.weight) + turned)

    def pull_back(self, bodies: Positions, t: float, by: Floats, to: Floats) -> None:
        """Add derivatives by vertices of bodies to ``to`` (b,3), from those by places (m,3).

        The derivative of a place on a face is a difference quotient by the corners of the face.
        """
        m = len(by)
        own = replace(self, corners=np.arange(3 * m, dtype=np.int32).reshape(m, 3))
        at = np.array(bodies[self.corners])
        h = DIFFERENCE * np.abs(at - at[:, :1]).max(axis=(1, 2))
        slope = np.zeros_like(at)
        for k, j in np.ndindex(3, 3):
            found = []
            for sign in (1, -1, 2, -2):
                moved = np.array(at)
                moved[:, k, j] += sign * h
                found.append((own.at(moved.reshape(-1, 3), t) * by).sum(1))
            slope[:, k, j] = (8 * (found[0] - found[1]) - found[2] + found[3]) / (12 * h)
        np.add.at(to, self.corners, slope)


def _base(corners: Floats, weight: Floats) -> Floats:
    return np.asarray(np.einsum("mk,mki->mi", weight, corners))


def _frames(corners: Floats) -> Floats:
    """Return frames (m,3,3) of faces with orthonormal columns: along the first edge, perpendicular
    to it in the face, and normal.
    """
    a, b, c = np.moveaxis(corners, 1, 0)
    u = b - a
    u = u / np.maximum(np.linalg.norm(u, axis=1), TINY)[:, None]
    n = np.cross(u, c - a)
    n = n / np.maximum(np.linalg.norm(n, axis=1), TINY)[:, None]
    return np.stack([u, np.cross(n, u), n], axis=2)
