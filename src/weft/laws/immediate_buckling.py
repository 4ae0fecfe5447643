"""Immediate buckling: tension along warp, weft and both diagonals, no resistance to compression.

    psi(F) = 1/2 sum_i k_i max(|F d_i| - b_i, 0)^2,   d = u, v, (u + v)/sqrt 2, (u - v)/sqrt 2

Source: Choi & Ko 2003, eqs. 1-4. A fiber that is shorter than at rest carries no force: cloth is
assumed to buckle at once, and the bending energy of its pairs represents the buckled shape
(``energies/elastic/buckling_bending.py``). So the membrane has no post-buckling instability. Each
fiber's Hessian is ``k d d^T`` along it and ``k (1 - b/|F d|)`` across, both >= 0 where the fiber is
taut: EXACT is positive semi-definite, and PROJECTED is the same. It jumps at |F d| = b, where the
stress is continuous.

The diagonals overlap with the axes (the paper's footnote): cloth that is stretched equally in all
directions resists with ku + (k+ + k-)/2 along the warp. A strip that is free to narrow does so
until both diagonals are slack, and resists with ku alone; so ku is what a laboratory measures on a
strip. In shear by a small angle g the energy is 1/2 (k+/4) g^2: k+ = k- = 4 ks gives the shear
modulus ks of ``BaraffWitkin`` (``tests/engine/laws/test_immediate_buckling.py``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import warp as wp

from weft.base.arrays import Floats, Gradients
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat32, vec2, vec3
from weft.laws.base import SingleLaw
from weft.laws.fiber import columns, from_columns
from weft.laws.functions import LawFunctions
from weft.laws.skewed import along
from weft.laws.spectra import Spectrum, fiber_spectrum
from weft.solve.newton.psd import Psd

HALF = float(np.sqrt(0.5))
DIRECTIONS = ((1.0, 0.0), (0.0, 1.0), (HALF, HALF), (HALF, -HALF))  # u, v, + and - diagonal


@wp.struct
class ImmediateBucklingParams:
    """Stiffness along each of the four directions [N/m], and rest stretch [1]."""

    stretch_warp: Scalar
    stretch_weft: Scalar
    diagonal_plus: Scalar
    diagonal_minus: Scalar
    rest_warp: Scalar
    rest_weft: Scalar
    rest_diagonal: Scalar


@wp.func
def taut_energy(f: vec3, k: Scalar, b: Scalar):
    """Return 1/2 k max(|f| - b, 0)^2."""
    c = wp.max(wp.length(f) - b, Scalar(0.0))
    return Scalar(0.5) * k * c * c


@wp.func
def taut_force(f: vec3, k: Scalar, b: Scalar):
    """Return the derivative of ``taut_energy`` by f, which is continuous at |f| = b."""
    r = wp.length(f)
    s = Scalar(0.0)
    if r > b:
        s = k * (Scalar(1.0) - b / r)
    return s * f


@wp.func
def taut_hessian(f: vec3, k: Scalar, b: Scalar, psd: int):
    """Return the second derivative of ``taut_energy`` by f, zero if the fiber is slack.

    GAUSS_NEWTON keeps k along f alone.
    """
    r = wp.length(f)
    n = vec3(Scalar(0.0))
    stiffness = Scalar(0.0)
    across = Scalar(0.0)
    if r > b:
        n = f / r
        stiffness = k
        if psd != Psd.GAUSS_NEWTON:
            across = k * (Scalar(1.0) - b / r)
    return across * wp.identity(n=3, dtype=Scalar) + (stiffness - across) * wp.outer(n, n)


@wp.func
def fibers(F: mat32):
    """Return the images of the four directions. Choi & Ko 2003, eqs. 1 and 4."""
    h = Scalar(0.7071067811865476)
    u, v = columns(F)
    return u, v, h * (u + v), h * (u - v)


@wp.func
def psi(F: mat32, p: ImmediateBucklingParams):
    """Return the energy density of the taut fibers. Choi & Ko 2003, eqs. 2 and 3."""
    u, v, plus, minus = fibers(F)
    axes = taut_energy(u, p.stretch_warp, p.rest_warp)
    axes += taut_energy(v, p.stretch_weft, p.rest_weft)
    diagonals = taut_energy(plus, p.diagonal_plus, p.rest_diagonal)
    diagonals += taut_energy(minus, p.diagonal_minus, p.rest_diagonal)
    return axes + diagonals


@wp.func
def pk1(F: mat32, p: ImmediateBucklingParams):
    """Return the first Piola-Kirchhoff stress."""
    h = Scalar(0.7071067811865476)
    u, v, plus, minus = fibers(F)
    g_plus = h * taut_force(plus, p.diagonal_plus, p.rest_diagonal)
    g_minus = h * taut_force(minus, p.diagonal_minus, p.rest_diagonal)
    P0 = taut_force(u, p.stretch_warp, p.rest_warp) + g_plus + g_minus
    P1 = taut_force(v, p.stretch_weft, p.rest_weft) + g_plus - g_minus
    return from_columns(P0, P1)


@wp.func
def hessian(F: mat32, p: ImmediateBucklingParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv), the sum of four fibers."""
    h = Scalar(0.7071067811865476)
    u, v, plus, minus = fibers(F)
    H_plus = taut_hessian(plus, p.diagonal_plus, p.rest_diagonal, psd)
    H_minus = taut_hessian(minus, p.diagonal_minus, p.rest_diagonal, psd)
    uu0, uv0, vv0 = along(H_plus, vec2(h, h))
    uu1, uv1, vv1 = along(H_minus, vec2(h, -h))
    uu = taut_hessian(u, p.stretch_warp, p.rest_warp, psd) + uu0 + uu1
    vv = taut_hessian(v, p.stretch_weft, p.rest_weft, psd) + vv0 + vv1
    return uu, uv0 + uv1, vv


class BucklingEigensystem(NamedTuple):
    """Closed-form spectra of two pairs of orthogonal fibers.

    Their sum has no closed form, because the pairs act on overlapping subspaces.
    """

    axes: Spectrum  # warp and weft
    diagonals: Spectrum


@checked(LawError)
@documented
@dataclass(frozen=True, repr=False)
class ImmediateBuckling(SingleLaw):
    """Resistance to tension along warp, weft and both diagonals, and to nothing else.

    Raises:
        LawError: a value out of range.
    """

    stretch: tuple[float, float] = setting(
        REQUIRED, "(ku, kv) stiffness along warp and weft", "N/m", above=0
    )
    diagonal: tuple[float, float] = setting(
        REQUIRED,
        "(k+, k-) of the diagonals u + v and u - v; 4 ks for the shear modulus ks",
        "N/m",
        least=0,
    )
    rest_stretch: tuple[float, float] = setting(
        (1.0, 1.0),
        "(bu, bv) stretch below which warp and weft are slack; that of the diagonals is sqrt((bu^2 "
        "+ bv^2)/2)",
        "1",
        above=0,
    )

    functions = LawFunctions("immediate_buckling", ImmediateBucklingParams, psi, pk1, hessian)

    @property
    def rest_diagonal(self) -> float:
        """Stretch |F d| of both diagonals if warp and weft have their rest stretch and no shear."""
        bu, bv = self.rest_stretch
        return float(np.sqrt(0.5 * (bu * bu + bv * bv)))

    def parameters(self) -> Mapping[str, Floats | float]:
        """Return the fields of ``ImmediateBucklingParams``."""
        return {
            "stretch_warp": self.stretch[0],
            "stretch_weft": self.stretch[1],
            "diagonal_plus": self.diagonal[0],
            "diagonal_minus": self.diagonal[1],
            "rest_warp": self.rest_stretch[0],
            "rest_weft": self.rest_stretch[1],
            "rest_diagonal": self.rest_diagonal,
        }

    def eigensystem(self, F: Gradients) -> BucklingEigensystem:
        """Return closed-form eigenpairs of the Hessians of the axes and of the diagonals.

        A taut fiber has k along it and k (1 - b/|F d|) twice across; a slack one has zero three
        times.

        Args:
            F: (n,3,2) deformation gradients without collapsed fibers.
        """
        F = np.asarray(F, dtype=np.float64)
        k = (*self.stretch, *self.diagonal)
        b = (*self.rest_stretch, self.rest_diagonal, self.rest_diagonal)
        pairs = []
        for i in (0, 2):
            first, second = (_taut_spectrum(F, DIRECTIONS[j], k[j], b[j]) for j in (i, i + 1))
            values = np.concatenate([first.values[:, :3], second.values[:, :3]], axis=1)
            vectors = np.concatenate([first.vectors[:, :, :3], second.vectors[:, :, :3]], axis=2)
            pairs.append(Spectrum(values, vectors))
        return BucklingEigensystem(*pairs)


def _taut_spectrum(F: Floats, d: tuple[float, float], k: float, b: float) -> Spectrum:
    """Return the spectrum of a fiber, with zeros where it is slack."""
    found = fiber_spectrum(F, np.broadcast_to(d, (len(F), 2)), k, b)
    taut = np.linalg.norm(F @ np.array(d), axis=1) > b
    return Spectrum(np.where(taut[:, None], found.values, 0.0), found.vectors)
