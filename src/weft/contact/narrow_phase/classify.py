"""The narrow phase: find the candidate pairs that are in contact, each once.

If the closest point of a pair is a vertex, all faces and edges around that vertex yield the same
pair. Such a pair is counted once, with its multiplicity as a weight of its stiffness.
"""

import warp as wp

from weft import kernel
from weft.contact.barrier.barrier import PARALLEL_PART, BarrierArray, BarrierParameters
from weft.contact.broad_phase.bvh import PAIR_WORK
from weft.contact.broad_phase.candidates import UNKNOWN, Candidates
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import (
    Closest,
    PairKind,
    Pairs,
    Separation,
    closest,
    combination,
    distance_loss,
    kind_of,
    mollifier,
    other_side,
    pair_thickness,
)
from weft.contact.narrow_phase.adjacent_pairs import own_gap
from weft.contact.narrow_phase.distance_bounds import (
    DisplacementBound,
    VertexMotion,
    mark_undecided,
)
from weft.kernel import (
    BitsArray,
    GrowingArray,
    IntArray,
    IntArray2d,
    LongArray,
    Scalar,
    ScalarArray,
    Vec3Array,
    WarpArray,
    corners,
    vec3,
    vec4,
)
from weft.kernel.bitmask import lowest_set_bit
from weft.kernel.granularity import bits_per_index

_module = wp.get_module("weft.narrow_phase")


@wp.func
def vertex_key(w: vec4, ids: wp.vec4i, n: int):
    """Return a key for a pair whose closest point on one side is a vertex.

    The key is the vertex and the edge on the other side, or the two vertices in order, as one
    number below n^3. All faces and edges around the nearest vertex yield the same key.
    """
    zero = Scalar(0.0)
    ones = int(0)
    for a in range(4):
        if w[a] > zero:
            ones += 1
    sign = Scalar(1.0)  # sign of the weights on the side whose closest point is a vertex
    if ones != 1:
        sign = -sign
    p = int(0)
    low = int(0)
    high = int(0)
    count = int(0)
    for a in range(4):
        s = sign * w[a]
        if s > zero:
            p = ids[a]
        if s < zero:
            if count == 0:
                low = ids[a]
            high = ids[a]
            count += 1
    if count == 1:
        first = wp.min(p, low)
        low = wp.max(p, low)
        high = low
        p = first
    elif low > high:
        swap = low
        low = high
        high = swap
    size = wp.int64(n)
    return (wp.int64(p) * size + wp.int64(low)) * size + wp.int64(high)


@wp.func
def vertices_of(i: int, stencil: IntArray2d):
    """Return the four vertices of pair i."""
    return wp.vec4i(stencil[i, 0], stencil[i, 1], stencil[i, 2], stencil[i, 3])


@wp.func
def parallel_threshold(ids: wp.vec4i, rest: Vec3Array):
    """Return the value of |e x f|^2 [m^4] below which two edges count as nearly parallel (Li et al.
    2020).
    """
    e = rest[ids[1]] - rest[ids[0]]
    f = rest[ids[3]] - rest[ids[2]]
    return PARALLEL_PART * wp.dot(e, e) * wp.dot(f, f)


@wp.kernel(module=_module)
def parallel_thresholds(o: int, rest: Vec3Array, stencil: IntArray2d, out: ScalarArray):
    """Write the threshold of the mollifier of every pair."""
    i = o + wp.tid()
    out[i] = parallel_threshold(vertices_of(i, stencil), rest)


@wp.func
def meets_whole(p: Closest, kind: int, a: vec3, b: vec3, c: vec3, d: vec3, limit: Scalar):
    """Return whether a pair in contact keeps its four vertices, and its mollifier threshold.

    It does if both closest points lie inside their primitives, and if its edges are nearly
    parallel, because the mollifier depends on all four vertices. The threshold is 0 for other
    pairs.
    """
    whole = p.free == 2
    threshold = Scalar(0.0)
    if kind == PairKind.EDGE_EDGE:
        m, _dm = mollifier(b - a, d - c, limit)
        if m < Scalar(1.0):
            whole = True
            threshold = limit
    return whole, threshold


@wp.struct
class ContactMarks:
    """The candidates that are in contact, as bits of one word for every ``width`` pairs."""

    whole: BitsArray  # (w,) contacts that keep their four vertices
    reduced: BitsArray  # (w,) contacts that reduce to fewer vertices
    n_whole: IntArray  # (w,) numbers of both
    n_reduced: IntArray
    key: LongArray  # (m,) of reduced pairs: twice ``vertex_key``, plus 1 for adjacent pairs
    parallel: ScalarArray  # (m,) [m^4] thresholds of the mollifier of whole pairs


@wp.kernel(module=_module)
def mark_contacts(
    o: int,
    x: Vec3Array,
    rest: Vec3Array,
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    width: int,
    marks: ContactMarks,
):
    """Mark the candidates that are in contact among ``width`` pairs.

    A pair is in contact if its distance is below its thickness plus its gap. Pairs whose bound says
    that they are apart are skipped; the bounds of the others are renewed.

    Each test runs over all pairs that the test before has left, because branches that nearly always
    have the same outcome are predicted well.
    """
    w = o + wp.tid()
    first = w * width
    count = wp.min(width, pairs.stencil.shape[0] - first)
    near = mark_undecided(pairs, separation, motion, first, count, 1, Scalar(0.0))
    stay = wp.uint32(0)
    reduce = wp.uint32(0)
    stays = int(0)
    reduces = int(0)
    while near != wp.uint32(0):
        k = lowest_set_bit(near)
        near = near & (near - wp.uint32(1))
        i = first + k
        kind = kind_of(i, pairs.points)
        own = own_gap(i, pairs, separation)
        reach = pair_thickness(kind, i, pairs.stencil, separation) + own
        a, b, c, d = corners(i, x, pairs.stencil)
        p = closest(kind, a, b, c, d)
        v = combination(p.w, a, b, c, d)
        pairs.bound[i] = wp.length(v) - distance_loss(kind, i, pairs.stencil, motion.origin, x)
        if wp.dot(v, v) < reach * reach:
            ids = vertices_of(i, pairs.stencil)
            four, threshold = meets_whole(p, kind, a, b, c, d, parallel_threshold(ids, rest))
            if four:
                stay = stay | (wp.uint32(1) << wp.uint32(k))
                stays += 1
                marks.parallel[i] = threshold
            else:
                reduce = reduce | (wp.uint32(1) << wp.uint32(k))
                reduces += 1
                pair = vertex_key(p.w, ids, x.shape[0])
                less = own < separation.gap
                marks.key[i] = wp.int64(2) * pair + wp.where(less, wp.int64(1), wp.int64(0))
    marks.whole[w] = stay
    marks.reduced[w] = reduce
    marks.n_whole[w] = stays
    marks.n_reduced[w] = reduces


@wp.kernel(module=_module)
def collect(
    o: int, marks: ContactMarks, place: IntArray, width: int, out: LongArray, candidate: IntArray
):
    """Write the keys of the reduced pairs one after the other, and the numbers of the candidates
    unless ``candidate`` is empty.
    """
    w = o + wp.tid()
    left = marks.reduced[w]
    at = place[w]
    while left != wp.uint32(0):
        i = w * width + lowest_set_bit(left)
        out[at] = marks.key[i]
        if candidate.shape[0] > 0:
            candidate[at] = i
        left = left & (left - wp.uint32(1))
        at += 1


@wp.kernel(module=_module)
def mark_first(o: int, key: LongArray, candidate: IntArray, first: IntArray):
    """Mark the first of equal keys in a sorted array; all, if ``candidate`` is not empty."""
    i = o + wp.tid()
    first[i] = 1
    if i > 0 and candidate.shape[0] == 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if key[i] == key[i - 1]:
            first[i] = 0


@wp.func
def barrier_of(kind: int, i: int, stencil: IntArray2d, adjacent: bool, s: Separation):
    """Return the barrier's parameters for pair i, without a mollifier.

    Pairs with a core have less stiffness (``cores.stiffness_part``).
    """
    t = BarrierParameters()
    t.kind = kind
    t.thickness = pair_thickness(kind, i, stencil, s)
    t.gap = s.gap
    t.stiffness = s.stiffness
    if adjacent:
        t.gap = s.adjacent_gap
        t.stiffness = s.adjacent_stiffness
    if s.core_part.shape[0] > 0:
        part = s.core_part[stencil[i, 0]] * s.core_part[other_side(kind, i, stencil)]
        t.stiffness = t.stiffness * part
    return t


@wp.kernel(module=_module)
def write_whole(
    o: int,
    pairs: Pairs,
    separation: Separation,
    marks: ContactMarks,
    place: IntArray,
    width: int,
    out: IntArray2d,
    barrier: BarrierArray,
):
    """Write the contacts that keep four vertices."""
    w = o + wp.tid()
    left = marks.whole[w]
    at = place[w]
    while left != wp.uint32(0):
        i = w * width + lowest_set_bit(left)
        left = left & (left - wp.uint32(1))
        for a in range(4):
            out[at, a] = pairs.stencil[i, a]
        adjacent = own_gap(i, pairs, separation) < separation.gap
        t = barrier_of(kind_of(i, pairs.points), i, pairs.stencil, adjacent, separation)
        t.parallel = marks.parallel[i]
        barrier[at] = t
        at += 1


@wp.kernel(module=_module)
def write_reduced(
    o: int,
    key: LongArray,
    candidate: IntArray,
    first: IntArray,
    place: IntArray,
    n_whole: int,
    n: int,
    pairs: Pairs,
    separation: Separation,
    out: IntArray2d,
    barrier: BarrierArray,
):
    """Write the reduced contacts as (p, a, b, p) or (p, a, p, p), with their stiffness multiplied
    by how often each key occurs; each one with the thickness of its candidate unless ``candidate``
    is empty.
    """
    i = o + wp.tid()
    if first[i] != 0:
        size = wp.int64(n)
        pair = key[i] / wp.int64(2)
        adjacent = key[i] - wp.int64(2) * pair != wp.int64(0)
        rest = pair / size
        high = int(pair - rest * size)
        p = int(rest / size)
        low = int(rest - (rest / size) * size)
        times = int(1)
        # The index is clamped, because kernels evaluate both sides of `and`.
        last = first.shape[0] - 1
        while i + times <= last and first[wp.min(i + times, last)] == 0:
            times += 1
        at = n_whole + place[i]
        kind = int(PairKind.POINT_EDGE)
        if low == high:
            kind = int(PairKind.POINT_POINT)
            high = p
        out[at, 0] = p
        out[at, 1] = low
        out[at, 2] = high
        out[at, 3] = p
        t = barrier_of(kind, at, out, adjacent, separation)
        t.stiffness = t.stiffness * Scalar(times)
        if candidate.shape[0] > 0:
            c = candidate[i]
            t.thickness = pair_thickness(kind_of(c, pairs.points), c, pairs.stencil, separation)
        barrier[at] = t


class NarrowPhase:
    """The narrow phase of a collision mesh, which reuses its memory from one search to the next.

    Args:
        mesh: the collision mesh.
    """

    def __init__(self, mesh: CollisionMesh) -> None:
        self.mesh = mesh
        self._integers = [GrowingArray(wp.int32) for _ in range(7)]
        self._bits = [GrowingArray(wp.uint32) for _ in range(2)]
        self._keys = [GrowingArray(wp.int64) for _ in range(2)]
        self._parallel = GrowingArray(Scalar)
        self._marks, self._size = ContactMarks(), (-1, -1)

    def contacts(
        self,
        x: WarpArray,
        candidates: Candidates,
        separation: Separation,
        since: DisplacementBound | None = None,
    ) -> ContactSet:
        """Return the candidate pairs in contact at x, with the parameters of their barrier.

        Args:
            x: (n,) vec3 [m] positions.
            candidates: pairs that may be in contact; the bounds of their distances are renewed.
            separation: their thickness, gap and stiffness (``CollisionMesh.separation``).
            since: displacements since the origin of the candidates' bounds, of a path that begins
                at x; None: the bounds are computed anew, for x.
        """
        if since is None:
            candidates.bound.fill_(UNKNOWN)
            since = DisplacementBound.at(x, x)
        m, width = len(candidates), bits_per_index()
        words = -(-m // width)
        pairs, marks, work = candidates.struct, self._marks_of(m, words), PAIR_WORK * width
        about = (x, self.mesh.device_rest, pairs, separation, since.motion, width, marks)
        kernel.launch(mark_contacts, words, *about, work=work)
        whole_at, reduced_at = (a.take(words) for a in self._integers[2:4])
        n_whole = kernel.scan(marks.n_whole, whole_at)
        n_reduced = kernel.scan(marks.n_reduced, reduced_at)
        # Sorting brings equal keys together; the sort needs as much memory again. Where thickness
        # varies within faces, pairs with the same vertices may keep different distances: each keeps
        # that of its candidate, so that the energy is continuous.
        mixed = self.mesh.has_mixed_thickness
        keys = self._keys[1].take(2 * n_reduced)
        candidate = self._integers[6].take(n_reduced if mixed else 0)
        found = (marks, reduced_at, width, keys, candidate)
        kernel.launch(collect, words if n_reduced else 0, *found, work=work)
        if not mixed:
            kernel.sort(keys, n_reduced)
        first, first_at = (a.take(n_reduced) for a in self._integers[4:6])
        kernel.launch(mark_first, n_reduced, keys, candidate, first)
        count = n_whole + kernel.scan(first, first_at)
        out = kernel.empty((count, 4), wp.int32), kernel.empty(count, BarrierParameters)
        whole = (pairs, separation, marks, whole_at, width, *out)
        kernel.launch(write_whole, words if n_whole else 0, *whole, work=work)
        size = n_whole, x.shape[0]
        reduced = (keys, candidate, first, first_at, *size, pairs, separation, *out)
        kernel.launch(write_reduced, n_reduced, *reduced)
        return ContactSet(out)

    def _marks_of(self, m: int, words: int) -> ContactMarks:
        """Return marks of m candidates, not initialized."""
        out = self._marks
        if self._size == (m, words):
            return out
        self._size = m, words
        out.whole, out.reduced = (a.take(words) for a in self._bits)
        out.n_whole, out.n_reduced = (a.take(words) for a in self._integers[:2])
        out.key, out.parallel = self._keys[0].take(m), self._parallel.take(m)
        return out


def contacts(
    mesh: CollisionMesh,
    x: WarpArray,
    candidates: Candidates,
    stiffness: float,
    gap: float,
) -> ContactSet:
    """Return the candidate pairs in contact at x, with the parameters of their barrier.

    Args:
        mesh: the collision mesh.
        x: (n,3) [m] positions, on host or device.
        candidates: pairs that may be in contact.
        stiffness: [J/m^4] of the barrier.
        gap: [m] distance beyond the thickness below which a pair is in contact.
    """
    separation = mesh.separation(candidates, gap, stiffness)
    return NarrowPhase(mesh).contacts(kernel.points(x), candidates, separation)
