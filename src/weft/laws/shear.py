"""Shear alone, as the shear conditions of Baraff & Witkin (1998) have it.

    DotShear     psi = 1/2 ks (f0 . f1)^2                   Pritchard 2012, eqs. 19-23 (BODY)
    AngleShear   psi = 1/2 ks (f0 . f1 / (|f0| |f1|))^2     Pritchard 2012, eqs. A.1-A.6 (EXACT)

f0 and f1 are Pritchard's w_u and w_v. ``DotShear`` is the shear term of ``BaraffWitkin``.
``AngleShear`` uses the directions of the fibers only: it does not depend on stretch, so it needs no
assumption that w_u and w_v are unit vectors.

The force of ``DotShear`` may end at a slip, from which on psi is linear: such is the resistance of
internal friction, with a rest value that moves (``energies/elastic/internal_friction.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import warp as wp

from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat32, mat33, vec3
from weft.laws.baraff_witkin import shear_hessian
from weft.laws.base import SingleLaw
from weft.laws.clamp import cut_off
from weft.laws.fiber import columns, from_columns
from weft.laws.functions import LawFunctions
from weft.solve.newton.psd import Psd

COLLAPSED = Scalar(1e-6)  # lower bound of a fiber's length in divisions


@wp.struct
class ShearParams:
    """Stiffness [N/m], the value of f0.f1 (or of the cosine) that has no energy, and the distance
    from it at which the force ends to grow; 0: nowhere.
    """

    shear: Scalar
    rest: Scalar
    slip: Scalar


@wp.func
def condition(f0: vec3, f1: vec3, p: ShearParams):
    """Return f0.f1 - rest, cut off at the slip, and the part beyond it."""
    return cut_off(wp.dot(f0, f1) - p.rest, p.slip)


@wp.func
def dot_psi(F: mat32, p: ShearParams):
    """Return half the stiffness times the square of Pritchard's eq. 19."""
    f0, f1 = columns(F)
    c, beyond = condition(f0, f1, p)
    return Scalar(0.5) * p.shear * c * c + p.shear * c * beyond


@wp.func
def dot_pk1(F: mat32, p: ShearParams):
    """Return the derivative of ``dot_psi`` with respect to F. Pritchard 2012, eqs. 20-21."""
    f0, f1 = columns(F)
    c, _beyond = condition(f0, f1, p)
    return p.shear * c * from_columns(f1, f0)


@wp.func
def dot_hessian(F: mat32, p: ShearParams, psd: int):
    """Return the Hessian of ``dot_psi`` as (uu, uv, vv). Pritchard 2012, eqs. 22-23.

    PROJECTED is the exact projection of Kim 2020, App. A.
    """
    f0, f1 = columns(F)
    c, beyond = condition(f0, f1, p)
    uu, uv, vv = shear_hessian(f0, f1, c, psd)
    if beyond != Scalar(0.0):  # without the part of dc dc^T
        uu = mat33(Scalar(0.0))
        vv = mat33(Scalar(0.0))
        uv = wp.where(psd == Psd.EXACT, c, Scalar(0.0)) * wp.identity(n=3, dtype=Scalar)
    return p.shear * uu, p.shear * uv, p.shear * vv


@wp.func
def dot_shift(F: mat32, rate: mat32, p: ShearParams, keep: Scalar, beta: Scalar):
    """Return p with the rest value that makes f0.f1 - rest equal to keep (C + beta dC/dt)."""
    f0, f1 = columns(F)
    v0, v1 = columns(rate)
    c = wp.dot(f0, f1)
    out = p
    out.rest = c - keep * (c - p.rest + beta * (wp.dot(v0, f1) + wp.dot(f0, v1)))
    return out


@wp.func
def cosine(f0: vec3, f1: vec3):
    """Return the cosine c of the angle between the fibers, dc/df0 and dc/df1 (eqs. A.5, A.6)."""
    r0 = wp.max(wp.length(f0), COLLAPSED)
    r1 = wp.max(wp.length(f1), COLLAPSED)
    n0 = f0 / r0
    n1 = f1 / r1
    c = wp.dot(n0, n1)
    return c, (n1 - c * n0) / r0, (n0 - c * n1) / r1


@wp.func
def angle_psi(F: mat32, p: ShearParams):
    """Return half the stiffness times the square of Pritchard's eq. A.5."""
    f0, f1 = columns(F)
    c, _c0, _c1 = cosine(f0, f1)
    d = c - p.rest
    return Scalar(0.5) * p.shear * d * d


@wp.func
def angle_pk1(F: mat32, p: ShearParams):
    """Return ks (c - rest) dc/dF."""
    f0, f1 = columns(F)
    c, c0, c1 = cosine(f0, f1)
    s = p.shear * (c - p.rest)
    return s * from_columns(c0, c1)


@wp.func
def angle_hessian(F: mat32, p: ShearParams, psd: int):
    """Return ks (dc dc^T + (c - rest) d2c) as (uu, uv, vv). Pritchard 2012, eqs. A.3-A.4, A.7.

    PROJECTED and GAUSS_NEWTON keep dc dc^T only.
    """
    f0, f1 = columns(F)
    c, c0, c1 = cosine(f0, f1)
    uu = wp.outer(c0, c0)
    uv = wp.outer(c0, c1)
    vv = wp.outer(c1, c1)
    if psd == Psd.EXACT:
        I3 = wp.identity(n=3, dtype=Scalar)
        r0 = wp.max(wp.length(f0), COLLAPSED)
        r1 = wp.max(wp.length(f1), COLLAPSED)
        n0 = f0 / r0
        n1 = f1 / r1
        d = c - p.rest
        mixed0 = wp.outer(c0, n0)
        mixed1 = wp.outer(c1, n1)
        uu -= (d / r0) * (mixed0 + wp.transpose(mixed0) + (c / r0) * (I3 - wp.outer(n0, n0)))
        vv -= (d / r1) * (mixed1 + wp.transpose(mixed1) + (c / r1) * (I3 - wp.outer(n1, n1)))
        uv += (d / r0) * ((I3 - wp.outer(n1, n1)) / r1 - wp.outer(n0, c1))
    return p.shear * uu, p.shear * uv, p.shear * vv


@wp.func
def angle_shift(F: mat32, rate: mat32, p: ShearParams, keep: Scalar, beta: Scalar):
    """Return p with the rest value that makes c - rest equal to keep (C + beta dC/dt)."""
    f0, f1 = columns(F)
    v0, v1 = columns(rate)
    c, c0, c1 = cosine(f0, f1)
    out = p
    out.rest = c - keep * (c - p.rest + beta * (wp.dot(c0, v0) + wp.dot(c1, v1)))
    return out


@dataclass(frozen=True, repr=False)
class _Shear(SingleLaw):
    """Base class of both shear laws: one stiffness."""

    shear: float = setting(REQUIRED, "stiffness", "N/m", least=0)

    def parameters(self) -> Mapping[str, float]:
        """Return the fields of ``ShearParams``."""
        return {"shear": self.shear}


@checked(LawError)
@documented
@dataclass(frozen=True, repr=False)
class DotShear(_Shear):
    """Shear energy of the fibers' dot product: 1/2 ks (f0 . f1)^2, linear beyond a slip.

    Raises:
        LawError: a negative stiffness or slip.
    """

    slip: float = setting(0.0, "f0 . f1 from which on the force does not grow; 0: none", least=0)

    functions = LawFunctions("dot_shear", ShearParams, dot_psi, dot_pk1, dot_hessian, dot_shift)

    def parameters(self) -> Mapping[str, float]:
        """Return fields of ``ShearParams``."""
        return {"shear": self.shear, "slip": self.slip}


@checked(LawError)
@documented
@dataclass(frozen=True, repr=False)
class AngleShear(_Shear):
    """Shear energy of the angle between the fibers: 1/2 ks times the square of its cosine.

    Raises:
        LawError: a negative stiffness.
    """

    functions = LawFunctions(
        "angle_shear", ShearParams, angle_psi, angle_pk1, angle_hessian, angle_shift
    )
