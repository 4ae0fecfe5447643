"""The bend condition as Baraff & Witkin (1998) differentiate it: with normals and edge of constant
length
  (Pritchard 2012, eqs. 24-57; BODY).

E = k/2 theta^2, but ``gradient`` and ``hessian`` are *not* derivatives of E: they are k theta g and
k (g g^T + theta h), where g (eq. 54) and h (eq. 57) are built from derivatives of

    sin = ê.(m̂ x n̂),   cos = n̂.m̂,   n̂ = n/|n|, m̂ = m/|m|, ê = e/|e|, lengths frozen,

n and m the normals of the left and right face, e the edge. So a hinge exerts a net moment, which
the true derivative (``HingeBending``) does not. h is symmetric as a 12 x 12 matrix (both are second
derivatives of scalars); its 3 x 3 blocks are not, contrary to section 3.4 of the notes.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints, Positions
from weft.energies.base import RowMap, gather_blocks, gather_gradient, on_device
from weft.energies.hinge_kernels import (
    add_factor_rows,
    angle_difference,
    dihedral,
    hinge_energy,
)
from weft.kernel import Scalar, Scratch, WarpArray, mat33, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence

_module = wp.get_module("weft.bend_condition")


@wp.func
def normal_arm(j: int, x0: vec3, x1: vec3, x2: vec3):
    """a_j with dn = a_j x dx_j, for n = (x1-x0) x (x2-x0). Eqs. 31, 34 (his q^A up to order)."""
    a = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    if j == 0:
        a = x2 - x1
    if j == 1:
        a = x0 - x2
    if j == 2:
        a = x1 - x0
    return a


@wp.func
def other_arm(j: int, x0: vec3, x1: vec3, x3: vec3):
    """b_j with dm = b_j x dx_j, for m = (x3-x0) x (x1-x0). Eqs. 32, 35."""
    b = vec3(Scalar(0.0), Scalar(0.0), Scalar(0.0))
    if j == 0:
        b = x1 - x3
    if j == 1:
        b = x3 - x0
    if j == 3:
        b = x0 - x1
    return b


@wp.func
def arm_slope(j: int, k: int, tip: int):
    """da_j/dx_k (tip 2) or -db_j/dx_k (tip 3), a multiple of I: the cyclic order of (0, 1, tip)."""
    s = Scalar(0.0)
    if (j == 0 and k == tip) or (j == 1 and k == 0) or (j == tip and k == 1):
        s = Scalar(1.0)
    if (j == tip and k == 0) or (j == 0 and k == 1) or (j == 1 and k == tip):
        s = Scalar(-1.0)
    return s


@wp.func
def edge_sign(j: int):
    """de/dx_j, a multiple of I. Eqs. 33, 36."""
    s = Scalar(0.0)
    if j == 0:
        s = Scalar(-1.0)
    if j == 1:
        s = Scalar(1.0)
    return s


@wp.func
def sine_cosine(x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """n, m, e, the inverse of |e||m||n| and of |m||n|."""
    tiny = Scalar(1e-30)
    e = x1 - x0
    n = wp.cross(e, x2 - x0)
    m = wp.cross(x3 - x0, e)
    both = Scalar(1.0) / wp.max(wp.length(n) * wp.length(m), tiny)
    return n, m, e, both / wp.max(wp.length(e), tiny), both


@wp.func
def slopes(j: int, x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """dsin/dx_j and dcos/dx_j with frozen lengths. Eqs. 46-49."""
    n, m, e, for_sine, for_cosine = sine_cosine(x0, x1, x2, x3)
    a = normal_arm(j, x0, x1, x2)
    b = other_arm(j, x0, x1, x3)
    s = edge_sign(j) * wp.cross(m, n) + wp.cross(wp.cross(n, e), b) + wp.cross(wp.cross(e, m), a)
    c = wp.cross(m, a) + wp.cross(n, b)
    return for_sine * s, for_cosine * c


@wp.func
def pick(j: int, a0: vec3, a1: vec3, a2: vec3, a3: vec3):
    """a_j."""
    a = a0
    if j == 1:
        a = a1
    if j == 2:
        a = a2
    if j == 3:
        a = a3
    return a


@wp.func
def two_skews(a: vec3, b: vec3):
    """skew(a) skew(b) = b a^T - (a.b) I."""
    return wp.outer(b, a) - wp.dot(a, b) * wp.identity(n=3, dtype=Scalar)


@wp.func
def three_skews(a: vec3, e: vec3, b: vec3):
    """skew(a) skew(e) skew(b)."""
    return wp.outer(wp.cross(a, b), e) - wp.dot(e, b) * wp.skew(a)


@wp.func
def curvatures(j: int, k: int, x0: vec3, x1: vec3, x2: vec3, x3: vec3):
    """d2sin/dx_j dx_k and d2cos/dx_j dx_k with frozen lengths. Eqs. 50-51."""
    n, m, e, for_sine, for_cosine = sine_cosine(x0, x1, x2, x3)
    a_j = normal_arm(j, x0, x1, x2)
    b_j = other_arm(j, x0, x1, x3)
    a_k = normal_arm(k, x0, x1, x2)
    b_k = other_arm(k, x0, x1, x3)
    da = arm_slope(j, k, 2)
    db = -arm_slope(j, k, 3)
    s_j = edge_sign(j)
    s_k = edge_sign(k)
    c = wp.skew(da * m + db * n) - two_skews(a_j, b_k) - two_skews(b_j, a_k)
    s = s_j * (two_skews(m, a_k) - two_skews(n, b_k))
    s += wp.skew(db * wp.cross(n, e) + da * wp.cross(e, m))
    s += three_skews(b_j, e, a_k) - three_skews(a_j, e, b_k)
    s += s_k * (two_skews(a_j, m) - two_skews(b_j, n))
    return for_sine * s, for_cosine * c


@wp.kernel(module=_module)
def frozen_deviations(
    o: int,
    x: wp.array(dtype=vec3),
    v: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    rest: wp.array(dtype=Scalar),
    keep: Scalar,
    beta: Scalar,
    out: wp.array(dtype=Scalar),
):
    """keep (theta - rest + beta sum_j g_j.v_j) of every hinge (eq. 58)."""
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    theta = dihedral(x0, x1, x2, x3)
    d = angle_difference(theta, rest[i])
    if beta != Scalar(0.0):
        for j in range(4):
            s, c = slopes(j, x0, x1, x2, x3)
            d += beta * wp.dot(wp.cos(theta) * s - wp.sin(theta) * c, v[stencil[i, j]])
    out[i] = keep * d


@wp.kernel(module=_module)
def frozen_gradient(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    stiffness: wp.array(dtype=Scalar),
    rest: wp.array(dtype=Scalar),
    out: wp.array2d(dtype=vec3),
):
    """k (theta - rest) g of every hinge, g = cos dsin - sin dcos (eq. 54)."""
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    theta = dihedral(x0, x1, x2, x3)
    moment = stiffness[i] * angle_difference(theta, rest[i])
    for j in range(4):
        s, c = slopes(j, x0, x1, x2, x3)
        out[i, j] = moment * (wp.cos(theta) * s - wp.sin(theta) * c)


@wp.kernel(module=_module)
def frozen_factor(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    stiffness: wp.array(dtype=Scalar),
    out: wp.array2d(dtype=vec3),
):
    """sqrt(k) g: the Gauss-Newton Hessian is the outer product of this with itself."""
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    theta = dihedral(x0, x1, x2, x3)
    for j in range(4):
        s, c = slopes(j, x0, x1, x2, x3)
        out[i, j] = wp.sqrt(stiffness[i]) * (wp.cos(theta) * s - wp.sin(theta) * c)


@wp.kernel(module=_module)
def frozen_hessian(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    stiffness: wp.array(dtype=Scalar),
    deviation: wp.array(dtype=Scalar),
    out: wp.array3d(dtype=mat33),
):
    """k (g g^T + deviation h), h of eq. 57."""
    i = o + wp.tid()
    x0 = x[stencil[i, 0]]
    x1 = x[stencil[i, 1]]
    x2 = x[stencil[i, 2]]
    x3 = x[stencil[i, 3]]
    theta = dihedral(x0, x1, x2, x3)
    sin = wp.sin(theta)
    cos = wp.cos(theta)
    s0, c0 = slopes(0, x0, x1, x2, x3)
    s1, c1 = slopes(1, x0, x1, x2, x3)
    s2, c2 = slopes(2, x0, x1, x2, x3)
    s3, c3 = slopes(3, x0, x1, x2, x3)
    for j in range(4):
        s_j = pick(j, s0, s1, s2, s3)
        c_j = pick(j, c0, c1, c2, c3)
        g_j = cos * s_j - sin * c_j
        # Eq. 57 with its products of slopes put together: -(g_j r_k^T + r_j g_k^T).
        r_j = sin * s_j + cos * c_j
        for k in range(4):
            if k >= j:
                s_k = pick(k, s0, s1, s2, s3)
                c_k = pick(k, c0, c1, c2, c3)
                g_k = cos * s_k - sin * c_k
                r_k = sin * s_k + cos * c_k
                s_jk, c_jk = curvatures(j, k, x0, x1, x2, x3)
                h = cos * s_jk - sin * c_jk - wp.outer(g_j, r_k) - wp.outer(r_j, g_k)
                H = stiffness[i] * (wp.outer(g_j, g_k) + deviation[i] * h)
                out[i, j, k] = H
                out[i, k, j] = wp.transpose(H)


@dataclass(frozen=True, eq=False)
class FrozenBend:
    """Bend condition with frozen lengths. PROJECTED and GAUSS_NEWTON keep k g g^T only."""

    hinges: Ints  # (h,4)
    stiffness: Floats  # (h,) [J]
    rest_angle: Floats  # (h,) [rad]
    n_vertices: int
    name: str = "bend"

    @property
    def stencil(self) -> Ints:
        """(h,4)."""
        return self.hinges

    @cached_property
    def incidence(self) -> Incidence:
        """Hinges of each vertex."""
        return Incidence.of(self.hinges, self.n_vertices)

    def value(self, x: Positions) -> Floats:
        """(h,) [J]: k/2 (theta - rest)^2."""
        out = kernel.empty(len(self.hinges))
        kernel.launch(hinge_energy, len(self.hinges), on_device(x), *self._data, out)
        return np.array(kernel.numpy(out))

    def gradient(self, x: Positions) -> Floats:
        """(h,4,3) [N], with frozen lengths."""
        out = kernel.empty((len(self.hinges), 4), vec3)
        kernel.launch(frozen_gradient, len(self.hinges), on_device(x), *self._data, out)
        return np.array(kernel.numpy(out))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(h,4,4,3,3) [N/m], with frozen lengths."""
        x, n = on_device(x), len(self.hinges)
        if psd == Psd.EXACT:
            out = kernel.empty((n, 4, 4), mat33)
            launch_frozen_hessian(x, None, 1.0, 0.0, self._data, out)
            return np.array(kernel.numpy(out))
        factor = kernel.empty((n, 4), vec3)
        kernel.launch(frozen_factor, n, x, *self._data[:2], factor)
        f = kernel.numpy(factor)
        return np.asarray(np.einsum("hai,hbj->habij", f, f))

    @cached_property
    def _data(self) -> tuple[WarpArray, WarpArray, WarpArray]:
        return (
            kernel.array(self.hinges, wp.int32),
            kernel.array(self.stiffness, Scalar),
            kernel.array(self.rest_angle, Scalar),
        )

    def bind(self, pattern: BlockPattern) -> "BoundFrozenBend":
        """The production face."""
        rows = RowMap.of(self.hinges, self.incidence, pattern)
        return BoundFrozenBend(self, self._data, rows, pattern.scratch)


def launch_frozen_hessian(
    x: WarpArray,
    v: WarpArray | None,
    keep: float,
    beta: float,
    data: tuple[WarpArray, WarpArray, WarpArray],
    out: WarpArray,
) -> None:
    """(h,4,4) k [g g^T + keep (theta - rest + beta dtheta/dt) h]."""
    stencil, stiffness, rest = data
    deviation = kernel.empty(stiffness.shape[0])
    kernel.launch_each(
        stiffness.shape[0],
        (frozen_deviations, x, x if v is None else v, stencil, rest, keep, beta, deviation),
        (frozen_hessian, x, stencil, stiffness, deviation, out),
    )


@dataclass(frozen=True, eq=False)
class BoundFrozenBend:
    """Frozen bend on a pattern."""

    bend: FrozenBend
    data: tuple[WarpArray, WarpArray, WarpArray]
    rows: RowMap
    scratch: Scratch

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        out = self.scratch.take(len(self.bend.hinges))
        kernel.launch(hinge_energy, len(self.bend.hinges), x, *self.data, out)
        return kernel.total(out)

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += the frozen gradient."""
        h, i = len(self.bend.hinges), self.rows.incidence
        local = self.scratch.take((h, 4), vec3)
        kernel.launch(frozen_gradient, h, x, *self.data, local)
        entries = (i.start, i.element, i.place)
        kernel.launch(gather_gradient, self.bend.n_vertices, *entries, local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += the frozen Hessian."""
        self._add_rows(x, None, 1.0, 0.0, psd, A, clear)

    def add_condition_hessian(
        self, x: WarpArray, v: WarpArray, keep: float, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """A += k [g g^T + keep (theta - rest + beta dtheta/dt) h]."""
        self._add_rows(x, v, keep, beta, psd, A, clear=False)

    def _add_rows(
        self,
        x: WarpArray,
        v: WarpArray | None,
        keep: float,
        beta: float,
        psd: Psd,
        A: BlockCsr,
        clear: bool,
    ) -> None:
        h, i = len(self.bend.hinges), self.rows.incidence
        entries = (i.start, i.element, i.place, self.rows.block)
        row = (A.pattern.device_row_start, int(clear), A.values)
        if psd == Psd.EXACT:
            local = self.scratch.take((h, 4, 4), mat33)
            launch_frozen_hessian(x, v, keep, beta, self.data, local)
            kernel.launch(gather_blocks, self.bend.n_vertices, *entries, local, *row)
        else:
            factor = self.scratch.take((h, 4), vec3)
            kernel.launch(frozen_factor, h, x, *self.data[:2], factor)
            kernel.launch(add_factor_rows, self.bend.n_vertices, *entries, factor, *row)
