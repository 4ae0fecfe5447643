"""Energies that are quadratic in positions: E = 1/2 sum_q w_q |sum_a c_qa x_a|^2.

Mean-curvature bending of splines (Meng et al. 2025, supplement, eqs. 13-19), quadratic bending of
triangles (Bergou et al. 2006), prescribed points and seams of points are all of this form. The
Hessian w c c^T is constant, and the same in x, y and z: it is computed once, with one number per
block, and then added in every iteration.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import (
    ByName,
    ContractedEnergy,
    damping_rate,
    repeat_per_element,
)
from weft.energies.condition_term import ConditionTerm
from weft.energies.derivative import DifferentiableTerm
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.energies.term import DampedTerm
from weft.kernel import (
    IntArray,
    IntArray2d,
    Mat33Array,
    Scalar,
    ScalarArray,
    ScalarArray2d,
    Vec2Array,
    Vec3Array,
    WarpArray,
    vec2,
    vec3,
)
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern, clear_row
from weft.solve.sparse.scalar_csr import ScalarCsr

_module = wp.get_module("weft.quadratic_form")


@wp.kernel(module=_module)
def form_energy(
    o: int,
    x: Vec3Array,
    origin: Vec3Array,
    rate: Scalar,
    stencil: IntArray2d,
    coefficient: ScalarArray2d,
    weight: ScalarArray,
    out: Vec2Array,
):
    """Compute w/2 |y|^2 and rate w/2 |y - y_n|^2, y = sum_a c_a x_a. Meng 2025 supp. eq. 18."""
    q = o + wp.tid()
    y = vec3(Scalar(0.0))
    d = y
    for a in range(stencil.shape[1]):
        v = stencil[q, a]
        y += coefficient[q, a] * x[v]
        d += coefficient[q, a] * (x[v] - origin[v])
    half = Scalar(0.5) * weight[q]
    out[q] = vec2(half * wp.dot(y, y), rate * half * wp.dot(d, d))


@wp.kernel(module=_module)
def extrapolate(o: int, x: Vec3Array, origin: Vec3Array, rate: Scalar, out: Vec3Array):
    """Compute x + rate (x - origin)."""
    v = o + wp.tid()
    out[v] = x[v] + rate * (x[v] - origin[v])


@wp.kernel(module=_module)
def add_form_rows(
    o: int,
    start: IntArray,
    block: IntArray,
    K: ScalarArray,
    scale: Scalar,
    row_start: IntArray,
    clear: int,
    values: Mat33Array,
):
    """Add scale K_vb I to the blocks of row v. Meng 2025 supp. eq. 19."""
    v = o + wp.tid()
    clear_row(v, row_start, clear, values)
    for b in range(start[v], start[v + 1]):
        at = block[b]
        k = scale * K[b]
        m = values[at]
        m[0, 0] = m[0, 0] + k
        m[1, 1] = m[1, 1] + k
        m[2, 2] = m[2, 2] + k
        values[at] = m


@dataclass(frozen=True, eq=False)
class QuadraticForm(ContractedEnergy):
    """Quadratic energy 1/2 sum_q weight_q |sum_a coefficient_qa x_a|^2 of conditions linear in x.

    Its damping with the time constant beta is beta/h times the same form of x - x_n. This damping
    resists rotation, too; for surfaces that rotate see ``curvature_damping``.
    """

    stencil: Ints  # (q,k)
    coefficient: Floats  # (q,k)
    weight: Floats  # (q,) >= 0
    name: str = "quadratic"
    damping: float = 0.0  # [s] beta
    of_rest: bool = True  # whether coefficients and weights depend on the rest shape of cloth

    @property
    def rest_tables(self) -> Sequence[str]:
        """Names of the constants that are tables of the rest shape."""
        return ("weight", "coefficient") if self.of_rest else ()

    def amount(self, x: Positions) -> Floats:
        """Return sum_a c_a x_a, (q,3); for bending it is the surface's Laplacian times sqrt(D)."""
        return np.asarray(np.einsum("qa,qai->qi", self.coefficient, x[self.stencil]))

    def value(self, x: Positions) -> Floats:
        """Return the local energies, (q,) [J]."""
        return np.asarray(0.5 * self.weight * (self.amount(x) ** 2).sum(1))

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (q,k,3) [N]."""
        return np.asarray(np.einsum("q,qa,qi->qai", self.weight, self.coefficient, self.amount(x)))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (q,k,k,3,3) [N/m]; they are the same for every x and psd."""
        c = self.coefficient
        return np.asarray(np.einsum("q,qa,qb,ij->qabij", self.weight, c, c, np.eye(3)))

    @property
    def constants(self) -> ByName:
        """Constants by name: weights, coefficients (q,k), and the time constant of damping [s]."""
        beta = repeat_per_element(self.damping, len(self.weight))
        return {"weight": self.weight, "coefficient": self.coefficient, "damping": beta}

    @property
    def structure(self) -> object:
        """Data besides the constants: the stencil."""
        return (self.stencil,)

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (q,) or (q,k), for ``by`` (q,k,3)."""
        c, w, rate = self.coefficient, self.weight, damping_rate(step)
        late = np.zeros((len(x), 3)) if step is None else rate * (np.asarray(x) - step.origin)
        pulled = np.asarray(x) + self.damping * late
        y, along = self.amount(pulled), np.einsum("qa,qai->qi", c, by)
        by_c = np.einsum("qi,qai->qa", y, by) + np.einsum("qi,qai->qa", along, pulled[self.stencil])
        return {
            "weight": (along * y).sum(1),
            "coefficient": w[:, None] * by_c,
            "damping": w * (along * self.amount(late)).sum(1),
        }

    def matrix(self, n: int) -> "sp.csr_matrix":
        """Return the Hessian of each coordinate as an (n,n) SciPy CSR matrix."""
        q, k = self.stencil.shape
        rows = np.repeat(np.arange(q), k)
        root = (np.sqrt(self.weight)[:, None] * self.coefficient).reshape(-1)
        C = sp.csr_matrix((root, (rows, self.stencil.reshape(-1))), shape=(q, n))
        K = (C.T @ C).tocsr()
        K.sort_indices()
        return K

    def bind(self, pattern: BlockPattern) -> "QuadraticFormTerm":
        """Bind the form to the block pattern of a matrix."""
        return QuadraticFormTerm(self, pattern)


class QuadraticFormTerm(DampedTerm, ConditionTerm, DifferentiableTerm):
    """A quadratic form bound to a block pattern.

    Its constant matrix K is the Hessian of each coordinate.
    """

    is_condition = is_elastic = True

    energy: QuadraticForm

    def __init__(self, form: QuadraticForm, pattern: BlockPattern) -> None:
        super().__init__(form, pattern)
        self.damping, self.n, K = form.damping, pattern.n, form.matrix(pattern.n)
        rows = np.repeat(np.arange(pattern.n, dtype=np.int32), np.diff(K.indptr))
        block = pattern.find(rows, K.indices.astype(np.int32))
        self.K, self.block = ScalarCsr.of(K), kernel.array(block, wp.int32)
        self._points = (
            kernel.array(form.stencil, wp.int32),
            kernel.array(form.coefficient, Scalar),
            kernel.array(form.weight, Scalar),
        )
        self._rate = 0.0
        self._origin: WarpArray | None = None

    def freeze(self, step: Step) -> None:
        """Freeze damping for a step; it is measured from ``step.origin``, as the velocity is."""
        if self.energy.damping > 0:
            self._rate, self._origin = self.energy.damping / step.span, step.device_origin

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivative of s = by . K (x + rate (x - origin)) by the origin."""
        if self._rate:
            into.origin -= self._rate * (self.energy.matrix(len(by)) @ by)

    def update_constants(self, energy: QuadraticForm) -> None:
        """Replace weights and damping by those of another form."""
        self.energy, self.damping, self.K = (
            energy,
            energy.damping,
            ScalarCsr.of(energy.matrix(self.n)),
        )
        self._points = (*self._points[:2], kernel.array(energy.weight, Scalar))
        self._rate, self._origin = 0.0, None

    def energies(self, x: WarpArray) -> WarpArray:
        """Return the elastic and the dissipated energy [J] of every condition."""
        out = self.scratch.take(len(self.energy.weight), vec2)
        since = x if self._origin is None else self._origin
        arguments = (x, since, Scalar(self._rate), *self._points, out)
        kernel.launch(form_energy, len(self.energy.weight), *arguments)
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add K x to g, and beta/h K (x - origin) if the form is damped. Meng 2025 supp. eq. 19."""
        if self._origin is not None:
            out = self.scratch.take(x.shape[0], vec3)
            kernel.launch(extrapolate, x.shape[0], x, self._origin, Scalar(self._rate), out)
            x = out
        self.K.multiply(x, g, add=True)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Add (1 + beta/h) K to A and return A."""
        return self.add_scaled(1.0 + self._rate, A)

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Add (1 + beta/h) K to A; a condition that is linear in x has no second derivative."""
        self.add_scaled(1.0 + beta / step.dt, A)

    def add_scaled(self, scale: float, A: BlockCsr) -> BlockCsr:
        """Add ``scale`` times K to A and return A."""
        rows = (self.K.start, self.block, self.K.value, Scalar(scale), A.pattern.device_row_start)
        work = self.block.shape[0] / max(A.n, 1)
        kernel.launch(add_form_rows, A.n, *rows, A.claim(), A.values, work=work)
        return A
