"""Strain limits on cloth: the barrier law of ``laws/strain_limit.py`` at samples, and step bounds.

A direction d stretches a fiber to |f + t df|, whose square is a quadratic in t: the step to a limit
is its root. The sine of shear stays below its limit M while M^2 |f0|^2 |f1|^2 - (f0.f1)^2 > 0, a
polynomial of degree 4 along d. It is positive on [0, t] if its Bernstein coefficients on that
interval are positive. A step uses at most nine tenths of the bound, so no sample ever reaches a
limit.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Positions
from weft.energies.barrier import StepLimit
from weft.energies.by_constants import ByName
from weft.energies.elastic.membrane import Membrane, MembraneTerm
from weft.energies.elastic.membrane_reverse import DAMPING
from weft.energies.step import Step
from weft.kernel import DataType, Mat32Array, Scalar, ScalarArray, WarpArray, mat32, vec3
from weft.laws.strain_limit import COLLAPSED_SQ, NO_LIMIT, StrainLimitParams
from weft.solve.sparse.block_csr import BlockPattern

# Number of times that the interval for shear is halved, and of bisections that enlarge it again.
HALVINGS, REFINED = 40, 4
_module = wp.get_module("weft.strain_limit")

if TYPE_CHECKING:
    vec5 = DataType
else:
    vec5 = wp.types.vector(length=5, dtype=Scalar)


@wp.func
def fiber_reach(f: vec3, d: vec3, most: Scalar):
    """Return t > 0 at which |f + t d| is ``most``, or a large number if it never is.

    The root is computed in the form without cancellation.
    """
    a = wp.dot(d, d)
    reach = Scalar(1e30)
    if a > Scalar(0.0):
        b = wp.dot(f, d)
        c = wp.dot(f, f) - most * most
        root = wp.sqrt(wp.max(b * b - a * c, Scalar(0.0)))
        if b > Scalar(0.0):
            reach = -c / (b + root)
        else:
            reach = (root - b) / a
    return reach


@wp.func
def all_positive(g: vec5, t: Scalar):
    """Return whether sum_i g_i s^i is positive on [0, t], from its Bernstein coefficients there.

    The test is conservative: coefficients may be negative although the polynomial is positive.
    """
    h = vec5(g[0], g[1] * t, g[2] * t * t, g[3] * t * t * t, g[4] * t * t * t * t)
    b1 = h[0] + h[1] / Scalar(4.0)
    b2 = h[0] + h[1] / Scalar(2.0) + h[2] / Scalar(6.0)
    b3 = h[0] + Scalar(0.75) * h[1] + h[2] / Scalar(2.0) + h[3] / Scalar(4.0)
    b4 = h[0] + h[1] + h[2] + h[3] + h[4]
    return wp.min(wp.min(wp.min(h[0], b1), wp.min(b2, b3)), b4) > Scalar(0.0)


@wp.func
def shear_reach(f0: vec3, f1: vec3, d0: vec3, d1: vec3, most: Scalar, halvings: int, back: int):
    """Return t in [0, 1] up to which |sin gamma| stays below ``most``.

    t is halved until the Bernstein test passes, and then enlarged by a few bisections (``back``).
    """
    p0 = wp.dot(f0, f0) + COLLAPSED_SQ
    p1 = Scalar(2.0) * wp.dot(f0, d0)
    p2 = wp.dot(d0, d0)
    q0 = wp.dot(f1, f1) + COLLAPSED_SQ
    q1 = Scalar(2.0) * wp.dot(f1, d1)
    q2 = wp.dot(d1, d1)
    t0 = wp.dot(f0, f1)
    t1 = wp.dot(f0, d1) + wp.dot(d0, f1)
    t2 = wp.dot(d0, d1)
    m = most * most
    g = vec5(
        m * p0 * q0 - t0 * t0,
        m * (p0 * q1 + p1 * q0) - Scalar(2.0) * t0 * t1,
        m * (p0 * q2 + p1 * q1 + p2 * q0) - t1 * t1 - Scalar(2.0) * t0 * t2,
        m * (p1 * q2 + p2 * q1) - Scalar(2.0) * t1 * t2,
        m * p2 * q2 - t2 * t2,
    )
    t = Scalar(1.0)
    if not all_positive(g, t):
        left = halvings
        while left > 0:
            t = Scalar(0.5) * t
            left -= 1
            if all_positive(g, t):
                left = 0
        if not all_positive(g, t):
            t = Scalar(0.0)
        high = Scalar(2.0) * t
        for _k in range(back):
            middle = Scalar(0.5) * (t + high)
            if all_positive(g, middle):
                t = middle
            else:
                high = middle
    return t


@wp.func
def column(F: mat32, j: int):
    """Return column j of F, the image of a fiber."""
    return vec3(F[0, j], F[1, j], F[2, j])


@wp.kernel(module=_module)
def reaches(
    o: int,
    F: Mat32Array,
    D: Mat32Array,
    p: wp.array(dtype=StrainLimitParams),
    halvings: int,
    back: int,
    out: ScalarArray,
):
    """Compute how far along D every sample may go before it reaches a limit."""
    q = o + wp.tid()
    f0 = column(F[q], 0)
    f1 = column(F[q], 1)
    d0 = column(D[q], 0)
    d1 = column(D[q], 1)
    warp = p[q].most_warp
    weft = p[q].most_weft
    sine = p[q].most_shear
    reach = Scalar(1e30)
    if warp < Scalar(NO_LIMIT):
        reach = wp.min(reach, fiber_reach(f0, d0, warp))
    if weft < Scalar(NO_LIMIT):
        reach = wp.min(reach, fiber_reach(f1, d1, weft))
    if sine < Scalar(NO_LIMIT):
        t = shear_reach(f0, f1, d0, d1, sine, halvings, back)
        if t < Scalar(1.0):
            reach = wp.min(reach, t)
    out[q] = reach


@dataclass(frozen=True, eq=False)
class StrainLimits(Membrane):
    """Strain limits of cloth at its samples; on triangles, of every triangle.

    They are a membrane without damping, whose energy is infinite beyond a limit.
    """

    name: str = "strain limit"

    def measure_strain(self, x: Positions) -> Floats:
        """Return stretch of warp and weft and sine of shear at x (n,3), (q,3)."""
        F = self.samples.deformation_gradient(np.asarray(x))
        r = np.linalg.norm(F, axis=1)
        sine = np.einsum("qi,qi->q", F[:, :, 0], F[:, :, 1]) / np.maximum(r.prod(1), 1e-300)
        return np.concatenate([r, np.abs(sine)[:, None]], axis=1)

    @property
    def constants(self) -> ByName:
        """Numbers of the law, by name."""
        return {n: c for n, c in super().constants.items() if n != DAMPING}

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (q,), for ``by`` (q,k,3) of each sample."""
        return {n: d for n, d in super().contract(x, by).items() if n != DAMPING}

    def bind(self, pattern: BlockPattern) -> "LimitsTerm":
        """Bind the limits to the block pattern of a matrix."""
        return LimitsTerm(self, pattern)


class LimitsTerm(StepLimit, MembraneTerm):
    """Strain limits bound to a block pattern: a membrane that bounds steps."""

    settled_part = 0.1
    is_elastic = False

    energy: StrainLimits

    @cached_property
    def _D(self) -> WarpArray:
        return kernel.empty(len(self.samples), mat32)

    def zero_tables(self) -> None:
        """Return None: how the term depends on the rest shape is not known."""

    def reaches(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return the multiple of d (n,) vec3 at which a limit is met, for every sample."""
        s, n = self.samples, len(self.samples)
        out = self.scratch.take(n)
        self._deformed = False
        last = (reaches, self._F, self._D, *self._elastic[1], HALVINGS, REFINED, out)
        kernel.launch_each(n, s.deform(x, self._F), s.deform(d, self._D), last)
        return out
