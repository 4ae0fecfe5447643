"""Quadratic B-splines of one variable on clamped uniform knots [0,0,0,1,...,m,m,m]: m = n - 2 knot
spans for n control points. The curve ends at its first and last control point. Meng et al. 2025.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import MeshError

LEAST = 3  # control points: one span


def spans(n: int) -> int:
    """Knot spans of n control points.

    Raises:
        MeshError: fewer than three control points.
    """
    if n < LEAST:
        raise MeshError("control points along a side", got=n, expected=f"at least {LEAST}")
    return n - 2


def knots(n: int) -> Floats:
    """(n+3,) the knot vector of n control points."""
    m = spans(n)
    return np.concatenate([np.zeros(2), np.arange(m + 1.0), np.full(2, m)])


def greville(n: int) -> Floats:
    """(n,) Greville abscissae: control points there make the map from parameters affine."""
    t = knots(n)
    return np.asarray(0.5 * (t[1 : n + 1] + t[2 : n + 2]))


@dataclass(frozen=True, eq=False)
class Basis:
    """The three functions that are not zero at each of q parameters, with derivatives."""

    first: Ints  # (q,) control point of the first of them
    value: Floats  # (q,3) N
    slope: Floats  # (q,3) dN/du
    curve: Floats  # (q,3) d2N/du2, of the span to the right of a knot


def basis(n: int, u: Floats) -> Basis:
    """The functions of n control points at parameters u (q,) in [0, n - 2].

    The three-term recursion (de Boor) written out for degree 2.
    """
    t, m = knots(n), spans(n)
    u = np.clip(np.asarray(u, dtype=np.float64), 0.0, m)
    first = np.minimum(u.astype(np.int32), m - 1)
    j = first + 2  # the span is t[j] to t[j+1]
    before, low, high, after = t[j - 1], t[j], t[j + 1], t[j + 2]
    left = 1 / ((high - before) * (high - low))
    right = 1 / ((after - low) * (high - low))
    N0, N2 = (high - u) ** 2 * left, (u - low) ** 2 * right
    d0, d2 = -2 * (high - u) * left, 2 * (u - low) * right
    return Basis(
        first,
        np.stack([N0, 1 - N0 - N2, N2], axis=1),
        np.stack([d0, -d0 - d2, d2], axis=1),
        np.stack([2 * left, -2 * left - 2 * right, 2 * right], axis=1),
    )


def coordinate(net: Floats, u: Floats) -> Floats:
    """(q,) value at parameters u of the function with coefficients ``net`` (n,)."""
    b = basis(len(net), u)
    return np.asarray((b.value * net[b.first[:, None] + np.arange(3)]).sum(1))


def parameter_of(net: Floats, s: Floats) -> Floats:
    """(q,) parameters at which the increasing function with coefficients ``net`` (n,) has the
    values s: a quadratic equation in every span.
    """
    m = spans(len(net))
    ends = coordinate(net, np.arange(m + 1.0))
    span = np.clip(np.searchsorted(ends, s, side="right") - 1, 0, m - 1)
    b = basis(len(net), span.astype(np.float64))
    local = net[span[:, None] + np.arange(3)]
    c, d, e = ((f * local).sum(1) for f in (b.value, b.slope, b.curve))  # c + d t + e t^2/2
    rest = np.clip(s, ends[0], ends[-1]) - c
    root = np.sqrt(np.maximum(d * d + 2 * e * rest, 0.0))
    return np.asarray(span + np.clip(2 * rest / (d + root), 0.0, 1.0))
