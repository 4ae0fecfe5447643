"""Spacing of rings on one rail: neighbors closer than a given distance push each other apart.

    E = phi(w - (s_j - s_i)),   phi(e) = 0 where e < 0, k e^3/(6 o) up to the onset o,
    k (e - o/2)^2/2 + k o^2/24 beyond

s is the length along the rail of a ring's foot, so the push is along the rail, and C2 in s. The
distance is signed: rings that have passed one another are pushed back, so they keep their order.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.base import Bound
from weft.energies.by_constants import ByName, repeat_per_element
from weft.energies.gather import FACTOR, GatherMap
from weft.energies.springs.point_spring_kernels import PointSpringSet, foot_on
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.rail import Feet, feet_on
from weft.energies.step import Step
from weft.kernel import (
    IntArray2d,
    Scalar,
    ScalarArray,
    Scratch,
    Vec3Array,
    Vec3Array2d,
    WarpArray,
    vec3,
)
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern

_module = wp.get_module("weft.ring_spacing")
ONSET = 0.1  # part of the distance within which the push becomes stiff


@wp.func
def foot_of(i: int, x: Vec3Array, T: PointSpringSet):
    """Return the foot of ring i."""
    A = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    for a in range(T.stencil.shape[1]):
        A += T.c[i, a] * x[T.stencil[i, a]]
    return foot_on(A, T.rail, T.along, T.tie[i].low, T.tie[i].high)


@wp.func
def push_of(e: Scalar, k: Scalar, onset: Scalar):
    """Return phi, phi' and phi''."""
    value = Scalar(0.0)
    slope = Scalar(0.0)
    curve = Scalar(0.0)
    if e > Scalar(0.0):
        if e < onset:
            value = k * e * e * e / (Scalar(6.0) * onset)
            slope = k * e * e / (Scalar(2.0) * onset)
            curve = k * e / onset
        else:
            h = e - Scalar(0.5) * onset
            value = Scalar(0.5) * k * h * h + k * onset * onset / Scalar(24.0)
            slope = k * h
            curve = k
    return value, slope, curve


@wp.kernel(module=_module)
def neighbors(
    o: int,
    x: Vec3Array,
    T: PointSpringSet,
    pair: IntArray2d,
    stiffness: ScalarArray,
    apart: Scalar,
    onset: Scalar,
    second: int,
    energy: ScalarArray,
    out: Vec3Array2d,
):
    """Compute E of every pair, and its gradient or the factor f of its Hessian f f^T.

    The factor is computed if ``second`` is 1.
    """
    q = o + wp.tid()
    i = pair[q, 0]
    j = pair[q, 1]
    f = foot_of(i, x, T)
    h = foot_of(j, x, T)
    value, slope, curve = push_of(apart - (h.s - f.s), stiffness[q], onset)
    energy[q] = value
    size = slope
    if second == 1:
        size = wp.sqrt(curve)
    k = T.stencil.shape[1]
    for a in range(k):
        out[q, a] = size * T.c[i, a] * f.slope * f.t
        out[q, k + a] = -size * T.c[j, a] * h.slope * h.t


@dataclass(frozen=True, eq=False)
class RingSpacing:
    """Spacing energy of neighboring rings of an attachment.

    Args:
        rings: the attachment, on a rail.
        pairs: (q,2) neighbors, in the order of the rail.
        apart: [m] distance that they keep.
        stiffness: (q,) [N/m].
        name: of the energy.
    """

    rings: PointSprings
    pairs: Ints
    apart: float
    stiffness: Floats
    name: str = "spacing"

    @property
    def stencil(self) -> Ints:
        """Points of both rings of each pair, (q,2k)."""
        s = self.rings.stencil
        return np.concatenate([s[self.pairs[:, 0]], s[self.pairs[:, 1]]], axis=1)

    @property
    def onset(self) -> float:
        """Distance [m] within which the push becomes stiff."""
        return ONSET * self.apart

    def _feet(self, x: Positions) -> Feet:
        rings = self.rings
        assert rings.rail is not None and rings.along is not None
        return feet_on(rings.points(x), rings.rail.start, rings.along)

    def _push(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Return phi, phi' and phi'' of every pair."""
        i, j = self.pairs.T
        e, k, w = np.maximum(self.apart - (s[j] - s[i]), 0.0), self.stiffness, self.onset
        soft, h = e < w, e - w / 2
        value = np.where(soft, k * e**3 / (6 * w), 0.5 * k * h * h + k * w * w / 24)
        slope = np.where(soft, k * e * e / (2 * w), k * h)
        return value, slope, np.where(soft, k * e / w, k)

    def _along(self, feet: Feet) -> Floats:
        """Return minus the derivative of s_j - s_i, (q,2k,3)."""
        (i, j), c, ds = self.pairs.T, self.rings.c, feet.slope[:, None] * feet.t
        return np.concatenate(
            [c[i][:, :, None] * ds[i][:, None], -c[j][:, :, None] * ds[j][:, None]], axis=1
        )

    def value(self, x: Positions) -> Floats:
        """Return the energies at the start, (q,) [J]."""
        return self._push(self._feet(x).s)[0]

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (q,2k,3) [N]."""
        feet = self._feet(x)
        return np.asarray(self._push(feet.s)[1][:, None, None] * self._along(feet))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (q,2k,2k,3,3) [N/m]; they are never indefinite.

        The second derivative of s is left out.
        """
        feet = self._feet(x)
        f, curve = self._along(feet), self._push(feet.s)[2]
        return np.asarray(np.einsum("q,qai,qbj->qabij", curve, f, f))

    @property
    def constants(self) -> ByName:
        """Constants by name: distance [m] and stiffness [N/m]."""
        return {
            "apart": repeat_per_element(self.apart, len(self.pairs)),
            "stiffness": self.stiffness,
        }

    @property
    def structure(self) -> Any:
        """Data besides the constants: the rings and the pairs of neighbors."""
        return self.rings.structure, self.pairs

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (q,2k,3); the onset changes with the distance."""
        rings, k, w = self.rings, self.stiffness, self.onset
        frozen = rings.start if step is None else rings.at_end(step)
        met = frozen.met(x)
        holds = (frozen.stiffness > 0) | (rings.stiffness == 0)
        k = np.where(holds[self.pairs].all(axis=1), k, 0.0)
        e = np.maximum(self.apart - (met.s[self.pairs[:, 1]] - met.s[self.pairs[:, 0]]), 0.0)
        soft, part = e < w, e / w
        slope = np.where(soft, e * part / 2, e - w / 2)
        by_apart = np.where(soft, part - ONSET * part**2 / 2, 1 - ONSET / 2)
        along = self._along(Feet(met.x, met.t, met.s, met.slope))
        by = {"apart": k * by_apart, "stiffness": np.where(k > 0, slope, 0.0)}
        return {name: d[:, None, None] * along for name, d in by.items()}

    def bind(self, pattern: BlockPattern) -> "BoundSpacing":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        rows = GatherMap.of(self.stencil, self.rings.n_vertices, pattern)
        return BoundSpacing(self, rows, pattern)


class BoundSpacing(Bound):
    """Spacing of neighbors on a rail, bound to a block pattern."""

    def __init__(self, energy: RingSpacing, rows: GatherMap, pattern: BlockPattern) -> None:
        self.energy, self.name, self.rows = energy, energy.name, rows
        self.scratch: Scratch = pattern.scratch
        self._rings = energy.rings.bind(pattern)
        self._pairs = kernel.array(np.asarray(energy.pairs, np.int32), wp.int32)
        self._values = kernel.empty(len(energy.pairs))
        self._stiffness = kernel.array(energy.stiffness, Scalar)

    def update_constants(self, energy: RingSpacing) -> None:
        """Take distance and stiffness of another energy, and the constants of its rings."""
        self.energy = energy
        self._rings.update_constants(energy.rings)

    def freeze(self, step: Step) -> None:
        """Take the rail at the end of the step, and the rings that are on it."""
        self._rings.freeze(step)
        holds = self._rings.holding[self.energy.pairs].all(axis=1)
        self._stiffness = kernel.array(np.where(holds, self.energy.stiffness, 0.0), Scalar)

    def _neighbors(self, x: WarpArray, second: bool) -> WarpArray:
        e, m = self.energy, len(self.energy.pairs)
        out = self.scratch.take((m, 2 * e.rings.stencil.shape[1]), vec3)
        numbers = (Scalar(e.apart), Scalar(e.onset), int(second))
        arrays = (x, self._rings.device, self._pairs, self._stiffness)
        kernel.launch(neighbors, m, *arrays, *numbers, self._values, out)
        return out

    def value(self, x: WarpArray) -> float:
        """Return the total energy [J]."""
        self._neighbors(x, False)
        return kernel.total(self._values)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx to g."""
        self.rows.add_gradient(self._neighbors(x, False), g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add d2E/dx2 to A and return A."""
        self.rows.add_rows(FACTOR, self._neighbors(x, True), A)
        return A
