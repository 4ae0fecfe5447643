"""Continuous collision detection by conservative advancement: how far a step may go.

Additive CCD (Li et al. 2021, section 5): let a pair have the room g = d - thickness, and let its
points approach each other by at most l per step. Within (1 - fraction) g/l of the step the pair
keeps its thickness plus a fraction of its first room; there its distance is computed again. The sum
of such advances never passes the first time of contact, and needs no roots of polynomials.
"""

import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.contact.broad_phase.bvh import PAIR_WORK
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.distance.distance import (
    Pairs,
    Separation,
    approach,
    closest,
    closest_at,
    combination,
    distance_loss,
    kind_of,
    pair_thickness,
    separation,
)
from weft.contact.narrow_phase.distance_bounds import (
    DisplacementBound,
    VertexMotion,
    mark_undecided,
)
from weft.kernel import (
    BitsArray,
    IntArray,
    Scalar,
    ScalarArray,
    Vec3Array,
    WarpArray,
    corners,
    vec3,
)
from weft.kernel.bitmask import lowest_set_bit
from weft.kernel.granularity import bits_per_index
from weft.solve.sparse.vectors import combine

_module = wp.get_module("weft.contact")
FRACTION = 0.1  # of its first room beyond the thickness that a pair keeps
MOST = 1_000_000  # largest number of advances of a pair
SAMPLE = 61  # every so many pairs one is tested first


@wp.func
def max_step_of_pair(
    i: int,
    x: Vec3Array,
    dx: Vec3Array,
    pairs: Pairs,
    distance: Scalar,
    thickness: Scalar,
    limit: Scalar,
):
    """Return the largest part of its path, in [0, limit], that pair i may go.

    ``distance`` is its distance at the start, ``thickness`` the distance that it keeps.
    """
    kind = kind_of(i, pairs.points)
    a, b, c, d = corners(i, x, pairs.stencil)
    da, db, dc, dd = corners(i, dx, pairs.stencil)
    speed = approach(kind, da, db, dc, dd)
    mean = Scalar(0.25) * (da + db + dc + dd)
    t = Scalar(0.0)
    gap = distance - thickness
    keep = Scalar(FRACTION) * gap
    if speed == Scalar(0.0) or gap - limit * speed >= keep:
        t = limit
    elif gap > Scalar(0.0):
        going = int(1)
        for _k in range(MOST):
            if going == 1:
                step = (gap - keep) / speed
                # Stop if round-off swallows an advance, the room is what is kept plus 0.1 %, or the
                # path is not finite.
                if not (t + step > t) or (t > Scalar(0.0) and gap - keep < Scalar(1e-3) * keep):
                    going = 0
                else:
                    t += step
                    if t >= limit:
                        t = limit
                        going = 0
                    else:
                        # Positions are computed from the start each time: the round-off of a
                        # million tiny steps is more than is left of a gap of 1e-11 m.
                        at = a + t * (da - mean)
                        bt = b + t * (db - mean)
                        ct = c + t * (dc - mean)
                        dt = d + t * (dd - mean)
                        p = closest(kind, at, bt, ct, dt)
                        gap = wp.length(combination(p.w, at, bt, ct, dt)) - thickness
            else:
                break
    return t


@wp.kernel(module=_module)
def advance(
    o: int,
    x: Vec3Array,
    dx: Vec3Array,
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    known: ScalarArray,
    stride: int,
    width: int,
    out: ScalarArray,
):
    """Write the largest part of the step dx, in [0, known[0]], that ``width`` pairs may go.

    Every ``stride``-th pair is tested. Pairs are skipped if bounds say that they stay farther apart
    than the separation.
    """
    w = o + wp.tid()
    first = w * width
    limit = known[0]
    count = wp.min(width, (pairs.stencil.shape[0] + stride - 1) / stride - first)
    left = mark_undecided(pairs, separation, motion, first, count, stride, limit)
    least = limit
    while left != wp.uint32(0):
        i = (first + lowest_set_bit(left)) * stride
        left = left & (left - wp.uint32(1))
        kind = kind_of(i, pairs.points)
        thickness = pair_thickness(kind, i, pairs.stencil, separation)
        _p, v = closest_at(kind, i, x, pairs.stencil)
        distance = wp.length(v)
        pairs.bound[i] = distance - distance_loss(kind, i, pairs.stencil, motion.origin, x)
        t = max_step_of_pair(i, x, dx, pairs, distance, thickness, limit)
        least = wp.min(least, t)
    out[w] = least


@wp.kernel(module=_module)
def mark_blocked(
    o: int,
    x: Vec3Array,
    dx: Vec3Array,
    pairs: Pairs,
    separation: Separation,
    motion: VertexMotion,
    width: int,
    bits: BitsArray,
    number: IntArray,
):
    """Mark and count those of ``width`` pairs that may not go all of the step dx."""
    w = o + wp.tid()
    first = w * width
    count = wp.min(width, pairs.stencil.shape[0] - first)
    left = mark_undecided(pairs, separation, motion, first, count, 1, Scalar(1.0))
    out = wp.uint32(0)
    while left != wp.uint32(0):
        k = lowest_set_bit(left)
        left = left & (left - wp.uint32(1))
        i = first + k
        kind = kind_of(i, pairs.points)
        thickness = pair_thickness(kind, i, pairs.stencil, separation)
        _p, v = closest_at(kind, i, x, pairs.stencil)
        t = max_step_of_pair(i, x, dx, pairs, wp.length(v), thickness, Scalar(1.0))
        if t < Scalar(1.0):
            out = out | (wp.uint32(1) << wp.uint32(k))
    bits[w] = out
    number[w] = wp.bit_count(out)


def max_step(
    x: Positions | WarpArray,
    dx: Floats | WarpArray,
    candidates: Candidates,
    kept: "Separation | None" = None,
) -> float:
    """Return the largest part of dx, in [0, 1], that all pairs may go.

    Args:
        x: (n,3) [m] positions.
        dx: (n,3) [m] displacements.
        candidates: the pairs.
        kept: thickness that pairs keep; pairs that certainly stay farther apart by its gap are
            skipped. None: no thickness and no gap.
    """
    y, dy = kernel.points(x), kernel.points(dx)
    end = kernel.empty(y.shape[0], vec3)
    combine(y, 1.0, dy, end)
    pairs = Candidates(candidates.stencil, candidates.points)  # their bounds are not known
    about = (kept or separation(), DisplacementBound.at(y, end), kernel.empty(1))
    return max_step_of(y, dy, pairs, *about)


def max_step_of(
    y: WarpArray,
    dy: WarpArray,
    candidates: Candidates,
    kept: Separation,
    since: DisplacementBound,
    limit: WarpArray,
) -> float:
    """Return the largest part of dy, in [0, 1], that all pairs may go.

    A few pairs are tested first: the others need to be followed only as far as these may go.

    Args:
        y: (n,) vec3 [m] positions.
        dy: (n,) vec3 [m] displacements.
        candidates: the pairs.
        kept: thickness that pairs keep; pairs that certainly stay farther apart by its gap are
            skipped.
        since: displacements of the path since the candidates' bounds were computed.
        limit: (1,) work memory.
    """
    if len(candidates) == 0:
        return 1.0
    limit.fill_(1.0)
    if len(candidates) > 100 * SAMPLE:
        kernel.least_into(_least_parts(y, dy, candidates, kept, since, limit, SAMPLE), limit)
    return kernel.least(_least_parts(y, dy, candidates, kept, since, limit, 1))


def _least_parts(
    y: WarpArray,
    dy: WarpArray,
    candidates: Candidates,
    kept: Separation,
    since: DisplacementBound,
    limit: WarpArray,
    stride: int,
) -> WarpArray:
    """Return the least part of as many pairs as suit a thread of the device, at most ``limit``
    (1,).
    """
    width = bits_per_index()
    n = -(-len(candidates) // (stride * width))
    out = kernel.empty(n)
    about = (candidates.struct, kept, since.motion, limit, stride, width, out)
    kernel.launch(advance, n, y, dy, *about, work=PAIR_WORK * width)
    return out
