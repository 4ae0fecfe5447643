"""The contact detector of one minimization: candidates, contacts, and how far a direction may be
gone.

Positions y are (n+b,) vec3 [m] on the device: the vertices that move, then those of bodies.
Candidates are found for a whole path at once; they serve every point of it, and later paths that
stay near.
"""

import warp as wp

from weft import kernel
from weft.base.timing import Phases
from weft.contact.broad_phase.bvh import PAIR_WORK
from weft.contact.broad_phase.candidate_search import CandidateCache, Trees, find_candidates
from weft.contact.broad_phase.candidates import Candidates, select_pairs
from weft.contact.ccd.conservative_advancement import FRACTION, mark_blocked, max_step_of
from weft.contact.ccd.planar_truncation import cut_ways, least_parts
from weft.contact.collision_mesh import CollisionMesh, Excluded
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import (
    Pairs,
    Separation,
    closest_at,
    kind_of,
    pair_thickness,
    separation,
)
from weft.contact.narrow_phase.adjacent_pairs import MARGIN, own_gap
from weft.contact.narrow_phase.classify import NarrowPhase
from weft.contact.narrow_phase.distance_bounds import (
    DisplacementBound,
    VertexMotion,
    mark_undecided,
)
from weft.kernel import BitsArray, IntArray, Scalar, Vec3Array, WarpArray, vec3
from weft.kernel.bitmask import lowest_set_bit
from weft.kernel.granularity import bits_per_index
from weft.solve.sparse.vectors import combine, equal

_module = wp.get_module("weft.contact_search")


@wp.kernel(module=_module)
def mark_near(
    o: int,
    x: Vec3Array,
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    width: int,
    bits: BitsArray,
    number: IntArray,
):
    """Mark and count the pairs nearer than the thickness and gap of ``separation``, among ``width``
    pairs.
    """
    w = o + wp.tid()
    first = w * width
    count = wp.min(width, pairs.stencil.shape[0] - first)
    left = mark_undecided(pairs, separation, motion, first, count, 1, Scalar(0.0))
    out = wp.uint32(0)
    while left != wp.uint32(0):
        k = lowest_set_bit(left)
        left = left & (left - wp.uint32(1))
        i = first + k
        kind = kind_of(i, pairs.points)
        _p, v = closest_at(kind, i, x, pairs.stencil)
        kept = pair_thickness(kind, i, pairs.stencil, separation)
        if wp.length(v) < own_gap(i, pairs, separation) + kept:
            out = out | (wp.uint32(1) << wp.uint32(k))
    bits[w] = out
    number[w] = wp.bit_count(out)


class ContactDetector:
    """The contact detector of a collision mesh, used for one minimization after another.

    Args:
        mesh: the surfaces that must not pass through one another.
        stiffness: [J/m^4] of the barrier.
        gap: [m] distance beyond the thickness below which pairs push each other.
        phases: counts the seconds of each phase.
    """

    def __init__(
        self,
        mesh: CollisionMesh,
        stiffness: float,
        gap: float,
        phases: Phases | None = None,
    ) -> None:
        self.mesh, self.stiffness, self.gap = mesh, stiffness, gap
        self.phases = Phases() if phases is None else phases
        self.thickness_part = 1.0  # part of the thickness that is kept
        self._trees, self.narrow = Trees(), NarrowPhase(mesh)
        closer = mesh.adjacency.closer(self.gap)
        self._candidates = CandidateCache(mesh, self.reach, closer)
        self._end, self._contact_vertices = (kernel.empty(len(mesh.rest), vec3) for _ in range(2))
        self._limit = kernel.empty(1)
        self._whole_core_part = mesh.core_stiffness(gap)  # with the whole thickness
        # What pairs keep without any thickness, (n,) [m]; one zero without cores.
        self._core_distance = kernel.zeros(1)
        if mesh.cores is not None:
            self._core_distance = kernel.array(mesh.sides.total_thickness(0.0), Scalar)
        self.begin(mesh.excluded_without_pins)

    def begin(self, excluded: Excluded, thickness_part: float = 1.0) -> None:
        """Begin a minimization without candidates.

        Args:
            excluded: pairs that are left out.
            thickness_part: part of the thickness that is kept.
        """
        self._excluded = excluded
        self._candidates.begin(excluded)
        self.set_thickness_scale(thickness_part)

    def set_thickness_scale(self, part: float) -> None:
        """Keep only this part of the thickness from now on."""
        self.thickness_part, self.thickness = part, self.mesh.device_thickness
        self._core_part = self._whole_core_part
        if part != 1.0:
            self._core_part = self.mesh.core_stiffness(self.gap, part)
            self.thickness = kernel.array(self.mesh.sides.total_thickness(part), Scalar)
        self._contacts: tuple[Candidates, ContactSet] | None = None
        self._separations: dict[tuple[float, float | None, float], Separation] = {}

    def set_stiffness(self, stiffness: float) -> None:
        """Set the stiffness [J/m^4] of the barrier."""
        if stiffness != self.stiffness:
            self.stiffness, self._contacts = stiffness, None

    @property
    def reach(self) -> float:
        """Return the largest distance [m] at which pairs push each other."""
        return self.gap + self.mesh.sides.thickest

    def _separation(
        self, gap: float, adjacent_gap: float | None = None, stiffness: float = 0.0
    ) -> Separation:
        """Return the present thickness with a gap [m]; arguments as for ``separation``."""
        key = (gap, adjacent_gap, stiffness)
        found = self._separations.get(key)
        if found is None:
            found = self._separations[key] = separation(self.thickness, *key, self._core_part)
        return found

    def near(self, y: WarpArray, reach: float) -> Candidates:
        """Return the candidates at y within ``reach`` [m], found by a separate search."""
        with self.phases("broad"):
            return find_candidates(self.mesh, y, reach, None, self._excluded, self._trees)

    def along(self, y: WarpArray, end: WarpArray) -> Candidates:
        """Return the candidates of the straight path from y to ``end``.

        Candidates of an earlier path are reused; only vertices that leave their boxes there by more
        than the margin search again.
        """
        with self.phases("broad"):
            return self._candidates.along(y, end)

    def max_step(self, y: WarpArray, dy: WarpArray) -> float:
        """Return the part of dy, in [0, 1], that may be gone before a pair comes closer than its
        thickness.
        """
        combine(y, 1.0, dy, self._end)
        candidates = self.along(y, self._end)
        with self.phases("ccd"):
            kept = self._separation(FRACTION * self.gap)
            return max_step_of(y, dy, candidates, kept, self._candidates.since, self._limit)

    def find_candidates_along(self, y: WarpArray, dy: WarpArray) -> None:
        """Find the candidates of a path for which ``max_step`` will be called later."""
        combine(y, 1.0, dy, self._end)
        self.along(y, self._end)

    def blocking_pairs(self, y: WarpArray, dy: WarpArray) -> Candidates:
        """Return the pairs that keep ``max_step`` from going all the way from y to y + dy."""
        combine(y, 1.0, dy, self._end)
        candidates = self.along(y, self._end)
        with self.phases("ccd"):
            kept = self._separation(FRACTION * self.gap)
            about = (y, dy, candidates.struct, kept, self._candidates.since.motion)
            return select_pairs(candidates, mark_blocked, *about, work=PAIR_WORK).compact_moved()

    def parts(self, y: WarpArray, dy: WarpArray, bound: WarpArray | None = None) -> WarpArray:
        """Return a part of dy for each vertex, such that no pair comes closer than its thickness,
        (n+b,).

        Args:
            y: (n+b,) vec3 [m] positions.
            dy: (n+b,) vec3 [m] displacements.
            bound: (n+b,) [m] how far each vertex may move in any direction, instead of along dy.
                Such paths may meet pairs that are not near the path of dy, so ``max_step`` has to
                follow. None: vertices move along dy.
        """
        combine(y, 1.0, dy, self._end)
        candidates = self.along(y, self._end)
        n, width = y.shape[0], bits_per_index()
        words = -(-len(candidates) // width)
        # On the CPU every thread takes one slice of the pairs and writes to a row of its own.
        rows = kernel.parts(words, PAIR_WORK * width)
        each = -(-words // rows) if kernel.is_cpu() else 1
        part, out = kernel.empty((rows, n)), kernel.empty(n)
        part.fill_(1.0)
        bound = kernel.empty(0) if bound is None else bound
        with self.phases("ccd"):
            kept, motion = self._separation(self.gap), self._candidates.since.motion
            about = (y, dy, bound, candidates.struct, kept, motion, width, each, part)
            kernel.launch(cut_ways, -(-words // max(each, 1)), *about, work=kernel.HEAVY)
            kernel.launch(least_parts, n, part, out)
        return out

    def contacts(self, y: WarpArray) -> ContactSet:
        """Return the pairs in contact at y; value, gradient and Hessian at the same y share one
        set.
        """
        if self._contacts is not None:
            of, found = self._contacts
            if of is self._candidates.found and equal(y, self._contact_vertices):
                return found
        candidates = self.along(y, y)
        with self.phases("narrow"):
            adjacent_gap = self.mesh.adjacency.gap_among(candidates, self.gap)
            kept = self._separation(self.gap, adjacent_gap, self.stiffness)
            found = self.narrow.contacts(y, candidates, kept, self._candidates.since)
        kernel.copy(y, self._contact_vertices)
        self._contacts = candidates, found
        return found

    def pattern_pairs(self, y: WarpArray, every: bool = False) -> WarpArray:
        """Return the pairs that may be in contact soon, (k,4) on the device.

        These are the pairs among the candidates within ``MARGIN`` times the reach, or with
        ``every`` all pairs that are so near, found by a separate search.
        """
        candidates, since = self.along(y, y), self._candidates.since
        if every:
            about = (self._excluded, self._trees, self._candidates.closer, True)
            candidates, since = (
                find_candidates(self.mesh, y, MARGIN * self.reach, None, *about),
                DisplacementBound.at(y, y),
            )
        less = self.mesh.adjacency.gap_among(candidates, self.gap)
        reaches = (MARGIN * (gap + self.mesh.sides.thickest) for gap in (self.gap, less))
        nearer = separation(self._core_distance, *reaches)
        pairs = (candidates.struct, nearer, since.motion)
        near = select_pairs(candidates, mark_near, y, *pairs, work=PAIR_WORK)
        return near.compact_moved().stencil
