"""Stable neo-Hookean membrane: psi = mu/2 (|F|^2 - 2) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2.

J is the ratio of deformed to rest area. Source: Smith, de Goes & Kim (2018), without the logarithm,
for two principal stretches. psi is finite for every F, at rest at F = R, and has the Lame
parameters of linear elasticity there (hence lambda + mu).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import warp as wp

from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat32
from weft.laws.base import SingleLaw
from weft.laws.functions import LawFunctions
from weft.laws.isotropic import Moduli, isotropic_hessian, isotropic_pk1, principal

SMALL = Scalar(1e-6)  # lower bound of s in 1/s, so that a collapsed sample stays finite


@wp.struct
class NeoHookeanParams:
    """The moduli mu and lambda + mu [N/m]: those of the material times the thickness."""

    mu: Scalar
    area: Scalar


@wp.func
def psi(F: mat32, p: NeoHookeanParams):
    """Return the energy density."""
    s = principal(F)
    J = s.s0 * s.s1 - Scalar(1.0)
    size = s.s0 * s.s0 + s.s1 * s.s1 - Scalar(2.0)
    return Scalar(0.5) * p.mu * size - p.mu * J + Scalar(0.5) * p.area * J * J


@wp.func
def pressure(s0: Scalar, s1: Scalar, p: NeoHookeanParams):
    """Return the derivative of the area terms by J: (lambda + mu) (J - 1) - mu."""
    return p.area * (s0 * s1 - Scalar(1.0)) - p.mu


@wp.func
def pk1(F: mat32, p: NeoHookeanParams):
    """Return the first Piola-Kirchhoff stress U diag(psi_0, psi_1) V^T."""
    s = principal(F)
    q = pressure(s.s0, s.s1, p)
    return isotropic_pk1(s, p.mu * s.s0 + q * s.s1, p.mu * s.s1 + q * s.s0)


@wp.func
def hessian(F: mat32, p: NeoHookeanParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv), from its eigensystem."""
    s = principal(F)
    q = pressure(s.s0, s.s1, p)
    m = Moduli()
    m.second00 = p.mu + p.area * s.s1 * s.s1
    m.second11 = p.mu + p.area * s.s0 * s.s0
    m.second01 = q + p.area * s.s0 * s.s1
    m.out0 = p.mu + q * s.s1 / wp.max(s.s0, SMALL)
    m.out1 = p.mu + q * s.s0 / wp.max(s.s1, SMALL)
    m.twist = p.mu + q
    m.flip = p.mu - q
    return isotropic_hessian(s, m, psd)


@checked(LawError)
@documented
@dataclass(frozen=True, repr=False)
class NeoHookean(SingleLaw):
    """Stable neo-Hookean membrane.

    Raises:
        LawError: mu not > 0, or lambda < 0.
    """

    mu: float = setting(REQUIRED, "shear modulus", "N/m", above=0)
    lame: float = setting(0.0, "lambda", "N/m", least=0)

    functions = LawFunctions("neo_hookean", NeoHookeanParams, psi, pk1, hessian)

    def parameters(self) -> Mapping[str, float]:
        """Return the fields of ``NeoHookeanParams``."""
        return {"mu": self.mu, "area": self.lame + self.mu}
