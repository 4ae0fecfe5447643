"""Baraff-Witkin cloth as a finite element law, the default law of weft.

    psi(F) = 1/2 ku (|f0| - bu)^2 + 1/2 kv (|f1| - bv)^2 + 1/2 ks (f0 . f1)^2

with F = [f0 f1]; I5(u) = f0.f0, I5(v) = f1.f1, I6 = f0.f1, I2 = I5(u) + I5(v). Source: Kim 2020,
sections 3.3 and 4, in weft's convention with the factor 1/2.

PROJECTED is the projected stretch Hessian plus the projected shear Hessian, as in the paper's
Appendix A. Each of the two is the exact eigenvalue clamp of its own term; their sum is positive
semi-definite but is *not* the clamp of the sum
(``tests/engine/laws/test_baraff_witkin.py::test_projection_is_per_term``). Fibers in other
directions than the axes of the material are in ``skewed``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import warp as wp

from weft.base.arrays import Floats, Gradients
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat32, mat33, vec3
from weft.laws import skewed
from weft.laws.base import SingleLaw
from weft.laws.fiber import columns, fiber_force, fiber_hessian, from_columns, guarded_length
from weft.laws.functions import LawFunctions
from weft.laws.spectra import (
    Direction,
    Eigensystem,
    directions,
    fiber_spectrum,
    shear_spectrum,
)
from weft.solve.newton.psd import Psd


@wp.struct
class BaraffWitkinParams:
    """Stiffness per direction [N/m] and rest stretch [1]."""

    stretch_warp: Scalar
    stretch_weft: Scalar
    shear: Scalar
    rest_warp: Scalar
    rest_weft: Scalar


@wp.func
def psi(F: mat32, p: BaraffWitkinParams):
    """Return the energy density. Kim 2020, eqs. 11 and 13, each term with 1/2."""
    f0, f1 = columns(F)
    length0, _s0, _o0, _c0 = guarded_length(wp.length(f0))
    length1, _s1, _o1, _c1 = guarded_length(wp.length(f1))
    stretch0 = length0 - p.rest_warp
    stretch1 = length1 - p.rest_weft
    I6 = wp.dot(f0, f1)
    return Scalar(0.5) * (
        p.stretch_warp * stretch0 * stretch0
        + p.stretch_weft * stretch1 * stretch1
        + p.shear * I6 * I6
    )


@wp.func
def pk1(F: mat32, p: BaraffWitkinParams):
    """Return the first Piola-Kirchhoff stress.

    Its shear part is ks I6 F (a b^T + b a^T), Kim 2020, eq. 29.
    """
    f0, f1 = columns(F)
    I6 = p.shear * wp.dot(f0, f1)
    P0 = fiber_force(f0, p.stretch_warp, p.rest_warp) + I6 * f1
    P1 = fiber_force(f1, p.stretch_weft, p.rest_weft) + I6 * f0
    return from_columns(P0, P1)


@wp.func
def along_eigenvector(f0: vec3, f1: vec3, c: Scalar, eigenvalue: Scalar):
    """Return eigenvalue q q^T/|q|^2 as (uu, uv, vv) with q = (eigenvalue + c K) g, or zeros.

    The blocks are zero if the eigenvalue is not positive, so that the caller's sum is clamped.
    """
    uu = mat33(Scalar(0.0))
    uv = mat33(Scalar(0.0))
    vv = mat33(Scalar(0.0))
    q_u = c * f0 + eigenvalue * f1
    q_v = c * f1 + eigenvalue * f0
    q_sq = wp.dot(q_u, q_u) + wp.dot(q_v, q_v)
    if q_sq > Scalar(0.0) and eigenvalue > Scalar(0.0):
        scale = eigenvalue / q_sq
        uu = scale * wp.outer(q_u, q_u)
        uv = scale * wp.outer(q_u, q_v)
        vv = scale * wp.outer(q_v, q_v)
    return uu, uv, vv


@wp.func
def shear_hessian(f0: vec3, f1: vec3, c: Scalar, psd: int):
    """Return g g^T + c K as (uu, uv, vv), g = (f1, f0), K (t, u) = (u, t).

    With c = I6 this is d2/dF2 of 1/2 I6^2 (Kim 2020, eqs. 32, 40-41 and Appendix A; the matrix T of
    eq. 40 is a projector only with the factor 1/2, which is used here).

    Its eigenvalues are c twice, -c twice and (I2 ± sqrt(I2^2 + 8 I6 c + 4 c^2))/2. With s =
    sign(c), the space of T is {(t, s t)}, in which only t = f1 + s f0 is not orthogonal to g.
    PROJECTED adds the eigenpairs with positive eigenvalues; GAUSS_NEWTON is g g^T.
    """
    I3 = wp.identity(n=3, dtype=Scalar)
    uu = wp.outer(f1, f1)
    uv = wp.outer(f1, f0)
    vv = wp.outer(f0, f0)
    if psd == Psd.EXACT:
        uv += c * I3
    if psd == Psd.PROJECTED:
        I2 = wp.dot(f0, f0) + wp.dot(f1, f1)
        I6 = wp.dot(f0, f1)
        s = Scalar(1.0)
        if Scalar(0.0) > c:
            s = Scalar(-1.0)
        root = wp.sqrt(wp.max(I2 * I2 + Scalar(4.0) * c * (Scalar(2.0) * I6 + c), Scalar(0.0)))
        uu, uv, vv = along_eigenvector(f0, f1, c, Scalar(0.5) * (I2 + root))
        if root < I2:
            uu1, uv1, vv1 = along_eigenvector(f0, f1, c, Scalar(0.5) * (I2 - root))
            uu += uu1
            uv += uv1
            vv += vv1
        t = f1 + s * f0
        t_sq = wp.dot(t, t)
        across = Scalar(0.5) * s * c * I3
        if t_sq > Scalar(0.0):
            across -= (Scalar(0.5) * s * c / t_sq) * wp.outer(t, t)
        uu += across
        uv += s * across
        vv += across
    return uu, uv, vv


@wp.func
def hessian(F: mat32, p: BaraffWitkinParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv).

    It is the sum of stretch and shear, each exact, clamped or without second derivatives.
    """
    f0, f1 = columns(F)
    uu, uv, vv = shear_hessian(f0, f1, wp.dot(f0, f1), psd)
    uu = p.shear * uu + fiber_hessian(f0, p.stretch_warp, p.rest_warp, psd)
    vv = p.shear * vv + fiber_hessian(f1, p.stretch_weft, p.rest_weft, psd)
    return uu, p.shear * uv, vv


@wp.func
def shift(F: mat32, rate: mat32, p: BaraffWitkinParams, keep: Scalar, beta: Scalar):
    """Return p with the rest stretch that makes |f| - b of both fibers keep (C + beta dC/dt)."""
    out = p
    f0, f1 = columns(F)
    v0, v1 = columns(rate)
    l0, _a0, over0, _c0 = guarded_length(wp.length(f0))
    l1, _a1, over1, _c1 = guarded_length(wp.length(f1))
    out.rest_warp = l0 - keep * (l0 - p.rest_warp + beta * over0 * wp.dot(f0, v0))
    out.rest_weft = l1 - keep * (l1 - p.rest_weft + beta * over1 * wp.dot(f1, v1))
    return out


ALIGNED = LawFunctions("baraff_witkin", BaraffWitkinParams, psi, pk1, hessian, shift)
SKEWED = LawFunctions(
    "baraff_witkin_skewed", skewed.SkewedParams, skewed.psi, skewed.pk1, skewed.hessian
)


@checked(LawError)
@documented
@dataclass(frozen=True, eq=False, repr=False)
class BaraffWitkin(SingleLaw):
    """Baraff-Witkin: ``1/2 ku (|Fa|-bu)^2 + 1/2 kv (|Fb|-bv)^2 + 1/2 ks (Fa.Fb - a.b)^2``.

    Raises:
        LawError: a stiffness or rest stretch out of range, or directions that are no unit vectors.
    """

    stretch: tuple[float, float] = setting(
        REQUIRED, "(ku, kv) stiffness along warp and weft", "N/m", above=0
    )
    shear: float = setting(REQUIRED, "ks", "N/m", least=0)
    rest_stretch: tuple[float, float] = setting((1.0, 1.0), "(bu, bv) at rest", "1", above=0)
    warp: Direction = setting(
        (1.0, 0.0),
        "a, unit direction of the warp in the material, (2,) or one for every sample (q,2)",
    )
    weft: Direction = setting((0.0, 1.0), "b, of the weft")

    def __post_init__(self) -> None:
        for name in ("warp", "weft"):
            object.__setattr__(self, name, directions(f"BaraffWitkin.{name}", getattr(self, name)))

    @property
    def is_aligned(self) -> bool:
        """True if warp and weft are the axes of the material coordinates at every sample."""
        return bool((self.warp == (1.0, 0.0)).all() and (self.weft == (0.0, 1.0)).all())

    @property
    def functions(self) -> LawFunctions:  # type: ignore[override]
        """Warp functions for the material axes, which are faster, or for any two directions."""
        return ALIGNED if self.is_aligned else SKEWED

    def parameters(self) -> Mapping[str, Floats | float]:
        """Return the fields of ``BaraffWitkinParams`` (or of ``SkewedParams``, if not aligned)."""
        values = {
            "stretch_warp": self.stretch[0],
            "stretch_weft": self.stretch[1],
            "shear": self.shear,
            "rest_warp": self.rest_stretch[0],
            "rest_weft": self.rest_stretch[1],
        }
        return values if self.is_aligned else {**values, "warp": self.warp, "weft": self.weft}

    @property
    def is_condition(self) -> bool:
        """True if the law has no shear, because its shear has no rest value (see ``DotShear``)."""
        return self.shear == 0 and self.is_aligned

    def eigensystem(self, F: Gradients) -> Eigensystem:
        """Return closed-form eigenpairs of the Hessians of the two fibers and of the shear.

        Kim 2020, eqs. 21-24, 34-39 and 45-52, in the normalization of weft's 1/2: a fiber has k
        (along it), k (1 - b/|f|) twice (across), and zero three times (``spectra``).

        Args:
            F: (n,3,2) deformation gradients without null columns.
        """
        F = np.asarray(F, dtype=np.float64)
        a = np.broadcast_to(self.warp, (len(F), 2))
        b = np.broadcast_to(self.weft, (len(F), 2))
        return Eigensystem(
            fiber_spectrum(F, a, self.stretch[0], self.rest_stretch[0]),
            fiber_spectrum(F, b, self.stretch[1], self.rest_stretch[1]),
            shear_spectrum(F, a, b, self.shear),
        )
