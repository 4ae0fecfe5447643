"""Construction of energies from the attachments of a scene, with the exceptions for contact."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.bodies.rigid.rigid_bodies import NONE, RigidBodies
from weft.cloth.attachments.anchors import Ends, RigidEnds
from weft.cloth.attachments.attached import Attached, Link
from weft.cloth.attachments.attachment import (
    AttachCloth,
    Attachment,
    AttachToBody,
    Rope,
    Slide,
    Spring,
)
from weft.cloth.cloth import Cloth
from weft.energies.springs.point_springs import MovedPlaces, PointSprings
from weft.energies.springs.rail import feet_on, lengths_along
from weft.energies.springs.release import Release
from weft.energies.springs.ring_spacing import RingSpacing

STIFF = 100.0  # default stiffness of an attached point over the fabric's stretch stiffness
SLIP = 1e-4  # [m] sliding distance over which friction on a rail rises to its full value
# extension over which a tie between points becomes stiff: fraction of its length, and at least [m]
ONSET_PART, ONSET_LEAST = 0.01, 1e-6
SLACK = 1e-6  # fraction of its length by which a rope may be too short at the start: round-off
SAME = 1e-9  # [m] distance below which two points coincide


@dataclass(frozen=True, eq=False)
class _AttachmentBuilder:
    """The builder of one attachment."""

    cloth: Cloth
    bodies: Sequence[Body]
    reach: float | None  # [m] distance at which contact begins; None: no contact
    name: str
    loose: RigidBodies = NONE

    def made(self, a: Attachment) -> Attached:
        """Return the energies of an attachment, its exceptions for contact, and its links."""
        for ids in (a.vertices, getattr(a, "to", None)):
            if ids is not None and not 0 <= ids.min() <= ids.max() < self.cloth.n_vertices:
                raise SceneError(
                    f"{self.name}.vertices",
                    got=f"{ids.min()} to {ids.max()}",
                    expected=f"ids from 0 to {self.cloth.n_vertices - 1}",
                )
        make: dict[type, Callable[..., Attached]] = {
            AttachToBody: self._to_body,
            AttachCloth: self._cloth,
            Rope: self._rope,
            Spring: self._spring,
            Slide: self._slide,
        }
        return make[type(a)](a)

    def _to_body(self, a: AttachToBody) -> Attached:
        """Build springs that hold points of the cloth beside a body."""
        x = self.cloth.vertices[a.vertices]
        rigid = self._rigid(a.body)
        place = rigid.at(x) if rigid else BodyAnchor.of(x, self.bodies, a.body, self.name)
        far = int(place.distance.argmax())
        if place.distance[far] > a.within:
            raise SceneError(
                f"{self.name}.within",
                got=f"vertex {a.vertices[far]} at {place.distance[far]:.3g} m from {a.body}",
                expected=f"at most {a.within:.3g} m",
                hint=f"move it there, or say `within: {1.01 * place.distance[far]:.3g} m`",
            )
        near = np.flatnonzero(place.distance <= 2 * (self.reach or 0.0))
        near = near if _for_good(a.release) else near[:0]
        link = Link(a.vertices, None, x, np.zeros(len(x)), self.name)
        if isinstance(place, RigidEnds):
            ties = self._ties(a, *place.between(*self._single(a.vertices)))
            return Attached((ties,), (), (link,), place.beside(a.vertices[near]))
        ties = self._ties(a, *self._single(a.vertices), place=place)
        together = self._around(a.vertices[near], place.corners[near], a.body)
        return Attached((ties,), together, (link,))

    def _around(self, ids: Ints, corners: Ints, body: str) -> tuple[tuple[int, int], ...]:
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

    def _cloth(self, a: AttachCloth) -> Attached:
        """Build springs that tie points of the cloth to one another."""
        to = self._pairs(a.vertices, a.to)
        x = self.cloth.vertices
        gap = np.linalg.norm(x[a.vertices] - x[to], axis=1)
        length = a.length
        if length is None:
            length = 0.0 if self.reach is None or _for_good(a.release) else self.reach
        far = int(gap.argmax())
        if a.closing == 0 and gap[far] > length + a.within:
            raise SceneError(
                f"{self.name}.within",
                got=f"vertices {a.vertices[far]} and {to[far]}, {gap[far]:.3g} m apart",
                expected=f"at most {length + a.within:.3g} m, where they are brought together at "
                "once",
                hint="say `closing: 1 s`, or start them nearer",
            )
        first = np.maximum(gap, length) if a.closing > 0 else None
        ties = self._ties(
            a,
            *self._between(a.vertices, to),
            length=np.full(len(to), length),
            first=first,
            closing=a.closing,
            pulls=length > 0 or a.closing > 0,
            onset=np.full(len(to), max(ONSET_PART * length, ONSET_LEAST)),
        )
        # Points that are tied nearer than half of the contact distance do not meet in contact,
        # which would push them apart.
        meets = self.reach is not None and length > self.reach / 2
        pairs = zip(a.vertices.tolist(), to.tolist())
        together = () if meets or not _for_good(a.release) else tuple(pairs)
        return Attached((ties,), together, (self._link(a.vertices, to, None, ties.length),))

    def _rope(self, a: Rope) -> Attached:
        """Build ropes, which pull when they are longer than their length."""
        ends, gap = self._ends(a)
        length = np.maximum(gap, SAME) if a.length is None else np.full(len(gap), a.length)
        short = gap > length * (1 + SLACK)
        if short.any():
            k = int(np.argmax(gap - length))
            raise SceneError(
                f"{self.name}.length",
                got=f"{length[k]:.4g} m, of vertex {a.vertices[k]}",
                expected=f"at least the distance at the start, {gap[k]:.4g} m",
                hint="a longer rope, or begin nearer",
            )
        ties = self._ties(
            a,
            ends.stencil,
            ends.c,
            length=length,
            pulls=True,
            onset=a.onset * length,
            place=ends.place,
            strand=self._width,
        )
        return Attached((ties,), (), (self._link(a.vertices, ends.to, ends.start, length),))

    def _spring(self, a: Spring) -> Attached:
        """Build springs, which pull and push."""
        ends, gap = self._ends(a)
        length = gap if a.length is None else np.full(len(gap), a.length)
        lost = (gap <= SAME) & (length > 0)
        if lost.any():
            raise SceneError(
                f"{self.name}.length",
                got=f"{length[lost][0]:.4g} m, of vertex {a.vertices[lost][0]}",
                expected="0 where both ends start at one place: it has no direction there",
            )
        made = {"length": length, "damping": a.damping, "place": ends.place}
        made["strand"] = self._width
        return Attached((self._ties(a, ends.stencil, ends.c, **made),))

    def _slide(self, a: Slide) -> Attached:
        """Build rings on a rail: springs to the rail, and the spacing between neighboring rings."""
        x, rail = self.cloth.vertices[a.vertices], np.asarray(a.along, dtype=np.float64)
        along = lengths_along(rail)
        rigid = None if a.body is None else self._rigid(a.body)
        feet = feet_on(x, rail, along)
        off = np.abs(np.linalg.norm(x - feet.place, axis=1) - a.radius)
        far = int(off.argmax())
        if off[far] > a.within:
            raise SceneError(
                f"{self.name}.within",
                got=f"vertex {a.vertices[far]}, {off[far]:.3g} m from where its ring holds it",
                expected=f"at most {a.within:.3g} m",
                hint="start the cloth at the rail (its `along`), or say how far with `within`",
            )
        rings: dict[str, Any] = {"length": np.full(len(x), a.radius), "along": along}
        rings |= {"friction": a.friction, "slip": SLIP}
        stencil, c = self._single(a.vertices)
        if rigid is not None:
            self._check_no_spacing(a)
            nodes, ids = rigid.body.weights(rail), rigid.stencil(len(x))
            points = np.concatenate([stencil, ids], axis=1)
            return Attached((self._ties(a, points, c, nodes=nodes, **rings),))
        if a.body is None:
            moving: MovedPlaces = FixedAnchor(rail, a.path)
        else:
            moving = BodyAnchor.of(rail, self.bodies, a.body, self.name)
        ties = self._ties(a, stencil, c, rail=moving, **rings)
        if a.spacing == 0 or len(x) < 2:
            return Attached((ties,))
        order = np.argsort(feet.s, kind="stable")
        apart = np.diff(feet.s[order])
        if apart.min() < a.spacing * (1 - SLACK):
            k = int(apart.argmin())
            i, j = a.vertices[order[[k, k + 1]]]
            raise SceneError(
                f"{self.name}.spacing",
                got=f"vertices {i} and {j}, {apart[k]:.4g} m apart",
                expected=f"{a.spacing:.4g} m or more along the rail, at the start",
            )
        pairs = np.stack([order[:-1], order[1:]], axis=1).astype(np.int32)
        stiff = np.asarray(ties.stiffness)[pairs].min(axis=1)
        return Attached((ties, RingSpacing(ties, pairs, a.spacing, stiff, f"{self.name} spacing")))

    def _check_no_spacing(self, a: Slide) -> None:
        """Raise a SceneError for spacing on a pole that is part of a rigid body."""
        if a.spacing > 0:
            raise SceneError(
                f"{self.name}.spacing",
                got=f"{a.spacing:g} m, on the rigid body {a.body!r}",
                expected="none there: rings pass freely",
                hint="or `kind: body`: clips",
            )

    def _ends(self, a: Rope | Spring) -> tuple[Ends, Floats]:
        """Return both ends of ropes or springs, and their distances (m,) [m]."""
        x = self.cloth.vertices[a.vertices]
        if a.to is not None:
            to = self._pairs(a.vertices, a.to)
            gap = np.linalg.norm(x - self.cloth.vertices[to], axis=1)
            return Ends(*self._between(a.vertices, to), to=to), gap
        single = self._single(a.vertices)
        at = x if a.at is None else np.tile(np.asarray(a.at, dtype=np.float64), (len(x), 1))
        rigid = None if a.body is None else self._rigid(a.body)
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

    def _rigid(self, name: str) -> RigidEnds | None:
        """Return the ends on the rigid body with a name; None if no rigid body has it."""
        return RigidEnds.of(self.loose, self.bodies, name, self.name)

    def _link(self, vertices: Ints, to: Ints | None, places: Positions | None, length: Any) -> Link:
        return Link(vertices, to, places, np.broadcast_to(length, (len(vertices),)), self.name)

    def _pairs(self, vertices: Ints, to: Ints) -> Ints:
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
    def _width(self) -> int:
        """The number of points that move one vertex."""
        e = self.cloth.embedding
        return 1 if e is None else e.stencil.shape[1]

    def _single(self, ids: Ints) -> tuple[Ints, Floats]:
        """Return the points (m,k) that move vertices, and their weights (m,k)."""
        e = self.cloth.embedding
        if e is None:
            return ids[:, None], np.ones((len(ids), 1))
        return e.stencil[ids], e.weight[ids]

    def _between(self, ids: Ints, to: Ints) -> tuple[Ints, Floats]:
        """Return the stencil and coefficients of the vectors between pairs of vertices."""
        (s, c), (t, d) = self._single(ids), self._single(to)
        return np.concatenate([s, t], axis=1), np.concatenate([c, -d], axis=1)

    def _stiffness(self, a: Any, count: int) -> Floats:
        """Return the stiffness (count,) [N/m] of the attached points."""
        k = a.stiffness
        if k is None:
            fabrics = self.cloth.vertex_maximum(lambda f: max(f.stretch_warp, f.stretch_weft))
            return np.asarray(STIFF * fabrics[a.vertices])
        return np.full(count, float(k))

    def _ties(self, a: Any, stencil: Ints, c: Floats, **more: Any) -> PointSprings:
        """Return point springs with the name, stiffness and release of an attachment."""
        stiffness = self._stiffness(a, len(stencil))
        return PointSprings(stencil, c, stiffness, self.name, release=a.release, **more)


def attached(
    attachments: Sequence[Attachment],
    cloth: Cloth,
    bodies: Sequence[Body] = (),
    reach: float | None = None,
    loose: RigidBodies = NONE,
) -> Attached:
    """Build the energies of a scene's attachments, and the exceptions for contact.

    Args:
        attachments: attachments as the scene lists them.
        cloth: the cloth at its start.
        bodies: bodies of the scene that are not rigid.
        reach: [m] distance at which contact begins; None: there is no contact.
        loose: rigid bodies.

    Raises:
        SceneError: an attachment is impossible, for example too far from its body.
    """
    made = [
        _AttachmentBuilder(cloth, bodies, reach, called(a, k), loose).made(a)
        for k, a in enumerate(attachments)
    ]
    return Attached(
        tuple(e for m in made for e in m.energies),
        tuple(p for m in made for p in m.together),
        tuple(link for m in made for link in m.links),
        tuple(p for m in made for p in m.rigid),
    )


def called(a: Attachment, number: int) -> str:
    """Return the name of an attachment with this index, for messages and metrics."""
    return a.name or f"attachment {number + 1}"


def _for_good(release: Release) -> bool:
    """Return True if the attachment is never released."""
    return release.at is None and not release.depends
