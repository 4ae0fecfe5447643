"""The barrier: an energy that rises without bound as a pair of the contact set comes close.

    E = k m(x) b(D - xi^2),   b(y) = -(y - Y)^2 ln(y/Y) for y < Y, else 0

with D the squared distance of the pair, xi the thickness that is kept in any case, dhat the gap at
which contact begins, Y = (xi + dhat)^2 - xi^2, m the mollifier of edges (Li et al. 2020, eqs. 6 and
24; Li et al. 2021). b is twice continuously differentiable.

Hessians. EXACT is the second derivative. PROJECTED and GAUSS_NEWTON are sums of outer products of
three vectors f_r (m,3,4 vec3), in closed form; no eigenvalue of a 12 x 12 matrix is computed. With
v the vector between the closest points, n = v/|v|, orthonormal tangents t_k of the free parameters
and dw_k chosen orthogonal (``distance``), the second derivative of b(D) is

    (4 b'' D + 2 b') ww^T (x) nn^T                                      along v
    - 2 b' sum_k [a_k a_k^T + a_k s_k^T + s_k a_k^T],                    turning of v
      a_k = |v| dw_k (x) n,  s_k = w (x) t_k  (a_k at right angles to s_k)
    + 2 b' ww^T (x) (I - nn^T - sum_k t_k t_k^T)                         across v and all t_k

b' < 0: the last line is negative and dropped, the first is clamped, and every turning term keeps
the positive one of its two eigenvalues. Sums of clamped terms, as PROJECTED laws are. GAUSS_NEWTON
keeps the first line alone. Derivatives of the mollifier are left out of both.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.contact.distance import (
    Closest,
    closest,
    combination,
    mollifier,
    vec4,
)
from weft.kernel import Scalar, WarpArray, vec3
from weft.laws.base import Psd

_module = wp.get_module("weft.contact")
PARALLEL_PART = Scalar(
    1e-3
)  # of the squared rest lengths multiplied: below, edges count as parallel


@wp.struct
class Touch:
    """Parameters of a pair of the contact set."""

    kind: int  # see ``distance``
    stiffness: Scalar  # [J/m^4] k
    thickness: Scalar  # [m] xi
    gap: Scalar  # [m] dhat
    parallel: Scalar  # [m^4] threshold of the mollifier; 0: none


@wp.func
def barrier(y: Scalar, Y: Scalar):
    """b, b' and b'' at y > 0."""
    value = Scalar(0.0)
    slope = Scalar(0.0)
    second = Scalar(0.0)
    if y < Y:
        logarithm = wp.log(y / Y)
        q = Y / y
        value = -(y - Y) * (y - Y) * logarithm
        slope = (Y - y) * (Scalar(2.0) * logarithm - q + Scalar(1.0))
        second = (q + Scalar(2.0)) * q - Scalar(2.0) * logarithm - Scalar(3.0)
    return value, slope, second


@wp.func
def width(t: Touch):
    """Y."""
    return t.gap * (t.gap + Scalar(2.0) * t.thickness)


@wp.func
def mollified(t: Touch, a: vec3, b: vec3, c: vec3, d: vec3):
    """m and dm/dC of a pair."""
    m = Scalar(1.0)
    dm = Scalar(0.0)
    if t.parallel > Scalar(0.0):
        m, dm = mollifier(b - a, d - c, t.parallel)
    return m, dm


@wp.kernel(module=_module)
def closest_points(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    kind: wp.array(dtype=wp.int32),
    distance: wp.array(dtype=Scalar),
    weights: wp.array(dtype=vec4),
    free: wp.array(dtype=wp.int32),
    dw: wp.array2d(dtype=vec4),
):
    """Distance, weights and free parameters of every pair."""
    i = o + wp.tid()
    a = x[stencil[i, 0]]
    b = x[stencil[i, 1]]
    c = x[stencil[i, 2]]
    d = x[stencil[i, 3]]
    p = closest(kind[i], a, b, c, d)
    distance[i] = wp.length(combination(p.w, a, b, c, d))
    weights[i] = p.w
    free[i] = p.free
    dw[i, 0] = p.dw0
    dw[i, 1] = p.dw1


@wp.kernel(module=_module)
def barrier_energy(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
    out: wp.array(dtype=Scalar),
):
    """E of every pair; infinite at or below the thickness."""
    i = o + wp.tid()
    t = touch[i]
    a = x[stencil[i, 0]]
    b = x[stencil[i, 1]]
    c = x[stencil[i, 2]]
    d = x[stencil[i, 3]]
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    y = wp.dot(v, v) - t.thickness * t.thickness
    if y > Scalar(0.0):
        value, _slope, _second = barrier(y, width(t))
        m, _dm = mollified(t, a, b, c, d)
        out[i] = t.stiffness * m * value
    else:
        out[i] = Scalar(wp.inf)


@wp.kernel(module=_module)
def barrier_gradient(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
    out: wp.array2d(dtype=vec3),
):
    """dE/dx of every pair."""
    i = o + wp.tid()
    t = touch[i]
    a = x[stencil[i, 0]]
    b = x[stencil[i, 1]]
    c = x[stencil[i, 2]]
    d = x[stencil[i, 3]]
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    y = wp.dot(v, v) - t.thickness * t.thickness
    value, slope, _second = barrier(wp.max(y, Scalar(1e-300)), width(t))
    m, dm = mollified(t, a, b, c, d)
    s = Scalar(2.0) * t.stiffness * m * slope
    g0 = (s * p.w[0]) * v
    g1 = (s * p.w[1]) * v
    g2 = (s * p.w[2]) * v
    g3 = (s * p.w[3]) * v
    if dm != Scalar(0.0):
        # C = |e|^2 |f|^2 - (e.f)^2
        e = b - a
        f = d - c
        q = Scalar(2.0) * t.stiffness * value * dm
        de = q * (wp.dot(f, f) * e - wp.dot(e, f) * f)
        df = q * (wp.dot(e, e) * f - wp.dot(e, f) * e)
        g0 -= de
        g1 += de
        g2 -= df
        g3 += df
    out[i, 0] = g0
    out[i, 1] = g1
    out[i, 2] = g2
    out[i, 3] = g3


@wp.func
def tangents(p: Closest, a: vec3, b: vec3, c: vec3, d: vec3):
    """Free parameters whose t_k are orthonormal, and their dw_k at right angles to one another."""
    zero = Scalar(0.0)
    tiny = Scalar(1e-300)
    dw0 = p.dw0
    dw1 = p.dw1
    t0 = combination(dw0, a, b, c, d)
    t1 = combination(dw1, a, b, c, d)
    if p.free < 1:
        dw0 = vec4(zero, zero, zero, zero)
        t0 = vec3(zero, zero, zero)
    else:
        s = Scalar(1.0) / wp.max(wp.length(t0), tiny)
        dw0 = s * dw0
        t0 = s * t0
    if p.free < 2:
        dw1 = vec4(zero, zero, zero, zero)
        t1 = vec3(zero, zero, zero)
    else:
        along = wp.dot(t1, t0)
        dw1 = dw1 - along * dw0
        t1 = t1 - along * t0
        s = Scalar(1.0) / wp.max(wp.length(t1), tiny)
        dw1 = s * dw1
        t1 = s * t1
        # Jacobi's rotation makes the dw orthogonal; the t stay orthonormal.
        mixed = wp.dot(dw0, dw1)
        angle = Scalar(0.5) * wp.atan2(Scalar(2.0) * mixed, wp.dot(dw0, dw0) - wp.dot(dw1, dw1))
        cos = wp.cos(angle)
        sin = wp.sin(angle)
        w0 = cos * dw0 + sin * dw1
        dw1 = cos * dw1 - sin * dw0
        dw0 = w0
        u0 = cos * t0 + sin * t1
        t1 = cos * t1 - sin * t0
        t0 = u0
    return dw0, t0, dw1, t1


@wp.func
def turning(dw: vec4, length: Scalar, w: vec4):
    """Eigenvector of the positive eigenvalue of a a^T + a s^T + s a^T, times its root: numbers p
    and q with f = p dw (x) n + q w (x) t.
    """
    zero = Scalar(0.0)
    aa = length * length * wp.dot(dw, dw)  # |a|^2
    ss = wp.dot(w, w)  # |s|^2
    p = zero
    q = zero
    if aa > zero:
        # In the basis of a/|a| and s/|s| the matrix is [[aa, g], [g, 0]], g = |a||s|.
        g_sq = aa * ss
        root = wp.sqrt(Scalar(0.25) * aa * aa + g_sq)
        positive = Scalar(0.5) * aa + root
        # Eigenvector (positive, g), of squared length positive^2 + g^2.
        scale = wp.sqrt(positive / (positive * positive + g_sq))
        p = scale * positive / wp.sqrt(aa) * length
        q = scale * wp.sqrt(g_sq) / wp.sqrt(ss)
    return p, q


@wp.kernel(module=_module)
def barrier_factors(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    touch: wp.array(dtype=Touch),
    turn: int,
    out: wp.array3d(dtype=vec3),
):
    """f_r of every pair: the projected Hessian is the sum of f_r f_r^T."""
    i = o + wp.tid()
    zero = Scalar(0.0)
    t = touch[i]
    a = x[stencil[i, 0]]
    b = x[stencil[i, 1]]
    c = x[stencil[i, 2]]
    d = x[stencil[i, 3]]
    p = closest(t.kind, a, b, c, d)
    v = combination(p.w, a, b, c, d)
    D = wp.dot(v, v)
    y = wp.max(D - t.thickness * t.thickness, Scalar(1e-300))
    _value, slope, second = barrier(y, width(t))
    m, _dm = mollified(t, a, b, c, d)
    k = t.stiffness * m
    length = wp.sqrt(D)
    n = v / wp.max(length, Scalar(1e-300))
    along = wp.sqrt(k * wp.max(Scalar(4.0) * second * D + Scalar(2.0) * slope, zero))
    for j in range(4):
        out[i, 0, j] = (along * p.w[j]) * n
    if turn == 0:
        return
    dw0, t0, dw1, t1 = tangents(p, a, b, c, d)
    root = wp.sqrt(-Scalar(2.0) * k * slope)
    p0, q0 = turning(dw0, length, p.w)
    p1, q1 = turning(dw1, length, p.w)
    for j in range(4):
        out[i, 1, j] = root * ((p0 * dw0[j]) * n + (q0 * p.w[j]) * t0)
        out[i, 2, j] = root * ((p1 * dw1[j]) * n + (q1 * p.w[j]) * t1)


@dataclass(frozen=True, eq=False)
class ContactSet:
    """Pairs that are closer than their thickness and gap, as data; the barrier of it is an Energy's
    local face (value, gradient, Hessian).
    """

    stencil: Ints  # (m,4) point, triangle; or edge, edge
    touch: "np.ndarray[tuple[int], np.dtype[np.void]]"  # (m,) records of ``Touch``
    name: str = "contact"

    @staticmethod
    def of(
        stencil: Ints,
        kind: Ints,
        stiffness: float | Floats,
        gap: float,
        thickness: float = 0.0,
        parallel: Floats | float = 0.0,
    ) -> "ContactSet":
        """From pairs.

        Args:
            stencil: (m,4).
            kind: (m,) of ``distance``.
            stiffness: [J/m^4] of all, or (m,).
            gap: [m] dhat.
            thickness: [m] xi.
            parallel: (m,) [m^4] thresholds of the mollifier (``parallel_threshold``); 0: none.
        """
        dtype = Touch.numpy_dtype()
        touch = np.zeros(len(stencil), dtype)
        touch["kind"], touch["parallel"] = kind, parallel
        touch["stiffness"], touch["thickness"], touch["gap"] = stiffness, thickness, gap
        return ContactSet(np.ascontiguousarray(stencil, dtype=np.int32), touch)

    def __len__(self) -> int:
        return len(self.stencil)

    @cached_property
    def device(self) -> tuple[WarpArray, WarpArray]:
        """Stencils and parameters on the device."""
        return kernel.array(self.stencil, wp.int32), kernel.array(self.touch, Touch)

    def distances(self, x: Positions) -> Floats:
        """(m,) [m]."""
        return closest_of(x, self.stencil, self.touch["kind"])[0]

    def value(self, x: Positions) -> Floats:
        """(m,) [J]."""
        out = kernel.empty(len(self))
        kernel.launch(barrier_energy, len(self), kernel.array(x, vec3), *self.device, out)
        return np.array(kernel.numpy(out))

    def gradient(self, x: Positions) -> Floats:
        """(m,4,3) [N]."""
        out = kernel.empty((len(self), 4), vec3)
        kernel.launch(barrier_gradient, len(self), kernel.array(x, vec3), *self.device, out)
        return np.array(kernel.numpy(out))

    def factors(self, x: Positions, psd: Psd = Psd.PROJECTED) -> Floats:
        """(m,3,4,3) f_r; GAUSS_NEWTON has one, the others are zero."""
        out = kernel.zeros((len(self), 3, 4), vec3)
        turn = int(psd != Psd.GAUSS_NEWTON)
        kernel.launch(barrier_factors, len(self), kernel.array(x, vec3), *self.device, turn, out)
        return np.array(kernel.numpy(out))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(m,4,4,3,3) [N/m]."""
        if psd == Psd.EXACT:
            return _exact_hessian(self, np.asarray(x, dtype=np.float64))
        f = self.factors(x, psd)
        return np.asarray(np.einsum("mrai,mrbj->mabij", f, f))


def closest_of(x: Positions, stencil: Ints, kind: Ints) -> tuple[Floats, Floats, Ints, Floats]:
    """Distance (m,), weights (m,4), number of free parameters (m,) and dw (m,2,4) of pairs."""
    m = len(stencil)
    distance, weights = kernel.empty(m), kernel.empty(m, vec4)
    free, dw = kernel.empty(m, wp.int32), kernel.empty((m, 2), vec4)
    pairs = (kernel.array(stencil, wp.int32), kernel.array(np.asarray(kind, np.int32), wp.int32))
    kernel.launch(closest_points, m, kernel.array(x, vec3), *pairs, distance, weights, free, dw)
    return tuple(np.array(kernel.numpy(a)) for a in (distance, weights, free, dw))  # type: ignore[return-value]


def parallel_threshold(X: Positions, edge_edge: Ints) -> Floats:
    """(e,) [m^4] C below which edges count as nearly parallel: 1e-3 of their squared rest lengths
    multiplied (Li et al. 2020). X are positions at rest (n,3).
    """
    a, b, c, d = (X[edge_edge[:, i]] for i in range(4))
    return np.asarray(float(PARALLEL_PART) * ((b - a) ** 2).sum(1) * ((d - c) ** 2).sum(1))


def _exact_hessian(set_: ContactSet, x: Positions) -> Floats:
    """Second derivatives, from the formulas of ``distance`` and the product with the mollifier."""
    touch, corners = set_.touch, x[set_.stencil]
    _, w, free, dw = closest_of(x, set_.stencil, touch["kind"])
    v = np.einsum("ma,mai->mi", w, corners)
    y = (v * v).sum(1) - touch["thickness"] ** 2
    Y = touch["gap"] * (touch["gap"] + 2 * touch["thickness"])
    inside = y < Y
    q, log = Y / y, np.log(y / Y)
    value = np.where(inside, -((y - Y) ** 2) * log, 0)
    slope = np.where(inside, (Y - y) * (2 * log - q + 1), 0)
    second = np.where(inside, (q + 2) * q - 2 * log - 3, 0)
    dD = 2 * np.einsum("ma,mi->mai", w, v).reshape(-1, 12)
    d2D = 2 * np.einsum("ma,mb,ij->maibj", w, w, np.eye(3)).reshape(-1, 12, 12)
    t = np.einsum("mka,mai->mki", dw, corners)
    for count in (1, 2):
        rows = np.flatnonzero(free == count)
        if len(rows):
            T, W = t[rows, :count], dw[rows, :count]
            c = np.einsum("mka,mi->mkai", W, v[rows]) + np.einsum("ma,mki->mkai", w[rows], T)
            c = c.reshape(len(rows), count, 12)
            inverse = np.linalg.inv(np.einsum("mki,mli->mkl", T, T))
            d2D[rows] -= 2 * np.einsum("mki,mkl,mlj->mij", c, inverse, c)
    db = slope[:, None] * dD
    d2b = second[:, None, None] * np.einsum("mi,mj->mij", dD, dD) + slope[:, None, None] * d2D
    m, dm, d2m = _mollifier(corners, touch["parallel"])
    H = m[:, None, None] * d2b + value[:, None, None] * d2m
    mixed = np.einsum("mi,mj->mij", dm, db)
    H += mixed + np.swapaxes(mixed, 1, 2)
    H *= touch["stiffness"][:, None, None]
    return np.asarray(H.reshape(-1, 4, 3, 4, 3).transpose(0, 1, 3, 2, 4))


def _mollifier(corners: Floats, threshold: Floats) -> tuple[Floats, Floats, Floats]:
    """m (n,), dm/dx (n,12) and d2m/dx2 (n,12,12)."""
    n = len(corners)
    e, f = corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 2]
    ee, ff, ef = ((p * q).sum(1) for p, q in ((e, e), (f, f), (e, f)))
    eps = np.where(threshold > 0, threshold, 1.0)
    r = (ee * ff - ef**2) / eps
    active = (threshold > 0) & (r < 1)
    m, first, second = np.ones(n), np.zeros(n), np.zeros(n)
    m[active], first[active] = (r * (2 - r))[active], ((2 - 2 * r) / eps)[active]
    second[active] = (-2 / eps**2)[active]
    dC = np.concatenate(
        [2 * (ff[:, None] * e - ef[:, None] * f), 2 * (ee[:, None] * f - ef[:, None] * e)], axis=1
    )
    I3 = np.eye(3)

    def outer(p: Floats, q: Floats) -> Floats:
        return np.asarray(np.einsum("mi,mj->mij", p, q))

    uu = 2 * (ff[:, None, None] * I3 - outer(f, f))
    vv = 2 * (ee[:, None, None] * I3 - outer(e, e))
    uv = 4 * outer(e, f) - 2 * outer(f, e) - 2 * ef[:, None, None] * I3
    d2C = np.concatenate(
        [np.concatenate([uu, uv], 2), np.concatenate([np.swapaxes(uv, 1, 2), vv], 2)], axis=1
    )
    J = np.kron(np.array([[-1, 1, 0, 0], [0, 0, -1, 1]]), I3)  # (6,12): e and f of the corners
    dm = first[:, None] * (dC @ J)
    d2 = second[:, None, None] * outer(dC, dC) + first[:, None, None] * d2C
    return m, dm, np.asarray(np.einsum("ai,mab,bj->mij", J, d2, J))
