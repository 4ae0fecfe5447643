"""Push cloth out of the closed bodies that it starts in.

A body is made thinner until no cloth is in it, then it grows back to its shape. Contact carries the
cloth along, so that nothing passes through anything: layers keep their order, and folds do not
cross. The displacement of the cloth is smooth, so that neighbors stay neighbors.
"""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.bodies.body import winding_numbers
from weft.bodies.erosion import Solid
from weft.contact.contact import Contact
from weft.contact.contact_term import ContactTerm
from weft.discretization.connectivity import component_labels
from weft.discretization.mesh import half_edges, sample_faces
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.obstacle import Obstacle
from weft.energies.state import State
from weft.integrators.model import Model
from weft.integrators.potential import Potential
from weft.solve.linear.select import linear_solver
from weft.solve.newton.descent import Newton
from weft.solve.newton.minimize import minimize
from weft.solve.newton.psd import Psd

DEEPEST = 0.031  # [m] depth from which cloth is not pushed out: a body is not behind it by mistake
ROOM = 0.1  # [m] depth from which a body that contains most of a piece of cloth is a room
CELL = 0.02  # [m] a face's depth is measured at two points or more to this length
SAMPLES = 24  # largest number of faces at which it is asked which side of the cloth is out
AROUND = 0.2  # difference of winding numbers from which cloth goes around something
ASIDE = 1e-3  # of its depth: distance from the cloth at which these are measured
SCALE = 1e-3  # [s^2] scale of the inertia that keeps vertices near their positions
SPREAD = 0.05  # [m] distance along the cloth over which a displacement fades
LONGEST, SHORTEST = 1 / 8, 1 / 32  # of the way: parts by which a body grows
ACCURACY = 0.1  # of the gap: tolerance of the positions on the way


@dataclass(frozen=True, eq=False)
class Inside:
    """A connected piece of cloth of which a part is inside a body.

    Args:
        body: number of the body.
        vertices: (k,) vertices that are inside.
        whole: whether all of the piece is inside.
        mostly: whether more than half of it is.
        depth: [m] of its deepest point.
        place: (3,) [m] this point.
        nearest: the vertex of the cloth that is nearest to this point.
        inwards: whether the piece goes around the body, and the nearest ways out of the body lead
            to the inside of the piece.
    """

    body: int
    vertices: Ints
    whole: bool
    mostly: bool
    depth: float
    place: Positions
    nearest: int
    inwards: bool


def find_inside(contact: Contact, x: Positions, solids: Sequence[Solid | None]) -> Iterator[Inside]:
    """Yield the pieces of cloth that are inside bodies, or whose part is.

    Faces that are tied to a body, or ignore it, count as outside.

    Args:
        contact: the surfaces.
        x: (n,3) [m] vertices of the cloth.
        solids: the bodies; None: a body without inside.
    """
    mesh, n = contact.mesh, contact.n_cloth
    own = mesh.faces[mesh.faces[:, 0] < n]
    piece = component_labels(half_edges(own), n)
    marks = mesh.excluded_without_pins.faces
    for k, solid in enumerate(solids):
        if solid is None:
            continue
        there = mesh.sides.part == len(mesh.sides.names) - len(solids) + k
        first = int(np.argmax(there[mesh.faces[:, 0]]))
        meets = (marks[: len(own), 0] & marks[first, 1]) == 0
        if mesh.sides.ties is not None:
            ends = np.asarray(mesh.sides.ties)
            tied = ends[there[ends].any(axis=1) & (ends < n).any(axis=1)].min(axis=1)
            meets &= ~np.isin(own, tied).any(axis=1)
        low, high = solid.vertices.min(0), solid.vertices.max(0)
        near = meets & (x[own].max(1) > low).all(1) & (x[own].min(1) < high).all(1)
        chosen = np.flatnonzero(near)
        points, face = sample_faces(x[own[chosen]], CELL)
        depth, of = solid.depth(points), piece[own[chosen[face], 0]]
        for label in np.unique(of[depth > 0]).tolist():
            mine = np.flatnonzero(of == label)
            deepest = mine[np.argmax(depth[mine])]
            corners = own[chosen[face[deepest]]]
            vertices = np.unique(own[near & (piece[own[:, 0]] == label)])
            held = vertices[solid.depth(x[vertices]) > 0]
            yield Inside(
                k,
                held,
                bool((depth[mine] > 0).all()) and bool(near[piece[own[:, 0]] == label].all()),
                2 * len(held) > int((piece == label).sum()),
                float(depth[deepest]),
                points[deepest],
                int(corners[np.argmin(((x[corners] - points[deepest]) ** 2).sum(1))]),
                _leads_inwards(solid, x, own[piece[own[:, 0]] == label], points[mine], depth[mine]),
            )


def _leads_inwards(
    solid: Solid, x: Positions, faces: Ints, points: Positions, depth: Floats
) -> bool:
    """Return whether the nearest ways from deep points of a piece of cloth out of a body lead to
    the inside of the piece, which goes around it.

    Args:
        solid: the body.
        x: (n,3) [m] vertices of the cloth.
        faces: (m,3) of the piece.
        points: (k,3) [m] points of the piece.
        depth: (k,) [m] how deep they are.
    """
    deep = np.flatnonzero(depth > 0.5 * depth.max())
    deep = deep[:: max(1, len(deep) // SAMPLES)]
    way = solid.way_out(points[deep])
    aside = ASIDE * float(depth.max()) * way / np.linalg.norm(way, axis=1, keepdims=True)
    ahead, behind = (
        np.abs(winding_numbers(points[deep] + side * aside, x[faces])) for side in (1, -1)
    )
    return float(np.median(ahead - behind)) > AROUND


@dataclass(frozen=True, eq=False)
class Smoothness:
    """Quadratic energy of the differences of the displacements of neighbors.

    Args:
        stencil: (m,2) edges.
        start: (n,3) [m] positions from which displacements count.
        stiffness: [N/m].
    """

    stencil: Ints
    start: Positions
    stiffness: float
    name: ClassVar[str] = "smoothness"

    def _differences(self, x: Positions) -> Floats:
        moved = x - self.start
        return np.asarray(moved[self.stencil[:, 1]] - moved[self.stencil[:, 0]])

    def value(self, x: Positions) -> Floats:
        """Return the energies (m,) [J]."""
        return np.asarray(0.5 * self.stiffness * (self._differences(x) ** 2).sum(axis=1))

    def gradient(self, x: Positions) -> Floats:
        """Return the gradients (m,2,3) [N]."""
        force = self.stiffness * self._differences(x)
        return np.stack([-force, force], axis=1)

    def hessian(self, x: Positions, psd: Psd) -> Floats:
        """Return the Hessians (m,2,2,3,3) [N/m]."""
        one = self.stiffness * np.einsum("ab,ij->abij", [[1.0, -1.0], [-1.0, 1.0]], np.eye(3))
        return np.broadcast_to(one, (len(self.stencil), *one.shape))


def grow(model: Model, x: Positions, thinner: Positions) -> tuple[Positions, Obstacle | None]:
    """Let the bodies of a model grow to their shape at time 0, and carry the cloth along.

    Where bodies leave no room for the thickness, they grow by shorter parts, and then with less
    thickness.

    Args:
        model: the model; its pins stay.
        x: (n,3) [m] positions that do not intersect the thinner bodies.
        thinner: (b,3) [m] vertices of the thinner bodies.

    Returns:
        (n,3) [m] positions, and None; or the last positions, and what leaves no room to grow.
    """
    assert model.contact is not None
    thick, thin = (
        ContactTerm(_with_pinch(model.contact, pinch), model.assembly.phases)
        for pinch in ("stop", "thin")
    )
    contact, pushing = model.contact, thick
    edges = contact.mesh.edges
    edges = edges[edges[:, 1] < contact.n_cloth]
    length = float(np.linalg.norm(np.diff(x[edges], axis=1), axis=2).mean())
    stiffness = float(model.mass.mean()) / SCALE * (SPREAD / length) ** 2
    smooth = NumpyEnergy(Smoothness(edges, x, stiffness), model.assembly.pattern, quiet=True)
    solver, prepared = linear_solver("auto", len(x), contact=True), None
    way = contact.body_positions(0.0) - thinner
    now, part, size = x, 0.0, LONGEST
    while part < 1.0:
        end = min(1.0, part + size)
        step = model.step(State(now, np.zeros_like(now)), 0.0, x, SCALE)
        step = dataclasses.replace(step, bodies=(thinner + part * way, thinner + end * way))
        phi = Potential(model, step, terms=(model.assembly.inertia, smooth, pushing))
        start = phi.reach(step.move_pins(now))
        if start is None:
            if size > SHORTEST:
                size /= 2
            elif pushing is thick:
                pushing = thin
            else:
                return now, pushing.blocked
            continue
        descent = Newton(ACCURACY * contact.gap)
        found = minimize(phi, phi.point(start), solver, descent, previous=prepared)
        now, part, prepared = np.array(kernel.numpy(found.x)), end, found.prepared
    return now, None


def _with_pinch(contact: Contact, pinch: str) -> Contact:
    """Return the contact that stops at pinched cloth, or makes it thinner."""
    settings = dataclasses.replace(contact.settings, pinch=pinch, prescribed="stop")
    return dataclasses.replace(contact, settings=settings)
