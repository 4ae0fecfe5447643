"""Data-driven law of Wang, O'Brien & Ramamoorthi (2011) from a table of stiffnesses, as an energy.

The paper's stress is S = C(G) : G of Green's strain G = (F^T F - I)/2 = (u, w; w, v): the four
stiffnesses C depend on the direction theta and the size g of the larger principal strain. ARCSim,
from whose files the tables come, has

    C = max(0, C_0 + s (C_1(theta) - C_0)),   s = 6 (sqrt(1 + 2 g) - 1), cut off at 0 and 1,

C_0 of cloth at rest and C_1 of cloth stretched by a sixth, in five directions. Such a stress is no
derivative of an energy. This law is the energy of the work that it does along a straight path of G:

    psi = 1/2 (k11 u^2 + k22 v^2) + k12 u v + k33 w^2,   k = 2 int_0^1 t C(t G) dt,

so S : G is that of ARCSim for every G where the next two lines change nothing, and the stress
across G differs (docs/explanations/arcsim.md, ``tests/engine/laws/test_data_driven.py``). They make
psi C1:

- C_1 goes through the five directions as a cosine series of 2 theta, where ARCSim goes straight,
  and fades to its mean where both principal strains are positive and alike, so that theta has no
  meaning: cos(2 n theta) is Re z^n, z = (u - v + 2 i w)/D, D^2 = (g1 - g2)^2 + H^2, H the harmonic
  mean of both strains. ARCSim's stress jumps there. g is (u + v + D)/2.
- Where cloth is compressed one way, stiffening begins gradually: g is (g + sqrt(g^2 + (ONSET D)^2))
  / (1 + sqrt(1 + ONSET^2)), which is g where the cloth keeps its width.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from weft.base.arrays import Floats
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.kernel import Scalar, mat22, mat32, mat33, vec3, vec4
from weft.laws.base import SingleLaw
from weft.laws.clamp import clamp2
from weft.laws.fiber import columns, from_columns
from weft.laws.functions import LawFunctions
from weft.laws.stvk import strains
from weft.solve.newton.psd import Psd

ONSET = Scalar(0.1)
TINY = Scalar(1e-24)
STEP = Scalar(1e-6)  # of Green's strain in the differences of the stress
STRETCHED = 1.0 / 6.0  # stretch less 1 at which the table's strained rows hold
END = STRETCHED + STRETCHED**2 / 2  # Green's strain there
# g^2 (1 - k) beyond END, k the mean of s with the weight 2 t
MISSING = END**2 - STRETCHED**3 * (4 + 4.5 * STRETCHED + 1.2 * STRETCHED**2)

if TYPE_CHECKING:
    vec5 = Any
    mat45 = Any
else:
    vec5 = wp.types.vector(length=5, dtype=Scalar)
    mat45 = wp.types.matrix(shape=(4, 5), dtype=Scalar)


@wp.struct
class DataDrivenParams:
    """Stiffnesses k11, k12, k22, k33 [N/m]: at rest, and the cosine series of strained cloth."""

    rest: vec4
    strained: mat45


@wp.struct
class PrincipalDirection:
    """Size of the larger principal strain, waves of its direction, and derivatives by u, v, w."""

    e: Scalar  # stretch less 1
    waves: vec5  # Re z^n, n = 0 to 4
    by_x: vec5  # their derivatives by x = Re z and by y2 = (Im z)^2
    by_y2: vec5
    de: vec3
    dx: vec3
    dy2: vec3


@wp.func
def direction(G: vec3):
    """Return the direction of Green's strain (u, v, w)."""
    zero = Scalar(0.0)
    one = Scalar(1.0)
    two = Scalar(2.0)
    four = Scalar(4.0)
    u, v, w = G[0], G[1], G[2]
    trace = u + v
    det = u * v - w * w
    H = zero
    dH = vec3(zero)
    if trace > zero and det > zero:
        H = two * det / trace
        dH = vec3(two * v - H, two * u - H, -four * w) / trace
    D = wp.sqrt((u - v) * (u - v) + four * w * w + H * H + TINY)
    dD = (vec3(u - v, v - u, four * w) + H * dH) / D
    g = (trace + D) / two
    dg = (vec3(one, one, zero) + dD) / two
    smooth = wp.sqrt(g * g + ONSET * ONSET * D * D)
    scale = one + wp.sqrt(one + ONSET * ONSET)
    x = (u - v) / D
    y2 = four * w * w / (D * D)
    h2 = x * x - y2
    h3 = x * (h2 - two * y2)
    out = PrincipalDirection()
    out.e = wp.sqrt(one + two * (g + smooth) / scale) - one
    out.de = (dg + (g * dg + ONSET * ONSET * D * dD) / smooth) / (scale * (one + out.e))
    out.dx = (vec3(one, -one, zero) - x * dD) / D
    out.dy2 = two * (vec3(zero, zero, four * w / D) - y2 * dD) / D
    out.waves = vec5(one, x, h2, h3, h2 * h2 - four * x * x * y2)
    out.by_x = vec5(zero, one, two * x, Scalar(3.0) * h2, four * h3)
    out.by_y2 = vec5(zero, zero, -one, -Scalar(3.0) * x, two * y2 - Scalar(6.0) * x * x)
    return out


@wp.func
def green(e: Scalar):
    """Return Green's strain of the stretch 1 + e."""
    return e + Scalar(0.5) * e * e


@wp.func
def mean_progress(e: Scalar):
    """Return the mean 2 int_0^1 t s(t g) dt of s up to the stretch 1 + e."""
    half = Scalar(1.0) + Scalar(0.5) * e
    out = e * (Scalar(4.0) + e * (Scalar(4.5) + Scalar(1.2) * e)) / (half * half)
    if e > Scalar(STRETCHED):
        g = green(e)
        out = Scalar(1.0) - Scalar(MISSING) / (g * g)
    return out


@wp.func
def mean_stiffness(c0: Scalar, c1: Scalar, e: Scalar):
    """Return the mean k of max(0, c0 + s (c1 - c0)) up to the stretch 1 + e, and its derivatives by
    c1 and e.

    It is A c0 + B (c1 - c0), A and B the integrals of 2 t and 2 t s over the t where c0 + s (c1 -
    c0) is positive: on one side of s = c0/(c0 - c1), if the signs differ. dk/dg is 2/g times what c
    exceeds its mean by.
    """
    zero = Scalar(0.0)
    one = Scalar(1.0)
    s = wp.min(e / Scalar(STRETCHED), one)
    A = one
    B = mean_progress(e)
    if c0 * c1 < zero:
        root = wp.min(e, Scalar(STRETCHED) * c0 / (c0 - c1))
        ratio = one
        if root < e:
            ratio = green(root) / green(e)
        A = ratio * ratio
        before = A * mean_progress(root)
        if c0 < zero:
            A = one - A
            before = B - before
        B = before
    elif c0 < zero or c1 < zero:
        A = zero
        B = zero
    k = A * c0 + B * (c1 - c0)
    excess = -k
    if c0 + s * (c1 - c0) > zero:
        excess = (one - A) * c0 + (s - B) * (c1 - c0)
    return k, B, Scalar(2.0) * (one + e) * excess / wp.max(green(e), TINY)


@wp.func
def green_strain(F: mat32):
    """Return Green's strain (u, v, w), and its derivatives by both columns of F."""
    half = Scalar(0.5)
    f0, f1 = columns(F)
    u, w, v = strains(F)
    zero = vec3(Scalar(0.0))
    by_f0 = wp.matrix_from_cols(f0, zero, half * f1)
    by_f1 = wp.matrix_from_cols(zero, f1, half * f0)
    return vec3(u, v, w), by_f0, by_f1


@wp.func
def secant(k: vec4):
    """Return d2 psi/d(u, v, w)^2 where the stiffnesses are constant."""
    zero = Scalar(0.0)
    return mat33(k[0], k[1], zero, k[1], k[2], zero, zero, zero, Scalar(2.0) * k[3])


@wp.func
def squares(G: vec3):
    """Return the derivatives of psi by k11, k12, k22, k33 where these are constant."""
    half = Scalar(0.5)
    return vec4(half * G[0] * G[0], G[0] * G[1], half * G[1] * G[1], G[2] * G[2])


@wp.func
def psi(F: mat32, p: DataDrivenParams):
    """Return the energy density."""
    G, _by_f0, _by_f1 = green_strain(F)
    d = direction(G)
    q = squares(G)
    c = p.strained * d.waves
    sum = Scalar(0.0)
    for i in range(4):
        k, _c, _e = mean_stiffness(p.rest[i], c[i], d.e)
        sum += k * q[i]
    return sum


@wp.func
def stress_and_stiffness(G: vec3, p: DataDrivenParams):
    """Return d psi/d(u, v, w), and k11, k12, k22, k33."""
    d = direction(G)
    q = squares(G)
    c = p.strained * d.waves
    by_x = p.strained * d.by_x
    by_y2 = p.strained * d.by_y2
    k = vec4(Scalar(0.0))
    S = vec3(Scalar(0.0))
    for i in range(4):
        mean, by_c, by_e = mean_stiffness(p.rest[i], c[i], d.e)
        k[i] = mean
        S += q[i] * (by_e * d.de + by_c * (by_x[i] * d.dx + by_y2[i] * d.dy2))
    return S + secant(k) * G, k


@wp.func
def pk1(F: mat32, p: DataDrivenParams):
    """Return the first Piola-Kirchhoff stress."""
    G, by_f0, by_f1 = green_strain(F)
    S, _k = stress_and_stiffness(G, p)
    return from_columns(by_f0 * S, by_f1 * S)


@wp.func
def hessian(F: mat32, p: DataDrivenParams, psd: int):
    """Return d2 psi/dF2 as (uu, uv, vv).

    It is J^T K J of K = d2 psi/d(u, v, w)^2, by differences of the stress, plus the stress times
    the second derivatives of u, v and w. PROJECTED is the sum of both, each clamped. GAUSS_NEWTON
    has the first alone with constant stiffnesses, as ARCSim's own steps have.
    """
    half = Scalar(0.5)
    zero = Scalar(0.0)
    G, by_f0, by_f1 = green_strain(F)
    S, k = stress_and_stiffness(G, p)
    T = mat22(S[0], half * S[2], half * S[2], S[1])
    K = secant(vec4(k[0], wp.min(k[1], wp.sqrt(k[0] * k[2])), k[2], k[3]))
    if psd == Psd.GAUSS_NEWTON:
        T = zero * T
    else:
        for i in range(3):
            d = vec3(zero)
            d[i] = STEP
            high, _h = stress_and_stiffness(G + d, p)
            low, _l = stress_and_stiffness(G - d, p)
            K[i] = half * (high - low) / STEP
        K = half * (K + wp.transpose(K))
    if psd == Psd.PROJECTED:
        Q, values = wp.eig3(K)
        K = Q * wp.diag(wp.max(values, vec3(zero))) * wp.transpose(Q)
        T = clamp2(T[0, 0], T[0, 1], T[1, 1])
    I3 = wp.identity(n=3, dtype=Scalar)
    right0 = K * wp.transpose(by_f0)
    right1 = K * wp.transpose(by_f1)
    uu = by_f0 * right0 + T[0, 0] * I3
    return uu, by_f0 * right1 + T[0, 1] * I3, by_f1 * right1 + T[1, 1] * I3


@checked(LawError)
@documented
@dataclass(frozen=True, repr=False, eq=False)
class DataDriven(SingleLaw):
    """Data-driven law of a table, in the rows and columns of ARCSim's files.

    Raises:
        LawError: another shape, or no stiffness of warp or weft at rest.
    """

    rows: Any = setting(
        REQUIRED,
        "(6,4) k11, k12, k22, k33: at rest; stretched by 1/6 along 0, 22.5, 45, 67.5, 90 degrees",
        "N/m",
    )

    functions = LawFunctions("data_driven", DataDrivenParams, psi, pk1, hessian)

    def __post_init__(self) -> None:
        rows = np.asarray(self.rows, dtype=np.float64)
        if rows.shape != (6, 4) or not np.isfinite(rows).all():
            raise LawError("rows", got=f"shape {rows.shape}", expected="finite numbers, (6, 4)")
        if not (rows[0, [0, 2]] > 0).all():
            raise LawError("rows[0]", got=rows[0], expected="k11 and k22 > 0 at rest")
        object.__setattr__(self, "rows", rows)

    def parameters(self) -> Mapping[str, Floats]:
        """Return the fields of ``DataDrivenParams``."""
        n = np.arange(5)
        series = np.linalg.solve(np.cos(np.pi / 4 * np.outer(n, n)), self.rows[1:])
        return {"rest": self.rows[0], "strained": series.T}
