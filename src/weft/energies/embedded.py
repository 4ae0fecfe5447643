"""Energies of vertices as energies of the points that move them: E(W x), y = W x.

Values are as they are, gradients W^T g, Hessians W^T H W. So whatever is written for the vertices
of triangles (bonds of seams, hinges across them) acts on splines, whose vertices are combinations
of control points, with its damping, its lives in time and what it remembers.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.discretization.embedding import Embedding
from weft.energies.base import Bound
from weft.energies.by_constants import ByName
from weft.energies.element_energy import LocalEnergy
from weft.energies.state import State
from weft.energies.step import Step
from weft.kernel import Scalar, WarpArray, mat33, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr, BlockPattern, clear_row
from weft.solve.sparse.scalar_csr import ScalarCsr

_module = wp.get_module("weft.pulled_back")

WIDEST = 9  # points of an element of a surface: a wider stencil never says who is near on it


@wp.kernel(module=_module)
def add_pulled(
    o: int,
    start: wp.array(dtype=wp.int32),
    target: wp.array(dtype=wp.int32),
    source: wp.array(dtype=wp.int32),
    share: wp.array(dtype=Scalar),
    H: wp.array(dtype=mat33),
    row_start: wp.array(dtype=wp.int32),
    clear: int,
    values: wp.array(dtype=mat33),
):
    """Row v += sum_ij W_iv H_ij W_j."""
    v = o + wp.tid()
    clear_row(v, row_start, clear, values)
    for m in range(start[v], start[v + 1]):
        t = target[m]
        values[t] = values[t] + share[m] * H[source[m]]


@dataclass(frozen=True, eq=False)
class EmbeddedEnergy:
    """An energy of vertices, of the points that move them.

    Args:
        source: the energy, its stencils of vertices.
        weights: of as many vertices in the points.
    """

    source: LocalEnergy
    weights: Embedding

    @property
    def name(self) -> str:
        """That of the source."""
        return self.source.name

    @property
    def changes(self) -> bool:
        """Whether numbers of the source have keyframes."""
        return bool(getattr(self.source, "changes", False))

    @property
    def stencil(self) -> Ints:
        """(m,K) points that move an element, the widest's number; others repeat one."""
        return self._shares[0]

    @cached_property
    def _shares(self) -> tuple[Ints, Floats]:
        """Stencils (m,K), and (m,k,K) the parts of every point in the vertices of an element."""
        own = self.source.stencil
        m, k = own.shape
        ids = self.weights.stencil[own].reshape(m, -1)
        part = self.weights.weight[own].reshape(m, -1)
        first = np.take_along_axis(ids, np.argmax(part != 0, axis=1)[:, None], 1)
        ids = np.where(part != 0, ids, first)
        order = np.argsort(ids, axis=1, kind="stable")
        ids, part = np.take_along_axis(ids, order, 1), np.take_along_axis(part, order, 1)
        new = np.concatenate([np.zeros((m, 1), bool), ids[:, 1:] != ids[:, :-1]], axis=1)
        column = np.cumsum(new, axis=1)
        width = max(int(column.max(initial=0)) + 1, WIDEST + 1)
        stencil = np.repeat(ids[:, :1], width, axis=1)
        np.put_along_axis(stencil, column, ids, 1)
        share = np.zeros((m, k, width))
        rows = np.arange(m)[:, None]
        vertex = order // self.weights.stencil.shape[1]
        np.add.at(share, (rows, vertex, column), part)
        return stencil.astype(np.int32), share

    def value(self, x: Positions) -> Floats:
        """(m,) [J], undamped."""
        return self.source.value(self.weights.of(x))

    def gradient(self, x: Positions) -> Floats:
        """(m,K,3) [N], undamped."""
        local = self.source.gradient(self.weights.of(x))
        return np.asarray(np.einsum("mka,mki->mai", self._shares[1], local))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """(m,K,K,3,3) [N/m], undamped."""
        local, share = self.source.hessian(self.weights.of(x), psd), self._shares[1]
        return np.asarray(np.einsum("mka,mklij,mlb->mabij", share, local, share, optimize=True))

    @property
    def constants(self) -> ByName:
        """Those of the source."""
        found: ByName = self.source.constants  # type: ignore[attr-defined]
        return found

    @property
    def structure(self) -> Any:
        """Of what, and how points move it."""
        inner: Any = self.source
        return type(inner), inner.structure, self.weights.stencil, self.weights.weight

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """By constant, (m,K,3,...)."""
        inner: Any = self.source
        seen = None if step is None else of_vertices(step, self.weights)
        share = self._shares[1]
        return {
            name: np.einsum("mka,mki...->mai...", share, d)
            for name, d in inner.mixed(self.weights.of(x), seen).items()
        }

    def bind(self, pattern: BlockPattern) -> "BoundEmbeddedEnergy":
        """The production face."""
        return BoundEmbeddedEnergy(self, pattern)


class BoundEmbeddedEnergy(Bound):
    """A bound energy of vertices, on a pattern of points."""

    is_elastic = True

    def __init__(self, energy: EmbeddedEnergy, pattern: BlockPattern) -> None:
        source, self.weights = energy.source, energy.weights
        self.own = BlockPattern.of(len(self.weights), [source.stencil])
        self.inner = source.bind(self.own)
        self.name, self.damping = self.inner.name, self.inner.damping
        self.is_condition, self.energy = self.inner.is_condition, energy
        used = np.zeros(len(self.weights))
        used[source.stencil] = 1.0
        W = (sp.diags(used) @ self.weights.matrix).tocsr()
        W.eliminate_zeros()
        self.rows, self.columns = ScalarCsr.of(W), ScalarCsr.of(W.T.tocsr())
        self.scratch = pattern.scratch
        self._hessian = BlockCsr.zeros(self.own)
        self._places = _places(W, self.own, pattern)

    def _vertices(self, x: WarpArray) -> WarpArray:
        """W x; zeros at vertices that the energy does not know."""
        out = kernel.empty(len(self.weights), vec3)
        self.rows.multiply(x, out)
        return out

    def value(self, x: WarpArray) -> float:
        """Total energy [J]."""
        return self.inner.value(self._vertices(x))

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """[J] of the elastic part and of damping."""
        return self.inner.terms(self._vertices(x))

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += W^T dE/dy."""
        local = kernel.zeros(len(self.weights), vec3)
        self.inner.add_gradient(self._vertices(x), local)
        self.columns.multiply(local, g, add=True)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """A + W^T d2E/dy2 W."""
        H = self.inner.add_hessian(self._vertices(x), psd, self._hessian.begin())
        return self._pulled(H, A)

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """The same of a condition."""
        y, H = self._vertices(x), self._hessian.begin()
        self.inner.add_condition_hessian(y, of_vertices(step, self.weights), beta, psd, H)
        self._pulled(H, A)

    def _pulled(self, H: BlockCsr, A: BlockCsr) -> BlockCsr:
        to = (A.pattern.device_row_start, A.claim(), A.values)
        kernel.launch(add_pulled, A.n, *self._places, H.finish().values, *to)
        return A

    def freeze(self, step: Step) -> None:
        """Begin a step."""
        self.inner.freeze(of_vertices(step, self.weights))

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """What the next step has to know."""
        return self.inner.remember(self._vertices(x))


def of_vertices(step: Step, weights: Embedding) -> Step:
    """A step as vertices see it; nothing is prescribed there."""
    of, state, n = weights.of, step.state, len(weights)
    return dataclasses.replace(
        step,
        state=State(of(state.x), of(state.v), state.t),
        predicted=of(step.predicted),
        origin=of(step.origin),
        fixed=np.zeros(n, dtype=bool),
        target=np.zeros((n, 3)),
        past=None if step.past is None else (of(step.past[0]), step.past[1]),
    )


def _places(W: Any, own: BlockPattern, pattern: BlockPattern) -> tuple[WarpArray, ...]:
    """Which blocks of vertices go to which blocks of points, with which weights, row by row."""
    count, i, j = np.diff(W.indptr), own.row, own.column
    wide = count[j]
    each = count[i] * wide
    block = np.repeat(np.arange(own.n_blocks), each)
    inside = np.arange(len(block)) - np.repeat(np.cumsum(each) - each, each)
    a = W.indptr[i[block]] + inside // wide[block]
    b = W.indptr[j[block]] + inside % wide[block]
    target = pattern.find(W.indices[a], W.indices[b])
    order = np.argsort(target, kind="stable")
    start = np.searchsorted(target[order], pattern.row_start)
    return (
        kernel.array(start.astype(np.int32), wp.int32),
        kernel.array(target[order].astype(np.int32), wp.int32),
        kernel.array(block[order].astype(np.int32), wp.int32),
        kernel.array((W.data[a] * W.data[b])[order], Scalar),
    )
