"""Contact of a surface with itself and with bodies, as a minimizer needs it.

A search asks in turn: ``limit`` along a direction (one broad phase over the way, and continuous
collision detection), then values at points of that way, then gradient and matrix where it went. The
candidates of the way serve all of these.

Stiffness: a vertex that rests at half the gap is pushed by ``LOAD`` times its weight, so that cloth
at rest lies at about half the gap, and k does not depend on the step. It is bounded by what
presses: the stiffness of a contact that carries the force f at the gap g is about f/g.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft import kernel
from weft.arrays import Bools, Floats, Ints, Positions
from weft.contact.barrier import barrier_energy, barrier_factors, barrier_gradient
from weft.contact.body import Body, joined_faces, joined_positions
from weft.contact.candidates import Candidates, Surface, least_distance
from weft.contact.ccd import max_step, step_lengths
from weft.contact.contact_set import ContactSet, distances_of
from weft.contact.friction import FrictionSet
from weft.contact.intersections import intersections
from weft.contact.rows import JoinedPattern
from weft.energies.base import gather_gradient
from weft.errors import SceneError
from weft.kernel import WarpArray, vec3
from weft.laws.base import Psd
from weft.mesh import TriangleMesh
from weft.solve.block_csr import BlockCsr
from weft.solve.incidence import Incidence

LOAD = 1.0  # of the mean vertex weight, at half the gap
GRAVITY = 9.81  # [m/s^2]
HALF_FORCE = 4.3294  # -b'(Y/4)/Y of the barrier, for the force at half the gap
PART = 0.9  # of the room that a vertex has, in truncated directions
FARTHEST = 12.0  # reaches beyond which truncated directions do not look for neighbors
MOST_CARRIES = 60  # rounds in which free vertices take the motion of what meets them
MARGIN = 1.5  # of the gap: pairs within it have blocks in the matrix beforehand


@dataclass(frozen=True)
class SelfContact:
    """Contact of a cloth with itself and with the bodies of a scene.

    Args:
        gap: [m] from which on it is pushed apart; less than the shortest edge.
        thickness: [m] that is kept in any case.
        friction: coefficient of cloth on cloth and on bodies, >= 0; not in equilibria.
        stick: [m/s] of sliding below which friction grows smoothly from 0, > 0.
    """

    gap: float = 1e-3
    thickness: float = 0.0
    friction: float = 0.0
    stick: float = 1e-3


@dataclass(frozen=True, eq=False)
class Contact:
    """What must not pass through itself, and from how near on it is pushed apart.

    Args:
        surface: the triangles.
        mass: (n,) [kg] of the vertices.
        gap: [m] dhat.
        thickness: [m] xi, kept in any case.
        friction: coefficient.
        stick: [m/s] of sliding below which friction grows smoothly from 0.
        bodies: what the cloth meets besides; their vertices follow its own in ``surface``.

    Raises:
        SceneError: a gap or sticking speed that is not > 0, a thickness or friction that is not
            >= 0.
    """

    surface: Surface
    mass: Floats
    gap: float
    thickness: float = 0.0
    friction: float = 0.0
    stick: float = 1e-3
    bodies: Sequence[Body] = ()

    def __post_init__(self) -> None:
        for name, unit in (("gap", "[m]"), ("stick", "[m/s]")):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise SceneError(f"contact.{name}", got=value, expected=f"must be > 0 {unit}")
        for name in ("thickness", "friction"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value >= 0):
                raise SceneError(f"contact.{name}", got=value, expected="must be >= 0")

    @staticmethod
    def of(
        mesh: TriangleMesh,
        mass: Floats,
        gap: float,
        thickness: float = 0.0,
        friction: float = 0.0,
        stick: float = 1e-3,
        bodies: Sequence[Body] = (),
    ) -> "Contact":
        """Contact of a mesh with itself and with bodies, from where its vertices are.

        Raises:
            SceneError: a gap that is out of range or not smaller than the mesh's edges, or faces
            that intersect at the start.
        """
        every = np.concatenate([mesh.faces, joined_faces(bodies) + mesh.n_vertices])
        placed = joined_positions(bodies, 0.0)
        surface = Surface(every, np.concatenate([_flat(mesh), placed]), mesh.n_vertices)
        contact = Contact(surface, mass, gap, thickness, friction, stick, tuple(bodies))
        edges = mesh.corner_uv - np.roll(mesh.corner_uv, 1, axis=1)
        shortest = float(np.linalg.norm(edges, axis=2).min())
        if contact.reach >= shortest:
            raise SceneError(
                "contact.gap",
                got=f"{contact.reach:.4g} m with the thickness",
                expected=f"less than the shortest edge of the cloth, {shortest:.4g} m",
                hint="or a coarser mesh",
            )
        pairs = intersections(np.concatenate([mesh.vertices, placed]), every)
        pairs = pairs[pairs[:, 0] < len(mesh.faces)]  # bodies may intersect one another
        if len(pairs):
            shown = ", ".join(f"{i} and {j}" for i, j in pairs[:5].tolist())
            raise SceneError(
                "cloth at the start",
                got=f"{len(pairs)} pairs of faces intersect: {shown}",
                expected="none, with contact",
                hint="`weft check` lists and draws those of a cloth with itself; faces from "
                f"{len(mesh.faces)} on are those of bodies",
            )
        return contact

    @property
    def reach(self) -> float:
        """[m] from which on pairs push each other."""
        return self.gap + self.thickness

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


def _flat(mesh: TriangleMesh) -> Positions:
    """(n,3) rest positions, for lengths of edges: material coordinates where they are one piece."""
    uv = mesh.vertex_uv
    if uv is None:
        return mesh.vertices
    return np.concatenate([uv, np.zeros((len(uv), 1))], axis=1)


class ContactSearch:
    """Contact during one search for a minimum, with bodies where they are at time ``t``."""

    def __init__(self, contact: Contact, t: float = 0.0) -> None:
        self.contact = contact
        self.body = contact.body_positions(t)  # (b,3)
        self.candidates: Candidates | None = None
        self.friction: FrictionSet | None = None
        self._joined: JoinedPattern | None = None
        self._last: tuple[Candidates, Positions, ContactSet] | None = None

    def look(self, x: Positions) -> None:
        """Find the candidates at x alone."""
        reach = MARGIN * self.contact.reach
        self.candidates = self.contact.surface.candidates(self._all(x), reach)

    def _all(self, x: Positions) -> Positions:
        """(n+b,3) with the vertices of bodies."""
        return np.concatenate([x, self.body]) if len(self.body) else x

    def freeze(
        self, x: Positions, origin: Positions, before: Positions, dt: float, span: float
    ) -> None:
        """Take friction from the contacts at x, for a step of dt [s] in which bodies come from
        ``before`` (b,3), and whose velocity is (x' - origin)/span.
        """
        c = self.contact
        if c.friction == 0:
            return
        y = np.concatenate([x, before])
        candidates = c.surface.candidates(y, c.reach)
        set_ = c.surface.contacts(y, candidates, c.stiffness, c.gap, c.thickness)
        moved = self.body - (self.body - before) * (span / dt)
        start = np.concatenate([origin, moved])
        self.friction = FrictionSet.of(set_, y, start, c.friction, c.stick * span)

    def limit(self, x: Positions, d: Floats, before: Positions | None = None) -> float:
        """Part of d, in [0, 1], that the cloth may go; finds the candidates of the way.

        With ``before`` (b,3), bodies come from there meanwhile.
        """
        c = self.contact
        start = self.body if before is None else before
        y, dy = np.concatenate([x, start]), np.concatenate([d, self.body - start])
        self.candidates = c.surface.candidates(y, MARGIN * c.reach, y + dy)
        return max_step(y, dy, self.candidates, c.thickness)

    def carried(
        self, x: Positions, d: Floats, free: Bools, before: Positions | None
    ) -> Positions | None:
        """(n,3) x + d, with free vertices that would be met carried along by what meets them.

        What is prescribed, pinned vertices and bodies, goes all its way. A free vertex in a pair
        that would meet takes the displacement of the pair's prescribed vertices (or of those that
        are carried already), or, where there are none, the pair's mean. None where that does not
        come to an end: something is caught between what is prescribed.
        """
        c, n = self.contact, len(x)
        start = self.body if before is None else before
        y, dy = np.concatenate([x, start]), np.concatenate([d, self.body - start])
        leads = np.concatenate([~free, np.ones(len(start), dtype=bool)])
        held = leads.copy()
        for _ in range(MOST_CARRIES):
            self.candidates = c.surface.candidates(y, MARGIN * c.reach, y + dy)
            met = step_lengths(y, dy, self.candidates, c.thickness) < 1.0
            if not met.any():
                return np.asarray(x + dy[:n])
            stencil = self.candidates.stencil[met]
            leading = leads[stencil]
            if held[stencil].all(1).any():
                return None
            share = np.where(leading.any(1, keepdims=True), leading, True)
            mean = np.einsum("ma,mai->mi", share, dy[stencil]) / share.sum(1, keepdims=True)
            follow = ~held[stencil]
            dy[stencil[follow]] = np.repeat(mean, 4, axis=0).reshape(-1, 4, 3)[follow]
            leads[stencil[follow & leading.any(1, keepdims=True)]] = True
        return None

    def truncated(self, x: Positions, d: Floats) -> Floats:
        """d with every vertex held to what its nearest neighbors leave it, and no others.

        No vertex moves by more than ``PART`` of half the distance between anything it belongs to
        and anything else, so nothing can meet, whatever the directions.
        """
        c = self.contact
        n, y = len(x), self._all(x)
        length = np.linalg.norm(d, axis=1)
        far = min(2 * float(length.max()), FARTHEST * c.reach) + c.thickness
        near = c.surface.candidates(y, far)
        distance = distances_of(y, near.stencil, near.kind) - c.thickness
        room = np.full(len(y), far - c.thickness)
        np.minimum.at(room, near.stencil.reshape(-1), np.repeat(distance, 4))
        part = np.minimum(1.0, PART * room[:n] / 2 / np.maximum(length, 1e-300))
        return np.asarray(part[:, None] * d)

    def contacts(self, x: Positions) -> ContactSet:
        """Pairs in contact at x (n,3), of the candidates."""
        if self.candidates is None:
            self.look(x)
        assert self.candidates is not None
        if self._last is not None:
            candidates, where, found = self._last
            if candidates is self.candidates and np.array_equal(where, x):
                return found  # value, gradient and matrix at one x share a set
        c = self.contact
        y = self._all(x)
        found = c.surface.contacts(y, self.candidates, c.stiffness, c.gap, c.thickness)
        self._last = self.candidates, np.array(x), found
        return found

    def _device(self, x: WarpArray) -> WarpArray:
        """(n+b,) vec3 with the vertices of bodies."""
        return kernel.array(self._all(kernel.numpy(x)), vec3) if len(self.body) else x

    def value(self, x: WarpArray) -> float:
        """[J] of all pairs; infinite where one is closer than the thickness."""
        set_, x = self.contacts(kernel.numpy(x)), self._device(x)
        out = kernel.empty(len(set_))
        kernel.launch(barrier_energy, len(set_), x, *set_.device, out)
        return kernel.total(out)

    def friction_value(self, x: WarpArray) -> float:
        """[J] potential of friction."""
        return self.friction.value(self._device(x)) if self.friction else 0.0

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        set_, x = self.contacts(kernel.numpy(x)), self._device(x)
        if len(set_):
            local = kernel.empty((len(set_), 4), vec3)
            kernel.launch(barrier_gradient, len(set_), x, *set_.device, local)
            _gather(set_.stencil, local, g)
        if self.friction:
            local = kernel.empty((len(self.friction), 4), vec3)
            self.friction.gradient(x, local)
            _gather(self.friction.stencil, local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A plus the projected Hessian of all pairs, on a pattern that holds both.

        EXACT gets the projected one too.
        """
        set_, rubbing = self.contacts(kernel.numpy(x)), self.friction
        x = self._device(x)
        m = len(set_)
        if m == 0 and not rubbing and self._joined is None:
            return A
        factors = kernel.zeros((m, 3, 4), vec3)
        kernel.launch(barrier_factors, m, x, *set_.device, int(psd != Psd.GAUSS_NEWTON), factors)
        stencil = set_.stencil
        if rubbing:
            more = kernel.empty((len(rubbing), 3, 4), vec3)
            rubbing.factors(x, more)
            both = np.concatenate([kernel.numpy(factors), kernel.numpy(more)])
            factors, stencil = kernel.array(both, vec3), np.concatenate([stencil, rubbing.stencil])
        if self._joined is None or not self._joined.holds(stencil):
            wide = self._wide(kernel.numpy(x), stencil)
            self._joined = JoinedPattern.of(A.pattern, wide)
        return self._joined.add(A, stencil, factors)

    def _wide(self, x: Positions, stencil: Ints) -> Ints:
        """(k,4) the given pairs, and those that soon may be in contact."""
        c = self.contact
        assert self.candidates is not None
        wide = c.surface.contacts(
            x, self.candidates, 1.0, MARGIN * c.reach - c.thickness, c.thickness
        )
        return np.concatenate([stencil, wide.stencil])


def _gather(stencil: Ints, local: WarpArray, g: WarpArray) -> None:
    """g += local gradients (m,4) of pairs (m,4), those of bodies' vertices left out."""
    n = g.shape[0]
    i = Incidence.of(stencil, max(n, int(stencil.max()) + 1))
    kernel.launch(gather_gradient, n, i.start, i.element, i.place, local, g)
