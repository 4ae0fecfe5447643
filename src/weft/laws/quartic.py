"""Fourth powers of fiber stretch and of shear, where Baraff-Witkin has squares.

    StvkStretch  psi = 1/2 ka (|F a| - ba)^4 + 1/2 kb (|F b| - bb)^4
    StvkShear    psi = 1/2 ks (I6(a,b) - a.b)^4

Source: Kim 2020, eqs. 43-44 ("StVK-like"), with weft's 1/2. The Hessian of the shear is 6 ks c^2 (g
g^T + c/3 H6), c = I6 - a.b: Baraff-Witkin's with another coefficient, so the same projection
applies (``skewed.cross_hessian``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import warp as wp

from weft.base.arrays import Floats
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat32
from weft.laws.base import SingleLaw
from weft.laws.fiber import guarded_length, quartic_force, quartic_hessian
from weft.laws.functions import LawFunctions
from weft.laws.skewed import SkewedParams, along, cross_hessian
from weft.laws.spectra import Direction, directions


@wp.func
def stretch_psi(F: mat32, p: SkewedParams):
    """Return the energy density of the stretch. Kim 2020, eq. 43."""
    length0, _s0, _o0, _c0 = guarded_length(wp.length(F * p.warp))
    length1, _s1, _o1, _c1 = guarded_length(wp.length(F * p.weft))
    c0 = (length0 - p.rest_warp) * (length0 - p.rest_warp)
    c1 = (length1 - p.rest_weft) * (length1 - p.rest_weft)
    return Scalar(0.5) * (p.stretch_warp * c0 * c0 + p.stretch_weft * c1 * c1)


@wp.func
def stretch_pk1(F: mat32, p: SkewedParams):
    """Return the derivative of ``stretch_psi`` with respect to F."""
    g0 = quartic_force(F * p.warp, p.stretch_warp, p.rest_warp)
    g1 = quartic_force(F * p.weft, p.stretch_weft, p.rest_weft)
    return wp.outer(g0, p.warp) + wp.outer(g1, p.weft)


@wp.func
def stretch_hessian(F: mat32, p: SkewedParams, psd: int):
    """Return the Hessian of the stretch (uu, uv, vv), each fiber exact, clamped or Gauss-Newton."""
    uu0, uv0, vv0 = along(quartic_hessian(F * p.warp, p.stretch_warp, p.rest_warp, psd), p.warp)
    uu1, uv1, vv1 = along(quartic_hessian(F * p.weft, p.stretch_weft, p.rest_weft, psd), p.weft)
    return uu0 + uu1, uv0 + uv1, vv0 + vv1


@wp.func
def angle(F: mat32, p: SkewedParams):
    """Return I6 - a.b."""
    return wp.dot(F * p.warp, F * p.weft) - wp.dot(p.warp, p.weft)


@wp.func
def shear_psi(F: mat32, p: SkewedParams):
    """Return the energy density of the shear. Kim 2020, eq. 44."""
    c = angle(F, p) * angle(F, p)
    return Scalar(0.5) * p.shear * c * c


@wp.func
def shear_pk1(F: mat32, p: SkewedParams):
    """Return the derivative of ``shear_psi`` with respect to F."""
    c = angle(F, p)
    s = Scalar(2.0) * p.shear * c * c * c
    return s * (wp.outer(F * p.weft, p.warp) + wp.outer(F * p.warp, p.weft))


@wp.func
def shear_hessian(F: mat32, p: SkewedParams, psd: int):
    """Return the Hessian of the shear as (uu, uv, vv)."""
    c = angle(F, p)
    s = Scalar(6.0) * p.shear * c * c
    uu, uv, vv = cross_hessian(F, p.warp, p.weft, c / Scalar(3.0), psd)
    return s * uu, s * uv, s * vv


@checked(LawError)
@documented
@dataclass(frozen=True, eq=False, repr=False)
class StvkStretch(SingleLaw):
    """Fourth power of the stretch of both fibers.

    Raises:
        LawError: stiffness or rest stretch not > 0, or directions that are no unit vectors.
    """

    stretch: tuple[float, float] = setting(REQUIRED, "(ka, kb)", "N/m", above=0)
    rest_stretch: tuple[float, float] = setting((1.0, 1.0), "of warp and weft", "1", above=0)
    warp: Direction = setting((1.0, 0.0), "a, (2,) or (q,2)")
    weft: Direction = setting((0.0, 1.0), "b")

    functions = LawFunctions(
        "stvk_stretch", SkewedParams, stretch_psi, stretch_pk1, stretch_hessian
    )

    def __post_init__(self) -> None:
        for name in ("warp", "weft"):
            object.__setattr__(self, name, directions(f"StvkStretch.{name}", getattr(self, name)))

    def parameters(self) -> Mapping[str, Floats | float]:
        """Return the fields of ``SkewedParams``."""
        return {
            "stretch_warp": self.stretch[0],
            "stretch_weft": self.stretch[1],
            "rest_warp": self.rest_stretch[0],
            "rest_weft": self.rest_stretch[1],
            "warp": self.warp,
            "weft": self.weft,
        }


@checked(LawError)
@documented
@dataclass(frozen=True, eq=False, repr=False)
class StvkShear(SingleLaw):
    """Fourth power of the shear.

    Raises:
        LawError: a stiffness < 0, or directions that are no unit vectors.
    """

    shear: float = setting(REQUIRED, "stiffness", "N/m", least=0)
    warp: Direction = setting((1.0, 0.0), "a, (2,) or (q,2)")
    weft: Direction = setting((0.0, 1.0), "b")

    functions = LawFunctions("stvk_shear", SkewedParams, shear_psi, shear_pk1, shear_hessian)

    def __post_init__(self) -> None:
        for name in ("warp", "weft"):
            object.__setattr__(self, name, directions(f"StvkShear.{name}", getattr(self, name)))

    def parameters(self) -> Mapping[str, Floats | float]:
        """Return the fields of ``SkewedParams``."""
        return {"shear": self.shear, "warp": self.warp, "weft": self.weft}
