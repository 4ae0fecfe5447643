"""The place where attachments are built: cloth, bodies, and what attachments make of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.bodies.rigid.rigid_bodies import NONE, RigidBodies
from weft.cloth.attachments.anchors import Ends, RigidEnds
from weft.cloth.attachments.attached import Link
from weft.cloth.cloth import Cloth
from weft.energies.springs.point_springs import PointSprings

STIFF = 100.0  # default stiffness of an attached point over the fabric's stretch stiffness
SLACK = 1e-6  # fraction of its length by which a rope may be too short at the start: round-off


@dataclass(frozen=True, eq=False)
class Site:
    """Cloth and bodies at the start, for one attachment.

    Args:
        cloth: the cloth.
        bodies: bodies that are not rigid.
        reach: [m] distance at which contact begins; None: no contact.
        name: of the attachment, in messages and metrics.
        loose: rigid bodies.
    """

    cloth: Cloth
    bodies: Sequence[Body]
    reach: float | None
    name: str
    loose: RigidBodies = NONE

    def around(self, ids: Ints, corners: Ints, body: str) -> tuple[tuple[int, int], ...]:
        """Return pairs of a vertex and a vertex of the body that must not meet in contact.

        The body's vertices are the corners of the face that the vertex follows, and all within the
        longest edge at the vertex, because faces around the vertex may touch them.
        """
        from scipy.spatial import cKDTree

        n, x, edges = self.cloth.n_vertices, self.cloth.vertices, self.cloth.mesh.edges
        longest, k = np.zeros(n), [b.name for b in self.bodies].index(body)
        size = np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1)
        np.maximum.at(longest, edges, size[:, None])
        first = n + sum(len(b.vertices) for b in self.bodies[:k])
        found = cKDTree(self.bodies[k].at(0.0)).query_ball_point(x[ids], longest[ids])
        pairs = {
            (int(v), w)
            for v, near, face in zip(ids, found, corners + n)
            for w in (*(first + i for i in near), *face.tolist())
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
            nearest = rigid.at(at).nearest
            ends = Ends(*rigid.at(nearest).between(*single), start=nearest)
        elif a.body is not None:
            on = BodyAnchor.of(at, self.bodies, a.body, self.name)
            surface = np.concatenate([b.at(0.0) for b in self.bodies])
            nearest = np.einsum("mk,mki->mi", on.weight, surface[on.corners])
            ends = Ends.of(single, BodyAnchor.of(nearest, self.bodies, a.body, self.name))
        else:
            ends = Ends.of(single, FixedAnchor(at, a.path))
        assert ends.start is not None
        return ends, np.linalg.norm(x - ends.start, axis=1)

    def rigid(self, name: str) -> RigidEnds | None:
        """Return the ends on the rigid body with a name; None if no rigid body has it."""
        return RigidEnds.of(self.loose, self.bodies, name, self.name)

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
            got = f"vertex {to[to == vertices][0]} twice"
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
            return np.asarray(STIFF * fabrics[a.vertices])
        return np.full(count, float(k))

    def ties(self, a: Any, stencil: Ints, c: Floats, **more: Any) -> PointSprings:
        """Return point springs with the name, stiffness and release of an attachment."""
        stiffness = self.stiffness(a, len(stencil))
        return PointSprings(stencil, c, stiffness, self.name, release=a.release, **more)
