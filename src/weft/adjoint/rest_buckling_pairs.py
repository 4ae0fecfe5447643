"""Derivatives of pairs that buckle into arcs (``energies.elastic.buckling_bending``).

They are derivatives by lengths L, areas A and stiffness k of pairs of vertices at rest. With r =
d/L and f = dE/dr, s = f/L dd, dd the change of d along ``by``. Below ``start`` a pair is an arc, f
= e a'(r) with e = k A/L^2; above, until it is as long as at rest, it is a spring, f = c A (r - 1).
Its damping is V (r - r_n), with V the rate times df/dr at r_n. The length at which the arc begins
depends on all three as well, but this has no effect because f is equal on both sides.
"""

from dataclasses import dataclass, field

import numpy as np

from weft import kernel
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Bools, Floats, Positions
from weft.energies.elastic.buckled_arc import arc_energy
from weft.energies.elastic.buckling_bending import BucklingBending
from weft.energies.element_energy import BoundElementEnergy

DIFFERENCE = 1e-4  # step in r, for the third derivative of an arc


@dataclass(frozen=True, eq=False)
class _Slope:
    """f or df/dr of every pair, and its derivatives at a fixed r.

    They are derivatives by r, and by the logarithms of L, A and k.
    """

    value: Floats  # (m,)
    by_r: Floats
    by_length: Floats
    by_area: Floats
    by_stiffness: Floats


@dataclass(eq=False)
class ByPairs:
    """Derivatives by the logarithms of lengths, areas and stiffness of pairs."""

    term: BoundElementEnergy
    length: Floats = field(init=False)  # (m,)
    area: Floats = field(init=False)
    stiffness: Floats = field(init=False)

    def __post_init__(self) -> None:
        m = len(self.term.energy.stencil)
        self.length, self.area, self.stiffness = np.zeros(m), np.zeros(m), np.zeros(m)

    def add(self, back: ReverseStep, by: Floats) -> None:
        """Add the contribution of one step."""
        e, step = self._energy, back.phi.step
        d, moved = (y[e.pairs[:, 1]] - y[e.pairs[:, 0]] for y in (self._x(back), by))
        size = np.linalg.norm(d, axis=1)
        r, along = size / e.length, (d * moved).sum(1) / size / e.length
        f = self._force(r)
        self.length += along * (f.by_length - f.value - r * f.by_r)
        self.area += along * f.by_area
        self.stiffness += along * f.by_stiffness
        rate = e.damping / step.span
        if rate == 0:
            return
        now = self._distance(np.asarray(step.state.x))
        since = r - now
        if step.past is not None:
            since = since - step.past[1] * (now - self._distance(np.asarray(step.past[0])))
        V = self._stiffness(now)
        self.length += rate * along * since * (V.by_length - now * V.by_r - 2 * V.value)
        self.area += rate * along * since * V.by_area
        self.stiffness += rate * along * since * V.by_stiffness

    @property
    def _energy(self) -> BucklingBending:
        assert isinstance(self.term.energy, BucklingBending)
        return self.term.energy

    @staticmethod
    def _x(back: ReverseStep) -> Positions:
        return np.asarray(kernel.numpy(back.x))

    def _distance(self, x: Positions) -> Floats:
        """Return (m,) r = d/L at x (n,3)."""
        e = self._energy
        return np.asarray(np.linalg.norm(x[e.pairs[:, 1]] - x[e.pairs[:, 0]], axis=1) / e.length)

    def _parts(self, r: Floats) -> tuple[Bools, Floats, Floats]:
        """Return which pairs are arcs, e of arcs, and stiffness c A of springs, zero elsewhere."""
        p = self._energy.records
        arc = r < p["start"]
        return arc, np.where(arc, p["arc"], 0.0), np.where(~arc & (r < p["rest"]), p["spring"], 0.0)

    def _force(self, r: Floats) -> _Slope:
        """Return f = dE/dr and its derivatives."""
        arc, e, c = self._parts(r)
        _, one, two = arc_energy(np.where(arc, r, 0.5)).T
        bent, pushed = e * one, c * (r - 1)
        return _Slope(bent + pushed, e * two + c, -2 * bent, bent + pushed, bent)

    def _stiffness(self, r: Floats) -> _Slope:
        """Return df/dr and its derivatives."""
        arc, e, c = self._parts(r)
        at = np.where(arc, r, 0.5)
        two, high, low = (arc_energy(at + k * DIFFERENCE)[:, 2] for k in (0, 1, -1))
        bent, third = e * two, e * (high - low) / (2 * DIFFERENCE)
        return _Slope(bent + c, third, -2 * bent, bent + c, bent)
