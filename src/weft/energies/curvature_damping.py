"""Stiffness-proportional damping of a spline's bending, in a form that rigid motion does not feel.

Bending is 1/2 w |L|^2 of the surface's Laplacian L = sum_a c_a x_a, which near an isometry is
normal to the surface. Its damping measures the rate of h = n.L, n the unit normal:

    E = beta/(2 dt) w (h - h_n)^2

A rotation turns n and L alike, so h does not change; where the surface bends without stretching,
the Hessian is beta/dt times that of bending (tests/energies/test_curvature_damping.py).
"""

from dataclasses import dataclass

import warp as wp

from weft import kernel
from weft.arrays import Floats, Ints
from weft.energies.base import RowMap, gather_gradient
from weft.energies.damping import BoundDamping, scale_weight
from weft.energies.hinge_kernels import add_factor_rows
from weft.energies.quadratic_form import BoundForm, QuadraticForm
from weft.kernel import Scalar, Scratch, WarpArray, vec2, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.incidence import Incidence

_module = wp.get_module("weft.curvature_damping")

TINY = Scalar(1e-30)  # length of a normal of nothing


@wp.func
def frame_of(
    q: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    dN: wp.array2d(dtype=vec2),
    c: wp.array2d(dtype=Scalar),
):
    """Tangents t0 and t1 of the surface at point q, and its Laplacian."""
    t0 = vec3(Scalar(0.0))
    t1 = vec3(Scalar(0.0))
    L = vec3(Scalar(0.0))
    for a in range(stencil.shape[1]):
        y = x[stencil[q, a]]
        t0 += dN[q, a][0] * y
        t1 += dN[q, a][1] * y
        L += c[q, a] * y
    return t0, t1, L


@wp.kernel(module=_module)
def normal_laplacians(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    dN: wp.array2d(dtype=vec2),
    c: wp.array2d(dtype=Scalar),
    out: wp.array(dtype=Scalar),
):
    """h = n.L of every point."""
    q = o + wp.tid()
    t0, t1, L = frame_of(q, x, stencil, dN, c)
    N = wp.cross(t0, t1)
    out[q] = wp.dot(N, L) / wp.max(wp.length(N), TINY)


@wp.kernel(module=_module)
def rate_energy(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    dN: wp.array2d(dtype=vec2),
    c: wp.array2d(dtype=Scalar),
    weight: wp.array(dtype=Scalar),
    start: wp.array(dtype=Scalar),
    out: wp.array(dtype=Scalar),
):
    """w/2 (h - h_n)^2."""
    q = o + wp.tid()
    t0, t1, L = frame_of(q, x, stencil, dN, c)
    N = wp.cross(t0, t1)
    d = wp.dot(N, L) / wp.max(wp.length(N), TINY) - start[q]
    out[q] = Scalar(0.5) * weight[q] * d * d


@wp.kernel(module=_module)
def rate_factors(
    o: int,
    x: wp.array(dtype=vec3),
    stencil: wp.array2d(dtype=wp.int32),
    dN: wp.array2d(dtype=vec2),
    c: wp.array2d(dtype=Scalar),
    weight: wp.array(dtype=Scalar),
    start: wp.array(dtype=Scalar),
    root: int,
    out: wp.array2d(dtype=vec3),
):
    """dh times w (h - h_n): the gradient; or times sqrt(w): a factor of its Hessian.

    dh = n.dL + p.d(t0 x t1) with p = (L - h n)/|t0 x t1|.
    """
    q = o + wp.tid()
    t0, t1, L = frame_of(q, x, stencil, dN, c)
    N = wp.cross(t0, t1)
    length = wp.max(wp.length(N), TINY)
    n = N / length
    h = wp.dot(n, L)
    p = (L - h * n) / length
    by = weight[q] * (h - start[q])
    if root != 0:
        by = wp.sqrt(weight[q])
    u = wp.cross(t1, p)
    v = wp.cross(p, t0)
    for a in range(stencil.shape[1]):
        out[q, a] = by * (c[q, a] * n + dN[q, a][0] * u + dN[q, a][1] * v)


@dataclass(frozen=True, eq=False)
class CurvatureDamping:
    """Damping of a spline's bending with time constant beta [s]."""

    source: QuadraticForm
    gradient: Floats  # (q,k,2) [1/m] dN/dX at the points of bending
    beta: float
    name: str = "bending damping"

    @property
    def stencil(self) -> Ints:
        """(q,k)."""
        return self.source.stencil

    def bind(
        self, pattern: BlockPattern, elastic: BoundForm | None = None
    ) -> "BoundCurvatureDamping":
        """The production face; nothing of ``elastic`` can be shared."""
        f = self.source
        rows = RowMap.of(f.stencil, Incidence.of(f.stencil, pattern.n), pattern)
        points = (
            kernel.array(f.stencil, wp.int32),
            kernel.array(self.gradient, vec2),
            kernel.array(f.coefficient, Scalar),
        )
        rate = BoundRate(points, kernel.zeros(len(f.weight)), kernel.zeros(len(f.weight)), rows,
                         pattern.scratch)  # fmt: skip
        return BoundCurvatureDamping(rate, kernel.array(f.weight, Scalar), self.beta)


@dataclass(frozen=True, eq=False)
class BoundRate:
    """w/2 (h - h_n)^2 on a pattern; its Hessian is always the Gauss-Newton one."""

    points: tuple[WarpArray, WarpArray, WarpArray]  # stencil, dN/dX, c
    weight: WarpArray
    start: WarpArray  # (q,) h_n
    rows: RowMap
    scratch: Scratch

    def value(self, x: WarpArray) -> float:
        """[J]."""
        q = self.weight.shape[0]
        out = self.scratch.take(q)
        kernel.launch(rate_energy, q, x, *self.points, self.weight, self.start, out)
        return kernel.total(out)

    def _factors(self, x: WarpArray, root: bool) -> WarpArray:
        q, k = self.points[0].shape
        out = self.scratch.take((q, k), vec3)
        launch = (x, *self.points, self.weight, self.start, int(root), out)
        kernel.launch(rate_factors, q, *launch)
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += its gradient."""
        i = self.rows.incidence
        local = self._factors(x, root=False)
        kernel.launch(gather_gradient, g.shape[0], i.start, i.element, i.place, local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr, clear: bool) -> None:
        """A += w dh dh^T."""
        i, local = self.rows.incidence, self._factors(x, root=True)
        entries = (i.start, i.element, i.place, self.rows.block, local)
        row = (A.pattern.device_row_start, int(clear), A.values)
        kernel.launch(add_factor_rows, A.n, *entries, *row)


@dataclass(frozen=True, eq=False)
class BoundCurvatureDamping(BoundDamping):
    """Damping of a spline's bending on a pattern."""

    viscous: BoundRate
    elastic: WarpArray  # (q,) weight of bending
    beta: float

    def freeze(self, x: WarpArray, dt: float) -> None:
        """Take the curvatures at positions x, for a step of dt [s]."""
        v = self.viscous
        first = (normal_laplacians, x, *v.points, v.start)
        scaled = (scale_weight, self.elastic, self.beta / dt, v.weight)
        kernel.launch_each(v.weight.shape[0], first, scaled)
