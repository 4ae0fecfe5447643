"""Law for damping: Kelvin-Voigt in Green strain, with a tangent frozen at the start of the step.

    psi(F) = 1/2 (e(F) - e_n) . C (e(F) - e_n),   e = (f0.f0/2, f1.f1/2, f0.f1)

e is Green's strain up to a constant, so psi and its stress vanish for *any* rigid motion of the
sample since e_n, a finite rotation included. C is the tangent stiffness in strain space, scaled
with the time step; so the Hessian at the start of the step is the frozen Rayleigh matrix (see
``energies/elastic/damping.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import warp as wp

from weft.kernel import Scalar, mat32, mat33, vec3
from weft.laws.base import SingleLaw
from weft.laws.fiber import columns, from_columns
from weft.laws.functions import LawFunctions
from weft.solve.newton.psd import Psd


@wp.struct
class ViscousParams:
    """Tangent C [J/m^2 per strain^2], and the strain e_n that damping is measured from."""

    tangent: mat33
    start: vec3


@wp.func
def strain(F: mat32):
    """Return e(F) = (f0.f0/2, f1.f1/2, f0.f1)."""
    f0, f1 = columns(F)
    half = Scalar(0.5)
    return vec3(half * wp.dot(f0, f0), half * wp.dot(f1, f1), wp.dot(f0, f1))


@wp.func
def strain_gradient(F: mat32):
    """Return B0 = de/df0 and B1 = de/df1, one strain component per column."""
    zero = Scalar(0.0)
    B0 = mat33(
        F[0, 0],
        zero,
        F[0, 1],
        F[1, 0],
        zero,
        F[1, 1],
        F[2, 0],
        zero,
        F[2, 1],
    )
    B1 = mat33(
        zero,
        F[0, 1],
        F[0, 0],
        zero,
        F[1, 1],
        F[1, 0],
        zero,
        F[2, 1],
        F[2, 0],
    )
    return B0, B1


@wp.func
def psi(F: mat32, p: ViscousParams):
    """Return the dissipation potential of the step."""
    d = strain(F) - p.start
    return Scalar(0.5) * wp.dot(d, p.tangent * d)


@wp.func
def pk1(F: mat32, p: ViscousParams):
    """Return the derivative of ``psi`` with respect to F."""
    s = p.tangent * (strain(F) - p.start)
    B0, B1 = strain_gradient(F)
    P0 = B0 * s
    P1 = B1 * s
    return from_columns(P0, P1)


@wp.func
def hessian(F: mat32, p: ViscousParams, psd: int):
    """Return the Hessian of ``psi`` as (uu, uv, vv).

    PROJECTED and GAUSS_NEWTON both drop the stress times d2e/dF2, which is of order dt.
    """
    B0, B1 = strain_gradient(F)
    uu = B0 * p.tangent * wp.transpose(B0)
    uv = B0 * p.tangent * wp.transpose(B1)
    vv = B1 * p.tangent * wp.transpose(B1)
    if psd == Psd.EXACT:
        s = p.tangent * (strain(F) - p.start)
        I3 = wp.identity(n=3, dtype=Scalar)
        uu += s[0] * I3
        uv += s[2] * I3
        vv += s[1] * I3
    return uu, uv, vv


@dataclass(frozen=True)
class Viscous(SingleLaw):
    """Law of damping; ``energies/elastic/damping.py`` fills in the parameters of every sample."""

    functions = LawFunctions("viscous", ViscousParams, psi, pk1, hessian)

    def parameters(self) -> Mapping[str, float]:
        """Return no values, so that all fields are zero until damping is measured."""
        return {}
