"""Collision groups: to which piece of cloth or body a vertex belongs, their thickness, the friction
between them, and groups that ignore each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weft.base.arrays import Bools, Floats, Ints
from weft.base.errors import SceneError, check_known
from weft.bodies.body import Body, arms_of
from weft.contact.cores import Cores
from weft.contact.distance.distance import PairKind
from weft.contact.settings import Friction, SelfContact
from weft.discretization.mesh import TriangleMesh

Marks = NDArray[np.uint32]
MOST_APART = 14  # pairs of groups that ignore each other, at most: each takes two of 32 bits
LET_GO = (1 << 29, 1 << 30)  # group bits of released cloth; those of released bodies are reversed
THROUGH_BODIES, THROUGH_CLOTH = 1, 2  # levels of released vertices (``contact.released``)


@dataclass(frozen=True, eq=False)
class CollisionGroups:
    """The piece or body to which each vertex of a collision mesh belongs, numbered: pieces of cloth
    first, then bodies.
    """

    part: Ints  # (n,) number of each vertex's piece or body
    names: Sequence[str]  # of pieces and bodies
    first_body: int  # id of the first vertex of a body
    # (n,) [m]; a pair keeps the mean of both sides, each with the largest of its vertices
    thickness: Floats
    static: Floats  # (k,k) static coefficients of friction between pieces and bodies
    kinetic: Floats  # (k,k) kinetic coefficients
    friction_factor: Floats  # (n,) at vertices; a pair has the product of its sides'
    apart: Sequence[tuple[Bools, Bools]] = ()  # vertices (n,) of two groups that ignore each other
    sewn: Ints | None = None  # (n,) the same number for vertices that are sewn together
    ties: Ints | None = None  # (k,2) vertices that are tied: primitives with both do not meet
    pieces: int = 1  # number of pieces of cloth
    cores: Cores | None = None  # of exact balls and capsules; None: there are none

    def __post_init__(self) -> None:
        if len(self.apart) > MOST_APART:
            raise SceneError(
                "contact.pairs",
                got=f"{len(self.apart)} pairs that ignore each other",
                expected=f"at most {MOST_APART}",
                hint="name a whole cloth or body in place of its groups",
            )

    @staticmethod
    def one(n: int, thickness: float = 0.0) -> "CollisionGroups":
        """Return the groups of a single piece with n vertices, with this thickness [m] and without
        friction.
        """
        mu = np.zeros((1, 1))
        return CollisionGroups(
            np.zeros(n, dtype=np.int32), ("cloth",), n, np.full(n, thickness), mu, mu, np.ones(n)
        )

    @property
    def thickest(self) -> float:
        """Return the largest thickness [m] of a pair, without the radius of cores."""
        return float(self.thickness.max(initial=0.0))

    def total_thickness(self, part: float = 1.0) -> Floats:
        """Return the numbers (n,) [m] whose mean over both sides is the distance that a pair keeps.

        They are a part of the thickness, and twice the radius of cores.
        """
        kept = self.thickness if part == 1.0 else part * self.thickness
        return kept if self.cores is None else kept + 2 * self.cores.radius

    def radius_of(self, stencil: Ints, kind: Ints) -> Floats:
        """Return the radius [m] of the cores of pairs, (m,); (1,) if there are no cores."""
        if self.cores is None:
            return np.zeros(1)
        a, b = self.of_pairs(stencil, kind)
        return self.cores.radius[a] + self.cores.radius[b]

    def of_pairs(self, stencil: Ints, kind: Ints) -> tuple[Ints, Ints]:
        """Return a vertex of the first and one of the second side of every pair, (m,) each, for
        stencils (m,4) and kinds (m,).
        """
        return stencil[:, 0], np.where(kind == PairKind.EDGE_EDGE, stencil[:, 2], stencil[:, 1])

    def thickness_of(self, stencil: Ints, kind: Ints) -> Floats:
        """Return the distance [m] that candidate pairs keep, (m,), by ``distance.pair_thickness``;
        (1,) if it is the same for all.
        """
        T = self.total_thickness()
        if len(T) == 0 or (T[0] == T).all():
            return T[:1] if len(T) else np.zeros(1)
        edges, (a, b, c, d) = kind == PairKind.EDGE_EDGE, T[stencil].T
        one, other = np.where(edges, np.maximum(a, b), a), np.where(edges, 0.0, b)
        return np.asarray((one + np.maximum(other, np.maximum(c, d))) / 2)

    def in_one_rigid_body(self, one: Ints, other: Ints) -> Bools:
        """Return which pairs of vertices (k,) are of one body that the cloth moves, (k,)."""
        own = self.part[one] == self.part[other]
        return np.asarray(own & (one < self.first_body) & (self.part[one] >= self.pieces))

    @property
    def has_friction(self) -> bool:
        """Return whether any pair has friction."""
        return bool((self.static > 0).any())

    def marks(self, ids: Ints, prescribed: Bools, released: Ints | None = None) -> Marks:
        """Return the group bits of primitives, (m,2) uint32.

        Two primitives are no candidate pair if the first number of one and the second number of the
        other have a common bit. Bit 0 marks primitives with prescribed vertices only: nothing can
        be done about a pair of two of them (``ccd.prescribed_motion`` follows them). Each pair of
        groups that ignore each other takes two more bits. The last three bits are for primitives
        with a released vertex (``contact.released``).

        Args:
            ids: (m,k) vertices of the primitives.
            prescribed: (n,) vertices that are prescribed.
            released: (n,) levels of released vertices; None: none are.
        """
        out = np.zeros((len(ids), 2), dtype=np.uint32)
        out[prescribed[ids].all(1)] = 1
        for k, (one, other) in enumerate(self.apart):
            for members, is_, ignores in ((one, 1, 2), (other, 2, 1)):
                mine = members[ids].all(1)
                out[mine, 0] |= np.uint32(1 << (2 * k + is_))
                out[mine, 1] |= np.uint32(1 << (2 * k + ignores))
        if released is not None and released.any():
            level, body = released[ids].max(1), ids[:, 0] >= self.first_body
            bits = np.array(LET_GO, dtype=np.uint32)
            out[(level > 0) & ~body] |= bits
            out[(level > 0) & body] |= bits[::-1]
            out[(level >= THROUGH_CLOTH) & ~body] |= np.uint32(1 << 31)
        return out


def friction_table(
    names: Sequence[str],
    friction: Friction,
    pairs: Sequence[tuple[tuple[str, str], Friction]] = (),
) -> tuple[Floats, Floats]:
    """Return the static and the kinetic coefficients between ``names``, (k,k) each: ``friction``,
    except for the named ``pairs``.
    """
    k = len(names)
    static, kinetic = np.full((k, k), friction.static), np.full((k, k), friction.sliding)
    for (a, b), f in pairs:
        for i, j in ((a, b), (b, a)):
            rows = [n for n, name in enumerate(names) if name == i]
            columns = [n for n, name in enumerate(names) if name == j]
            static[np.ix_(rows, columns)] = f.static
            kinetic[np.ix_(rows, columns)] = f.sliding
    return static, kinetic


@dataclass(frozen=True, eq=False)
class CollisionPiece:
    """A part of the cloth with its own name, and optionally its own thickness, in contact.

    Args:
        name: for pairs and messages.
        vertices: ids.
        thickness: [m], one number or (k,) of its vertices; None: that of the contact.
    """

    name: str
    vertices: Ints
    thickness: float | Floats | None = None


def sides_of(
    mesh: TriangleMesh, s: SelfContact, bodies: Sequence[Body], pieces: Sequence[CollisionPiece]
) -> CollisionGroups:
    """Build the collision groups of a cloth and of bodies.

    Args:
        mesh: the cloth.
        s: settings of the contact.
        bodies: bodies, in the order of their vertices after those of the cloth.
        pieces: parts of the cloth; empty: it is one piece called ``cloth``.

    Raises:
        SceneError: a pair names something that does not exist.
    """
    n = mesh.n_vertices
    given = list(pieces) or [CollisionPiece("cloth", np.arange(n, dtype=np.int32))]
    names = [p.name for p in given] + [b.name for b in bodies]
    part, thickness = [np.zeros(n, dtype=np.int32)], [np.full(n, s.thickness)]
    for k, piece in enumerate(given):
        part[0][piece.vertices] = k
        if piece.thickness is not None:
            thickness[0][piece.vertices] = piece.thickness
    for k, body in enumerate(bodies, len(given)):
        part.append(np.full(len(body.vertices), k, dtype=np.int32))
        own = s.thickness if body.thickness is None else body.thickness
        thickness.append(np.full(len(body.vertices), own))
    parts = np.concatenate(part)
    apart = [
        tuple(_members(name, mesh, names, parts) for name in b.names) for b in s.pairs if b.ignore
    ]
    apart += _fingers_and_links(bodies, parts, len(given))
    kept, friction_factor = np.concatenate(thickness), _friction_factors(mesh, s, len(parts))
    friction = friction_of(s, names)
    groups = CollisionGroups(parts, tuple(names), n, kept, *friction, friction_factor, apart)  # type: ignore[arg-type]
    return replace(groups, pieces=len(given))


def _fingers_and_links(
    bodies: Sequence[Body], part: Ints, first: int
) -> Iterator[tuple[Bools, Bools]]:
    """Yield, of each arm, the vertices of fingers and those of other links, which do not meet.

    Args:
        bodies: all bodies.
        part: (n,) number of each vertex's piece or body.
        first: number of the first body.
    """
    for arm in arms_of(bodies):
        own = [(k, b) for k, b in enumerate(bodies, first) if b.link and b.link.arm is arm]
        fingers, others = ([k for k, b in own if (b.rigid is None) == still] for still in (0, 1))
        if fingers and others:
            yield np.isin(part, fingers), np.isin(part, others)


def _friction_factors(mesh: TriangleMesh, s: SelfContact, n: int) -> Floats:
    """Return the factors (n,) of friction at vertices of cloth and bodies, which is 1 on bodies.

    Raises:
        SceneError: a map that the mesh does not have, weights that are not from 0 to 1, or a map
            of the friction of a pair.
    """
    assert isinstance(s.friction, Friction)
    name = s.friction.map
    if any(isinstance(p.friction, Friction) and p.friction.map for p in s.pairs):
        expected = "none: contact.friction.map is that of all pairs"
        raise SceneError("contact.pairs.friction.map", got="a map", expected=expected)
    if name is None:
        return np.ones(n)
    w = mesh.painted(name, "contact.friction.map", (0, 1))
    low = s.friction.low or 0.0
    return np.concatenate([low + (1 - low) * w, np.ones(n - len(w))])


def friction_of(s: SelfContact, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the static and the kinetic coefficients between pieces and bodies of these names,
    (k,k).

    Raises:
        SceneError: a pair names something that does not exist.
    """
    rubbing = [(b.names, b.friction) for b in s.pairs if b.friction is not None]
    for pair, _ in rubbing:
        for name in pair:
            check_known(name, tuple(dict.fromkeys(names)), "contact.pairs", SceneError)
    assert isinstance(s.friction, Friction)
    return friction_table(list(names), s.friction, rubbing)


def _members(name: str, mesh: TriangleMesh, names: Sequence[str], part: Ints) -> Bools:
    """Return the vertices of a piece, a body or a group of the mesh, (n+b,) bool."""
    if name in names:
        return np.isin(part, [k for k, known in enumerate(names) if known == name])
    known = tuple(dict.fromkeys([*names, *mesh.groups]))
    check_known(name, known, "contact.pairs", SceneError)
    found = np.zeros(len(part), dtype=bool)
    found[mesh.groups[name]] = True
    return found
