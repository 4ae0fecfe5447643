"""The collision mesh: the triangles of cloth and bodies that must not pass through one another."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Faces, Ints, Positions
from weft.contact.broad_phase.aabb import Primitives
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.broad_phase.joined import JoinedVertices
from weft.contact.broad_phase.tree_order import TreeOrder, pieces_of
from weft.contact.collision_groups import CollisionGroups, Marks
from weft.contact.cores import Cores, stiffness_part
from weft.contact.distance.distance import Separation, separation
from weft.contact.narrow_phase.adjacent_pairs import Adjacency, height_of
from weft.discretization.mesh import unique_edges
from weft.kernel import Scalar, WarpArray, vec3


@dataclass(frozen=True, eq=False)
class Excluded:
    """Pairs that are left out of a search.

    These are pairs of prescribed primitives only, and pairs of groups that ignore each other, given
    by group bits (m,2) of faces, edges and vertices (``CollisionGroups.marks``). None: no pair is
    left out.
    """

    faces: Marks  # (m,2) in the order of the mesh, on the host
    edges: WarpArray | None = None  # in the orders of the trees, on the device
    points: WarpArray | None = None
    triangles: WarpArray | None = None
    # Edges from this place on are all prescribed, so that pairs of edges are found from the others.
    free: int | None = None


@dataclass(frozen=True, eq=False)
class CollisionMesh:
    """Triangles of cloth and bodies, with their collision groups."""

    faces: Faces  # (m,3)
    rest: Positions  # (n,3) [m] at rest, for the threshold of parallel edges
    given: CollisionGroups | None = field(
        default=None
    )  # None: one piece without thickness or friction
    gap: float = 0.0  # [m] largest gap at any time; 0: adjacent pairs have no gap of their own
    only: Bools | None = None  # (n,) vertices whose primitives take part; None: all

    def restricted(self, only: Bools) -> "CollisionMesh":
        """Return the mesh of the primitives whose vertices are all among ``only`` (n,)."""
        return replace(self, only=only)

    @cached_property
    def searched_faces(self) -> Faces:
        """Return the faces of the search, (k,3): vertices and edges of cores take the place of the
        faces of balls and capsules.
        """
        if self.cores is None:
            return self._taking_part(self.faces)
        return self.faces[~self.cores.surface[self.faces[:, 0]]]

    @property
    def cores(self) -> Cores | None:
        """Return the cores of the search; a restricted mesh has none."""
        return self.sides.cores if self.only is None else None

    @cached_property
    def core_radius(self) -> WarpArray | None:
        """Return the radius of the cores on the device, (n,) [m]; None: there are no cores."""
        return None if self.cores is None else kernel.array(self.cores.radius, Scalar)

    def core_stiffness(self, gap: float, part: float = 1.0) -> WarpArray | None:
        """Return ``cores.stiffness_part`` on the device, (n,); None: there are no cores.

        Args:
            gap: [m] beyond the thickness.
            part: part of the thickness that is kept.
        """
        if self.cores is None:
            return None
        thickness = part * self.sides.thickness
        return kernel.array(stiffness_part(gap, thickness, self.cores.radius), Scalar)

    @cached_property
    def edges(self) -> Ints:
        """Return the edges of the search, (k,2), each once, with the lower vertex first."""
        if self.cores is None:
            return self._taking_part(unique_edges(self.faces)[0])
        return np.concatenate([unique_edges(self.searched_faces)[0], self.cores.segments])

    @cached_property
    def vertices(self) -> Ints:
        """Return the vertices of the search, (v,1)."""
        if self.cores is None:
            return self._taking_part(np.unique(self.faces).astype(np.int32)[:, None])
        own = np.unique(self.searched_faces).astype(np.int32)
        return np.concatenate([own, self.cores.points])[:, None]

    def _taking_part(self, ids: Ints) -> Ints:
        """Return those primitives (m,k) that take part in the search."""
        return ids if self.only is None else ids[self.only[ids].all(1)]

    @cached_property
    def _primitive_ids(self) -> tuple[Ints, Ints, Ints]:
        """The vertices of the faces, edges and vertices that take part in the search."""
        return self.searched_faces, self.edges, self.vertices

    @cached_property
    def sides(self) -> CollisionGroups:
        """Return the collision groups."""
        return self.given or CollisionGroups.one(len(self.rest))

    @cached_property
    def device_rest(self) -> WarpArray:
        """Return the rest positions on the device, (n,) vec3 [m]."""
        return kernel.array(np.asarray(self.rest, dtype=np.float64), vec3)

    @cached_property
    def device_thickness(self) -> WarpArray:
        """Return the distances of which pairs keep the mean, on the device, (n,) [m]."""
        return kernel.array(self.sides.total_thickness(), Scalar)

    @cached_property
    def has_mixed_thickness(self) -> bool:
        """Return whether a face has vertices of different thickness."""
        T = self.sides.thickness[self.faces]
        return bool((T.min(1, initial=np.inf) < T.max(1, initial=0.0)).any())

    @cached_property
    def joined(self) -> JoinedVertices:
        """Return the vertices that are sewn together or tied."""
        return JoinedVertices(len(self.rest), self.sides.sewn, self.sides.ties)

    @cached_property
    def height(self) -> float:
        """Return the height [m] of the cloth's triangles at rest; infinite without triangles."""
        return height_of(self.faces, self.rest, self.joined.numbers, self.sides.first_body)

    @cached_property
    def adjacency(self) -> Adjacency:
        """Return the adjacency of vertices, from which adjacent pairs get their own gap."""
        height = self.height if self.gap > 0 else np.inf
        return Adjacency.of(self.edges, self.joined, height, self.gap, self.sides.thickest)

    @cached_property
    def primitives(self) -> tuple[Primitives, Primitives, Primitives]:
        """Return the faces, edges and vertices, each in the order of its tree."""
        pieces = pieces_of(self.faces, len(self.rest))

        def sort_primitives(ids: Ints) -> Primitives:
            return Primitives.of(TreeOrder.of(self.rest[ids].mean(1), pieces[ids[:, 0]]), ids)

        faces, edges, vertices = self._primitive_ids
        return sort_primitives(faces), sort_primitives(edges), sort_primitives(vertices)

    @cached_property
    def excluded_without_pins(self) -> Excluded:
        """Return the excluded pairs if no vertex of the cloth is prescribed."""
        return self.excluded(np.zeros(0, dtype=bool))

    def excluded(self, fixed: Bools, released: Ints | None = None) -> Excluded:
        """Return the excluded pairs.

        Args:
            fixed: (n,) vertices of the cloth that are prescribed, as those of bodies are.
            released: (n+b,) levels of released vertices; None: none are.
        """
        held = np.ones(len(self.rest), dtype=bool)
        held[: self.sides.first_body] = False
        held[: len(fixed)] |= fixed
        orders = [p.layout.order for p in self.primitives]
        marks = [self.sides.marks(ids, held, released) for ids in self._primitive_ids]
        devices = [
            kernel.array(np.ascontiguousarray(m[order]), wp.uint32) if m.any() else None
            for m, order in zip(marks, orders, strict=True)
        ]
        moving = np.flatnonzero(~held[self.edges[orders[1]]].all(1))
        free = int(moving.max(initial=-1)) + 1
        faces = marks[0]
        if self.cores is not None:
            faces = self.sides.marks(self.faces, held, released)
        return Excluded(faces, devices[1], devices[2], devices[0], free)

    def separation(self, candidates: Candidates, gap: float, stiffness: float) -> Separation:
        """Return the thickness, gap and stiffness of candidate pairs, of which adjacent ones are
        marked if they have a smaller gap.

        Args:
            candidates: the pairs.
            gap: [m] beyond the thickness.
            stiffness: [J/m^4] of the barrier.
        """
        adjacent_gap = self.adjacency.gap_among(candidates, gap)
        core_part = self.core_stiffness(gap)
        return separation(self.device_thickness, gap, adjacent_gap, stiffness, core_part)
