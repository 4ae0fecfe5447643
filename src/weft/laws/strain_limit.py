"""Strain limits as a law: a barrier on the stretch of each fiber and on the angle of shear.

    psi(F) = sum_i k_i (m_i - a_i)^2 b((e_i - a_i)/(m_i - a_i)),   b(y) = -y^2 log(1 - y) for y > 0

The sum runs over the stretches e = |f0| and e = |f1| and over e = |sin gamma|, where gamma is the
angle by which the fibers deviate from the right angle. psi is zero up to the onset a and infinite
at the limit m. The function b is C2 and convex. It is that of Li et al. 2021 (Codimensional IPC,
section 5), which has it for singular values; here it acts on warp, weft and shear, as fabrics limit
them. k is a stiffness [N/m]: beyond the onset the fabric gets about that much stiffer.

Without a limit m is infinite. Compression is not limited. The lengths in sin gamma = f0.f1/(|f0|
|f1|) are guarded, sqrt(f.f + e^2) with e = 1e-6, because a fiber may collapse.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft.base.arrays import Floats
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.kernel import Scalar, mat32, mat33, vec3
from weft.laws.base import SingleLaw
from weft.laws.fiber import columns, from_columns
from weft.laws.functions import LawFunctions
from weft.laws.generated import clamp6, mat66
from weft.solve.newton.psd import Psd

COLLAPSED_SQ = Scalar(1e-12)  # square of the stretch e that guards lengths
NO_LIMIT = 1e300  # stands for infinity, so that differences and quotients stay finite


@wp.struct
class StrainLimitParams:
    """Onset and limit of stretch [1] and of the sine of shear [1], and stiffness [N/m]."""

    onset_warp: Scalar
    most_warp: Scalar
    onset_weft: Scalar
    most_weft: Scalar
    onset_shear: Scalar
    most_shear: Scalar
    stretch_warp: Scalar
    stretch_weft: Scalar
    shear: Scalar


@wp.func
def barrier(e: Scalar, a: Scalar, m: Scalar):
    """Return (m - a)^2 b(y) and its first and second derivative by e, y = (e - a)/(m - a)."""
    b = Scalar(0.0)
    b1 = Scalar(0.0)
    b2 = Scalar(0.0)
    if e > a:
        width = m - a
        y = (e - a) / width
        left = Scalar(1.0) - y
        if left > Scalar(0.0):
            r = wp.log(left)
            b = -width * width * y * y * r
            b1 = width * (y * y / left - Scalar(2.0) * y * r)
            b2 = y * y / (left * left) + Scalar(4.0) * y / left - Scalar(2.0) * r
        else:
            b = Scalar(wp.inf)
    return b, b1, b2


@wp.func
def sine_of_shear(f0: vec3, f1: vec3):
    """Return f0.f1/(|f0| |f1|), and the guarded lengths."""
    r0 = wp.sqrt(wp.dot(f0, f0) + COLLAPSED_SQ)
    r1 = wp.sqrt(wp.dot(f1, f1) + COLLAPSED_SQ)
    return wp.dot(f0, f1) / (r0 * r1), r0, r1


@wp.func
def psi(F: mat32, p: StrainLimitParams):
    """Return the energy density."""
    f0, f1 = columns(F)
    s, _r0, _r1 = sine_of_shear(f0, f1)
    warp, _w1, _w2 = barrier(wp.length(f0), p.onset_warp, p.most_warp)
    weft, _v1, _v2 = barrier(wp.length(f1), p.onset_weft, p.most_weft)
    shear, _s1, _s2 = barrier(wp.abs(s), p.onset_shear, p.most_shear)
    return p.stretch_warp * warp + p.stretch_weft * weft + p.shear * shear


@wp.func
def fiber_pull(f: vec3, k: Scalar, a: Scalar, m: Scalar):
    """Return d/df of k times the barrier of |f|."""
    r = wp.length(f)
    _b, b1, _b2 = barrier(r, a, m)
    pull = vec3(Scalar(0.0))
    if b1 > Scalar(0.0):
        pull = (k * b1 / r) * f
    return pull


@wp.func
def pk1(F: mat32, p: StrainLimitParams):
    """Return the first Piola-Kirchhoff stress."""
    f0, f1 = columns(F)
    P0 = fiber_pull(f0, p.stretch_warp, p.onset_warp, p.most_warp)
    P1 = fiber_pull(f1, p.stretch_weft, p.onset_weft, p.most_weft)
    s, r0, r1 = sine_of_shear(f0, f1)
    _b, b1, _b2 = barrier(wp.abs(s), p.onset_shear, p.most_shear)
    if b1 > Scalar(0.0):
        slope = p.shear * b1 * wp.sign(s)
        P0 += (slope / r0) * (f1 / r1 - s * (f0 / r0))
        P1 += (slope / r1) * (f0 / r0 - s * (f1 / r1))
    return from_columns(P0, P1)


@wp.func
def fiber_stiffness(f: vec3, k: Scalar, a: Scalar, m: Scalar):
    """Return d2/df2 of k times the barrier of |f|: b'' along f, b'/|f| across, neither negative."""
    r = wp.length(f)
    _b, b1, b2 = barrier(r, a, m)
    H = mat33(Scalar(0.0))
    if b2 > Scalar(0.0):
        n = f / r
        across = k * b1 / r
        H = across * wp.identity(n=3, dtype=Scalar) + (k * b2 - across) * wp.outer(n, n)
    return H


@wp.func
def fiber_gauss_newton(f: vec3, k: Scalar, a: Scalar, m: Scalar):
    """Return the Gauss-Newton part of ``fiber_stiffness``: b'' along f alone."""
    r = wp.length(f)
    _b, _b1, b2 = barrier(r, a, m)
    H = mat33(Scalar(0.0))
    if b2 > Scalar(0.0):
        H = (k * b2 / (r * r)) * wp.outer(f, f)
    return H


@wp.func
def clamp(uu: mat33, uv: mat33, vv: mat33, n: int):
    """Return the blocks of the symmetric 6 x 6 matrix with its negative eigenvalues set to zero.

    n is 6, as in ``generated.clamp6``.
    """
    H = mat66(Scalar(0.0))
    for i in range(3):
        for j in range(3):
            H[i, j] = uu[i, j]
            H[i, j + 3] = uv[i, j]
            H[j + 3, i] = uv[i, j]
            H[i + 3, j + 3] = vv[i, j]
    H = clamp6(H, n)
    for i in range(3):
        for j in range(3):
            uu[i, j] = H[i, j]
            uv[i, j] = H[i, j + 3]
            vv[i, j] = H[i + 3, j + 3]
    return uu, uv, vv


@wp.func
def hessian(F: mat32, p: StrainLimitParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv); PROJECTED clamps the part of the shear."""
    f0, f1 = columns(F)
    uu = mat33(Scalar(0.0))
    uv = mat33(Scalar(0.0))
    vv = mat33(Scalar(0.0))
    s, r0, r1 = sine_of_shear(f0, f1)
    _b, b1, b2 = barrier(wp.abs(s), p.onset_shear, p.most_shear)
    if b2 > Scalar(0.0):
        e0 = f0 / r0
        e1 = f1 / r1
        g0 = (e1 - s * e0) / r0
        g1 = (e0 - s * e1) / r1
        along = p.shear * b2
        uu = along * wp.outer(g0, g0)
        uv = along * wp.outer(g0, g1)
        vv = along * wp.outer(g1, g1)
        if psd != Psd.GAUSS_NEWTON:
            c = p.shear * b1 * wp.sign(s)
            I3 = wp.identity(n=3, dtype=Scalar)
            P0 = I3 - wp.outer(e0, e0)
            P1 = I3 - wp.outer(e1, e1)
            uu -= (c / r0) * (wp.outer(e0, g0) + wp.outer(g0, e0) + (s / r0) * P0)
            vv -= (c / r1) * (wp.outer(e1, g1) + wp.outer(g1, e1) + (s / r1) * P1)
            uv += (c / r0) * (P1 / r1 - wp.outer(e0, g1))
            if psd == Psd.PROJECTED:
                # psd + 5 is 6 here. The compiler does not know it as a constant, so loops stay
                # rolled, and compilation is short.
                uu, uv, vv = clamp(uu, uv, vv, psd + 5)
    if psd == Psd.GAUSS_NEWTON:
        uu += fiber_gauss_newton(f0, p.stretch_warp, p.onset_warp, p.most_warp)
        vv += fiber_gauss_newton(f1, p.stretch_weft, p.onset_weft, p.most_weft)
    else:
        uu += fiber_stiffness(f0, p.stretch_warp, p.onset_warp, p.most_warp)
        vv += fiber_stiffness(f1, p.stretch_weft, p.onset_weft, p.most_weft)
    return uu, uv, vv


@checked(LawError)
@documented
@dataclass(frozen=True, eq=False, repr=False)
class StrainLimit(SingleLaw):
    """Barriers on the stretch of warp and weft and on the angle of shear.

    Raises:
        LawError: a limit that is not beyond the rest strain, or another number out of range.
    """

    stretch: tuple[float | None, float | None] = setting(
        (None, None), "largest of warp and weft, each above ``rest``; None: no limit", "1"
    )
    shear: float | None = setting(
        None, "largest angle of shear; None: no limit", "rad", above=0, below=math.pi / 2
    )
    stiffness: tuple[float, float, float] = setting(
        (1000.0, 1000.0, 100.0), "of the barriers of warp, weft and shear", "N/m", above=0
    )
    onset: float = setting(
        0.5, "part of the way from rest to the limit where a barrier begins", least=0, below=1
    )
    rest: tuple[float, float] = setting((1.0, 1.0), "stretch of warp and weft at rest", "1")
    functions = LawFunctions("strain_limit", StrainLimitParams, psi, pk1, hessian)

    def __post_init__(self) -> None:
        for most, rest, word in zip(self.stretch, self.rest, ("warp", "weft")):
            if most is not None and not most > rest:
                raise LawError(
                    f"limit of {word} stretch", got=most, expected=f"must be > {rest:g}, at rest"
                )

    @property
    def most(self) -> tuple[float, float, float]:
        """Largest stretch of warp and weft, and sine of shear; ``NO_LIMIT`` where there is none."""
        warp, weft = (NO_LIMIT if m is None else m for m in self.stretch)
        return warp, weft, NO_LIMIT if self.shear is None else float(np.sin(self.shear))

    def parameters(self) -> Mapping[str, Floats | float]:
        """Return the fields of ``StrainLimitParams``."""
        begin = (*self.rest, 0.0)
        names, values = ("warp", "weft", "shear"), {}
        for name, most, rest in zip(names, self.most, begin):
            part = rest + self.onset * (most - rest) if most < NO_LIMIT else 0.5 * NO_LIMIT
            values[f"onset_{name}"], values[f"most_{name}"] = part, most
        keys = ("stretch_warp", "stretch_weft", "shear")
        return {**values, **dict(zip(keys, self.stiffness))}
