"""Derivatives of pairs that buckle into arcs by the rest shape (``buckling_bending``).

They are derivatives of s = by . dE/dx by lengths L, areas A and stiffness k of pairs of vertices at
rest. With r = d/L and f = dE/dr, s = f/L dd, dd the change of d along ``by``. Below ``start`` a
pair is an arc, f = e a'(r) with e = k A/L^2; above, until it is as long as at rest, it is a spring,
f = c A (r - 1). Its damping is V (r - r_n), with V the rate times df/dr at r_n. The length at which
the arc begins depends on all three as well, but this has no effect because f is equal on both
sides.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weft.base.arrays import Bools, Floats, Positions
from weft.energies.by_constants import ByName
from weft.energies.elastic.buckled_arc import arc_energy
from weft.energies.step import Step

if TYPE_CHECKING:
    from weft.energies.elastic.buckling_bending import BucklingBending

DIFFERENCE = 1e-4  # step in r, for the third derivative of an arc


@dataclass(frozen=True, eq=False)
class PairSlope:
    """f or df/dr of every pair, and its derivatives at a fixed r.

    They are derivatives by r, and by the logarithms of L, A and k.
    """

    value: Floats  # (m,)
    by_r: Floats
    by_length: Floats
    by_area: Floats
    by_stiffness: Floats


def by_logarithms(energy: "BucklingBending", step: Step, x: Positions, by: Floats) -> ByName:
    """Return derivatives (m,) of s by the logarithms of ``length``, ``area`` and ``stiffness``.

    Args:
        energy: the pairs.
        step: for which damping is frozen.
        x: (n,3) [m] end of the step.
        by: (n,3).
    """
    d, moved = (y[energy.pairs[:, 1]] - y[energy.pairs[:, 0]] for y in (x, by))
    size = np.linalg.norm(d, axis=1)
    r, along = size / energy.length, (d * moved).sum(1) / size / energy.length
    f = _force(energy, r)
    out = {
        "length": along * (f.by_length - f.value - r * f.by_r),
        "area": along * f.by_area,
        "stiffness": along * f.by_stiffness,
    }
    rate = energy.damping / step.span
    if rate == 0:
        return out
    now = _distance(energy, np.asarray(step.state.x))
    since = r - now
    if step.past is not None:
        since = since - step.past[1] * (now - _distance(energy, np.asarray(step.past[0])))
    V = _stiffness(energy, now)
    late = rate * along * since
    out["length"] += late * (V.by_length - now * V.by_r - 2 * V.value)
    out["area"] += late * V.by_area
    out["stiffness"] += late * V.by_stiffness
    return out


def _distance(energy: "BucklingBending", x: Positions) -> Floats:
    """Return (m,) r = d/L at x (n,3)."""
    d = np.linalg.norm(x[energy.pairs[:, 1]] - x[energy.pairs[:, 0]], axis=1)
    return np.asarray(d / energy.length)


def _parts(energy: "BucklingBending", r: Floats) -> tuple[Bools, Floats, Floats]:
    """Return which pairs are arcs, e of arcs, and stiffness c A of springs, zero elsewhere."""
    p = energy.records
    arc = r < p["start"]
    return arc, np.where(arc, p["arc"], 0.0), np.where(~arc & (r < p["rest"]), p["spring"], 0.0)


def _force(energy: "BucklingBending", r: Floats) -> PairSlope:
    """Return f = dE/dr and its derivatives."""
    arc, e, c = _parts(energy, r)
    _, one, two = arc_energy(np.where(arc, r, 0.5)).T
    bent, pushed = e * one, c * (r - 1)
    return PairSlope(bent + pushed, e * two + c, -2 * bent, bent + pushed, bent)


def _stiffness(energy: "BucklingBending", r: Floats) -> PairSlope:
    """Return df/dr and its derivatives."""
    arc, e, c = _parts(energy, r)
    at = np.where(arc, r, 0.5)
    two, high, low = (arc_energy(at + k * DIFFERENCE)[:, 2] for k in (0, 1, -1))
    bent, third = e * two, e * (high - low) / (2 * DIFFERENCE)
    return PairSlope(bent + c, third, -2 * bent, bent + c, bent)
