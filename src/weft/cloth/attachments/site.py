"""The place where attachments are built: cloth and bodies, and the ends of springs on them.

Other ends are fixed places, points of the cloth, or points of rigid bodies. A point of a rigid body
is a linear combination of the body's four points, as a vertex of a spline is one of its control
points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.bodies.nearest_points import NearestPoints
from weft.bodies.rigid.affine_body import AffineBody
from weft.bodies.rigid.rigid_bodies import NONE, RigidBodies
from weft.cloth.attachments.attached import Link
from weft.cloth.cloth import Cloth
from weft.energies.springs.point_springs import MovedPlaces, PointSprings

STIFF = 100.0  # default stiffness of an attached point over the fabric's stretch stiffness
SLACK = 1e-6  # fraction of its length by which a rope may be too short at the start: round-off


@dataclass(frozen=True, eq=False)
class Ends:
    """The ends of ropes or springs.

    Args:
        stencil: (m,k) indices of points.
        c: (m,k) coefficients of the points: with ``place`` they give the point of the cloth (and
            sum to one), otherwise the vector between both ends (and sum to zero).
        to: (m,) vertices at the other ends; None: the other ends are not vertices.
        start: (m,3) [m] places of the other ends at the start; None: they are vertices.
        place: moving places of the other ends; None: the stencil contains the other ends.
    """

    stencil: Ints
    c: Floats
    to: Ints | None = None
    start: Positions | None = None
    place: MovedPlaces | None = None


@dataclass(frozen=True, eq=False)
class RigidEnds:
    """Ends of springs on a rigid body.

    Args:
        body: the body, with its points.
        number: index among the rigid bodies.
    """

    body: AffineBody
    number: int

    def nearest(self, places: Positions) -> tuple[Positions, Floats]:
        """Return the points of the surface that are nearest to places (m,3) [m] at the start, and
        their distances (m,) [m].
        """
        own = self.body.body
        found = NearestPoints.of(places, own.vertices, own.faces)
        return found.on(own.vertices, own.faces), found.distance

    def between(self, places: Positions, stencil: Ints, c: Floats) -> tuple[Ints, Floats]:
        """Return stencil and coefficients (m,k+4) of the vectors from places to other points.

        Args:
            places: (m,3) [m] on the body, at the start.
            stencil: (m,k) indices of points.
            c: (m,k) coefficients with which they make the other points.
        """
        ids, weights = self.stencil(len(stencil)), -self.body.weights(places)
        return np.concatenate([stencil, ids], axis=1), np.concatenate([c, weights], axis=1)

    def stencil(self, rows: int) -> Ints:
        """Return the indices of the body's points, (rows,4)."""
        own = np.arange(self.body.first, self.body.first + 4, dtype=np.int32)
        return np.broadcast_to(own, (rows, 4))


@dataclass(frozen=True, eq=False)
class Site:
    """Cloth and bodies at the start, for one attachment.

    Args:
        cloth: the cloth.
        bodies: bodies that are not rigid.
        reach: [m] distance at which contact begins; None: no contact.
        name: of the attachment, in messages and metrics.
        rigid_bodies: rigid bodies.
    """

    cloth: Cloth
    bodies: Sequence[Body]
    reach: float | None
    name: str
    rigid_bodies: RigidBodies = NONE

    def around(self, ids: Ints, body: str) -> tuple[tuple[int, int], ...]:
        """Return pairs of a vertex and a vertex of the body that must not meet in contact.

        The body's vertices are the corners of the face that is nearest to the vertex, and all
        within the longest edge at the vertex, because faces around the vertex may touch them.
        Vertices are numbered as in contact: those of the cloth, of rigid bodies, of other bodies.
        """
        from scipy.spatial import cKDTree

        n, x, edges = self.cloth.n_vertices, self.cloth.vertices, self.cloth.mesh.edges
        every = (*self.rigid_bodies.bodies, *self.bodies)
        k = [b.name for b in every].index(body)
        first, y, faces = (
            n + sum(len(b.vertices) for b in every[:k]),
            every[k].at(0.0),
            every[k].faces,
        )
        longest = np.zeros(n)
        size = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
        np.maximum.at(longest, edges, size[:, None])
        found = cKDTree(y).query_ball_point(x[ids], longest[ids])
        corners = faces[NearestPoints.of(x[ids], y, faces).face]
        pairs = {
            (int(v), first + int(w))
            for v, near, face in zip(ids, found, corners)
            for w in (*near, *face)
        }
        return tuple(sorted(pairs))

    def ends(self, a: Any) -> tuple[Ends, Floats]:
        """Return both ends of ropes or springs, and their distances (m,) [m]."""
        x = self.cloth.vertices[a.vertices]
        if a.to is not None:
            to = self.pairs(a.vertices, a.to)
            gap = np.linalg.norm(x - self.cloth.vertices[to], axis=1)
            return Ends(*self.between(a.vertices, to), to=to), gap
        single = self.single(a.vertices)
        at = x if a.at is None else np.tile(np.asarray(a.at, dtype=np.float64), (len(x), 1))
        rigid = None if a.body is None else self.rigid(a.body)
        if rigid is not None:
            nearest, _ = rigid.nearest(at)
            ends = Ends(*rigid.between(nearest, *single), start=nearest)
        else:
            place: MovedPlaces = FixedAnchor(at, a.path)
            if a.body is not None:
                on = BodyAnchor.of(at, self.bodies, a.body, self.name)
                surface = np.concatenate([b.at(0.0) for b in self.bodies])
                nearest = np.einsum("mk,mki->mi", on.weight, surface[on.corners])
                place = BodyAnchor.of(nearest, self.bodies, a.body, self.name)
            ends = Ends(*single, start=place.start, place=place)
        assert ends.start is not None
        return ends, np.linalg.norm(x - ends.start, axis=1)

    def rigid(self, name: str) -> RigidEnds | None:
        """Return the ends on the rigid body with a name; None if no rigid body has it.

        Raises:
            SceneError: there are rigid bodies, but no body has this name; or several have it and
                one of them is rigid.
        """
        names = [b.name for b in self.rigid_bodies.bodies]
        every = [*names, *(b.name for b in self.bodies)]
        if names:
            check_known(name, tuple(dict.fromkeys(every)), f"{self.name}.body", SceneError)
        if name not in names:
            return None
        if every.count(name) > 1:
            got = f"{every.count(name)} bodies called {name!r}"
            raise SceneError(
                f"{self.name}.body", got=got, expected="exactly one body with this name"
            )
        number = names.index(name)
        return RigidEnds(self.rigid_bodies.affine[number], number)

    def link(
        self, vertices: Ints, to: Ints | None, places: Positions | None, length: Floats | float
    ) -> Link:
        """Return connections of vertices to other vertices or to places, at most ``length`` [m]."""
        return Link(vertices, to, places, np.broadcast_to(length, (len(vertices),)), self.name)

    def pairs(self, vertices: Ints, to: Ints) -> Ints:
        """Return the other end (m,) of every vertex."""
        if len(to) == 1:
            to = np.repeat(to, len(vertices))
        if len(to) != len(vertices):
            raise SceneError(
                f"{self.name}.to", got=f"{len(to)} vertices", expected=f"{len(vertices)}, or one"
            )
        if (to == vertices).any():
            got = f"{self.cloth.name_of(to[to == vertices][0])} twice"
            raise SceneError(f"{self.name}.to", got=got, expected="another vertex")
        return to

    @property
    def width(self) -> int:
        """The number of points that move one vertex."""
        e = self.cloth.embedding
        return 1 if e is None else e.stencil.shape[1]

    def single(self, ids: Ints) -> tuple[Ints, Floats]:
        """Return the points (m,k) that move vertices, and their weights (m,k)."""
        e = self.cloth.embedding
        if e is None:
            return ids[:, None], np.ones((len(ids), 1))
        return e.stencil[ids], e.weight[ids]

    def between(self, ids: Ints, to: Ints) -> tuple[Ints, Floats]:
        """Return the stencil and coefficients of the vectors between pairs of vertices."""
        (s, c), (t, d) = self.single(ids), self.single(to)
        return np.concatenate([s, t], axis=1), np.concatenate([c, -d], axis=1)

    def stiffness(self, a: Any, count: int) -> Floats:
        """Return the stiffness (count,) [N/m] of the attached points."""
        k = a.stiffness
        if k is None:
            fabrics = self.cloth.vertex_maximum(lambda f: max(f.stretch_warp, f.stretch_weft))
            k = STIFF * fabrics[a.vertices]
        return np.asarray(k * a.weights(count))

    def ties(self, a: Any, stencil: Ints, c: Floats, **more: Any) -> PointSprings:
        """Return point springs with the name, stiffness and release of an attachment."""
        stiffness = self.stiffness(a, len(stencil))
        return PointSprings(stencil, c, stiffness, self.name, release=a.release, **more)
