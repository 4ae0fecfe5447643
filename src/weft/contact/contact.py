"""Contact of a surface with itself and with bodies: what it is, once and for a whole simulation.

Stiffness: a vertex that is pressed with ``LOAD`` times its weight rests at half the gap. k does not
depend on the step, and is bounded by what presses: the stiffness of a contact that carries the
force f at the gap g is about f/g. Measured in docs/decisions/0011.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft.arrays import Bools, Floats, Ints, Positions
from weft.contact.body import Body, joined_faces, joined_positions
from weft.contact.candidates import Surface, least_distance
from weft.contact.contact_set import distances_of
from weft.contact.galerkin import DeviceWeights
from weft.contact.intersections import intersections
from weft.contact.sides import Friction, Sides, friction_table
from weft.discretization.embedding import Embedding
from weft.errors import SceneError, check_known
from weft.mesh import TriangleMesh

LOAD = 10.0  # of the mean vertex weight, at half the gap
GRAVITY = 9.81  # [m/s^2]
HALF_FORCE = 4.3294  # -b'(Y/4)/Y of the barrier, for the force at half the gap
PINCH = ("stop", "thin")


@dataclass(frozen=True)
class Between:
    """How two named things meet: cloths, bodies, or groups of vertices of the mesh.

    Args:
        names: of both; twice the same for a cloth with itself.
        friction: between two cloths or bodies, in place of the scene's.
        ignore: they do not meet at all.

    Raises:
        SceneError: neither friction nor ignore.
    """

    names: tuple[str, str]
    friction: Friction | None = None
    ignore: bool = False

    def __post_init__(self) -> None:
        if self.friction is None and not self.ignore:
            raise SceneError(
                f"contact.pairs {self.names[0]}, {self.names[1]}",
                expected="friction, or ignore: true",
            )


@dataclass(frozen=True)
class SelfContact:
    """Contact of a cloth with itself and with the bodies of a scene.

    Args:
        gap: [m] from which on it is pushed apart; less than the shortest edge.
        thickness: [m] that is kept in any case, but where a cloth or body has one of its own; a
            pair keeps the mean of both.
        friction: of cloth on cloth and on bodies: a coefficient, or ``Friction`` with a static and
            a kinetic one; not in equilibria.
        stick: [m/s] of sliding below which friction grows smoothly from 0, > 0.
        lags: how often, at most, a step takes the normal forces of friction anew and is solved
            again; it stops where that moves nothing by more than the tolerance.
        pairs: named pairs that differ from the rest.
        pinch: where bodies leave the cloth less room than its thickness: ``stop``, or ``thin``:
            go on with the thickness that has room, and report it.
        resolve: untangle what intersects, or is nearer than its thickness, at the start.

    Raises:
        SceneError: a value out of range.
    """

    gap: float = 1e-3
    thickness: float = 0.0
    friction: float | Friction = 0.0
    stick: float = 1e-3
    lags: int = 1
    pairs: Sequence[Between] = ()
    pinch: str = "stop"
    resolve: bool = False

    def __post_init__(self) -> None:
        for name, unit in (("gap", "[m]"), ("stick", "[m/s]")):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise SceneError(f"contact.{name}", got=value, expected=f"must be > 0 {unit}")
        if not (np.isfinite(self.thickness) and self.thickness >= 0):
            raise SceneError("contact.thickness", got=self.thickness, expected="must be >= 0")
        if self.lags < 1:
            raise SceneError("contact.lags", got=self.lags, expected="must be >= 1")
        check_known(self.pinch, PINCH, "contact.pinch", SceneError)
        if not isinstance(self.friction, Friction):
            object.__setattr__(self, "friction", Friction(self.friction))


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of the cloth that contact tells from the others.

    Args:
        name: for pairs and messages.
        vertices: ids.
        thickness: [m]; None: that of the contact.
    """

    name: str
    vertices: Ints
    thickness: float | None = None


@dataclass(frozen=True, eq=False)
class Contact:
    """What must not pass through itself, and from how near on it is pushed apart.

    Args:
        surface: the triangles, and what they belong to.
        mass: (n,) [kg] of the vertices.
        settings: gap, friction, ...
        bodies: what the cloth meets besides; their vertices follow its own in ``surface``.
        embedding: of the surface's vertices in the points that move it; None: they are the points.
    """

    surface: Surface
    mass: Floats
    settings: SelfContact
    bodies: Sequence[Body] = ()
    embedding: Embedding | None = None

    @staticmethod
    def of(
        mesh: TriangleMesh,
        mass: Floats,
        settings: SelfContact,
        bodies: Sequence[Body] = (),
        pieces: Sequence[Piece] = (),
        embedding: Embedding | None = None,
    ) -> "Contact":
        """Contact of a mesh with itself and with bodies, from where its vertices are.

        Args:
            mesh: the cloth.
            mass: (n,) [kg].
            settings: gap, friction, ...
            bodies: what it meets.
            pieces: parts of the cloth; none: it is one, called ``cloth``.
            embedding: of the mesh's vertices in the points that move it.

        Raises:
            SceneError: a gap that is not smaller than the mesh's edges, names that nothing has, or
            faces that intersect or are too near at the start.
        """
        placed = joined_positions(bodies, 0.0)
        every = np.concatenate([mesh.faces, joined_faces(bodies) + mesh.n_vertices])
        rest = np.concatenate([_flat(mesh), placed])
        sides = _sides(mesh, settings, bodies, pieces)
        contact = Contact(Surface(every, rest, sides), mass, settings, tuple(bodies), embedding)
        edges = mesh.corner_uv - np.roll(mesh.corner_uv, 1, axis=1)
        shortest = float(np.linalg.norm(edges, axis=2).min())
        if contact.reach >= shortest:
            raise SceneError(
                "contact.gap",
                got=f"{contact.reach:.4g} m with the thickness",
                expected=f"less than the shortest edge of the cloth, {shortest:.4g} m",
                hint="or a coarser mesh",
            )
        if not settings.resolve:
            contact.check_start(mesh.vertices)
        return contact

    @cached_property
    def weights(self) -> DeviceWeights | None:
        """The embedding on the device, kept from step to step; None where there is none."""
        return None if self.embedding is None else DeviceWeights(self.embedding)

    @property
    def gap(self) -> float:
        """[m] dhat."""
        return self.settings.gap

    @property
    def reach(self) -> float:
        """[m] from which on pairs push each other, at most."""
        return self.gap + self.surface.who.thickest

    @cached_property
    def stiffness(self) -> float:
        """[J/m^4] k: 2 k |b'| g = LOAD m g at the gap's half (without thickness)."""
        force = LOAD * GRAVITY * float(self.mass.mean())
        return force / (HALF_FORCE * self.gap**3)

    def body_positions(self, t: float) -> Positions:
        """(b,3) [m] of the vertices of all bodies at time t."""
        return joined_positions(self.bodies, t)

    def least_distance(self, x: Positions, t: float = 0.0) -> float:
        """[m] of the nearest pair at x (n,3) and time t; infinite where all are farther than the
        reach.
        """
        y = np.concatenate([x, self.body_positions(t)])
        return least_distance(y, self.surface.candidates(y, self.reach))

    def crossings(self, x: Positions, t: float = 0.0) -> Ints:
        """(k,2) faces of the surface that intersect at x (n,3) and time t, and should not: with at
        least one of the cloth, neither both prescribed nor of sets that ignore each other.
        """
        return self._crossings(np.concatenate([x, self.body_positions(t)]))

    def _crossings(self, y: Positions) -> Ints:
        surface = self.surface
        bodies = surface.faces[:, 0] >= len(self.mass)  # these may intersect one another
        pairs = intersections(y, surface.faces, quiet=bodies)
        if len(pairs) == 0:
            return pairs
        marks = surface.face_marks
        return np.asarray(pairs[(marks[pairs[:, 0], 0] & marks[pairs[:, 1], 1]) == 0])

    def name_of(self, vertex: int) -> str:
        """The piece or body of a vertex of the surface."""
        who = self.surface.who
        return who.names[int(who.part[vertex])]

    def check_start(self, x: Positions) -> None:
        """That nothing intersects, or is closer than its thickness, at x (n,3) and time 0.

        Raises:
            SceneError: something is.
        """
        y = np.concatenate([x, self.body_positions(0.0)])
        self._check_crossing(y)
        who = self.surface.who
        if who.thickest == 0:
            return
        near = self.surface.candidates(y, who.thickest)
        if len(near) == 0:
            return
        room = distances_of(y, near.stencil, near.kind) - self.surface.thickness(near)
        if room.min() <= 0:
            k = int(np.argmin(room))
            a, b = (int(s[k]) for s in who.of_pairs(near.stencil, near.kind))
            place = ", ".join(f"{c:.4g}" for c in y[a])
            raise SceneError(
                "cloth at the start",
                got=f"{self.name_of(a)} and {self.name_of(b)} nearer than their thickness at "
                f"({place}), by {-room.min():.3g} m",
                expected="farther apart than contact.thickness",
                hint="move them apart, or say `resolve: true` in the scene's contact",
            )

    def _check_crossing(self, y: Positions) -> None:
        """That nothing of the cloth intersects at y (n+b,3)."""
        pairs = self._crossings(y)
        cloth_faces = int((self.surface.faces[:, 0] < len(self.mass)).sum())
        if len(pairs) == 0:
            return
        shown = ", ".join(f"{i} and {j}" for i, j in pairs[:5].tolist())
        first = self.surface.faces[pairs[0]]
        names = " and ".join(dict.fromkeys(self.name_of(int(f[0])) for f in first))
        raise SceneError(
            "cloth at the start",
            got=f"{len(pairs)} pairs of faces intersect ({names}, ...): {shown}",
            expected="none, with contact",
            hint="`weft check` lists and draws them; `resolve: true` in the scene's contact "
            f"untangles small ones. Faces from {cloth_faces} on are those of bodies",
        )


def _sides(
    mesh: TriangleMesh, s: SelfContact, bodies: Sequence[Body], pieces: Sequence[Piece]
) -> Sides:
    """Pieces of the cloth and bodies, as vertices of the surface see them."""
    n = mesh.n_vertices
    given = list(pieces) or [Piece("cloth", np.arange(n, dtype=np.int32))]
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
    rubbing = [(b.names, b.friction) for b in s.pairs if b.friction is not None]
    for pair, _ in rubbing:
        for name in pair:
            check_known(name, tuple(dict.fromkeys(names)), "contact.pairs", SceneError)
    assert isinstance(s.friction, Friction)
    table = friction_table(names, s.friction, rubbing)
    return Sides(parts, tuple(names), n, np.concatenate(thickness), *table, apart)  # type: ignore[arg-type]


def _members(name: str, mesh: TriangleMesh, names: Sequence[str], part: Ints) -> Bools:
    """(n+b,) vertices of a piece, a body or a group of the mesh."""
    if name in names:
        return np.isin(part, [k for k, known in enumerate(names) if known == name])
    known = tuple(dict.fromkeys([*names, *mesh.groups]))
    check_known(name, known, "contact.pairs", SceneError)
    found = np.zeros(len(part), dtype=bool)
    found[mesh.groups[name]] = True
    return found


def _flat(mesh: TriangleMesh) -> Positions:
    """(n,3) rest positions, for lengths of edges: material coordinates where they are one piece."""
    uv = mesh.vertex_uv
    if uv is None:
        return mesh.vertices
    return np.concatenate([uv, np.zeros((len(uv), 1))], axis=1)
