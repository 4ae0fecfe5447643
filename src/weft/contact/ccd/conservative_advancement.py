"""Continuous collision detection by conservative advancement: how far a step may go.

Additive CCD (Li et al. 2021, section 5): a pair at distance d whose points approach each other no
faster than l per step cannot come closer than ``thickness`` plus a fraction of its first gap within
(1 - fraction) gap/l; from there it is looked at again. The sum of such advances never passes the
first time of contact, and needs no roots of polynomials.
"""

from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.contact.broad_phase.bvh import WORTH_SLICING
from weft.contact.broad_phase.candidates import UNKNOWN, Candidates, kind_of
from weft.contact.distance.distance import (
    approach,
    approached,
    closest,
    combination,
    kept_distance,
)
from weft.contact.narrow_phase.distance_bounds import DisplacementBound, undecided
from weft.kernel import Scalar, WarpArray, corners, vec3
from weft.kernel.bitmask import bits_per_thread, lowest_set_bit
from weft.solve.sparse.vectors import combine

_module = wp.get_module("weft.contact")
FRACTION = 0.1  # of its first gap that a pair keeps
MOST = 1_000_000  # advances of a pair
SAMPLE = 61  # of how many pairs one is looked at first


@wp.func
def part_of(
    kind: int,
    a: vec3,
    b: vec3,
    c: vec3,
    d: vec3,
    da: vec3,
    db: vec3,
    dc: vec3,
    dd: vec3,
    distance: Scalar,
    thickness: Scalar,
    fraction: Scalar,
    limit: Scalar,
    most: int,
):
    """Largest part of its way, in [0, limit], that a pair at this distance may go."""
    speed = approach(kind, da, db, dc, dd)
    mean = Scalar(0.25) * (da + db + dc + dd)
    t = Scalar(0.0)
    gap = distance - thickness
    keep = fraction * gap
    if speed == Scalar(0.0) or gap - limit * speed >= keep:
        t = limit
    elif gap > Scalar(0.0):
        going = int(1)
        for _k in range(most):
            if going == 1:
                step = (gap - keep) / speed
                if t + step <= t or (t > Scalar(0.0) and gap - keep < Scalar(1e-3) * keep):
                    going = 0
                else:
                    t += step
                    if t >= limit:
                        t = limit
                        going = 0
                    else:
                        # From the start each time: a million sums of tiny steps are off by more
                        # than what is left of a gap of 1e-11 m.
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
    x: wp.array(dtype=vec3),
    dx: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    points: int,
    kept: wp.array(dtype=Scalar),
    bound: wp.array(dtype=Scalar),
    origin: wp.array(dtype=vec3),
    place: wp.array(dtype=wp.vec4f),
    away: wp.array(dtype=Scalar),
    shift: wp.array(dtype=wp.vec4f),
    way: wp.array(dtype=wp.vec4f),
    scale: Scalar,
    fraction: Scalar,
    reach: Scalar,
    alike: wp.array(dtype=wp.uint8),
    limit: Scalar,
    stride: int,
    most: int,
    width: int,
    out: wp.array(dtype=Scalar),
):
    """Largest part of the step dx, in [0, limit], that the next ``width`` of every stride-th pair
    may go; all of it for those that are known to stay ``reach`` beyond their thickness. ``alike``
    is empty.
    """
    w = o + wp.tid()
    first = w * width
    count = wp.min(width, (stencil.shape[0] + stride - 1) / stride - first)
    left = undecided(
        stencil,
        points,
        first,
        count,
        stride,
        kept,
        scale,
        reach,
        reach,
        alike,
        place,
        away,
        shift,
        way,
        limit,
        bound,
    )
    least = limit
    while left != wp.uint32(0):
        i = (first + lowest_set_bit(left)) * stride
        left = left & (left - wp.uint32(1))
        kind = kind_of(i, points)
        thickness = kept_distance(kind, i, stencil, kept, scale)
        a, b, c, d = corners(i, x, stencil)
        da, db, dc, dd = corners(i, dx, stencil)
        p = closest(kind, a, b, c, d)
        distance = wp.length(combination(p.w, a, b, c, d))
        bound[i] = distance - approached(kind, i, stencil, origin, x)
        t = part_of(kind, a, b, c, d, da, db, dc, dd, distance, thickness, fraction, limit, most)
        least = wp.min(least, t)
    out[w] = least


def step_lengths(
    x: Positions | WarpArray,
    dx: Floats | WarpArray,
    candidates: Candidates,
    thickness: float | WarpArray = 0.0,
    scale: float = 1.0,
    fraction: float = FRACTION,
) -> Floats:
    """(p+e,) largest part of the displacement dx (n,3) that every pair may go, in [0, 1].

    At that part and on the way there the pair keeps its thickness and the fraction of its first gap
    beyond it. 0 for a pair that is closer than the thickness.

    Args:
        x: (n,3) [m].
        dx: (n,3) [m].
        candidates: the pairs.
        thickness: [m] of all, or (n,) of the vertices; a pair keeps the mean of both sides'.
        scale: of the thickness.
        fraction: of its first gap that a pair keeps.
    """
    ways = _ways(x, dx, candidates, thickness)
    return np.array(kernel.numpy(_advanced(ways, (scale, fraction, np.inf), 1.0, 1, 1)))


def max_step(
    x: Positions | WarpArray,
    dx: Floats | WarpArray,
    candidates: Candidates,
    thickness: float | WarpArray = 0.0,
    scale: float = 1.0,
    fraction: float = FRACTION,
    reach: float = 0.0,
    since: DisplacementBound | None = None,
) -> float:
    """Largest part of dx, in [0, 1], that all pairs may go; arguments as for ``step_lengths``.

    A few pairs are looked at first: the others need to be followed only as far as these may go.

    Args:
        reach: [m] beyond their thickness that pairs keep which are not followed.
        since: the way, seen from where the candidates' bounds hold; None: all are followed.
    """
    if len(candidates) == 0:
        return 1.0
    ways = _ways(x, dx, candidates, thickness, since)
    numbers, limit = (scale, fraction, reach), 1.0
    if len(candidates) > 100 * SAMPLE:
        limit = kernel.least(_advanced(ways, numbers, 1.0, SAMPLE))
    return kernel.least(_advanced(ways, numbers, limit, 1))


def _kept(thickness: float | WarpArray) -> WarpArray:
    if isinstance(thickness, wp.array):
        return thickness
    return kernel.array(np.array([thickness], dtype=np.float64), Scalar)


def _ways(
    x: Positions | WarpArray,
    dx: Floats | WarpArray,
    candidates: Candidates,
    thickness: float | WarpArray,
    since: DisplacementBound | None = None,
) -> tuple[Any, ...]:
    y, dy, bound = kernel.points(x), kernel.points(dx), candidates.bound
    if since is None:
        end = kernel.empty(y.shape[0], vec3)
        combine(y, 1.0, dy, end)
        since, bound = DisplacementBound.at(y, end), kernel.empty(len(candidates))
        bound.fill_(UNKNOWN)
    known = (since.origin, since.place, since.away, since.shift, since.way)
    pairs = candidates.device_stencil, candidates.points, _kept(thickness), bound
    return y, dy, *pairs, *known


def _advanced(
    ways: tuple[Any, ...],
    numbers: tuple[float, ...],
    limit: float,
    stride: int,
    width: int | None = None,
) -> WarpArray:
    """The least of every ``width`` of the pairs; None: as many as suit the device."""
    width = bits_per_thread() if width is None else width
    n = -(-ways[2].shape[0] // (stride * width))
    out = kernel.empty(n)
    alike = kernel.empty(0, wp.uint8)
    scalars = (*(Scalar(v) for v in numbers), alike, Scalar(limit), stride, MOST, width)
    kernel.launch(advance, n, *ways, *scalars, out, slice_above=WORTH_SLICING // width)
    return out
