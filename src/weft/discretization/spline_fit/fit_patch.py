"""Fit of a spline patch to a flat piece of triangles.

Meng et al. 2025, supplement, sections 3.1 and 3.2: fit curves to the four sides, build a control
net between them, and make the net as conformal as its outline allows (MIPS).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.discretization.basis import basis, greville
from weft.discretization.bspline import Patch, grid
from weft.discretization.polygon import normalize
from weft.discretization.spline_fit.mips import Mips, SidePoints
from weft.discretization.spline_fit.outline import (
    BoundaryPolygon,
    along_warp,
    check_corners,
    sides_of,
    usable_corners,
)
from weft.discretization.spline_fit.patch_error import PatchDrawing, PatchError

TRIAL = 10  # control points a side of the trial nets with which corners are chosen
CHECKED = 6  # places in each span and direction at which a fitted patch must not fold over
LEAST = 5  # smallest number of control points of a fitted side
NEARLY = 1e-9  # determinant below which the two guide directions count as parallel


@dataclass(frozen=True)
class FitSettings:
    """Settings of the fit of a patch.

    Args:
        smoothing: lambda of eq. 21: penalty on the second differences of a curve's control points.
        boundary: omega_b of eq. 29: weight of the outline while the net is optimized. It is
            multiplied by n1 + n2, the control points of two sides, and divided by the square of a
            span's size.
    """

    smoothing: float = 1e-3
    boundary: float = 1e3


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted patch, with measures of the fit."""

    patch: Patch
    mips: float  # mean over the parameters of |J|^2 |J^-1|^2: 4 where the map is conformal
    deviation: float  # [m] largest distance of the outline from the patch's border
    iterations: int  # number of Newton iterations


def fit_curve(side: SidePoints, n: int, smoothing: float) -> Floats:
    """Fit a curve with fixed end points to the points of a side. Eq. 21.

    There are two departures from the paper (docs/decisions/0012). The mean of the squares is
    minimized instead of the sum, so that ``smoothing`` does not depend on the number of points.
    Second differences are divided by those of the Greville abscissae, so that a straight side costs
    nothing: as printed, they pull the control points towards equal distances, which bends the side
    with an error of first order.

    Args:
        side: points of the side, with parameters.
        n: number of control points.
        smoothing: lambda of eq. 21.

    Returns:
        (n,2) [m] control points.
    """
    b = basis(n, side.u)
    m = len(side.u)
    A = np.zeros((m, n))
    A[np.arange(m)[:, None], b.first[:, None] + np.arange(3)] = b.value
    bend = np.zeros((n - 2, n))
    i, gap = np.arange(n - 2), np.diff(greville(n))
    bend[i, i], bend[i, i + 2] = 1 / gap[:-1], 1 / gap[1:]
    bend[i, i + 1] = -1 / gap[:-1] - 1 / gap[1:]
    rows = np.concatenate([A / np.sqrt(m), np.sqrt(smoothing / n) * bend])
    right = np.concatenate([side.points / np.sqrt(m), np.zeros((n - 2, 2))])
    out = np.empty((n, 2))
    out[0], out[-1] = side.points[0], side.points[-1]
    ends = rows[:, [0, -1]] @ out[[0, -1]]
    out[1:-1] = np.linalg.lstsq(rows[:, 1:-1], right - ends, rcond=None)[0]
    return out


def initial_net(bottom: Floats, right: Floats, top: Floats, left: Floats) -> Floats:
    """Build a control net between four curves, (n1,n2,2) [m]. Eqs. 23-26.

    Each inner point minimizes the sum of two squared distances: to the point at its parameter on
    each of the two lines that join opposite sides, measured along that line.

    Args:
        bottom: (n1,2) [m] control points at v = 0.
        right: (n2,2) [m] control points at u = m1.
        top: (n1,2) [m] control points at v = m2.
        left: (n2,2) [m] control points at u = 0.
    """
    n1, n2 = len(bottom), len(left)
    net = np.empty((n1, n2, 2))
    net[:, 0], net[:, -1], net[0], net[-1] = bottom, top, left, right
    a = np.linspace(0, 1, n1)[1:-1, None, None]
    b = np.linspace(0, 1, n2)[None, 1:-1, None]
    low, high = net[1:-1, :1], net[1:-1, -1:]
    west, east = net[:1, 1:-1], net[-1:, 1:-1]
    across = (1 - b) * low + b * high
    along = (1 - a) * west + a * east
    t1, t2 = normalize(low - high), normalize(west - east)
    P = t1[..., :, None] * t1[..., None, :] + np.zeros((n1 - 2, n2 - 2, 1, 1))
    Q = t2[..., :, None] * t2[..., None, :] + np.zeros((n1 - 2, n2 - 2, 1, 1))
    parallel = np.linalg.det(P + Q) < NEARLY
    S = np.where(parallel[..., None, None], np.eye(2), P + Q)
    guided = np.einsum("ijkl,ijl->ijk", P, across) + np.einsum("ijkl,ijl->ijk", Q, along)
    guided = np.where(parallel[..., None], 0.5 * (across + along), guided)
    net[1:-1, 1:-1] = np.linalg.solve(S, guided[..., None])[..., 0]
    return net


def corners_of(outline: BoundaryPolygon, given: Sequence[int] | None, where: str) -> Ints:
    """Return the places in the outline of the corners that are given or, if None, found, (4,)."""
    if given is None:
        return best_corners(outline, where)
    return along_warp(outline, check_corners(outline, given, where))


def best_corners(outline: BoundaryPolygon, where: str = "mesh") -> Ints:
    """Return the places in the outline of the four corners with the most conformal net, (4,).

    All choices of four usable corners are compared, with nets of ``TRIAL`` control points a side.
    """
    usable = usable_corners(outline, where)
    best, value = along_warp(outline, usable[:4]), float("inf")
    for four in combinations(usable.tolist(), 4):
        chosen = along_warp(outline, np.array(four))
        search = _build_initial_net(outline, sides_of(outline, chosen), TRIAL, TRIAL, FitSettings())
        found = min(search.value(search.start), search.value(search.blend_sides()))
        if found < value:
            best, value = chosen, found
    return best


def fit_patch(
    outline: BoundaryPolygon,
    sides: list[Ints],
    n1: int,
    n2: int,
    settings: FitSettings | None = None,
    where: str = "mesh",
) -> Fitted:
    """Fit a patch of n1 x n2 control points to an outline with four sides.

    Args:
        outline: the outline.
        sides: places in the outline, as ``sides_of`` returns them.
        n1: control points along u.
        n2: control points along v.
        settings: settings of the fit; None: the defaults.
        where: name in error messages.

    Raises:
        PatchError: too few control points, or a net that stays inverted somewhere.
    """
    s = settings or FitSettings()
    if min(n1, n2) < LEAST:
        raise PatchError(
            "control points of a fitted patch",
            got=(n1, n2),
            where=where,
            expected=f"at least {LEAST} on each side",
            drawing=outline.drawing(),
        )
    search = _build_initial_net(outline, sides, n1, n2, s)
    net, iterations = search.untangle(), 0
    bad = search.find_inversions(net)
    if len(bad) == 0:
        net, iterations = search.minimize(net)
        bad = _find_folds(Patch(net))
    if len(bad):
        raise PatchError(
            "control net",
            got=f"inverted near {np.round(bad[0], 4).tolist()}",
            where=where,
            expected="a net that does not fold over",
            hint="choose other `corners` or `spans`, or cut the piece in two; `weft check` "
            "draws the piece",
            drawing=PatchDrawing(outline.places, bad, net, net[[0, -1, -1, 0], [0, 0, -1, -1]]),
        )
    deviation = max(
        float(np.linalg.norm(S.of(net.reshape(-1, 2)) - line.points, axis=1).max())
        for S, line in zip(search.border, search.lines)
    )
    return Fitted(Patch(net), search.mean_mips(net), deviation, iterations)


def _find_folds(patch: Patch) -> Floats:
    """Return the places [m] on a grid at which the map of a patch is inside out, (k,2)."""
    u, v = (np.arange(CHECKED * m + 1) / CHECKED for m in patch.spans)
    uv = np.clip(grid(u, v), 1e-3, np.array(patch.spans) - 1e-3)
    return patch.material(uv[patch.area_density(uv) <= 0])


def _build_initial_net(
    outline: BoundaryPolygon, sides: list[Ints], n1: int, n2: int, s: FitSettings
) -> Mips:
    """Fit curves to the sides and build the initial net."""
    count = (n1, n2, n1, n2)
    lines = [SidePoints.of(outline.places[ids], n) for ids, n in zip(sides, count)]
    curves = [fit_curve(line, n, s.smoothing) for line, n in zip(lines, count)]
    return Mips(initial_net(*curves), lines, s.boundary)
