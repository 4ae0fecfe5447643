"""Continuous collision detection by conservative advancement: how far a step may go.

Additive CCD (Li et al. 2021, section 5): a pair at distance d whose points approach each other no
faster than l per step cannot come closer than ``thickness`` plus a fraction of its first gap within
(1 - fraction) gap/l; from there it is looked at again. The sum of such advances never passes the
first time of contact, and needs no roots of polynomials.
"""

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Positions
from weft.contact.broad_phase import WORTH_SLICING
from weft.contact.candidates import Candidates
from weft.contact.distance import (
    approach,
    approached,
    closest,
    combination,
    kept_distance,
    moved_apart,
    separation,
)
from weft.kernel import Scalar, WarpArray, corners, vec3

_module = wp.get_module("weft.contact")
FRACTION = 0.1  # of its first gap that a pair keeps
MOST = 1_000_000  # advances of a pair
SAMPLE = 61  # of how many pairs one is looked at first


@wp.kernel(module=_module)
def advance(
    o: int,
    x: wp.array(dtype=vec3),
    dx: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    kind: wp.array(dtype=wp.int32),
    kept: wp.array(dtype=Scalar),
    bound: wp.array(dtype=Scalar),
    origin: wp.array(dtype=vec3),
    away: wp.array(dtype=Scalar),
    scale: Scalar,
    fraction: Scalar,
    reach: Scalar,
    limit: Scalar,
    stride: int,
    most: int,
    out: wp.array(dtype=Scalar),
):
    """Largest part of the step dx, in [0, limit], that every stride-th pair may go; all of it for
    pairs that are known to stay ``reach`` beyond their thickness.
    """
    i = stride * (o + wp.tid())
    thickness = kept_distance(kind[i], i, stencil, kept, scale)
    known = origin.shape[0] > 0
    if known:  # noqa: SIM102 (kernels evaluate both sides of `and`)
        if bound[i] - moved_apart(kind[i], i, stencil, away) > thickness + reach:
            out[i / stride] = limit
            return
    a, b, c, d = corners(i, x, stencil)
    da, db, dc, dd = corners(i, dx, stencil)
    speed = approach(kind[i], da, db, dc, dd)
    near = Scalar(0.0)
    if known:
        near = approached(kind[i], i, stencil, origin, x)
        if bound[i] - near - limit * speed > thickness + reach:
            out[i / stride] = limit
            return
        apart = separation(kind[i], a, b, c, d)
        if (Scalar(1.0) - fraction) * (apart - thickness) > limit * speed:
            bound[i] = wp.max(bound[i], apart - near)
            out[i / stride] = limit
            return
    mean = Scalar(0.25) * (da + db + dc + dd)
    da -= mean
    db -= mean
    dc -= mean
    dd -= mean
    t = Scalar(0.0)
    p = closest(kind[i], a, b, c, d)
    distance = wp.length(combination(p.w, a, b, c, d))
    if known:
        bound[i] = distance - near
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
                        at = a + t * da
                        bt = b + t * db
                        ct = c + t * dc
                        dt = d + t * dd
                        p = closest(kind[i], at, bt, ct, dt)
                        gap = wp.length(combination(p.w, at, bt, ct, dt)) - thickness
            else:
                break
    out[i / stride] = t


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
    ways = (*_ways(x, dx, candidates, thickness), *_nowhere())
    return np.array(kernel.numpy(_advanced(ways, (scale, fraction, np.inf), 1.0, 1)))


def max_step(
    x: Positions | WarpArray,
    dx: Floats | WarpArray,
    candidates: Candidates,
    thickness: float | WarpArray = 0.0,
    scale: float = 1.0,
    fraction: float = FRACTION,
    reach: float = 0.0,
    bounds: tuple[WarpArray, WarpArray] | None = None,
) -> float:
    """Largest part of dx, in [0, 1], that all pairs may go; arguments as for ``step_lengths``.

    A few pairs are looked at first: the others need to be followed only as far as these may go.

    Args:
        reach: [m] beyond their thickness that pairs keep which are not followed.
        bounds: (n,) vec3 where the candidates' bounds hold, and (n,) [m] how far the way leads
            from there; None: all are followed.
    """
    if len(candidates) == 0:
        return 1.0
    ways = (*_ways(x, dx, candidates, thickness), *(bounds or _nowhere()))
    numbers, limit = (scale, fraction, reach), 1.0
    if len(candidates) > 100 * SAMPLE:
        limit = kernel.least(_advanced(ways, numbers, 1.0, SAMPLE))
    return kernel.least(_advanced(ways, numbers, limit, 1))


def _nowhere() -> tuple[WarpArray, WarpArray]:
    """Instead of bounds."""
    return kernel.empty(0, vec3), kernel.empty(0)


def _kept(thickness: float | WarpArray) -> WarpArray:
    if isinstance(thickness, wp.array):
        return thickness
    return kernel.array(np.array([thickness], dtype=np.float64), Scalar)


def _ways(
    x: Positions | WarpArray,
    dx: Floats | WarpArray,
    candidates: Candidates,
    thickness: float | WarpArray,
) -> tuple[WarpArray, ...]:
    pairs = (*candidates.device, _kept(thickness), candidates.bound)
    return kernel.points(x), kernel.points(dx), *pairs


def _advanced(
    ways: tuple[WarpArray, ...], numbers: tuple[float, ...], limit: float, stride: int
) -> WarpArray:
    n = (ways[2].shape[0] + stride - 1) // stride
    out = kernel.empty(n)
    scalars = (*(Scalar(v) for v in numbers), Scalar(limit), stride, MOST)
    kernel.launch(advance, n, *ways, *scalars, out, slice_above=WORTH_SLICING)
    return out
