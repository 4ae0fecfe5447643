"""The searches for pairs in which all worlds of a group take part at once.

Trees of the worlds stand side by side, and the boxes of a world search in its own trees alone, in
the order in which they search in a world that is alone: no pair joins two worlds, and each world
gets its candidates in its own order.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence

import numpy as np

from weft import kernel
from weft.base.arrays import Ints
from weft.contact.broad_phase.aabb import MovingPoints
from weft.contact.broad_phase.candidate_search import Trees, find_candidates
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.collision_mesh import MeshesSideBySide
from weft.contact.contact_energy import ContactEnergy
from weft.contact.exact.intersection_check import IntersectionCheck
from weft.contact.narrow_phase.adjacent_pairs import AdjacentPairGap
from weft.energies.step import Step
from weft.kernel import WarpArray, vec3


class GroupContact:
    """Contact of all worlds of a group: the candidates with which a step begins, and the check for
    intersections at its end.

    Worlds with another gap or thickness, and those without friction, search one by one; all do so
    on devices other than the CPU.

    Args:
        terms: of the worlds.
    """

    def __init__(self, terms: Sequence[ContactEnergy]) -> None:
        self.terms = tuple(terms)
        self.meshes = MeshesSideBySide([t.contact.mesh for t in terms])
        self._ends: list[int] = np.cumsum([len(t.contact.mesh.rest) for t in terms]).tolist()
        self._y, *self._boxes = (kernel.zeros(self._ends[-1], vec3) for _ in range(4))
        for term, a, b in zip(terms, [0, *self._ends], self._ends):
            term.y = self._y[a:b]
            term.search.nearby.lie_in(*(box[a:b] for box in self._boxes))
        caches = [t.search.nearby for t in terms]
        ranges = {(c.margin, c.closer and c.closer.by) for c in caches}
        self._alike = kernel.is_cpu() and len(ranges) == 1
        self._margin, closer = caches[0].margin, caches[0].closer
        self._closer = closer and AdjacentPairGap(self.meshes.adjacency, closer.by)
        self._trees, self._check = Trees(), IntersectionCheck(self.meshes)

    def begin(self, steps: Sequence[Step]) -> None:
        """Begin a step of every world, with the candidates of the path that is tried first."""
        for term, step in zip(self.terms, steps):
            term.begin(step)
        if not (self._alike and all(t.rubs for t in self.terms)):
            return
        moves = [t.search.prepare(*t.first_path) for t in self.terms]
        low, high, way = self._boxes
        places = MovingPoints(low, high, way if any(moves) else None)
        excluded = self.meshes.excluded([t.excluded for t in self.terms])
        about = (self._margin, None, excluded, self._trees, self._closer, True)
        self._divide(find_candidates(self.meshes, places, *about))

    def _divide(self, found: Candidates) -> None:
        """Give each world its own candidates, whose vertices are numbered as in the world."""
        pairs, p = found.pairs, found.points
        points, edges = (self._borders(part[:, 0]) for part in (pairs[:p], pairs[p:]))
        for term, first, a, b, c, d in zip(
            self.terms, [0, *self._ends], points, points[1:], edges, edges[1:]
        ):
            own = kernel.empty((b - a + d - c, 4), found.stencil.dtype)
            to = kernel.numpy(own)
            np.subtract(pairs[a:b], np.int32(first), out=to[: b - a])
            np.subtract(pairs[p + c : p + d], np.int32(first), out=to[b - a :])
            term.search.nearby.take(Candidates(own, b - a))

    def _borders(self, vertex: Ints) -> list[int]:
        """Return where the pairs of each world begin, and where the last ones end, from a vertex
        of each pair; pairs stand world by world.
        """
        rows = range(len(vertex))
        return [0, *(bisect_left(rows, end, key=vertex.__getitem__) for end in self._ends)]

    def check(self, ends: Mapping[int, WarpArray]) -> None:
        """Look for intersections at the ends (n,) vec3 of the steps of some worlds, by index; where
        there are any, each world looks for its own.
        """
        for w, x in ends.items():
            self.terms[w].put(x)
        excluded = self.meshes.excluded([t.excluded for t in self.terms])
        if len(self._check.pairs(self._y, excluded)) == 0:
            for w in ends:
                self.terms[w].know_apart()
