"""Derivatives of the threshold of the mollifier of nearly parallel edges.

Contact depends on the rest shape by this threshold (and by the mean mass): eps = c |e|^2 |f|^2 of
the rest lengths of both edges (Li et al. 2020). With C = |e x f|^2 and E = k m(C/eps) b, m(r) = r
(2 - r),

    d(dE/dx)/deps = k (dm'/deps b dC/dx + dm/deps b' dD/dx),
    dm/deps = 2 C (C - eps)/eps^3,   dm'/deps = (4 C - 2 eps)/eps^3.
"""

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.contact.barrier.barrier import PARALLEL_PART
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import closest_of


def threshold_slopes(contacts: ContactSet, y: Positions, rows: Ints) -> Floats:
    """Return (m,4,3) derivatives of the barrier's gradient by the threshold.

    Args:
        contacts: set of contact pairs.
        y: (n,3) [m] vertices.
        rows: (m,) indices of pairs in the set; the result is zero for pairs that are not mollified.
    """
    stencil, touch = contacts.stencil[rows], contacts.touch[rows]
    at = y[stencil]
    _, w, _, _ = closest_of(y, stencil, touch["kind"])
    v = np.einsum("ma,mai->mi", w, at)
    Y = touch["gap"] * (touch["gap"] + 2 * touch["thickness"])
    q = (v * v).sum(1) - touch["thickness"] ** 2
    near = q < Y
    q = np.where(near, q, Y)
    log = np.log(q / Y)
    b, slope = -((q - Y) ** 2) * log, (Y - q) * (2 * log - Y / q + 1)
    e, f = at[:, 1] - at[:, 0], at[:, 3] - at[:, 2]
    ee, ff, ef = ((p * r).sum(1) for p, r in ((e, e), (f, f), (e, f)))
    C = ee * ff - ef**2
    eps = np.where(touch["parallel"] > 0, touch["parallel"], 1.0)
    acts = (touch["parallel"] > 0) & (eps > C)
    by_e = 2 * (ff[:, None] * e - ef[:, None] * f)
    by_f = 2 * (ee[:, None] * f - ef[:, None] * e)
    dC = np.stack([-by_e, by_e, -by_f, by_f], axis=1)
    dD = 2 * np.einsum("ma,mi->mai", w, v)
    k = np.where(acts, touch["stiffness"] / eps**3, 0.0)
    first = (k * (4 * C - 2 * eps) * b)[:, None, None] * dC
    return np.asarray(first + (k * 2 * C * (C - eps) * slope)[:, None, None] * dD)


def by_rest_positions(rest: Positions, stencil: Ints, by_threshold: Floats) -> Floats:
    """Return (n,3) derivatives by rest positions.

    ``by_threshold`` (m,) are the derivatives by the thresholds of the edge pairs ``stencil`` (m,4).
    """
    out = np.zeros_like(np.asarray(rest, dtype=np.float64))
    e, f = (rest[stencil[:, k + 1]] - rest[stencil[:, k]] for k in (0, 2))
    ee, ff = (e * e).sum(1), (f * f).sum(1)
    part: Floats = 2 * float(PARALLEL_PART) * by_threshold
    for first, edge, other in ((0, e, ff), (2, f, ee)):
        slope = (part * other)[:, None] * edge
        np.add.at(out, stencil[:, first + 1], slope)
        np.add.at(out, stencil[:, first], -slope)
    return out
