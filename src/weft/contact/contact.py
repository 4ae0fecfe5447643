"""Contact of a surface with itself, as a minimizer needs it.

A search asks in turn: ``limit`` along a direction (one broad phase over the way, and continuous
collision detection), then values at points of that way, then gradient and matrix where it went. The
candidates of the way serve all of these.

Stiffness: a vertex that rests at half the gap is pushed by ``LOAD`` times its weight, so that cloth
at rest lies at about half the gap, and k does not depend on the step. It is bounded by what
presses: the stiffness of a contact that carries the force f at the gap g is about f/g.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.contact.barrier import barrier_energy, barrier_factors, barrier_gradient
from weft.contact.candidates import Candidates, Surface, least_distance
from weft.contact.ccd import max_step
from weft.contact.contact_set import ContactSet, closest_of
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
MARGIN = 1.5  # of the gap: pairs within it have blocks in the matrix beforehand


@dataclass(frozen=True)
class SelfContact:
    """Contact of a cloth with itself, in a scene.

    Args:
        gap: [m] from which on it is pushed apart; less than the shortest edge.
        thickness: [m] that is kept in any case.
        friction: coefficient of cloth on cloth, >= 0.
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
    ) -> "Contact":
        """Contact of a mesh with itself, from where its vertices are.

        Raises:
            SceneError: a gap that is out of range or not smaller than the mesh's edges, or faces
            that intersect at the start.
        """
        surface = Surface(mesh.faces, _flat(mesh))
        contact = Contact(surface, mass, gap, thickness, friction, stick)
        edges = mesh.corner_uv - np.roll(mesh.corner_uv, 1, axis=1)
        shortest = float(np.linalg.norm(edges, axis=2).min())
        if contact.reach >= shortest:
            raise SceneError(
                "contact.gap",
                got=f"{contact.reach:.4g} m with the thickness",
                expected=f"less than the shortest edge of the cloth, {shortest:.4g} m",
                hint="or a coarser mesh",
            )
        pairs = intersections(mesh.vertices, mesh.faces)
        if len(pairs):
            shown = ", ".join(f"{i} and {j}" for i, j in pairs[:5].tolist())
            raise SceneError(
                "cloth at the start",
                got=f"{len(pairs)} pairs of faces intersect: {shown}",
                expected="none, with contact",
                hint="`weft check` lists and draws them",
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

    def least_distance(self, x: Positions) -> float:
        """[m] of the nearest pair at x; infinite where all are farther than the reach."""
        return least_distance(x, self.surface.candidates(x, self.reach))


def _flat(mesh: TriangleMesh) -> Positions:
    """(n,3) rest positions, for lengths of edges: material coordinates where they are one piece."""
    uv = mesh.vertex_uv
    if uv is None:
        return mesh.vertices
    return np.concatenate([uv, np.zeros((len(uv), 1))], axis=1)


class ContactSearch:
    """Contact during one search for a minimum."""

    def __init__(self, contact: Contact) -> None:
        self.contact = contact
        self.candidates: Candidates | None = None
        self.friction: FrictionSet | None = None
        self._joined: JoinedPattern | None = None

    def look(self, x: Positions) -> None:
        """Find the candidates at x alone."""
        self.candidates = self.contact.surface.candidates(x, MARGIN * self.contact.reach)

    def freeze(self, x: Positions, origin: Positions, span: float) -> None:
        """Take friction from the contacts at x, for a step whose velocity is (x' - origin)/span."""
        c = self.contact
        if c.friction == 0:
            return
        self.look(x)
        set_ = self.contacts(x)
        self.friction = FrictionSet.of(set_, x, origin, c.friction, c.stick * span)

    def limit(self, x: Positions, d: Floats) -> float:
        """Part of d, in [0, 1], that the surface may go; finds the candidates of the way."""
        c = self.contact
        self.candidates = c.surface.candidates(x, MARGIN * c.reach, x + d)
        return max_step(x, d, self.candidates, c.thickness)

    def truncated(self, x: Positions, d: Floats) -> Floats:
        """d with every vertex held to what its nearest neighbors leave it, and no others.

        No vertex moves by more than ``PART`` of half the distance between anything it belongs to
        and anything else, so nothing can meet, whatever the directions.
        """
        c = self.contact
        length = np.linalg.norm(d, axis=1)
        far = 2 * float(length.max()) + c.thickness
        near = c.surface.candidates(x, far)
        distance = closest_of(x, near.stencil, near.kind)[0] - c.thickness
        room = np.full(len(x), far)
        np.minimum.at(room, near.stencil.reshape(-1), np.repeat(distance, 4))
        part = np.minimum(1.0, PART * room / 2 / np.maximum(length, 1e-300))
        return np.asarray(part[:, None] * d)

    def contacts(self, x: Positions) -> ContactSet:
        """Pairs in contact at x, of the candidates."""
        if self.candidates is None:
            self.look(x)
        assert self.candidates is not None
        c = self.contact
        return c.surface.contacts(x, self.candidates, c.stiffness, c.gap, c.thickness)

    def value(self, x: WarpArray) -> float:
        """[J] of all pairs; infinite where one is closer than the thickness."""
        set_ = self.contacts(kernel.numpy(x))
        out = kernel.empty(len(set_))
        kernel.launch(barrier_energy, len(set_), x, *set_.device, out)
        return kernel.total(out)

    def friction_value(self, x: WarpArray) -> float:
        """[J] potential of friction."""
        return self.friction.value(x) if self.friction else 0.0

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        set_ = self.contacts(kernel.numpy(x))
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
    """g += local gradients (m,4) of pairs (m,4)."""
    n = g.shape[0]
    i = Incidence.of(stencil, n)
    kernel.launch(gather_gradient, n, i.start, i.element, i.place, local, g)
