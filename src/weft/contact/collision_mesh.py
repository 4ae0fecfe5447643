"""The triangles that must not pass through one another: of cloth and of bodies, and what they
belong to.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Faces, Ints, Positions
from weft.contact.broad_phase.aabb import Boxes, MovingPoints, Primitives
from weft.contact.broad_phase.bvh import BoundingVolumeHierarchy
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.broad_phase.tree_order import TreeOrder, pieces_of
from weft.contact.collision_groups import CollisionGroups, Marks
from weft.contact.narrow_phase.adjacent_pairs import Adjacency, AdjacentPairGap, height_of
from weft.discretization.mesh import edges_of
from weft.kernel import Scalar, WarpArray, vec3


@dataclass(frozen=True, eq=False)
class Excluded:
    """Which pairs are left out of a search: those of what is prescribed alone, and of sets that
    ignore each other. Bits (m,2) of faces, edges and vertices (``CollisionGroups.marks``); None: no
    pair. From edge ``free`` on all are prescribed: pairs of edges are found from the others.
    """

    faces: Marks
    edges: WarpArray | None = None
    points: WarpArray | None = None
    triangles: WarpArray | None = None
    free: int | None = None


@dataclass(eq=False)
class Trees:
    """Hierarchies over faces and edges, refitted from search to search."""

    faces: BoundingVolumeHierarchy | None = None
    edges: BoundingVolumeHierarchy | None = None


@dataclass(frozen=True, eq=False)
class CollisionMesh:
    """Triangles, and what they belong to."""

    faces: Faces  # (m,3)
    rest: Positions  # (n,3) at rest, for what counts as parallel
    given: CollisionGroups | None = field(
        default=None
    )  # None: one piece without thickness or friction
    gap: float = 0.0  # [m] from which on pairs push each other, at most; 0: all from the same

    @cached_property
    def edges(self) -> Ints:
        """(k,2) each once, lower id first."""
        return edges_of(self.faces)[0]

    @cached_property
    def vertices(self) -> Ints:
        """(v,1) ids of the vertices in faces."""
        return np.unique(self.faces).astype(np.int32)[:, None]

    @cached_property
    def sides(self) -> CollisionGroups:
        """Pieces and bodies."""
        return self.given or CollisionGroups.one(len(self.rest))

    @cached_property
    def device_rest(self) -> WarpArray:
        """(n,) vec3."""
        return kernel.array(np.asarray(self.rest, dtype=np.float64), vec3)

    @cached_property
    def device_thickness(self) -> WarpArray:
        """(n,) [m]."""
        return kernel.array(self.sides.thickness, Scalar)

    @cached_property
    def device_sewn(self) -> WarpArray | None:
        """(n,) which vertices count as one; None where nothing is sewn."""
        sewn = self.sides.sewn
        return None if sewn is None else kernel.array(np.asarray(sewn, np.int32), wp.int32)

    @cached_property
    def height(self) -> float:
        """[m] of the triangles of the cloth at rest; infinite where there are none."""
        return height_of(self.faces, self.rest, self._same, self.sides.first_body)

    @cached_property
    def adjacency(self) -> Adjacency:
        """Which vertices edges connect."""
        height = self.height if self.gap > 0 else np.inf
        return Adjacency.of(self.edges, self._same, height, self.gap, self.sides.thickest)

    @property
    def _same(self) -> Ints:
        """(n,) the same number for vertices that count as one."""
        sewn = self.sides.sewn
        return np.arange(len(self.rest), dtype=np.int32) if sewn is None else np.asarray(sewn)

    @cached_property
    def primitives(self) -> tuple[Primitives, Primitives, Primitives]:
        """Faces, edges and vertices, in the order in which they are searched."""
        pieces = pieces_of(self.faces, len(self.rest))

        def ordered(ids: Ints) -> Primitives:
            return Primitives.of(TreeOrder.of(self.rest[ids].mean(1), pieces[ids[:, 0]]), ids)

        return ordered(self.faces), ordered(self.edges), ordered(self.vertices)

    @cached_property
    def unheld(self) -> Excluded:
        """What is left out where no vertex of the cloth is prescribed."""
        return self.excluded(np.zeros(0, dtype=bool))

    def excluded(self, fixed: Bools) -> Excluded:
        """What is left out where vertices ``fixed`` (n,) of the cloth are prescribed, as those of
        bodies are.
        """
        held = np.ones(len(self.rest), dtype=bool)
        held[: self.sides.first_body] = False
        held[: len(fixed)] |= fixed
        orders = [p.layout.order for p in self.primitives]
        marks = [self.sides.marks(ids, held) for ids in (self.faces, self.edges, self.vertices)]
        devices = [
            kernel.array(np.ascontiguousarray(m[order]), wp.uint32) if m.any() else None
            for m, order in zip(marks, orders, strict=True)
        ]
        free = np.flatnonzero(~held[self.edges[orders[1]]].all(1))
        return Excluded(marks[0], devices[1], devices[2], devices[0], int(free.max(initial=-1)) + 1)

    def candidates(
        self,
        x: Positions | WarpArray | MovingPoints,
        reach: float,
        end: Positions | WarpArray | None = None,
        excluded: Excluded | None = None,
        trees: Trees | None = None,
        closer: AdjacentPairGap | None = None,
        lines: bool = False,
    ) -> Candidates:
        """Pairs whose boxes are no more than ``reach`` [m] apart at x, or at some time of a way to
        ``end``, on which all move at once.

        Pairs that share a vertex, or have two that are sewn together, or are not to meet, are left
        out; those that edges connect have to be ``closer``, where that is given. With ``lines``, so
        are pairs whose boxes are near, but which stay apart along a line through their middles.
        """
        out, trees = excluded or self.unheld, trees or Trees()
        faces, edges, vertices = self.primitives
        places = x if isinstance(x, MovingPoints) else MovingPoints.of(x, end)

        def boxes(inside: Primitives, marks: WarpArray | None) -> Boxes:
            return Boxes.of(places, inside, reach / 2, marks, self.device_sewn, lines)

        trees.faces = _updated(trees.faces, boxes(faces, out.triangles))
        trees.edges = _updated(trees.edges, boxes(edges, out.edges))
        how = (closer, reach if lines else 0.0)
        points = trees.faces.stencils(boxes(vertices, out.points), None, *how)
        pairs = trees.edges.stencils(None, out.free, *how)
        stencil = kernel.empty((len(points) + len(pairs), 4), wp.int32)
        points.write(stencil, 0)
        pairs.write(stencil, len(points))
        return Candidates(stencil, len(points))


def _updated(tree: BoundingVolumeHierarchy | None, boxes: Boxes) -> BoundingVolumeHierarchy:
    if tree is None:
        return BoundingVolumeHierarchy(boxes)
    tree.update(boxes)
    return tree
