"""St. Venant-Kirchhoff membrane: psi(F) = mu |E|^2 + lambda/2 (tr E)^2, E = (F^T F - I)/2.

This is the classic reference law. It softens and then collapses under compression (psi has a
maximum at s = 1/sqrt 3 for lambda = 0), which Baraff-Witkin and ARAP do not.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import warp as wp

from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat22, mat32
from weft.laws.base import SingleLaw
from weft.laws.functions import LawFunctions
from weft.laws.isotropic import Moduli, isotropic_hessian, principal


@wp.struct
class StVKParams:
    """Lame parameters [N/m]: those of the material times the thickness."""

    mu: Scalar
    lame: Scalar


@wp.func
def strains(F: mat32):
    """Return Green's strains E00, E01, E11."""
    half = Scalar(0.5)
    e00 = half * (F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0] - Scalar(1.0))
    e11 = half * (F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1] - Scalar(1.0))
    e01 = half * (F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1])
    return e00, e01, e11


@wp.func
def psi(F: mat32, p: StVKParams):
    """Return the energy density."""
    e00, e01, e11 = strains(F)
    trace = e00 + e11
    norm_sq = e00 * e00 + Scalar(2.0) * e01 * e01 + e11 * e11
    return p.mu * norm_sq + Scalar(0.5) * p.lame * trace * trace


@wp.func
def pk1(F: mat32, p: StVKParams):
    """Return the first Piola-Kirchhoff stress F (2 mu E + lambda tr(E) I)."""
    e00, e01, e11 = strains(F)
    trace = p.lame * (e00 + e11)
    two = Scalar(2.0) * p.mu
    return F * mat22(two * e00 + trace, two * e01, two * e01, two * e11 + trace)


@wp.func
def hessian(F: mat32, p: StVKParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv), from its eigensystem."""
    s = principal(F)
    half = Scalar(0.5)
    two = Scalar(2.0)
    e0 = half * (s.s0 * s.s0 - Scalar(1.0))
    e1 = half * (s.s1 * s.s1 - Scalar(1.0))
    trace = p.lame * (e0 + e1)
    m = Moduli()
    m.out0 = two * p.mu * e0 + trace
    m.out1 = two * p.mu * e1 + trace
    m.second00 = m.out0 + (two * p.mu + p.lame) * s.s0 * s.s0
    m.second11 = m.out1 + (two * p.mu + p.lame) * s.s1 * s.s1
    m.second01 = p.lame * s.s0 * s.s1
    squares = s.s0 * s.s0 + s.s1 * s.s1 - Scalar(1.0)
    m.twist = p.mu * (squares - s.s0 * s.s1) + trace
    m.flip = p.mu * (squares + s.s0 * s.s1) + trace
    return isotropic_hessian(s, m, psd)


@checked(LawError)
@documented
@dataclass(frozen=True, repr=False)
class StVK(SingleLaw):
    """St. Venant-Kirchhoff: mu |E|^2 + lambda/2 (tr E)^2.

    Raises:
        LawError: mu not > 0, or lambda < 0.
    """

    mu: float = setting(REQUIRED, "shear modulus", "N/m", above=0)
    lame: float = setting(0.0, "lambda", "N/m", least=0)

    functions = LawFunctions("stvk", StVKParams, psi, pk1, hessian)

    def parameters(self) -> Mapping[str, float]:
        """Return the fields of ``StVKParams``."""
        return {"mu": self.mu, "lame": self.lame}
