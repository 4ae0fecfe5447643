"""As-rigid-as-possible membrane: psi(F) = k/2 |F - R|^2 = k/2 ((s0 - 1)^2 + (s1 - 1)^2).

R is the rotation of the polar decomposition; s0 and s1 are the principal stretches. Their
directions move with the deformation, while Baraff-Witkin's fibers are fixed in the material. The
eigenvalues of the Hessian, with weft's 1/2, are k (1 - 1/s0), k (1 - 1/s1), k (1 - 2/(s0 + s1)),
and k three times. Source: Kim 2020, eqs. 14-15 and 27-28.
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
class ArapParams:
    """Stiffness [N/m]."""

    stiffness: Scalar


@wp.func
def psi(F: mat32, p: ArapParams):
    """Return the energy density."""
    s = principal(F)
    one = Scalar(1.0)
    return Scalar(0.5) * p.stiffness * ((s.s0 - one) * (s.s0 - one) + (s.s1 - one) * (s.s1 - one))


@wp.func
def pk1(F: mat32, p: ArapParams):
    """Return the first Piola-Kirchhoff stress k (F - R)."""
    s = principal(F)
    one = Scalar(1.0)
    return isotropic_pk1(s, p.stiffness * (s.s0 - one), p.stiffness * (s.s1 - one))


@wp.func
def hessian(F: mat32, p: ArapParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv), from its eigensystem."""
    s = principal(F)
    k = p.stiffness
    one = Scalar(1.0)
    m = Moduli()
    m.second00 = k
    m.second11 = k
    m.out0 = k * (one - one / wp.max(s.s0, SMALL))
    m.out1 = k * (one - one / wp.max(s.s1, SMALL))
    m.twist = k * (one - Scalar(2.0) / wp.max(s.s0 + s.s1, SMALL))
    m.flip = k
    return isotropic_hessian(s, m, psd)


@checked(LawError)
@documented
@dataclass(frozen=True, repr=False)
class Arap(SingleLaw):
    """The as-rigid-as-possible law: k/2 |F - R|^2.

    Raises:
        LawError: a stiffness that is not > 0.
    """

    stiffness: float = setting(REQUIRED, "k", "N/m", above=0)

    functions = LawFunctions("arap", ArapParams, psi, pk1, hessian)

    def parameters(self) -> Mapping[str, float]:
        """Return the fields of ``ArapParams``."""
        return {"stiffness": self.stiffness}
