"""Quadratic B-splines of one variable on clamped uniform knots [0,0,0,1,...,m,m,m].

There are m = n - 2 knot spans for n control points, and the curve ends at its first and last
control point. Meng et al. 2025.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Ints
from weft.base.errors import MeshError

LEAST = 3  # smallest number of control points: one span


def spans(n: int) -> int:
    """Return the number of knot spans of n control points.

    Raises:
        MeshError: fewer than three control points.
    """
    if n < LEAST:
        raise MeshError("control points along a side", got=n, expected=f"at least {LEAST}")
    return n - 2


def knots(n: int) -> Floats:
    """Return the knot vector of n control points, (n+3,)."""
    m = spans(n)
    return np.concatenate([np.zeros(2), np.arange(m + 1.0), np.full(2, m)])


def greville(n: int) -> Floats:
    """Return the Greville abscissae of n control points, (n,).

    Control points at these parameters make the map from parameters to positions affine.
    """
    t = knots(n)
    return 0.5 * (t[1 : n + 1] + t[2 : n + 2])


@dataclass(frozen=True, eq=False)
class Basis:
    """Values and derivatives of the three nonzero basis functions at each of q parameters."""

    first: Ints  # (q,) control point of the first of the three
    value: Floats  # (q,3) N
    slope: Floats  # (q,3) dN/du
    curve: Floats  # (q,3) d2N/du2; at a knot, that of the span to its right

    def coefficients(self, net: Floats) -> Floats:
        """Return the three coefficients of ``net`` (n,) that count at each parameter, (q,3)."""
        return np.asarray(net[self.first[:, None] + np.arange(3)])


def basis(n: int, u: Floats) -> Basis:
    """Evaluate the basis functions of n control points at parameters u (q,) in [0, n - 2].

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
    """Return the spline with coefficients ``net`` (n,) at parameters u, (q,)."""
    b = basis(len(net), u)
    return np.asarray((b.value * b.coefficients(net)).sum(1))


def slope(net: Floats, u: Floats) -> Floats:
    """Return the derivative of the spline with coefficients ``net`` (n,) at parameters u, (q,)."""
    b = basis(len(net), u)
    return np.asarray((b.slope * b.coefficients(net)).sum(1))


def parameter_of(net: Floats, s: Floats) -> Floats:
    """Return the parameters at which an increasing spline has the values s, (q,).

    A quadratic equation in every span. Values outside the range are clamped to it.

    Args:
        net: (n,) coefficients of the spline.
        s: (q,) values.
    """
    m = spans(len(net))
    ends = coordinate(net, np.arange(m + 1.0))
    span = np.clip(np.searchsorted(ends, s, side="right") - 1, 0, m - 1)
    b = basis(len(net), span.astype(np.float64))
    local = b.coefficients(net)
    c, d, e = ((f * local).sum(1) for f in (b.value, b.slope, b.curve))  # c + d t + e t^2/2
    rest = np.clip(s, ends[0], ends[-1]) - c
    # This form of the root does not cancel, and it is also right for e = 0.
    root = np.sqrt(np.maximum(d * d + 2 * e * rest, 0.0))
    return np.asarray(span + np.clip(2 * rest / (d + root), 0.0, 1.0))
