"""The narrow phase: find the candidate pairs that are in contact, each once.

If the closest point of a pair is a vertex, all faces and edges around that vertex yield the same
pair. Such a pair is counted once, with its multiplicity as a weight of its stiffness.
"""

import warp as wp

from weft import kernel
from weft.contact.barrier.barrier import PARALLEL_PART, BarrierParameters
from weft.contact.broad_phase.bvh import WORTH_SLICING
from weft.contact.broad_phase.candidates import UNKNOWN, Candidates, kind_of
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import (
    Closest,
    PairKind,
    approached,
    closest,
    combination,
    mollifier,
    pair_thickness,
    vec4,
)
from weft.contact.narrow_phase.adjacent_pairs import own_gap
from weft.contact.narrow_phase.distance_bounds import DisplacementBound, undecided
from weft.kernel import (
    BitsArray,
    ByteArray,
    GrowingArray,
    IntArray,
    IntArray2d,
    LongArray,
    Scalar,
    ScalarArray,
    Vec3Array,
    Vec4fArray,
    WarpArray,
    corners,
    vec3,
)
from weft.kernel.bitmask import bits_per_thread, lowest_set_bit

_module = wp.get_module("weft.narrow_phase")


@wp.func
def reduced(w: vec4, ids: wp.vec4i, n: int):
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
def parallel_threshold(ids: wp.vec4i, rest: Vec3Array):
    """Return the value of |e x f|^2 [m^4] below which two edges count as nearly parallel (Li et al.
    2020).
    """
    e = rest[ids[1]] - rest[ids[0]]
    f = rest[ids[3]] - rest[ids[2]]
    return PARALLEL_PART * wp.dot(e, e) * wp.dot(f, f)


@wp.func
def met_whole(p: Closest, kind: int, a: vec3, b: vec3, c: vec3, d: vec3, limit: Scalar):
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


@wp.kernel(module=_module)
def classify(
    o: int,
    x: Vec3Array,
    rest: Vec3Array,
    stencil: IntArray2d,
    points: int,
    thickness: ScalarArray,
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    adjacent: ByteArray,
    origin: Vec3Array,
    place: Vec4fArray,
    away: ScalarArray,
    shift: Vec4fArray,
    way: Vec4fArray,
    bound: ScalarArray,
    width: int,
    whole: BitsArray,
    fewer: BitsArray,
    n_whole: IntArray,
    n_fewer: IntArray,
    key: LongArray,
    parallel: ScalarArray,
):
    """Mark the candidates that are in contact among ``width`` pairs.

    A pair is in contact if its distance is below its thickness plus ``gap`` (``less`` for adjacent
    pairs). Bits in ``whole`` mark contacts that keep four vertices, bits in ``fewer`` those that
    reduce to fewer vertices and get a ``key``. Pairs whose bound says that they are apart are
    skipped; the bounds of the others are renewed.

    Each test runs over all pairs that the test before has left, because branches that nearly always
    have the same outcome are predicted well.
    """
    w = o + wp.tid()
    first = w * width
    count = wp.min(width, stencil.shape[0] - first)
    near = undecided(
        stencil,
        points,
        first,
        count,
        1,
        thickness,
        scale,
        gap,
        less,
        adjacent,
        place,
        away,
        shift,
        way,
        Scalar(0.0),
        bound,
    )
    stay = wp.uint32(0)
    reduce = wp.uint32(0)
    stays = int(0)
    reduces = int(0)
    while near != wp.uint32(0):
        k = lowest_set_bit(near)
        near = near & (near - wp.uint32(1))
        i = first + k
        kind = kind_of(i, points)
        own = own_gap(i, adjacent, gap, less)
        reach = pair_thickness(kind, i, stencil, thickness, scale) + own
        a, b, c, d = corners(i, x, stencil)
        p = closest(kind, a, b, c, d)
        v = combination(p.w, a, b, c, d)
        bound[i] = wp.length(v) - approached(kind, i, stencil, origin, x)
        if wp.dot(v, v) < reach * reach:
            ids = wp.vec4i(stencil[i, 0], stencil[i, 1], stencil[i, 2], stencil[i, 3])
            four, threshold = met_whole(p, kind, a, b, c, d, parallel_threshold(ids, rest))
            if four:
                stay = stay | (wp.uint32(1) << wp.uint32(k))
                stays += 1
                parallel[i] = threshold
            else:
                reduce = reduce | (wp.uint32(1) << wp.uint32(k))
                reduces += 1
                pair = reduced(p.w, ids, x.shape[0])
                key[i] = wp.int64(2) * pair + wp.where(own < gap, wp.int64(1), wp.int64(0))
    whole[w] = stay
    fewer[w] = reduce
    n_whole[w] = stays
    n_fewer[w] = reduces


@wp.kernel(module=_module)
def collect(o: int, key: LongArray, fewer: BitsArray, place: IntArray, width: int, out: LongArray):
    """Write the keys of the reduced pairs one after the other."""
    w = o + wp.tid()
    left = fewer[w]
    at = place[w]
    while left != wp.uint32(0):
        out[at] = key[w * width + lowest_set_bit(left)]
        left = left & (left - wp.uint32(1))
        at += 1


@wp.kernel(module=_module)
def mark_first(o: int, key: LongArray, first: IntArray):
    """Mark the first of equal keys in a sorted array."""
    i = o + wp.tid()
    first[i] = 1
    if i > 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if key[i] == key[i - 1]:
            first[i] = 0


@wp.func
def touching(
    kind: int,
    i: int,
    stencil: IntArray2d,
    thickness: ScalarArray,
    scale: Scalar,
    gap: Scalar,
    stiffness: Scalar,
):
    """Return the parameters of pair i with the given gap and stiffness."""
    t = BarrierParameters()
    t.kind = kind
    t.stiffness = stiffness
    t.thickness = pair_thickness(kind, i, stencil, thickness, scale)
    t.gap = gap
    return t


@wp.kernel(module=_module)
def write_whole(
    o: int,
    stencil: IntArray2d,
    points: int,
    whole: BitsArray,
    place: IntArray,
    width: int,
    parallel: ScalarArray,
    adjacent: ByteArray,
    thickness: ScalarArray,
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    stiffness: Scalar,
    firmer: Scalar,
    out: IntArray2d,
    touch: wp.array(dtype=BarrierParameters),
):
    """Write the contacts that keep four vertices; ``firmer`` is the stiffness of adjacent pairs,
    whose gap is ``less``.
    """
    w = o + wp.tid()
    left = whole[w]
    at = place[w]
    while left != wp.uint32(0):
        i = w * width + lowest_set_bit(left)
        left = left & (left - wp.uint32(1))
        for a in range(4):
            out[at, a] = stencil[i, a]
        own = own_gap(i, adjacent, gap, less)
        k = wp.where(own < gap, firmer, stiffness)
        t = touching(kind_of(i, points), i, stencil, thickness, scale, own, k)
        t.parallel = parallel[i]
        touch[at] = t
        at += 1


@wp.kernel(module=_module)
def write_reduced(
    o: int,
    key: LongArray,
    first: IntArray,
    place: IntArray,
    begin: int,
    n: int,
    thickness: ScalarArray,
    scale: Scalar,
    gap: Scalar,
    less: Scalar,
    stiffness: Scalar,
    firmer: Scalar,
    out: IntArray2d,
    touch: wp.array(dtype=BarrierParameters),
):
    """Write the reduced contacts as (p, a, b, p) or (p, a, p, p), with their stiffness multiplied
    by how often each key occurs.
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
        while i + times < first.shape[0] and first[wp.min(i + times, first.shape[0] - 1)] == 0:
            times += 1
        at = begin + place[i]
        kind = int(PairKind.POINT_EDGE)
        if low == high:
            kind = int(PairKind.POINT_POINT)
            high = p
        out[at, 0] = p
        out[at, 1] = low
        out[at, 2] = high
        out[at, 3] = p
        own = wp.where(adjacent, less, gap)
        k = wp.where(adjacent, firmer, stiffness) * Scalar(times)
        touch[at] = touching(kind, at, out, thickness, scale, own, k)


class NarrowPhase:
    """The narrow phase of a collision mesh, which reuses its memory from one search to the next.

    Args:
        mesh: the collision mesh.
    """

    def __init__(self, mesh: CollisionMesh) -> None:
        self.mesh = mesh
        self._flags = [GrowingArray(wp.int32) for _ in range(6)]
        self._bits = [GrowingArray(wp.uint32) for _ in range(2)]
        self._parallel, self._keys = (
            GrowingArray(Scalar),
            [GrowingArray(wp.int64) for _ in range(2)],
        )

    def contacts(
        self,
        x: WarpArray,
        candidates: Candidates,
        stiffness: float,
        gap: float,
        scale: float = 1.0,
        since: DisplacementBound | None = None,
        thickness: WarpArray | None = None,
    ) -> ContactSet:
        """Return the candidate pairs in contact at x, with the parameters of their barrier.

        Args:
            x: (n,) vec3 [m] positions.
            candidates: pairs that may be in contact; the bounds of their distances are renewed.
            stiffness: [J/m^4] of the barrier.
            gap: [m] distance beyond the thickness below which a pair is in contact.
            scale: part of the thickness that is kept.
            since: displacements since the origin of the candidates' bounds, of a path that begins
                at x; None: the bounds are computed anew, for x.
            thickness: (n,) [m] of the vertices; None: that of the mesh.
        """
        m, n, mesh, width = len(candidates), x.shape[0], self.mesh, bits_per_thread()
        words = -(-m // width)
        n_whole, n_fewer, whole_at, fewer_at = (f.take(words) for f in self._flags[:4])
        whole, fewer = (f.take(words) for f in self._bits)
        parallel, key = self._parallel.take(m), self._keys[0].take(m)
        own = mesh.device_thickness if thickness is None else thickness
        less, adjacent = mesh.adjacency.among(candidates, gap)
        kept = (own, Scalar(scale), Scalar(gap), Scalar(less))
        found = (width, whole, fewer, n_whole, n_fewer, key, parallel)
        pairs = candidates.device_stencil, candidates.points
        if since is None:
            candidates.bound.fill_(UNKNOWN)
            since = DisplacementBound.at(x, x)
        nowhere = kernel.empty(0, wp.vec4f)
        known = (since.origin, since.place, since.away, since.shift, nowhere, candidates.bound)
        once = (x, mesh.device_rest, *pairs, *kept, adjacent, *known, *found)
        above = WORTH_SLICING // width
        kernel.launch(classify, words, *once, slice_above=above)
        wholes, fewers = kernel.scan(n_whole, whole_at), kernel.scan(n_fewer, fewer_at)
        # Sorting brings equal keys together; the sort needs as much memory again.
        sorted_ = self._keys[1].take(2 * fewers)
        kernel.launch(collect, words, key, fewer, fewer_at, width, sorted_, slice_above=above)
        kernel.sort(sorted_, fewers)
        first, first_at = (f.take(fewers) for f in self._flags[4:])
        kernel.launch(mark_first, fewers, sorted_, first)
        count = wholes + kernel.scan(first, first_at)
        stencil, touch = kernel.empty((count, 4), wp.int32), kernel.empty(count, BarrierParameters)
        # The force at half the gap grows as k gap^3: adjacent pairs hold the same load at half of
        # theirs.
        firmer = stiffness * (gap / less) ** 3
        out = (*kept, Scalar(stiffness), Scalar(firmer), stencil, touch)
        put = (*pairs, whole, whole_at, width, parallel, adjacent, *out)
        kernel.launch(write_whole, words, *put, slice_above=above)
        kernel.launch(write_reduced, fewers, sorted_, first, first_at, wholes, n, *out)
        return ContactSet(stencil, touch)


def contacts(
    mesh: CollisionMesh,
    x: WarpArray,
    candidates: Candidates,
    stiffness: float,
    gap: float,
    scale: float = 1.0,
    thickness: WarpArray | None = None,
) -> ContactSet:
    """Return the candidate pairs in contact at x (n,3) [m], on host or device; arguments as for
    ``NarrowPhase.contacts``.
    """
    return NarrowPhase(mesh).contacts(
        kernel.points(x), candidates, stiffness, gap, scale, thickness=thickness
    )
