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
    """Contact of a cloth with itself, in a scene: without friction.

    Args:
        gap: [m] from which on it is pushed apart; less than the shortest edge.
        thickness: [m] that is kept in any case.
    """

    gap: float = 1e-3
    thickness: float = 0.0


@dataclass(frozen=True, eq=False)
class Contact:
    """What must not pass through itself, and from how near on it is pushed apart.

    Args:
        surface: the triangles.
        mass: (n,) [kg] of the vertices.
        gap: [m] dhat.
        thickness: [m] xi, kept in any case.

    Raises:
        SceneError: a gap that is not > 0, or a thickness that is not >= 0.
    """

    surface: Surface
    mass: Floats
    gap: float
    thickness: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.gap) and self.gap > 0):
            raise SceneError("contact.gap", got=self.gap, expected="must be > 0 [m]")
        if not (np.isfinite(self.thickness) and self.thickness >= 0):
            raise SceneError("contact.thickness", got=self.thickness, expected="must be >= 0 [m]")

    @staticmethod
    def of(mesh: TriangleMesh, mass: Floats, gap: float, thickness: float = 0.0) -> "Contact":
        """Contact of a mesh with itself, from where its vertices are.

        Raises:
            SceneError: a gap that is out of range or not smaller than the mesh's edges, or faces
            that intersect at the start.
        """
        contact = Contact(Surface(mesh.faces, _flat(mesh)), mass, gap, thickness)
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
        self._joined: JoinedPattern | None = None
        self._at: tuple[bytes, ContactSet] | None = None

    def look(self, x: Positions) -> None:
        """Find the candidates at x alone."""
        self.candidates = self.contact.surface.candidates(x, MARGIN * self.contact.reach)

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

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx."""
        set_ = self.contacts(kernel.numpy(x))
        n, m = x.shape[0], len(set_)
        if m == 0:
            return
        local = kernel.empty((m, 4), vec3)
        kernel.launch(barrier_gradient, m, x, *set_.device, local)
        i = Incidence.of(set_.stencil, n)
        kernel.launch(gather_gradient, n, i.start, i.element, i.place, local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A plus the projected Hessian of all pairs, on a pattern that holds both.

        EXACT gets the projected one too.
        """
        set_ = self.contacts(kernel.numpy(x))
        m = len(set_)
        if m == 0 and self._joined is None:
            return A
        if self._joined is None or not self._joined.holds(set_.stencil):
            self._joined = JoinedPattern.of(A.pattern, self._wide(kernel.numpy(x), set_))
        factors = kernel.zeros((m, 3, 4), vec3)
        kernel.launch(barrier_factors, m, x, *set_.device, int(psd != Psd.GAUSS_NEWTON), factors)
        return self._joined.add(A, set_.stencil, factors)

    def _wide(self, x: Positions, set_: ContactSet) -> Ints:
        """(k,4) the pairs in contact, and those that soon may be."""
        c = self.contact
        assert self.candidates is not None
        wide = c.surface.contacts(
            x, self.candidates, 1.0, MARGIN * c.reach - c.thickness, c.thickness
        )
        return np.concatenate([set_.stencil, wide.stencil])
