"""Point springs (ties) of one step in NumPy, with the formulas of ``point_spring_kernels``."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.springs.point_spring_kernels import NEAR, PointSpring
from weft.energies.springs.rail import feet_on
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd


@dataclass(frozen=True, eq=False)
class Response:
    """Energies, forces and Hessians of m ties.

    Args:
        x: (m,3) [m] A.
        energy: (m,) [J].
        lost: (m,) [J] of damping and friction.
        g: (m,3) [N] dE/dA.
        K: (m,3,3) [N/m].
        tension: (m,) [N] phi', without damping and friction.
        s: (m,) [m] along the rail; zero without.
    """

    x: Positions
    energy: Floats
    lost: Floats
    g: Floats
    K: Floats
    tension: Floats
    s: Floats


@dataclass(frozen=True, eq=False)
class SpringGeometry:
    """Geometry of m ties.

    A is (m,3), r (m,) its distance from what holds it, n (m,3) the direction; on a rail also its
    direction t (m,3), the length s (m,) along it and its slope (m,).
    """

    x: Positions
    r: Floats
    n: Floats
    t: Floats
    s: Floats
    slope: Floats


@dataclass(frozen=True, eq=False)
class PointSpringsOfStep:
    """Ties in one step; fields as in ``point_spring_kernels.PointSpring``."""

    stencil: Ints
    c: Floats
    stiffness: Floats  # (m,)
    length: Floats  # (m,)
    onset: Floats  # (m,)
    pulls: bool
    place: Positions  # (m,3)
    rail: Positions | None  # (p,3)
    along: Floats | None  # (p,)
    before: Floats  # (m,)
    damping: float
    rub: Floats  # (m,)
    root: Floats  # (m,)
    slip: float
    low: Floats  # (m,)
    high: Floats  # (m,)

    def records(self, out: Any) -> WarpArray:
        """Return the ties on the device, written into zeroed records (m,)."""
        names = ("stiffness", "length", "onset", "place", "before", "rub", "root", "low", "high")
        for name in names:
            out[name] = getattr(self, name)
        out["pulls"], out["damping"], out["slip"] = int(self.pulls), self.damping, self.slip
        return kernel.array(out, PointSpring)

    def respond(self, x: Positions, psd: Psd = Psd.EXACT) -> Response:
        """Return energies, forces and Hessians at x (n,3)."""
        met, eye = self.met(x), np.eye(3)
        A, r, n, t, s, slope = met.x, met.r, met.n, met.t, met.s, met.slope
        apart = r > NEAR
        energy, tension, curve = self._pull(r)
        far = np.where(apart, r, 1.0)
        over = np.where(apart, tension / far, 0.0)
        over = np.where((self.length == 0) & (not self.pulls), self.stiffness, over)
        k = self.stiffness * self.damping
        late = k * (r - self.before)
        lost = 0.5 * late * (r - self.before)
        over = over + np.where(apart, late / far, 0.0)
        if Psd(psd) is not Psd.EXACT:
            over = np.maximum(over, 0.0)
        nn, tt = (np.einsum("mi,mj->mij", v, v) for v in (n, t))
        K = (curve + k)[:, None, None] * nn + over[:, None, None] * (eye - tt - nn)
        g = (tension + late)[:, None] * n
        rubbed, drag, stiff = self._rub(s - self.root)
        g = g + (drag * slope)[:, None] * t
        K = K + (stiff * slope**2)[:, None, None] * tt
        return Response(A, energy, lost + rubbed, g, K, tension, s)

    def met(self, x: Positions) -> "SpringGeometry":
        """Return the geometry of the ties at x (n,3)."""
        m = len(self.stencil)
        A = np.einsum("ma,mai->mi", self.c, np.asarray(x)[self.stencil])
        foot, t, s, slope = self.place, np.zeros((m, 3)), np.zeros(m), np.ones(m)
        if self.rail is not None and self.along is not None:
            found = feet_on(A, self.rail, self.along, self.low, self.high)
            foot, t, s, slope = found.place, found.t, found.s, found.slope
        d = A - foot
        r = np.linalg.norm(d, axis=1)
        apart = r > NEAR
        n = np.where(apart[:, None], d, 0.0) / np.where(apart, r, 1.0)[:, None]
        return SpringGeometry(A, r, n, t, s, slope)

    def softer(self, r: Floats) -> tuple[Floats, Floats]:
        """Return the derivatives of phi' by the length and by the onset, (m,) [N/m] each."""
        _, _, curve = self._pull(r)
        if not self.pulls:
            return -curve, np.zeros(len(r))
        e, w = np.maximum(r - self.length, 0.0), self.onset
        soft = e < w
        by_onset = np.where(soft, -((e / np.where(w > 0, w, 1.0)) ** 2), -1.0)
        return -curve, 0.5 * self.stiffness * np.where(e > 0, by_onset, 0.0)

    def rubbed(self, u: Floats) -> Floats:
        """Return D' of the slip u, (m,) [N]."""
        return self._rub(u)[1]

    def by_slip(self, u: Floats) -> Floats:
        """Return the derivative of D' by the slip distance, (m,) [N/m]."""
        y = np.abs(u) / self.slip
        return np.where(y < 1, -self.rub * (2 - 2 * y) * y / self.slip * np.sign(u), 0.0)

    def _pull(self, r: Floats) -> tuple[Floats, Floats, Floats]:
        """Return phi, phi' and phi'' at r."""
        k, e, w = self.stiffness, r - self.length, self.onset
        if not self.pulls:
            return 0.5 * k * e * e, k * e, k
        e = np.maximum(e, 0.0)
        wide = np.where(w > 0, w, 1.0)
        soft, h = e < w, e - 0.5 * w
        value = np.where(soft, k * e**3 / (6 * wide), 0.5 * k * h * h + k * w * w / 24)
        slope = np.where(soft, k * e * e / (2 * wide), k * h)
        curve = np.where(soft, k * e / wide, k)
        taut = e > 0
        return np.where(taut, value, 0.0), np.where(taut, slope, 0.0), np.where(taut, curve, 0.0)

    def _rub(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """Return D, D' and D'' of the slip u."""
        y, F, e, sign = np.abs(u) / self.slip, self.rub, self.slip, np.sign(u)
        soft = y < 1
        value = np.where(soft, F * e * y * y * (1 - y / 3), F * (np.abs(u) - e / 3))
        slope = np.where(soft, F * y * (2 - y), F) * sign
        return value, slope, np.where(soft, F * (2 - 2 * y) / e, 0.0)
