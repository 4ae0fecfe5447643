"""Baraff-Witkin cloth as a finite element law. Kim 2020, sections 3.3 and 4, in weft's convention
with 1/2:

    psi(F) = 1/2 ku (|f0| - bu)^2 + 1/2 kv (|f1| - bv)^2 + 1/2 ks (f0 . f1)^2

with F = [f0 f1]; I5(u) = f0.f0, I5(v) = f1.f1, I6 = f0.f1, I2 = I5(u) + I5(v).

PROJECTED is the projected stretch Hessian plus the projected shear Hessian, as in the paper's
Appendix A. Each of the two is the exact eigenvalue clamp of its own term; their sum is positive
semi-definite but is *not* the clamp of the sum
(``tests/laws/test_baraff_witkin.py::test_projection_is_per_term``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import warp as wp

from weft.arrays import Floats, Gradients
from weft.errors import LawError
from weft.kernel import Scalar, mat32, mat33, vec3
from weft.laws.base import LawFunctions, SingleLaw

COLLAPSED = Scalar(1e-6)  # stretch below which the length |f| is replaced by a C2 polynomial in |f|


@wp.struct
class Params:
    """Stiffness per direction [N/m] and rest stretch [1]."""

    stretch_warp: Scalar
    stretch_weft: Scalar
    shear: Scalar
    rest_warp: Scalar
    rest_weft: Scalar


@wp.func
def guarded_length(r: Scalar):
    """Length l(r) with l', and l'/r: r itself, but smooth at a collapsed fiber.

    For r < e the polynomial e/8 (3 + 6 t^2 - t^4), t = r/e, meets r with value, slope and curvature
    at t = 1, so energy, stress and Hessian stay finite, continuous and derivatives of one another
    as I5 -> 0.
    """
    e = COLLAPSED
    length = r
    slope = Scalar(1.0)
    slope_over_r = Scalar(0.0)
    second = Scalar(0.0)
    if r < e:
        t_sq = (r / e) * (r / e)
        length = e / Scalar(8.0) * (Scalar(3.0) + t_sq * (Scalar(6.0) - t_sq))
        slope_over_r = (Scalar(12.0) - Scalar(4.0) * t_sq) / (Scalar(8.0) * e)
        slope = r * slope_over_r
        second = (Scalar(12.0) - Scalar(12.0) * t_sq) / (Scalar(8.0) * e)
    else:
        slope_over_r = Scalar(1.0) / r
    return length, slope, slope_over_r, second


@wp.func
def fiber_force(f: vec3, k: Scalar, b: Scalar):
    """d/df of k/2 (|f| - b)^2. Kim 2020, eq. 11."""
    length, _slope, slope_over_r, _second = guarded_length(wp.length(f))
    return (k * (length - b) * slope_over_r) * f


@wp.func
def fiber_hessian(f: vec3, k: Scalar, b: Scalar, psd: int):
    """d2/df2 of k/2 (|f| - b)^2: eigenvalue k along f, k (1 - b/|f|) twice across. Kim 2020, eqs.
    21-26.

    GAUSS_NEWTON keeps k along f and nothing across; the text's "1/I5^(3/2)" is a slip (trap 2).
    """
    r = wp.length(f)
    length, slope, slope_over_r, second = guarded_length(r)
    along = k * slope * slope
    across = Scalar(0.0)
    if psd != 2:
        along += k * (length - b) * second
        across = k * (length - b) * slope_over_r
        if psd == 1:
            along = wp.max(along, Scalar(0.0))
            across = wp.max(across, Scalar(0.0))
    n = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    if r > Scalar(0.0):
        n = f / r
    return across * wp.identity(n=3, dtype=Scalar) + (along - across) * wp.outer(n, n)


@wp.func
def psi(F: mat32, p: Params):
    """Energy density. Kim 2020, eqs. 11 and 13, each term with 1/2."""
    f0 = vec3(F[0, 0], F[1, 0], F[2, 0])
    f1 = vec3(F[0, 1], F[1, 1], F[2, 1])
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
def pk1(F: mat32, p: Params):
    """First Piola-Kirchhoff stress; the shear part is ks I6 F (a b^T + b a^T), Kim 2020, eq. 29."""
    f0 = vec3(F[0, 0], F[1, 0], F[2, 0])
    f1 = vec3(F[0, 1], F[1, 1], F[2, 1])
    I6 = p.shear * wp.dot(f0, f1)
    P0 = fiber_force(f0, p.stretch_warp, p.rest_warp) + I6 * f1
    P1 = fiber_force(f1, p.stretch_weft, p.rest_weft) + I6 * f0
    return mat32(P0[0], P1[0], P0[1], P1[1], P0[2], P1[2])


@wp.func
def along_eigenvector(f0: vec3, f1: vec3, c: Scalar, eigenvalue: Scalar):
    """eigenvalue q q^T/|q|^2 as (uu, uv, vv), q = (eigenvalue + c K) g, where that is positive."""
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
    """g g^T + c K as (uu, uv, vv), g = (f1, f0), K (t, u) = (u, t): with c = I6 that is d2/dF2 of
    1/2 I6^2 (Kim 2020, eqs. 32, 40-41 and Appendix A; T there has the factor 1/2).

    Its eigenvalues are c twice, -c twice and (I2 ± sqrt(I2^2 + 8 I6 c + 4 c^2))/2. With s =
    sign(c), the space of T is {(t, s t)}, in which only t = f1 + s f0 meets g.
    """
    I3 = wp.identity(n=3, dtype=Scalar)
    uu = wp.outer(f1, f1)
    uv = wp.outer(f1, f0)
    vv = wp.outer(f0, f0)
    if psd == 0:
        uv += c * I3
    if psd == 1:
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
def hessian(F: mat32, p: Params, psd: int):
    """d2 psi/dF2 as (uu, uv, vv).

    Stretch plus shear, each exact, clamped or without second derivatives.
    """
    f0 = vec3(F[0, 0], F[1, 0], F[2, 0])
    f1 = vec3(F[0, 1], F[1, 1], F[2, 1])
    uu, uv, vv = shear_hessian(f0, f1, wp.dot(f0, f1), psd)
    uu = p.shear * uu + fiber_hessian(f0, p.stretch_warp, p.rest_warp, psd)
    vv = p.shear * vv + fiber_hessian(f1, p.stretch_weft, p.rest_weft, psd)
    return uu, p.shear * uv, vv


@wp.func
def shift(F: mat32, rate: mat32, p: Params, keep: Scalar, beta: Scalar):
    """Rest stretch of both fibers that makes |f| - b equal to keep (C + beta dC/dt)."""
    out = p
    f0 = vec3(F[0, 0], F[1, 0], F[2, 0])
    f1 = vec3(F[0, 1], F[1, 1], F[2, 1])
    v0 = vec3(rate[0, 0], rate[1, 0], rate[2, 0])
    v1 = vec3(rate[0, 1], rate[1, 1], rate[2, 1])
    l0, _a0, over0, _c0 = guarded_length(wp.length(f0))
    l1, _a1, over1, _c1 = guarded_length(wp.length(f1))
    out.rest_warp = l0 - keep * (l0 - p.rest_warp + beta * over0 * wp.dot(f0, v0))
    out.rest_weft = l1 - keep * (l1 - p.rest_weft + beta * over1 * wp.dot(f1, v1))
    return out


class Spectrum(NamedTuple):
    """Eigenpairs of a (6,6) Hessian: ``vectors[:, :, i]`` belongs to ``values[:, i]``."""

    values: Floats  # (n,6) [N/m]
    vectors: Floats  # (n,6,6) orthonormal columns


class Eigensystem(NamedTuple):
    """The closed forms of Kim 2020.

    One spectrum per term. The sum of the terms has no closed form.
    """

    stretch: Spectrum
    shear: Spectrum


@dataclass(frozen=True)
class BaraffWitkin(SingleLaw):
    """Baraff-Witkin membrane: ``1/2 ku (|f0|-bu)^2 + 1/2 kv (|f1|-bv)^2 + 1/2 ks (f0.f1)^2``.

    Args:
        stretch: (ku, kv) warp and weft stiffness [N/m], both > 0.
        shear: ks [N/m], >= 0.
        rest_stretch: (bu, bv) stretch at rest [1], both > 0.

    Raises:
        LawError: a stiffness or rest stretch out of range.
    """

    stretch: tuple[float, float]
    shear: float
    rest_stretch: tuple[float, float] = (1.0, 1.0)

    functions = LawFunctions("baraff_witkin", Params, psi, pk1, hessian, shift)

    def __post_init__(self) -> None:
        for name, pair in (("stretch", self.stretch), ("rest_stretch", self.rest_stretch)):
            if len(pair) != 2 or not all(np.isfinite(v) and v > 0 for v in pair):
                raise LawError(f"BaraffWitkin.{name}", got=pair, expected="must be two numbers > 0")
        if not (np.isfinite(self.shear) and self.shear >= 0):
            raise LawError("BaraffWitkin.shear", got=self.shear, expected="must be >= 0 [N/m]")

    def parameters(self) -> Mapping[str, float]:
        """Fields of ``Params``."""
        return {
            "stretch_warp": self.stretch[0],
            "stretch_weft": self.stretch[1],
            "shear": self.shear,
            "rest_warp": self.rest_stretch[0],
            "rest_weft": self.rest_stretch[1],
        }

    @property
    def is_condition(self) -> bool:
        """True without shear, whose condition f0.f1 has no rest value here (see ``DotShear``)."""
        return bool(np.all(np.asarray(self.shear) == 0))

    def eigensystem(self, F: Gradients) -> Eigensystem:
        """Closed-form eigenpairs of the stretch and of the shear Hessian, for F of shape (n,3,2)
        without null columns.

        Kim 2020, eqs. 21-24 and 34-39, in the normalization of our 1/2: stretch has k (along the
        fiber) and k (1 - b/|f|) twice (across); shear has ks (I2 ± sqrt(I2^2 + 12 I6^2))/2, +ks I6
        twice and -ks I6 twice.
        """
        F = np.asarray(F, dtype=np.float64)
        return Eigensystem(self._stretch_spectrum(F), self._shear_spectrum(F))

    def _stretch_spectrum(self, F: Gradients) -> Spectrum:
        values, vectors = np.zeros((len(F), 6)), np.zeros((len(F), 6, 6))
        for c, (k, b) in enumerate(zip(self.stretch, self.rest_stretch)):
            r = np.linalg.norm(F[:, :, c], axis=1)
            along = F[:, :, c] / r[:, None]
            values[:, 3 * c] = k
            values[:, 3 * c + 1 : 3 * c + 3] = (k * (1 - b / r))[:, None]
            vectors[:, 3 * c : 3 * c + 3, 3 * c : 3 * c + 3] = _frame(along)
        return Spectrum(values, vectors)

    def _shear_spectrum(self, F: Gradients) -> Spectrum:
        f0, f1 = F[:, :, 0], F[:, :, 1]
        I6 = (f0 * f1).sum(1)
        I2 = (F**2).sum((1, 2))
        root = np.sqrt(I2**2 + 12 * I6**2)
        values = self.shear * np.stack([(I2 + root) / 2, I6, I6, (I2 - root) / 2, -I6, -I6], axis=1)
        # Eqs. 36-39: in the halves (t, t) and (t, -t) the Hessian couples only t along f0 + f1 and
        # f1 - f0.
        plus, minus = _frame(_unit(f0 + f1)), _frame(_unit(f1 - f0))
        even = np.concatenate([plus, plus], axis=1) / np.sqrt(2)
        odd = np.concatenate([minus, -minus], axis=1) / np.sqrt(2)
        g = np.concatenate([f1, f0], axis=1)
        a, b = np.einsum("ni,ni->n", even[:, :, 0], g), np.einsum("ni,ni->n", odd[:, :, 0], g)
        # The 2x2 problem [[a^2 + I6, ab], [ab, b^2 - I6]] holds the two new eigenvalues.
        angle = 0.5 * np.arctan2(2 * a * b, (a**2 + I6) - (b**2 - I6))
        c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
        q0 = c * even[:, :, 0] + s * odd[:, :, 0]
        q3 = -s * even[:, :, 0] + c * odd[:, :, 0]
        vectors = np.stack(
            [q0, even[:, :, 1], even[:, :, 2], q3, odd[:, :, 1], odd[:, :, 2]], axis=2
        )
        return Spectrum(values, vectors)


def _unit(a: Floats) -> Floats:
    length = np.linalg.norm(a, axis=1, keepdims=True)
    fallback = np.array([1.0, 0.0, 0.0])
    return np.where(length > 0, a / np.where(length > 0, length, 1.0), fallback)


def _frame(n: Floats) -> Floats:
    """(n,3,3) orthonormal columns, the first along the unit vectors n."""
    axis = np.eye(3)[np.argmin(np.abs(n), axis=1)]
    second = _unit(np.cross(n, axis))
    return np.stack([n, second, np.cross(n, second)], axis=2)
