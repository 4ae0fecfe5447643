"""Contact of a surface with itself and with bodies: its settings, and what is constant in a run.

Stiffness: a vertex that is pressed with ``LOAD`` times its weight rests at half the gap, and larger
forces make contact stiffer by a factor (``barrier.stiffness``). The stiffness k of
the barrier does not depend on the step, and is bounded by the forces: a contact that carries the
force f at the gap g has a stiffness of about f/g. docs/decisions/0011 and its appendix.
"""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from weft import kernel
from weft.base.arrays import AnyArray, Bools, Floats, Ints, Positions
from weft.base.errors import SceneError, StartError, abbreviate, point_text
from weft.bodies.body import Body, join_faces, join_positions, on_arms
from weft.bodies.joints.arm import Arm
from weft.bodies.rigid.rigid_bodies import NONE, RigidBodies, all_vertices
from weft.contact.assembly.embedding import ContactEmbedding, WeightedEmbedding
from weft.contact.broad_phase.candidate_search import find_candidates
from weft.contact.collision_groups import CollisionPiece, sides_of
from weft.contact.collision_mesh import CollisionMesh, Excluded
from weft.contact.cores import Cores, core_of, exact_bodies
from weft.contact.exact.crossings import Crossings
from weft.contact.narrow_phase.adjacent_pairs import farthest_reach
from weft.contact.settings import SelfContact
from weft.contact.ties import needed_ties
from weft.discretization.embedding import Embedding
from weft.discretization.mesh import TriangleMesh
from weft.solve.sparse.pull_back import Interpolation

LOAD = 10.0  # times the mean weight of a vertex: force of a contact at half the gap
GRAVITY = 9.81  # [m/s^2]
# -b'(Y/4)/Y of the barrier: the force of a pair at half the gap is k gap^3 times this.
HALF_FORCE = 4.3294
LOOK = "`weft check` lists and draws them"
UNTANGLE = (
    f"{LOOK}; `resolve: true` in the scene's contact separates small intersections and pushes "
    "cloth out of bodies"
)


@dataclass(frozen=True, eq=False)
class Contact:
    """The surfaces that must not pass through one another, and the barrier that pushes them apart.

    Vertices are those of the cloth, then of rigid bodies, then of bodies that the cloth does
    not move.

    Args:
        mesh: the triangles and their collision groups.
        mass: (n,) [kg] of the vertices that move.
        settings: gap, friction, ...
        bodies: bodies that the cloth meets and does not move.
        embedding: maps the points that are simulated to the n vertices; None: they are the same.
        rigid_bodies: rigid bodies, whose vertices are the last of the n.
        cores: of exact balls and capsules; their vertices come after those of all bodies.
    """

    mesh: CollisionMesh
    mass: Floats
    settings: SelfContact
    bodies: Sequence[Body] = ()
    embedding: Embedding | None = None
    rigid_bodies: RigidBodies = NONE
    cores: Sequence[Body] = ()

    @staticmethod
    def of(
        mesh: TriangleMesh,
        mass: Floats,
        settings: SelfContact,
        bodies: Sequence[Body] = (),
        pieces: Sequence[CollisionPiece] = (),
        embedding: Embedding | None = None,
        sewn: Ints | None = None,
        rigid_bodies: RigidBodies | None = None,
        ties: Ints | None = None,
        check_start: bool = True,
    ) -> "Contact":
        """Return the contact of a mesh with itself and with bodies, from the positions of its
        vertices.

        Args:
            mesh: the cloth.
            mass: (n,) [kg] of its vertices.
            settings: gap, friction, ...
            bodies: bodies that the cloth meets and does not move.
            pieces: parts of the cloth; empty: it is one, called ``cloth``.
            embedding: maps the points that are simulated to the mesh's vertices.
            sewn: (n,) the same number for vertices that are sewn together: primitives with one of
                them do not meet primitives with another. None: none are sewn.
            rigid_bodies: rigid bodies; None: there are none.
            ties: (k,2) vertices of cloth and bodies that are tied to each other: primitives with
                one do not meet primitives with the other. None: there are none.
            check_start: whether surfaces must be apart at the start.

        Raises:
            SceneError: the gap is several edges of the mesh, the thickness is one, a name does not
                exist, or faces intersect or are too near at the start.
        """
        rigid_bodies, n = rigid_bodies or NONE, mesh.n_vertices
        together = (*rigid_bodies.bodies, *bodies)
        moved = n + int(rigid_bodies.count.sum())
        starts = np.concatenate([mesh.vertices, *_starts(rigid_bodies)])
        exact = exact_bodies(bodies, settings, starts, ties)
        cores = tuple(core_of(bodies[k]) for k in exact)
        every = np.concatenate([mesh.faces, join_faces(together) + n])
        rest = np.concatenate([_flat(mesh), join_positions((*together, *cores), 0.0)])
        sides = sides_of(mesh, settings, (*together, *cores), pieces)
        sides = dataclasses.replace(
            sides, first_body=moved, cores=Cores.of(bodies, exact, moved, len(rest))
        )
        if sewn is not None or len(rigid_bodies):
            cloth_ids = np.arange(n, dtype=np.int32) if sewn is None else sewn
            sides = dataclasses.replace(sides, sewn=rigid_bodies.apart(cloth_ids, len(rest)))
        surfaces = CollisionMesh(every, rest, sides, settings.gap)
        if ties is not None:
            start = np.concatenate(
                [mesh.vertices, *_starts(rigid_bodies), join_positions((*bodies, *cores), 0.0)]
            )
            needed = needed_ties(surfaces, start, ties, n)
            surfaces = dataclasses.replace(surfaces, given=dataclasses.replace(sides, ties=needed))
        contact = Contact(
            surfaces,
            np.concatenate([mass, rigid_bodies.shares]),
            settings,
            tuple(bodies),
            rigid_bodies.embedding(embedding, n),
            rigid_bodies,
            cores,
        )
        contact._check_sizes(mesh)
        if check_start:
            contact.check_start(np.concatenate([mesh.vertices, *_starts(rigid_bodies)]))
        return contact

    def _check_sizes(self, mesh: TriangleMesh) -> None:
        """Raise a SceneError if thickness or gap are too large for the triangles of the cloth."""
        edges = np.linalg.norm(mesh.corner_uv - np.roll(mesh.corner_uv, 1, axis=1), axis=2)
        shortest, thickest = float(edges.min()), self.mesh.sides.thickest
        if thickest >= shortest:
            raise SceneError(
                "contact.thickness",
                got=f"{thickest:.4g} m",
                expected=f"less than the shortest edge of the cloth, {shortest:.4g} m",
                hint="or a coarser mesh",
            )
        height = self.mesh.height
        if self.reach >= farthest_reach(height):
            raise SceneError(
                "contact.gap",
                got=f"{self.reach:.4g} m with the thickness",
                expected=f"less than {farthest_reach(height):.4g} m, as triangles of the cloth are "
                f"{height:.4g} m high",
                hint="or a coarser mesh",
            )

    def on_arms(self, arms: Sequence[Arm]) -> "Contact":
        """Return the contact with links of arms with other targets after the start."""
        bodies, rigid_bodies = (
            on_arms(self.bodies, arms),
            self.rigid_bodies.now(on_arms(self.rigid_bodies.bodies, arms)),
        )
        return dataclasses.replace(self, bodies=bodies, rigid_bodies=rigid_bodies)

    @cached_property
    def weights(self) -> Interpolation | None:
        """Return the embedding on the device, which is kept from step to step; None if there is
        none.
        """
        return None if self.embedding is None else Interpolation(self.embedding.matrix)

    name: ClassVar[str] = "contact"

    @property
    def constants(self) -> Mapping[str, Floats]:
        """Constants by name that may change a little (``derivatives.by_constants``).

        They are stiffness [J/m^4], gap [m], thickness (n,) [m] of the vertices, static and kinetic
        coefficients (k,k) of pieces and bodies, and stick [m/s].
        """
        sides = self.mesh.sides
        return {
            "stiffness": np.asarray(self.stiffness),
            "gap": np.asarray(self.gap),
            "thickness": sides.thickness,
            "static": sides.static,
            "kinetic": sides.kinetic,
            "stick": np.asarray(self.settings.stick),
        }

    @property
    def structure(self) -> object:
        """Data besides the constants and the places of bodies."""
        s = self.settings
        return s.friction_from, s.lags, s.pinch, s.prescribed, s.resolve, self.mesh.sides.part

    @property
    def gap(self) -> float:
        """Return the gap dhat [m]."""
        return self.settings.gap

    @property
    def reach(self) -> float:
        """Return the largest distance [m] at which pairs push each other."""
        return self.gap + self.mesh.sides.thickest

    @cached_property
    def stiffness(self) -> float:
        """Return the stiffness k [J/m^4] for the gap at the start.

        It satisfies 2 k |b'| d = LOAD m g at the distance d of half the gap (without thickness),
        with m the mean mass of a vertex. Steps multiply it by a factor (``barrier.stiffness``).
        """
        return self.stiffness_of(self.gap)

    def stiffness_of(self, gap: float) -> float:
        """Return the stiffness k [J/m^4] for a gap [m] that may differ from the one at the
        start.
        """
        return self.force_at_half_gap / (HALF_FORCE * gap**3)

    @property
    def force_at_half_gap(self) -> float:
        """Return the force [N] that this stiffness holds at half the gap."""
        return LOAD * GRAVITY * float(self.mass.mean())

    def body_positions(self, t: float) -> Positions:
        """Return the vertices of all bodies that the cloth does not move, then those of cores,
        (b,3) [m], at time t [s].
        """
        return join_positions((*self.bodies, *self.cores), t)

    def all_vertices(self, x: Positions) -> Positions:
        """Return the vertices of the cloth and of rigid bodies, (n,3) [m], for points x (N,3)."""
        return x if self.embedding is None else self.embedding.of(x)

    def body_vertices(self, bodies: Sequence[Body], x: Positions, t: float) -> Positions:
        """Return the vertices of all ``bodies`` of a scene in their order, (b,3) [m], for points x
        (N,3) and time t [s].
        """
        return all_vertices(bodies, self.all_vertices(x)[self.n_cloth :], t)

    @property
    def n_cloth(self) -> int:
        """Return the number of vertices of the cloth."""
        return len(self.mass) - int(self.rigid_bodies.count.sum())

    def least_distance(self, x: Positions, t: float = 0.0) -> float:
        """Return the distance [m] of the nearest pair at x (n,3) and time t [s]; infinity if all
        pairs are farther apart than the reach.
        """
        y = np.concatenate([x, self.body_positions(t)])
        near = find_candidates(self.mesh, y, self.reach)
        pairs, kinds = (kernel.numpy(a) for a in near.device)
        room = near.distances(y) - self.mesh.sides.radius_of(pairs, kinds)
        return float(room.min(initial=np.inf))

    def excluded(self, fixed: Bools, released: Ints | None = None) -> Excluded:
        """Return the pairs that a search leaves out.

        Args:
            fixed: (N,) points that are prescribed.
            released: (n+b,) levels of released vertices; None: none are.
        """
        return self.mesh.excluded(self.build_embedding().whole(fixed), released)

    def build_embedding(self) -> ContactEmbedding:
        """Return a new map from the points to the vertices."""
        if self.embedding is None or self.weights is None:
            return ContactEmbedding(len(self.mass))
        return WeightedEmbedding(self.embedding, self.weights)

    def crossings(self, x: Positions, t: float = 0.0) -> Ints:
        """Return the pairs (k,2) of faces that intersect, although they must not; arguments as for
        ``all_crossings``.
        """
        return self.all_crossings(x, t).forbidden

    def all_crossings(
        self, x: Positions, t: float = 0.0, released: Ints | None = None
    ) -> Crossings:
        """Return the pairs of faces that intersect. Pinned cloth counts like any other.

        Args:
            x: (n,3) [m] vertices of the cloth and of rigid bodies.
            t: [s] time, for bodies.
            released: (n+b,) levels of released vertices; None: none are.
        """
        y = np.concatenate([x, self.body_positions(t)])
        return Crossings.of(self.mesh, y, released)

    def name_of(self, vertex: int) -> str:
        """Return the name of the piece or body to which a vertex of the surface belongs."""
        sides = self.mesh.sides
        return sides.names[int(sides.part[vertex])]

    def body_part(self, vertex: int) -> str:
        """Return the name of the body to which a vertex of the surface belongs, with the path of
        the mesh in the body's file if that has several.
        """
        every = (*self.rigid_bodies.bodies, *self.bodies, *self.cores)
        first = self.n_cloth + np.cumsum([0, *(len(b.vertices) for b in every)])
        k = int(np.searchsorted(first, vertex, side="right")) - 1
        name, parts = every[k].name, every[k].parts
        if len(parts) < 2:
            return name
        ends = first[k] + np.cumsum([count for _, count in parts])
        return f"{name} {parts[int(np.searchsorted(ends, vertex, side='right'))][0]}"

    def check_start(self, x: Positions) -> None:
        """Check that no surfaces intersect, or are nearer than their thickness, at x (n,3) and time
        0.

        Raises:
            SceneError: some do.
        """
        self._check_crossing(x)
        self.check_room(x, 0.0)

    def check_room(self, x: Positions, t: float) -> None:
        """Check that no surfaces are nearer than their thickness, at x (n,3) and the time t [s].

        Raises:
            SceneError: some are.
        """
        y = np.concatenate([x, self.body_positions(t)])
        sides = self.mesh.sides
        if sides.thickest == 0 and sides.cores is None:
            return
        near = find_candidates(self.mesh, y, sides.thickest)
        if len(near) == 0:
            return
        pairs, kinds = (kernel.numpy(a) for a in near.device)
        room = near.distances(y) - sides.thickness_of(pairs, kinds)
        if room.min() <= 0:
            k = int(np.argmin(room))
            a, b = (int(s[k]) for s in sides.of_pairs(pairs, kinds))
            inside = sides.thickest == 0  # an exact ball or capsule
            if inside:
                a, b = sorted((a, b))  # the cloth first: its place, not that of the center
            place = point_text(y[a])
            of_bodies = min(a, b) >= self.n_cloth
            names = f"{self.name_of(a)} and {self.name_of(b)}"
            raise (SceneError if of_bodies else StartError)(
                "bodies at the start" if of_bodies else "cloth at the start",
                got=f"{names} {'intersect' if inside else 'nearer than their thickness'} at "
                f"({place}), by {-room.min():.3g} m",
                expected="apart" if inside else "farther apart than contact.thickness",
                hint="move them apart, or for cloth write `resolve: true` in the scene's contact",
            )

    def _check_crossing(self, x: Positions) -> None:
        """Check that no faces intersect, which must not, at x (n,3) and time 0.

        Raises:
            SceneError: some do.
        """
        pairs = self.crossings(x)
        if len(pairs) == 0:
            return
        of_bodies = bool((self.mesh.faces[pairs] >= self.n_cloth).all())
        hint = "move them apart" if of_bodies else UNTANGLE
        raise (SceneError if of_bodies else StartError)(
            "bodies at the start" if of_bodies else "cloth at the start",
            got=f"{len(pairs)} pairs of faces intersect: {self.pieces_of(pairs)}",
            expected="no intersections",
            hint=hint,
        )

    def pieces_of(self, pairs: AnyArray) -> str:
        """Return the pieces to which pairs (k,2) of faces belong, with the number of pairs."""
        names = [[self.name_of(int(f)) for f in self.mesh.faces[pair, 0]] for pair in pairs]
        count = Counter(" and ".join(sorted(set(both))) for both in names)
        return abbreviate([f"{both} ({n})" for both, n in count.most_common()], 4)


def _starts(rigid_bodies: RigidBodies) -> Sequence[Positions]:
    """Return the vertices of each rigid body at the start."""
    return [body.vertices for body in rigid_bodies.bodies]


def _flat(mesh: TriangleMesh) -> Positions:
    """Return the rest positions (n,3) [m] for lengths of edges: material coordinates if the mesh is
    one piece.
    """
    uv = mesh.vertex_uv
    if uv is None:
        return mesh.vertices
    return np.concatenate([uv, np.zeros((len(uv), 1))], axis=1)
