"""Quadrature of a spline patch: full Gauss rules, and two reduced ones.

Both reduced rules have one bending point in the middle of every knot span, and about two membrane
points for each control point. At the border, a span has three Gauss points across the border and
two along it. Inside, each cell of the dual grid has two points; the cells of the dual grid are
centered on the knots.

``alternating`` is the rule of Meng et al. (2025): the two points are Gauss points along u and along
v by turns, and those of the half cells beside the border are on its knot line. In ``reduced`` the
two points are on the diagonals by turns, a quarter of the cell away from the knot lines, and those
of the half cells are in their middle. At these places slopes of the functions, which are piecewise
linear, are integrated exactly in each direction. Constant stress gives no forces inside with either
rule. Where the dual grid begins, these forces are a third as large with ``reduced`` as with
``alternating``, and the error in the stretch of a hanging cloth is a quarter as large
(docs/decisions/appendix/0012-splines.md).

Points are placed in the material (in mean arc lengths), and the weights sum to the material area.
"""

import enum
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Bools, Floats, Ints
from weft.discretization.bspline import Patch, check_unfolded

_EXACT = 4  # Gauss points in each direction with which the area of a cell is integrated
_SMALL = 3  # spans along a side; with fewer there is no dual grid, and the full rule is used
_ENDS = (slice(0, 1), slice(-1, None))  # the first and the last cell along a side


class Rule(enum.Enum):
    """Quadrature rule of membrane and bending."""

    REDUCED = "reduced"  # two points on the diagonals of dual cells
    ALTERNATING = "alternating"  # Meng et al. (2025): along u and along v by turns
    FULL = "full"  # 3 x 3 Gauss points a knot span, for both
    GAUSS2 = "2x2"  # 2 x 2, for both
    GAUSS1 = "1x1"  # one, for both; it has modes without energy


@dataclass(frozen=True, eq=False)
class QuadraturePoints:
    """Quadrature points of a patch."""

    uv: Floats  # (q,2) parameters
    weight: Floats  # (q,) [m^2]
    raw: Floats  # (q,) weights in the area of parameters, before they are scaled
    cell: Ints  # (q,) cell that contains the point
    fine: Floats  # (c,16,2) parameters of the points with which a cell's area is integrated
    fine_raw: Floats  # (c,16) their weights in the area of parameters


def membrane_points(patch: Patch, rule: Rule = Rule.REDUCED) -> QuadraturePoints:
    """Return the quadrature points of the membrane."""
    each = {Rule.FULL: 3, Rule.GAUSS2: 2, Rule.GAUSS1: 1}
    if rule in each:
        return gauss_points(patch, each[rule])
    if min(patch.spans) < _SMALL:
        return gauss_points(patch, 3)
    return _join([*_border(patch), *_inside(patch, rule)])


def bending_points(patch: Patch, rule: Rule = Rule.REDUCED) -> QuadraturePoints:
    """Return the quadrature points of bending: one in each span, or as many as for the membrane."""
    return gauss_points(patch, {Rule.FULL: 3, Rule.GAUSS2: 2}.get(rule, 1))


def gauss_points(patch: Patch, k: int) -> QuadraturePoints:
    """Return k x k Gauss points in every knot span."""
    return _cells(patch, _spans(patch, 0), _spans(patch, 1), k, k)


def _spans(patch: Patch, axis: int) -> Floats:
    """Return begin and end (c,2) [m] of the knot spans of one direction, in mean arc length."""
    at = patch.knots_at(axis)
    return np.stack([at[:-1], at[1:]], axis=1)


def _border(patch: Patch) -> list[QuadraturePoints]:
    """Return the points of the spans at the border: three across the border, two along it."""
    a, b = (_spans(patch, axis) for axis in (0, 1))
    found = []
    for end in _ENDS:
        found.append(_cells(patch, a[end], b[1:-1], 3, 2))
        found.append(_cells(patch, a[1:-1], b[end], 2, 3))
        found += [_cells(patch, a[end], b[other], 3, 3) for other in _ENDS]
    return found


def _inside(patch: Patch, rule: Rule) -> list[QuadraturePoints]:
    """Return the points of the dual grid.

    Whole cells have two points. Half cells have two along the border, in their middle (``reduced``)
    or on their knot line (``alternating``). Quarter cells have one.
    """
    a, b = (_dual(patch, axis) for axis in (0, 1))
    diagonal = rule is Rule.REDUCED
    cells = _diagonal if diagonal else _alternating
    found = cells(patch, a[1:-1], b[1:-1])
    for knot_line, one in enumerate(_ENDS):
        line = None if diagonal else knot_line
        found.append(_half_cells(patch, a[one], b[1:-1], 0, line))
        found.append(_half_cells(patch, b[one], a[1:-1], 1, line))
        found += [_cells(patch, a[one], b[two], 1, 1) for two in _ENDS]
    return found


def _dual(patch: Patch, axis: int) -> Floats:
    """Return begin and end (c,2) [m] of the cells around the inner knots 1 to m - 1; the first and
    the last are half cells.
    """
    at = patch.knots_at(axis)[1:-1]
    middle = (at[1:] + at[:-1]) / 2
    return np.stack([np.append(at[:1], middle), np.append(middle, at[-1:])], axis=1)


def _odd(a: Floats, b: Floats) -> Bools:
    """Return (ca,cb) whether i + j is odd for the cells i x j of a and b."""
    return np.asarray(np.add.outer(np.arange(len(a)), np.arange(len(b))) % 2 == 1)


def _alternating(patch: Patch, a: Floats, b: Floats) -> list[QuadraturePoints]:
    """Return two points in each cell, along u where i + j is even, else along v."""
    if not (len(a) and len(b)):
        return []
    odd = _odd(a, b)
    return [_cells(patch, a, b, 2, 1, ~odd), _cells(patch, a, b, 1, 2, odd)]


def _diagonal(patch: Patch, a: Floats, b: Floats) -> list[QuadraturePoints]:
    """Return two points in each cell, in opposite quarters: low-low and high-high for even i+j."""
    if not (len(a) and len(b)):
        return []
    sign = np.where(_odd(a, b), -1.0, 1.0)
    wide, high = (a[:, 1] - a[:, 0])[:, None], (b[:, 1] - b[:, 0])[None, :]
    u, v = ((a[:, 1] + a[:, 0]) / 2)[:, None], ((b[:, 1] + b[:, 0]) / 2)[None, :]
    pair = [
        np.stack([u + t * wide / 4 + 0 * v, v + t * sign * high / 4], axis=2) for t in (-1.0, 1.0)
    ]
    places = np.stack(pair, axis=2).reshape(-1, 2)
    weight = np.repeat((wide * high).reshape(-1) / 2, 2)
    return [_scale_weights(patch, _weigh_points(patch, places, weight), a, b, None)]


def _half_cells(
    patch: Patch, half: Floats, along: Floats, axis: int, end: int | None
) -> QuadraturePoints:
    """Return two points along the border in each half cell.

    The points are in the middle of the half cell, or on its knot line at ``end`` (0 or 1).
    """
    width, length = (cells[:, 1] - cells[:, 0] for cells in (half, along))
    if end is None:
        line, part = half[:, 0] + width / 2, np.array([-0.25, 0.25])
    else:
        line, part = half[:, end], np.array([-0.5, 0.5]) / np.sqrt(3)
    s = ((along[:, 0] + along[:, 1]) / 2)[:, None] + length[:, None] * part
    t = np.broadcast_to(line, s.shape)
    places = np.stack((t, s) if axis == 0 else (s, t), axis=2).reshape(-1, 2)
    got = _weigh_points(patch, places, np.repeat(length * width / 2, 2))
    return _scale_weights(patch, got, *((half, along) if axis == 0 else (along, half)), None)


def _gauss(cells: Floats, k: int) -> tuple[Floats, Floats]:
    """Return positions (c,k) and weights (c,k) of k Gauss points in every cell (c,2)."""
    x, w = np.polynomial.legendre.leggauss(k)
    half, middle = (cells[:, 1] - cells[:, 0]) / 2, (cells[:, 1] + cells[:, 0]) / 2
    return middle[:, None] + half[:, None] * x, half[:, None] * w


def _cells(
    patch: Patch, a: Floats, b: Floats, ka: int, kb: int, where: Bools | None = None
) -> QuadraturePoints:
    """Return ka x kb Gauss points in the cells a x b, or in those of the mask ``where``.

    The weights of a cell sum to its material area.
    """
    (sa, wa), (sb, wb) = _gauss(a, ka), _gauss(b, kb)
    pair = np.broadcast_arrays(sa[:, None, :, None], sb[None, :, None, :])
    places = np.stack(pair, axis=-1)
    weight = wa[:, None, :, None] * wb[None, :, None, :]
    if where is not None:
        places, weight = places[where], weight[where]
    got = _weigh_points(patch, places.reshape(-1, 2), weight.reshape(-1))
    return got if ka == _EXACT else _scale_weights(patch, got, a, b, where)


def _scale_weights(
    patch: Patch, got: QuadraturePoints, a: Floats, b: Floats, where: Bools | None
) -> QuadraturePoints:
    """Scale the weights of points in the cells a x b to sum to each cell's material area."""
    if len(got.weight) == 0:
        return got
    fine = _cells(patch, a, b, _EXACT, _EXACT, where)
    exact = fine.weight.reshape(-1, _EXACT**2).sum(1)
    own = got.weight.reshape(len(exact), -1)
    cell = np.repeat(np.arange(len(exact), dtype=np.int32), own.shape[1])
    each = fine.uv.reshape(len(exact), -1, 2), fine.raw.reshape(len(exact), -1)
    weight = (own * (exact / own.sum(1))[:, None]).reshape(-1)
    return QuadraturePoints(got.uv, weight, got.raw, cell, *each)


def _weigh_points(patch: Patch, places: Floats, weight: Floats) -> QuadraturePoints:
    """Return points at mean arc lengths ``places`` with weights in material area."""
    uv, per_parameters, density = patch.at_lengths(places)
    check_unfolded(uv, density)
    raw, none = weight / per_parameters, np.zeros((0, _EXACT**2))
    cell = np.zeros(len(uv), dtype=np.int32)
    return QuadraturePoints(uv, weight * density, raw, cell, none[:, :, None] * [1, 1], none)


def _join(parts: list[QuadraturePoints]) -> QuadraturePoints:
    """Concatenate quadrature points and renumber their cells."""
    first = np.cumsum([0, *(len(p.fine) for p in parts)])
    cell = np.concatenate([p.cell + f for p, f in zip(parts, first)]).astype(np.int32)
    uv, weight, raw, fine, fine_raw = (
        np.concatenate([getattr(p, name) for p in parts])
        for name in ("uv", "weight", "raw", "fine", "fine_raw")
    )
    return QuadraturePoints(uv, weight, raw, cell, fine, fine_raw)
