"""The narrow phase: which candidates are in contact, each pair once.

A pair whose closest point is at a vertex is the same for all faces and edges around that vertex; it
is counted once, with their number as its weight.
"""

import warp as wp

from weft import kernel
from weft.contact.barrier import PARALLEL_PART, Touch
from weft.contact.broad_phase import WORTH_SLICING
from weft.contact.candidates import UNKNOWN, Candidates
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.contact_set import ContactSet
from weft.contact.distance import (
    PairKind,
    approached,
    closest,
    combination,
    kept_distance,
    mollifier,
    moved_apart,
    separation,
    vec4,
)
from weft.kernel import Grown, Scalar, WarpArray, corners, vec3

_module = wp.get_module("weft.narrow_phase")


@wp.func
def reduced(w: vec4, ids: wp.vec4i, n: int):
    """A pair whose closest points are at a vertex, as one number: vertex and edge, or two vertices
    in order. All faces around a vertex that is nearest have the same one.
    """
    zero = Scalar(0.0)
    ones = int(0)
    for a in range(4):
        if w[a] > zero:
            ones += 1
    sign = Scalar(1.0)  # of the weights on the side that is a vertex
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
def parallel_threshold(ids: wp.vec4i, rest: wp.array(dtype=vec3)):
    """[m^4] C below which edges count as nearly parallel (Li et al. 2020)."""
    e = rest[ids[1]] - rest[ids[0]]
    f = rest[ids[3]] - rest[ids[2]]
    return PARALLEL_PART * wp.dot(e, e) * wp.dot(f, f)


@wp.kernel(module=_module)
def classify(
    o: int,
    x: wp.array(dtype=vec3),
    rest: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    kind: wp.array(dtype=wp.int32),
    thickness: wp.array(dtype=Scalar),
    scale: Scalar,
    gap: Scalar,
    origin: wp.array(dtype=vec3),
    away: wp.array(dtype=Scalar),
    bound: wp.array(dtype=Scalar),
    whole: wp.array(dtype=wp.int32),
    fewer: wp.array(dtype=wp.int32),
    key: wp.array(dtype=wp.int64),
    parallel: wp.array(dtype=Scalar),
):
    """Which candidates are closer than their thickness and ``gap``, and which of these reduce to
    fewer vertices. Those that are known to be farther are not looked at; of the others the bound
    of the distance is renewed.

    Edges that the mollifier acts on stay whole, as it depends on all four vertices.
    """
    i = o + wp.tid()
    whole[i] = 0
    fewer[i] = 0
    reach = kept_distance(kind[i], i, stencil, thickness, scale) + gap
    moved = Scalar(0.0)
    if origin.shape[0] > 0:
        if bound[i] - moved_apart(kind[i], i, stencil, away) > reach:
            return
        moved = approached(kind[i], i, stencil, origin, x)
    if bound[i] - moved > reach:
        return
    a, b, c, d = corners(i, x, stencil)
    apart = separation(kind[i], a, b, c, d)
    if apart > reach:
        bound[i] = wp.max(bound[i], apart - moved)
        return
    ids = wp.vec4i(stencil[i, 0], stencil[i, 1], stencil[i, 2], stencil[i, 3])
    p = closest(kind[i], a, b, c, d)
    v = combination(p.w, a, b, c, d)
    bound[i] = wp.length(v) - moved
    if wp.dot(v, v) < reach * reach:
        stays = int(0)
        threshold = Scalar(0.0)
        if p.free == 2:
            stays = 1
        if kind[i] == PairKind.EDGE_EDGE:
            limit = parallel_threshold(ids, rest)
            m, _dm = mollifier(b - a, d - c, limit)
            if m < Scalar(1.0):
                stays = 1
                threshold = limit
        whole[i] = stays
        fewer[i] = 1 - stays
        parallel[i] = threshold
        if stays == 0:
            key[i] = reduced(p.w, ids, x.shape[0])


@wp.kernel(module=_module)
def collect(
    o: int,
    key: wp.array(dtype=wp.int64),
    fewer: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    out: wp.array(dtype=wp.int64),
):
    """Keys of reduced pairs, one after the other."""
    i = o + wp.tid()
    if fewer[i] != 0:
        out[place[i]] = key[i]


@wp.kernel(module=_module)
def mark_first(o: int, key: wp.array(dtype=wp.int64), first: wp.array(dtype=wp.int32)):
    """1 at the first of equal keys."""
    i = o + wp.tid()
    first[i] = 1
    if i > 0:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if key[i] == key[i - 1]:
            first[i] = 0


@wp.func
def touching(
    kind: int,
    i: int,
    stencil: wp.array2d(dtype=wp.int32),
    thickness: wp.array(dtype=Scalar),
    scale: Scalar,
    gap: Scalar,
    stiffness: Scalar,
):
    """Parameters of pair i."""
    t = Touch()
    t.kind = kind
    t.stiffness = stiffness
    t.thickness = kept_distance(kind, i, stencil, thickness, scale)
    t.gap = gap
    return t


@wp.kernel(module=_module)
def write_whole(
    o: int,
    stencil: wp.array2d(dtype=wp.int32),
    kind: wp.array(dtype=wp.int32),
    whole: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    parallel: wp.array(dtype=Scalar),
    thickness: wp.array(dtype=Scalar),
    scale: Scalar,
    gap: Scalar,
    stiffness: Scalar,
    out: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
):
    """Pairs that keep their four vertices."""
    i = o + wp.tid()
    if whole[i] != 0:
        at = place[i]
        for a in range(4):
            out[at, a] = stencil[i, a]
        t = touching(kind[i], i, stencil, thickness, scale, gap, stiffness)
        t.parallel = parallel[i]
        touch[at] = t


@wp.kernel(module=_module)
def write_reduced(
    o: int,
    key: wp.array(dtype=wp.int64),
    first: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    begin: int,
    n: int,
    thickness: wp.array(dtype=Scalar),
    scale: Scalar,
    gap: Scalar,
    stiffness: Scalar,
    out: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
):
    """Pairs (p, a, b, p) and (p, a, p, p), stiffer by how often each stands in the keys."""
    i = o + wp.tid()
    if first[i] != 0:
        size = wp.int64(n)
        rest = key[i] / size
        high = int(key[i] - rest * size)
        p = int(rest / size)
        low = int(rest - (rest / size) * size)
        times = int(1)
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
        touch[at] = touching(kind, at, out, thickness, scale, gap, stiffness * Scalar(times))


class NarrowPhase:
    """Finds contacts again and again, in the same memory."""

    def __init__(self, mesh: CollisionMesh) -> None:
        self.mesh = mesh
        self._flags = [Grown(wp.int32) for _ in range(6)]
        self._parallel, self._keys = Grown(Scalar), [Grown(wp.int64) for _ in range(2)]
        self._values = Grown(wp.int32)

    def contacts(
        self,
        x: WarpArray,
        candidates: Candidates,
        stiffness: float,
        gap: float,
        scale: float = 1.0,
        bounds: tuple[WarpArray, WarpArray] | None = None,
        thickness: WarpArray | None = None,
    ) -> ContactSet:
        """The candidates that are closer than their thickness (times ``scale``) and gap at x, with
        their barrier. ``bounds`` are where the candidates' hold (n,) vec3, and how far x is from
        there at most (n,) [m]; without, they are taken anew, for x. ``thickness`` (n,) [m] is in
        place of the mesh's.
        """
        m, n, mesh = len(candidates), x.shape[0], self.mesh
        whole, fewer, whole_at, fewer_at = (f.take(m) for f in self._flags[:4])
        parallel, key = self._parallel.take(m), self._keys[0].take(m)
        own = mesh.device_thickness if thickness is None else thickness
        kept = (own, Scalar(scale), Scalar(gap))
        found, pairs = (whole, fewer, key, parallel), candidates.device
        if bounds is None:
            candidates.bound.fill_(UNKNOWN)
            bounds = kernel.empty(0, vec3), kernel.empty(0)
        once = (x, mesh.device_rest, *pairs, *kept, *bounds, candidates.bound, *found)
        kernel.launch(classify, m, *once, slice_above=WORTH_SLICING)
        n_whole, n_fewer = kernel.scan(whole, whole_at), kernel.scan(fewer, fewer_at)
        sorted_ = self._keys[1].take(2 * n_fewer)
        kernel.launch(collect, m, key, fewer, fewer_at, sorted_)
        kernel.sort_pairs(sorted_, self._values.take(2 * n_fewer), n_fewer)
        first, first_at = (f.take(n_fewer) for f in self._flags[4:])
        kernel.launch(mark_first, n_fewer, sorted_, first)
        count = n_whole + kernel.scan(first, first_at)
        stencil, touch = kernel.empty((count, 4), wp.int32), kernel.empty(count, Touch)
        out = (*kept, Scalar(stiffness), stencil, touch)
        kernel.launch(write_whole, m, *pairs, whole, whole_at, parallel, *out)
        kernel.launch(write_reduced, n_fewer, sorted_, first, first_at, n_whole, n, *out)
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
    """As ``NarrowPhase.contacts``, once; x (n,3) may be on the host."""
    return NarrowPhase(mesh).contacts(
        kernel.points(x), candidates, stiffness, gap, scale, thickness=thickness
    )
